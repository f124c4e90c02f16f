"""The columns of policies and of policy kinds."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING, Final

from kubectl_policy.attachment.references import without_references
from kubectl_policy.render.listing.cells import UNKNOWN, distinct, reported
from kubectl_policy.render.output.columns import Column, Number, Sentence, number
from kubectl_policy.render.words.headlines import failures, undecided_words, why_idle
from kubectl_policy.render.words.names import attachment_words, filter_words, mark, names, section_noun
from kubectl_policy.resolution.enforcement import ENFORCEMENT

if TYPE_CHECKING:
    from collections.abc import Sequence

    from kubectl_policy.attachment import Attachment
    from kubectl_policy.questions.listing.policies import KindRow, PolicyRow
    from kubectl_policy.render.output.text import Style


def policy_columns(rows: Sequence[PolicyRow]) -> tuple[Column[PolicyRow], ...]:
    """The columns of a list of policies.

    A kind stands with its group only next to another one of its name, reasons in the table only where there is one.
    """
    kinds = Counter(kind.kind for kind in {row.ref.group_kind for row in rows})
    idle = any(reason(row) for row in rows)

    def kind(row: PolicyRow) -> str:
        name = row.ref.kind if kinds[row.ref.kind] == 1 else str(row.ref.group_kind)
        return f"{name}{mark(row.profile, 'being a policy')}"

    return (
        Column("NAME", lambda row: row.ref.name),
        Column("KIND", kind),
        Column("ENFORCEMENT", lambda row: row.enforcement.state, style=_style),
        Column("AFFECTS", _affects, rank=3),
        Column("REASON", lambda row: Sentence(reason(row), _brief(row)), narrow=idle, rank=1),
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


def reason(row: PolicyRow) -> str:
    """Why a policy is not in force, or what its controller reports to the contrary; empty if neither is so."""
    state = row.enforcement.state
    if ENFORCEMENT[state].in_force:
        contrary = (it for it in row.reported if it.type == "Accepted" and it.status == "False" and not it.stale)
        return next((f"controller reports {it.reason or 'Accepted False'}" for it in contrary), "")
    failed = failures(row)
    match state:
        case "Unknown" if others := row.enforcement.undecided_with:
            return undecided_words(row.ref, others)
        case "Unknown":
            return failed or "how it attaches is not computed"
        case "Conflicted" if row.profile.same_level == "one-applies":
            return f"{names(row.enforcement.by)} came first"
        case "Conflicted":
            return f"it conflicts with {names(row.enforcement.by)}"
        case _:
            return why_idle(row) or failed or f"it {without_references(row.profile)}"


def _brief(row: PolicyRow) -> str:
    """The reason in a few words, first what is to be looked at."""
    state, others = row.enforcement.state, [ref.qualified_name for ref in row.enforcement.by]
    by = others[0] + f" and {len(others) - 1} more" * (len(others) > 1) if others else ""
    failed = [attachment for attachment in row.attachments if attachment.message and attachment.target]
    undecided = row.enforcement.undecided_with
    words = reason(row).partition("; ")[0]
    match state:
        case "Conflicted" if by:
            words = f"{by} came first" if row.profile.same_level == "one-applies" else f"it conflicts with {by}"
        case "Overridden" if by:
            words = f"replaced by {by}"
        case "Unknown" if undecided:
            words = f"how it combines with {undecided[0].qualified_name} is not known"
        case "TargetNotFound" | "Unknown" if failed and failed[0].target:
            part = failed[0].state == "section missing"
            noun = section_noun(failed[0].target.object.group_kind) if part else "target"
            words = f"{noun} not in the input" if state == "Unknown" else f"no such {noun}"
        case "NotPermitted":
            words = "it may not target that"
        case "NoEffect":
            words = "all of it is ignored" if row.enforcement.outcomes else "nothing to affect there"
        case _:
            pass
    return words


def _style(row: PolicyRow) -> Style:
    """In force, in part or unknown, or without effect; what a controller reports to the contrary stands out as well."""
    meaning = ENFORCEMENT[row.enforcement.state]
    if meaning.in_force:
        return "warning" if reason(row) else "value" if row.enforcement.state == "Enforced" else ""
    return "error" if meaning.known and row.enforcement.state != "Overridden" else "warning"


def _target(attachment: Attachment) -> str:
    words = filter_words(attachment)
    return f"{attachment.target}{words}" if attachment.target else attachment_words(attachment)


def _affects(row: PolicyRow) -> Number:
    if row.affected is None:
        return UNKNOWN
    affected = number(len({node.object for node in row.affected}), complete=not row.unseen)
    return Number(affected.value, f"up to {affected.text}") if row.enforcement.is_undecided else affected
