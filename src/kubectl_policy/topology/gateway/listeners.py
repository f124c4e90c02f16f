"""Listeners of Gateways and ListenerSets: their fields, the namespaces that they let in, and conflicts among them."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Annotated, Final, TypeAlias

from msgspec import Meta, Struct

from kubectl_policy.model import GroupKind, Json, NodeRef, ObjectRef
from kubectl_policy.model.fields import items_at, mapping_at, mappings_at, text_at, value_at
from kubectl_policy.model.kind_roles import GATEWAY_API, GRPC_ROUTE, HTTP_ROUTE, TCP_ROUTE, TLS_ROUTE, UDP_ROUTE
from kubectl_policy.model.unknown import Port, is_unfilled, is_unknown_hostname, is_unknown_kind, may_equal, port_at
from kubectl_policy.topology.gateway.hostnames import have_common_hostname

if TYPE_CHECKING:
    from kubectl_policy.model.index import Index

# GEP-957 and the comments of ProtocolType, with "Route type" as in the table of the guide on TLS.
ROUTES_BY_PROTOCOL: Final[Mapping[str, tuple[GroupKind, ...]]] = {
    "HTTP": (HTTP_ROUTE, GRPC_ROUTE),
    "HTTPS": (HTTP_ROUTE, GRPC_ROUTE),
    "TLS": (TLS_ROUTE,),
    "TCP": (TCP_ROUTE,),
    "UDP": (UDP_ROUTE,),
}
# Of a Gateway or ListenerSet that an API server accepts (MaxItems of GatewaySpec.Listeners, ListenerSetSpec.Listeners).
MAX_LISTENERS: Final = 64


class Listener(Struct, frozen=True, kw_only=True):
    """One listener; what is to be filled in stays as it is written."""

    node: NodeRef
    # The path in its object: `spec.listeners[0]`.
    field: str
    # The Gateway that it is served on; None where a ListenerSet names none.
    gateway: ObjectRef | None
    # In upper case, as the API's own validation ignores case.
    protocol: Annotated[str, Meta(description="The protocol of the listener.")]
    port: Annotated[
        Port | None,
        Meta(description="The port; a string if it contains a variable without a value, null if there is none."),
    ]
    hostname: Annotated[str, Meta(description="The hostname; empty for any hostname.")]
    # Whether TLS ends here, rather than passing through.
    terminates: bool
    raw: Mapping[str, Json]

    @property
    def name(self) -> Annotated[str, Meta()]:
        """The name of the listener."""
        return self.node.section

    @property
    def named_kinds(self) -> tuple[GroupKind, ...]:
        """The kinds in `allowedRoutes.kinds`; the group of a kind defaults to Gateway API's (RouteGroupKind)."""
        kinds = mappings_at(self.raw, "allowedRoutes.kinds")
        return tuple(GroupKind(text_at(kind, "group", GATEWAY_API), text_at(kind, "kind")) for kind in kinds)

    @property
    def may_serve_more(self) -> bool:
        """Whether it is not known which kinds it serves, as its protocol, TLS mode or a kind is to be filled in."""
        unknown_kinds = any(map(is_unknown_kind, self.named_kinds))
        return is_unfilled(self.protocol) or self.may_pass_through or unknown_kinds

    @property
    def has_tls(self) -> bool:
        """Whether it terminates TLS."""
        return self.protocol in {"HTTPS", "TLS"} and self.terminates

    @property
    def may_pass_through(self) -> bool:
        """Whether it is not known which of the TLS modes it has."""
        return self.protocol == "TLS" and is_unfilled(text_at(self.raw, "tls.mode"))

    def __str__(self) -> str:
        """Return the label of the listener in messages."""
        return listener_label(self.node)


def listener_label(node: NodeRef) -> str:
    """Return the label of a listener in messages: `listener http of Gateway infra/edge`."""
    return f"listener {node.section} of {node.object}"


def _unless_unknown(change: Callable[[str], str], text: str, unknown: Callable[[str], bool]) -> str:
    return text if unknown(text) else change(text)


def listeners_in(obj: ObjectRef, raw: Mapping[str, Json], gateway: ObjectRef | None) -> tuple[Listener, ...]:
    """Return the listeners of a Gateway or ListenerSet in their order, `listener[0]` where one has no name.

    No API server lets in a listener without a name, or a name twice; of those with one name the first counts.
    """
    listeners: dict[str, Listener] = {}
    for position, entry in enumerate(items_at(raw, "spec.listeners")):
        name = text_at(entry, "name") or f"listener[{position}]"
        if isinstance(entry, Mapping) and name not in listeners:
            listeners[name] = Listener(
                node=NodeRef(obj, name),
                field=f"spec.listeners[{position}]",
                gateway=gateway,
                protocol=_unless_unknown(str.upper, text_at(entry, "protocol"), is_unfilled),
                port=port_at(entry, "port"),
                hostname=_unless_unknown(str.lower, text_at(entry, "hostname"), is_unknown_hostname),
                terminates=text_at(entry, "tls.mode", "Terminate") != "Passthrough",
                raw=entry,
            )
    return tuple(listeners.values())


def admits_namespace(index: Index, namespaces: Mapping[str, Json], default: str, home: str, guest: str) -> bool | None:
    """Whether `namespaces` (RouteNamespaces, ListenerNamespaces) of an object in `home` lets in objects of `guest`.

    `default` is what the type says for an absent `from`. None where the answer depends on labels of a Namespace that
    was not read, or on something that is to be filled in; the label that an API server derives from the name is always
    known.
    """
    match text_at(namespaces, "from", default):
        case "All":
            return True
        case "Same":
            return home == guest or (None if may_equal(home, guest) else False)
        case "Selector":
            return _selects_namespace(index, namespaces, guest)
        case other:
            return None if is_unfilled(other) else False


