"""JSON text to values, with the lines of the items of a List."""

from __future__ import annotations

import json
import math
import re
from typing import TYPE_CHECKING, Final, NoReturn, cast

from kubectl_policy.text.document import MAX_DEPTH, Document, DocumentError
from kubectl_policy.text.yaml_dialect import json_number

if TYPE_CHECKING:
    from collections.abc import Iterator

    from kubectl_policy.model import Json

_SPACE: Final = re.compile(r"[ \t\r\n]*")
_SURROGATE: Final = re.compile(r"\\u[dD][89a-fA-F]")
_ESCAPE: Final = re.compile(
    r"\\u[dD][89abAB][0-9a-fA-F]{2}\\u[dD][c-fC-F][0-9a-fA-F]{2}|(\\u[dD][89a-fA-F][0-9a-fA-F]{2})|\\."
)


def read_json(text: str, start: int, first_line: int) -> Iterator[Document]:
    """The JSON values that follow each other from an offset; the line of the offset has the given number.

    Raises ValueError where a value is not JSON, after those before it, and DocumentError (too-deep).
    """
    if _SURROGATE.search(text, start):
        text = _ESCAPE.sub(_whole_character, text)
    line, at = first_line, start
    while (begin := _after_space(text, at)) < len(text):
        line += text.count("\n", at, begin)
        value, end = _decode(text, begin, line)
        if _too_deep(value):
            raise _too_deep_at(line)
        yield Document(value, line, _item_lines(text, begin, line, value))
        line += text.count("\n", begin, end)
        at = end


def _whole_character(escape: re.Match[str]) -> str:
    """Half a surrogate pair is no character; encoding/json reads U+FFFD instead."""
    return "\\ufffd" if escape[1] else escape[0]


def _number(text: str) -> int | float:
    value = float(text)
    if not math.isfinite(value):
        _refuse(text)
    return json_number(value)


def _refuse(text: str) -> NoReturn:
    raise ValueError(text)


_DECODER: Final = json.JSONDecoder(parse_float=_number, parse_constant=_refuse)


def _after_space(text: str, at: int) -> int:
    return cast("re.Match[str]", _SPACE.match(text, at)).end()


def _decode(text: str, at: int, line: int) -> tuple[Json, int]:
    try:
        return _DECODER.raw_decode(text, at)
    except RecursionError:
        raise _too_deep_at(line) from None


def _too_deep_at(line: int) -> DocumentError:
    return DocumentError("too-deep", line, f"nested more than {MAX_DEPTH} levels deep")


def _too_deep(value: Json) -> bool:
    level: list[Json] = [value]
    for _ in range(MAX_DEPTH):
        level = [item for container in level for item in _containers_in(container)]
        if not level:
            return False
    return True


def _containers_in(value: Json) -> list[Json]:
    items = value.values() if isinstance(value, dict) else value if isinstance(value, list) else ()
    return [item for item in items if isinstance(item, dict | list)]


def _item_lines(text: str, at: int, line: int, value: Json) -> dict[int, int]:
    """The line of each item of a List that is known to be JSON; items of Lists within it are left out."""
    items = value.get("items") if isinstance(value, dict) else None
    lines: dict[int, int] = {}
    if isinstance(items, list) and items:
        begin = _first_item(text, at)
        for item in items:
            line += text.count("\n", at, begin)
            lines[id(item)] = line
            at, begin = begin, _after_value(text, begin)
    return lines


def _first_item(text: str, at: int) -> int:
    """Where the first element of the list `items` begins, which is known to be in the object at an offset."""
    at = _after_space(text, at + 1)
    while True:
        name, at = _DECODER.raw_decode(text, at)
        at = _after_space(text, _after_space(text, at) + len(":"))
        if name == "items" and text[at] == "[":
            return _after_space(text, at + 1)
        at = _after_value(text, at)


def _after_value(text: str, at: int) -> int:
    """Where the value after the one at an offset begins, or where the object or list ends."""
    at = _after_space(text, _DECODER.raw_decode(text, at)[1])
    return _after_space(text, at + 1) if text[at] == "," else at
