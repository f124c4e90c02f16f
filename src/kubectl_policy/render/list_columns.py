"""Columns of the tables of `get`: policies, policy kinds and other objects."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final, TypeVar, cast

from msgspec.structs import replace

from kubectl_policy.model.kind_roles import SERVICE, section_noun
from kubectl_policy.model.refs import shown_namespace
from kubectl_policy.questions.object_rows import ListenerRow
from kubectl_policy.render.metadata_columns import UNKNOWN, accepted_column, age_column, status_style
from kubectl_policy.render.output.columns import Column, Number, Sentence, number
from kubectl_policy.render.wording.names import attachment_phrase, filter_phrase, kind_names, mark
from kubectl_policy.resolution.enforcement import ENFORCEMENT

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from kubectl_policy.attachment import Attachment
    from kubectl_policy.questions.lists import AnyRow
    from kubectl_policy.questions.object_rows import (
        BackendRow,
        GatewayClassRow,
        GatewayRow,
        NamespaceRow,
        ObjectRow,
        RouteRow,
    )
    from kubectl_policy.questions.policy_rows import KindRow, PolicyRow
    from kubectl_policy.questions.shared.reported import ReportedCondition
    from kubectl_policy.questions.shared.selection import Listing, ListType, RowSort
    from kubectl_policy.render.output.text import Style


def _distinct(texts: Iterable[str]) -> tuple[str, ...]:
    return tuple(dict.fromkeys(texts))


def _reported(conditions: Iterable[ReportedCondition]) -> tuple[str, ...]:
    """Return each type of condition with its status; where several differ, the number of those that are True."""
    by_type: dict[str, list[str]] = {}
    for condition in conditions:
        by_type.setdefault(condition.type, []).append(condition.status)
    return tuple(
        f"{type_} {statuses[0]}"
        if len(set(statuses)) == 1
        else f"{type_} {statuses.count('True')} of {len(statuses)} True"
        for type_, statuses in by_type.items()
    )


def columns_of(listing: Listing[AnyRow]) -> tuple[Column[Any], ...]:
    """Return the columns of a list; the first one is the namespace, if its objects have one."""
    sort, rows = listing.type.rows, cast("Sequence[Any]", listing.rows)
    kinds = _KIND_COLUMNS if sort == "policy kinds" else ()
    columns = kinds or _narrowed(_policy_columns(rows) if sort == "policies" else _object_columns(listing.type), rows)
    if not listing.type.namespaced:
        return columns
    namespace: Column[PolicyRow | ObjectRow] = Column("NAMESPACE", lambda row: shown_namespace(row.ref.namespace))
    return (namespace, *columns)


def _narrowed(columns: Iterable[Column[Any]], rows: Sequence[Any]) -> tuple[Column[Any], ...]:
    """Leave what an API server and controllers report to the wide table if nothing is reported of any of the rows."""
    return tuple(
        replace(column, narrow=False)
        if column.title in _REPORTED and all(column.cell(row) == UNKNOWN for row in rows)
        else column
        for column in columns
    )


def _policy_columns(rows: Sequence[PolicyRow]) -> tuple[Column[PolicyRow], ...]:
    """Return the columns of a list of policies.

    A kind stands with its group only next to another one of its name, reasons in the table only where there is one.
    """
    kinds = kind_names(row.ref.group_kind for row in rows)
    idle = any(row.reason for row in rows)

    return (
        Column("NAME", lambda row: row.ref.name),
        Column("KIND", lambda row: f"{kinds[row.ref.group_kind]}{mark(row.profile, 'being a policy')}"),
        Column(
            "ENFORCEMENT",
            lambda row: row.enforcement.state,
            tight=lambda row: "Partially" if row.enforcement.state == "PartiallyEnforced" else row.enforcement.state,
            style=_enforcement_style,
        ),
        accepted_column(lambda row: row.reported, rank=4),
        Column("AFFECTS", _affects, rank=3),
        Column("REASON", lambda row: Sentence(f"{row.reason}{_code(row)}", _brief(row)), narrow=idle, rank=1),
        Column("TARGETS", lambda row: _distinct(map(_target, row.targets)), rank=2),
        age_column(lambda row: row.resource),
        *_MORE,
    )


_MORE: Final[tuple[Column[PolicyRow], ...]] = (
    Column("CLASS", lambda row: f"{row.profile.policy_class}{mark(row.profile, 'class')}", narrow=False),
    Column(
        "STRATEGY",
        lambda row: _distinct(f"{it.strategy.value}{' (assumed)' * it.assumed}" for it in row.stanzas),
        narrow=False,
    ),
    Column("KNOWN BY", lambda row: row.profile.known_by, narrow=False),
    Column(
        "STANZAS", lambda row: tuple(f"{stanza.field}: {stanza.strategy.value}" for stanza in row.stanzas), narrow=False
    ),
    Column("OVERRIDDEN BY", lambda row: tuple(map(str, row.enforcement.by)), narrow=False),
    Column("REPORTED", lambda row: _reported(row.reported), narrow=False),
    Column("CREATED", lambda row: row.created or UNKNOWN.text, narrow=False),
)


def _kind_strategy(row: KindRow) -> str:
    """Return the strategy of every policy of a kind, or what chooses it; unknown where it is not computed at all."""
    profile = row.profile
    if not profile.attaches_by_references:
        return "by tier" if profile.attachment == "connections" else UNKNOWN.text
    if profile.stanzas in {"plural", "singular"}:
        return "by stanza"
    strategy = f"{profile.default_strategy.value}{mark(profile, 'merge strategy')}"
    return f"by {profile.strategy_field}, else {strategy}" if profile.strategy_field else strategy


_KIND_COLUMNS: Final[tuple[Column[KindRow], ...]] = (
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


def _code(row: PolicyRow) -> str:
    return f" [{row.reasons[0].reason}]" if row.reasons and row.reasons[0].reason else ""


# By the first reason why a policy has no effect anywhere.
_BRIEF: Final[Mapping[str, str]] = {
    "target-missing": "no such target",
    "other-group": "no such target",
    "other-namespace": "no such target",
    "section-missing": "no such {section}",
    "kind-unsupported": "wrong kind of target",
    "no-reference": "no target",
    "no-filter": "no route names it",
    "selects-nothing": "selects no Pod",
    "no-rules": "has no rules",
    "not-permitted": "not permitted",
    "namespace-closed": "not permitted",
    "policy-invalid": "invalid",
    "target-invalid": "target invalid",
    "other-controller": "not managed",
    "target-overlaps": "another route overlaps",
    "parent-missing": "no such Gateway",
    "no-parent": "no Gateway",
    "listener-missing": "no such listener",
    "listener-port": "no such port",
    "listener-kind": "route refused",
    "listener-namespace": "route refused",
    "listener-hostname": "route refused",
    "listener-set-refused": "set refused",
    "listener-conflict": "listeners conflict",
    "no-weight": "weight is 0",
    "unheeded": "all ignored",
    "refused": "{others} came first",
    "overridden": "replaced by {others}",
    "superseded": "replaced by {others}",
    "beaten-on-target": "replaced by {others}",
    "replaced-by-section": "replaced by {others}",
}


def _brief(row: PolicyRow) -> str:
    """Return the reason in a few words; where there are none for it, its first clause."""
    undecided, by = row.enforcement.undecided_with, [ref.qualified_name for ref in row.enforcement.by]
    if undecided:
        return f"depends on {undecided[0].qualified_name}"
    targets = [attachment.target for attachment in row.targets if attachment.message and attachment.target]
    if row.enforcement.state == "Unknown" and targets:
        return "target unread"
    phrase = _BRIEF.get(row.reasons[0].rule, "") if row.reasons else ""
    if not phrase or ("{others}" in phrase and not by):
        return row.reason.partition("; ")[0]
    section = section_noun(targets[0].object.group_kind) if targets else "section"
    return phrase.format(section=section, others=" and ".join([*by[:1], *([f"{len(by) - 1} more"] if by[1:] else [])]))


def _enforcement_style(row: PolicyRow) -> Style:
    """Return the style of a state; a controller's report to the contrary stands out as well."""
    meaning = ENFORCEMENT[row.enforcement.state]
    if meaning.in_force:
        return "warning" if row.reason else "value" if row.enforcement.state == "Enforced" else ""
    return "error" if meaning.known and row.enforcement.state != "Overridden" else "warning"


