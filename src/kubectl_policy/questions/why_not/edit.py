"""An edit of one object, and what it changes; the original is never touched."""

from __future__ import annotations

from collections.abc import Mapping
from enum import Enum
from functools import cached_property
from typing import TYPE_CHECKING, Final, Literal, NamedTuple, TypeAlias, cast

from kubectl_policy.model.fields import WHOLE, FieldPath
from kubectl_policy.model.snapshot import Resource

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from kubectl_policy.analysis import Analysis
    from kubectl_policy.model import GroupKind, Json, NodeRef, ObjectRef
    from kubectl_policy.profiles import PolicyKindProfile
    from kubectl_policy.questions.why_not.effect_on import EffectOn
    from kubectl_policy.questions.why_not.reasons import Reason
    from kubectl_policy.topology import Path


class Gone(Enum):
    """What a field is to be if it is to be left out."""

    GONE = "gone"


GONE: Final = Gone.GONE


class FieldEdit(NamedTuple):
    """One place at which two objects differ, and what stands there: nothing, or one value.

    An item that is taken out of a list has the place that it had, an item that is put in the place that it gets.
    """

    path: FieldPath
    removed: tuple[Json, ...]
    added: tuple[Json, ...]


def altered(resource: Resource, *alterations: tuple[FieldPath, Json | Gone]) -> Resource | None:
    """A copy of an object with other values at some fields; None if what is on the way there has another shape."""
    raw: Json = resource.raw
    try:
        for path, value in alterations:
            raw = path.remove(raw) if isinstance(value, Gone) else path.put(raw, value)
    except LookupError:
        return None
    return Resource(resource.ref, resource.origin, cast("Mapping[str, Json]", raw), resource.created)


def changes(before: Json, after: Json, path: FieldPath = WHOLE) -> Iterator[FieldEdit]:
    """Where an object and its edited copy differ, in the order of the fields; what both share is not looked at."""
    if before is after:
        return
    if isinstance(before, Mapping) and isinstance(after, Mapping):
        for key in dict.fromkeys((*before, *after)):
            here = path / key
            if key in before and key in after:
                yield from changes(before[key], after[key], here)
            else:
                yield FieldEdit(here, _one(before, key), _one(after, key))
    elif isinstance(before, list) and isinstance(after, list):
        yield from _item_changes(before, after, path)
    elif before != after or type(before) is not type(after):
        yield FieldEdit(path, (before,), (after,))


def _one(holder: Mapping[str, Json], key: str) -> tuple[Json, ...]:
    return (holder[key],) if key in holder else ()


def _item_changes(before: list[Json], after: list[Json], path: FieldPath) -> Iterator[FieldEdit]:
    shorter = min(len(before), len(after))
    if len(before) == len(after):
        for place in range(shorter):
            yield from changes(before[place], after[place], path / place)
        return
    first = next((place for place in range(shorter) if before[place] is not after[place]), shorter)
    last = next(
        (place for place in range(shorter - first) if before[-1 - place] is not after[-1 - place]), shorter - first
    )
    for place in range(first, len(before) - last):
        yield FieldEdit(path / place, (before[place],), ())
    for place in range(first, len(after) - last):
        yield FieldEdit(path / place, (), (after[place],))


def lines(value: Json) -> int:
    """How many lines a value takes when it is written out, one for each field and each plain item."""
    if not value or not isinstance(value, list | Mapping):
        return 1
    if isinstance(value, Mapping):
        return sum(lines(child) + bool(child and isinstance(child, list | Mapping)) for child in value.values())
    return sum(map(lines, value))


Action: TypeAlias = Literal["change", "create", "delete"]


class Edit(NamedTuple):
    """An edit of one object: `before` is None if it is created, `after` if it is deleted."""

    before: Resource | None
    after: Resource | None

    @property
    def object(self) -> ObjectRef:
        """The object that is edited."""
        resource = self.after or self.before
        assert resource  # noqa: S101 (an edit of nothing is none)
        return resource.ref

    @property
    def action(self) -> Action:
        """What is done to the object."""
        if self.before is None:
            return "create"
        return "change" if self.after else "delete"

    @property
    def changes(self) -> tuple[FieldEdit, ...]:
        """What differs, of an object that is changed."""
        return tuple(changes(self.before.raw, self.after.raw)) if self.before and self.after else ()

    @property
    def field(self) -> str:
        """The first place that is changed, as far as the object has it already; empty if it is the whole object."""
        first = next(iter(self.changes), None)
        return str(first.path if first.removed else first.path.parent) if first else ""

    @property
    def size(self) -> int:
        """How many lines it takes to write the edit down; a line that is replaced counts once."""
        if self.after is None:
            return 1
        return (
            sum(max(len(one.removed), len(one.added)) for one in self.changes) if self.before else lines(self.after.raw)
        )


class Case:
    """What edits are looked for: a policy that has no effect on a node, and why."""

    def __init__(
        self, analysis: Analysis, policy: Resource, target: NodeRef, effect: EffectOn, reasons: tuple[Reason, ...]
    ) -> None:
        """Remember what is known."""
        self.analysis = analysis
        self.policy = policy
        self.target = target
        self.effect = effect
        self.reasons = reasons

    @cached_property
    def profile(self) -> PolicyKindProfile:
        """What is known of the policy's kind."""
        return self.analysis.registry.known(self.policy.ref.group_kind)

    @property
    def paths(self) -> tuple[Path, ...]:
        """The paths through the node."""
        return self.effect.paths

    def read(self, ref: ObjectRef) -> Iterator[Resource]:
        """An object, if it was read."""
        found = self.analysis.index.get(ref)
        yield from [found] if found else []

    def schema_at(self, kind: GroupKind, path: FieldPath) -> Json:
        """What the definition of a kind says of a field; nothing if the definition was not read."""
        below = (step for key in path.steps for step in ("properties", key))
        return FieldPath(tuple(below)).get(self.analysis.index.defaults.schema_of(kind))

    def change(self, after: Resource | None) -> Iterator[Edit]:
        """The edit that makes an object what it is to be, if it exists and that differs from what it is."""
        before = self.analysis.index.get(after.ref) if after else None
        if after and before and next(changes(before.raw, after.raw), None):
            yield Edit(before, after)


Generator: TypeAlias = "Callable[[Case, Reason], Iterator[Edit]]"
