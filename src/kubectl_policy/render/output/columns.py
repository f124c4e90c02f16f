"""Tables of rows in aligned columns, in kubectl's style: cells, what of them fits a terminal, and the order of rows."""

from __future__ import annotations

import re
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, Final, Generic, Protocol, TypeAlias, TypeVar

from msgspec import Struct

from kubectl_policy.errors import UsageError
from kubectl_policy.model.fields import FieldPath
from kubectl_policy.render.output.escape import escape_controls
from kubectl_policy.render.output.text import Line, Segment, cells, prose_line

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping, Sequence

    from kubectl_policy.model import Json
    from kubectl_policy.render.output.text import Document, Style, View

# Of many entries in a cell of a table that is not wide, so many are shown wherever it is shown.
_MAX_ENTRIES: Final = 10
# Of several entries in a cell so many are shown where not all fit: two, as kubectl does with hosts, else one.
_FEWER: Final = (2, 1)
# A cell beyond this is as long as it is, but nothing is aligned with it: one absurd name must not widen every line.
_WIDEST: Final = 200
_GAP: Final = "   "
_ANY_ROOM: Final[Mapping[str, int]] = MappingProxyType({})
SPARE: Final = 9
# What stands in an empty cell, as kubectl writes it.
NONE: Final = "<none>"
# What stands in a cell where there might be a value and is none; nothing, in values with commas.
NOTHING: Final = "-"
# With these a spreadsheet takes a cell for a formula.
_FORMULA: Final = ("=", "+", "-", "@")


class Number(Struct, frozen=True):
    """A number and how it is shown: `3`, `3+` for at least that many, `1 of 2`."""

    value: int
    text: str


class Sentence(Struct, frozen=True):
    """Words that can be shortened between two of them where room is scarce; a wide table has more than the `brief`."""

    text: str
    brief: str = ""


Cell: TypeAlias = "str | Number | Sentence | tuple[str, ...]"


_Row = TypeVar("_Row")


class Column(Struct, Generic[_Row], frozen=True):
    """A column of a table: its header and the cell of a row."""

    title: str
    cell: Callable[[_Row], Cell]
    narrow: bool = True
    """Whether `-o table` has it, and not only `-o wide`."""
    rank: int = 0
    """At a terminal without room for all columns, those of the highest rank are left out; one of rank 0 never is, and
    one of rank `SPARE` is shown only where all others are whole.
    """
    tight: Callable[[_Row], str] | None = None
    """Shorter words for its cells, where these make room for more columns."""
    least: int = 14
    """The width below which a cut sentence says nothing."""
    style: Callable[[_Row], Style] | None = None


