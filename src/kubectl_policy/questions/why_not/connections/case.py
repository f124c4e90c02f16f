"""The connections that are asked about, and the sides on which network policies decide otherwise than wanted."""

from __future__ import annotations

from functools import cached_property
from typing import TYPE_CHECKING, Literal, TypeAlias

from msgspec import Struct
from msgspec.structs import replace

from kubectl_policy.errors import NotFoundError
from kubectl_policy.network.connection import is_to_itself, matches_peer, sides_of
from kubectl_policy.network.network import named_ports, ports_of
from kubectl_policy.network.policy import DIRECTIONS, PortRange
from kubectl_policy.network.ports import PortSpace
from kubectl_policy.questions.connections.connection import example_connections
from kubectl_policy.questions.connections.endpoints import end_of
from kubectl_policy.questions.why_not.connections.naming import NamedPods, named_pods

if TYPE_CHECKING:
    from kubectl_policy.analysis import Analysis
    from kubectl_policy.model import ObjectRef, Resource
    from kubectl_policy.network.connection import Connection, Endpoint, SideDecision
    from kubectl_policy.network.evaluation import Step
    from kubectl_policy.network.policy import Direction, PolicyRules, Protocol, Rule
    from kubectl_policy.questions.connections.connection import PortQuery
    from kubectl_policy.questions.connections.endpoints import NamedEnd

Wanted: TypeAlias = Literal["allowed", "denied"]
Ports: TypeAlias = "tuple[tuple[Protocol, int], ...]"


class Side(Struct, frozen=True, dict=True, kw_only=True):
    """One end of connections, whose network policies decide otherwise than wanted."""

    analysis: Analysis
    wanted: Wanted
    direction: Direction
    # The end whose network policies decide, and the one at the other end.
    subject: NamedEnd
    peer: NamedEnd
    # One example of all connections that no rule tells apart, with the decision about it.
    decided: tuple[tuple[Connection, SideDecision], ...]

    @property
    def connections(self) -> tuple[Connection, ...]:
        """The examples of connections."""
        return tuple(connection for connection, _ in self.decided)

    @cached_property
    def peers(self) -> tuple[Endpoint, ...]:
        """The other ends of the connections."""
        is_egress = self.direction == "egress"
        ends = (connection.destination if is_egress else connection.source for connection in self.connections)
        return tuple(dict.fromkeys(ends))

    @cached_property
    def steps(self) -> tuple[Step, ...]:
        """The steps that decide, each policy and rule once."""
        steps = (step for _, decision in self.decided for step in decision.deciding)
        return tuple({(step.policy.ref, step.rule): step for step in steps}.values())

    @cached_property
    def ports(self) -> Ports:
        """The protocols and ports of the connections."""
        return tuple(dict.fromkeys((connection.protocol, connection.port) for connection in self.connections))

    @cached_property
    def subject_pods(self) -> NamedPods | None:
        """The Pods of the end whose policies decide, as rules name them; None if they have no labels in common."""
        return named_pods(self.analysis, self.subject)

    @cached_property
    def peer_pods(self) -> NamedPods | None:
        """The Pods of the other end, as rules name them; None for an address, and without labels in common."""
        return named_pods(self.analysis, self.peer)

    @cached_property
    def policies(self) -> tuple[PolicyRules, ...]:
        """The policies that certainly select the subjects of all connections, in the order in which they are asked."""
        chains = [decision.chain.policies for _, decision in self.decided]
        certain = [{selecting.policy.ref for selecting in chain if selecting.is_certain} for chain in chains]
        first = (selecting.policy for selecting in chains[0])
        return tuple(policy for policy in first if all(policy.ref in refs for refs in certain))

    def read(self, ref: ObjectRef) -> tuple[Resource, ...]:
        """Return the object of a reference if it was read."""
        return tuple(filter(None, [self.analysis.index.get(ref)]))

    def matches(self, policy: PolicyRules, rule: Rule) -> bool:
        """Whether a rule certainly matches all connections."""
        return self.matches_peers(policy, rule) and not self.unmatched_ports(rule)

    def matches_peers(self, policy: PolicyRules, rule: Rule) -> bool:
        """Whether a rule certainly matches the peers of all connections, whatever its ports."""
        return all(matches_peer(self.analysis.network, policy, rule, end) for end in self.peers)

    def positions_of_peers(self, policy: PolicyRules, rule: Rule) -> tuple[int, ...]:
        """Return the positions of the entries of a rule that may match the peer of any of the connections."""
        matching = self.analysis.network.matching
        return tuple(
            int(str(entry.field.steps[-1]))
            for entry in rule.peers or ()
            if any(
                matching.peer_matches_address(entry, end.address) is not False
                if end.address
                else matching.pods_of_peer(policy, entry).has(end.position or 0) is not False
                for end in self.peers
            )
        )

    def unmatched_ports(self, rule: Rule) -> Ports:
        """Return the ports of the connections that a rule does not certainly match, whatever its peers."""
        network = self.analysis.network
        unmatched: dict[tuple[Protocol, int], None] = {}
        for connection in self.connections:
            position = connection.destination.position
            numbers = named_ports(self._space, None if position is None else network.workloads.all[position])
            certain, _ = ports_of(self._space, rule, numbers)
            if not certain & self._space.of_port(connection.protocol, connection.port):
                unmatched[connection.protocol, connection.port] = None
        return tuple(unmatched)

    @cached_property
    def _space(self) -> PortSpace:
        asked = (PortRange(protocol, port, port) for protocol, port in self.ports)
        return PortSpace([*asked, *self.analysis.network.ranges])


