"""What a conformant controller would report on a listener of a Gateway or ListenerSet."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from kubectl_policy.model.fields import integer_at, mapping_at, mappings_at
from kubectl_policy.topology.conditions.condition import Condition, unknown
from kubectl_policy.topology.gateway.certificates import CONFIG_MAP, authority_fault, listener_certificates
from kubectl_policy.topology.gateway.listeners import (
    ROUTES_BY_PROTOCOL,
    protocol_kinds,
    supported_kinds_of,
    supports_mode,
)
from kubectl_policy.topology.hierarchy import WITH_LISTENERS
from kubectl_policy.topology.references import GATEWAY, refer

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from kubectl_policy.model import GroupKind, Json, NodeRef, ObjectRef
    from kubectl_policy.topology.gateway.certificates import Fault
    from kubectl_policy.topology.gateway.conflicts import Conflict
    from kubectl_policy.topology.gateway.listeners import Listener
    from kubectl_policy.topology.graph import Topology

_CERTIFICATE_REASONS: Final[Mapping[str, str]] = {
    "kind": "InvalidCertificateRef",
    "grant": "RefNotPermitted",
    "invalid": "InvalidCertificateRef",
}
_AUTHORITY_REASONS: Final[Mapping[str, str]] = {
    "kind": "InvalidCACertificateKind",
    "grant": "RefNotPermitted",
    "invalid": "InvalidCACertificateRef",
}


def listener_conditions(topology: Topology, listener: NodeRef) -> tuple[Condition, ...]:
    """Accepted, Conflicted and ResolvedRefs of a listener (ListenerConditionType); nothing if there is none."""
    found = _find(topology, listener)
    if found is None:
        return ()
    return (_accepted(topology, found), _conflicted(topology, found), _resolved(topology, found))


def supported_kinds(topology: Topology, listener: NodeRef) -> tuple[GroupKind, ...]:
    """The route kinds that a listener serves (ListenerStatus.SupportedKinds); a conflicted one serves none."""
    found = _find(topology, listener)
    if found is None or _conflict(topology, found):
        return ()
    return supported_kinds_of(topology.index, topology.implementation, found)


def attached_routes(topology: Topology, listener: NodeRef) -> tuple[ObjectRef, ...]:
    """The routes that ListenerStatus.AttachedRoutes counts, also those of a conflicted listener; sorted."""
    if listener.object.group_kind not in WITH_LISTENERS:
        return ()
    return tuple(
        route
        for route in topology.relations.routes_naming(listener.object)
        if any(binding.listener == listener and binding.is_counted for binding in topology.bindings(route))
    )


def _find(topology: Topology, node: NodeRef) -> Listener | None:
    if node.object.group_kind not in WITH_LISTENERS:
        return None
    return next((entry for entry in topology.relations.listeners(node.object) if entry.node == node), None)


def _conflict(topology: Topology, listener: Listener) -> Conflict | None:
    return topology.relations.conflicts(listener.gateway).get(listener.node) if listener.gateway else None


def _conflicted(topology: Topology, listener: Listener) -> Condition:
    conflict = _conflict(topology, listener)
    if conflict is None:
        return Condition("Conflicted", "False", "NoConflicts")
    message = f"it cannot be told from listener {conflict.other.section} of {conflict.other.object}"
    return Condition("Conflicted", "True", conflict.reason, message)


def _accepted(topology: Topology, listener: Listener) -> Condition:
    if listener.protocol not in ROUTES_BY_PROTOCOL:
        return Condition("Accepted", "False", "UnsupportedProtocol", f"protocol {listener.protocol} is not supported")
    if not supports_mode(topology.index, topology.implementation, listener):
        return Condition("Accepted", "False", "UnsupportedValue", "TLS mode Terminate is not supported for TLSRoutes")
    conflict = _conflict(topology, listener)
    if conflict:
        message = f"it cannot be told from listener {conflict.other.section} of {conflict.other.object}"
        return Condition("Accepted", "False", _refusal(topology, listener, conflict), message)
    faults = list(_authority_faults(topology, listener))
    if faults and all(fault and fault.sort != "unknown" for fault in faults):
        messages = dict.fromkeys(fault.message for fault in faults if fault)
        return Condition("Accepted", "False", "NoValidCACertificate", "; ".join(messages))
    return Condition("Accepted", "True", "Accepted")


def _refusal(topology: Topology, listener: Listener, conflict: Conflict) -> str:
    """The reason of a conflicted listener for not being accepted.

    A Gateway whose own listeners have incompatible protocols for one port is "syntactically or semantically invalid"
    (ListenerReasonInvalid); anywhere else the conflict is the reason (GEP-1713; GEP-2643 for mixed TLS modes).
    """
    other = _find(topology, conflict.other)
    differs = other is not None and other.protocol != listener.protocol and conflict.reason == "ProtocolConflict"
    return "Invalid" if differs and listener.node.object.group_kind == GATEWAY else conflict.reason


def _resolved(topology: Topology, listener: Listener) -> Condition:
    possible = protocol_kinds(topology.index, topology.implementation, listener)
    strange = [kind for kind in listener.named_kinds if kind not in possible]
    if strange:
        message = f"protocol {listener.protocol} cannot serve {', '.join(map(str, strange))}"
        return Condition("ResolvedRefs", "False", "InvalidRouteKinds", message)
    certificates = [
        (fault, _CERTIFICATE_REASONS) for _, _, fault in listener_certificates(topology.index, listener) if fault
    ]
    authorities = [(fault, _AUTHORITY_REASONS) for fault in _authority_faults(topology, listener) if fault]
    faults = sorted((*certificates, *authorities), key=lambda found: found[0].sort == "unknown")
    if not faults:
        return Condition("ResolvedRefs", "True", "ResolvedRefs")
    fault, reasons = faults[0]
    message = "; ".join(dict.fromkeys(found.message for found, _ in faults))
    if fault.sort == "unknown":
        return unknown("ResolvedRefs", message)
    return Condition("ResolvedRefs", "False", reasons[fault.sort], message)


def _authority_faults(topology: Topology, listener: Listener) -> Iterator[Fault | None]:
    """For each CA that the Gateway has the listener check its clients with, what is wrong with it.

    `spec.tls.frontend`: `perPort` replaces `default` for "all Listeners handling HTTPS traffic" on a port
    (FrontendTLSConfig); the references are the Gateway's, also for listeners of its ListenerSets.
    """
    if listener.protocol != "HTTPS" or listener.gateway is None:
        return
    for reference in mappings_at(_validation(topology, listener, listener.gateway), "validation.caCertificateRefs"):
        target = refer(topology.index, reference, listener.gateway.namespace, CONFIG_MAP)
        yield authority_fault(topology.index, listener.gateway, target)


def _validation(topology: Topology, listener: Listener, gateway: ObjectRef) -> Mapping[str, Json]:
    frontend = mapping_at(topology.index.raw(gateway), "spec.tls.frontend")
    for entry in mappings_at(frontend, "perPort"):
        if listener.port is not None and integer_at(entry, "port") == listener.port:
            return mapping_at(entry, "tls")
    return mapping_at(frontend, "default")
