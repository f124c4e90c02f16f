"""Sets of ports as bitmaps over the ranges that rules tell apart, so that a set takes a few bytes."""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from typing import TYPE_CHECKING, Final

from kubectl_policy.lazy import cached_method
from kubectl_policy.network.policy import MAX_PORT, PROTOCOLS, NamedPort, PolicyRules, PortRange, Protocol

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

_FIRST_PORT: Final = 1


class PortSpace:
    """The ports of all protocols, cut into ranges within which no rule tells two ports apart; a bit for each range."""

    def __init__(self, ranges: Iterable[PortRange]) -> None:
        """Cut at both ends of some ranges."""
        starts: dict[Protocol, set[int]] = {protocol: {_FIRST_PORT} for protocol in PROTOCOLS}
        for cut in ranges:
            starts[cut.protocol].update((cut.first, cut.last + 1))
        self._starts = {protocol: sorted(found - {MAX_PORT + 1}) for protocol, found in starts.items()}
        self._offsets: dict[Protocol, int] = {}
        offset = 0
        for protocol in PROTOCOLS:
            self._offsets[protocol] = offset
            offset += len(self._starts[protocol])
        self.everything = (1 << offset) - 1

    @cached_method
    def of_range(self, ports: PortRange) -> int:
        """Return the set of the ports in a range, whose ends are among those of the cuts."""
        starts, offset = self._starts[ports.protocol], self._offsets[ports.protocol]
        first, end = bisect_left(starts, ports.first), bisect_right(starts, ports.last)
        return ((1 << (end - first)) - 1) << (offset + first)

    def of_protocol(self, protocol: str | None) -> int:
        """Return the ports of a protocol; without one, all ports, and none of a protocol that has no ports."""
        if protocol is None:
            return self.everything
        return sum(self.of_range(PortRange(name, _FIRST_PORT, MAX_PORT)) for name in PROTOCOLS if name == protocol)

    def of_port(self, protocol: Protocol, port: int) -> int:
        """Return the set of the ports that rules do not tell apart from a port, as one bit."""
        return 1 << (self._offsets[protocol] + bisect_right(self._starts[protocol], port) - 1)

    def ranges_in(self, ports: int) -> tuple[PortRange, ...]:
        """Return the ports of a set as ranges, by protocol; adjacent ones are joined."""
        return tuple(self._ranges(ports))

    def _ranges(self, ports: int) -> Iterator[PortRange]:
        for protocol in PROTOCOLS:
            starts, offset = self._starts[protocol], self._offsets[protocol]
            first: int | None = None
            for position, start in enumerate((*starts, MAX_PORT + 1)):
                is_in = position < len(starts) and bool(ports >> (offset + position) & 1)
                if is_in and first is None:
                    first = start
                elif not is_in and first is not None:
                    yield PortRange(protocol, first, start - 1)
                    first = None


def declared_ranges(policies: Iterable[PolicyRules]) -> Iterator[PortRange]:
    """Yield the ranges of ports that rules of policies name by numbers."""
    for policy in policies:
        for rule in (*policy.ingress, *policy.egress):
            yield from (port for port in rule.ports or () if isinstance(port, PortRange))


def declared_names(policies: Iterable[PolicyRules]) -> frozenset[NamedPort]:
    """Return the named ports in rules of policies."""
    rules = (rule for policy in policies for rule in (*policy.ingress, *policy.egress))
    return frozenset(port for rule in rules for port in rule.ports or () if isinstance(port, NamedPort))
