"""Connections of many workloads in two states of a network: ports that one state allows and the other does not."""

from __future__ import annotations

from functools import cached_property
from typing import TYPE_CHECKING

from msgspec import Struct

from kubectl_policy.lazy import cached_method
from kubectl_policy.network.network import Network
from kubectl_policy.network.policy import DIRECTIONS
from kubectl_policy.network.ports import PortSpace
from kubectl_policy.network.reach import Reach, joined
from kubectl_policy.topology.workloads import Workloads

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator

    from kubectl_policy.model import ObjectRef
    from kubectl_policy.network.evaluation import Allowed
    from kubectl_policy.network.policy import Direction
    from kubectl_policy.network.reach import AddressRange, Interval, SubjectClass


class PortChange(Struct, frozen=True, gc=False):
    """Ports by what two states say of them."""

    before: Allowed
    after: Allowed

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
        differing = (self.before.certain ^ self.after.certain) | (self.before.undecided ^ self.after.undecided)
        return differing & ~(self.opened | self.closed)

    @property
    def is_change(self) -> bool:
        """Whether the states may differ in any port."""
        return self.before != self.after

    def __and__(self, other: PortChange) -> PortChange:
        """Return the ports by what two states say of both sides of a connection."""
        return PortChange(self.before & other.before, self.after & other.after)


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


class NetworkChange:
    """Two states of a network with the same positions of workloads."""

    def __init__(self, before: Network, after: Network) -> None:
        """Compare two states, after giving workloads that one of them lacks a position in both."""
        refs = [{workload.ref for workload in network.workloads.all} for network in (before, after)]
        if refs[0] != refs[1]:
            before = Network(before.index, Workloads(before.index, refs[1] - refs[0]))
            after = Network(after.index, Workloads(after.index, refs[0] - refs[1]))
        self.space = PortSpace({*before.ranges, *after.ranges})
        self.before, self.after = Reach(before, self.space), Reach(after, self.space)

    @cached_property
    def workloads(self) -> Workloads:
        """The workloads of the earlier state, and those that only the later one has."""
        return self.before.network.workloads

    @cached_property
    def _pods(self) -> int:
        """The workloads that both states have."""
        return self.before.pods & self.after.pods

    def subjects(self, policies: Collection[ObjectRef]) -> int:
        """Return the workloads to which some policies may apply in either state."""
        members = 0
        for network in (self.before.network, self.after.network):
            for ref in policies:
                policy = network.by_ref.get(ref)
                members |= network.matching.subjects(policy).possible if policy else 0
        return members & self._pods

    @cached_method
    def _classes(self, direction: Direction) -> tuple[_Pair, ...]:
        return self._classes_of(self._pods, direction)

    def _classes_of(self, members: int, direction: Direction) -> tuple[_Pair, ...]:
        return tuple(
            _Pair(before.members & after.members, before, after)
            for before in self.before.classes_of(members, direction)
            for after in self.after.classes_of(before.members, direction)
        )

    @cached_method
    def _peers(self, pair: _Pair) -> tuple[tuple[int, PortChange], ...]:
        """Return the workloads that are peers of a class alike in both states."""
        return tuple(
            (members, PortChange(before.ports, after.ports))
            for before in self.before.peers(pair.before)
            for after in self.after.peers(pair.after)
            if (members := before.members & after.members & self._pods)
        )

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
                if change.is_change:
                    by_change.setdefault(change, []).append(interval)
        for change, intervals in by_change.items():
            yield OutsideChange(direction, pair.members, joined(intervals), change)
