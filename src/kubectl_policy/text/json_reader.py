"""JSON text to values, with the lines of the items of a List."""

from __future__ import annotations

import json
import math
from typing import TYPE_CHECKING, Any, Final, NoReturn, cast

import msgspec

from kubectl_policy.lazy import pattern
from kubectl_policy.model import Problem
from kubectl_policy.text import MAX_DEPTH, Document, DocumentError, TextSpan, document_of, inherited_fields, may_be_deep
from kubectl_policy.text.scalars import json_number

if TYPE_CHECKING:
    import re
    from collections.abc import Iterator, Mapping

    from kubectl_policy.model import Json
    from kubectl_policy.text import MakeBody

_SPACE: Final = pattern(r"[ \t\r\n]*")
_BETWEEN_ITEMS: Final = pattern(r"[ \t\r\n,]*")
_ITEMS: Final = pattern(r'"items"[ \t\r\n]*:[ \t\r\n]*(?=\[)')
_SURROGATE: Final = pattern(r"\\u[dD][89a-fA-F]")
_ESCAPE: Final = pattern(
    r"\\u[dD][89abAB][0-9a-fA-F]{2}\\u[dD][c-fC-F][0-9a-fA-F]{2}|(\\u[dD][89a-fA-F][0-9a-fA-F]{2})|\\."
)


class _List(msgspec.Struct, rename={"api_version": "apiVersion"}):
    """Fields by which a List is known; its items are not decoded."""

    api_version: Any = None
    kind: Any = None
    items: msgspec.Raw = msgspec.Raw()


def read_json(text: str, span: TextSpan, make_body: MakeBody) -> Iterator[Document]:
    """Read the JSON values that follow each other in a part of a text; a List is split into its items.

    Raises ValueError where a value is not JSON, after those before it, and DocumentError (too-deep).
    """
    if _SURROGATE.search(text, span.start, span.end):
        # It keeps its length.
        text = _replace_lone_surrogates(text)
    line, counted = span.line, span.start
    try:
        for start, end in _values(text, span):
            line += text.count("\n", counted, start)
            counted = start
            whole = TextSpan(start, end, line)
            inherited, parts = _items(text, whole) or (None, [whole])
            for part in parts:
                data = text[part.start : part.end].encode()
                content = decode_json(data, part.line)
                yield document_of(content, part, make_body, inherited, _repeated_keys(data, content, part.line))
    except RecursionError:
        raise _too_deep_error(line) from None


def _values(text: str, span: TextSpan) -> Iterator[tuple[int, int]]:
    start = _skip(_SPACE, text, span.start)
    try:
        msgspec.json.decode(text[start : span.end], type=msgspec.Raw)
    except msgspec.DecodeError:
        scan = json.JSONDecoder(parse_constant=_refuse).raw_decode
        while start < span.end:
            _, end = scan(text, start)
            yield start, end
            start = _skip(_SPACE, text, end)
    else:
        yield start, span.end


def _items(text: str, span: TextSpan) -> tuple[Mapping[str, Json], list[TextSpan]] | None:
    """Find the items of a List, and what they inherit; None for anything else."""
    if text[span.start] != "{":
        return None
    try:
        envelope = msgspec.json.decode(text[span.start : span.end], type=_List)
    except msgspec.ValidationError:
        return None
    inherited = inherited_fields({"apiVersion": envelope.api_version, "kind": envelope.kind, "items": None})
    array = bytes(envelope.items).decode()
    keys = _ITEMS.finditer(text, span.start, span.end)
    start = next((key.end() for key in keys if text.startswith(array, key.end())), 0)
    if inherited is None or envelope.api_version is None or not array or not start:
        return None
    items: list[TextSpan] = []
    line, counted, start = span.line, span.start, start + 1
    for raw_item in msgspec.json.decode(array, type=list[msgspec.Raw]):
        start = _skip(_BETWEEN_ITEMS, text, start)
        line += text.count("\n", counted, start)
        counted, end = start, start + len(bytes(raw_item).decode())
        items.append(TextSpan(start, end, line))
        start = end
    return inherited, items


def decode_json(data: bytes | bytearray, line: int = 1) -> Json:
    """Decode the one JSON value in a text, in UTF-8; of keys that a mapping has twice, the last one counts.

    Raises ValueError where it is not JSON, and DocumentError (too-deep) with its line.
    """
    try:
        content: Json = _DECODER.decode(data)
    except RecursionError:
        raise _too_deep_error(line) from None
    except msgspec.DecodeError:
        content = _DECODER.decode(_replace_lone_surrogates(data.decode()))
    if may_be_deep(data) and _is_deeper(content, MAX_DEPTH):
        raise _too_deep_error(line)
    return content


def _is_deeper(content: Json, limit: int) -> bool:
    inner = content.values() if isinstance(content, dict) else content if isinstance(content, list) else None
    return inner is not None and (not limit or any(_is_deeper(item, limit - 1) for item in inner))


def _too_deep_error(line: int) -> DocumentError:
    return DocumentError("too-deep", line, f"nested more than {MAX_DEPTH} levels deep")


def _repeated_keys(data: bytes, content: Json, line: int) -> tuple[Problem, ...]:
    """Return the keys that mappings have twice, of which only the last one is in the content."""
    # What comes out as it was written has none; to compare that takes a fifth of the time.
    if msgspec.json.encode(content) == msgspec.json.format(data, indent=-1):
        return ()
    has_repeated_keys = False

    def mapping(members: list[tuple[str, Json]]) -> dict[str, Json]:
        nonlocal has_repeated_keys
        fields = dict(members)
        has_repeated_keys |= len(fields) != len(members)
        return fields

    json.loads(data, object_pairs_hook=mapping)
    if not has_repeated_keys:
        return ()
    from kubectl_policy.text.yaml_reader import YamlReader  # noqa: PLC0415 (most JSON is written by programs)

    try:
        return next(YamlReader().read(data.decode(), line)).problems
    except DocumentError:
        # Not all JSON is YAML.
        return (Problem(message="a key is given twice in one mapping", reason="repeated-key", line=line),)


def _replace_lone_surrogates(text: str) -> str:
    """Replace half a surrogate pair, which is no character, by U+FFFD, as encoding/json does."""
    return _ESCAPE.sub(lambda escape: "\\ufffd" if escape[1] else escape[0], text)


def _decode_number(text: str) -> int | float:
    number = float(text)
    if not math.isfinite(number):
        _refuse(text)
    return json_number(number)


def _refuse(text: str) -> NoReturn:
    raise ValueError(text)


def _skip(skipped: re.Pattern[str], text: str, start: int) -> int:
    return cast("re.Match[str]", skipped.match(text, start)).end()


_DECODER: Final = msgspec.json.Decoder(float_hook=_decode_number)
