"""The lines of fields of objects in one text: each object that is asked for is read once more, by the exact reader."""

from __future__ import annotations

from array import array
from bisect import bisect_right
from collections.abc import Mapping
from contextlib import suppress
from io import StringIO
from itertools import chain, count
from typing import TYPE_CHECKING, Final, NamedTuple

from kubectl_policy.model.fields import same_json
from kubectl_policy.patterns import pattern
from kubectl_policy.text import DocumentError, Span
from kubectl_policy.text.scalars import MERGE_KEY, plain_scalar
from kubectl_policy.text.splitting import spans_of

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from kubectl_policy.model import Json
    from kubectl_policy.text.events import Place, Steps

# Any value at all.
ANY: Final[Json] = object()  # type: ignore[assignment]
# What is asked for together is commonly in a handful of objects; so many values of them take some 50 MiB.
_MAX_KEPT: Final = 100_000
# Most objects are no longer: what the parser is given beyond the end of one is read for nothing.
_AT_ONCE: Final = 1024
# A line on which an item of a list starts, or an object in braces: what is above it need not be read.
_ITEM: Final = pattern(r"[ \t]*(-[ \t\r\n]|\{)")


class TextLines:
    """The lines of fields in a text, by the lines on which their objects start."""

    def __init__(self, text: str) -> None:
        """Look at nothing before something is looked up."""
        self._text = text
        # Where documents start and end, with their first lines.
        self._starts, self._ends, self._lines = array("Q"), array("Q"), array("Q")
        self._objects: dict[int, _Written] = {}
        self._kept = 0

    def note(self, span: Span) -> None:
        """Know where the next document is; if none is noted, the text is searched for documents."""
        self._starts.append(span.start)
        self._ends.append(span.end)
        self._lines.append(span.line)

    def line(self, object_line: int, steps: Steps, value: Json = ANY) -> int | None:
        """The line of a field, or an item, of the object that starts on a line, or of whichever of several has it.

        None where no object starts there, where it has no such field, or where another value is written there. What
        an API server adds to a value or prunes from it does not make it another one, nor does a variable (`${NAME}`).
        """
        if object_line not in self._objects:
            written = self._written(object_line)
            if self._kept + written.size > _MAX_KEPT:
                self._objects.clear()
                self._kept = 0
            self._objects[object_line] = written
            self._kept += written.size
        return self._objects[object_line].line(steps, value)

    def _written(self, object_line: int) -> _Written:
        """What starts on a line; where it repeats what is written above it, that is read as well."""
        span = self._document_around(object_line)
        if object_line < 1:
            return _Written()
        start = span.start
        for _ in range(object_line - span.line):
            start = self._text.find("\n", start, span.end) + 1
            if not start:
                return _Written()
        if start == span.start or not _ITEM.match(self._text, start, span.end):
            return self._read(span, object_line)
        written = self._read(Span(start, span.end, object_line), object_line)
        return self._read(span, object_line) if written.refers_above else written

    def _read(self, span: Span, object_line: int) -> _Written:
        """The objects that start on a line, read from another one above it, or from there."""
        from kubectl_policy.text.events import places  # noqa: PLC0415 (many answers show no lines)

        return _read_again(places(_InParts(self._text[span.start : span.end], newline="\n"), span.line), object_line)

    def _document_around(self, line: int) -> Span:
        """Return the span of the document around a line."""
        if not self._lines:
            for span in spans_of(self._text):
                self.note(span)
        number = max(bisect_right(self._lines, line) - 1, 0)
        return Span(self._starts[number], self._ends[number], self._lines[number])


class _InParts(StringIO):
    """A text that is read a little at a time."""

    def read(self, size: int | None = None) -> str:
        """As much as is asked for at most."""
        return super().read(_AT_ONCE if size is None else min(size, _AT_ONCE))


class _Value(NamedTuple):
    """A value, or an empty mapping or list for any, and how a scalar is written, if that is known."""

    line: int
    value: Json
    text: str = ""


