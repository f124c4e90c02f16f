"""Opening sentences of answers about policies, lists, `status` and `why-not`; others are with their renderers.

If the answer is incomplete, the same sentence says so. What `explain`, `diff` and `blast-radius` say is made of
their own words, and is in their slices.
"""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING

from kubectl_policy.attachment import unattached_phrase
from kubectl_policy.model.kind_roles import GATEWAY
from kubectl_policy.model.kinds import listed, names, plural
from kubectl_policy.questions.shared.reasons import failure_phrase
from kubectl_policy.questions.shared.uncertain_effects import is_idle, may_affect_more, unknown_phrase
from kubectl_policy.render.wording.blind_spots import unread_hedge, unread_reason
from kubectl_policy.render.wording.names import (
    at_origin,
    attachment_phrase,
    count,
    kind_counts,
    namespaces_phrase,
    node_label,
    of_all,
)

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from kubectl_policy.attachment import Attachment
    from kubectl_policy.model import Json, ObjectRef
    from kubectl_policy.questions.describe.policies import PolicyDescription
    from kubectl_policy.questions.shared.reasons import Reason
    from kubectl_policy.questions.shared.selection import Listing
    from kubectl_policy.questions.status.comparison import ObjectStatus
    from kubectl_policy.questions.status.report import StatusReport
    from kubectl_policy.questions.why_not.answer import WhyNot
    from kubectl_policy.resolution.enforcement import Enforcement


def policy_headline(answer: PolicyDescription) -> str:
    """Whether a policy is enforced, and on what."""
    if answer.unseen and may_affect_more(answer.enforcement, answer.targets):
        subject = with_target(answer.policy, answer.targets)
        return f"{subject} affects nothing that was read, but not all below its target may have been."
    unknown = answer.enforcement.state == "Unknown"
    return f"{_of_policy(answer)}{'' if unknown else unread_hedge(answer.unseen)}."


def fully_enforced(answer: PolicyDescription) -> int:
    """Return the number of paths on which every declared field is effective."""
    everywhere = _in_force(answer)
    same_elsewhere = _effective_by_value(answer)
    for field in answer.all_fields:
        # What the policy sets by way of another of its targets, it has not lost, nor what it sets to the same there.
        rivals = (winner.positions for winner in field.superseded if winner.by.object != answer.policy)
        everywhere.difference_update(*rivals, field.port_entry_on)
        if field.ignored_on:
            same = (where for value, where in same_elsewhere[field.field] if value == field.value)
            everywhere -= set(field.ignored_on).difference(*same)
    return len(everywhere)


def _effective_by_value(answer: PolicyDescription) -> dict[str, list[tuple[Json, set[int]]]]:
    """Return the positions at which each field is effective, by its name, then value by value."""
    by_field: dict[str, list[tuple[Json, set[int]]]] = {}
    for field in answer.all_fields:
        values = by_field.setdefault(field.field, [])
        where = next((where for value, where in values if value == field.value), None)
        if where is None:
            values.append((field.value, where := set()))
        where.update(field.effective_on)
    return by_field


def _in_force(answer: PolicyDescription) -> set[int]:
    """Return the positions of the paths on which at least one field of the policy, or its empty spec, is effective."""
    return {
        position
        for position, outcome in enumerate(answer.enforcement.outcomes)
        if answer.policy in outcome.resolution.policies_in_force
    }


def with_target(policy: ObjectRef, attachments: Iterable[Attachment]) -> str:
    """Return the policy, with its target if it has one alone."""
    targets = list(dict.fromkeys(attachment_phrase(attachment) for attachment in attachments if attachment.target))
    return f"{policy} → {targets[0]}" if len(targets) == 1 else str(policy)


