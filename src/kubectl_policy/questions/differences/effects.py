"""Types of a change of effective policies: fields, paths and objects; `comparing` computes them."""

from __future__ import annotations

from functools import cached_property
from typing import TYPE_CHECKING, Annotated, Final, Literal, TypeAlias

from msgspec import Meta, Struct

from kubectl_policy.model.fields import WHOLE, FieldPath, same_json
from kubectl_policy.questions.shared.in_force import ASSUMED
from kubectl_policy.questions.shared.path_phrases import NumberedPath, PathNumber, numbered, numbers, path_phrases

if TYPE_CHECKING:
    from kubectl_policy.model import GroupKind, Json, NodeRef, Origin
    from kubectl_policy.profiles import PolicyKindProfile
    from kubectl_policy.resolution import Source
    from kubectl_policy.resolution.merging import Doubt
    from kubectl_policy.topology import Path

# From the worst to the least: what nothing stands for any more, then what is otherwise, new, or only from elsewhere.
ChangeSort: TypeAlias = Literal["lost", "changed", "gained", "moved"]
SORTS: Final[tuple[ChangeSort, ...]] = ("lost", "changed", "gained", "moved")
# Whether the path itself is in both states, or only in the earlier or the later one.
Where: TypeAlias = Literal["kept", "gone", "new"]
# Of so many objects of a change it is known whether they have other paths than those of the change.
SCOPED: Final = 20


class EffectiveValue(Struct, frozen=True):
    """An effective value with its source."""

    value: Annotated[Json, Meta(description="The value, of any JSON type; null if the field is removed.")]
    source: Annotated[Source, Meta(description="The source of the value.")]
    removed: Annotated[bool, Meta(description="Whether the value removes the field.")]
    certain: Annotated[
        bool,
        Meta(description="False if the value may not be in force: how policies combine or if they count is unknown."),
    ] = True
    origin: Annotated[
        Origin | None,
        Meta(description="The line of the field, or the line of its object if the field has no known line."),
    ] = None
    declared_in: FieldPath = WHOLE
    defaulted: Annotated[bool, Meta(description="Whether the value is the default of the definition of the kind.")] = (
        False
    )

    @property
    def declared_in_(self) -> Annotated[str, Meta()]:
        """The full path of the field in its object, such as spec.overrides.timeout.request; empty if undeclared."""
        return str(self.declared_in)


class FieldChange(Struct, frozen=True):
    """A field whose value or source differs."""

    field: Annotated[str, Meta(description="The field; empty for a policy that declares no field.")]
    before: Annotated[EffectiveValue | None, Meta(description="The value in that state; null if the field is not set.")]
    after: Annotated[EffectiveValue | None, Meta(description="The value in that state; null if the field is not set.")]
    security: Annotated[bool, Meta(description="Whether the field is known to be relevant to security.")]

    @property
    def sort(self) -> Annotated[ChangeSort, Meta()]:
        """The change of the setting; moved: the same value, or no value, from another source."""
        old, new = self.before, self.after
        if old and new and not old.removed and not new.removed:
            # What was certain and is no more may be lost; the other way round it may be gained.
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
    """An object with differences, and the paths on which it differs."""

    node: Annotated[NodeRef, Meta(description="The object or section.")]
    paths: tuple[int, ...]
    """The positions of its paths among those of the change."""
    all_paths: tuple[Path, ...] = ()
    """All paths of the object, if these are more; only the first objects of a change have them."""
    affected_paths: tuple[int, ...] = ()
    """The positions of the paths concerned among all of the object."""

    @property
    def paths_(self) -> Annotated[tuple[PathNumber, ...], Meta()]:
        """The numbers of the paths of the object within the change."""
        return numbers(self.paths)

    @property
    def scope(self) -> Annotated[str, Meta()]:
        """A description of the changed paths of the object, for people; empty if all its paths change or if unknown."""
        if not self.all_paths:
            return ""
        phrase = path_phrases(self.all_paths).phrase(self.affected_paths)
        # The paths are not shown: numbers of them would mean nothing.
        number = f"{len(self.affected_paths)} of {len(self.all_paths)} paths"
        return number if phrase.numbered else phrase.text

    @property
    def of_paths(self) -> Annotated[int | None, Meta()]:
        """The number of all paths of the object, if scope is not empty."""
        return len(self.all_paths) or None


class EffectChange(Struct, frozen=True, kw_only=True, dict=True):
    """A difference of one policy kind that is the same on all of its paths."""

    profile: PolicyKindProfile
    fields: Annotated[tuple[FieldChange, ...], Meta(description="The changed fields.")]
    where: Annotated[
        Where, Meta(description="The states that have the paths: both, only the earlier, or only the later state.")
    ]
    from_nothing: Annotated[
        bool, Meta(description="Whether no policy of the kind is in force on these paths in the earlier state.")
    ]
    to_nothing: Annotated[
        bool, Meta(description="Whether no policy of the kind is in force on these paths in the later state.")
    ]
    paths: tuple[Path, ...]
    objects: Annotated[tuple[ChangedObject, ...], Meta(description="The changed objects, from the root downward.")]
    assumed: Annotated[tuple[str, ...], Meta(description=ASSUMED)]
    doubts: Annotated[tuple[Doubt, ...], Meta(description="Questions that could not be decided.")]

    @property
    def policy_kind(self) -> Annotated[GroupKind, Meta()]:
        """The policy kind."""
        return self.profile.group_kind

    @property
    def paths_(self) -> Annotated[tuple[NumberedPath, ...], Meta()]:
        """The paths of the change, numbered for this change only."""
        return numbered(self.paths)

    @cached_property
    def sort(self) -> Annotated[ChangeSort, Meta()]:
        """The worst change of a field."""
        sorts = {changed.sort for changed in self.fields}
        return next(sort for sort in SORTS if sort in sorts)

    @property
    def security(self) -> Annotated[bool, Meta()]:
        """Whether a field relevant to security is lost, changed or newly set on paths that keep their traffic."""
        return self.harmful or self.demanding

    @cached_property
    def harmful(self) -> bool:
        """Whether a field that is relevant to security is lost or changed where traffic runs on."""
        return self.where == "kept" and any(changed.harmful for changed in self.fields)

    @cached_property
    def demanding(self) -> bool:
        """Whether a field that is relevant to security is newly set where traffic ran before."""
        return self.where == "kept" and any(changed.demanding for changed in self.fields)
