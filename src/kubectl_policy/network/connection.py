"""One connection: whether the network policies on both of its sides allow it, and by which tier, policy and rule."""

from __future__ import annotations

from typing import TYPE_CHECKING

from msgspec import Struct
from msgspec.structs import replace

from kubectl_policy.network.evaluation import Allowed, Chain, Decision, Step, decide
from kubectl_policy.network.network import named_ports, ports_of

if TYPE_CHECKING:
    from collections.abc import Iterator
    from ipaddress import IPv4Address, IPv6Address

    from kubectl_policy.network.evaluation import Match, Ports
    from kubectl_policy.network.network import Network
    from kubectl_policy.network.policy import Direction, PolicyRules, Protocol, Rule, Tier
    from kubectl_policy.network.ports import PortSpace
    from kubectl_policy.topology.workloads import Workload


class Endpoint(Struct, frozen=True):
    """One end of a connection: the workload at a position, or an address outside of the cluster."""

    position: int | None = None
    address: IPv4Address | IPv6Address | None = None


class Connection(Struct, frozen=True, kw_only=True):
    """A connection to one port."""

    source: Endpoint
    destination: Endpoint
    protocol: Protocol
    port: int


class SideDecision(Struct, frozen=True, kw_only=True):
    """What the policies that select one end of a connection decide about it."""

    direction: Direction
    chain: Chain
    decision: Decision

    @property
    def allowed(self) -> bool | None:
        """Whether the connection is allowed on this side; None if that is not known."""
        return None if self.decision.undecided else bool(self.decision.may_allow)

    @property
    def deciding(self) -> tuple[Step, ...]:
        """The steps that decide; those that may decide, if it is not known which one does."""
        return tuple(step for step in self.decision.steps if step.action != "Pass")

    @property
    def tier(self) -> Tier | None:
        """The tier that decides; None if it is not known which one does."""
        tiers: set[Tier] = {step.policy.tier for step in self.deciding}
        if self.decision.by_default:
            tiers.add("Default")
        return tiers.pop() if len(tiers) == 1 else None

    @property
    def passing(self) -> tuple[Step, ...]:
        """The steps of the Admin tier that send the connection on, or may do so."""
        return tuple(step for step in self.decision.steps if step.action == "Pass" and step.policy.tier == "Admin")


def sides_of(network: Network, connection: Connection) -> tuple[SideDecision, ...]:
    """Return the decisions about a connection: egress at its source, ingress at its destination.

    An address outside of the cluster has no policies.
    """
    return tuple(
        SideDecision(direction=chain.direction, chain=chain, decision=decision_of(network, connection, chain, peer))
        for chain, peer in _chains(network, connection.source, connection.destination)
    )


def ports_between(network: Network, space: PortSpace, source: Endpoint, destination: Endpoint) -> Allowed:
    """Return the ports that both sides of a connection allow."""
    allowed = Allowed(space.everything, 0)
    for chain, peer in _chains(network, source, destination):
        decision = decide(chain, matching_ports(network, space, destination, peer), space.everything)
        allowed &= Allowed(decision.allowed, decision.undecided)
    return allowed


def is_to_itself(network: Network, connection: Connection) -> bool:
    """Whether a connection is that of a Pod with itself, which no policy can deny.

    "Pods cannot currently block localhost access", nor that of a Pod to itself by its address.
    """
    position = connection.source.position
    if position is None or connection.source != connection.destination:
        return False
    return network.workloads.all[position].is_pod


def _chains(network: Network, source: Endpoint, destination: Endpoint) -> Iterator[tuple[Chain, Endpoint]]:
    """Yield the policies at both ends of a connection, each with the end that is their peer."""
    ends: tuple[tuple[Direction, Endpoint, Endpoint], ...] = (
        ("egress", source, destination),
        ("ingress", destination, source),
    )
    for direction, subject, peer in ends:
        if subject.position is not None:
            workload = network.workloads.all[subject.position]
            if peer.position == subject.position and workload.is_pod:
                # "A Pod cannot block access to itself"; further Pods of one controller are no such exception.
                yield Chain(direction=direction, admin=(), network=(), baseline=()), peer
            else:
                chain = network.chain(subject.position, direction)
                yield replace(chain, is_own_node=_is_own_node(network, workload, peer)), peer


def decision_of(network: Network, connection: Connection, chain: Chain, peer: Endpoint) -> Decision:
    """Decide about a connection by some policies at one of its ends; `peer` is the other end."""
    space = network.space
    port = space.of_port(connection.protocol, connection.port)
    return decide(chain, matching_ports(network, space, connection.destination, peer), port)


def matching_ports(network: Network, space: PortSpace, destination: Endpoint, peer: Endpoint) -> Match:
    """Return a function that gives the ports of the destination that a rule matches for a peer."""
    position = destination.position
    numbers = named_ports(space, None if position is None else network.workloads.all[position])

    def match(policy: PolicyRules, rule: Rule) -> Ports:
        is_peer = matches_peer(network, policy, rule, peer)
        if is_peer is False:
            return 0, 0
        certain, possible = ports_of(space, rule, numbers)
        return (certain if is_peer else 0), possible

    return match


def matches_peer(network: Network, policy: PolicyRules, rule: Rule, peer: Endpoint) -> bool | None:
    """Whether a rule matches one end of a connection; None if that is not known."""
    if peer.position is not None:
        return network.matching.pods(policy, rule).has(peer.position)
    return network.matching.matches_address(rule, peer.address) if peer.address else None


def _is_own_node(network: Network, workload: Workload, peer: Endpoint) -> bool | None:
    """Whether of a workload and its peer, one is the node that the other runs on; None if that is not known.

    What is on the network of a node stands for the node.
    """
    nodes = network.matching.nodes
    if peer.position is None:
        peer_nodes: frozenset[str] = nodes.by_address.get(peer.address, frozenset()) if peer.address else frozenset()
        if not peer_nodes:
            return False
    else:
        peer_workload = network.workloads.all[peer.position]
        if not (peer_workload.is_on_host_network or workload.is_on_host_network):
            return False
        peer_nodes = nodes.of(peer_workload)
    own_nodes = nodes.of(workload)
    if len(own_nodes) == 1 and own_nodes == peer_nodes:
        return True
    return None if not own_nodes or not peer_nodes or own_nodes & peer_nodes else False
