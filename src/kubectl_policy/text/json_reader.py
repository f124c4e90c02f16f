"""JSON text to values, in one pass, with the lines of the items of a List."""

from __future__ import annotations

import json
import math
import re
from typing import TYPE_CHECKING, Final, NoReturn, cast

from kubectl_policy.text import MAX_DEPTH, Document, DocumentError
from kubectl_policy.text.places import repeated_keys
from kubectl_policy.text.yaml_reader import json_number

if TYPE_CHECKING:
    from collections.abc import Iterator

    from kubectl_policy.model import Json

_SPACE: Final = re.compile(r"[ \t\r\n]*")
_SURROGATE: Final = re.compile(r"\\u[dD][89a-fA-F]")
_ESCAPE: Final = re.compile(
    r"\\u[dD][89abAB][0-9a-fA-F]{2}\\u[dD][c-fC-F][0-9a-fA-F]{2}|(\\u[dD][89a-fA-F][0-9a-fA-F]{2})|\\."
)


class JsonReader:
    """Reads JSON; one reader keeps equal keys of all that it reads once."""

    def __init__(self) -> None:
        """Start without having met any key."""
        self._keys: dict[str, str] = {}
        self._has_repeated_keys = False
        decoder = json.JSONDecoder(parse_float=_number, parse_constant=_refuse, object_pairs_hook=self._mapping)
        self._decode_at = decoder.raw_decode

    def read(self, text: str, start: int, first_line: int) -> Iterator[Document]:
        """The JSON values that follow each other from an offset; the line of the offset has the given number.

        Raises ValueError where a value is not JSON, after those before it, and DocumentError (too-deep).
        """
        if _SURROGATE.search(text, start):
            text = _ESCAPE.sub(_whole_character, text)
        line, at = first_line, start
        while (begin := _after_space(text, at)) < len(text):
            line += text.count("\n", at, begin)
            self._has_repeated_keys = False
            try:
                value, at, starts = self._document(text, begin)
            except RecursionError:
                raise DocumentError("too-deep", line, f"nested more than {MAX_DEPTH} levels deep") from None
            problems = repeated_keys(text[begin:at], line) if self._has_repeated_keys else ()
            yield Document(value=value, line=line, item_lines=_lines(text, begin, line, starts), problems=problems)
            line += text.count("\n", begin, at)

    def _document(self, text: str, begin: int) -> tuple[Json, int, list[int]]:
        """The value at an offset, where it ends and, if it is a List, where its items start.

        An object is taken apart here, so that nothing is decoded twice for the lines of items.
        """
        if text[begin] != "{":
            return *self._decode(text, begin, 0), []
        members: list[tuple[str, Json]] = []
        starts: list[int] = []
        at, more = _first(text, begin, "}")
        while more:
            name, at = self._decode_at(text, at)
            if not isinstance(name, str):
                _refuse(str(name))
            at = _after_colon(text, at)
            value: Json
            if name == "items" and text.startswith("[", at):
                value, at, starts = self._items(text, at)
            else:
                value, at = self._decode(text, at, 1)
            members.append((name, value))
            at, more = _next(text, at, "}")
        return self._mapping(members), at, starts

    def _items(self, text: str, begin: int) -> tuple[list[Json], int, list[int]]:
        """The list at an offset in an object, where it ends, and where its items start."""
        items: list[Json] = []
        starts: list[int] = []
        at, more = _first(text, begin, "]")
        while more:
            starts.append(at)
            item, at = self._decode(text, at, 2)
            items.append(item)
            at, more = _next(text, at, "]")
        return items, at, starts

    def _decode(self, text: str, begin: int, depth: int) -> tuple[Json, int]:
        """The value at an offset and where it ends. Raises RecursionError if it is too deep, at a depth in others."""
        value, end = self._decode_at(text, begin)
        # What has fewer brackets than that is not so deep.
        left = MAX_DEPTH - depth
        if text.count("{", begin, end) + text.count("[", begin, end) > left and _deeper_than(left, value):
            raise RecursionError
        return value, end

    def _mapping(self, members: list[tuple[str, Json]]) -> dict[str, Json]:
        keep = self._keys.setdefault
        mapping = {keep(name, name): value for name, value in members}
        if len(mapping) != len(members):
            self._has_repeated_keys = True
        return mapping


def _lines(text: str, at: int, line: int, starts: list[int]) -> dict[tuple[int, ...], int]:
    lines: dict[tuple[int, ...], int] = {}
    for position, start in enumerate(starts):
        line += text.count("\n", at, start)
        lines[position,] = line
        at = start
    return lines


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


def _after_space(text: str, at: int) -> int:
    return cast("re.Match[str]", _SPACE.match(text, at)).end()


def _after_colon(text: str, at: int) -> int:
    at = _after_space(text, at)
    if not text.startswith(":", at):
        _refuse(text[at : at + 1])
    return _after_space(text, at + 1)


def _first(text: str, begin: int, close: str) -> tuple[int, bool]:
    """Where the first element of the object or list at an offset starts, and True; else where it ends, and False."""
    at = _after_space(text, begin + 1)
    return (at + 1, False) if text.startswith(close, at) else (at, True)


def _next(text: str, at: int, close: str) -> tuple[int, bool]:
    """Where the element after the one that ends at an offset starts, and True; else where all ends, and False."""
    at = _after_space(text, at)
    if text.startswith(",", at):
        return _after_space(text, at + 1), True
    if not text.startswith(close, at):
        _refuse(text[at : at + 1])
    return at + 1, False


def _deeper_than(limit: int, value: Json) -> bool:
    level: list[Json] = [value]
    for _ in range(limit):
        level = [item for container in level for item in _containers_in(container)]
        if not level:
            return False
    return True


def _containers_in(value: Json) -> list[Json]:
    items = value.values() if isinstance(value, dict) else value if isinstance(value, list) else ()
    return [item for item in items if isinstance(item, dict | list)]
