"""Rows as aligned columns, in kubectl's style, and what can stand in a cell."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final, Generic, TypeAlias, TypeVar

from kubectl_policy.model.values import value as immutable
from kubectl_policy.render.output.escape import visible
from kubectl_policy.render.output.text import cells

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

# Of several entries in a cell these are shown, as kubectl does with hosts.
_SHOWN: Final = 2
# A cell beyond this is as long as it is, but nothing is aligned with it: one absurd name must not widen every line.
_WIDEST: Final = 200


@immutable()
class Number:
    """A number and how it is shown: `3`, `3+` for at least that many, `1 of 2`."""

    value: int
    text: str


Cell: TypeAlias = "str | Number | tuple[str, ...]"


_Row = TypeVar("_Row")


@immutable()
class Column(Generic[_Row]):
    """A column of one type's table: its header and the cell of a row; one that is not `narrow` is for `-o wide`."""

    title: str
    cell: Callable[[_Row], Cell]
    narrow: bool = True


@immutable()
class Table(Generic[_Row]):
    """Rows and the columns that show them, in `table`, in `wide` and as what one can sort by."""

    columns: tuple[Column[_Row], ...]
    rows: Sequence[_Row]

    def text(self, *, wide: bool, headers: bool = True) -> str:
        """A line for each row, under their headers; nothing if there is none. `wide` adds columns and cuts nothing."""
        shown = [column for column in self.columns if wide or column.narrow]
        rows = [[text_of(column.cell(row), whole=wide) for column in shown] for row in self.rows]
        header = [[column.title for column in shown]] if headers else []
        return "".join(f"{line}\n" for line in aligned([*header, *rows])) if rows else ""


def number(value: int, *, complete: bool = True) -> Number:
    """A count, marked where something that could not be read might have been counted."""
    return Number(value, f"{value}" if complete else f"{value}+")


def text_of(cell: Cell, *, whole: bool) -> str:
    """A cell as text; of several entries only the first ones, with how many more there are, unless `whole`."""
    if isinstance(cell, str):
        return cell
    if isinstance(cell, Number):
        return cell.text
    shown = cell if whole else cell[:_SHOWN]
    return ", ".join(shown) + (f" + {len(cell) - len(shown)} more" if len(shown) < len(cell) else "")


def aligned(lines: Iterable[Sequence[str]]) -> list[str]:
    """Lines of cells as text, each column as wide as its widest cell and three spaces from the next.

    Every cell is made harmless; an empty one is `<none>`, as kubectl writes it.
    """
    shown = [[visible(cell) or "<none>" for cell in line] for line in lines]
    columns: list[list[str]] = []
    for column in zip(*shown, strict=True):
        sizes = list(map(len if "".join(column).isascii() else cells, column))
        width = min(max(sizes), _WIDEST)
        columns.append([cell + " " * (width - size) for cell, size in zip(column, sizes, strict=True)])
    return ["   ".join(line).rstrip(" ") for line in zip(*columns, strict=True)]