class Table(Struct, Generic[_Row], frozen=True):
    """Rows and the columns that show them, in `table`, in `wide` and as what one can sort by."""

    columns: tuple[Column[_Row], ...]
    rows: Sequence[_Row]

    def text(self, view: View, *, wide: bool) -> str:
        """Return a line for each row, under their headers; nothing if there is none.

        `wide` adds columns. A table that is not wide shows a few of many entries in a cell. Where the view cuts it, no
        line is longer than there is room for, as far as names allow it, and a last line says what is not shown.
        """
        columns, remark = self._shown(view, wide=wide)
        lines = (_GAP.join(line).rstrip(" ") for line in zip(*map(_padded, columns.values()), strict=True))
        return "".join(f"{line}\n" for line in (*lines, *remark))

    def document(self, view: View, *, wide: bool) -> Document:
        """Return the lines of `text` with their styles."""
        columns, remark = self._shown(view, wide=wide)
        header: list[Style] = ["title"] if view.headers else []
        spans: list[list[Segment]] = []
        for column in self.columns:
            if column.title in columns:
                styles: list[Style] = [*header, *(column.style(row) if column.style else "" for row in self.rows)]
                # A line can be continued before a span that begins with a space: so a cell ends with its gap.
                padded = (f"{cell}{_GAP}" for cell in _padded(columns[column.title]))
                spans.append([Segment(cell, style) for cell, style in zip(padded, styles, strict=True)])
        lines = (Line(line) for line in zip(*spans, strict=True))
        return (*lines, *(prose_line(sentence, "aside") for sentence in remark))

    def csv(self, view: View) -> str:
        """Return every column as comma-separated values, for programs; nothing if there is no row.

        What a spreadsheet would take for a formula stands behind an apostrophe.
        """
        import csv  # noqa: PLC0415 (the other formats do without)
        from io import StringIO  # noqa: PLC0415 (see above)

        text = StringIO()
        writer = csv.writer(text, lineterminator="\n")
        if self.rows and view.headers:
            writer.writerow([column.title for column in self.columns])
        for row in self.rows:
            cells_ = (escape_controls(text_of(column.cell(row), whole=True)) for column in self.columns)
            values = ("" if cell == NOTHING else cell for cell in cells_)
            writer.writerow([f"'{cell}" if cell.startswith(_FORMULA) else cell for cell in values])
        return text.getvalue()

    def _shown(self, view: View, *, wide: bool) -> tuple[Mapping[str, Sequence[str]], Sequence[str]]:
        """Return the texts of the columns that are shown, by title, and a remark on the others."""
        if not self.rows:
            return {}, ()
        columns = [column for column in self.columns if wide or column.narrow]
        values = {column.title: [column.cell(row) for row in self.rows] for column in columns}

        tight = {column.title: [column.tight(row) for row in self.rows] for column in columns if column.tight}

        def texts(
            titles: Iterable[str],
            limit: int | None = None,
            rooms: Mapping[str, int] = _ANY_ROOM,
            *,
            scarce: bool = False,
        ) -> dict[str, list[str]]:
            of: Mapping[str, Sequence[Cell]] = {**values, **(tight if scarce else {})}
            return {
                title: [
                    *[title][: view.headers],
                    *(text_of(cell, whole=wide, limit=limit, room=rooms.get(title)) for cell in of[title]),
                ]
                for title in titles
            }

        most = None if wide or view.everything else _MAX_ENTRIES
        usual = texts(values, most)
        if wide or not view.cuts or _width(usual) <= view.width:
            return usual, ()
        columns = [column for column in columns if column.rank != SPARE]
        plainer = {column.title: usual[column.title] for column in columns}
        if _width(plainer) <= view.width:
            return plainer, (_remark([title for title in values if title not in plainer], []),)
        rooms = {column.title: column.least for column in columns}
        least, kept = texts(values, _FEWER[-1], rooms, scarce=True), dict[str, list[str]]()
        for column in sorted(columns, key=lambda column: column.rank):
            wider = {**kept, column.title: least[column.title]}
            if not column.rank or _width(wider) <= view.width:
                kept = wider
        titles = [title for title in values if title in kept]
        # As many entries as fit; else tight words, and sentences as long as there is room for them.
        limit = next((limit for limit in (most, *_FEWER) if _width(texts(titles, limit)) <= view.width), _FEWER[-1])
        scarce = _width(texts(titles, limit)) > view.width
        sentences = {title for title in titles if any(isinstance(cell, Sentence) for cell in values[title])}
        plain = texts((title for title in titles if title not in sentences), limit, scarce=scarce)
        room = (view.width - _width(plain)) // max(len(sentences), 1) - len(_GAP)
        shown = texts(titles, limit, {title: max(room, rooms[title]) for title in sentences}, scarce=scarce)
        whole = texts(values)
        shortened = [title for title in titles if shown[title] != whole[title]]
        return shown, (_remark([title for title in values if title not in kept], shortened),)


def laid_out(tables: Iterable[Table[Any]], name: str, view: View) -> str | Document:
    """Lay out tables as `table`, `wide` or `csv`, with an empty line between those that have rows."""
    wide = name == "wide"
    if name == "csv" or not view.coloured:
        texts = (table.csv(view) if name == "csv" else table.text(view, wide=wide) for table in tables)
        return "\n".join(filter(None, texts))
    documents = filter(None, (table.document(view, wide=wide) for table in tables))
    return tuple(line for number, lines in enumerate(documents) for line in (*([Line()] if number else []), *lines))


def number(value: int, *, complete: bool = True) -> Number:
    """Return a count, marked where something that could not be read might have been counted."""
    return Number(value, f"{value}" if complete else f"{value}+")


def text_of(cell: Cell, *, whole: bool, limit: int | None = None, room: int | None = None) -> str:
    """Return a cell as text; unless `whole`, at most `limit` entries, or as much of a sentence as has `room`."""
    if isinstance(cell, str):
        return cell
    if isinstance(cell, Number):
        return cell.text
    if isinstance(cell, Sentence):
        text = cell.text if whole else cell.brief or cell.text
        return text if whole or room is None else _shortened(text, room)
    shown = cell if whole else cell[:limit]
    return ", ".join((*shown, *([f"{len(cell) - len(shown)} more"] if len(shown) < len(cell) else [])))


