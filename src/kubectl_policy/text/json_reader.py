"""JSON text to values, with the lines of the items of a List."""

from __future__ import annotations

import json
import math
from typing import TYPE_CHECKING, Any, Final, NoReturn, cast

import msgspec

from kubectl_policy.patterns import pattern
from kubectl_policy.text import MAX_DEPTH, NO_FIELDS, Document, DocumentError, Span, inherited_fields
from kubectl_policy.text.scalars import json_number

if TYPE_CHECKING:
    import re
    from collections.abc import Iterator, Mapping

    from kubectl_policy.model import Json, Problem
    from kubectl_policy.text import Bodies

_SPACE: Final = pattern(r"[ \t\r\n]*")
_BETWEEN_ITEMS: Final = pattern(r"[ \t\r\n,]*")
_ITEMS: Final = pattern(r'"items"[ \t\r\n]*:[ \t\r\n]*(?=\[)')
_SURROGATE: Final = pattern(r"\\u[dD][89a-fA-F]")
_ESCAPE: Final = pattern(
    r"\\u[dD][89abAB][0-9a-fA-F]{2}\\u[dD][c-fC-F][0-9a-fA-F]{2}|(\\u[dD][89a-fA-F][0-9a-fA-F]{2})|\\."
)
_NO_BRACKETS: Final = bytes(set(range(256)) - set(b"{[]}"))


class _List(msgspec.Struct):
    """Fields by which a List is known; its items are not decoded."""

    kind: Any = None
    items: msgspec.Raw = msgspec.Raw()


def read_json(text: str, span: Span, bodies: Bodies) -> Iterator[Document]:
    """Read the JSON values that follow each other in a part of a text; a List is split into its items.

    Raises ValueError where a value is not JSON, after those before it, and DocumentError (too-deep).
    """
    part = _Part(_without_halves(text[span.start : span.end]), span.start, bodies)
    line, counted = span.line, 0
    try:
        for begin, end in _values(part.text):
            line += part.text.count("\n", counted, begin)
            counted = begin
            value = Span(begin, end, line)
            yield from part.items(value) or (part.document(value),)
    except RecursionError:
        raise _too_deep(line) from None


def _values(text: str) -> Iterator[tuple[int, int]]:
    """Find where the values in a text start and end."""
    begin = _after_space(text, 0)
    if begin == len(text):
        return
    try:
        msgspec.json.decode(text, type=msgspec.Raw)
    except msgspec.DecodeError:
        scan = json.JSONDecoder(parse_constant=_refuse).raw_decode
        while begin < len(text):
            _, end = scan(text, begin)
            yield begin, end
            begin = _after_space(text, end)
    else:
        yield begin, len(text)


