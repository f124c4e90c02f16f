"""Connections of many workloads in two states of a network: ports that one state allows and the other does not."""

from __future__ import annotations

from functools import cached_property
from typing import TYPE_CHECKING

from msgspec import Struct

from kubectl_policy.lazy import cached_method
from kubectl_policy.network.differences import Differences
from kubectl_policy.network.influence import Influence, influence_of
from kubectl_policy.network.network import Network
from kubectl_policy.network.policy import DIRECTIONS
from kubectl_policy.network.ports import PortSpace
from kubectl_policy.network.reach import Reach, divided, joined
from kubectl_policy.topology.workloads import Workloads
from kubectl_policy.topology.workloads.workload import from_number

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Iterator
    from ipaddress import IPv4Address, IPv6Address

    from kubectl_policy.model import ObjectRef
    from kubectl_policy.network.evaluation import Allowed
    from kubectl_policy.network.policy import Direction, PolicyRules, PortRange, Rule
    from kubectl_policy.network.reach import AddressRange, Interval, SubjectClass


class PortChange(Struct, frozen=True, gc=False):
    """Ports by what two states say of them."""

    before: Allowed
    after: Allowed
    # The ports that neither state decides, and of which either may come to something else.
    doubtful: int = 0

    @property
    def opened(self) -> int:
        """The ports that were certainly denied, and are certainly allowed."""
        return self.after.certain & ~(self.before.certain | self.before.undecided)

    @property
    def closed(self) -> int:
        """The ports that were certainly allowed, and are certainly denied."""
        return self.before.certain & ~(self.after.certain | self.after.undecided)

    @property
    def uncertain(self) -> int:
        """The ports that may differ."""
        return self._differing & ~(self.opened | self.closed)

    @property
    def _differing(self) -> int:
        differing = (self.before.certain ^ self.after.certain) | (self.before.undecided ^ self.after.undecided)
        return differing | self.doubtful

    @property
    def shared_doubts(self) -> int:
        """The ports that neither state decides."""
        return self.before.undecided & self.after.undecided

    @property
    def is_change(self) -> bool:
        """Whether the states may differ in any port."""
        return bool(self._differing)

    def __and__(self, other: PortChange) -> PortChange:
        """Return the ports by what two states say of both sides of a connection."""
        both = PortChange(self.before & other.before, self.after & other.after)
        return both.with_doubts(self._differing | other._differing)

    def with_doubts(self, ports: int) -> PortChange:
        """Return the ports, of which some may differ where neither state decides them."""
        doubtful = self.shared_doubts & ports
        return PortChange(self.before, self.after, doubtful) if doubtful else self


class ConnectionChange(Struct, frozen=True, gc=False):
    """Workloads that all have the same change of their connections to all of some other workloads."""

    sources: int
    destinations: int
    ports: PortChange


class OutsideChange(Struct, frozen=True):
    """Workloads that all have the same change of their connections with addresses outside of the cluster."""

    direction: Direction
    members: int
    ranges: tuple[AddressRange, ...]
    ports: PortChange


class _Pair(Struct, frozen=True, eq=False):
    """Workloads of one class in both states."""

    members: int
    before: SubjectClass
    after: SubjectClass
    # Whether all by which rules match the workloads is the same in both states.
    is_alike: bool


