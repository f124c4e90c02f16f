"""Which listeners on one Gateway cannot be distinguished from each other."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final, TypeAlias

from msgspec import Struct

from kubectl_policy.model.unknown import is_unfilled, is_unknown_hostname
from kubectl_policy.topology.gateway.hostnames import intersect
from kubectl_policy.topology.gateway.listeners import ROUTES_BY_PROTOCOL

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from kubectl_policy.model import NodeRef
    from kubectl_policy.model.unknown import Port
    from kubectl_policy.topology.gateway.listeners import Listener

_PROTOCOL: Final = "ProtocolConflict"
_HOSTNAME: Final = "HostnameConflict"
CONFLICTS: Final = (_PROTOCOL, _HOSTNAME)
# What a listener is found by on its port: a protocol or a group of them, and perhaps a hostname or a TLS mode.
_Trait: TypeAlias = "tuple[str, str]"


class Conflict(Struct, frozen=True):
    """Why a listener is conflicted: the API's reason (one of `CONFLICTS`), and the listener it conflicts with."""

    reason: str
    other: NodeRef


def conflicts_among(owners: Iterable[Sequence[Listener]], *, mixed_modes: bool) -> dict[NodeRef, Conflict]:
    """The conflicted listeners on a Gateway: of itself first, then of the ListenerSets that it admits, by precedence.

    Among the listeners of one object none wins: "The implementation MUST NOT pick one conflicting Listener as the
    winner. ALL indistinct Listeners must not be accepted" (GatewaySpec.Listeners). Between objects the one that
    precedes wins (GEP-1713), so a listener that loses there is out before those of its own object are compared.
    """
    conflicts: dict[NodeRef, Conflict] = {}
    established = _Established(mixed_modes=mixed_modes)
    for position, listeners in enumerate(owners):
        served = [each for each in listeners if each.protocol in ROUTES_BY_PROTOCOL and each.port is not None]
        lost = established.rivals_of(served)
        left = [listener for listener in served if listener.node not in lost]
        own = _Established(mixed_modes=mixed_modes)
        own.add(left)
        among = own.rivals_of(left)
        conflicts |= lost | among
        # Nothing takes the place of a Gateway's own listeners, not even of those that rule each other out.
        established.add(left if position == 0 else [listener for listener in left if listener.node not in among])
    return conflicts


def possible_conflict(listener: Listener, others: Iterable[Listener]) -> NodeRef | None:
    """The first of the others on its Gateway from which it may not be distinguished once both are filled in.

    Two different placeholders are not taken for the same value: whoever writes two means two.
    """
    for other in others:
        if other.node != listener.node and _may_conflict(listener, other):
            return other.node
    return None


def has_unknowns(listener: Listener) -> bool:
    """Whether it is not known of a listener what distinguishes it from others."""
    unknown_port = isinstance(listener.port, str)
    return unknown_port or is_unfilled(listener.protocol) or is_unknown_hostname(listener.hostname)


def _may_conflict(one: Listener, other: Listener) -> bool:
    protocols = {one.protocol, other.protocol}
    unknown_protocol = any(map(is_unfilled, protocols))
    ports = {type(one.port), type(other.port)}
    if one.port != other.port and ports != {int, str}:
        return False
    if not unknown_protocol and "UDP" in protocols:
        return len(protocols) == 1 and ports == {int, str}
    by_hostname = protocols <= {"HTTPS", "TLS"} or protocols == {"HTTP"}
    if not by_hostname:
        return unknown_protocol or ports == {int, str}
    if one.hostname == other.hostname:
        return ports == {int, str}
    unknown = [is_unknown_hostname(each.hostname) for each in (one, other)]
    return sorted(unknown) == [False, True] and intersect(one.hostname, other.hostname) is None


class _Established:
    """Listeners that are there already, by what distinguishes others on their port from them."""

    def __init__(self, *, mixed_modes: bool) -> None:
        self._mixed_modes = mixed_modes
        self._count = 0
        # Two of each, with their positions, are enough to have one that is not the one that is compared.
        self._first_two: dict[tuple[Port | None, _Trait], list[tuple[int, Listener]]] = {}

    def add(self, listeners: Iterable[Listener]) -> None:
        for listener in listeners:
            self._count += 1
            for trait in _traits(listener):
                known = self._first_two.setdefault((listener.port, trait), [])
                if len(known) < 2:  # noqa: PLR2004 (see above)
                    known.append((self._count, listener))

    def rivals_of(self, listeners: Iterable[Listener]) -> dict[NodeRef, Conflict]:
        """The conflict of each listener that cannot be distinguished from one of these, with the first such one."""
        conflicts: dict[NodeRef, Conflict] = {}
        for listener in listeners:
            rivals = [
                (position, Conflict(reason=reason, other=other.node))
                for trait, reason in self._indistinct(listener)
                for position, other in self._first_two.get((listener.port, trait), ())
                if other is not listener
            ]
            if rivals:
                conflicts[listener.node] = min(rivals, key=lambda rival: rival[0])[1]
        return conflicts

    def _indistinct(self, listener: Listener) -> Iterator[tuple[_Trait, str]]:
        """What others on the port must not have ("Distinct Listeners" in GatewaySpec.Listeners), and the reason."""
        match listener.protocol:
            case "UDP":
                yield ("UDP", ""), _PROTOCOL
            case "TCP":
                # "All the Listeners that share a port with the TCP Listener are not distinct".
                yield ("all but UDP", ""), _PROTOCOL
            case "HTTP":
                # Nor does HTTP share a port with TLS.
                yield from (((protocol, ""), _PROTOCOL) for protocol in ("TCP", "HTTPS", "TLS"))
                yield ("hostname over HTTP", listener.hostname), _HOSTNAME
            case _:
                yield from (((protocol, ""), _PROTOCOL) for protocol in ("TCP", "HTTP"))
                if listener.protocol == "TLS" and not self._mixed_modes:
                    yield ("TLS mode", "Passthrough" if listener.terminates else "Terminate"), _PROTOCOL
                # Listeners that can share a port, as HTTPS and TLS can: only their hostnames distinguish them.
                yield ("hostname over TLS", listener.hostname), _HOSTNAME


def _traits(listener: Listener) -> Iterator[_Trait]:
    """What others on the port find a listener by."""
    yield listener.protocol, ""
    if listener.protocol != "UDP":
        yield "all but UDP", ""
    match listener.protocol:
        case "HTTP":
            yield "hostname over HTTP", listener.hostname
        case "HTTPS" | "TLS":
            yield "hostname over TLS", listener.hostname
        case _:
            pass
    if listener.protocol == "TLS":
        yield "TLS mode", "Terminate" if listener.terminates else "Passthrough"