def _shortened(sentence: str, room: int) -> str:
    """Return the sentence, or its first words with an ellipsis; the first one whatever room there is."""
    pieces = sentence.split(" ")
    number = len(pieces)
    while number > 1 and cells(" ".join(pieces[:number])) + (2 if number < len(pieces) else 0) > room:
        number -= 1
    return sentence if number == len(pieces) else f"{' '.join(pieces[:number])} …"


def _remark(left_out: Sequence[str], shortened: Sequence[str]) -> str:
    """Say what a terminal is too narrow for."""
    parts = [f"no room for {', '.join(left_out)}"] if left_out else []
    parts += [f"{', '.join(shortened)} shortened"] if shortened else []
    return f"({'; '.join(parts)}: --show-all shows everything)"


def aligned(lines: Iterable[Sequence[str]]) -> list[str]:
    """Return lines of cells as text, each column as wide as its widest cell and three spaces from the next.

    Every cell is made harmless; an empty one is `NONE`.
    """
    columns = map(_padded, zip(*lines, strict=True))
    return [_GAP.join(line).rstrip(" ") for line in zip(*columns, strict=True)]


def _width(columns: Mapping[str, Sequence[str]]) -> int:
    widths = [max(map(cells, map(_harmless, column))) for column in columns.values()]
    return sum(widths) + len(_GAP) * (len(widths) - 1)


def _padded(column: Sequence[str]) -> list[str]:
    shown = [_harmless(cell) for cell in column]
    sizes = list(map(len if "".join(shown).isascii() else cells, shown))
    width = min(max(sizes), _WIDEST)
    return [cell + " " * (width - size) for cell, size in zip(shown, sizes, strict=True)]


def _harmless(cell: str) -> str:
    return escape_controls(cell) or NONE


class _Listed(Protocol):
    """An object in a list, as it was read."""

    @property
    def raw(self) -> Mapping[str, Json]: ...


_ListedRow = TypeVar("_ListedRow", bound=_Listed)
_DIGITS: Final = r"([0-9]{1,18})"


def in_order(columns: Iterable[Column[Any]], rows: Sequence[_ListedRow], by: str) -> tuple[_ListedRow, ...]:
    """Sort rows by a column (`affects`, `known-by`) or a field (`.metadata.name`); equal ones keep their order.

    An object without the field comes first. Raises `UsageError` for a column that does not exist, and for a field that
    none of the objects has.
    """
    by_title = {column.title: column for column in columns}
    column = by_title.get(by.upper().replace("-", " "))
    if column:
        return tuple(sorted(rows, key=lambda row: _cell_key(column.cell(row))))
    path = _path(by)
    if not path or (rows and all(path.get(row.raw) is None for row in rows)):
        problem = "none of the listed objects has this field" if path else "there is no such column"
        hint = f"sort by a field such as .metadata.name, or by {', '.join(by_title)}"
        raise UsageError(f'cannot sort by "{by}": {problem}', hint)
    return tuple(sorted(rows, key=lambda row: _value_key(path.get(row.raw))))


def _path(text: str) -> FieldPath | None:
    """Parse a path that has a dot, in braces or without, as kubectl takes both; None for anything else."""
    try:
        return FieldPath.parse(text.removeprefix("{").removesuffix("}")) if "." in text else None
    except ValueError:
        return None


def _cell_key(cell: Cell) -> tuple[float, tuple[str | int, ...]]:
    return (cell.value, ()) if isinstance(cell, Number) else (0, _natural(text_of(cell, whole=True)))


def _value_key(value: Json) -> tuple[int, float, tuple[str | int, ...]]:
    """Sort key of a field: absent values first, then numbers, then the rest as text."""
    if value is None:
        return 0, 0, ()
    if isinstance(value, int | float):
        return 1, value, ()
    return 2, 0, _natural(value if isinstance(value, str) else repr(value))


def _natural(text: str) -> tuple[str | int, ...]:
    """Split text so that numbers in it count as numbers: `route-9` before `route-10`, as kubectl sorts."""
    return tuple(int(part) if index % 2 else part for index, part in enumerate(re.split(_DIGITS, text)))