def why_idle(enforcement: Enforcement, attachments: Iterable[Attachment], reasons: Sequence[Reason]) -> str:
    """Say why an attached policy has no effect; empty if that depends on its kind, or it is not attached."""
    if enforcement.state == "Overridden":
        return f"it is replaced everywhere, by {names(enforcement.by)}"
    if enforcement.state == "NoEffect" and enforcement.outcomes:
        causes = {resolution.why_ignored(enforcement.policy) for resolution in enforcement.resolutions}
        because = f": {next(iter(causes))}" if len(causes) == 1 and all(causes) else ""
        return f"controllers ignore everything that it sets there{because}"
    # A policy about connections is attached to nothing.
    is_known = enforcement.subjects or any(reason.rule == "not-enforced" for reason in reasons)
    return reason_phrase(reasons[0]) if reasons and (is_known or is_idle(enforcement, attachments)) else ""


def _of_policy(answer: PolicyDescription) -> str:
    subject, failed = with_target(answer.policy, answer.targets), failure_phrase(answer.targets)
    match answer.enforcement.state:
        case "Enforced" | "PartiallyEnforced":
            objects = {node.object for node in answer.affected}
            kinds = {ref.group_kind for ref in objects}
            spread = f" ({kind_counts(ref.group_kind for ref in objects)})" if len(kinds) > 1 else ""
            affected = count(len(objects), kinds.pop().kind if len(kinds) == 1 else "object")
            unread = ", and may change anything there: its proxy configuration is not read"
            patches = unread if answer.profile.patches else ""
            except_for = f"{_idle(answer)}{_disabled(answer)}"
            return f"{subject} is enforced {_extent(answer)}; it affects {affected}{spread}{patches}{except_for}"
        case "Unknown":
            is_combined = answer.enforcement.undecided_with
            asked = f"{subject} is enforced" if is_combined else f"{answer.policy} has an effect"
            return f"Whether {asked} is unknown: {unknown_phrase(answer.enforcement, answer.targets)}"
        case "Conflicted":
            winners, applies_alone = names(answer.enforcement.by), answer.profile.same_level == "one-applies"
            because = f"only one policy applies to a target, and {winners} came first" if applies_alone else ""
            because = because or f"it conflicts with {winners}"
            return f"{subject} has no effect: it is refused everywhere, because {because}"
        case _ if why := why_idle(answer.enforcement, answer.targets, answer.reasons):
            return f"{subject} has no effect: {why}"
        case _:
            return f"{answer.policy} has no effect: {failed or f'it {unattached_phrase(answer.profile)}'}"


def _extent(answer: PolicyDescription) -> str:
    if any(diagnostic.rule == "target-contended" for diagnostic in answer.problems):
        return "in part, because listeners share what each needs for itself"
    fully, total = fully_enforced(answer), len(answer.paths)
    partly = len(_in_force(answer)) - fully
    if not fully:
        return f"in part, on {of_all(partly, total)}"
    return f"on {of_all(fully, total)}" + (f", and in part on {partly} more" if partly else "")


def _idle(answer: PolicyDescription) -> str:
    """Say what keeps an enforced policy from doing anything, as far as that is known."""
    lacking = [
        diagnostic
        for diagnostic in answer.problems
        if diagnostic.rule == "target-status-missing" and diagnostic.severity == "warning"
    ]
    targets = sorted({str(ref) for diagnostic in lacking for ref in diagnostic.related})
    return f", but does nothing on {listed(targets)}, for lack of {lacking[0].field}" if lacking else ""


def _disabled(answer: PolicyDescription) -> str:
    """Name the Gateways below which a policy would have an effect if they enabled it."""
    paths = answer.enforcement.disabled_paths
    gateways = {str(node.object) for path in paths for node in path if node.object.group_kind == GATEWAY}
    verb = "does not" if len(gateways) == 1 else "do not"
    return f", but nothing below {listed(sorted(gateways))}, which {verb} enable it" if gateways else ""


def list_headline(listing: Listing[object]) -> str:
    """`3 policies in namespace baker.`; if the list is incomplete, the same sentence says so."""
    noun, where = listing.type.noun, namespaces_phrase({listing.namespace})
    if listing.unknown:
        return f"Whether there are any {plural(noun)}{where} is unknown: {unread_reason(listing.unseen)}."
    return f"{count(len(listing.rows), noun)}{where}{unread_hedge(listing.unseen)}."


