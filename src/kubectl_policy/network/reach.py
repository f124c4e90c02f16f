"""Ports that the policies of many workloads allow at once: workloads and peers in classes that no rule tells apart."""

from __future__ import annotations

from functools import cached_property
from itertools import chain as chained
from itertools import pairwise
from typing import TYPE_CHECKING, Final, TypeAlias

from msgspec import Struct

from kubectl_policy.lazy import cached_method
from kubectl_policy.network.evaluation import Allowed, Chain, Selecting, chain_of, decide
from kubectl_policy.network.network import named_ports, ports_of
from kubectl_policy.network.policy import NamedPort
from kubectl_policy.topology.workloads.pod_sets import positions_in
from kubectl_policy.topology.workloads.workload import from_number

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator
    from ipaddress import IPv4Address, IPv6Address

    from kubectl_policy.network.evaluation import Decision, Match, Ports
    from kubectl_policy.network.network import Network
    from kubectl_policy.network.policy import Direction, PolicyRules, Rule
    from kubectl_policy.network.ports import PortSpace

_LENGTHS: Final = {4: 32, 6: 128}
# The version of IP with a number in it, or with the first and the last number of a range.
Point: TypeAlias = "tuple[int, int]"
Interval: TypeAlias = "tuple[int, int, int]"


class PeerClass(Struct, frozen=True, gc=False):
    """Workloads as peers, and the ports that are allowed to them, or from them."""

    members: int
    ports: Allowed


class AddressRange(Struct, frozen=True, order=True):
    """Addresses from the first to the last one."""

    first: IPv4Address | IPv6Address
    last: IPv4Address | IPv6Address


class AddressClass(Struct, frozen=True):
    """Addresses outside of the cluster as peers, and the ports that are allowed to them, or from them."""

    # Version, first and last number of each range, in order.
    intervals: tuple[Interval, ...]
    ports: Allowed


class SubjectClass(Struct, frozen=True, eq=False):
    """Workloads that the same policies select, and whose ports have the same names as far as rules use these."""

    members: int
    chain: Chain


