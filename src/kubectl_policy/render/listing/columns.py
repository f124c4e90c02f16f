"""Lists as tables, the order of rows by a column or by a field, and what is said next to them."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any, Final, cast

from msgspec.structs import replace

from kubectl_policy.errors import UsageError
from kubectl_policy.model.fields import FieldPath
from kubectl_policy.model.kinds import listed
from kubectl_policy.render.listing.objects import object_columns
from kubectl_policy.render.listing.policies import KIND_COLUMNS, policy_columns
from kubectl_policy.render.output.columns import Cell, Column, Number, Table, text_of
from kubectl_policy.render.wording.headlines import list_headline
from kubectl_policy.render.wording.names import count
from kubectl_policy.render.wording.next_commands import elsewhere_hint
from kubectl_policy.render.wording.unseen import missing

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from kubectl_policy.model import Json, ObjectRef
    from kubectl_policy.questions.listing.lists import AnyRow, NamedRow
    from kubectl_policy.questions.listing.objects import ObjectRow
    from kubectl_policy.questions.listing.policies import KindRow, PolicyRow
    from kubectl_policy.questions.shared.selection import LeftOutKind, Listing
    from kubectl_policy.render.output.text import View

# So many kinds are named of what a list leaves out.
_KINDS: Final = 4


def columns_of(listing: Listing[AnyRow]) -> tuple[Column[Any], ...]:
    """The columns of a list; the first one is the namespace, if its objects have one."""
    sort, rows = listing.type.rows, cast("Sequence[Any]", listing.rows)
    kinds = KIND_COLUMNS if sort == "policy kinds" else ()
    columns = policy_columns(rows) if sort == "policies" else kinds or object_columns(listing.type, rows)
    if not listing.type.namespaced:
        return columns
    namespace: Column[PolicyRow | ObjectRow] = Column("NAMESPACE", lambda row: row.ref.namespace)
    return (namespace, *columns)


def list_table(listing: Listing[AnyRow], view: View) -> Table[Any]:
    """A row for each object; the first column is the namespace only if the view shows them."""
    columns = columns_of(listing)
    return Table(columns if view.namespaces or not listing.type.namespaced else columns[1:], listing.rows)


def listed_objects(listing: Listing[AnyRow | NamedRow | KindRow]) -> Iterable[ObjectRef]:
    """The object of each row, once; of a policy kind, its definition, of a listener what it belongs to."""
    return dict.fromkeys(row.ref for row in listing.rows)


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


def left_out_words(left_out: Sequence[LeftOutKind]) -> Iterator[str]:
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


def remarks(listing: Listing[object], *, empty: bool) -> list[str]:
    """Next to a table: what kubectl says of an empty list, if there is something elsewhere, and what it cannot know."""
    said: list[str] = []
    if empty:
        where = f" in {listing.namespace} namespace." if listing.namespace else ""
        said += [f"No resources found{where}", *elsewhere_hint(listing.elsewhere, listing.type.noun)]
    said += left_out_words(listing.left_out)
    if listing.unseen:
        said.append(list_headline(listing))
        said.append(f"hint: a number that ends with + may be higher; -o yaml says what {missing(listing.place)}")
    return said
