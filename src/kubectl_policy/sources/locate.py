"""The line of a field of an object, found when a message needs it by reading the file again, from git if need be."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import yaml

from kubectl_policy.errors import SourceError
from kubectl_policy.model.fields import FieldPath
from kubectl_policy.sources.files import STDIN, read_text
from kubectl_policy.text.document import DocumentError
from kubectl_policy.text.documents import parts_of
from kubectl_policy.text.yaml_reader import EVENT_PARSER, line_of

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from kubectl_policy.model import Origin
    from kubectl_policy.model.fields import Step


@dataclass(slots=True)
class _Frame:
    """A mapping or list that is being read; `matched` steps lead from the object to it, None if it is elsewhere."""

    is_mapping: bool
    matched: int | None
    key: str | None = None
    key_line: int = 0
    index: int = -1


def locate(origin: Origin, path: str) -> int | None:
    """The line (from 1) of a field, `spec.listeners[0].port`, of the object that starts at an origin.

    None where it cannot be told: from standard input, if the file has changed, or if the field is not written there.
    """
    if origin.source == STDIN or not origin.line:
        return None
    try:
        part, first_line = next(_part_around(_text_at(origin.source), origin.line), ("", 1))
        return next(_lines(part, first_line, origin.line, FieldPath.parse(path).steps), None)
    except (OSError, ValueError, OverflowError, DocumentError, SourceError, yaml.YAMLError):
        return None


def _text_at(source: str) -> str:
    """The text of a file or, if there is none, of the one that `REV:PATH` names."""
    try:
        return read_text(source)
    except OSError:
        if ":" not in source:
            raise
        from kubectl_policy.sources.revisions import read_revision  # noqa: PLC0415 (most input is files)

        return read_revision(source)


def _part_around(text: str, line: int) -> Iterator[tuple[str, int]]:
    for part, first_line in parts_of(text):
        if first_line <= line <= first_line + part.count("\n"):
            yield part, first_line


def _lines(text: str, first_line: int, object_line: int, steps: Sequence[Step]) -> Iterator[int]:
    """The lines to which the steps lead, from any object on the line."""
    parser = EVENT_PARSER(text)
    frames: list[_Frame] = []
    while not isinstance(event := parser.get_event(), yaml.StreamEndEvent):
        if isinstance(event, yaml.CollectionEndEvent):
            frames.pop()
        elif isinstance(event, yaml.NodeEvent):
            line = first_line + line_of(event)
            frame = frames[-1] if frames else None
            if frame and frame.is_mapping and frame.key is None:
                if isinstance(event, yaml.CollectionStartEvent):
                    return  # No object has such a key.
                frame.key, frame.key_line = getattr(event, "value", ""), line
                continue
            is_mapping = isinstance(event, yaml.MappingStartEvent)
            matched, at = _step(frame, line, steps)
            if matched is None and is_mapping and line == object_line and not (frame and frame.is_mapping):
                matched, at = 0, line
            if matched == len(steps):
                yield at
            if isinstance(event, yaml.CollectionStartEvent):
                frames.append(_Frame(is_mapping, matched))


def _step(frame: _Frame | None, line: int, steps: Sequence[Step]) -> tuple[int | None, int]:
    """How many steps lead to the next value in a frame, and the line of its key or, in a list, its own."""
    if frame is None:
        return None, line
    step: Step | None
    if frame.is_mapping:
        step, at, frame.key = frame.key, frame.key_line, None
    else:
        frame.index += 1
        step, at = frame.index, line
    on_the_way = frame.matched is not None and frame.matched < len(steps) and steps[frame.matched] == step
    return (frame.matched or 0) + 1 if on_the_way else None, at