class Reach:
    """The connections that a network allows between its workloads, and with addresses outside.

    Workloads on the network of their nodes are left out: their connections are those of the nodes.
    """

    def __init__(self, network: Network, space: PortSpace) -> None:
        """Compute nothing before it is asked for; `space` tells apart all ports that the policies tell apart."""
        self.network, self.space = network, space

    @cached_property
    def pods(self) -> int:
        """The workloads with an address of their own."""
        workloads = self.network.workloads
        return workloads.everything & ~workloads.on_host_network

    def classes_of(self, members: int, direction: Direction) -> tuple[SubjectClass, ...]:
        """Divide some workloads into classes by the policies that decide about them in a direction."""
        groups: list[tuple[int, tuple[Selecting, ...]]] = [(members & self.pods, ())]
        for policy in self.network.policies:
            subjects = self.network.matching.subjects(policy)
            if policy.concerns(direction) and subjects.possible & members:
                perhaps, certainly = Selecting(policy, is_certain=False), Selecting(policy, is_certain=True)
                groups = [
                    (part, selecting)
                    for group, before in groups
                    for part, selecting in (
                        (group & subjects.certain, (*before, certainly)),
                        (group & subjects.undecided, (*before, perhaps)),
                        (group & ~subjects.possible, before),
                    )
                    if part
                ]
        classes = (SubjectClass(part, chain_of(selecting, direction)) for part, selecting in groups if part)
        return tuple(classes) if direction == "egress" else tuple(chained.from_iterable(map(self._by_names, classes)))

    def _by_names(self, subject: SubjectClass) -> Iterator[SubjectClass]:
        """Divide workloads by the ports that have the names in their rules."""
        return (SubjectClass(part, subject.chain) for part in self._alike([subject.members], subject.chain))

    def _alike(self, groups: list[int], chain: Chain) -> list[int]:
        """Divide workloads by the ports that have the names in some rules."""
        ports = chained.from_iterable(rule.ports or () for _, rule in _rules_of(chain))
        for name in sorted({port.name for port in ports if isinstance(port, NamedPort)}):
            for having in self.network.workloads.by_named_port(name).values():
                groups = divided(groups, having)
        return groups

    @cached_method
    def peers(self, subject: SubjectClass) -> tuple[PeerClass, ...]:
        """Return the ports that the policies of some workloads allow with all workloads, in classes of these."""
        members_by_ports: dict[Allowed, int] = {}
        for members, decision in self.decisions(subject):
            ports = Allowed(decision.allowed, decision.undecided)
            members_by_ports[ports] = members_by_ports.get(ports, 0) | members
        return tuple(PeerClass(members, ports) for ports, members in members_by_ports.items())

    def decisions(self, subject: SubjectClass) -> Iterator[tuple[int, Decision]]:
        """Yield the decisions of the policies of some workloads about all workloads, in groups alike to rules."""
        chain = subject.chain
        groups = self._divided_by_rules(self.pods, chain)
        is_egress = chain.direction == "egress"
        for members in self._alike(groups, chain) if is_egress else groups:
            match = self._matching_peers(members, members if is_egress else subject.members)
            yield members, decide(chain, match, self.space.everything)

    def decision_about(self, subject: SubjectClass, peer: int) -> Decision:
        """Return the decision of the policies of some workloads about one workload as their peer."""
        member = 1 << peer
        match = self._matching_peers(member, member if subject.chain.direction == "egress" else subject.members)
        return decide(subject.chain, match, self.space.everything)

    def _matching_peers(self, members: int, destinations: int) -> Match:
        """Return the match of rules with peers that no rule tells apart; a name of ports is one at all destinations."""
        position = next(positions_in(destinations), None)
        numbers = named_ports(self.space, None if position is None else self.network.workloads.all[position])

        def match(policy: PolicyRules, rule: Rule) -> Ports:
            matched = self.network.matching.pods(policy, rule)
            if not matched.possible & members:
                return 0, 0
            certain, possible = ports_of(self.space, rule, numbers)
            return (certain if matched.certain & members else 0), possible

        return match

    def alike(self, sources: int, destinations: int) -> tuple[tuple[int, int], ...]:
        """Divide pairs of workloads into sets that no rule tells apart: each of some sources with each destination."""
        return tuple(
            (senders, receivers)
            for source in self.classes_of(sources, "egress")
            for destination in self.classes_of(destinations, "ingress")
            for senders in self._divided_by_rules(source.members, destination.chain)
            for receivers in self._alike(self._divided_by_rules(destination.members, source.chain), source.chain)
        )

    def _divided_by_rules(self, members: int, chain: Chain) -> list[int]:
        """Divide workloads by the rules that match them as peers."""
        groups = [members]
        for policy, rule in _rules_of(chain):
            matched = self.network.matching.pods(policy, rule)
            groups = divided(divided(groups, matched.certain), matched.possible)
        return groups

    def addresses(self, subject: SubjectClass, cuts: Iterable[Point] = ()) -> tuple[AddressClass, ...]:
        """Return the ports that the policies of some workloads allow with addresses outside, in classes of these.

        The classes are cut at the ranges of rules, and at further points.
        """
        intervals_by_ports: dict[Allowed, list[Interval]] = {}
        for interval, decision in self.address_decisions(subject, cuts):
            ports = Allowed(decision.allowed, decision.undecided)
            intervals_by_ports.setdefault(ports, []).append(interval)
        return tuple(AddressClass(tuple(intervals), ports) for ports, intervals in intervals_by_ports.items())

    def address_decisions(
        self, subject: SubjectClass, cuts: Iterable[Point] = ()
    ) -> Iterator[tuple[Interval, Decision]]:
        """Yield the decisions of the policies of some workloads about ranges of addresses outside."""
        chain = subject.chain
        position = next(positions_in(subject.members)) if chain.direction == "ingress" else None
        numbers = named_ports(self.space, None if position is None else self.network.workloads.all[position])
        for interval in _intervals({*self.cuts(chain), *cuts}):
            address = from_number(interval[0], interval[1])

            def match(_: PolicyRules, rule: Rule, address: IPv4Address | IPv6Address = address) -> Ports:
                is_peer = self.network.matching.matches_address(rule, address)
                certain, possible = (0, 0) if is_peer is False else ports_of(self.space, rule, numbers)
                return (certain if is_peer else 0), possible

            yield interval, decide(chain, match, self.space.everything)

    def cuts(self, chain: Chain) -> frozenset[Point]:
        """Return the points at which the rules of a chain tell addresses apart."""
        return frozenset(point for _, rule in _rules_of(chain) for point in self.network.matching.cuts(rule))


def _rules_of(chain: Chain) -> Iterator[tuple[PolicyRules, Rule]]:
    for selecting in chain.policies:
        yield from ((selecting.policy, rule) for rule in selecting.policy.rules(chain.direction))


def divided(groups: Iterable[int], members: int) -> list[int]:
    """Divide sets of workloads into members of another set and the rest."""
    return [part for group in groups for part in (group & members, group & ~members) if part]


def _intervals(cuts: Iterable[Point]) -> Iterator[Interval]:
    """Yield the version, the first and the last number of the ranges between points, of both versions."""
    for version, length in _LENGTHS.items():
        points = sorted({0, 1 << length, *(number for cut_version, number in cuts if cut_version == version)})
        yield from ((version, first, end - 1) for first, end in pairwise(points))


def joined(ranges: Iterable[Interval]) -> tuple[AddressRange, ...]:
    """Join ranges of addresses that are next to each other."""
    joined_ranges: list[Interval] = []
    for version, first, last in sorted(ranges):
        if joined_ranges and joined_ranges[-1][0] == version and joined_ranges[-1][2] + 1 == first:
            joined_ranges[-1] = (version, joined_ranges[-1][1], last)
        else:
            joined_ranges.append((version, first, last))
    return tuple(
        AddressRange(from_number(version, first), from_number(version, last)) for version, first, last in joined_ranges
    )