def _target(attachment: Attachment) -> str:
    phrase = filter_phrase(attachment)
    return f"{attachment.target}{phrase}" if attachment.target else attachment_phrase(attachment)


def _affects(row: PolicyRow) -> Number:
    if row.affected is None:
        return UNKNOWN
    affected = number(len({node.object for node in row.affected}), complete=not row.unseen)
    return Number(affected.value, f"up to {affected.text}") if row.enforcement.is_undecided else affected


_Object = TypeVar("_Object", bound="ObjectRow")


def _routes(row: GatewayRow | ListenerRow) -> Number:
    return number(len(row.routes), complete=not (row.undecided_routes or row.listed.unseen))


def _above(row: GatewayRow) -> str:
    return row.above.qualified_name if row.above else ""


def _attached(row: RouteRow) -> Number:
    states = [parent.state for parent in row.parents]
    attached, mark_ = states.count("attached"), "+" if "unknown" in states else ""
    return Number(attached, f"{attached}{mark_} of {len(states)}")


def _affected(row: NamespaceRow) -> Number:
    held, affected = number(len(row.holds), complete=not row.listed.unseen), len(row.affected)
    complete = not row.unseen or (affected == held.value and not row.listed.unseen)
    return Number(affected, f"{number(affected, complete=complete).text} of {held.text}")


