"""An edit of one object, and what it changes; the original is never touched."""

from __future__ import annotations

import re
from collections.abc import Mapping
from enum import Enum
from functools import cached_property
from typing import TYPE_CHECKING, Final, Literal, NamedTuple, TypeAlias, cast

from kubectl_policy.model.snapshot import Resource

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from kubectl_policy.analysis import Analysis
    from kubectl_policy.model import GroupKind, Json, NodeRef, ObjectRef
    from kubectl_policy.profiles import PolicyKindProfile
    from kubectl_policy.questions.why_not.effect_on import EffectOn
    from kubectl_policy.questions.why_not.reasons import Reason
    from kubectl_policy.topology import Path

Step: TypeAlias = "str | int"
Steps: TypeAlias = "tuple[Step, ...]"
_STEP: Final = re.compile(r"\[(\d+)\]|([^.\[\]]+)")


class Gone(Enum):
    """What a field is to be if it is to be left out."""

    GONE = "gone"


GONE: Final = Gone.GONE


class FieldEdit(NamedTuple):
    """One place at which two objects differ, and what stands there: nothing, or one value.

    An item that is taken out of a list has the place that it had, an item that is put in the place that it gets.
    """

    path: Steps
    removed: tuple[Json, ...]
    added: tuple[Json, ...]


def field_of(path: Steps) -> str:
    """The steps to a field in words; see `steps`."""
    return "".join(f"[{step}]" if isinstance(step, int) else f".{step}" for step in path).removeprefix(".")


def steps(field: str) -> Steps:
    """The steps to a field that is named in words: `spec.targetRefs[0].name`."""
    return tuple(int(index) if index else key for index, key in _STEP.findall(field))


def value_on(value: Json, path: Steps) -> Json:
    """What stands at a field; None where there is nothing."""
    for step in path:
        if isinstance(step, int):
            value = value[step] if isinstance(value, list) and step < len(value) else None
        else:
            value = value.get(step) if isinstance(value, Mapping) else None
    return value


def altered(resource: Resource, *alterations: tuple[Steps, Json | Gone]) -> Resource | None:
    """A copy of an object with other values at some fields; None if what is on the way there has another shape.

    Mappings on the way are made if they are absent, and so is a list of which the first item is set; setting the item
    after the last one appends it.
    """
    raw: Json = resource.raw
    try:
        for path, value in alterations:
            raw = _put(raw, path, value)
    except LookupError:
        return None
    return Resource(resource.ref, resource.origin, cast("Mapping[str, Json]", raw), resource.created)


def _put(holder: Json, path: Steps, value: Json | Gone) -> Json:
    """A copy of what is on the way; all that is beside it stays shared."""
    step, rest = path[0], path[1:]
    if isinstance(step, int):
        return _put_item(holder, step, rest, value)
    fields = dict(_mapping(holder))
    if rest:
        fields[step] = _put(fields.get(step), rest, value)
    elif isinstance(value, Gone):
        fields.pop(step, None)
    else:
        fields[step] = value
    return fields


def _put_item(holder: Json, place: int, rest: Steps, value: Json | Gone) -> Json:
    items = _items(holder)
    if place > len(items) or (place == len(items) and isinstance(value, Gone)):
        raise LookupError(place)
    if rest:
        inner = items[place] if place < len(items) else None
        return [*items[:place], _put(inner, rest, value), *items[place + 1 :]]
    return [*items[:place], *([] if isinstance(value, Gone) else [value]), *items[place + 1 :]]


def _mapping(holder: Json) -> Mapping[str, Json]:
    if holder is None:
        return {}
    if isinstance(holder, Mapping):
        return holder
    raise LookupError


def _items(holder: Json) -> Sequence[Json]:
    if holder is None:
        return []
    if isinstance(holder, list):
        return holder
    raise LookupError


def changes(before: Json, after: Json, path: Steps = ()) -> Iterator[FieldEdit]:
    """Where an object and its edited copy differ, in the order of the fields; what both share is not looked at."""
    if before is after:
        return
    if isinstance(before, Mapping) and isinstance(after, Mapping):
        for key in dict.fromkeys((*before, *after)):
            here = (*path, key)
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


def _item_changes(before: list[Json], after: list[Json], path: Steps) -> Iterator[FieldEdit]:
    shorter = min(len(before), len(after))
    if len(before) == len(after):
        for place in range(shorter):
            yield from changes(before[place], after[place], (*path, place))
        return
    first = next((place for place in range(shorter) if before[place] is not after[place]), shorter)
    last = next(
        (place for place in range(shorter - first) if before[-1 - place] is not after[-1 - place]), shorter - first
    )
    for place in range(first, len(before) - last):
        yield FieldEdit((*path, place), (before[place],), ())
    for place in range(first, len(after) - last):
        yield FieldEdit((*path, place), (), (after[place],))


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
        return field_of(first.path if first.removed else first.path[:-1]) if first else ""

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

    def schema_at(self, kind: GroupKind, path: Steps) -> Json:
        """What the definition of a kind says of a field; nothing if the definition was not read."""
        found: Json = self.analysis.index.defaults.schema_of(kind)
        for step in path:
            found = value_on(found, ("properties", step))
        return found

    def change(self, after: Resource | None) -> Iterator[Edit]:
        """The edit that makes an object what it is to be, if it exists and that differs from what it is."""
        before = self.analysis.index.get(after.ref) if after else None
        if after and before and next(changes(before.raw, after.raw), None):
            yield Edit(before, after)


Generator: TypeAlias = "Callable[[Case, Reason], Iterator[Edit]]"
