"""Lists as tables, the order of rows by a column or by a field, and what is said next to them."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any, Final, cast

from msgspec.structs import replace

from kubectl_policy.errors import UsageError
from kubectl_policy.model.fields import FieldPath
from kubectl_policy.model.kinds import listed
from kubectl_policy.render.listing.columns import columns_of
from kubectl_policy.render.output.columns import Column, Number, Table, text_of
from kubectl_policy.render.wording.headlines import list_headline
from kubectl_policy.render.wording.names import count
from kubectl_policy.render.wording.next_commands import nothing_found
from kubectl_policy.render.wording.unseen import missing

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from kubectl_policy.model import Json
    from kubectl_policy.questions.lists import AnyRow, Lists
    from kubectl_policy.questions.object_rows import ObjectRow
    from kubectl_policy.questions.shared.selection import LeftOutKind, Listing
    from kubectl_policy.render.output.columns import Cell
    from kubectl_policy.render.output.text import View

# So many kinds are named of what a list leaves out.
_KINDS: Final = 4


def list_tables(lists: Lists, view: View) -> list[Table[Any]]:
    """A table for each type; a namespace only if the view shows them, and kinds where there are several types."""
    tables: list[Table[Any]] = []
    for listing in cast("Sequence[Listing[AnyRow]]", lists.lists):
        columns = columns_of(listing)
        shown = columns if view.namespaces or not listing.type.namespaced else columns[1:]
        tables.append(Table(shown if len(lists.lists) == 1 else tuple(map(_with_kind, shown)), listing.rows))
    return tables


def _with_kind(column: Column[ObjectRow]) -> Column[ObjectRow]:
    """Names with their kind, as kubectl shows them next to others."""
    if column.title != "NAME":
        return column

    def cell(row: ObjectRow) -> Cell:
        return f"{str(row.ref.group_kind).lower()}/{text_of(column.cell(row), whole=True)}"

    return replace(column, cell=cell)


_DIGITS: Final = r"([0-9]{1,18})"


def ordered(listing: Listing[AnyRow], by: str) -> Listing[AnyRow]:
    """The list sorted by a column (`affects`, `known-by`) or a field (`.metadata.name`), as it was where these agree.

    An object without the field comes first. Raises `UsageError` for a column that the list has not and for a field
    that none of its objects has.
    """
    if not by:
        return listing
    wanted = by.upper().replace("-", " ")
    columns = columns_of(listing)
    for column in columns:
        if column.title == wanted:
            return replace(listing, rows=tuple(sorted(listing.rows, key=lambda row: _cell_key(column.cell(row)))))
    path = _path(by)
    if not path or (listing.rows and all(path.get(row.raw) is None for row in listing.rows)):
        names = ", ".join(column.title for column in columns)
        problem = "none of the listed objects has this field" if path else "there is no such column"
        raise UsageError(f'cannot sort by "{by}": {problem}', f"sort by a field such as .metadata.name, or by {names}")
    return replace(listing, rows=tuple(sorted(listing.rows, key=lambda row: _value_key(path.get(row.raw)))))


def _path(text: str) -> FieldPath | None:
    """The path that a text with a dot means, in braces or without, as kubectl takes both; None if it means none."""
    try:
        return FieldPath.parse(text.removeprefix("{").removesuffix("}")) if "." in text else None
    except ValueError:
        return None


def _cell_key(cell: Cell) -> tuple[float, tuple[str | int, ...]]:
    return (cell.value, ()) if isinstance(cell, Number) else (0, _natural(text_of(cell, whole=True)))


def _value_key(value: Json) -> tuple[int, float, tuple[str | int, ...]]:
    """Absent values first, then numbers, then the rest as text."""
    if value is None:
        return 0, 0, ()
    if isinstance(value, int | float):
        return 1, value, ()
    return 2, 0, _natural(value if isinstance(value, str) else repr(value))


def _natural(text: str) -> tuple[str | int, ...]:
    """Text in which numbers count as numbers: `route-9` before `route-10`, as kubectl sorts."""
    return tuple(int(part) if place % 2 else part for place, part in enumerate(re.split(_DIGITS, text)))


def _left_out_words(left_out: Sequence[LeftOutKind]) -> Iterator[str]:
    """How many objects a list of policies leaves out, by their kinds, and what shows them or says why."""
    for other in (True, False):
        kinds = sorted((left for left in left_out if left.policies is other), key=lambda left: -left.number)
        most = _KINDS if len(kinds) <= _KINDS else _KINDS - 1
        rest = len(kinds) - most
        more = [f"others of {count(rest, 'kind')}"] if rest > 0 else []
        names = listed([*(count(left.number, left.kind.kind) for left in kinds[:most]), *more])
        if kinds and other:
            yield f"left out, as no policies of Gateways, routes or backends: {names}; --all-kinds shows them"
        elif kinds:
            yield f"not taken for policies, though they refer to targets: {names}; explain says why"


def list_remarks(lists: Lists, *, empty: bool) -> list[str]:
    """Next to tables: what kubectl says of empty lists, where else there is something, and what cannot be known.

    Of an empty list next to others nothing is said.
    """
    lines: list[str] = []
    for listing in lists.lists:
        if empty:
            lines += nothing_found(listing.namespace, listing.elsewhere, listing.type.noun)
        if empty or listing.rows or listing.unseen:
            lines += _left_out_words(listing.left_out)
        if listing.unseen:
            lines.append(list_headline(listing))
            lines.append(f"hint: a number that ends with + may be higher; -o yaml says what {missing(listing.place)}")
    return list(dict.fromkeys(lines))