def status_headline(report: StatusReport) -> str:
    """Count the disagreements; if little or nothing could be compared, the same sentence says so."""
    if not report.items:
        nouns = f"{plural(report.noun)}{namespaces_phrase({report.namespace})}"
        if report.unknown:
            return f"Nothing to compare: whether there are any {nouns} is unknown: {unread_reason(report.unseen)}."
        return f"Nothing to compare: no {nouns}."
    silent = [status for status in report.items if not status.has_status]
    if len(silent) == len(report.items):
        whom = str(silent[0].resource.ref) if len(silent) == 1 else f"any of {_numbers(silent)}"
        sentence = f"Nothing to compare: no controller has reported on {whom} in {report.place}"
        return f"{sentence}{unread_hedge(report.unseen)}."
    parts = [_agreement(report)]
    if report.undecided:
        parts.append(f"{report.undecided} more cannot be decided from what was read")
    if silent:
        verb = "has" if len(silent) == 1 else "have"
        parts.append(f"{_numbers(silent)} {verb} no status in {report.place}")
    return f"{'; '.join(parts)}{unread_hedge(report.unseen)}."


def _agreement(report: StatusReport) -> str:
    compared = [comparison for _, comparison in report.comparisons if comparison.is_compared]
    reported = [status for status in report.items if any(comparison.is_compared for comparison in status.conditions)]
    whom = str(reported[0].resource.ref) if len(reported) == 1 else _numbers(reported)
    wrong = [status for status in reported if not status.agrees]
    if not compared:
        return "Nothing that is computed here was reported"
    if len(compared) == 1:
        noun = "number" if compared[0].is_count else "condition"
        return f"The only {noun} on {whom} {'is not' if wrong else 'is'} as computed"
    noun = "conditions and numbers" if any(comparison.is_count for comparison in compared) else "conditions"
    if not wrong:
        return f"All {len(compared)} {noun} on {whom} are as computed"
    disagreeing = sum(comparison.disagrees for comparison in compared)
    some, every = _nouns(wrong), _nouns(report.items)
    parts = [f"{number} of {count(every[noun], noun)}" for noun, number in some.items()]
    where = str(report.items[0].resource.ref) if len(report.items) == 1 else listed(parts)
    verb = "disagrees" if disagreeing == 1 else "disagree"
    return f"{disagreeing} of {len(compared)} {noun} {verb} with what is computed, on {where}"


def _numbers(objects: Iterable[ObjectStatus]) -> str:
    """`4 policies and 1 Gateway`."""
    return listed([count(number, noun) for noun, number in _nouns(objects).items()])


def _nouns(objects: Iterable[ObjectStatus]) -> Counter[str]:
    return Counter("policy" if status.policy else status.resource.ref.kind for status in objects)


def why_not_headline(answer: WhyNot) -> str:
    """Return the answer in one sentence."""
    policy, where, unread = str(answer.policy), node_label(answer.target), unread_hedge(answer.unseen)
    effect = answer.effect
    if effect.in_force:
        paths = f", on {of_all(len(effect.in_force), len(effect.paths))}" if len(effect.paths) > 1 else ""
        undecided = f", and perhaps on {len(effect.undecided)} more" if effect.undecided else ""
        return f"{policy} has an effect on {where}{paths}{undecided}{unread}."
    first = answer.reasons[0]
    if answer.found_nothing:
        return f"Whether {policy} has an effect on {where} is unknown: {reason_phrase(first)}."
    return f"{policy} has no effect on {where}: {reason_phrase(first)}{unread}."


def reason_phrase(reason: Reason) -> str:
    """Return a reason with the API's own word for it, and where what is responsible was read."""
    api_reason = f" [{reason.reason}]" if reason.reason else ""
    return f"{reason.message}{api_reason}" + at_origin(reason.origin, " ({})")
