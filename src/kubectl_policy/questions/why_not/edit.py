"""An edit of one object, and what it changes; the original stays as it is."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cached_property
from typing import TYPE_CHECKING, Annotated, Literal, TypeAlias, cast

from msgspec import Meta, Struct
from msgspec.structs import replace

from kubectl_policy.model.fields import WHOLE, FieldPath

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from kubectl_policy.model import Json, ObjectRef, Resource

Action: TypeAlias = Literal["change", "create", "delete"]


class FieldEdit(Struct, frozen=True):
    """One field at which an object is edited.

    An item that is taken out of a list has the position that it had, an item that is put in the one that it gets.
    """

    path: FieldPath
    removed: Annotated[tuple[Json, ...], Meta(description="What stands there, if anything.", max_length=1)]
    added: Annotated[tuple[Json, ...], Meta(description="What is to stand there, if anything.", max_length=1)]

    @property
    def field(self) -> Annotated[str, Meta()]:
        """Where, in words."""
        return str(self.path)

    @property
    def path_(self) -> Annotated[tuple[str | int, ...], Meta()]:
        """The keys and, from 0, places in lists that lead there."""
        return tuple(step for step in self.path.steps if isinstance(step, str | int))


class Edit(Struct, frozen=True, dict=True):
    """An edit of one object: `before` is None if it is created, `after` if it is deleted."""

    before: Resource | None
    after: Resource | None

    @property
    def action(self) -> Annotated[Action, Meta()]:
        """What is done to the object."""
        if self.before is None:
            return "create"
        return "change" if self.after else "delete"

    @property
    def object(self) -> Annotated[ObjectRef, Meta()]:
        """The object that is edited."""
        resource = self.after or self.before
        assert resource  # noqa: S101 (an edit of nothing is none)
        return resource.ref

    @cached_property
    def changes(self) -> Annotated[tuple[FieldEdit, ...], Meta()]:
        """Of an object that is changed."""
        return tuple(_field_edits(self.before.raw, self.after.raw, WHOLE)) if self.before and self.after else ()

    @property
    def field(self) -> str:
        """The first place that is changed, as far as the object has it already; empty if it is the whole object."""
        changes = self.changes
        if not changes:
            return ""
        return str(changes[0].path if changes[0].removed else changes[0].path.parent)

    @property
    def size(self) -> int:
        """How many lines it takes to write the edit down; a line that is replaced counts once."""
        if self.after is None:
            return 1
        if self.before is None:
            return _lines(self.after.raw)
        return sum(max(len(change.removed), len(change.added)) for change in self.changes)


def edited(resource: Resource, *values: tuple[FieldPath, Json], without: Iterable[FieldPath] = ()) -> Iterator[Edit]:
    """The edit that takes fields from an object, then gives others values; none if it could not, or changes nothing."""
    raw: Json = resource.raw
    try:
        for path in without:
            raw = path.remove(raw)
        for path, value in values:
            raw = path.put(raw, value)
    except LookupError:
        return
    edit = Edit(resource, replace(resource, raw=cast("Mapping[str, Json]", raw)))
    if edit.changes:
        yield edit


def _field_edits(before: Json, after: Json, path: FieldPath) -> Iterator[FieldEdit]:
    """Where an object and its edited copy differ, in the order of the fields; what both share is not looked at."""
    if before is after:
        return
    if isinstance(before, Mapping) and isinstance(after, Mapping):
        for key in dict.fromkeys((*before, *after)):
            if key in before and key in after:
                yield from _field_edits(before[key], after[key], path / key)
            else:
                removed = (before[key],) if key in before else ()
                added = (after[key],) if key in after else ()
                yield FieldEdit(path / key, removed, added)
    elif isinstance(before, list) and isinstance(after, list):
        yield from _item_edits(before, after, path)
    elif before != after or type(before) is not type(after):
        yield FieldEdit(path, (before,), (after,))


def _item_edits(before: list[Json], after: list[Json], path: FieldPath) -> Iterator[FieldEdit]:
    if len(before) == len(after):
        for place, (old, new) in enumerate(zip(before, after, strict=True)):
            yield from _field_edits(old, new, path / place)
        return
    shorter = min(len(before), len(after))
    first = next((place for place in range(shorter) if before[place] is not after[place]), shorter)
    most = shorter - first
    last = next((place for place in range(most) if before[-1 - place] is not after[-1 - place]), most)
    for place in range(first, len(before) - last):
        yield FieldEdit(path / place, (before[place],), ())
    for place in range(first, len(after) - last):
        yield FieldEdit(path / place, (), (after[place],))


def _lines(value: Json) -> int:
    """How many lines a value takes when it is written out, one for each field and each plain item."""
    if not value or not isinstance(value, list | Mapping):
        return 1
    if isinstance(value, Mapping):
        return sum(_lines(child) + bool(child and isinstance(child, list | Mapping)) for child in value.values())
    return sum(map(_lines, value))
