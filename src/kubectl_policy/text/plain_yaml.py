"""Plain YAML to values and their lines in one loop: mappings, lists and scalars, and nothing that needs more care."""

from __future__ import annotations

from array import array
from typing import TYPE_CHECKING, Any

import yaml

from kubectl_policy.text import MAX_DEPTH, Document
from kubectl_policy.text.places import EVENT_PARSER
from kubectl_policy.text.scalars import printable

if TYPE_CHECKING:
    from collections.abc import Sequence

    from kubectl_policy.model import Json
    from kubectl_policy.text import ItemPlace
    from kubectl_policy.text.scalars import PlainKeys, PlainScalars


def read_plain(  # noqa: C901, PLR0911, PLR0912 - one loop with all of its state at hand takes half the time of calls
    text: str, first_line: int, scalars: PlainScalars, keys: PlainKeys
) -> list[Document] | None:
    """The documents of a text of which the first line has the given number, if all of them are plain.

    None where one is broken or too deep, has an anchor, an alias, a tag, a merge key, a key twice, or one that is no
    text: most texts have nothing of it, and need not be read with an eye on it.
    """
    documents: list[Document] = []
    lines = array("L")
    # Where a value is put: at a key of a mapping, if one was read, or at the end of a list, which the document is in.
    container: Any = []
    key: str | None = None
    around: list[Any] = []
    event: Any
    try:
        next_event = EVENT_PARSER(text).get_event
        while (kind := (event := next_event()).__class__) is not yaml.StreamEndEvent:
            if kind is yaml.ScalarEvent:
                if event.anchor or event.tag:
                    return None
                is_plain, written = event.implicit[0], event.value
                if key is not None:
                    if key in container:
                        return None
                    container[key] = scalars[written] if is_plain else printable(written)
                    key = None
                    continue
                lines.append(first_line + event.start_mark.line)
                if container.__class__ is list:
                    container.append(scalars[written] if is_plain else printable(written))
                elif (key := keys[written] if is_plain else printable(written)) is None:
                    return None
            elif kind is yaml.MappingStartEvent or kind is yaml.SequenceStartEvent:
                inner: Any = {} if kind is yaml.MappingStartEvent else []
                if event.anchor or event.tag or len(around) >= MAX_DEPTH:
                    return None
                if key is not None:
                    if key in container:
                        return None
                    container[key] = inner
                    key = None
                elif container.__class__ is list:
                    lines.append(first_line + event.start_mark.line)
                    container.append(inner)
                else:
                    return None
                around.append(container)
                container = inner
            elif kind is yaml.MappingEndEvent or kind is yaml.SequenceEndEvent:
                container = around.pop()
            elif kind is yaml.DocumentEndEvent:
                documents.append(_document(container.pop(), lines))
                lines = array("L")
            elif kind is yaml.AliasEvent:
                return None
    except (yaml.YAMLError, ValueError, OverflowError):
        return None
    return documents


def _document(value: Json, lines: Sequence[int]) -> Document:
    starts = item_starts(value)
    item_lines = {place: lines[start] for place, start in starts.items()}
    return Document(value=value, line=lines[0], item_lines=item_lines, value_lines=lines)


def item_starts(document: Json) -> dict[ItemPlace, int]:
    """Where among all values of a document, the outer one first, the mappings in its list `items` come."""
    starts: dict[ItemPlace, int] = {}
    if isinstance(document, dict) and isinstance(document.get("items"), list):
        _end(document, 0, (), starts)
    return starts


def _end(value: Json, at: int, item: ItemPlace | None, starts: dict[ItemPlace, int]) -> int:
    """Where what follows a value comes, which comes `at` a place itself; where it is an `item`, those in it are noted.

    The document itself is one without a position.
    """
    if item:
        starts[item] = at
    at += 1
    children = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    for key, child in children:
        if item is not None and key == "items" and isinstance(child, list):
            at += 1
            for position, inner in enumerate(child):
                at = _end(inner, at, (*item, position) if isinstance(inner, dict) else None, starts)
        else:
            at = _end(child, at, None, starts)
    return at
