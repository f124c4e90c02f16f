"""The events of a YAML text, from whichever of PyYAML's two parsers is there."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final, Protocol, cast

import yaml

if TYPE_CHECKING:
    from collections.abc import Callable


class EventParser(Protocol):
    """What is used of a loader: its events, one after the other, up to a StreamEndEvent."""

    def get_event(self) -> yaml.Event:
        """The next event; raises yaml.YAMLError, and ValueError or OverflowError for characters that do not exist."""
        ...

    def peek_event(self) -> yaml.Event:
        """The event that comes next."""
        ...


# The C parser takes a tenth of the time; where PyYAML is built without it, the other one reports the same events.
# Neither recurses, nor does anything that reads their events, so that no nesting can exhaust the stack.
EVENT_PARSER: Final = cast("Callable[[str], EventParser]", getattr(yaml, "CBaseLoader", yaml.BaseLoader))


def line_of(event: yaml.Event) -> int:
    """The line, from 0, on which what an event tells of starts."""
    return event.start_mark.line if event.start_mark else 0