class NetworkChange:
    """Two states of a network with the same positions of workloads."""

    def __init__(self, before: Network, after: Network, ports: Iterable[PortRange] = ()) -> None:
        """Compare two states, after giving workloads that one of them lacks a position in both.

        Some `ports` are told apart from all others, also where no rule does so.
        """
        refs = [{workload.ref for workload in network.workloads.all} for network in (before, after)]
        if refs[0] != refs[1]:
            before = Network(before.index, Workloads(before.index, refs[1] - refs[0]))
            after = Network(after.index, Workloads(after.index, refs[0] - refs[1]))
        self.space = PortSpace({*before.ranges, *after.ranges, *ports})
        self.before, self.after = Reach(before, self.space), Reach(after, self.space)

    @cached_property
    def workloads(self) -> Workloads:
        """The workloads of the earlier state, and those that only the later one has."""
        return self.before.network.workloads

    @cached_property
    def _pods(self) -> int:
        """The workloads that both states have."""
        return self.before.pods & self.after.pods

    @cached_property
    def differences(self) -> Differences:
        """What differs between the states."""
        return Differences(self.before.network, self.after.network)

    @cached_property
    def concerned(self) -> int:
        """The workloads of which a policy may decide differently in the two states."""
        # Whoever has a changed workload as its peer may be concerned.
        is_anywhere = bool(self.differences.workloads & self._pods) or self.differences.nodes
        return self._pods if is_anywhere else self.subjects(self.differences.policies)

    def subjects(self, policies: Collection[ObjectRef]) -> int:
        """Return the workloads to which some policies may apply in either state."""
        members = 0
        for network in (self.before.network, self.after.network):
            for ref in policies:
                policy = network.by_ref.get(ref)
                members |= network.matching.subjects(policy).possible if policy else 0
        return members & self._pods

    def _classes(self, direction: Direction) -> tuple[_Pair, ...]:
        return self._classes_of(self._pods, direction)

    @cached_method
    def _classes_of(self, members: int, direction: Direction) -> tuple[_Pair, ...]:
        return tuple(
            _Pair(part, before, after, is_alike)
            for before in self.before.classes_of(members, direction)
            for after in self.after.classes_of(before.members, direction)
            for part, is_alike in self._by_likeness(before.members & after.members)
        )

    def _by_likeness(self, members: int) -> Iterator[tuple[int, bool]]:
        """Divide workloads into those that differ between the states, and those that do not."""
        differing = self.differences.workloads
        return (
            (part, is_alike) for part, is_alike in ((members & differing, False), (members & ~differing, True)) if part
        )

    @cached_method
    def _peers(self, pair: _Pair) -> tuple[tuple[int, PortChange], ...]:
        """Return the workloads that are peers of a class alike in both states."""
        return tuple(
            peers
            for before in self.before.peers(pair.before)
            for after in self.after.peers(pair.after)
            if (members := before.members & after.members & self._pods)
            for peers in self._by_doubts(pair, members, PortChange(before.ports, after.ports))
        )

    def _by_doubts(self, pair: _Pair, members: int, change: PortChange) -> Iterator[tuple[int, PortChange]]:
        """Divide peers of a class by what may differ where neither state decides."""
        if not change.shared_doubts:
            yield members, change
            return
        for part, is_alike in self._by_likeness(members):
            if is_alike and pair.is_alike:
                yield from self._by_influence(self._influence(pair), part, change)
            else:
                yield part, change.with_doubts(self.space.everything)

    def _by_influence(self, influence: Influence, members: int, change: PortChange) -> Iterator[tuple[int, PortChange]]:
        groups = [members]
        for network, policy, rule in influence.rules:
            groups = divided(groups, network.matching.pods(policy, rule).possible)
        for group in groups:

            def may_match(network: Network, policy: PolicyRules, rule: Rule, peers: int = group) -> bool:
                return bool(network.matching.pods(policy, rule).possible & peers)

            yield group, change.with_doubts(influence.ports(self.space, may_match))

    @cached_method
    def _influence(self, pair: _Pair) -> Influence:
        states = ((self.before.network, pair.before.chain), (self.after.network, pair.after.chain))
        return influence_of(*states, self.differences.policies)

    def connections(self, members: int) -> Iterator[ConnectionChange]:
        """Yield the changes of connections that differ by the policies of some workloads, which are at one end."""
        for destination in self._classes_of(members, "ingress"):
            for sources, ingress in self._peers(destination):
                if ingress.is_change:
                    yield from self._with_egress(sources, destination.members, ingress)
        for source in self._classes_of(members, "egress"):
            for destinations, egress in self._peers(source):
                if egress.is_change:
                    yield from self._with_ingress(source.members, destinations, egress)

    def _with_egress(self, sources: int, destinations: int, ingress: PortChange) -> Iterator[ConnectionChange]:
        for source in self._classes("egress"):
            senders = source.members & sources
            for peers, egress in self._peers(source) if senders else ():
                receivers = peers & destinations
                change = ingress & egress
                if receivers and change.is_change:
                    yield ConnectionChange(senders, receivers, change)

    def _with_ingress(self, sources: int, destinations: int, egress: PortChange) -> Iterator[ConnectionChange]:
        """Yield the changes by egress alone: those by ingress as well are yielded for their destinations."""
        for destination in self._classes("ingress"):
            receivers = destination.members & destinations
            for peers, ingress in self._peers(destination) if receivers else ():
                senders = peers & sources
                change = ingress & egress
                if senders and change.is_change and not ingress.is_change:
                    yield ConnectionChange(senders, receivers, change)

    def outside(self, members: int) -> Iterator[OutsideChange]:
        """Yield the changes of connections of some workloads with addresses outside of the cluster."""
        for direction in DIRECTIONS:
            for pair in self._classes_of(members, direction):
                yield from self._outside(pair, direction)

    def _outside(self, pair: _Pair, direction: Direction) -> Iterator[OutsideChange]:
        cuts = self.before.cuts(pair.before.chain) | self.after.cuts(pair.after.chain)
        before = self.before.addresses(pair.before, cuts)
        after = self.after.addresses(pair.after, cuts)
        ports_after = {point: found.ports for found in after for point in found.intervals}
        by_change: dict[PortChange, list[Interval]] = {}
        for found in before:
            for interval in found.intervals:
                change = PortChange(found.ports, ports_after[interval])
                if change.shared_doubts:
                    change = change.with_doubts(self._doubtful_outside(pair, from_number(*interval[:2])))
                if change.is_change:
                    by_change.setdefault(change, []).append(interval)
        for change, intervals in by_change.items():
            yield OutsideChange(direction, pair.members, joined(intervals), change)

    def _doubtful_outside(self, pair: _Pair, address: IPv4Address | IPv6Address) -> int:
        """Return the ports that may differ for an address outside where neither state decides."""
        if self.differences.nodes or not pair.is_alike:
            return self.space.everything

        def may_match(network: Network, _: PolicyRules, rule: Rule) -> bool:
            return network.matching.matches_address(rule, address) is not False

        return self._influence(pair).ports(self.space, may_match)
