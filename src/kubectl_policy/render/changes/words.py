"""What a difference comes to in one sentence, and what an object touches in one or two."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from kubectl_policy.render.changes.consequences import attachment, force, relations, said, traffic, traffic_done, who
from kubectl_policy.render.changes.summary import objects_of, on_all_paths, summarize
from kubectl_policy.render.words.headlines import as_far_as
from kubectl_policy.render.words.names import attachment_words, count, listed, names, node_words
from kubectl_policy.topology.references import ROUTES

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator, Mapping

    from kubectl_policy.model import Diagnostic, ObjectRef
    from kubectl_policy.questions.changes.blast_radius import BlastRadius, ObjectCounts, PolicyReach
    from kubectl_policy.questions.changes.diff import StateDiff
    from kubectl_policy.questions.changes.effects import ChangeSort
    from kubectl_policy.render.changes.summary import ChangeSummary

_SORTS: Final[Mapping[ChangeSort, str]] = {
    "lost": "{who} {loses} settings",
    "changed": "{who} {gets} other values",
    "gained": "{who} {gains} settings",
}
_PAIR: Final = 2
_THERE: Final = " on the paths that it affects"


def diff_headline(difference: StateDiff) -> str:
    """What a difference comes to, in one sentence; if part of it is not known, the same sentence says so."""
    found = summarize(difference)
    settings, ways = list(_settings(found)), list(traffic(found))
    rest = [*relations(found), *_problems(difference.problems.introduced, difference.problems.fixed)]
    if not settings and ways:
        ways[0] = f"T{ways[0][1:]}"
    elif not settings:
        settings = ["No setting changes" if rest else "Nothing changes in what policies amount to"]
    return f"{'; '.join([*settings, *ways, *rest])}{_aside(difference)}{as_far_as(difference.unseen)}."


def blast_headline(answer: BlastRadius) -> str:
    """What a policy affects and what deleting it changes, or what deleting any other object does."""
    reach = answer.reach
    sentence = f"{_affects(answer, reach)}. {_without_policy(answer, reach)}" if reach else _without(answer)
    return f"{sentence}{as_far_as(answer.difference.unseen)}."


def _settings(found: ChangeSummary) -> Iterator[str]:
    """What becomes of settings on paths that both states have."""
    sorts = [(words, refs) for sort, words in _SORTS.items() if (refs := found.of_sort(sort))]
    if len(sorts) == 1:
        ((words, refs),) = sorts
        subject = f"{who(refs)}{_namespaces({ref.namespace for ref in refs}) if len(refs) > 1 else ''}"
        yield f"{said(words, subject, one=len(refs) == 1)}{_security(found, 'relevant to security')}"
    elif sorts:
        where = _namespaces({ref.namespace for ref in found.changed})
        each = [said(words, str(len(refs)), one=len(refs) == 1) for words, refs in sorts]
        security = _security(found, "in settings relevant to security")
        yield f"{count(len(found.changed), 'object')} change{where}{security}: {listed(each)}"
    if moved := found.of_sort("moved"):
        yield said("{who} {gets} the same values from elsewhere", who(moved), one=len(moved) == 1)


def _security(found: ChangeSummary, words: str) -> str:
    """`, for 1 of them relevant to security`; empty if nothing is."""
    number, total = len(found.security & found.changed), len(found.changed)
    if not number:
        return ""
    return f", {words}" if number == total else f", for {number} of them {words}"


def _namespaces(names: Collection[str]) -> str:
    """` in 2 namespaces`, ` in namespace baker`; cluster-scoped objects are in none."""
    named = sorted({*names} - {""})
    if len(named) == 1:
        return f" in namespace {named[0]}"
    return f" in {count(len(named), 'namespace')}" if named else ""


def _problems(introduced: Collection[Diagnostic], fixed: Collection[Diagnostic]) -> Iterator[str]:
    for verb, problems in (("introduced", introduced), ("fixed", fixed)):
        if problems:
            yield f"{count(len(problems), 'problem')} {'is' if len(problems) == 1 else 'are'} {verb}"


def _aside(difference: StateDiff) -> str:
    """` (3 objects differ: 1 created and 2 updated)`: of how many objects all that follows."""
    numbers = [
        (len(difference.created), "created"),
        (len(difference.deleted), "deleted"),
        (len(difference.updated), "updated"),
    ]
    found = [f"{number} {verb}" for number, verb in numbers if number]
    total = sum(number for number, _ in numbers)
    if len(found) == 1:
        return f" ({count(total, 'object')} {found[0].partition(' ')[2]})"
    return f" ({total} objects differ: {listed(found)})" if found else ""


def _affects(answer: BlastRadius, reach: PolicyReach) -> str:
    """What a policy affects, or why it has no effect."""
    subject = _with_target(answer.subject, reach)
    if reach.affected:
        objects = {node.object for node in reach.affected}
        if len(objects) == 1:
            return f"{subject} affects 1 object: {listed([node_words(node) for node in reach.affected])}"
        return f"{subject} affects {count(len(objects), 'object')}{_count_words(answer.counts)}"
    if reach.enforcement.state == "Unknown":
        return f"Whether {answer.subject} has an effect is unknown: {_reasons(reach) or 'that is not computed'}"
    if answer.difference.unseen and _may_affect_more(reach):
        return f"{subject} affects nothing that was read, but not all below its target may have been"
    return f"{subject} has no effect: {_why_not(reach)}"


def _may_affect_more(reach: PolicyReach) -> bool:
    idle = reach.enforcement.state == "NoEffect" and not reach.enforcement.outcomes
    return idle and any(found.state == "attached" for found in reach.attachments)


def _with_target(policy: ObjectRef, reach: PolicyReach) -> str:
    targets = list(dict.fromkeys(attachment_words(found) for found in reach.attachments if found.target))
    return f"{policy} → {targets[0]}" if len(targets) == 1 else str(policy)


def _why_not(reach: PolicyReach) -> str:
    beaters = names(reach.enforcement.by)
    attached = any(found.state == "attached" for found in reach.attachments)
    match reach.enforcement.state:
        case "Overridden":
            return f"it is replaced everywhere, by {beaters}"
        case "Conflicted":
            return f"it is refused everywhere, {f'in favour of {beaters}' if beaters else 'for a conflict'}"
        case "NoEffect" if reach.enforcement.outcomes:
            return "controllers ignore all that it says there"
        case "NoEffect" if attached:
            return "nothing that it could affect is attached below its target"
        case _:
            return _reasons(reach) or "it is attached to nothing"


def _reasons(reach: PolicyReach) -> str:
    return listed(list(dict.fromkeys(found.message for found in reach.attachments if found.message)))


def _count_words(found: ObjectCounts) -> str:
    """` in 2 namespaces (4 routes, 4 Services)`."""
    numbers: dict[str, int] = {}
    routes = [kind for kind, _ in found.kinds if kind in ROUTES]
    for kind, number in found.kinds:
        noun = "route" if kind in routes and len(routes) > 1 else kind.kind
        numbers[noun] = numbers.get(noun, 0) + number
    kinds = [
        count(number, noun) for noun, number in sorted(numbers.items(), key=lambda item: (-item[1], item[0] != "route"))
    ]
    return f"{_namespaces([name for name, _ in found.namespaces])} ({', '.join(kinds)})"


def _without_policy(answer: BlastRadius, reach: PolicyReach) -> str:
    """What deleting a policy changes: on what it affects, on what else, and for other policies."""
    difference = answer.difference
    found = summarize(difference, {answer.subject, *answer.deleted_with_it})
    affected = {node.object for node in reach.affected}
    further = [*traffic(found), *relations(found), *_problems(difference.problems.introduced, ())]
    if moved := found.of_sort("moved"):
        further.insert(0, said("{who} {gets} the same values from elsewhere", str(len(moved)), one=len(moved) == 1))
    deleted_with_it = f", and {count(len(answer.deleted_with_it), 'object')} with it," if answer.deleted_with_it else ""
    if found.changed or further or affected:
        changes = f"{_how_many(found, affected)}{_left_with_nothing(answer, reach)}"
        return "; ".join([f"Deleting it{deleted_with_it} changes {changes}", *further])
    if reach.enforcement.state == "Unknown":
        return f"What deleting it{deleted_with_it} would change is unknown too"
    return f"Deleting it{deleted_with_it} changes nothing"


def _how_many(found: ChangeSummary, affected: Collection[ObjectRef]) -> str:
    """`8 of them and 1 other object`, `both`, `none of them`, of those that a policy affects."""
    among, others = found.changed & {*affected}, found.changed - {*affected}
    security = _security(found, "in settings relevant to security").removeprefix(", ")
    security = f" ({security})" if security else ""
    if not affected:
        return f"{who(others)}{security}" if others else "no setting"
    if len(affected) == 1:
        text = "that object" if among else "nothing there"
    elif len(among) == len(affected):
        text = "both" if len(among) == _PAIR else f"all {len(among)}"
    else:
        text = f"{len(among) or 'none'} of them"
    more = f" and {count(len(others), 'other object')}" if others else ""
    return f"{text}{more}{security}"


def _left_with_nothing(answer: BlastRadius, reach: PolicyReach) -> str:
    """How many of those that a policy affects lose all that its kind sets on them; empty if none does."""
    kind, affected = answer.subject.group_kind, {node.object for node in reach.affected}
    kept = [change for change in answer.difference.effects if change.kind == kind and change.where == "kept"]
    emptied = [change for change in kept if change.to_nothing and not change.from_nothing]
    lasting = [change for change in kept if change.from_nothing or not change.to_nothing]
    others = {ref for change in lasting for ref in objects_of(change)}
    left = ({ref for change in emptied for ref in objects_of(change)} & affected) - others
    if not left:
        return ""
    # What happens on other paths or in other sections of an object is another matter.
    whole = on_all_paths(emptied)
    as_named = len(reach.affected) == 1 and whole.issuperset(reach.affected)
    there = "" if as_named or left <= {node.object for node in whole if not node.section} else _THERE
    what = f"every setting of {kind.kind}{there}"
    if left == affected:
        return f", which {'lose' if len(left) > 1 else 'loses'} {what}"
    return f"; {len(left)} of them {'lose' if len(left) > 1 else 'loses'} {what}"


def _without(answer: BlastRadius) -> str:
    """What deleting an object that is no policy does."""
    difference, gone = answer.difference, {answer.subject, *answer.deleted_with_it}
    found = summarize(difference, gone)
    told = found.detached | found.without_target | found.losing_target | found.unsure | found.without_class
    problems = [problem for problem in difference.problems.introduced if problem.subject not in told]
    parts = [f"also deletes {count(len(answer.deleted_with_it), 'object')}"] if answer.deleted_with_it else []
    parts += [*attachment(found), *traffic_done(found)]
    if found.changed:
        verb = "takes settings from" if found.changed == found.of_sort("lost") else "changes settings of"
        parts.append(f"{verb} {who(found.changed)}{_security(found, 'relevant to security')}")
    parts += force(found)
    if problems:
        parts.append(f"introduces {count(len(problems), 'problem')}")
    if not parts:
        return f"Deleting {answer.subject} changes nothing in what policies amount to"
    if not found.changed and not [*attachment(found), *traffic_done(found)]:
        parts.append("changes no setting of anything else")
    return f"Deleting {answer.subject} {listed(parts)}"
