"""The order of a list: by a column as it is shown, or by a field of the objects."""

from __future__ import annotations

import re
from dataclasses import replace
from typing import TYPE_CHECKING, Final

from kubectl_policy.errors import UsageError
from kubectl_policy.model.fields import FieldPath
from kubectl_policy.render.listing.columns import columns_of
from kubectl_policy.render.output.columns import Number, text_of

if TYPE_CHECKING:
    from kubectl_policy.model import Json
    from kubectl_policy.questions.listing.lists import AnyRow
    from kubectl_policy.questions.shared.selection import Listing
    from kubectl_policy.render.output.columns import Cell

_DIGITS: Final = re.compile(r"([0-9]{1,18})")


def ordered(listing: Listing[AnyRow], by: str) -> Listing[AnyRow]:
    """The list sorted by a column (`affects`, `known-by`) or a field (`.metadata.name`), as it was where these agree.

    An object without the field comes first. Raises `UsageError` for a column that the list has not and for a field
    that none of its objects has.
    """
    if not by:
        return listing
    wanted = by.upper().replace("-", " ")
    columns = columns_of(listing.type)
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
    return tuple(int(part) if place % 2 else part for place, part in enumerate(_DIGITS.split(text)))
