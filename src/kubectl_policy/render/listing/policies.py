"""The columns of policies and of policy kinds."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING, Final

from kubectl_policy.render.listing.cells import UNKNOWN, distinct, reported
from kubectl_policy.render.output.columns import Column, Number, Sentence, number
from kubectl_policy.render.wording.names import attachment_words, filter_words, mark
from kubectl_policy.resolution.enforcement import ENFORCEMENT
from kubectl_policy.topology.references import section_noun

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from kubectl_policy.attachment import Attachment
    from kubectl_policy.questions.listing.policies import KindRow, PolicyRow
    from kubectl_policy.render.output.text import Style


def policy_columns(rows: Sequence[PolicyRow]) -> tuple[Column[PolicyRow], ...]:
    """The columns of a list of policies.

    A kind stands with its group only next to another one of its name, reasons in the table only where there is one.
    """
    kinds = Counter(kind.kind for kind in {row.ref.group_kind for row in rows})
    idle = any(row.reason for row in rows)

    def kind(row: PolicyRow) -> str:
        name = row.ref.kind if kinds[row.ref.kind] == 1 else str(row.ref.group_kind)
        return f"{name}{mark(row.profile, 'being a policy')}"

    return (
        Column("NAME", lambda row: row.ref.name),
        Column("KIND", kind),
        Column(
            "ENFORCEMENT",
            lambda row: row.enforcement.state,
            tight=lambda row: "Partially" if row.enforcement.state == "PartiallyEnforced" else row.enforcement.state,
            style=_style,
        ),
        Column("AFFECTS", _affects, rank=3),
        Column("REASON", lambda row: Sentence(f"{row.reason}{_code(row)}", _brief(row)), narrow=idle, rank=1),
        Column("TARGETS", lambda row: distinct(map(_target, row.attachments)), rank=2),
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
    Column("BEATEN BY", lambda row: tuple(map(str, row.enforcement.by)), narrow=False),
    Column("REPORTED", lambda row: reported(row.reported), narrow=False),
    Column("CREATED", lambda row: row.created or UNKNOWN.text, narrow=False),
)


def _kind_strategy(row: KindRow) -> str:
    """The strategy of every policy of a kind, or what chooses it; unknown where it is not computed at all."""
    profile = row.profile
    if not profile.attaches_as_known:
        return UNKNOWN.text
    if profile.stanzas in {"plural", "singular"}:
        return "by stanza"
    strategy = f"{profile.default_strategy.value}{mark(profile, 'merge strategy')}"
    return f"by {profile.strategy_field}, else {strategy}" if profile.strategy_field else strategy


KIND_COLUMNS: Final[tuple[Column[KindRow], ...]] = (
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
    """The API's own word for the reason, as other answers write it."""
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
    """The reason in a few words; where there are none for it, its first clause."""
    undecided, by = row.enforcement.undecided_with, [ref.qualified_name for ref in row.enforcement.by]
    if undecided:
        return f"depends on {undecided[0].qualified_name}"
    targets = [attachment.target for attachment in row.attachments if attachment.message and attachment.target]
    if row.enforcement.state == "Unknown" and targets:
        return "target unread"
    words = _BRIEF.get(row.reasons[0].rule, "") if row.reasons else ""
    if not words or ("{others}" in words and not by):
        return row.reason.partition("; ")[0]
    section = section_noun(targets[0].object.group_kind) if targets else "section"
    return words.format(section=section, others=" and ".join([*by[:1], *([f"{len(by) - 1} more"] if by[1:] else [])]))


def _style(row: PolicyRow) -> Style:
    """In force, in part or unknown, or without effect; what a controller reports to the contrary stands out as well."""
    meaning = ENFORCEMENT[row.enforcement.state]
    if meaning.in_force:
        return "warning" if row.reason else "value" if row.enforcement.state == "Enforced" else ""
    return "error" if meaning.known and row.enforcement.state != "Overridden" else "warning"


def _target(attachment: Attachment) -> str:
    words = filter_words(attachment)
    return f"{attachment.target}{words}" if attachment.target else attachment_words(attachment)


def _affects(row: PolicyRow) -> Number:
    if row.affected is None:
        return UNKNOWN
    affected = number(len({node.object for node in row.affected}), complete=not row.unseen)
    return Number(affected.value, f"up to {affected.text}") if row.enforcement.is_undecided else affected