def _selects_namespace(index: Index, namespaces: Mapping[str, Json], guest: str) -> bool | None:
    selector = mapping_at(namespaces, "selector")
    # "Selector must be specified when From is set to 'Selector'" (RouteNamespaces): without one, nothing is selected.
    if value_at(namespaces, "selector") is None:
        return False
    return index.selects_namespace(selector, guest)


_PROTOCOL: Final = "ProtocolConflict"
_HOSTNAME: Final = "HostnameConflict"
CONFLICTS: Final = (_PROTOCOL, _HOSTNAME)
# What a listener is found by on its port: a protocol or a group of them, and perhaps a hostname or a TLS mode.
_Trait: TypeAlias = "tuple[str, str]"


class Conflict(Struct, frozen=True):
    """A conflict of a listener: the API's reason (one of `CONFLICTS`), and the listener it conflicts with."""

    reason: str
    rival: NodeRef


def conflicts_among(
    owners: Iterable[Sequence[Listener]], *, mixed_modes: bool, first_wins: bool = False
) -> dict[NodeRef, Conflict]:
    """Return the conflicted listeners of a Gateway, then of the ListenerSets that it admits, by precedence.

    Among the listeners of one object none wins: "The implementation MUST NOT pick one conflicting Listener as the
    winner. ALL indistinct Listeners must not be accepted" (GatewaySpec.Listeners). Between objects the one that
    precedes wins (GEP-1713), so a listener that loses there is out before those of its own object are compared.
    With `first_wins`, the first of several TCP or UDP listeners of one object on one port wins.
    """
    conflicts: dict[NodeRef, Conflict] = {}
    established = _Established(mixed_modes=mixed_modes)
    for position, listeners in enumerate(owners):
        served = [
            listener for listener in listeners if listener.protocol in ROUTES_BY_PROTOCOL and listener.port is not None
        ]
        lost = established.rivals_of(served)
        if first_wins:
            lost |= _behind_first([listener for listener in served if listener.node not in lost])
        remaining = [listener for listener in served if listener.node not in lost]
        siblings = _Established(mixed_modes=mixed_modes)
        siblings.add(remaining)
        indistinct = siblings.rivals_of(remaining)
        conflicts |= lost | indistinct
        # Nothing takes the place of a Gateway's own listeners, not even of those that rule each other out.
        established.add(
            remaining if position == 0 else [listener for listener in remaining if listener.node not in indistinct]
        )
    return conflicts


def _behind_first(listeners: Iterable[Listener]) -> dict[NodeRef, Conflict]:
    """Return the conflicts of TCP and UDP listeners with the first one of their protocol on the port."""
    firsts: dict[tuple[str, Port | None], NodeRef] = {}
    conflicts: dict[NodeRef, Conflict] = {}
    for listener in listeners:
        if listener.protocol in {"TCP", "UDP"}:
            first = firsts.setdefault((listener.protocol, listener.port), listener.node)
            if first != listener.node:
                conflicts[listener.node] = Conflict(reason=_PROTOCOL, rival=first)
    return conflicts


def possible_conflict(listener: Listener, rivals: Iterable[Listener]) -> NodeRef | None:
    """Return the first of the others on its Gateway from which it may not be distinguished once both are filled in.

    Two different placeholders are not taken for the same value: whoever writes two means two.
    """
    for rival in rivals:
        if rival.node != listener.node and _may_conflict(listener, rival):
            return rival.node
    return None


def has_unknowns(listener: Listener) -> bool:
    """Whether it is not known of a listener what distinguishes it from others."""
    unknown_port = isinstance(listener.port, str)
    return unknown_port or is_unfilled(listener.protocol) or is_unknown_hostname(listener.hostname)


def _may_conflict(first: Listener, second: Listener) -> bool:
    protocols = {first.protocol, second.protocol}
    unknown_protocol = any(map(is_unfilled, protocols))
    ports = {type(first.port), type(second.port)}
    if first.port != second.port and ports != {int, str}:
        return False
    if not unknown_protocol and "UDP" in protocols:
        return len(protocols) == 1 and ports == {int, str}
    by_hostname = protocols <= {"HTTPS", "TLS"} or protocols == {"HTTP"}
    if not by_hostname:
        return unknown_protocol or ports == {int, str}
    if first.hostname == second.hostname:
        return ports == {int, str}
    unknown = [is_unknown_hostname(listener.hostname) for listener in (first, second)]
    return sorted(unknown) == [False, True] and have_common_hostname(first.hostname, second.hostname) is None


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
        """Return the conflict of each listener that is not distinct from an established one, the first of these."""
        conflicts: dict[NodeRef, Conflict] = {}
        for listener in listeners:
            rivals = [
                (position, Conflict(reason=reason, rival=candidate.node))
                for trait, reason in self._indistinct(listener)
                for position, candidate in self._first_two.get((listener.port, trait), ())
                if candidate is not listener
            ]
            if rivals:
                conflicts[listener.node] = min(rivals, key=lambda rival: rival[0])[1]
        return conflicts

    def _indistinct(self, listener: Listener) -> Iterator[tuple[_Trait, str]]:
        """Yield the traits of listeners that are not distinct from this one (GatewaySpec.Listeners), and the reason."""
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
    """Return the traits of a listener by which others on its port conflict with it."""
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
