"""Events of PyYAML's parser, and the values in a text with the steps that lead to each, and its line."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final, NamedTuple, TypeAlias, cast

import yaml

from kubectl_policy.model import FieldPath, Problem
from kubectl_policy.text import MAX_DEPTH, DocumentError
from kubectl_policy.text.scalars import MERGE_KEY

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

_STARTS: Final = (yaml.MappingStartEvent, yaml.SequenceStartEvent)
_ENDS: Final = (yaml.MappingEndEvent, yaml.SequenceEndEvent)

Steps: TypeAlias = "tuple[str | int, ...]"


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


class _OpenCollection:
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
    around: list[_OpenCollection] = []
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
                around.append(_OpenCollection(place.steps, {} if kind is yaml.MappingStartEvent else None))


def repeated_keys(text: str, first_line: int = 1, above: Steps = ()) -> tuple[Problem, ...]:
    """The keys that a mapping in a text has more than once, each with its line and that of the one before it.

    The steps `above` lead to what is written in the text.

    Where the text turns out not to be YAML, although it is JSON, it is said without a place.
    """
    try:
        return tuple(filter(None, (repeated_key(place, above) for place in places(text, first_line))))
    except (DocumentError, yaml.YAMLError, ValueError, OverflowError):
        return (Problem(message="a key is given twice in one mapping", reason="repeated-key", line=first_line),)


def repeated_key(place: Place, above: Steps = ()) -> Problem | None:
    """What is wrong with the key of a value that its mapping has twice."""
    if not place.first_line:
        return None
    message = f"{FieldPath((*above, *place.steps))} is given twice: it is on line {place.first_line} as well"
    return Problem(message=message, reason="repeated-key", line=place.line)
