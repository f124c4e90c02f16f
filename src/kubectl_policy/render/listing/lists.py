"""Lists in their formats: tables, names and documents."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from kubectl_policy.render.listing.columns import columns_of
from kubectl_policy.render.listing.documents import list_document
from kubectl_policy.render.output.columns import aligned, text_of
from kubectl_policy.render.output.encode import as_json, as_yaml
from kubectl_policy.render.output.escape import visible

if TYPE_CHECKING:
    from kubectl_policy.questions.listing.lists import AnyRow, NamedRow
    from kubectl_policy.questions.listing.policies import KindRow
    from kubectl_policy.questions.shared.selection import Listing


class TableShape(NamedTuple):
    """Whether a table has its headers, and the column with the namespaces."""

    headers: bool = True
    namespaces: bool = False


def list_text(listing: Listing[AnyRow], output: str, shape: TableShape, *, unicode: bool) -> str:
    """The list as `json`, `yaml`, `name`, `wide` or, for anything else, as a table; every line is ended."""
    match output:
        case "json":
            return as_json(list_document(listing)) + "\n"
        case "yaml":
            return as_yaml(list_document(listing), unicode=unicode) + "\n"
        case "name":
            return names_text(listing)
        case _:
            return _table(listing, shape, wide=output == "wide")


def names_text(listing: Listing[AnyRow | NamedRow | KindRow]) -> str:
    """`kind.group/name` of each row, as other commands take it; of a policy kind, its definition."""
    refs = (row.ref for row in listing.rows)
    return "".join(f"{visible(f'{str(ref.group_kind).lower()}/{ref.name}')}\n" for ref in refs)


def _table(listing: Listing[AnyRow], shape: TableShape, *, wide: bool) -> str:
    """A line for each row; nothing if there is none. `wide` adds columns and cuts nothing."""
    columns = columns_of(listing.type)[listing.type.namespaced and not shape.namespaces :]
    shown = [column for column in columns if wide or column.narrow]
    rows = [[text_of(column.cell(row), whole=wide) for column in shown] for row in listing.rows]
    header = [[column.title for column in shown]] if shape.headers else []
    return "".join(f"{line}\n" for line in aligned([*header, *rows])) if rows else ""
