"""The sentences that answers open with: what differs between two states, and what deleting an object would change."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING, Final

from kubectl_policy.model.kind_roles import ROUTES
from kubectl_policy.model.kinds import listed, names
from kubectl_policy.network.kinds import EVALUATED_KINDS
from kubectl_policy.questions.shared.reasons import failure_phrase, undecided_phrase
from kubectl_policy.questions.shared.uncertain_effects import may_affect_more, unknown_phrase
from kubectl_policy.render.changes.connections import active_clause, passive_clauses
from kubectl_policy.render.changes.summary import FORCE, objects_of, on_all_paths, summarize, untold_problems
from kubectl_policy.render.changes.traffic import (
    ending_clauses,
    hostname_phrases,
    keeping_clause,
    nodes_phrase,
    owner_phrases,
    passing_clauses,
    routes_phrase,
)
from kubectl_policy.render.wording.blind_spots import unread_hedge, unread_reason
from kubectl_policy.render.wording.headlines import why_idle, with_target
from kubectl_policy.render.wording.names import count, namespaces_phrase, objects_phrase

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator, Mapping, Sequence

    from kubectl_policy.model import Diagnostic, ObjectRef
    from kubectl_policy.questions.blast_radius import BlastRadius
    from kubectl_policy.questions.diff import StateDiff
    from kubectl_policy.questions.differences.effects import ChangeSort
    from kubectl_policy.render.changes.summary import ChangeSummary, Relation, Relations, TrafficChange
    from kubectl_policy.resolution.enforcement import Enforcement

_PLURAL: Final = {"is": "are", "has": "have", "loses": "lose", "gets": "get", "gains": "gain", "takes": "take"}


# What happens to some objects, with their noun: a sentence about them, and a verb phrase after the name of its cause.
_CONSEQUENCES: Final[Mapping[Relation, tuple[str, str, str]]] = {
    "without class": ("Gateway", "{who} {is} left without a GatewayClass", "leaves {who} without a GatewayClass"),
    "detached": ("route", "{who} {is} detached from a parent", "detaches {who}"),
    "attached": ("route", "{who} {is} newly attached to a parent", "attaches {who} to a parent"),
    "without target": ("policy", "{who} {is} left without a target", "leaves {who} without a target"),
    "losing target": ("policy", "{who} {loses} a target", "takes a target from {who}"),
    "gaining target": ("policy", "{who} {gains} a target", "gives a target to {who}"),
    "unsure": (
        "object",
        "what {who} {is} attached to is no longer known",
        "leaves it unknown what {who} {is} attached to",
    ),
    "undecided": (
        "policy",
        "whether {who} {is} enforced is no longer known",
        "leaves it unknown whether {who} {is} enforced",
    ),
    "into force": ("policy", "{who} {takes} effect", "puts {who} into effect"),
    "out of force": ("policy", "{who} {is} left without effect", "leaves {who} without effect"),
    "new without effect": ("policy", "{who} {is} new and {has} no effect", "leaves {who} without effect"),
}
_SORT_WORDS: Final[Mapping[ChangeSort, str]] = {
    "lost": "{who} {loses} settings",
    "changed": "{who} {gets} other values",
    "gained": "{who} {gains} settings",
}
_FRAGMENTS: Final = {
    "": "",
    "before": "The earlier state lacks nearly all objects of the later one; ",
    "after": "The later state lacks nearly all objects of the earlier one; ",
}
# What may happen where it is unknown whether the values are in force.
_POSSIBLE_WORDS: Final[Mapping[ChangeSort, str]] = {
    "lost": "{who} may lose settings",
    "changed": "{who} may get other values",
    "gained": "{who} may gain settings",
}
_PAIR: Final = 2
_THERE: Final = " where it was in force"


def diff_headline(difference: StateDiff) -> str:
    """Summarize a difference in one sentence, with a hedge where part of it is not known."""
    summary = summarize(difference)
    settings = [*_settings(summary)]
    ways = [
        *passing_clauses(difference),
        *_traffic_clauses(summary),
        *(passive_clauses(difference.connections) if difference.connections else ()),
    ]
    if summary.failing and ways:
        ways[0] += _since_phrase(summary)
    hit = {traffic.route for traffic in difference.traffic.routes}
    relations: Relations = {
        **summary.relations,
        "detached": summary.relations["detached"] - hit,
        "attached": summary.relations["attached"] - hit,
    }
    problems = _problem_clauses(difference.problems.introduced, difference.problems.fixed)
    rest = [*_relation_clauses(relations), *problems]
    if not (settings or ways or rest) and difference.unseen:
        unknown = f"Whether anything changes in what policies do{_aside(difference)} is unknown"
        return f"{unknown}: {unread_reason(difference.unseen)}."
    if not settings and not ways:
        settings = ["no setting changes" if rest else "nothing changes in what policies do"]
    sentence = f"{_FRAGMENTS[difference.fragment]}{'; '.join([*ways, *settings, *rest])}"
    return f"{sentence[:1].upper()}{sentence[1:]}{_aside(difference)}{unread_hedge(difference.unseen)}."


def _settings(summary: ChangeSummary) -> Iterator[str]:
    """List the clauses about settings that differ on paths that both states have."""
    sorts = [
        (_POSSIBLE_WORDS[sort] if refs <= summary.possible else template, refs)
        for sort, template in _SORT_WORDS.items()
        if (refs := summary.of_sort(sort))
    ]
    if len(sorts) == 1:
        ((template, refs),) = sorts
        subject = f"{objects_phrase(refs)}{namespaces_phrase({ref.namespace for ref in refs}) if len(refs) > 1 else ''}"
        yield f"{_agree(template, subject, len(refs))}{_security_phrase(summary)}"
    elif sorts:
        where = namespaces_phrase({ref.namespace for ref in summary.changed})
        clauses = [_agree(template, str(len(refs)), len(refs)) for template, refs in sorts]
        security = _security_phrase(summary)
        change = "may change" if summary.changed <= summary.possible else "change"
        yield f"{count(len(summary.changed), 'object')} {change}{where}{security}: {listed(clauses)}"
    if moved := summary.of_sort("moved"):
        yield _agree("{who} {gets} the same values from elsewhere", objects_phrase(moved), len(moved))


def _aside(difference: StateDiff) -> str:
    """` (3 objects differ: 1 created and 2 updated)`: the number of objects that differ."""
    numbers = [
        (len(difference.created), "created"),
        (len(difference.deleted), "deleted"),
        (len(difference.updated), "updated"),
    ]
    parts = [f"{number} {verb}" for number, verb in numbers if number]
    total = sum(number for number, _ in numbers)
    if len(parts) == 1:
        return f" ({count(total, 'object')} {parts[0].partition(' ')[2]})"
    return f" ({total} objects differ: {listed(parts)})" if parts else ""


def blast_headline(answer: BlastRadius, summary: ChangeSummary | None = None) -> str:
    """Summarize a deletion: effects of a policy and changes without it, or changes without any other object."""
    unread = unread_hedge(answer.difference.unseen)
    known = summary or summarize(answer.difference, {answer.subject, *answer.deleted_with_it})
    if answer.subject.group_kind in EVALUATED_KINDS and not answer.unknown:
        clause = active_clause(answer.difference.connections) or "opens and closes no connection"
        return f"Deleting {answer.subject} {clause}{unread}."
    if answer.enforcement:
        without = f"{_without_policy(answer, answer.enforcement, known)}{unread}"
        if answer.unknown and answer.enforcement.state != "Unknown":
            without = f"Whether deleting it changes anything is unknown: {unread_reason(answer.unseen)}"
        return f"{_affects(answer, answer.enforcement)}. {without}."
    if answer.unknown:
        unknown = f"Whether deleting {answer.subject} changes anything in what policies do is unknown"
        return f"{unknown}: {unread_reason(answer.unseen)}."
    first, addition = _without(answer, known)
    absent = "" if answer.in_input else f" {answer.subject} is not in {answer.place}: it is assumed to exist."
    return f"{first}{unread}.{f' It also {addition}.' if addition else ''}{absent}"


def _affects(answer: BlastRadius, enforcement: Enforcement) -> str:
    """Summarize the effects of a policy, or the reason why it has none."""
    subject, undecided = with_target(answer.subject, answer.targets), enforcement.undecided_with
    if answer.affected:
        objects, key = {node.object for node in answer.affected}, answer.counts.owner_key
        verb = "may affect" if enforcement.state == "Unknown" else "affects"
        # All that it affects may be for any hostname.
        about, in_front = hostname_phrases(answer.hostnames) if {*answer.hostnames} - {"*"} else [], ""
        if answer.behind:
            about, in_front = [], f", in front of {routes_phrase(answer.behind, key)}"
        elif len(objects) > 1:
            about += owner_phrases((counted.owner for counted in answer.counts.owners), key)
        if len(objects) > 1:
            objects_words = _counts_phrase(objects, about)
        else:
            objects_words = f"{nodes_phrase(answer.affected)}{f' ({about[0]})' if about else ''}"
        objects_words += in_front
        return (
            f"{subject} {verb} {objects_words}{f'; {undecided_phrase(answer.subject, undecided)}' if undecided else ''}"
        )
    if enforcement.state == "Unknown":
        return f"Whether {answer.subject} has an effect is unknown: {unknown_phrase(enforcement, answer.targets)}"
    if answer.difference.unseen and may_affect_more(enforcement, answer.targets):
        return f"{subject} affects nothing that was read, but not all below its target may have been"
    if enforcement.state == "Conflicted":
        winners = names(enforcement.by)
        why = f"it is refused everywhere, {f'in favour of {winners}' if winners else 'for a conflict'}"
    else:
        why = why_idle(enforcement, answer.targets, answer.reasons) or failure_phrase(answer.targets)
    return f"{subject} has no effect: {why or 'it is attached to nothing'}"


def _counts_phrase(objects: Collection[ObjectRef], about: Sequence[str]) -> str:
    """`8 objects in 2 namespaces (4 routes, 4 Services; 3 hostnames, team baker)`; of one kind `4 Services in …`."""
    several = len({ref.group_kind for ref in objects}.intersection(ROUTES)) > 1
    numbers = Counter("route" if several and ref.group_kind in ROUTES else ref.kind for ref in objects)
    kinds = [
        count(number, noun)
        for noun, number in sorted(numbers.items(), key=lambda item: (-item[1], item[0] != "route", item[0]))
    ]
    is_single = len(kinds) == 1
    total = kinds[0] if is_single else count(len(objects), "object")
    parts = filter(None, ["" if is_single else ", ".join(kinds), ", ".join(about)])
    details = f" ({text})" if (text := "; ".join(parts)) else ""
    return f"{total}{namespaces_phrase({ref.namespace for ref in objects})}{details}"


def _without_policy(answer: BlastRadius, enforcement: Enforcement, summary: ChangeSummary) -> str:
    """Summarize the changes that follow from deleting a policy: on what it affects, elsewhere, on other policies."""
    difference = answer.difference
    affected = {node.object for node in answer.affected}
    clauses = [
        *passing_clauses(difference),
        *_traffic_clauses(summary),
        *_relation_clauses(summary.relations),
        *_problem_clauses(difference.problems.introduced, ()),
    ]
    if moved := summary.of_sort("moved"):
        clauses.insert(0, _agree("{who} {gets} the same values from elsewhere", str(len(moved)), len(moved)))
    deleted_with_it = f", and {count(len(answer.deleted_with_it), 'object')} with it," if answer.deleted_with_it else ""
    if summary.changed or clauses or affected:
        changes = f"{_how_many(summary, affected)}{_left_with_nothing(answer)}"
        verb = "may change" if enforcement.state == "Unknown" else "changes"
        return "; ".join([f"Deleting it{deleted_with_it} {verb} {changes}", *clauses])
    if enforcement.state == "Unknown":
        return f"What deleting it{deleted_with_it} would change is unknown too"
    return f"Deleting it{deleted_with_it} changes nothing"


def _how_many(summary: ChangeSummary, affected: Collection[ObjectRef]) -> str:
    """`8 of them and 1 other object`, `both`, `none of them`, of those that a policy affects."""
    hit, elsewhere = summary.changed & {*affected}, summary.changed - {*affected}
    security = _security_phrase(summary).removeprefix(", ")
    security = f" ({security})" if security else ""
    if not affected:
        return f"{objects_phrase(elsewhere)}{security}" if elsewhere else "no setting"
    if len(affected) == 1:
        text = f"that {next(iter(affected)).kind}" if hit else "nothing there"
    elif len(hit) == len(affected):
        text = "both" if len(hit) == _PAIR else f"all {len(hit)}"
    else:
        text = f"{len(hit) or 'none'} of them"
    addition = f" and {count(len(elsewhere), 'other object')}" if elsewhere else ""
    return f"{text}{addition}{security}"


def _left_with_nothing(answer: BlastRadius) -> str:
    """Count the affected objects on which no other policy of the kind is left; empty if there is none."""
    kind, affected = answer.subject.group_kind, {node.object for node in answer.affected}
    kept = [change for change in answer.difference.effects if change.policy_kind == kind and change.where == "kept"]
    emptied = [change for change in kept if change.to_nothing and not change.from_nothing]
    rest = (change for change in kept if change.from_nothing or not change.to_nothing)
    kept_objects = {ref for change in rest for ref in objects_of(change)}
    bare = ({ref for change in emptied for ref in objects_of(change)} & affected) - kept_objects
    if not bare:
        return ""
    # What happens on other paths or in other sections of an object is another matter.
    whole = on_all_paths(emptied)
    as_named = len(answer.affected) == 1 and whole.issuperset(answer.affected)
    where = "" if as_named or bare <= {node.object for node in whole if not node.section} else _THERE
    phrase = f"{'are' if len(bare) > 1 else 'is'} left without any {kind.kind}{where}"
    return f", which {phrase}" if bare == affected else f"; {len(bare)} of them {phrase}"


def _without(answer: BlastRadius, summary: ChangeSummary) -> tuple[str, str]:
    """Summarize the deletion of another object: one sentence, and an addition where traffic is lost."""
    difference = answer.difference
    traffic = difference.traffic
    hit = {traffic.route for traffic in (*traffic.lost.routes, *traffic.uncontrolled)}
    attachment: Relations = {relation: refs for relation, refs in summary.relations.items() if relation not in FORCE}
    force: Relations = {relation: refs for relation, refs in summary.relations.items() if relation in FORCE}
    losses = (refs for relation, refs in attachment.items() if relation not in {"attached", "gaining target"})
    mentioned = hit.union(summary.failing, *losses)
    problems = [problem for problem in untold_problems(answer) if problem.subject not in mentioned]
    ends = [*ending_clauses(traffic.lost, traffic.owner_key, answer.subject), *_orphaned(difference, summary)]
    unsaid: Relations = {**attachment, "detached": attachment["detached"] - hit, "without class": frozenset()}
    other_traffic = [*_traffic_clauses(summary, active=True)]
    if connections := active_clause(difference.connections):
        other_traffic.append(connections)
    parts = [*_relation_clauses(unsaid, active=True), *other_traffic]
    if summary.changed:
        verb = "takes settings from" if summary.changed == summary.of_sort("lost") else "changes settings of"
        if summary.changed <= summary.possible:
            verb = "may change settings of"
        parts.append(f"{verb} {objects_phrase(summary.changed)}{_security_phrase(summary)}")
    parts += _relation_clauses(force, active=True)
    if problems:
        parts.append(f"introduces {count(len(problems), 'problem')}")
    also = [f"deletes {count(len(answer.deleted_with_it), 'object')}"] if answer.deleted_with_it else []
    if summary.failing and not ends:
        # They did so for another reason already.
        routes = {failing.route for failing in difference.failing}
        requests = f"requests to {objects_phrase(routes, 'route')} fail already"
        parts.insert(0, f"makes {objects_phrase(summary.failing, 'policy')} invalid ({requests})")
    if ends:
        first = f"Deleting {answer.subject} {listed(ends)}{keeping_clause(traffic.lost)}{_since_phrase(summary)}"
        return first, listed([*also, *parts])
    if not (also or parts) and answer.referred_to_by:
        return f"{_referred_to(answer)}: what deleting it changes is not known", ""
    if not (also or parts):
        return f"Deleting {answer.subject} changes nothing in what policies do", ""
    if not (summary.changed or summary.failing or any(attachment.values()) or other_traffic):
        parts.append("changes no setting of anything else")
    return f"Deleting {answer.subject} {listed([*(f'also {clause}' for clause in also), *parts])}", ""


def _referred_to(answer: BlastRadius) -> str:
    """Name the policies that refer to the deleted object, with the field if all use the same."""
    policies, fields = (
        {reference.policy for reference in answer.referred_to_by},
        {reference.field for reference in answer.referred_to_by},
    )
    single, guessed = len(policies) == 1, all(reference.guessed for reference in answer.referred_to_by)
    verb = ("seems to refer" if single else "seem to refer") if guessed else "refers" if single else "refer"
    where = f" ({next(iter(fields))})" if len(fields) == 1 else ""
    return f"{objects_phrase(policies, 'policy')} {verb} to {answer.subject}{where}"


def _orphaned(difference: StateDiff, summary: ChangeSummary) -> Iterator[str]:
    if gateways := summary.relations["without class"]:
        routes = difference.traffic.uncontrolled
        behind = f", and with that {routes_phrase(routes, difference.traffic.owner_key)}" if routes else ""
        yield f"leaves {objects_phrase(gateways, 'Gateway')} without a controller{behind}"


def _relation_clauses(relations: Relations, *, active: bool = False) -> list[str]:
    """List the clauses about routes and policies; `active` ones follow the name of the cause."""
    return [
        _agree(verb_phrase if active else sentence, objects_phrase(refs, noun), len(refs))
        for relation, (noun, sentence, verb_phrase) in _CONSEQUENCES.items()
        if (refs := relations.get(relation))
    ]


def _traffic_clauses(summary: ChangeSummary, *, active: bool = False) -> Iterator[str]:
    """List the clauses about traffic that ends and begins; `active` ones follow the name of the cause."""
    if ended := _extent(summary.ended):
        yield f"{'ends traffic' if active else 'traffic ends'} {ended}"
    if begun := _extent(summary.begun):
        yield f"{'starts traffic' if active else 'traffic starts'} {begun}"
    if summary.rerouted:
        to = objects_phrase(summary.rerouted)
        yield f"leads traffic to {to} on other paths" if active else f"traffic takes other paths to {to}"


def _extent(change: TrafficChange) -> str:
    """`for 5 objects and on at least one path of 3 more`; empty if there is no object."""
    parts = [f"for {objects_phrase(change.on_all_paths)}"] if change.on_all_paths else []
    if change.on_some_paths:
        number = len(change.on_some_paths)
        some = objects_phrase(change.on_some_paths) if not change.on_all_paths or number == 1 else f"{number} more"
        parts.append(f"on at least one path of {some}")
    return " and ".join(parts)


def _problem_clauses(introduced: Collection[Diagnostic], fixed: Collection[Diagnostic]) -> Iterator[str]:
    """`2 problems are introduced`, `1 problem is fixed`; nothing where there are none."""
    for verb, problems in (("introduced", introduced), ("fixed", fixed)):
        if problems:
            yield f"{count(len(problems), 'problem')} {'is' if len(problems) == 1 else 'are'} {verb}"


def _since_phrase(summary: ChangeSummary) -> str:
    """`, since SecurityPolicy infra/admin becomes invalid`, where requests fail for that."""
    become = "becomes" if len(summary.failing) == 1 else "become"
    return f", since {objects_phrase(summary.failing, 'policy')} {become} invalid" if summary.failing else ""


def _security_phrase(summary: ChangeSummary) -> str:
    """`, including security settings on 1 of them`; empty if nothing that changes is one."""
    number, total = len(summary.security & summary.changed), len(summary.changed)
    if not number:
        return ""
    return ", including security settings" + ("" if number == total else f" on {number} of them")


def _agree(template: str, subject: str, number: int) -> str:
    """Return a template with its subject, and with verbs that agree with it."""
    verbs = {verb: verb if number == 1 else plural for verb, plural in _PLURAL.items()}
    return template.format(who=subject, **verbs)
