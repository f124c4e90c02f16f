"""JSON text to values, in one pass, with the lines of the items of a List."""

from __future__ import annotations

import json
import math
import re
from typing import TYPE_CHECKING, Final, NoReturn, cast

import msgspec

from kubectl_policy.text import MAX_DEPTH, Document, DocumentError
from kubectl_policy.text.places import repeated_keys
from kubectl_policy.text.scalars import json_number

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from kubectl_policy.model import Json

_SPACE: Final = re.compile(r"[ \t\r\n]*")
_MARK: Final = re.compile(r"[ \t\r\n]*([,:\]}]?)[ \t\r\n]*")
_SURROGATE: Final = re.compile(r"\\u[dD][89a-fA-F]")
_ESCAPE: Final = re.compile(
    r"\\u[dD][89abAB][0-9a-fA-F]{2}\\u[dD][c-fC-F][0-9a-fA-F]{2}|(\\u[dD][89a-fA-F][0-9a-fA-F]{2})|\\."
)
_NO_BRACKETS: Final = bytes(set(range(256)) - set(b"{[]}"))


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
        text = _without_halves(text, start)
        line, at = first_line, start
        while (begin := _after_space(text, at)) < len(text):
            line += text.count("\n", at, begin)
            self._has_repeated_keys = False
            try:
                value, at, item_lines = self._document(text, begin, line)
            except RecursionError:
                raise DocumentError("too-deep", line, f"nested more than {MAX_DEPTH} levels deep") from None
            problems = repeated_keys(text[begin:at], line) if self._has_repeated_keys else ()
            yield Document(value=value, line=line, item_lines=item_lines, problems=problems)
            line += text.count("\n", begin, at)

    def _document(self, text: str, begin: int, line: int) -> tuple[Json, int, dict[tuple[int, ...], int]]:
        """The value at an offset, which is on a line, where it ends and, if it is a List, the lines of its items.

        An object and its items are split here, so that nothing is decoded twice for the lines of items.
        """
        if text[begin] != "{":
            return *self._decode(text, begin, 0), {}
        members: list[tuple[str, Json]] = []
        items: list[Json] = []
        item_lines: dict[tuple[int, ...], int] = {}
        counted = begin

        def read_member(at: int) -> int:
            name, at = self._decode_at(text, at)
            mark, at = _mark(text, at)
            if mark != ":" or not isinstance(name, str):
                _refuse(mark)
            if name == "items" and text.startswith("[", at):
                items.clear()
                item_lines.clear()
                members.append((name, items))
                return _read_each(text, at, "]", read_item)
            value, at = self._decode(text, at, 1)
            members.append((name, value))
            return at

        def read_item(at: int) -> int:
            nonlocal counted, line
            line += text.count("\n", counted, at)
            counted = at
            item_lines[len(items),] = line
            item, at = self._decode(text, at, 2)
            items.append(item)
            return at

        end = _read_each(text, begin, "}", read_member)
        return self._mapping(members), end, item_lines

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


def decoded(body: bytes | bytearray) -> Json:
    """Decode the one JSON value of a text in UTF-8; of keys that are there twice, the last one counts.

    Raises ValueError where it is not JSON, and DocumentError (too-deep).
    """
    value: Json = None
    is_too_deep = False
    try:
        try:
            value = _FAST_DECODER.decode(body)
        # msgspec refuses half characters as well.
        except (msgspec.DecodeError, UnicodeDecodeError):
            value = _DECODER.decode(_without_halves(body.decode(), 0))
    except RecursionError:
        is_too_deep = True
    if is_too_deep or (_may_be_deep(body) and _deeper_than(MAX_DEPTH, value)):
        raise DocumentError("too-deep", 1, f"nested more than {MAX_DEPTH} levels deep")
    return value


def _may_be_deep(body: bytes | bytearray) -> bool:
    """Whether the brackets of a text, also those in its strings, nest deeper than is allowed: a quick look at bytes."""
    if body.count(b"{") + body.count(b"[") <= MAX_DEPTH:
        return False
    brackets = body.translate(None, _NO_BRACKETS)
    for _ in range(MAX_DEPTH):
        inner = brackets.replace(b"{}", b"").replace(b"[]", b"")
        if len(inner) == len(brackets):
            break
        brackets = inner
    return len(brackets) > 0


def _without_halves(text: str, start: int) -> str:
    """The text in which half a surrogate pair, which is no character, is U+FFFD instead, as encoding/json reads it."""
    if _SURROGATE.search(text, start):
        return _ESCAPE.sub(lambda escape: "\\ufffd" if escape[1] else escape[0], text)
    return text


def _number(text: str) -> int | float:
    value = float(text)
    if not math.isfinite(value):
        _refuse(text)
    return json_number(value)


def _refuse(text: str) -> NoReturn:
    raise ValueError(text)


def _after_space(text: str, at: int) -> int:
    return cast("re.Match[str]", _SPACE.match(text, at)).end()


def _mark(text: str, at: int) -> tuple[str, int]:
    """The mark at an offset, or "" if there is none, and where what follows it starts."""
    match = cast("re.Match[str]", _MARK.match(text, at))
    return match[1], match.end()


def _read_each(text: str, begin: int, close: str, read: Callable[[int], int]) -> int:
    """Where the object or list at an offset ends, after each element was read from where it starts to where it ends."""
    wanted = ""
    mark, at = _mark(text, begin + 1)
    while mark != close:
        if mark != wanted:
            _refuse(mark)
        wanted = ","
        mark, at = _mark(text, read(at))
    return at


def _deeper_than(limit: int, value: Json) -> bool:
    level: list[Json] = [value]
    for _ in range(limit):
        containers = [item for item in level if isinstance(item, dict | list)]
        level = [item for each in containers for item in (each.values() if isinstance(each, dict) else each)]
    return any(isinstance(item, dict | list) for item in level)


_DECODER: Final = json.JSONDecoder(parse_float=_number, parse_constant=_refuse)
_FAST_DECODER: Final = msgspec.json.Decoder(float_hook=_number)
