"""Workloads by their addresses: which are in a range, which have one address, and of which no address is known."""

from __future__ import annotations

from bisect import bisect_left
from ipaddress import ip_network
from typing import TYPE_CHECKING, Final

from kubectl_policy.topology.workloads.pod_sets import PodSet, bitmap

if TYPE_CHECKING:
    from collections.abc import Iterable
    from ipaddress import IPv4Address, IPv4Network, IPv6Address, IPv6Network

    from kubectl_policy.topology.workloads.workload import Workload

# Ranges that are not globally reachable (IANA special-purpose address registries), in which networks of Pods are.
_NOT_GLOBAL: Final = tuple(
    map(
        ip_network,
        (
            *("10.0.0.0/8", "100.64.0.0/10", "169.254.0.0/16", "172.16.0.0/12", "192.0.0.0/24", "192.0.2.0/24"),
            *("192.168.0.0/16", "198.18.0.0/15", "198.51.100.0/24", "203.0.113.0/24", "240.0.0.0/4"),
            *("100::/64", "2001:2::/48", "2001:db8::/32", "3fff::/20", "fc00::/7", "fe80::/10"),
        ),
    )
)


class AddressIndex:
    """The addresses of workloads in order."""

    def __init__(self, workloads: Iterable[tuple[int, Workload]]) -> None:
        """Sort the addresses of workloads, which come with their positions."""
        known: dict[int, list[tuple[int, int]]] = {4: [], 6: []}
        unknown: list[int] = []
        for position, workload in workloads:
            addresses = workload.addresses
            for address in addresses:
                known[address.version].append((int(address), position))
            if not addresses:
                unknown.append(position)
        self._known = {version: sorted(pairs) for version, pairs in known.items()}
        # The workloads of which no address is known.
        self.unknown = bitmap(unknown)
        # The workloads with an address of a version of IP.
        self.having = {version: bitmap(position for _, position in pairs) for version, pairs in known.items()}

    def within(self, network: IPv4Network | IPv6Network) -> int:
        """Return the workloads with a known address in a range."""
        return self._between(network.version, int(network.network_address), int(network.broadcast_address))

    def perhaps_within(self, network: IPv4Network | IPv6Network) -> PodSet:
        """Return the workloads with an address in a range, and those that may have one there.

        Addresses of Pods are private ones by all that is usual: one that is not known is in no public range.
        """
        inside = self.within(network)
        return PodSet(inside, inside | (self.unknown if _may_hold_pods(network) else 0))

    def at(self, address: IPv4Address | IPv6Address) -> int:
        """Return the workloads with an address: one Pod, or those on the network of one node."""
        return self._between(address.version, int(address), int(address))

    def _between(self, version: int, first: int, last: int) -> int:
        pairs = self._known[version]
        start, end = bisect_left(pairs, (first, -1)), bisect_left(pairs, (last + 1, -1))
        return bitmap(position for _, position in pairs[start:end])


def _may_hold_pods(network: IPv4Network | IPv6Network) -> bool:
    """Whether a range has addresses that Pods usually have."""
    return any(network.version == private.version and network.overlaps(private) for private in _NOT_GLOBAL)
