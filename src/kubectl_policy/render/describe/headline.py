"""Headline about an object: the number of policies that affect it, and how requests come to it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from kubectl_policy.model.kind_roles import LISTENER_HOLDERS, NAMESPACE, PORT_HOLDERS, ROUTES
from kubectl_policy.model.kinds import listed, plural
from kubectl_policy.model.world import grouped
from kubectl_policy.questions.shared.reasons import node_phrase
from kubectl_policy.render.describe.naming import PathScopes
from kubectl_policy.render.wording.blind_spots import unread_hedge, unread_reason
from kubectl_policy.render.wording.names import at_origin, count, node_label, objects_phrase
from kubectl_policy.topology.references import section_words

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from kubectl_policy.model import NodeRef, ObjectRef
    from kubectl_policy.profiles.fields import Role
    from kubectl_policy.questions.describe.description import Unattached
    from kubectl_policy.questions.describe.objects import ObjectDescription
    from kubectl_policy.questions.shared.in_force import InForce

# So many causes, or ways that lead somewhere, are told in a sentence, and so many names of listeners and hosts.
_MOST_CAUSES: Final = 2
_MOST_NAMED: Final = 4
# So many policies are named of those that only controllers speak of.
_MOST_MARKED: Final = 5


def object_headline(answer: ObjectDescription) -> str:
    """Count the policies that affect an object, or say why there are none; then its hostnames and routes."""
    policies = {diagnostic.subject for diagnostic in answer.problems if diagnostic.rule == "attachment-not-computed"}
    verb = "does" if len(policies) == 1 else "do"
    hedge = f"; what {count(len(policies), 'policy')} {verb} for single backends is not computed" if policies else ""
    marked = "".join(f"; {mark}" for mark in _marked(answer))
    asked_for = [*(kind.kind for kind in answer.focus.kinds), *answer.focus.fields]
    focus = f", looking only at {listed(asked_for)}" if asked_for else ""
    if answer.unknown and not answer.possible and not all(spot.policies for spot in answer.unseen):
        because = f"{unread_reason(answer.unseen)}{hedge}"
        first = f"Whether {_unknown(answer)}{focus}{',' if focus else ''} is unknown: {because}"
    else:
        first = f"{_of_object(answer)}{focus}{hedge}{marked}{unread_hedge(answer.unseen)}"
    around = ", ".join(_around(answer))
    sentences = [
        _failing(answer),
        _dropped(answer),
        first if first.endswith("?") else f"{first}.",
        f"{around[:1].upper()}{around[1:]}." if around else "",
        _absent(answer),
    ]
    return " ".join(filter(None, sentences))


def _marked(answer: ObjectDescription) -> Iterator[str]:
    """`by its status, RetryPolicy baker/resilience affects it as well`: what controllers say of what was not read."""
    together: dict[tuple[ObjectRef, str], list[str]] = {}
    for mark in answer.influences.marks:
        named = [str(policy) for policy in mark.policies] or [plural(mark.policy_kind.kind)]
        written = "status" if mark.sort == "condition" else "annotations"
        together.setdefault((mark.object, written), []).extend(named)
    for (on, written), named in together.items():
        policies, on_itself = list(dict.fromkeys(named)), on == answer.subject.object
        affects = "affects" if len(policies) == 1 and " " in policies[0] else "affect"
        where = f"its {written}" if on_itself else f"the {written} of {on}"
        yield f"by {where}, {listed(policies, _MOST_MARKED)} {affects} {'it' if on_itself else 'that'} as well"


def _absent(answer: ObjectDescription) -> str:
    """Say why a known object was not read; empty if it was."""
    if answer.availability.in_input:
        return ""
    by = ": something there" if answer.place == "the input" else "; something in the cluster"
    return f"{answer.subject.object} {answer.availability.absent}{by} names it."


def _failing(answer: ObjectDescription) -> str:
    """Say that requests get an error response and which policies are to blame: a sentence, or empty."""
    routes = {failing.route for failing in answer.failing}
    policies = {failing.policy for failing in answer.failing}
    if not routes:
        return ""
    some = "All" if all(failing.whole for failing in answer.failing) else "Some"
    whose = f"{objects_phrase(policies, 'policy')} {'is' if len(policies) == 1 else 'are'}"
    return f"{some} requests to {objects_phrase(routes, 'route')} get an error response, since {whose} not valid."


def _dropped(answer: ObjectDescription) -> str:
    """Say that network policies drop requests to backends: a sentence, or empty."""
    from kubectl_policy.render.connections.backends import dropped_sentence  # noqa: PLC0415 (few answers have them)

    return dropped_sentence(answer.backend_connections) if answer.backend_connections else ""


def _unknown(answer: ObjectDescription) -> str:
    """`a policy affects HTTPRoute shop/cart`: the question that could not be answered."""
    subject = node_label(answer.subject)
    if not answer.requests.carries_traffic:
        return f"anything takes effect on {subject}"
    return f"a policy affects {subject}"


def _of_object(answer: ObjectDescription) -> str:
    subject = node_label(answer.subject)
    if not answer.requests.carries_traffic:
        is_route = answer.subject.object.group_kind in ROUTES
        why = _unattached(answer.requests.unattached) if is_route else "no route sends requests to it"
        return f"Nothing takes effect on {subject}, because {why}"
    direct = [group for group in answer.in_force if group.policies and not group.extent.passes_down]
    passed_on = [group for group in answer.in_force if group.policies and group.extent.passes_down]
    take = "takes" if len({ref for group in passed_on for ref in group.policies}) == 1 else "take"
    behind = "in" if answer.subject.object.group_kind == NAMESPACE else "behind"
    if direct:
        passed_phrase = _sources(passed_on, answer.subject.object, "more")
        addition = f"; {passed_phrase} {take} effect on what is {behind} it" if passed_on else ""
        where = _where(answer, direct)
        if all(group.extent.doubt for group in direct):
            sources = _sources(direct, answer.subject.object, possible=len(answer.possible))
            return f"{subject} may be affected by {sources}{where}{addition}"
        perhaps = f", and perhaps by {len(answer.possible)} more" if answer.possible else ""
        return f"{subject} is affected by {_sources(direct, answer.subject.object)}{where}{perhaps}{addition}"
    if passed_on:
        sources = _sources(passed_on, answer.subject.object)
        take = "may take" if all(group.extent.doubt for group in passed_on) else take
        return f"{sources[:1].upper()}{sources[1:]} {take} effect on what is {behind} {subject}"
    return _unaffected(answer, subject)


def _unaffected(answer: ObjectDescription, subject: str) -> str:
    """Say that no policy is known to affect an object, and which ones may."""
    if answer.possible:
        policies = objects_phrase({possible.policy for possible in answer.possible}, "policy")
        return f"{policies} may affect {subject}: {_undecided_route(answer)}"
    affects = "is known to affect" if any(spot.policies for spot in answer.unseen) else "affects"
    if answer.influences.marks:
        return f"No policy that was read {affects} {subject}"
    if not answer.targeting.targeted_by and all(group.profile.route_settings for group in answer.in_force):
        return f"No policy {affects} {subject}: no policy kind in {answer.place} targets {plural(answer.subject.kind)}"
    return f"No policy {affects} {subject}"


def _undecided_route(answer: ObjectDescription) -> str:
    """Say of which route it is not known whether it is attached."""
    first = answer.possible[0]
    whose = "it" if first.route == answer.subject.object else str(first.route)
    return f"whether {whose} is attached to {node_phrase(first.parent)} is not known"


def _where(answer: ObjectDescription, groups: Iterable[InForce]) -> str:
    """`, on rule cart only`; empty where some policy is in force on every path."""
    positions = {position for group in groups for position in group.extent.positions}
    if len(positions) == len(answer.paths):
        return ""
    scopes = PathScopes(answer)
    if scopes.numbered(positions):
        return f", on {len(positions)} of its {len(answer.paths)} paths"
    return f", on {scopes.limits(positions, range(len(answer.paths)))}"


def _unattached(causes: Sequence[Unattached]) -> str:
    """Say why a route is attached to nothing: each cause with the nearest name."""
    phrases = [_cause(cause) for cause in told_causes(causes)]
    rest = [count(len(causes) - _MOST_CAUSES, "more reason")] if len(causes) > _MOST_CAUSES else []
    return f"it is attached to nothing: {listed([*phrases, *rest])}" if phrases else "it is attached to nothing"


def told_causes(causes: Sequence[Unattached]) -> Sequence[Unattached]:
    """Return the causes that the headline has room for."""
    return causes[:_MOST_CAUSES]


def _cause(cause: Unattached) -> str:
    """`Gateway infra/edge has no listener wbe [NoMatchingParent] (shop.yaml:12); did you mean web?`."""
    # What there is instead is of no interest where one of these must be meant.
    message = cause.message.partition("; ")[0] if cause.hint else cause.message
    reason = f" [{cause.reason}]" if cause.reason else ""
    origin = at_origin(cause.origin, " ({})")
    return f"{message}{reason}{origin}{f'; {cause.hint}' if cause.hint else ''}"


def _around(answer: ObjectDescription) -> list[str]:
    """List the parts about hostnames, parents and routes of an object; else what would affect it."""
    kind, number = answer.subject.object.group_kind, len(answer.policies)
    if not answer.requests.carries_traffic:
        return [f"{count(number, 'policy')} would take effect if it were"] if number else []
    if kind in ROUTES:
        return [*_hostnames(answer.requests.hostnames), *_of_route(answer)]
    if kind in LISTENER_HOLDERS:
        sections = () if answer.subject.section else PathScopes(answer).sections
        listeners = [_named([node.section for node in sections])] if sections else []
        return [
            *listeners,
            *_hostnames(answer.requests.hostnames),
            _attached_routes(answer),
        ]
    if answer.requests.routes:
        return [f"{count(answer.requests.routes, 'route')} attached"]
    if kind in PORT_HOLDERS or _is_led_to_by_nothing(answer):
        return _of_backend(answer)
    return []


def _attached_routes(answer: ObjectDescription) -> str:
    """`2 routes attached and perhaps 1 more`; `at least 2 routes attached` where a cluster hides routes."""
    undecided, number = answer.requests.undecided_routes, answer.requests.routes
    perhaps = f" and perhaps {len(undecided)} more" if undecided else ""
    if any(gap.kind == kind.kind for spot in answer.unseen for gap in spot.gaps for kind in ROUTES):
        return f"at least {count(number, 'route')} attached" if number else "no route is known to be attached"
    return f"{count(number, 'route')} attached{perhaps}"


def _is_led_to_by_nothing(answer: ObjectDescription) -> bool:
    """Whether nothing that was read leads to an object that policies could affect by way of something else."""
    obj = answer.subject.object
    has_no_parents = all(
        node.object == obj or node.object.group_kind == NAMESPACE for path in answer.paths for node in path
    )
    return bool(
        has_no_parents and answer.targeting.targeted_by and obj.namespace and not answer.mentions.referred_to_by
    )


def _of_route(answer: ObjectDescription) -> Iterator[str]:
    """`2 rules on listener https of Gateway infra/public`."""
    scopes = PathScopes(answer)
    rules = "" if answer.subject.section else count(len(scopes.sections), "rule")
    where = _listeners(scopes.listeners)
    parents = [obj for obj in scopes.routes if obj != answer.subject.object]
    few = len(parents) <= _MOST_CAUSES
    phrase = listed([str(parent) for parent in parents]) if few else count(len(parents), "route")
    through = f"through {phrase}" if parents else ""
    if where or through:
        yield " ".join(filter(None, (rules, f"on {where}" if where else "", through)))


def _of_backend(answer: ObjectDescription) -> list[str]:
    """`requests come through rule cart of HTTPRoute shop/storefront`."""
    nodes = dict.fromkeys(node for path in answer.paths for node in path)
    rules = [node for node in nodes if node.section and node.object.group_kind in ROUTES]
    if not rules:
        return ["nothing that was read leads to it"] if _is_led_to_by_nothing(answer) else []
    routes = {rule.object for rule in rules}
    names = [f"{section_words(rule)} of {rule.object}" for rule in rules]
    many = f"{len(rules)} rules of {count(len(routes), 'route')}"
    return [f"requests come through {listed(names) if len(rules) <= _MOST_CAUSES else many}"]


def _listeners(listeners: Iterable[NodeRef]) -> str:
    """`listeners http and https of Gateway infra/public`; of many, how many there are."""
    by_owner = grouped((listener.object, listener.section) for listener in listeners)
    if len(by_owner) > _MOST_CAUSES:
        return f"{sum(map(len, by_owner.values()))} listeners of {len(by_owner)} Gateways"
    return " and ".join(f"{_named(names)} of {owner}" for owner, names in by_owner.items())


def _named(names: Sequence[str]) -> str:
    """`listener a`, `listeners a and b`; of many, `7 listeners`."""
    if len(names) == 1:
        return f"listener {names[0]}"
    return f"listeners {listed(names)}" if len(names) <= _MOST_NAMED else f"{len(names)} listeners"


def _hostnames(hostnames: Sequence[str]) -> Iterator[str]:
    """`hostnames a.example.com and b.example.com`; of many the first ones."""
    if hostnames == ("*",):
        yield "any hostname"
    elif hostnames:
        yield f"{'hostname' if len(hostnames) == 1 else 'hostnames'} {listed(hostnames, _MOST_NAMED)}"


def _sources(groups: Iterable[InForce], subject: ObjectRef, noun: str = "", *, possible: int = 0) -> str:
    """`6 policies, 1 filter and the parameters of its Gateway`: the sources that have an effect on a subject.

    `1 or 2 policies`, `1 to 3 policies` where it is not known how these combine. Policies are called by a `noun` if it
    is given: `2 more`. Policies that are `possible` for other reasons are counted as well.
    """
    groups = tuple(groups)
    parts = (_number(groups, "policy", noun, possible), _number(groups, "filter"), _parameters(groups, subject))
    return listed([part for part in parts if part])


def _number(groups: Sequence[InForce], role: Role, noun: str = "", possible: int = 0) -> str:
    having_role = [group for group in groups if group.profile.role == role]
    every = {ref for group in having_role for ref in group.policies}
    if not every:
        return count(possible, role) if possible else ""
    # Where all of them are in doubt for the same reason, the sentence says so.
    decided = [group for group in having_role if not group.extent.doubt] or having_role
    certain = {ref for group in decided for ref in {*group.policies}.difference(group.undecided)}
    certain |= every if decided is having_role and all(group.extent.doubt for group in decided) else set()
    total, at_least = len(every) + possible, max(len(certain), 1) + possible
    counted = f"{total} {noun}" if noun else count(total, role)
    return counted if total == at_least else f"{at_least} {'or' if total == at_least + 1 else 'to'} {counted}"


def _parameters(groups: Sequence[InForce], subject: ObjectRef) -> str:
    """Name the parameters of a Gateway: one thing, whatever objects they are made of."""
    having_any = (group for group in groups if group.profile.role == "parameters" and group.policies)
    gateways = {node.object for group in having_any for node in group.extent.at}
    if not gateways:
        return ""
    if gateways == {subject}:
        return "its parameters"
    return f"the parameters of its {'Gateway' if len(gateways) == 1 else 'Gateways'}"
