"""Which ListenerSets a Gateway admits, and which listeners on one Gateway cannot be told apart."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final, NamedTuple

from kubectl_policy.model.fields import mapping_at, value_at
from kubectl_policy.topology.gateway.listeners import MIXED_MODES, ROUTES_BY_PROTOCOL, listeners_of, supports
from kubectl_policy.topology.gateway.namespaces import lets_in_namespace
from kubectl_policy.topology.references import LISTENER_SETS, gateway_of

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from kubectl_policy.model import NodeRef, ObjectRef, Resource
    from kubectl_policy.model.index import Index
    from kubectl_policy.topology.gateway.listeners import Listener
    from kubectl_policy.topology.implementation import Implementation

CONFLICTS: Final = ("ProtocolConflict", "HostnameConflict")


class Conflict(NamedTuple):
    """Why a listener is conflicted: the API's reason (one of `CONFLICTS`), and the listener it cannot be told from."""

    reason: str
    other: NodeRef


def listener_sets_by_gateway(index: Index) -> Mapping[ObjectRef, tuple[ObjectRef, ...]]:
    """The ListenerSets that name each Gateway, admitted or not, in their order of precedence.

    "ListenerSet ordered by creation time (oldest first)", then "alphabetically by {namespace}/{name}" (GEP-1713); those
    of unknown age come last.
    """
    found: dict[ObjectRef, list[Resource]] = {}
    for kind in LISTENER_SETS:
        for resource in index.of_kind(kind):
            gateway = gateway_of(index, resource.ref, resource.raw)
            if gateway:
                found.setdefault(gateway, []).append(resource)
    return {
        gateway: tuple(
            resource.ref for resource in sorted(resources, key=lambda found: (found.seniority, found.ref.kind))
        )
        for gateway, resources in found.items()
    }


def admits(index: Index, gateway: ObjectRef, listener_set: ObjectRef) -> bool | None:
    """Whether a Gateway lets a ListenerSet attach (`spec.allowedListeners`, default None); None where unknown."""
    raw = index.raw(gateway)
    if value_at(raw, "spec.allowedListeners.namespaces") is None:
        return False
    namespaces = mapping_at(raw, "spec.allowedListeners.namespaces")
    return lets_in_namespace(index, namespaces, "None", gateway.namespace, listener_set.namespace)


def conflicts_on(
    index: Index, implementation: Implementation, gateway: ObjectRef, listener_sets: Iterable[ObjectRef]
) -> dict[NodeRef, Conflict]:
    """The conflicted listeners on a Gateway, given the ListenerSets that it admits in their order of precedence.

    Among the listeners of one object none wins: "The implementation MUST NOT pick one conflicting Listener as the
    winner. ALL indistinct Listeners must not be accepted" (GatewaySpec.Listeners). Between objects the one that
    precedes wins (GEP-1713), so a listener that loses there is out before those of its own object are compared.
    """
    mixed = supports(index, implementation, gateway, MIXED_MODES)
    conflicts: dict[NodeRef, Conflict] = {}
    established: list[Listener] = []
    for obj in (gateway, *listener_sets):
        entries = [entry for entry in listeners_of(index, obj) if entry.protocol in ROUTES_BY_PROTOCOL]
        lost = _clashes(entries, established, mixed_modes=mixed)
        left = [entry for entry in entries if entry.node not in lost]
        among = _clashes(left, left, mixed_modes=mixed)
        conflicts |= lost | among
        # Nothing takes the place of a Gateway's own listeners, not even of those that rule each other out.
        established += left if obj == gateway else [entry for entry in left if entry.node not in among]
    return conflicts


def _clashes(entries: list[Listener], others: list[Listener], *, mixed_modes: bool) -> dict[NodeRef, Conflict]:
    found: dict[NodeRef, Conflict] = {}
    for entry in entries:
        for other in others:
            reason = "" if other is entry else _clash(entry, other, mixed_modes=mixed_modes)
            if reason:
                found.setdefault(entry.node, Conflict(reason, other.node))
    return found


def _clash(one: Listener, other: Listener, *, mixed_modes: bool) -> str:
    """Why two listeners are not distinct ("Distinct Listeners" in GatewaySpec.Listeners); empty if they are."""
    protocols = {one.protocol, other.protocol}
    if one.port is None or one.port != other.port or (len(protocols) > 1 and "UDP" in protocols):
        return ""
    # "All the Listeners that share a port with the TCP Listener are not distinct"; nor does HTTP share one with TLS.
    if protocols & {"TCP", "UDP"} or ("HTTP" in protocols and len(protocols) > 1):
        return "ProtocolConflict"
    if protocols == {"TLS"} and one.terminates != other.terminates and not mixed_modes:
        return "ProtocolConflict"
    # What is left are listeners that can share a port, as HTTPS and TLS can: only their hostnames tell them apart.
    return "HostnameConflict" if one.hostname == other.hostname else ""
