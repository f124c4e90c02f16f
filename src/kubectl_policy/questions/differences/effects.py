"""What may differ in the effective policies of two states: fields, on which paths, for which objects."""

from __future__ import annotations

from functools import cached_property
from typing import TYPE_CHECKING, Final, Literal, TypeAlias

from msgspec import Struct

from kubectl_policy.model.fields import WHOLE, FieldPath, same_json

if TYPE_CHECKING:
    from kubectl_policy.model import GroupKind, Json, NodeRef, Origin
    from kubectl_policy.profiles import PolicyKindProfile
    from kubectl_policy.resolution import Source
    from kubectl_policy.topology import Path

# From the worst to the least: what nothing stands for any more, then what is otherwise, new, or only from elsewhere.
ChangeSort: TypeAlias = Literal["lost", "changed", "gained", "moved"]
SORTS: Final[tuple[ChangeSort, ...]] = ("lost", "changed", "gained", "moved")
# Whether the path itself is in both states, or only in the earlier or the later one.
Where: TypeAlias = Literal["kept", "gone", "new"]
# Of so many objects of a change it is known whether they have other paths than those of the change.
SCOPED: Final = 20


class EffectiveValue(Struct, frozen=True):
    """An effective value and who set it; `removed` if that removes the field.

    It is not `certain` where it is not known how the policies there combine. `origin` is where the source was read or,
    once that was looked up, where the field was; `declared_in` is the field of the source that says it, or the whole of
    it where none does.
    """

    value: Json
    source: Source
    removed: bool
    certain: bool = True
    origin: Origin | None = None
    declared_in: FieldPath = WHOLE


class FieldChange(Struct, frozen=True):
    """A field of which the value, or who sets it, differs; None where nothing sets it.

    Without a name it is about a policy that takes part without declaring any field. `security` is whether the profile
    of its kind counts the field as relevant to security.
    """

    field: str
    before: EffectiveValue | None
    after: EffectiveValue | None
    security: bool

    @property
    def sort(self) -> ChangeSort:
        """Whether the setting is lost, changed, gained or only set by another source.

        One that was certain and is no more may be lost, and the other way round gained.
        """
        old, new = self.before, self.after
        if old and new and not old.removed and not new.removed:
            if old.certain != new.certain and same_json(old.value, new.value):
                return "lost" if old.certain else "gained"
            return "moved" if same_json(old.value, new.value) else "changed"
        if old and not old.removed:
            return "lost"
        return "gained" if new and not new.removed else "moved"

    @property
    def harmful(self) -> bool:
        """Whether it is relevant to security, and is lost or has another value."""
        return self.security and self.sort in {"lost", "changed"}

    @property
    def demanding(self) -> bool:
        """Whether it is relevant to security, and nothing set it before: requests may have to satisfy it now."""
        return self.security and self.sort == "gained"


class ChangedObject(Struct, frozen=True):
    """An object for which something differs, with the positions of the paths of the change that it does so on.

    If it has more paths than these, `all_paths` has all of them, and `affected_paths` the positions of these among
    them; only the first objects of a change have this.
    """

    node: NodeRef
    paths: tuple[int, ...]
    all_paths: tuple[Path, ...] = ()
    affected_paths: tuple[int, ...] = ()


class EffectChange(Struct, frozen=True, kw_only=True, dict=True):
    """What differs of one kind, in the same way on all of `paths`.

    `from_nothing` and `to_nothing` say whether no policy of the kind is in force there before, or after. `objects` are
    those that it concerns, from the root downward. `assumed` is what of the kind rests on a default or a guess and
    matters for it; `doubts` are what either outcome rests on without knowing it.
    """

    kind: GroupKind
    profile: PolicyKindProfile
    fields: tuple[FieldChange, ...]
    where: Where
    from_nothing: bool
    to_nothing: bool
    paths: tuple[Path, ...]
    objects: tuple[ChangedObject, ...]
    assumed: tuple[str, ...]
    doubts: tuple[str, ...]

    @cached_property
    def sort(self) -> ChangeSort:
        """The worst of what happens to its fields."""
        sorts = {changed.sort for changed in self.fields}
        return next(sort for sort in SORTS if sort in sorts)

    @cached_property
    def security(self) -> bool:
        """Whether a field that is relevant to security is lost or changed where traffic runs on."""
        return self.where == "kept" and any(changed.harmful for changed in self.fields)

    @cached_property
    def demanding(self) -> bool:
        """Whether a field that is relevant to security is newly set where traffic ran before."""
        return self.where == "kept" and any(changed.demanding for changed in self.fields)