class ConnectionCase(Struct, frozen=True, dict=True, kw_only=True):
    """Connections between two ends that are to be allowed, or denied."""

    analysis: Analysis
    source: NamedEnd
    destination: NamedEnd
    query: PortQuery | None
    wanted: Wanted

    def in_state(self, analysis: Analysis) -> ConnectionCase | None:
        """Return the case in another state of the world; None if an end has no workloads there."""
        try:
            ends = [end_of(analysis, end.object) if end.object else end for end in (self.source, self.destination)]
        except NotFoundError:
            return None
        return replace(self, analysis=analysis, source=ends[0], destination=ends[1])

    @cached_property
    def decided(self) -> tuple[tuple[Connection, tuple[SideDecision, ...]], ...]:
        """One example of all connections that no rule tells apart, with the decisions; none of a Pod with itself."""
        network = self.analysis.network
        return tuple(
            (connection, sides_of(network, connection))
            for connection in example_connections(self.analysis, self.source, self.destination, self.query)
            if not is_to_itself(network, connection)
        )

    @property
    def is_fulfilled(self) -> bool:
        """Whether all connections are as wanted, and that is certain."""
        return bool(self.decided) and all(self._is_fulfilled(sides) for _, sides in self.decided)

    def _is_fulfilled(self, sides: tuple[SideDecision, ...]) -> bool:
        allowed = [side.allowed for side in sides]
        return all(allowed) if self.wanted == "allowed" else False in allowed

    @cached_property
    def sides(self) -> tuple[Side, ...]:
        """The sides on which an edit may do what is wanted: egress first.

        A connection is allowed only if both sides allow it; to deny it, one side is enough.
        """
        open_cases = [(connection, sides) for connection, sides in self.decided if not self._is_fulfilled(sides)]
        by_direction: dict[Direction, list[tuple[Connection, SideDecision]]] = {}
        for connection, sides in open_cases:
            for side in sides:
                if self.wanted == "denied" or side.allowed is False:
                    by_direction.setdefault(side.direction, []).append((connection, side))
        return tuple(
            self._side(direction, by_direction[direction])
            for direction in reversed(DIRECTIONS)
            if direction in by_direction
        )

    def _side(self, direction: Direction, decided: list[tuple[Connection, SideDecision]]) -> Side:
        subject, peer = (self.source, self.destination) if direction == "egress" else (self.destination, self.source)
        return Side(
            analysis=self.analysis,
            wanted=self.wanted,
            direction=direction,
            subject=subject,
            peer=peer,
            decided=tuple(decided),
        )
