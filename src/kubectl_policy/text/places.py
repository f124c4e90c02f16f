"""Where documents and values are in a text that is read for its lines, as reading its values did not tell them."""

from __future__ import annotations

from itertools import chain
from typing import TYPE_CHECKING, Final, NamedTuple, TypeAlias, cast

import yaml

from kubectl_policy.model import FieldPath, Problem
from kubectl_policy.text import MAX_DEPTH, DocumentError

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from typing import Protocol, TextIO

    class EventParser(Protocol):
        """What is used of a loader: its events, one after the other, up to a StreamEndEvent."""

        def get_event(self) -> yaml.Event:
            """The next event; raises yaml.YAMLError, ValueError or OverflowError for characters that do not exist."""
            ...

        def peek_event(self) -> yaml.Event:
            """The event that comes next."""
            ...


# The C parser takes a tenth of the time; where PyYAML is built without it, the other one reports the same events.
# Neither recurses, nor does anything that reads their events, so that no nesting can exhaust the stack.
EVENT_PARSER: Final = cast("Callable[[str | TextIO], EventParser]", getattr(yaml, "CBaseLoader", yaml.BaseLoader))

MERGE_KEY: Final = "<<"
_STARTS: Final = (yaml.MappingStartEvent, yaml.SequenceStartEvent)
_ENDS: Final = (yaml.MappingEndEvent, yaml.SequenceEndEvent)

Steps: TypeAlias = "tuple[str | int, ...]"

_MARKER: Final = "---"
_MARKED_LINE: Final = f"\n{_MARKER}"
_BEHIND_MARKER: Final = frozenset(["", " ", "\t", "\r", "\n"])
_SPACES: Final = " \t\r"


def parts_of(text: str) -> Iterator[tuple[str, int]]:
    """A text cut above each document marker (`---`), or above the directives that precede it, and each part's line."""
    line, end = 1, 0
    for marker in chain(_markers(text), (None,)):
        begin = len(text) if marker is None else _directives_before(text, end, marker)
        yield text[end:begin], line
        line += text.count("\n", end, begin)
        end = begin


def _markers(text: str) -> Iterator[int]:
    """Where the markers of documents start: each begins a line, and has a space or nothing behind it."""
    if text.startswith(_MARKER) and text[len(_MARKER) : len(_MARKER) + 1] in _BEHIND_MARKER:
        yield 0
    at = text.find(_MARKED_LINE)
    while at >= 0:
        behind = at + len(_MARKED_LINE)
        if text[behind : behind + 1] in _BEHIND_MARKER:
            yield at + 1
        at = text.find(_MARKED_LINE, behind)


def _directives_before(text: str, end: int, marker: int) -> int:
    """Where the directives (`%YAML 1.1`) above a marker start; at the marker where there are none."""
    found = at = marker
    while at > end:
        line = text.rfind("\n", end, at - 1) + 1 or end
        if text[line] == "%":
            found = line
        elif text[line : at - 1].lstrip(_SPACES)[:1] not in {"", "#"}:
            # Directives can only stand at the very beginning or after the end (`...`) of the document before.
            return found if text.startswith("...", line) else marker
        at = line
    return found


def line_of(event: yaml.Event) -> int:
    """The line, from 0, on which what an event tells of starts."""
    return event.start_mark.line if event.start_mark else 0


class Place(NamedTuple):
    """A value and the steps that lead to it; its line is that of its key or, in a list, its own.

    `first_line` is the line on which its mapping has the same key before, 0 if it has not.
    """

    steps: Steps
    line: int
    event: yaml.NodeEvent
    first_line: int = 0


class _Open:
    """A mapping or a list that is being read: its key that has no value yet, or how many items it has so far.

    `keys` are those of a mapping with their lines, None for a list.
    """

    __slots__ = ("key", "key_line", "keys", "length", "steps")

    def __init__(self, steps: Steps, keys: dict[str, int] | None) -> None:
        self.steps, self.keys = steps, keys
        self.key: str | None = None
        self.key_line = self.length = 0

    def take(self, event: yaml.NodeEvent, line: int) -> Place | None:
        """The place of the value that an event starts; None where it is a key."""
        keys = self.keys
        if keys is None:
            self.length += 1
            return Place((*self.steps, self.length - 1), line, event)
        if self.key is None:
            if isinstance(event, yaml.CollectionStartEvent):
                raise DocumentError("syntax-error", line, "a mapping key that is itself a mapping or a list")
            self.key = event.value if isinstance(event, yaml.ScalarEvent) else f"*{event.anchor}"
            self.key_line = line
            return None
        key, self.key = self.key, None
        first_line = keys.get(key, 0) if key != MERGE_KEY else 0
        keys[key] = self.key_line
        return Place((*self.steps, key), self.key_line, event, first_line)


def places(text: str | TextIO, first_line: int = 1) -> Iterator[Place]:
    """The places of all values in a text, in their order; the first line has the given number.

    No more of it is read than is asked for. Raises DocumentError, yaml.YAMLError, ValueError and OverflowError where
    the text goes wrong.
    """
    next_event = EVENT_PARSER(text).get_event
    around: list[_Open] = []
    while (kind := (event := next_event()).__class__) is not yaml.StreamEndEvent:
        if kind in _ENDS:
            around.pop()
        elif isinstance(event, yaml.NodeEvent):
            line = first_line + line_of(event)
            place = around[-1].take(event, line) if around else Place((), line, event)
            if place is None:
                continue
            yield place
            if kind in _STARTS:
                if len(around) == MAX_DEPTH:
                    raise DocumentError("too-deep", line, f"nested more than {MAX_DEPTH} levels deep")
                around.append(_Open(place.steps, {} if kind is yaml.MappingStartEvent else None))


def repeated_keys(text: str, first_line: int = 1) -> tuple[Problem, ...]:
    """The keys that a mapping in a text has more than once, each with its line and that of the one before it.

    Where the text turns out not to be YAML, although it is JSON, it is said without a place.
    """
    try:
        return tuple(filter(None, map(repeated_key, places(text, first_line))))
    except (DocumentError, yaml.YAMLError, ValueError, OverflowError):
        return (Problem(message="a key is given twice in one mapping", reason="repeated-key", line=first_line),)


def repeated_key(place: Place) -> Problem | None:
    """What is wrong with the key of a value that its mapping has twice."""
    if not place.first_line:
        return None
    message = f"{FieldPath(place.steps)} is given twice: it is on line {place.first_line} as well"
    return Problem(message=message, reason="repeated-key", line=place.line)
