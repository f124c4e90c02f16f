"""The lists of several types that are asked for at once: a table for each, as kubectl prints them, or one document."""

from __future__ import annotations

from typing import TYPE_CHECKING, cast

from msgspec.structs import replace

from kubectl_policy.render.listing.columns import list_table, listed_objects, remarks
from kubectl_policy.render.output.columns import Tables, text_of
from kubectl_policy.render.wording.headlines import list_headline

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from kubectl_policy.model import ObjectRef
    from kubectl_policy.questions.listing.lists import AnyRow, Lists
    from kubectl_policy.questions.listing.objects import ObjectRow
    from kubectl_policy.questions.shared.selection import Listing
    from kubectl_policy.render.output.columns import Cell, Column
    from kubectl_policy.render.output.text import View


def lists_headline(lists: Lists) -> str:
    """How many there are of each type."""
    return " ".join(map(list_headline, lists.lists))


def lists_tables(lists: Lists, view: View) -> Tables:
    """A table for each type, in which names have their kind, as kubectl shows them next to others."""
    tables = (list_table(listing, view) for listing in _with_rows(lists))
    return Tables(tuple(replace(table, columns=tuple(map(_with_kind, table.columns))) for table in tables))


def _with_rows(lists: Lists) -> Sequence[Listing[AnyRow]]:
    return cast("Sequence[Listing[AnyRow]]", lists.lists)


def _with_kind(column: Column[ObjectRow]) -> Column[ObjectRow]:
    if column.title != "NAME":
        return column

    def cell(row: ObjectRow) -> Cell:
        return f"{str(row.ref.group_kind).lower()}/{text_of(column.cell(row), whole=True)}"

    return replace(column, cell=cell)


def lists_objects(lists: Lists) -> Iterable[ObjectRef]:
    """The objects of every list."""
    return dict.fromkeys(ref for listing in lists.lists for ref in listed_objects(listing))


def lists_remarks(lists: Lists, *, empty: bool) -> list[str]:
    """What is to be said of each list; of empty ones next to others nothing."""
    said = (remarks(listing, empty=empty) for listing in lists.lists if empty or listing.rows or listing.unseen)
    return list(dict.fromkeys(line for lines in said for line in lines))
