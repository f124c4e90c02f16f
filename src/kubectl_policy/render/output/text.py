"""Lines of styled text, where they are shown, and their layout: what a text answer is before it is printed."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Final, Literal, TypeAlias, TypeVar

from msgspec import Struct
from msgspec.structs import replace

from kubectl_policy.render.output.escape import escape_controls

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

# What a span is, not how it looks: colour only repeats what the words say.
Style: TypeAlias = Literal[
    "", "title", "heading", "subject", "value", "superseded", "aside", "error", "warning", "command"
]

# One cell each, and in most answers: they are no reason to load the tables of all characters.
_OWN_SYMBOLS: Final = str.maketrans("▸→·…", "    ")
_PIECES: Final = r" *[^ ]+| +"


class Segment(Struct, frozen=True, gc=False):
    """A piece of a line. Prose may be broken at its spaces; anything else (names, values) stays in one piece."""

    text: str
    style: Style = ""
    prose: bool = False


class Line(Struct, frozen=True, gc=False):
    """Spans after an indentation; where a line has to be continued, the rest is indented by `hang` instead.

    A line can be continued before a span that begins with a space, and within prose.
    """

    spans: tuple[Segment, ...] = ()
    indent: int = 0
    hang: int = 4


Document: TypeAlias = tuple[Line, ...]
_Item = TypeVar("_Item")


DEFAULT_WIDTH: Final = 100


class View(Struct, frozen=True):
    """The place where an answer is shown, and what is asked of its layout."""

    width: int = DEFAULT_WIDTH
    """In terminal cells."""
    terminal: bool = False
    """Whether long values and lists are cut, and next commands are offered."""
    unicode: bool = True
    """Whether more than ASCII can be written."""
    program: str = "kubectl policy"
    """The command as the user calls it."""
    options: tuple[str, ...] = ()
    """The options that a next command needs to see the same input."""
    headers: bool = True
    """Whether a table has headers."""
    namespaces: bool = False
    """Whether rows of a table are from several namespaces, and have a column for these."""
    everything: bool = False
    """Whether nothing is cut, and what is as it should be is shown as well."""
    kinds: bool = False
    """Whether the names in a table of one type stand behind their kinds, as they do in tables of several."""
    labels: bool = False
    """Whether a table has a column with all labels."""
    label_columns: tuple[str, ...] = ()
    """The labels for which a table has a column each."""
    coloured: bool = False
    """Whether words stand out by their styles."""
    context: str = ""
    """The context of the cluster, where answers of several are shown."""

    @property
    def cuts(self) -> bool:
        """Whether long values and lists are shortened; what is left out is said, with the option that shows it."""
        return self.terminal and not self.everything

    def first(self, items: Sequence[_Item], limit: int) -> tuple[Sequence[_Item], int]:
        """Return the first items where lists are cut, else all of them, and the number of the rest."""
        shown = items[:limit] if self.cuts else items
        return shown, len(items) - len(shown)


def prose_line(text: str, style: Style = "", indent: int = 0, hang: int = 4) -> Line:
    """Return a line of one piece of prose."""
    return Line((Segment(text, style, prose=True),), indent, hang)


def in_a_row(texts: Sequence[str], style: Style = "", lead: str = "") -> list[Segment]:
    """Join texts with commas, after a lead; a line can be continued before each but the first."""
    last = len(texts) - 1
    return [
        Segment(f"{' ' if index else lead}{text}{',' if index < last else ''}", style)
        for index, text in enumerate(texts)
    ]


def cells(text: str) -> int:
    """Return the width of a text in terminal cells, as it will be shown: wide East Asian characters take two."""
    if text.isascii() and text.isprintable():
        return len(text)
    shown = escape_controls(text)
    if shown.translate(_OWN_SYMBOLS).isascii():
        return len(shown)
    from rich.cells import cell_len  # noqa: PLC0415 (few names hold anything else than ASCII)

    return cell_len(shown)


def pad(text: str, width: int) -> str:
    """Return the text, filled up with spaces to a width in cells."""
    return text + " " * (width - cells(text))


def cut(text: str, width: int) -> str:
    """Cut text as it will be shown to `width` cells (at least one), with `…` where it was cut."""
    shown = escape_controls(text)
    if cells(shown) <= width:
        return shown
    while shown and cells(shown) > width - 1:
        # Whole screenfuls first: values of megabytes occur.
        shown = shown[: min(len(shown) - 1, width)]
    return shown + "…"


def lay_out(document: Iterable[Line], width: int) -> Iterator[tuple[Segment, ...]]:
    """Return the lines as they will be shown, each at most `width` cells wide unless a single piece is wider than that.

    Every text goes through `escape_controls` here, so that no renderer can forget it.
    """
    for line in document:
        row = [Segment(" " * line.indent)] if line.indent and line.spans else []
        if line.indent + sum([cells(span.text) for span in line.spans]) <= width:
            # Most lines need not be continued.
            yield (*row, *map(_shown, line.spans))
            continue
        used, started = line.indent, False
        for run in _runs(line.spans):
            size = sum(cells(span.text) for span in run)
            if started and used + size > width:
                yield tuple(row)
                first = replace(run[0], text=run[0].text.lstrip(" "))
                size -= len(run[0].text) - len(first.text)
                row, used = [Segment(" " * line.hang), first, *run[1:]], line.hang + size
            else:
                row += run
                used += size
            started = True
        yield tuple(row)


def _shown(span: Segment) -> Segment:
    text = escape_controls(span.text)
    return span if text is span.text else Segment(text, span.style)


def _runs(spans: Iterable[Segment]) -> Iterator[list[Segment]]:
    """Return the spans in groups that stay together: each group but the first begins with a space."""
    run: list[Segment] = []
    for span in spans:
        text = escape_controls(span.text)
        for piece in re.findall(_PIECES, text) if span.prose else [text]:
            if piece.startswith(" ") and run:
                yield run
                run = []
            run.append(span if piece is span.text else Segment(piece, span.style))
    if run:
        yield run


def to_text(document: Iterable[Line], width: int) -> str:
    """Return the document without its styles, every line ended."""
    rows = lay_out(document, width)
    return "".join("".join(span.text for span in row).rstrip(" ") + "\n" for row in rows)
