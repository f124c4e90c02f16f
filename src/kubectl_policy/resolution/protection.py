"""Protection by a merged spec: the settings that protect requests, and those that let every request through."""

from __future__ import annotations

from typing import TYPE_CHECKING

from kubectl_policy.model.fields import FieldPath
from kubectl_policy.resolution.traced import Leaf, plain

if TYPE_CHECKING:
    from kubectl_policy.profiles import PolicyKindProfile
    from kubectl_policy.resolution.traced import Field, Traced


class Protection:
    """The protection by the settings of one spec, by the profile of its kind."""

    def __init__(self, spec: Traced, profile: PolicyKindProfile) -> None:
        """Find out which settings let every request through; where all policies apply, of each policy by itself."""
        self._profile = profile
        self._permissive: dict[str, tuple[FieldPath, ...]] = {}
        for name, inner in spec.items() if profile.all_apply and profile.permissive else ():
            self._permissive[name] = () if isinstance(inner, Leaf) else _permissive(inner, profile)
        if profile.permissive and not profile.all_apply:
            self._permissive[""] = _permissive(spec, profile)

    def protects(self, field: Field) -> bool:
        """Whether the profile says that a field of the spec protects requests, and its value does."""
        return self._profile.is_security(self._setting(field)) and not self.is_permissive(field)

    def is_permissive(self, field: Field) -> bool:
        """Whether a field of the spec is of a setting that lets every request through."""
        fields = self._permissive.get(field[0] if self._profile.all_apply else "", ())
        return any(permissive.holds(self._setting(field)) for permissive in fields)

    def _setting(self, field: Field) -> Field:
        """Return a field without the name of its policy, which stands before it where all policies apply."""
        return field[1:] if self._profile.all_apply else field


def _permissive(spec: Traced, profile: PolicyKindProfile) -> tuple[FieldPath, ...]:
    settings = plain(spec)
    return tuple(FieldPath.parse(part.field) for part in profile.permissive if part.lets_through(settings))
