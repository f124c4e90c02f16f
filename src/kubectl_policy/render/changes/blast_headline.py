"""What an object affects, and what deleting it would change, in one sentence or two."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING, Final

from msgspec.structs import replace

from kubectl_policy.model.kinds import listed
from kubectl_policy.render.changes.clauses import (
    ATTACHMENT,
    FORCE,
    active_clauses,
    namespace_words,
    problem_clauses,
    relation_clauses,
    said,
    security_words,
    since_words,
    traffic_clauses,
    who_words,
)
from kubectl_policy.render.changes.summary import objects_of, on_all_paths, summarize, untold_problems
from kubectl_policy.render.changes.traffic import (
    ending_clauses,
    hit_words,
    hostname_words,
    keeping_clause,
    owner_words,
    passing_clauses,
    places_words,
)
from kubectl_policy.render.words.headlines import (
    failures,
    may_affect_more,
    undecided_words,
    why_idle,
    with_target,
)
from kubectl_policy.render.words.names import count, names
from kubectl_policy.render.words.unseen import as_far_as
from kubectl_policy.topology.references import ROUTES

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator, Sequence

    from kubectl_policy.model import ObjectRef
    from kubectl_policy.questions.changes.blast_radius import BlastRadius, PolicyReach
    from kubectl_policy.questions.changes.diff import StateDiff
    from kubectl_policy.render.changes.summary import ChangeSummary

_PAIR: Final = 2
_THERE: Final = " where it was in force"


def blast_headline(answer: BlastRadius, summary: ChangeSummary | None = None) -> str:
    """What a policy affects and what deleting it changes, or what deleting any other object does.

    `summary` is that of the difference, without what is deleted, where it is known already.
    """
    reach, unread = answer.reach, as_far_as(answer.difference.unseen)
    known = summary or summarize(answer.difference, {answer.subject, *answer.deleted_with_it})
    if reach:
        return f"{_affects(answer, reach)}. {_without_policy(answer, reach, known)}{unread}."
    first, more = _without(answer, known)
    absent = "" if answer.in_input else f" {answer.subject} is not in {answer.place}: it is assumed to exist."
    return f"{first}{unread}.{f' It also {more}.' if more else ''}{absent}"


def _affects(answer: BlastRadius, reach: PolicyReach) -> str:
    """What a policy affects, or why it has no effect."""
    subject, others = with_target(reach), reach.enforcement.undecided_with
    if reach.affected:
        objects, key = {node.object for node in reach.affected}, answer.counts.owner_key
        verb = "may affect" if others else "affects"
        about, in_front = _hostname_words(reach), ""
        if reach.behind:
            about, in_front = [], f", in front of {hit_words(reach.behind, key)}"
        elif len(objects) > 1:
            about += owner_words((name for name, _ in answer.counts.owners), key)
        if len(objects) > 1:
            what = _count_words(objects, about)
        else:
            what = f"{places_words(reach.affected)}{f' ({about[0]})' if about else ''}"
        what += in_front
        return f"{subject} {verb} {what}{f'; {undecided_words(answer.subject, others)}' if others else ''}"
    if reach.enforcement.state == "Unknown":
        return f"Whether {answer.subject} has an effect is unknown: {failures(reach) or 'that is not computed'}"
    if answer.difference.unseen and may_affect_more(reach):
        return f"{subject} affects nothing that was read, but not all below its target may have been"
    return f"{subject} has no effect: {_why_not(reach)}"


def _why_not(reach: PolicyReach) -> str:
    if reach.enforcement.state == "Conflicted":
        beaters = names(reach.enforcement.by)
        return f"it is refused everywhere, {f'in favour of {beaters}' if beaters else 'for a conflict'}"
    return why_idle(reach) or failures(reach) or "it is attached to nothing"


def _hostname_words(reach: PolicyReach) -> list[str]:
    """`3 hostnames`; nothing if all that it affects is for any hostname."""
    return hostname_words(reach.hostnames) if {*reach.hostnames} - {"*"} else []


def _count_words(objects: Collection[ObjectRef], about: Sequence[str]) -> str:
    """`8 objects in 2 namespaces (4 routes, 4 Services; 3 hostnames, team baker)`; of one kind `4 Services in …`."""
    several = len({ref.group_kind for ref in objects}.intersection(ROUTES)) > 1
    numbers = Counter("route" if several and ref.group_kind in ROUTES else ref.kind for ref in objects)
    kinds = [
        count(number, noun)
        for noun, number in sorted(numbers.items(), key=lambda item: (-item[1], item[0] != "route", item[0]))
    ]
    alone = len(kinds) == 1
    what = kinds[0] if alone else count(len(objects), "object")
    parts = filter(None, ["" if alone else ", ".join(kinds), ", ".join(about)])
    said = f" ({text})" if (text := "; ".join(parts)) else ""
    return f"{what}{namespace_words({ref.namespace for ref in objects})}{said}"


def _without_policy(answer: BlastRadius, reach: PolicyReach, summary: ChangeSummary) -> str:
    """What deleting a policy changes: on what it affects, on what else, and for other policies."""
    difference = answer.difference
    affected = {node.object for node in reach.affected}
    further = [
        *passing_clauses(difference),
        *traffic_clauses(summary),
        *relation_clauses(summary),
        *problem_clauses(difference.problems.introduced, ()),
    ]
    if moved := summary.of_sort("moved"):
        further.insert(0, said("{who} {gets} the same values from elsewhere", str(len(moved)), one=len(moved) == 1))
    deleted_with_it = f", and {count(len(answer.deleted_with_it), 'object')} with it," if answer.deleted_with_it else ""
    if summary.changed or further or affected:
        changes = f"{_how_many(summary, affected)}{_left_with_nothing(answer, reach)}"
        verb = "may change" if reach.enforcement.undecided_with else "changes"
        return "; ".join([f"Deleting it{deleted_with_it} {verb} {changes}", *further])
    if reach.enforcement.state == "Unknown":
        return f"What deleting it{deleted_with_it} would change is unknown too"
    return f"Deleting it{deleted_with_it} changes nothing"


def _how_many(summary: ChangeSummary, affected: Collection[ObjectRef]) -> str:
    """`8 of them and 1 other object`, `both`, `none of them`, of those that a policy affects."""
    among, others = summary.changed & {*affected}, summary.changed - {*affected}
    security = security_words(summary).removeprefix(", ")
    security = f" ({security})" if security else ""
    if not affected:
        return f"{who_words(others)}{security}" if others else "no setting"
    if len(affected) == 1:
        text = f"that {next(iter(affected)).kind}" if among else "nothing there"
    elif len(among) == len(affected):
        text = "both" if len(among) == _PAIR else f"all {len(among)}"
    else:
        text = f"{len(among) or 'none'} of them"
    more = f" and {count(len(others), 'other object')}" if others else ""
    return f"{text}{more}{security}"


def _left_with_nothing(answer: BlastRadius, reach: PolicyReach) -> str:
    """On how many of those that a policy affects no other of its kind is left; empty if on none."""
    kind, affected = answer.subject.group_kind, {node.object for node in reach.affected}
    kept = [change for change in answer.difference.effects if change.kind == kind and change.where == "kept"]
    emptied = [change for change in kept if change.to_nothing and not change.from_nothing]
    rest = (change for change in kept if change.from_nothing or not change.to_nothing)
    others = {ref for change in rest for ref in objects_of(change)}
    left = ({ref for change in emptied for ref in objects_of(change)} & affected) - others
    if not left:
        return ""
    # What happens on other paths or in other sections of an object is another matter.
    whole = on_all_paths(emptied)
    as_named = len(reach.affected) == 1 and whole.issuperset(reach.affected)
    there = "" if as_named or left <= {node.object for node in whole if not node.section} else _THERE
    what = f"{'are' if len(left) > 1 else 'is'} left without any {kind.kind}{there}"
    return f", which {what}" if left == affected else f"; {len(left)} of them {what}"


def _without(answer: BlastRadius, summary: ChangeSummary) -> tuple[str, str]:
    """What deleting an object that is not a policy does, and what it does besides, if traffic is lost."""
    difference = answer.difference
    traffic = difference.traffic
    hit = {each.route for each in (*traffic.lost.routes, *traffic.uncontrolled)}
    of_policies = summary.without_target | summary.losing_target | summary.unsure
    told = hit | of_policies | summary.detached | summary.without_class | summary.failing
    problems = [problem for problem in untold_problems(answer) if problem.subject not in told]
    ends = [*ending_clauses(traffic.lost, traffic.owner_key, answer.subject), *_orphaned(difference, summary)]
    parts = [*active_clauses(ATTACHMENT, replace(summary, detached=summary.detached - hit, without_class=frozenset()))]
    parts += traffic_clauses(summary, active=True)
    if summary.changed:
        verb = "takes settings from" if summary.changed == summary.of_sort("lost") else "changes settings of"
        parts.append(f"{verb} {who_words(summary.changed)}{security_words(summary)}")
    parts += active_clauses(FORCE, summary)
    if problems:
        parts.append(f"introduces {count(len(problems), 'problem')}")
    also = [f"deletes {count(len(answer.deleted_with_it), 'object')}"] if answer.deleted_with_it else []
    if summary.failing and not ends:
        # They did so for another reason already.
        routes = {failing.route for failing in difference.failing}
        requests = f"requests to {who_words(routes, 'route')} fail already"
        parts.insert(0, f"makes {who_words(summary.failing, 'policy')} invalid ({requests})")
    if ends:
        first = f"Deleting {answer.subject} {listed(ends)}{keeping_clause(traffic.lost)}{since_words(summary)}"
        return first, listed([*also, *parts])
    if not (also or parts) and answer.referred_to_by:
        return f"{_referred_to(answer)}: what deleting it changes is not known", ""
    if not (also or parts):
        return f"Deleting {answer.subject} changes nothing in what policies do", ""
    if not (summary.changed or summary.failing) and not [
        *active_clauses(ATTACHMENT, summary),
        *traffic_clauses(summary, active=True),
    ]:
        parts.append("changes no setting of anything else")
    return f"Deleting {answer.subject} {listed([*(f'also {words}' for words in also), *parts])}", ""


def _referred_to(answer: BlastRadius) -> str:
    """Who refers to what is deleted, and by which field if only one does."""
    policies, fields = {each.policy for each in answer.referred_to_by}, {each.field for each in answer.referred_to_by}
    one, guessed = len(policies) == 1, all(each.guessed for each in answer.referred_to_by)
    verb = ("seems to refer" if one else "seem to refer") if guessed else "refers" if one else "refer"
    place = f" ({next(iter(fields))})" if len(fields) == 1 else ""
    return f"{who_words(policies, 'policy')} {verb} to {answer.subject}{place}"


def _orphaned(difference: StateDiff, summary: ChangeSummary) -> Iterator[str]:
    """That Gateways lose their class, with the routes behind them."""
    if summary.without_class:
        routes = difference.traffic.uncontrolled
        behind = f", and with that {hit_words(routes, difference.traffic.owner_key)}" if routes else ""
        yield f"leaves {who_words(summary.without_class, 'Gateway')} without a controller{behind}"
