"""Fast reader of YAML: a parser in Rust, for the documents that mean the same to it as to kubectl.

The parser has the grammar of libyaml, and YAML 1.2's idea of some scalars. A gate finds the lines that it may take for
something else than the exact reader does; documents without such lines come out the same.
"""

from __future__ import annotations

import re
from importlib import import_module
from typing import TYPE_CHECKING, Final, cast

from kubectl_policy.lazy import pattern
from kubectl_policy.text import Document, TextSpan, document_of, inherited_fields, may_be_deep

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

    from kubectl_policy.model import Json
    from kubectl_policy.text import MakeBody

# In flow style, whatever stands between these is a line of its own to the gate; a carriage return ends a line as well.
_LINE_ENDS: Final = bytes.maketrans(b"{}[],\r", b"\n" * 6)
# Line breaks of YAML 1.1 and the byte order mark, none of which the gate knows.
_RARE_CHARACTERS: Final = pattern("[\x85\u2028\u2029\ufeff]")
# What the gate looks at together, in characters; and how many lines it remembers.
_CHUNK: Final = 2**20
_MAX_KNOWN_LINES: Final = 20_000

# Where a scalar without quotes, or an indicator, may start: on a line, or behind a key, which may have quotes.
_LINE_START: Final = r"^(?:---[ \t]+)?[ \t]*(?:-[ \t]+)*"
_KEY_BEFORE: Final = r":(?:[ \t]+|(?<=[\"' \t]:))"
_KEY_END: Final = r"[ \t]*:(?:[ \t]|$)"
_END: Final = rf"(?:[ \t]*$|[ \t]+\#|{_KEY_END})"
# Numbers that are the same to both, unless they are keys: integers, and fractions that are no integers.
_SIMPLE_NUMBER: Final = r"-?(?:0|[1-9][0-9]{0,17}|(?:0|[1-9][0-9]{0,8})\.[0-9]{0,5}[1-9])"
_WORD: Final = r"(?:true|True|TRUE|false|False|FALSE|null|Null|NULL|~)"
_ANY_NUMBER: Final = r"""
    [-+.0-9a-fA-FoOxX]*_[-+._0-9a-fA-FoOxX]*
  | [-+]?(?:
        0[xX][0-9a-fA-F]+ | 0[bB][01]+ | 0[oO][0-7]+
      | [0-9]+(?:\.[0-9]*)?(?:[eE][-+]?[0-9]+)?
      | \.[0-9]+(?:[eE][-+]?[0-9]+)?
      | \.(?:inf|Inf|INF|nan|NaN|NAN)
    )"""
_ODD_SCALAR: Final = rf"""(?:
    (?:y|Y|yes|Yes|YES|n|N|no|No|NO|on|On|ON|off|Off|OFF){_END}
  | (?=[-+.0-9])(?!{_SIMPLE_NUMBER}(?:[ \t]*$|[ \t]+\#))(?:{_ANY_NUMBER}){_END}
  | {_WORD}{_KEY_END}
  | <<{_END}
  | \?(?:[ \t]|$)
  | [&*][-\w] | !
)"""
_ODD: Final = (
    pattern(rf"{_LINE_START}(?:{_ODD_SCALAR}|:(?!:[0-9a-fA-F]))|^%", re.MULTILINE | re.VERBOSE),
    pattern(rf"{_KEY_BEFORE}{_ODD_SCALAR}", re.MULTILINE | re.VERBOSE),
)
_MARKER: Final = "---\n"
# Lines above the content of a document: the marker, comments and blank ones.
_LEADING_LINES: Final = pattern(r"(?:(?:---(?=[ \t\r\n]))?[ \t\r]*(?:#[^\n]*)?\n)*")
# Where the items of a List start in block style, and what comes behind the last one.
_ITEMS: Final = "\nitems:"
_FIRST_ITEM: Final = pattern(r"\nitems:[ \t]*\n( *- )")
_AFTER_ITEMS: Final = pattern(r"\n(?![ \t\r\n#]|-[ \t\r\n])(?=.)")
_OBJECT_START: Final = pattern(r" *- [^\s#]")
# Anchors, aliases and tags, which an item may share with the rest of its List.
_REFERENCES: Final = frozenset("&*!%")
# What may be a key without a value, which a mapping in flow style may have: `{name: http, 8080}`.
_SCALAR: Final = pattern(rf"^[ \t]*(?:{_SIMPLE_NUMBER}|{_WORD})(?:[ \t]*$|[ \t]+\#)", re.MULTILINE)
_LONE_KEY: Final = pattern(rf"(?:[{{,]|^)[ \t]*(?:{_SIMPLE_NUMBER}|{_WORD})[ \t]*(?:[,}}\r\#]|$)", re.MULTILINE)
_LIST_OF_SCALARS: Final = pattern(r"\[[^\[\]{}\"']*\]")


