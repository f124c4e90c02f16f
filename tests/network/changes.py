"""Changes of connections between two lists of manifests, as texts that tests compare."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Final

from kubectl_policy.network.pairs import NetworkChange, PortChange
from kubectl_policy.topology.workloads.pod_sets import positions_in
from tests.network.manifests import analyzed_manifests
from tests.network.oracle_world import Manifest
from tests.network.small_world import WORLD as SMALL_WORLD

# The small world with the Namespace that it lacks.
WORLD: Final[tuple[Manifest, ...]] = (
    *SMALL_WORLD,
    {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": "bare"}},
)


def network_change(before: Sequence[Manifest], after: Sequence[Manifest]) -> NetworkChange:
    """Compare two states, each of which has all that there is."""
    return NetworkChange(analyzed_manifests(before).network, analyzed_manifests(after).network)


def changed_connections(before: Sequence[Manifest], after: Sequence[Manifest]) -> set[str]:
    """Return what changes between workloads: `opened shop/web > shop/db TCP 80-80`; nothing of one with itself."""
    change = network_change(before, after)
    return {
        f"{phrase.partition(' ')[0]} {source} > {destination} {phrase.partition(' ')[2]}"
        for part in change.connections(change.concerned)
        for source in _names(change, part.sources)
        for destination in _names(change, part.destinations)
        if source != destination
        for phrase in _phrases(change, part.ports)
    }


def changed_outside(before: Sequence[Manifest], after: Sequence[Manifest]) -> set[str]:
    """Return what changes with addresses outside: `closed egress shop/web 0.0.0.0-9.255.255.255 TCP 80-80`."""
    change = network_change(before, after)
    return {
        f"{sort} {part.direction} {name} {ranges.first}-{ranges.last} {ports}"
        for part in change.outside(change.concerned)
        for name in _names(change, part.members)
        for ranges in part.ranges
        for sort, _, ports in (phrase.partition(" ") for phrase in _phrases(change, part.ports))
    }


def _names(change: NetworkChange, members: int) -> Iterator[str]:
    return (change.workloads.all[position].ref.qualified_name for position in positions_in(members))


def _phrases(change: NetworkChange, ports: PortChange) -> Iterator[str]:
    for sort, part in (("opened", ports.opened), ("closed", ports.closed), ("uncertain", ports.uncertain)):
        for found in change.space.ranges_in(part):
            yield f"{sort} {found.protocol} {found.first}-{found.last}"