class _Part:
    """Part of a text that is JSON; spans are those in the part, but for those of documents."""

    def __init__(self, text: str, offset: int, bodies: Bodies) -> None:
        """Keep the text of a part, and where it starts in the whole text, and what makes the bodies of objects."""
        self.text, self._offset, self._bodies = text, offset, bodies

    def document(self, span: Span, inherited: Mapping[str, Json] | None = None, number: int = 0) -> Document:
        """Read a value; an item of a List has a number, and inherits some fields."""
        data = self.text[span.start : span.end].encode()
        value = _decode(data, MAX_DEPTH if inherited is None else MAX_DEPTH - 2, span.line)
        problems: tuple[Problem, ...] = ()
        if _has_repeated_keys(data, value):
            from kubectl_policy.text.events import repeated_keys  # noqa: PLC0415 (most JSON is written by programs)

            problems = repeated_keys(data.decode(), span.line, ("items", number) if inherited is not None else ())
        whole = Span(self._offset + span.start, self._offset + span.end, span.line)
        return Document(
            content=self._bodies.body(value, NO_FIELDS if inherited is None else inherited),
            line=span.line,
            problems=problems,
            span=whole,
            is_item=inherited is not None,
        )

    def items(self, span: Span) -> Iterator[Document] | None:
        """Read the items of a List; None for anything else, and for a List that is empty or repeats a key."""
        text = self.text
        if text[span.start] != "{":
            return None
        try:
            envelope = msgspec.json.decode(text[span.start : span.end], type=_List)
        except msgspec.ValidationError:
            return None
        array = bytes(envelope.items).decode()
        if not isinstance(envelope.kind, str) or not envelope.kind.endswith("List"):
            return None
        for key in _ITEMS.finditer(text, span.start, span.end):
            if text.startswith(array, key.end()):
                head = f"{text[span.start : key.end()]}[]{text[key.end() + len(array) : span.end]}".encode()
                fields = _decode(head, MAX_DEPTH, span.line)
                inherited = inherited_fields(fields)
                if inherited is not None and not _has_repeated_keys(head, fields):
                    line = span.line + text.count("\n", span.start, key.end())
                    return self._each_item(array, Span(key.end(), span.end, line), inherited)
        return None

    def _each_item(self, array: str, span: Span, inherited: Mapping[str, Json]) -> Iterator[Document]:
        """Read the items of a list that stands where a span starts."""
        at, counted, line = span.start + 1, span.start, span.line
        for number, raw in enumerate(msgspec.json.decode(array, type=list[msgspec.Raw])):
            at = cast("re.Match[str]", _BETWEEN_ITEMS.match(self.text, at)).end()
            line += self.text.count("\n", counted, at)
            counted, length = at, len(bytes(raw).decode())
            yield self.document(Span(at, at + length, line), inherited, number)
            at += length


def _decode(data: bytes, depth: int, line: int) -> Json:
    """Decode a value, of which the limit of depth is given."""
    value: Json = _DECODER.decode(data)
    # What has fewer brackets than that is not so deep.
    if data.count(b"{") + data.count(b"[") > depth and _deeper_than(depth, value):
        raise _too_deep(line)
    return value


def _has_repeated_keys(data: bytes, value: Json) -> bool:
    """Whether a mapping has a key twice, of which only the last one is in the value."""
    # What comes out as it was written has none; to compare that takes a fifth of the time.
    if msgspec.json.encode(value) == msgspec.json.format(data, indent=-1):
        return False
    repeats = False

    def mapping(members: list[tuple[str, Json]]) -> dict[str, Json]:
        nonlocal repeats
        made = dict(members)
        repeats |= len(made) != len(members)
        return made

    json.loads(data, object_pairs_hook=mapping)
    return repeats


def decoded(body: bytes | bytearray) -> Json:
    """Decode the one JSON value that is encoded in UTF-8; of keys that are there twice, the last one counts.

    Raises ValueError where it is not JSON, and DocumentError (too-deep).
    """
    try:
        value: Json = _DECODER.decode(body)
    except RecursionError:
        raise _too_deep(1) from None
    # msgspec refuses half characters, in escapes and in bytes.
    except (msgspec.DecodeError, UnicodeDecodeError):
        value = _DECODER.decode(_without_halves(body.decode()))
    if _may_be_deep(body) and _deeper_than(MAX_DEPTH, value):
        raise _too_deep(1)
    return value


def _too_deep(line: int) -> DocumentError:
    return DocumentError("too-deep", line, f"nested more than {MAX_DEPTH} levels deep")


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


def _without_halves(text: str) -> str:
    """The text in which half a surrogate pair, which is no character, is U+FFFD instead, as encoding/json reads it."""
    if _SURROGATE.search(text):
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


def _deeper_than(limit: int, value: Json) -> bool:
    level: list[Json] = [value]
    for _ in range(limit):
        containers = [item for item in level if isinstance(item, dict | list)]
        level = [
            item
            for container in containers
            for item in (container.values() if isinstance(container, dict) else container)
        ]
    return any(isinstance(item, dict | list) for item in level)


_DECODER: Final = msgspec.json.Decoder(float_hook=_number)
