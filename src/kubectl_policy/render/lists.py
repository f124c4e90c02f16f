"""`get` as tables and documents of policies, policy kinds and other objects, and remarks next to them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final, cast

from msgspec.structs import replace

from kubectl_policy.model.kinds import listed
from kubectl_policy.render.list_columns import columns_of
from kubectl_policy.render.metadata_columns import label_columns
from kubectl_policy.render.output.columns import Column, Table, in_order, text_of
from kubectl_policy.render.wording.blind_spots import hidden_hints, missing
from kubectl_policy.render.wording.headlines import list_headline
from kubectl_policy.render.wording.names import count
from kubectl_policy.render.wording.sections import nothing_found

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from kubectl_policy.questions.lists import AnyRow, Lists
    from kubectl_policy.questions.object_rows import (
        ObjectRow,
    )
    from kubectl_policy.questions.shared.selection import LeftOutKind, Listing, RowSort
    from kubectl_policy.render.output.columns import Cell
    from kubectl_policy.render.output.text import View

# Kinds that are named in the remark about objects that a list leaves out.
_MAX_KINDS: Final = 4


# The kinds of documents.
KINDS: Final[Mapping[RowSort, str]] = {
    "policies": "PolicyList",
    "network policies": "NetworkPolicyList",
    "policy kinds": "PolicyKindList",
    "gateway classes": "GatewayClassList",
    "gateways": "GatewayList",
    "listener sets": "ListenerSetList",
    "listeners": "ListenerList",
    "routes": "RouteList",
    "backends": "BackendList",
    "namespaces": "NamespaceList",
    "pods": "PodList",
    "workloads": "WorkloadList",
}


def lists_headline(lists: Lists) -> str:
    """Count the objects of each list."""
    return " ".join(map(list_headline, lists.lists))


def lists_document(lists: Lists, context: str) -> dict[str, object]:
    """Return the document of a list, or of several lists."""
    from kubectl_policy.render.output.encoding import document, envelope  # noqa: PLC0415 (tables do without)

    only = context if len(lists.lists) == 1 else ""
    items = [document(KINDS[listing.type.rows], list_headline(listing), listing, only) for listing in lists.lists]
    if len(items) == 1:
        return items[0]
    return envelope("Lists", {"headline": lists_headline(lists), "complete": not lists.unseen, "items": items}, context)


def list_tables(lists: Lists, view: View) -> list[Table[Any]]:
    """Return a table for each type.

    Namespaces are shown if the view asks for them, and kinds if it does or there are several types.
    """
    tables: list[Table[Any]] = []
    for listing in cast("Sequence[Listing[AnyRow]]", lists.lists):
        columns = columns_of(listing)
        shown = columns if view.namespaces or not listing.type.namespaced else columns[1:]
        shown += tuple(label_columns(view, (column.title for column in columns)))
        has_kinds = view.kinds or len(lists.lists) > 1
        tables.append(Table(tuple(map(_with_kind, shown)) if has_kinds else shown, listing.rows))
    return tables


def _with_kind(column: Column[ObjectRow]) -> Column[ObjectRow]:
    """Return a column of names with their kinds, as kubectl shows them for several types."""
    if column.title != "NAME":
        return column

    def cell(row: ObjectRow) -> Cell:
        return f"{str(row.ref.group_kind).lower()}/{text_of(column.cell(row), whole=True)}"

    return replace(column, cell=cell)


def ordered(listing: Listing[AnyRow], by: str) -> Listing[AnyRow]:
    """Sort a list by a column (`affects`, `known-by`) or a field (`.metadata.name`); "" keeps its order.

    Raises `UsageError` as `in_order` does.
    """
    return replace(listing, rows=in_order(columns_of(listing), listing.rows, by)) if by else listing


def _left_out_phrases(left_out: Sequence[LeftOutKind]) -> Iterator[str]:
    """Count the objects that a list of policies leaves out by kind, and say what shows them or why."""
    for is_policy in (True, False):
        kinds = sorted((group for group in left_out if group.policies is is_policy), key=lambda group: -group.number)
        limit = _MAX_KINDS if len(kinds) <= _MAX_KINDS else _MAX_KINDS - 1
        rest = len(kinds) - limit
        rest_phrase = [f"others of {count(rest, 'kind')}"] if rest > 0 else []
        names = listed([*(count(group.number, group.kind.kind) for group in kinds[:limit]), *rest_phrase])
        if kinds and is_policy:
            yield f"left out, as no policies of Gateways, routes or backends: {names}; --all-kinds shows them"
        elif kinds:
            yield f"not treated as policies, although they refer to targets: {names}; explain says why"


def list_remarks(lists: Lists, *, empty: bool) -> list[str]:
    """Return remarks next to tables: kubectl's words for empty lists, hints, and what cannot be known.

    Of an empty list next to others nothing is said.
    """
    lines: list[str] = []
    for listing in lists.lists:
        if empty and not listing.unknown:
            lines += nothing_found(listing.namespace, listing.elsewhere, listing.type.noun)
        if empty or listing.rows or listing.unseen:
            lines += _left_out_phrases(listing.left_out)
        if listing.unseen:
            lines.append(list_headline(listing))
            lines += hidden_hints(listing.unseen, namespace=listing.namespace) if listing.unknown else ()
            counts = "" if listing.unknown else "a number that ends with + may be higher; "
            lines.append(f"hint: {counts}-o yaml says what {missing(listing.place)}")
    return list(dict.fromkeys(lines))
