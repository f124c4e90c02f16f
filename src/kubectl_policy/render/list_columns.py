"""Columns of the tables of `get`: policies, policy kinds and other objects."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final, cast

from msgspec.structs import replace

from kubectl_policy.model.kind_roles import SERVICE, section_noun
from kubectl_policy.model.refs import shown_namespace
from kubectl_policy.render.metadata_columns import UNKNOWN, accepted_column, age_column, distinct, reported_phrases
from kubectl_policy.render.network_policy_columns import network_policy_columns
from kubectl_policy.render.object_columns import OBJECT_COLUMNS, SERVICE_COLUMNS
from kubectl_policy.render.output.columns import Column, Number, Sentence, number
from kubectl_policy.render.wording.names import attachment_phrase, filter_phrase, kind_names, mark
from kubectl_policy.render.workload_columns import WORKLOAD_COLUMNS
from kubectl_policy.resolution.enforcement import ENFORCEMENT

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from kubectl_policy.attachment import Attachment
    from kubectl_policy.questions.lists import AnyRow
    from kubectl_policy.questions.object_rows import ObjectRow
    from kubectl_policy.questions.policy_rows import KindRow, PolicyRow
    from kubectl_policy.questions.shared.selection import Listing, ListType, RowSort
    from kubectl_policy.render.output.text import Style


def columns_of(listing: Listing[AnyRow]) -> tuple[Column[Any], ...]:
    """Return the columns of a list; the first one is the namespace, if its objects have one."""
    rows = cast("Sequence[Any]", listing.rows)
    columns = _narrowed(_columns(listing.type, rows), rows)
    if not listing.type.namespaced:
        return columns
    namespace: Column[PolicyRow | ObjectRow] = Column("NAMESPACE", lambda row: shown_namespace(row.ref.namespace))
    return (namespace, *columns)


def _columns(type_: ListType, rows: Sequence[Any]) -> Iterable[Column[Any]]:
    """Return the columns of a type; what only Services have is left out for other backends."""
    if type_.rows == "policies":
        return _policy_columns(rows)
    if type_.rows == "network policies":
        return network_policy_columns(_policy_columns(rows), rows)
    return SERVICE_COLUMNS if type_.kinds == (SERVICE,) else _OF_SORT[type_.rows]


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
        Column("TARGETS", lambda row: distinct(map(_target, row.targets)), rank=2),
        age_column(lambda row: row.resource),
        *_MORE,
    )


_MORE: Final[tuple[Column[PolicyRow], ...]] = (
    Column("CLASS", lambda row: f"{row.profile.policy_class}{mark(row.profile, 'class')}", narrow=False),
    Column(
        "STRATEGY",
        lambda row: distinct(f"{it.strategy.value}{' (assumed)' * it.assumed}" for it in row.stanzas),
        narrow=False,
    ),
    Column("KNOWN BY", lambda row: row.profile.known_by, narrow=False),
    Column(
        "STANZAS", lambda row: tuple(f"{stanza.field}: {stanza.strategy.value}" for stanza in row.stanzas), narrow=False
    ),
    Column("OVERRIDDEN BY", lambda row: tuple(map(str, row.enforcement.by)), narrow=False),
    Column("REPORTED", lambda row: reported_phrases(row.reported), narrow=False),
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
    "not-enforced": "only staged",
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


_OF_SORT: Final[Mapping[RowSort, tuple[Column[Any], ...]]] = {
    "policy kinds": _KIND_COLUMNS,
    **OBJECT_COLUMNS,
    **WORKLOAD_COLUMNS,
}
# What only an API server and controllers know.
_REPORTED: Final = frozenset({"ACCEPTED", "ADDRESSES", "AGE", "IP", "NODE", "PROGRAMMED", "STATUS"})
