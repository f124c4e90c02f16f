"""Description of a workload: what its network policies let come in and go out, and by which rules, in their order."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Final

from msgspec import Meta, Struct
from msgspec.structs import replace

from kubectl_policy.model import Diagnostic, ObjectRef, Origin  # noqa: TC001 (answers are encoded by these types)
from kubectl_policy.network.network import own_ports
from kubectl_policy.network.policy import DIRECTIONS, Direction, NamedPort
from kubectl_policy.network.ports import PortSpace, declared_ranges
from kubectl_policy.network.reach import Reach, joined
from kubectl_policy.questions.blind_spots.network import unevaluated_policies, unread_for_network
from kubectl_policy.questions.blind_spots.unknowns import BLIND_SPOTS, Answer, BlindSpot
from kubectl_policy.questions.connections.rule_views import (
    PolicyView,
    RuleView,
    addresses_phrase,
    policy_view,
    ranges_phrase,
    rule_view,
    with_lines,
)
from kubectl_policy.questions.connections.workload_sets import WorkloadSet, workload_set
from kubectl_policy.topology.workloads.pod_sets import positions_in
from kubectl_policy.topology.workloads.services import services_of

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from kubectl_policy.analysis import Analysis
    from kubectl_policy.network.evaluation import Chain, Decision
    from kubectl_policy.network.network import Network
    from kubectl_policy.network.reach import Interval, SubjectClass
    from kubectl_policy.questions.connections.rule_views import Locate

_OPENS: Final = (
    "The connections that are allowed, or may be, by the rules of this side, with the verdict of the other side;"
    " without the connections of a Pod with itself."
)


class OpenPorts(Struct, frozen=True, kw_only=True):
    """Ports that one rule allows with some peers, or that no policy decides about."""

    rule: Annotated[RuleView | None, Meta(description="The rule that allows them; null if no policy decides.")]
    certain: Annotated[bool, Meta(description="Whether they are certainly allowed on this side.")]
    ports: Annotated[
        str,
        Meta(description="The ports that both sides allow, for people: `TCP 80 and UDP 53`, `no port`."),
    ]
    denied: Annotated[
        str,
        Meta(description="The ports that the rule allows, and the policies of the other workloads deny; may be empty."),
    ]
    workloads: Annotated[
        WorkloadSet | None, Meta(description="The workloads at the other end; null for addresses outside.")
    ]
    addresses: Annotated[
        tuple[str, ...], Meta(description="Ranges of addresses outside of the cluster; empty for workloads.")
    ]


class RuleInOrder(Struct, frozen=True, kw_only=True):
    """A rule of a policy that selects the workload, in the order of evaluation."""

    rule: Annotated[RuleView, "inline"]
    selects: Annotated[bool | None, Meta(description="Whether the policy selects the workload; null if unknown.")]
    matches: Annotated[
        WorkloadSet | None, Meta(description="The workloads that the rule matches as peers; null for an isolation.")
    ]
    decides: Annotated[
        bool, Meta(description="Whether the rule decides, or may decide, about any connection of the workload.")
    ]


class DirectionDescription(Struct, frozen=True, kw_only=True):
    """Connections of some workloads in one direction."""

    about: Annotated[WorkloadSet, Meta(description="The workloads, which the same policies select.")]
    direction: Annotated[Direction, Meta(description="Egress or ingress.")]
    isolated: Annotated[
        bool | None, Meta(description="Whether a NetworkPolicy isolates the workloads; null if unknown.")
    ]
    isolated_by: Annotated[tuple[PolicyView, ...], Meta(description="The NetworkPolicies that isolate, or may.")]
    reached: Annotated[
        int, Meta(description="The number of other workloads with which some connection is allowed by both sides.")
    ]
    possibly_reached: Annotated[
        int, Meta(description="The number of further workloads with which a connection may be allowed.")
    ]
    total: Annotated[int, Meta(description="The number of all other workloads.")]
    opens: Annotated[tuple[OpenPorts, ...], Meta(description=_OPENS)]
    rules: Annotated[tuple[RuleInOrder, ...], Meta(description="The rules in the order of evaluation.")]


class WorkloadDescription(Answer, frozen=True, kw_only=True):
    """The answer about the connections of a workload."""

    subject: Annotated[ObjectRef, Meta(description="The workload.")]
    origin: Annotated[Origin | None, Meta(description="The location of the workload; null if it was not read.")]
    about: Annotated[WorkloadSet, Meta(description="The Pods that are meant, hostNetwork Pods excepted.")]
    host_network: Annotated[bool, Meta(description="Whether the Pods use the network of their nodes.")]
    services: Annotated[tuple[ObjectRef, ...], Meta(description="The Services in front of the Pods.")]
    directions: Annotated[
        tuple[DirectionDescription, ...],
        Meta(description="Egress and ingress; several times where different policies select some of the Pods."),
    ]
    unseen: Annotated[tuple[BlindSpot, ...], Meta(description=BLIND_SPOTS)]
    problems: Annotated[
        tuple[Diagnostic, ...], Meta(description="The problems with reading the input that concern the answer.")
    ]

    @property
    def policies(self) -> Annotated[tuple[ObjectRef, ...], Meta()]:
        """The network policies that select the workload, or may, in the order of evaluation."""
        rules = (entry.rule for part in self.directions for entry in part.rules)
        return tuple(dict.fromkeys(rule.policy.policy for rule in rules))


def describe_workload(analysis: Analysis, subject: ObjectRef, members: int) -> WorkloadDescription:
    """Describe the connections of the Pods that a workload is, or makes."""
    network, workloads = analysis.network, analysis.workloads
    resource = analysis.index.get(subject)
    reach = Reach(network, _space(network, members))
    directions = tuple(
        _direction(reach, part, direction) for direction in DIRECTIONS for part in reach.classes_of(members, direction)
    )
    first = next(positions_in(members))
    return WorkloadDescription(
        subject=subject,
        origin=resource.origin if resource else None,
        about=workload_set(workloads, members),
        host_network=bool(members & workloads.on_host_network),
        services=tuple(service.ref for service in services_of(workloads, first)),
        directions=directions,
        place=analysis.index.source,
        unseen=(
            *unread_for_network(analysis, frozenset({workloads.all[first].ref.namespace})),
            *unevaluated_policies(analysis, dict.fromkeys(DIRECTIONS, members), outside=True),
        ),
        problems=analysis.problems_of(subject),
    )


def _space(network: Network, members: int) -> PortSpace:
    """Return the ports that matter for some workloads.

    Names of ports are those of the workloads themselves, unless their own rules name ports of others.
    """
    positions = [*positions_in(members)]
    rules = (
        rule
        for position in positions
        for selecting in network.chain(position, "egress").policies
        for rule in selecting.policy.egress
    )
    if any(isinstance(port, NamedPort) for rule in rules for port in rule.ports or ()):
        return network.space
    declared = {port for position in positions for port in own_ports(network.workloads.all[position])}
    return PortSpace({*declared_ranges(network.policies), *declared})


def _direction(reach: Reach, subject: SubjectClass, direction: Direction) -> DirectionDescription:
    network = reach.network
    is_single = not subject.members & (subject.members - 1)
    peers = reach.pods & ~(subject.members if is_single else 0)
    opened, openings, (certainly, possibly) = _opened(reach, subject, peers)
    isolating = [selecting for selecting in subject.chain.network if direction in selecting.policy.isolates]
    is_isolated = any(selecting.is_certain for selecting in isolating)
    return DirectionDescription(
        about=workload_set(network.workloads, subject.members),
        direction=direction,
        isolated=True if is_isolated else None if isolating else False,
        isolated_by=tuple(policy_view(network.index, selecting.policy) for selecting in isolating),
        reached=certainly.bit_count(),
        possibly_reached=(possibly & ~certainly).bit_count(),
        total=peers.bit_count(),
        opens=opened,
        rules=tuple(_rules(reach, subject.chain, openings)),
    )


class _Opening(Struct, frozen=True):
    """Ports that a rule, by its position in the order of evaluation, opens; the lack of any comes last."""

    position: int
    ports: int
    certain: bool


class _Openings:
    """What the rules of one side open, with the workloads and addresses to which they do."""

    def __init__(self, chain: Chain) -> None:
        self.rules = [
            (selecting.policy, rule)
            for selecting in chain.policies
            for rule in (*selecting.policy.rules(chain.direction), None)
        ]
        self._positions = {(policy.ref, rule and rule.field): at for at, (policy, rule) in enumerate(self.rules)}
        self.members: dict[_Opening, int] = {}
        self.intervals: dict[_Opening, list[Interval]] = {}
        # The positions of rules that decide about something.
        self.deciding: set[int] = set()

    def view(self, reach: Reach, position: int) -> RuleView | None:
        """Show the rule at a position; None after the last one, where no policy decides."""
        if position == len(self.rules):
            return None
        policy, rule = self.rules[position]
        return rule_view(reach.network.index, policy, rule, "Allow")

    def add(self, decision: Decision, members: int, interval: Interval | None = None) -> None:
        """Add a decision about workloads, or about addresses."""
        opened = [(len(self.rules), decision.by_default)]
        for step in decision.steps:
            position = self._positions[step.policy.ref, step.rule and step.rule.field]
            self.deciding.add(position)
            if step.action == "Allow":
                opened.append((position, step.possible))
        for position, ports in opened:
            for certain, part in ((True, ports & decision.allowed), (False, ports & decision.undecided)):
                opening = _Opening(position, part, certain)
                if part and interval:
                    self.intervals.setdefault(opening, []).append(interval)
                elif part and members:
                    self.members[opening] = self.members.get(opening, 0) | members


def _opened(
    reach: Reach, subject: SubjectClass, peers: int
) -> tuple[tuple[OpenPorts, ...], _Openings, tuple[int, int]]:
    """Return what the policies of a workload open, and the other workloads that certainly, and possibly, benefit."""
    openings = _Openings(subject.chain)
    for members, decision in reach.decisions(subject):
        openings.add(decision, members & peers)
    for interval, decision in reach.address_decisions(subject):
        openings.add(decision, 0, interval)
    other: Direction = "ingress" if subject.chain.direction == "egress" else "egress"
    concerned = 0
    for members in openings.members.values():
        concerned |= members
    others = [
        (part.members, reach.decision_about(part, _first(subject))) for part in reach.classes_of(concerned, other)
    ]
    entries: list[tuple[_Opening, OpenPorts]] = []
    certainly = possibly = 0
    for opening, members in openings.members.items():
        for agreed, willing in _agreed(opening, members, others).items():
            possibly |= willing if agreed.ports else 0
            certainly |= willing if agreed.ports and agreed.certain else 0
            entries.append((opening, _open_ports(reach, openings, opening, agreed, willing)))
    for opening, intervals in openings.intervals.items():
        entries.append((opening, _open_addresses(reach, openings, opening, intervals)))
    entries.sort(key=lambda entry: (entry[0].position, not entry[0].certain))
    return tuple(entry for _, entry in entries), openings, (certainly, possibly)


def _agreed(opening: _Opening, members: int, others: Sequence[tuple[int, Decision]]) -> dict[_Opening, int]:
    """Return the workloads by the ports that their own policies allow of those that a rule opens; none: no port."""
    agreed: dict[_Opening, int] = {}
    for part, decision in others:
        willing = part & members
        certain, possible = opening.ports & decision.allowed, opening.ports & decision.undecided
        choices = [(certain, opening.certain), (possible, False)] if certain or possible else [(0, True)]
        for ports, is_certain in choices if willing else ():
            if ports or len(choices) == 1:
                key = _Opening(opening.position, ports, is_certain)
                agreed[key] = agreed.get(key, 0) | willing
    return agreed


def _first(subject: SubjectClass) -> int:
    return next(positions_in(subject.members))


def _open_ports(reach: Reach, openings: _Openings, opening: _Opening, agreed: _Opening, members: int) -> OpenPorts:
    """Show what a rule opens to workloads, and their own policies allow."""
    return OpenPorts(
        rule=openings.view(reach, opening.position),
        certain=agreed.certain,
        ports=ranges_phrase(reach.space.ranges_in(agreed.ports)),
        denied=ranges_phrase(reach.space.ranges_in(opening.ports & ~agreed.ports))
        if opening.ports != agreed.ports
        else "",
        workloads=workload_set(reach.network.workloads, members),
        addresses=(),
    )


def _open_addresses(reach: Reach, openings: _Openings, opening: _Opening, intervals: Sequence[Interval]) -> OpenPorts:
    """Show what a rule opens to addresses."""
    return OpenPorts(
        rule=openings.view(reach, opening.position),
        certain=opening.certain,
        ports=ranges_phrase(reach.space.ranges_in(opening.ports)),
        denied="",
        workloads=None,
        addresses=addresses_phrase(joined(intervals)),
    )


def _rules(reach: Reach, chain: Chain, openings: _Openings) -> Iterator[RuleInOrder]:
    network = reach.network
    selects = {selecting.policy.ref: True if selecting.is_certain else None for selecting in chain.policies}
    for position, (policy, rule) in enumerate(openings.rules):
        is_isolation = rule is None and policy.tier == "NetworkPolicy"
        if rule is None and not is_isolation:
            continue
        matched = network.matching.pods(policy, rule).possible & reach.pods if rule else 0
        yield RuleInOrder(
            rule=rule_view(network.index, policy, rule, rule.action if rule else "Deny"),
            selects=selects[policy.ref],
            matches=workload_set(network.workloads, matched) if rule else None,
            decides=position in openings.deciding,
        )


def workload_with_lines(answer: WorkloadDescription, locate: Locate) -> WorkloadDescription:
    """Return the answer with the lines of rules instead of those of their policies."""

    def located(view: RuleView | None) -> RuleView | None:
        return with_lines((view,), locate)[0] if view else None

    directions = (
        replace(
            part,
            opens=tuple(replace(opened, rule=located(opened.rule)) for opened in part.opens),
            rules=tuple(replace(entry, rule=with_lines((entry.rule,), locate)[0]) for entry in part.rules),
        )
        for part in answer.directions
    )
    return replace(answer, directions=tuple(directions))
