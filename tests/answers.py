"""Answers of an analysis as values that can be compared: to describe, get and blast-radius, fact by fact."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, TypeAlias

from msgspec import Struct

from kubectl_policy import plain
from kubectl_policy.attachment import MEANINGS
from kubectl_policy.model import GroupKind, NodeRef, ObjectRef
from kubectl_policy.model.kind_roles import GATEWAY_API, ROUTES
from kubectl_policy.model.unknown import is_unknown
from kubectl_policy.questions.blast_radius import blast_radius
from kubectl_policy.questions.describe.objects import describe
from kubectl_policy.questions.describe.policies import describe_policy
from kubectl_policy.questions.object_rows import RouteRow, object_row
from kubectl_policy.questions.policy_rows import policy_row

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping

    from kubectl_policy import Analysis
    from kubectl_policy.attachment import Attachment
    from kubectl_policy.model import Diagnostic
    from kubectl_policy.model.index import Index
    from kubectl_policy.questions.blind_spots.unknowns import BlindSpot
    from kubectl_policy.resolution.enforcement import Enforcement

DESCRIBED: frozenset[GroupKind] = frozenset({*ROUTES, GroupKind(GATEWAY_API, "Gateway"), GroupKind("", "Service")})


class Question(Struct, frozen=True, order=True):
    """A command and the object that it is asked about."""

    command: str
    subject: ObjectRef

    def __str__(self) -> str:
        """Write the question as people ask it."""
        return f"{self.command} {self.subject}"


class Fact(Struct, frozen=True, order=True):
    """One statement of an answer, and the objects that it is about beside the subject."""

    text: str
    refs: tuple[ObjectRef, ...] = ()


class Answer(Struct, frozen=True):
    """The facts of an answer, and the doubts with which they are stated; an answer without doubts is certain."""

    facts: frozenset[Fact]
    doubts: tuple[str, ...]

    @property
    def is_certain(self) -> bool:
        """Whether nothing is said to be unknown."""
        return not self.doubts


Answers: TypeAlias = "Mapping[Question, Answer]"


def answers(analysis: Analysis, ports_known_by: Index) -> Answers:
    """Return what an analysis answers about each object that traffic or policies go through.

    Paths end before the ports of Services that one of two analyses does not have: `ports_known_by` is its index.
    """
    every: dict[Question, Answer] = {}
    for resource in analysis.snapshot.resources:
        ref = resource.ref
        if is_unknown(ref.name) or is_unknown(ref.namespace):
            continue
        if ref in analysis.attachments:
            every[Question("describe", ref)] = _described_policy(analysis, ref)
            every[Question("get", ref)] = _policy_in_list(analysis, ref)
            every[Question("blast-radius", ref)] = _blast_radius(analysis, ref)
        elif ref.group_kind in DESCRIBED:
            every[Question("describe", ref)] = _described(analysis, ref, ports_known_by)
        if ref.group_kind in ROUTES:
            every[Question("get", ref)] = _route_in_list(analysis, ref)
    return every


def _answer(
    facts: Iterable[Fact],
    unseen: Iterable[BlindSpot],
    problems: Iterable[Diagnostic] = (),
    unknown: Iterable[object] = (),
) -> Answer:
    doubts = [f"{blind_spot.what}: {blind_spot.reason}" for blind_spot in unseen]
    # What is unknown about a field is a problem of its object.
    doubts += [problem.message for problem in problems if "is unknown" in problem.message]
    doubts += [f"unknown: {subject}" for subject in unknown]
    return Answer(frozenset(facts), tuple(doubts))


def _described(analysis: Analysis, ref: ObjectRef, ports_known_by: Index) -> Answer:
    answer = describe(analysis, NodeRef(ref))
    facts = [Fact(f"{policy} affects it", (policy,)) for policy in answer.policies]
    if ref.group_kind in ROUTES:
        facts += [Fact(f"takes requests for {hostname}") for hostname in answer.requests.hostnames]
        facts.append(Fact(f"carries traffic: {answer.requests.carries_traffic}"))
    for path in answer.paths:
        shown = [node for node in path if not node.section or ports_known_by.get(node.object)]
        for effective in analysis.resolver.effective(tuple(shown)):
            spec = json.dumps(plain(effective.resolution.spec), sort_keys=True)
            way = " ▸ ".join(map(str, shown))
            sources = tuple(sorted(effective.resolution.contributions_of))
            facts.append(Fact(f"{way}: {effective.resolution.kind} {spec}", sources))
    return _answer(facts, answer.unseen, answer.problems)


def _described_policy(analysis: Analysis, policy: ObjectRef) -> Answer:
    answer = describe_policy(analysis, policy)
    facts = [
        _enforcement(answer.enforcement),
        *_nodes("affects", answer.affected),
        *(Fact(f"{superseding} supersedes it", (superseding,)) for superseding in answer.enforcement.by),
        *_targets(analysis, policy),
    ]
    return _answer(facts, answer.unseen, answer.problems, _unknown_of_policy(answer.enforcement, answer.targets))


def _policy_in_list(analysis: Analysis, policy: ObjectRef) -> Answer:
    resource = analysis.index.get(policy)
    assert resource is not None
    row = policy_row(analysis, resource)
    facts = [_enforcement(row.enforcement), *_nodes("affects", row.affected or ()), *_targets(analysis, policy)]
    return _answer(facts, row.unseen, unknown=_unknown_of_policy(row.enforcement, row.targets))


def _route_in_list(analysis: Analysis, route: ObjectRef) -> Answer:
    resource = analysis.index.get(route)
    assert resource is not None
    row = object_row(analysis, "routes", resource)
    assert isinstance(row, RouteRow)
    facts = [Fact(f"{policy} affects it", (policy,)) for policy in row.listed.policies]
    facts += [Fact(f"has hostname {hostname}") for hostname in row.hostnames]
    for parent in row.parents:
        listeners = ", ".join(map(str, parent.listeners))
        facts.append(Fact(f"{parent.state} at {parent.object} ({listeners})", (parent.object,)))
    unknown = [parent.object for parent in row.parents if parent.state == "unknown"]
    return _answer(facts, row.unseen, unknown=[*unknown, *row.listed.undecided_policies])


def _blast_radius(analysis: Analysis, policy: ObjectRef) -> Answer:
    answer = blast_radius(analysis, policy)
    facts = [*_nodes("affects", answer.affected)]
    facts += [Fact(f"{behind.route} is behind it", (behind.route,)) for behind in answer.behind]
    routes = {*(node.object for node in answer.affected), *(behind.route for behind in answer.behind)}
    facts += [Fact(f"takes requests for {hostname}", tuple(sorted(routes))) for hostname in answer.hostnames]
    facts += [
        Fact(f"{changed.node}: {change.sort} {change.field}", (changed.node.object,))
        for effect in answer.difference.effects
        for changed in effect.objects
        for change in effect.fields
    ]
    facts += [
        Fact(f"{change.policy}: {change.before}, then {change.after}", _met_by(analysis.enforcement(change.policy)))
        for change in answer.difference.enforcement
        if change.policy != policy
    ]
    return _answer(facts, answer.unseen)


def _enforcement(enforcement: Enforcement) -> Fact:
    return Fact(f"is {enforcement.state}", _met_by(enforcement))


def _met_by(enforcement: Enforcement) -> tuple[ObjectRef, ...]:
    """Return a policy, its rivals and the routes on its paths: on all of them its enforcement depends."""
    paths = (outcome.path for outcome in enforcement.outcomes)
    routes = {node.object for path in paths for node in path if node.object.group_kind in ROUTES}
    return (enforcement.policy, *enforcement.by, *sorted(routes))


def _unknown_of_policy(enforcement: Enforcement, targets: Iterable[Attachment]) -> Iterator[object]:
    """Yield the targets of a policy, or the policy, of which an answer says that their state is unknown."""
    if enforcement.state == "Unknown":
        yield enforcement.policy
    yield from (attachment.target for attachment in targets if not MEANINGS[attachment.state].known)


def _nodes(verb: str, nodes: Iterable[NodeRef]) -> Iterator[Fact]:
    return (Fact(f"{verb} {node}", (node.object,)) for node in nodes)


def _targets(analysis: Analysis, policy: ObjectRef) -> Iterator[Fact]:
    for attachment in analysis.attachments[policy]:
        refs = (attachment.target.object,) if attachment.target else ()
        yield Fact(f"{attachment.declared.field} {attachment.target}: {attachment.state}", refs)
