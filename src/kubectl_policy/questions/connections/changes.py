"""Changes of connections between two states: which are opened and closed, between which workloads, on which ports."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Final

from msgspec import Meta, Struct

from kubectl_policy.model import ObjectRef  # noqa: TC001 (answers are encoded by these types)
from kubectl_policy.model.kind_roles import NAMESPACE, NODE, WORKLOADS
from kubectl_policy.model.kinds import CRD, names_in_crd
from kubectl_policy.network.kinds import EVALUATED_KINDS
from kubectl_policy.network.pairs import NetworkChange
from kubectl_policy.network.policy import Direction, PortRange  # noqa: TC001 (answers are encoded by these types)
from kubectl_policy.network.reach import joined
from kubectl_policy.questions.blind_spots.network import unread_for_network
from kubectl_policy.questions.connections.rule_views import addresses_phrase
from kubectl_policy.questions.connections.workload_sets import WorkloadSet, WorkloadSets, join_pairs
from kubectl_policy.topology.workloads.pod_sets import positions_in

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping

    from kubectl_policy.comparison import StateComparison
    from kubectl_policy.model import Resource
    from kubectl_policy.network.pairs import ConnectionChange, OutsideChange, PortChange
    from kubectl_policy.network.reach import AddressRange
    from kubectl_policy.questions.blind_spots.unknowns import BlindSpot

# What decides about connections.
_KINDS: Final = frozenset({*EVALUATED_KINDS, *WORKLOADS, NAMESPACE, NODE})


class ConnectionGroup(Struct, frozen=True, kw_only=True):
    """Workloads that all have the same change of their connections to all of some others, but for those to itself."""

    sources: Annotated[WorkloadSet, Meta(description="The workloads that connect.")]
    destinations: Annotated[WorkloadSet, Meta(description="The workloads to which they connect.")]
    ports: Annotated[tuple[PortRange, ...], Meta(description="The ports for which that changes.")]
    connections: Annotated[int, Meta(description="The number of pairs of different workloads.", ge=1)]


class OutsideGroup(Struct, frozen=True, kw_only=True):
    """Workloads that all have the same change of their connections with addresses outside of the cluster."""

    direction: Annotated[Direction, Meta(description="Egress to the addresses, or ingress from them.")]
    workloads: Annotated[WorkloadSet, Meta(description="The workloads.")]
    addresses: Annotated[
        tuple[str, ...], Meta(description="Networks and ranges of addresses, or `any address`, for people.")
    ]
    ports: Annotated[tuple[PortRange, ...], Meta(description="The ports for which that changes.")]


class ConnectionGroups(Struct, frozen=True, kw_only=True):
    """Connections that all change in the same way, in as few groups as alike workloads make."""

    connections: Annotated[
        int, Meta(description="The number of pairs of a workload that connects and another one.", ge=0)
    ] = 0
    namespaces: Annotated[int, Meta(description="The number of namespaces of these workloads.", ge=0)] = 0
    sending_outside: Annotated[
        int, Meta(description="The number of workloads whose egress to addresses outside changes.", ge=0)
    ] = 0
    receiving_outside: Annotated[
        int, Meta(description="The number of workloads whose ingress from addresses outside changes.", ge=0)
    ] = 0
    groups: Annotated[
        tuple[ConnectionGroup, ...], Meta(description="The connections between workloads, the largest group first.")
    ] = ()
    outside: Annotated[
        tuple[OutsideGroup, ...], Meta(description="The connections with addresses outside of the cluster.")
    ] = ()

    def __bool__(self) -> bool:
        """Whether there is any connection."""
        return bool(self.groups or self.outside)


NONE: Final = ConnectionGroups()


class ConnectionChanges(Struct, frozen=True, kw_only=True):
    """The differences between the connections that the network policies of two states allow."""

    policies: Annotated[tuple[ObjectRef, ...], Meta(description="The network policies that differ.")] = ()
    opened: Annotated[
        ConnectionGroups, Meta(description="The connections that were certainly denied and are certainly allowed.")
    ] = NONE
    closed: Annotated[
        ConnectionGroups, Meta(description="The connections that were certainly allowed and are certainly denied.")
    ] = NONE
    uncertain: Annotated[ConnectionGroups, Meta(description="The connections that may be opened or closed.")] = NONE
    new_workloads: Annotated[
        int, Meta(description="The number of workloads that only the later state has: their connections are left out.")
    ] = 0
    gone_workloads: Annotated[
        int,
        Meta(description="The number of workloads that only the earlier state has: their connections are left out."),
    ] = 0
    # Whether anything was compared: if not, nothing that was not read matters.
    compared: bool = False

    def __bool__(self) -> bool:
        """Whether a connection of workloads that both states have changes, or may change."""
        return bool(self.opened or self.closed or self.uncertain)


NO_CONNECTION_CHANGES: Final = ConnectionChanges()


def connection_changes(comparison: StateComparison) -> ConnectionChanges:
    """Return the connections that differ between two states.

    Neither policies nor workloads are read unless objects differ that decide about connections.
    """
    if not _may_differ(comparison):
        return NO_CONNECTION_CHANGES
    before, after = comparison.before.network, comparison.after.network
    if not (before.policies or after.policies):
        return NO_CONNECTION_CHANGES
    change = NetworkChange(before, after)
    earlier, later = change.before.pods, change.after.pods
    connections, outside = [*change.connections(change.concerned)], [*change.outside(change.concerned)]
    grouping = _Grouping(change)
    return ConnectionChanges(
        policies=tuple(sorted(change.differences.policies)),
        opened=grouping.groups(connections, outside, lambda ports: ports.opened),
        closed=grouping.groups(connections, outside, lambda ports: ports.closed),
        uncertain=grouping.groups(connections, outside, lambda ports: ports.uncertain),
        new_workloads=(later & ~earlier).bit_count(),
        gone_workloads=(earlier & ~later).bit_count(),
        compared=bool(change.concerned or change.differences.policies),
    )


def unread_for_changes(comparison: StateComparison, changes: ConnectionChanges) -> Iterator[BlindSpot]:
    """Yield what could not be read in either state and may change connections."""
    if changes.compared:
        for state in (comparison.before, comparison.after):
            yield from unread_for_network(state, labels=bool(changes.uncertain))


def _may_differ(comparison: StateComparison) -> bool:
    """Whether objects differ that decide about connections, or definitions of such kinds."""
    for ref in comparison.changed | comparison.gone:
        if ref.group_kind in _KINDS:
            return True
        definitions = (state.index.get(ref) for state in (comparison.before, comparison.after))
        if ref.group_kind == CRD and any(map(_defines_policies, filter(None, definitions))):
            return True
    return False


def _defines_policies(definition: Resource) -> bool:
    names = names_in_crd(definition)
    return names is not None and names.group_kind in EVALUATED_KINDS


class _Grouping:
    """Groups of the changes of one network."""

    def __init__(self, change: NetworkChange) -> None:
        self._change = change
        self._set = WorkloadSets(change.workloads).of

    def groups(
        self,
        connections: Iterable[ConnectionChange],
        outside: Iterable[OutsideChange],
        ports_of: Callable[[PortChange], int],
    ) -> ConnectionGroups:
        """Group the changes of one kind: `ports_of` returns the ports that have it."""
        pairs_by_ports: dict[int, list[tuple[int, int]]] = {}
        members = number = 0
        for change in connections:
            ports, size = ports_of(change.ports), _size(change.sources, change.destinations)
            if ports and size:
                pairs_by_ports.setdefault(ports, []).append((change.sources, change.destinations))
                members |= change.sources | change.destinations
                number += size
        changed = [(change, ports) for change in outside if (ports := ports_of(change.ports))]
        return ConnectionGroups(
            connections=number,
            namespaces=sum(bool(members & there) for there in self._change.workloads.by_namespace.values()),
            sending_outside=_number(change.members for change, _ in changed if change.direction == "egress"),
            receiving_outside=_number(change.members for change, _ in changed if change.direction == "ingress"),
            groups=tuple(self._connections(pairs_by_ports)),
            outside=tuple(self._outside(changed)),
        )

    def _connections(self, pairs_by_ports: Mapping[int, Iterable[tuple[int, int]]]) -> Iterator[ConnectionGroup]:
        rows = [
            (-_size(sources, destinations), _first(sources), _first(destinations), ports, sources, destinations)
            for ports, pairs in pairs_by_ports.items()
            for sources, destinations in join_pairs(pairs)
        ]
        for size, _, _, ports, sources, destinations in sorted(rows):
            yield ConnectionGroup(
                sources=self._set(sources),
                destinations=self._set(destinations),
                ports=self._change.space.ranges_in(ports),
                connections=-size,
            )

    def _outside(self, changes: Iterable[tuple[OutsideChange, int]]) -> Iterator[OutsideGroup]:
        """Join the workloads with the same addresses, then the addresses of the same workloads."""
        by_addresses: dict[tuple[Direction, int, tuple[AddressRange, ...]], int] = {}
        for change, ports in changes:
            key = (change.direction, ports, change.ranges)
            by_addresses[key] = by_addresses.get(key, 0) | change.members
        by_members: dict[tuple[Direction, int, int], list[AddressRange]] = {}
        for (direction, ports, ranges), members in by_addresses.items():
            by_members.setdefault((direction, ports, members), []).extend(ranges)
        for (direction, ports, members), joinable in sorted(by_members.items(), key=_order_outside):
            intervals = ((part.first.version, int(part.first), int(part.last)) for part in joinable)
            yield OutsideGroup(
                direction=direction,
                workloads=self._set(members),
                addresses=addresses_phrase(joined(intervals)),
                ports=self._change.space.ranges_in(ports),
            )


def _order_outside(item: tuple[tuple[Direction, int, int], list[AddressRange]]) -> tuple[object, ...]:
    (direction, ports, members), _ = item
    return direction, -members.bit_count(), _first(members), ports


def _number(parts: Iterable[int]) -> int:
    """Count the workloads in some sets."""
    members = 0
    for part in parts:
        members |= part
    return members.bit_count()


def _first(members: int) -> int:
    return next(positions_in(members))


def _size(sources: int, destinations: int) -> int:
    """Count the pairs of a source and another workload as its destination."""
    return sources.bit_count() * destinations.bit_count() - (sources & destinations).bit_count()
