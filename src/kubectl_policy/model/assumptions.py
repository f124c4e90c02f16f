"""Objects that somebody takes to exist although they are not in the input: of a kind, or of a name."""

from __future__ import annotations

from typing import TYPE_CHECKING

from kubectl_policy.model.values import value

if TYPE_CHECKING:
    from collections.abc import Collection

    from kubectl_policy.model.refs import ObjectRef


@value()
class AssumedObjects:
    """The objects of a kind, called by any of its names as for kubectl; in one namespace, or of one name, if given."""

    kind: str
    namespace: str = ""
    name: str = ""

    @classmethod
    def parse(cls, text: str) -> AssumedObjects:
        """What `KIND`, `KIND/NAME` or `KIND/NAMESPACE/NAME` means. Raises `ValueError` for anything else."""
        kind, *rest = text.split("/")
        if not kind or not all(rest) or len(rest) > 2:  # noqa: PLR2004 (a namespace and a name)
            raise ValueError(f"{text} is not KIND, KIND/NAME or KIND/NAMESPACE/NAME")
        return cls(kind.lower(), rest[0] if rest[1:] else "", rest[-1] if rest else "")

    def covers(self, ref: ObjectRef, names: Collection[str]) -> bool:
        """Whether an object is among them; `names` are those of its kind, in lower case and without a group."""
        if self.name not in {"", ref.name} or self.namespace not in {"", ref.namespace}:
            return False
        word, _, group = self.kind.partition(".")
        return word in names and group in {"", ref.group_kind.group}
