"""A text to the spans of its documents."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from kubectl_policy.text import Span

if TYPE_CHECKING:
    from collections.abc import Iterator

_MARKER: Final = "---"
_MARKED_LINE: Final = f"\n{_MARKER}"
_BEHIND_MARKER: Final = frozenset(["", " ", "\t", "\r", "\n"])
_SPACES: Final = " \t\r"


def spans_of(text: str) -> Iterator[Span]:
    """Cut a text above each document marker (`---`), or above the directives that precede the marker."""
    has_directives = text.startswith("%") or ("%" in text and "\n%" in text)
    line, start = 1, 0
    for marker in _markers(text):
        end = _directives_before(text, start, marker) if has_directives else marker
        # Nothing is above a marker at the beginning.
        if end > start:
            yield Span(start, end, line)
        line += text.count("\n", start, end)
        start = end
    yield Span(start, len(text), line)


def _markers(text: str) -> Iterator[int]:
    """Find the markers of documents: each begins a line, and has a space or nothing behind it."""
    if text.startswith(_MARKER) and text[len(_MARKER) : len(_MARKER) + 1] in _BEHIND_MARKER:
        yield 0
    at = text.find(_MARKED_LINE)
    while at >= 0:
        behind = at + len(_MARKED_LINE)
        if text[behind : behind + 1] in _BEHIND_MARKER:
            yield at + 1
        at = text.find(_MARKED_LINE, behind)


def _directives_before(text: str, end: int, marker: int) -> int:
    """Find where the directives (`%YAML 1.1`) above a marker start; the marker itself where there are none."""
    first = at = marker
    while at > end:
        line = text.rfind("\n", end, at - 1) + 1 or end
        if text[line] == "%":
            first = line
        elif text[line : at - 1].lstrip(_SPACES)[:1] not in {"", "#"}:
            # Directives can only stand at the very beginning or after the end (`...`) of the document before.
            return first if text.startswith("...", line) else marker
        at = line
    return first
