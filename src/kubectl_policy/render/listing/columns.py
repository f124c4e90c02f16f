"""Lists as tables: the columns of each sort of list, and the order of rows by one of them or by a field."""

from __future__ import annotations

import re
from dataclasses import replace
from typing import TYPE_CHECKING, Any, Final, TypeVar

from kubectl_policy.errors import UsageError
from kubectl_policy.model.fields import FieldPath
from kubectl_policy.render.output.columns import Cell, Column, Number, Table, number, text_of
from kubectl_policy.render.words.headlines import list_headline
from kubectl_policy.render.words.names import attachment_words, count, filter_words, listed, mark
from kubectl_policy.render.words.next_commands import elsewhere_hint

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

    from kubectl_policy.attachment import Attachment
    from kubectl_policy.model import Json, ObjectRef
    from kubectl_policy.questions.listing.lists import AnyRow, NamedRow
    from kubectl_policy.questions.listing.objects import (
        BackendRow,
        GatewayClassRow,
        GatewayRow,
        NamespaceRow,
        ObjectRow,
        RouteRow,
    )
    from kubectl_policy.questions.listing.policies import KindRow, PolicyRow
    from kubectl_policy.questions.shared.reported import ReportedCondition
    from kubectl_policy.questions.shared.selection import LeftOutKind, Listing, ListType, RowSort
    from kubectl_policy.render.output.text import View

_Object = TypeVar("_Object", bound="ObjectRow")
UNKNOWN: Final = Number(-1, "<unknown>")
# So many kinds are named of what a list leaves out.
_KINDS: Final = 4


def _distinct(words: Iterable[str]) -> tuple[str, ...]:
    return tuple(dict.fromkeys(words))


def _target(attachment: Attachment) -> str:
    words = filter_words(attachment)
    return f"{attachment.target}{words}" if attachment.target else attachment_words(attachment)


def _reported(conditions: Iterable[ReportedCondition]) -> tuple[str, ...]:
    """Each type of condition with its status; where several are reported that differ, how many are True."""
    by_type: dict[str, list[str]] = {}
    for condition in conditions:
        by_type.setdefault(condition.type, []).append(condition.status)
    return tuple(
        f"{type_} {statuses[0]}"
        if len(set(statuses)) == 1
        else f"{type_} {statuses.count('True')} of {len(statuses)} True"
        for type_, statuses in by_type.items()
    )


def _affects(row: PolicyRow) -> Number:
    if row.affected is None:
        return UNKNOWN
    affected = number(len({node.object for node in row.affected}), complete=not row.unseen)
    return Number(affected.value, f"up to {affected.text}") if row.enforcement.is_undecided else affected


def _kind_strategy(row: KindRow) -> str:
    """The strategy of every policy of a kind, or what chooses it; unknown where it is not computed at all."""
    profile = row.profile
    if not profile.attaches_as_known:
        return UNKNOWN.text
    if profile.stanzas in {"plural", "singular"}:
        return "by stanza"
    strategy = f"{profile.default_strategy.value}{mark(profile, 'merge strategy')}"
    return f"by {profile.strategy_field}, else {strategy}" if profile.strategy_field else strategy


def _above(row: GatewayRow) -> str:
    return row.above.qualified_name if row.above else ""


def _attached(row: RouteRow) -> Number:
    states = [parent.state for parent in row.parents]
    attached, more = states.count("attached"), "+" if "unknown" in states else ""
    return Number(attached, f"{attached}{more} of {len(states)}")


def _affected(row: NamespaceRow) -> Number:
    held, affected = number(len(row.holds), complete=not row.listed.unseen), len(row.affected)
    complete = not row.unseen or (affected == held.value and not row.listed.unseen)
    return Number(affected, f"{number(affected, complete=complete).text} of {held.text}")


_POLICIES: Final[tuple[Column[PolicyRow], ...]] = (
    Column("NAME", lambda row: row.ref.name),
    Column("KIND", lambda row: f"{row.ref.group_kind}{mark(row.profile, 'being a policy')}"),
    Column("TARGETS", lambda row: _distinct(map(_target, row.attachments))),
    Column("CLASS", lambda row: f"{row.profile.policy_class}{mark(row.profile, 'class')}"),
    Column("STRATEGY", lambda row: _distinct(f"{it.strategy.value}{' (assumed)' * it.assumed}" for it in row.stanzas)),
    Column("ENFORCEMENT", lambda row: row.enforcement.state),
    Column("AFFECTS", _affects),
    Column("KNOWN BY", lambda row: row.profile.known_by, narrow=False),
    Column(
        "STANZAS", lambda row: tuple(f"{stanza.field}: {stanza.strategy.value}" for stanza in row.stanzas), narrow=False
    ),
    Column("BEATEN BY", lambda row: tuple(map(str, row.enforcement.by)), narrow=False),
    Column("REASON", lambda row: _distinct(it.message for it in row.attachments if it.message), narrow=False),
    Column("REPORTED", lambda row: _reported(row.reported), narrow=False),
    Column("CREATED", lambda row: row.created or UNKNOWN.text, narrow=False),
)
_POLICY_KINDS: Final[tuple[Column[KindRow], ...]] = (
    Column("NAME", lambda row: row.name),
    Column("KIND", lambda row: f"{row.profile.group_kind.kind}{mark(row.profile, 'being a policy')}"),
    Column("CLASS", lambda row: f"{row.profile.policy_class}{mark(row.profile, 'class')}"),
    Column("STRATEGY", _kind_strategy),
    Column("TARGETS", lambda row: ", ".join(sorted(kind.kind for kind in row.profile.declared_targets)) or "any"),
    Column("KNOWN BY", lambda row: row.profile.known_by),
    Column("POLICIES", lambda row: number(len(row.policies), complete=row.complete)),
    Column("SCOPE", lambda row: "Namespaced" if row.names.namespaced else "Cluster", narrow=False),
    Column(
        "TAKES EFFECT AT",
        lambda row: tuple(
            f"{level.group_kind.kind}{' sections' if level.section else ''}" for level in row.profile.effective_targets
        ),
        narrow=False,
    ),
    Column("ASSUMED", lambda row: row.profile.assumed, narrow=False),
)
_GATEWAY_CLASS: Final[tuple[Column[GatewayClassRow], ...]] = (
    Column("CONTROLLER", lambda row: row.controller),
    Column("GATEWAYS", lambda row: number(len(row.gateways), complete=not row.listed.unseen)),
)
_LISTENERS: Final[tuple[Column[GatewayRow], ...]] = (
    Column("LISTENERS", lambda row: number(len(row.listeners))),
    Column("ROUTES", lambda row: number(len(row.routes), complete=not (row.undecided or row.listed.unseen))),
)
_ROUTE: Final[tuple[Column[RouteRow], ...]] = (
    Column("KIND", lambda row: row.ref.kind),
    Column("HOSTNAMES", lambda row: row.hostnames),
    Column("PARENTS", lambda row: _distinct(str(parent.object) for parent in row.parents)),
    Column("ATTACHED", _attached),
)
_BACKEND: Final[Column[BackendRow]] = Column("REFERRED BY", lambda row: tuple(map(str, row.referred_by)))