class _Written:
    """The objects that start on a line, as they are written.

    `refers_above` is whether an alias in them stands for something above what was read.
    """

    def __init__(self) -> None:
        """Nothing is written there yet."""
        self.roots: list[Steps] = []
        self.values: dict[Steps, _Value] = {}
        # By the place of an alias, what it stands for.
        self.repeated: dict[Steps, Steps] = {}
        self.refers_above = False

    @property
    def size(self) -> int:
        """How many values were read."""
        return len(self.values)

    def line(self, steps: Steps, value: Json) -> int | None:
        """The line of a field of one of the objects, if it has that value there."""
        for root in self.roots:
            written = (*root, *steps)
            # Most fields are written where they stand, and no alias or merge key has to be followed.
            for found in chain([written] if written in self.values else (), self._found(root, steps, set())):
                if value is ANY or self._says(found, value):
                    return self.values[found].line
        return None

    def _found(self, here: Steps, rest: Steps, seen: set[tuple[Steps, Steps]]) -> Iterator[Steps]:
        """The places at which a field may be written: next to the others, or where a merge key (`<<`) takes it from."""
        if not rest:
            yield here
        here = self.repeated.get(here, here)
        if not rest or (here, rest) in seen:
            return
        seen.add((here, rest))
        if (*here, rest[0]) in self.values:
            yield from self._found((*here, rest[0]), rest[1:], seen)
        merged = self.repeated.get((*here, MERGE_KEY), (*here, MERGE_KEY))
        if merged in self.values:
            yield from self._found(merged, rest, seen)
        for position in count():
            if (*merged, position) not in self.values:
                break
            yield from self._found((*merged, position), rest, seen)

    def _says(self, here: Steps, value: Json) -> bool:
        """Whether a value is written at a place, as far as both have the same fields."""
        here = self.repeated.get(here, here)
        written = self.values[here]
        if isinstance(written.value, dict):
            return isinstance(value, Mapping) and all(
                self._says((*here, key), inner) for key, inner in value.items() if (*here, key) in self.values
            )
        if isinstance(written.value, list):
            return (
                isinstance(value, list | tuple)
                and (*here, len(value)) not in self.values
                and all(
                    (*here, position) in self.values and self._says((*here, position), item)
                    for position, item in enumerate(value)
                )
            )
        return _is_written(written.value, value) or str(value) == written.text


def _read_again(read: Iterable[Place], object_line: int) -> _Written:
    """The objects that start on a line in what is read from there, or from somewhere above it, as far as it goes.

    What follows them may be anything.
    """
    written = _Written()
    roots = written.roots
    anchors: dict[str, Steps] = {}
    import yaml  # noqa: PLC0415 (see TextLines)

    with suppress(DocumentError, yaml.YAMLError, ValueError, OverflowError):
        for place in read:
            steps, event = place.steps, place.event
            is_item = not steps or isinstance(steps[-1], int)
            if roots and not steps:
                # The next document.
                break
            if place.line == object_line and is_item and isinstance(event, yaml.MappingStartEvent):
                roots.append(steps)
            elif place.line > object_line and not (() in roots or any(steps[: len(root)] == root for root in roots)):
                break
            written.values[steps] = _value_of(place)
            if isinstance(event, yaml.AliasEvent):
                written.refers_above |= event.anchor not in anchors
                written.repeated[steps] = anchors.get(str(event.anchor), steps)
            elif event.anchor:
                anchors[event.anchor] = steps
    return written


def _value_of(place: Place) -> _Value:
    import yaml  # noqa: PLC0415 (see TextLines)

    event = place.event
    if isinstance(event, yaml.ScalarEvent):
        return _Value(place.line, plain_scalar(event.value) if event.implicit[0] else event.value, event.value)
    return _Value(place.line, {} if isinstance(event, yaml.MappingStartEvent) else [])


def _is_written(written: Json, value: Json) -> bool:
    """Whether a value is what is written, a scalar or any variable in it."""
    return same_json(written, value) or str(value) == written or "${" in str(written)
