"""Rows as a tree with guides, as lines that fit; and which of many siblings are left out."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from msgspec.structs import replace

from kubectl_policy.render.graph.tree.wording import more_words, row_spans
from kubectl_policy.render.output.text import Line, Span, lay_out

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from kubectl_policy.render.graph.tree.rows import Row
    from kubectl_policy.render.output.text import View

# So many siblings of a sort are shown at a terminal.
_SIBLINGS: Final = 20
# What a line is continued with is so many cells further right.
_HANG: Final = 2
# However deep a row is, so many cells are left for it; the guide of each level takes so many.
_LEAST: Final = 32
_GUIDE: Final = 4
# However narrow the screen is, so many levels are shown: from a GatewayClass to the policies of a port and further.
_LEVELS: Final = 10
# What stands before a row that others follow and before the last one, and before what is below either.
_GUIDES: Final = {True: (("├── ", "│   "), ("└── ", "    ")), False: (("+-- ", "|   "), ("`-- ", "    "))}


def drawn(title: str, rows: Sequence[Row], view: View) -> Iterator[Line]:
    """The rows and all that is below them, as lines that fit; below a title if there is one."""
    levels = max(_LEVELS, (view.width - _LEAST) // _GUIDE - bool(title))
    if title:
        yield Line((Span(title, "heading"),))
    yield from _branches(rows, view, levels, "" if title else None)


def _branches(rows: Sequence[Row], view: View, levels: int, guides: str | None) -> Iterator[Line]:
    """Rows behind the guides of what they are below; at a terminal, so many levels of them as there is room for."""
    siblings = list(_siblings(rows, view))
    if rows and levels <= 0 and view.cuts:
        siblings = [([Span("and more; --show-all shows it", "aside", prose=True)], ())]
    for number, (spans, below) in enumerate(siblings, 1):
        own = _GUIDES[view.unicode][number == len(siblings)]
        first, further = ("", "") if guides is None else (guides + own[0], guides + own[1])
        width = max(view.width - len(first), _LEAST)
        for place, line in enumerate(lay_out([Line(tuple(spans), 0, _HANG)], width)):
            yield _line([Span(further if place else first, "aside"), *line])
        yield from _branches(below, view, levels - 1, further)


def _siblings(rows: Iterable[Row], view: View) -> Iterator[tuple[Iterable[Span], Sequence[Row]]]:
    """What each of some siblings says, and what is below it.

    At a terminal, of many of a sort the first, those with problems before others, and how many more there are.
    """
    sorts: dict[tuple[str, str], list[Row]] = {}
    for row in rows:
        sorts.setdefault((row.head.noun, row.head.lead), []).append(row)
    for siblings in sorts.values():
        by_need = sorted(enumerate(siblings), key=lambda each: not each[1].troubled)
        shown = {place for place, _ in by_need[: _SIBLINGS if view.cuts else None]}
        yield from ((row_spans(row, view), row.below) for place, row in enumerate(siblings) if place in shown)
        left_out = [row for place, row in enumerate(siblings) if place not in shown]
        if left_out:
            yield [Span(more_words(left_out), "aside", prose=True)], ()


def _line(spans: Sequence[Span]) -> Line:
    """A line that is not broken again: one that is too wide has a name that is wider than what its guides leave.

    Lines break before spans that begin with a space; each has its spaces after it.
    """
    pieces: list[Span] = []
    for span in spans:
        text = span.text.lstrip(" ") if pieces else span.text
        if len(text) < len(span.text):
            pieces[-1] = replace(pieces[-1], text=pieces[-1].text + " " * (len(span.text) - len(text)))
        if pieces and pieces[-1].style == span.style:
            pieces[-1] = replace(pieces[-1], text=pieces[-1].text + text)
        elif text:
            pieces.append(Span(text, span.style))
    return Line(tuple(pieces))