def _targeted_by(row: ObjectRow) -> tuple[str, ...]:
    """The policies that name the object, with what is wrong with the reference if it fails."""
    states = ((str(it.policy), "" if it.state == "attached" else f" ({it.state})") for it in row.listed.attachments)
    return _distinct(policy + state for policy, state in states)


def _policies(row: ObjectRow) -> Number:
    """How many policies affect the object; `1 to 3` where it is not known how some of them combine."""
    certain, undecided = len(row.listed.policies), len(row.listed.undecided)
    most = number(certain + undecided, complete=not row.listed.unseen)
    # Of those that are undecided, one holds at least.
    least = certain or min(undecided, 1)
    return Number(least, f"{least} to {most.text}") if most.value > least else most


def _object(*own: Column[_Object]) -> tuple[Column[_Object], ...]:
    return (
        Column("NAME", lambda row: row.ref.name),
        *own,
        Column("POLICIES", _policies),
        Column("TARGETED BY", _targeted_by, narrow=False),
        Column("REPORTED", lambda row: _reported(row.listed.reported), narrow=False),
    )


COLUMNS: Final[Mapping[RowSort, tuple[Column[Any], ...]]] = {
    "policies": _POLICIES,
    "policy kinds": _POLICY_KINDS,
    "gateway classes": _object(*_GATEWAY_CLASS),
    "gateways": _object(Column("CLASS", _above), *_LISTENERS),
    "listener sets": _object(Column("GATEWAY", _above), *_LISTENERS),
    "routes": _object(*_ROUTE),
    "backends": _object(_BACKEND),
    "namespaces": _object(Column("AFFECTED", _affected)),
}


def columns_of(type_: ListType) -> tuple[Column[Any], ...]:
    """The columns of a type; the first one is the namespace, if its objects have one."""
    columns = COLUMNS[type_.rows]
    if not type_.namespaced:
        return columns
    namespace: Column[PolicyRow | ObjectRow] = Column("NAMESPACE", lambda row: row.ref.namespace)
    return (namespace, *columns)


def list_table(listing: Listing[AnyRow], view: View) -> Table[Any]:
    """A row for each object; the first column is the namespace only if the view shows them."""
    columns = columns_of(listing.type)
    return Table(columns if view.namespaces or not listing.type.namespaced else columns[1:], listing.rows)


def listed_objects(listing: Listing[AnyRow | NamedRow | KindRow]) -> Iterable[ObjectRef]:
    """The object of each row; of a policy kind, its definition."""
    return (row.ref for row in listing.rows)


_DIGITS: Final = r"([0-9]{1,18})"


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
    return tuple(int(part) if place % 2 else part for place, part in enumerate(re.split(_DIGITS, text)))


def left_out_words(left_out: Sequence[LeftOutKind]) -> Iterator[str]:
    """How many objects a list of policies leaves out, by their kinds, and what shows them or says why."""
    for other in (True, False):
        kinds = sorted((left for left in left_out if left.other is other), key=lambda left: -left.number)
        most = _KINDS if len(kinds) <= _KINDS else _KINDS - 1
        rest = len(kinds) - most
        more = [f"others of {count(rest, 'kind')}"] if rest > 0 else []
        names = listed([*(count(left.number, left.kind.kind) for left in kinds[:most]), *more])
        if kinds and other:
            yield f"left out, as no policies of Gateways, routes or backends: {names}; --all-kinds shows them"
        elif kinds:
            yield f"not taken for policies, though they refer to targets: {names}; explain says why"


def remarks(listing: Listing[object], empty: bool) -> list[str]:  # noqa: FBT001 (see Forms)
    """Next to a table: what kubectl says of an empty list, if there is something elsewhere, and what it cannot know."""
    said: list[str] = []
    if empty:
        where = f" in {listing.namespace} namespace." if listing.namespace else ""
        said += [f"No resources found{where}", *elsewhere_hint(listing.elsewhere, listing.type.noun)]
    said += left_out_words(listing.left_out)
    if listing.unseen:
        said.append(list_headline(listing))
        said.append("hint: a number that ends with + may be higher; -o yaml says what is not in the input")
    return said
