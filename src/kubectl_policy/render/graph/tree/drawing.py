"""Rows as a tree that rich draws, and that as lines of ours; and which of many siblings are left out."""

from __future__ import annotations

import dataclasses
from typing import TYPE_CHECKING, Final, get_args

from msgspec.structs import replace

from kubectl_policy.render.graph.tree.wording import more_words, row_spans
from kubectl_policy.render.output.text import Line, Span, Style, lay_out

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

    from rich.console import Console, ConsoleOptions, RenderResult
    from rich.style import Style as RichStyle
    from rich.tree import Tree

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
# To rich the tree is wider than any text, so that it cuts nothing: lines break where all of ours do.
_ENDLESS: Final = 1 << 40
# Where a style of rich's keeps ours.
_OURS: Final = "ours"


def drawn(title: str, rows: Sequence[Row], view: View) -> Iterator[Line]:
    """The rows and all that is below them, as lines that fit; below a title if there is one."""
    # Other formats do without rich, which takes as long to import as a small answer.
    from rich.console import Console  # noqa: PLC0415 (see above)
    from rich.segment import Segment  # noqa: PLC0415 (see above)
    from rich.style import Style as RichStyle  # noqa: PLC0415 (see above)
    from rich.tree import Tree  # noqa: PLC0415 (see above)

    styles: dict[Style, RichStyle] = {name: RichStyle(meta={_OURS: name}) for name in get_args(Style)}
    tree = Tree(_Label([Span(title, "heading")], styles), guide_style=styles["aside"], hide_root=not title)
    _grow(tree, rows, view, styles, max(_LEVELS, (view.width - _LEAST) // _GUIDE - bool(title)))
    console = Console(width=view.width, legacy_windows=False, color_system=None, _environ={})
    options = dataclasses.replace(console.options, encoding="utf-8" if view.unicode else "ascii")
    for segments in Segment.split_lines(console.render(tree, options.update(width=view.width + _ENDLESS))):
        yield _line([Span(part.text, part.style.meta.get(_OURS, "") if part.style else "") for part in segments])


def _grow(tree: Tree, rows: Sequence[Row], view: View, styles: Mapping[Style, RichStyle], levels: int) -> None:
    """Add rows to what they are below; at a terminal, so many levels of them as there is room for."""
    if rows and levels <= 0 and view.cuts:
        tree.add(_Label([Span("and more; --show-all shows it", "aside", prose=True)], styles))
        return
    for spans, below in _siblings(rows, view):
        _grow(tree.add(_Label(spans, styles)), below, view, styles, levels - 1)


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


class _Label:
    """What a row says, as rich draws it: laid out as all of our lines are, in what the guides leave of the width."""

    def __init__(self, spans: Iterable[Span], styles: Mapping[Style, RichStyle]) -> None:
        """See the class."""
        self._line, self._styles = Line(tuple(spans), 0, _HANG), styles

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        """Each line of it. No text is read as markup, and what a terminal would obey is written out by `lay_out`."""
        from rich.segment import Segment  # noqa: PLC0415 (see above)

        del console
        for row in lay_out([self._line], max(options.max_width - _ENDLESS, _LEAST)):
            yield from (Segment(span.text, self._styles[span.style]) for span in row)
            yield Segment.line()


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