class Gate:
    """Finds the lines in texts that do not mean the same to both readers; most lines repeat, and are looked at once."""

    def __init__(self) -> None:
        """Know no lines yet."""
        self._plain: set[str] = set()

    def odd_lines(self, text: str) -> set[str] | None:
        """Return the lines of a text that may mean something else to the fast reader; None if any line may."""
        if not text.isascii() and _RARE_CHARACTERS.search(text):
            return None
        odd: set[str] = set()
        for chunk in _chunks(text):
            lines = {*chunk.split("\n")} - self._plain
            if _is_odd(lines):
                odd.update(line for line in lines if _is_odd([line]))
                lines -= odd
            if len(self._plain) < _MAX_KNOWN_LINES:
                self._plain |= lines
        return odd


def _chunks(text: str) -> Iterator[str]:
    start = 0
    while start < len(text):
        end = text.find("\n", start + _CHUNK) if start + _CHUNK < len(text) else -1
        end = len(text) if end < 0 else end
        yield text[start:end]
        start = end


def _is_odd(lines: Iterable[str]) -> bool:
    """Whether any of some lines may mean something else to the fast reader."""
    text = "\n".join(lines)
    parts = {*text.encode("utf-8", "surrogatepass").translate(_LINE_ENDS).split(b"\n")}
    parts_text = b"\n".join(parts).decode("utf-8", "surrogatepass")
    if any(odd.search(parts_text) for odd in _ODD):
        return True
    return bool(_SCALAR.search(parts_text) and _LONE_KEY.search(_LIST_OF_SCALARS.sub("", text)))


def fast_parser() -> Callable[[str], Json] | None:
    """Return a function that raises ValueError for what it refuses; None where the parser is not installed."""
    try:
        # Its types do not say what it exports.
        return cast("Callable[[str], Json]", import_module("ryaml").loads)
    except ImportError:
        return None


class FastText:
    """Text of which the documents that pass a gate are parsed."""

    def __init__(self, text: str, gate: Gate, parse: Callable[[str], Json], make_body: MakeBody) -> None:
        """Look for lines that may mean something else to the parser."""
        self._text, self._parse, self._make_body = text, parse, make_body
        self._odd_lines = gate.odd_lines(text)

    def read(self, span: TextSpan) -> Document | None:
        """Read a document; None where it takes the exact reader, which reads or reports it.

        The exact reader also tells the lines of items.
        """
        content = self._parse_part(self._text[span.start : span.end])
        # What says nothing may be no document at all.
        if content is None or inherited_fields(content) is not None:
            return None
        return document_of(content, self._content_span(span), self._make_body)

    def read_items(self, span: TextSpan, read_exactly: Callable[[TextSpan], Json]) -> list[Document] | None:
        """Read the items of a List in block style; None for anything else, and where an item cannot be read.

        `read_exactly` reads an item that does not pass the gate; None if it cannot be read.
        """
        text = self._text
        key = text.find(_ITEMS, span.start, span.end)
        first = _FIRST_ITEM.match(text, key, span.end) if key >= 0 else None
        if not first or self._odd_lines is None or any(not _REFERENCES.isdisjoint(line) for line in self._odd_lines):
            return None
        start, dash = first.start(1), f"\n{first[1]}"
        trailing = _AFTER_ITEMS.search(text, start, span.end)
        end = trailing.end() if trailing else span.end
        head = f"{text[span.start : key]}\nitems: []\n{text[end : span.end]}"
        inherited = inherited_fields(self._parse_part(head))
        if inherited is None:
            return None
        documents: list[Document] = []
        line, counted = span.line, span.start
        while start < end:
            line += text.count("\n", counted, start)
            counted, item = start, TextSpan(start, text.find(dash, start, end) + 1 or end, line)
            part = text[item.start : item.end]
            content = self._parse_part(part) or read_exactly(item)
            # In the other cases, the item starts on another line, or its own items have lines.
            if not (_OBJECT_START.match(part) and isinstance(content, list) and len(content) == 1):
                return None
            if inherited_fields(content[0]) is not None:
                return None
            documents.append(document_of(content[0], item, self._make_body, inherited))
            start = item.end
        return documents

    def _content_span(self, span: TextSpan) -> TextSpan:
        """Return the part of a document that starts with its content."""
        text, (start, end, line) = self._text, span
        if text.startswith(_MARKER, start):
            start, line = start + len(_MARKER), line + 1
        if not text[start : start + 1].isalpha():
            start = cast("re.Match[str]", _LEADING_LINES.match(text, span.start, end)).end()
            line = span.line + text.count("\n", span.start, start)
        return TextSpan(start, end, line)

    def _parse_part(self, text: str) -> Json:
        """Parse a part of the text; None where it does not pass the gate, is refused or says nothing."""
        odd_lines = self._odd_lines
        if odd_lines is None or (odd_lines and not odd_lines.isdisjoint(text.split("\n"))):
            return None
        # With many brackets, the parser takes a time that grows with the square of their depth.
        if may_be_deep(text.encode("utf-8", "surrogatepass")):
            return None
        try:
            return self._parse(text)
        except ValueError:
            return None