_GATEWAY_CLASS: Final[tuple[Column[GatewayClassRow], ...]] = (
    Column("CONTROLLER", lambda row: row.controller),
    Column("ACCEPTED", lambda row: row.accepted or UNKNOWN, style=lambda row: status_style(row.accepted)),
    Column("GATEWAYS", lambda row: number(len(row.gateways), complete=not row.listed.unseen)),
)
_LISTENERS: Final[tuple[Column[GatewayRow], ...]] = (
    Column("PORTS", lambda row: tuple(map(str, row.ports)), rank=2),
    Column("PROGRAMMED", lambda row: row.programmed or UNKNOWN, rank=3, style=lambda row: status_style(row.programmed)),
    Column("LISTENERS", lambda row: number(len(row.listeners)), rank=4),
    Column("ROUTES", _routes, rank=1),
)
_GATEWAY: Final[tuple[Column[GatewayRow], ...]] = (
    Column("CLASS", _above, rank=1),
    Column("ADDRESSES", lambda row: UNKNOWN if row.addresses is None else row.addresses, rank=5),
    *_LISTENERS,
)
_LISTENER: Final[tuple[Column[ListenerRow], ...]] = (
    Column("OF", lambda row: f"{row.ref.kind} {row.ref.name}"),
    Column("HOSTNAME", lambda row: row.listener.hostname or "*"),
    Column("PORT", lambda row: "" if row.listener.port is None else str(row.listener.port)),
    Column("PROTOCOL", lambda row: row.listener.protocol, rank=1),
    Column("ROUTES", _routes),
)
_ROUTE: Final[tuple[Column[RouteRow], ...]] = (
    Column("KIND", lambda row: row.ref.kind, rank=3),
    Column("HOSTNAMES", lambda row: row.hostnames, rank=1),
    Column("PARENTS", lambda row: _distinct(str(parent.object) for parent in row.parents), rank=2),
    Column("ATTACHED", _attached),
    accepted_column(lambda row: row.listed.reported, rank=4),
)
_BACKEND: Final[tuple[Column[BackendRow], ...]] = (
    Column("ROUTES", lambda row: number(len(row.referred_by), complete=not row.listed.unseen), rank=1),
    Column("REFERRED BY", lambda row: tuple(map(str, row.referred_by)), narrow=False),
)
_SERVICE: Final[tuple[Column[BackendRow], ...]] = (
    Column("TYPE", lambda row: row.type, rank=3),
    Column("PORTS", lambda row: row.ports, rank=2),
    *_BACKEND,
)
_NAMESPACE: Final[tuple[Column[NamespaceRow], ...]] = (
    Column("STATUS", lambda row: row.phase or UNKNOWN),
    Column("AFFECTED", _affected),
)


def _targeted_by(row: ObjectRow) -> tuple[str, ...]:
    """Return the policies that name the object, with what is wrong with the reference if it fails."""
    return _distinct(
        f"{it.policy}{'' if it.state == 'attached' else f' ({it.state})'}" for it in row.listed.targeted_by
    )


def _policies(row: ObjectRow) -> Number:
    """Count the policies that affect an object; `1 to 3` where it is not known of some of them whether they do."""
    certain, undecided = len(row.listed.policies), len(row.listed.undecided_policies)
    maximum = number(certain + undecided + len(row.listed.possible_policies), complete=not row.listed.unseen)
    # Of those of which it is not known how they combine, one holds at least.
    least = certain or min(undecided, 1)
    return Number(least, f"{least} to {maximum.text}") if maximum.value > least else maximum


def _object(*special: Column[_Object]) -> tuple[Column[_Object], ...]:
    return (
        Column("NAME", lambda row: row.listener.name if isinstance(row, ListenerRow) else row.ref.name),
        *special,
        Column("POLICIES", _policies),
        age_column(lambda row: row.listed.resource),
        Column("TARGETED BY", _targeted_by, narrow=False),
        Column("REPORTED", lambda row: _reported(row.listed.reported), narrow=False),
    )


_OF_SORT: Final[Mapping[RowSort, tuple[Column[Any], ...]]] = {
    "gateway classes": _object(*_GATEWAY_CLASS),
    "gateways": _object(*_GATEWAY),
    "listener sets": _object(Column("GATEWAY", _above, rank=1), *_LISTENERS),
    "listeners": _object(*_LISTENER),
    "routes": _object(*_ROUTE),
    "backends": _object(*_BACKEND),
    "namespaces": _object(*_NAMESPACE),
}
# What only an API server and controllers know.
_REPORTED: Final = frozenset({"ACCEPTED", "ADDRESSES", "AGE", "PROGRAMMED", "STATUS"})
_SERVICES: Final = _object(*_SERVICE)


def _object_columns(type_: ListType) -> tuple[Column[Any], ...]:
    """Return the columns of objects of a type; what only Services have is left out for other backends."""
    return _SERVICES if type_.kinds == (SERVICE,) else _OF_SORT[type_.rows]
