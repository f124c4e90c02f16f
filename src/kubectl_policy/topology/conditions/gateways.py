"""What a conformant controller would report on GatewayClasses, Gateways and ListenerSets."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from kubectl_policy.model import NodeRef
from kubectl_policy.model.fields import mapping_at, mappings_at, text_at
from kubectl_policy.topology.conditions.condition import Condition, unknown
from kubectl_policy.topology.conditions.listeners import listener_conditions
from kubectl_policy.topology.gateway.certificates import CONFIG_MAP, SECRET, certificate_fault
from kubectl_policy.topology.gateway.conflicts import admits
from kubectl_policy.topology.gateway.listeners import gateway_profile
from kubectl_policy.topology.references import GATEWAY, LISTENER_SETS, gateway_of, refer

if TYPE_CHECKING:
    from kubectl_policy.model import ObjectRef
    from kubectl_policy.topology.graph import Topology

# AddressType: IPAddress, Hostname and the implementation-specific NamedAddress. A "domain-prefixed string" is a type of
# one implementation, which nothing here can vouch for.
_ADDRESS_TYPES: Final = ("IPAddress", "Hostname", "NamedAddress")
_CERTIFICATE_REASONS: Final = ("InvalidCertificateRef", "InvalidCACertificateRef")


def gateway_class_conditions(topology: Topology, gateway_class: ObjectRef) -> tuple[Condition, ...]:
    """Accepted of a GatewayClass, as far as its parameters decide it; nothing if it was not read."""
    if topology.index.get(gateway_class) is None:
        return ()
    refusal = _parameters(topology, gateway_class, "spec.parametersRef")
    return (refusal or Condition("Accepted", "True", "Accepted"),)


def gateway_conditions(topology: Topology, gateway: ObjectRef) -> tuple[Condition, ...]:
    """Accepted and ResolvedRefs of a Gateway (GatewayConditionType); nothing for what is none, or was not read.

    Accepted depends on the Gateway and its own listeners, not on its GatewayClass: every Gateway is looked at as if its
    controller had taken it.
    """
    if gateway.group_kind != GATEWAY or topology.index.get(gateway) is None:
        return ()
    return (_accepted(topology, gateway), _resolved(topology, gateway))


def listener_set_conditions(topology: Topology, listener_set: ObjectRef) -> tuple[Condition, ...]:
    """Accepted of a ListenerSet (ListenerSetConditionType); nothing for what is none, or was not read."""
    if listener_set.group_kind not in LISTENER_SETS or topology.index.get(listener_set) is None:
        return ()
    gateway = gateway_of(topology.index, listener_set, topology.index.raw(listener_set))
    if gateway is None:
        return (Condition("Accepted", "False", "Invalid", "spec.parentRef names no Gateway"),)
    return (_attachment(topology, gateway, listener_set) or _by_listeners(topology, listener_set, every=True),)


def attached_listener_sets(topology: Topology, gateway: ObjectRef) -> tuple[ObjectRef, ...]:
    """The ListenerSets that are attached to a Gateway: those it admits that are accepted, in their order of precedence.

    "A ListenerSet is successfully attached to a Gateway when ... The ListenerSet's status has the condition Accepted:
    true" (ListenerSet, "Gateway Integration").
    """
    return tuple(
        listener_set
        for listener_set in topology.relations.listener_sets(gateway)
        if listener_set_conditions(topology, listener_set)[0].status == "True"
    )


def _accepted(topology: Topology, gateway: ObjectRef) -> Condition:
    refusal = _parameters(topology, gateway, "spec.infrastructure.parametersRef")
    if refusal:
        return refusal
    addresses = mappings_at(topology.index.raw(gateway), "spec.addresses")
    kinds = [text_at(address, "type", "IPAddress") for address in addresses]
    treated = gateway_profile(topology.index, topology.implementation, gateway)
    strange = [kind for kind in kinds if kind not in (treated.address_types or _ADDRESS_TYPES)]
    if strange:
        message = f"address type {', '.join(strange)} is not supported"
        return Condition("Accepted", "False", "UnsupportedAddress", message)
    return _by_listeners(topology, gateway, every=False, strictly=treated.ignores_invalid)


def _by_listeners(topology: Topology, obj: ObjectRef, *, every: bool, strictly: bool = False) -> Condition:
    """Accepted by what the listeners are worth: False if none is valid, True with a remark if only some are.

    With `every`, a listener also has to refer to what it may: a ListenerSet "is not accepted because the only listener
    is missing a reference grant" (conformance test ListenerSetReferenceGrant), while a Gateway is. That a certificate
    is not there, or is none, is said in ResolvedRefs alone, unless controllers look at all references (`strictly`).
    """
    sections = topology.sections(obj)
    nodes = [NodeRef(obj, section) for section in sections]
    invalid = [node.section for node in nodes if not _is_valid(topology, node, every=every, strictly=strictly)]
    if not invalid:
        return Condition("Accepted", "True", "Accepted") if sections else _NO_LISTENERS
    message = f"not valid: listener {', '.join(invalid)}"
    return Condition("Accepted", "True" if len(invalid) < len(sections) else "False", "ListenersNotValid", message)


_NO_LISTENERS: Final = Condition("Accepted", "False", "ListenersNotValid", "it has no listeners")


def _is_valid(topology: Topology, listener: NodeRef, *, every: bool, strictly: bool) -> bool:
    accepted, _, resolved = listener_conditions(topology, listener)
    refused = resolved.status == "False" and (strictly or resolved.reason not in _CERTIFICATE_REASONS)
    return accepted.status == "True" and not ((every or strictly) and refused)


def _attachment(topology: Topology, gateway: ObjectRef, listener_set: ObjectRef) -> Condition | None:
    """Why a Gateway does not take a ListenerSet, whatever its listeners are; None if it does."""
    match topology.index.presence(gateway):
        case "missing":
            return Condition("Accepted", "False", "ParentNotAccepted", f"{gateway} does not exist")
        case "unknown":
            return unknown("Accepted", f"{gateway} was not read")
        case _:
            admitted = admits(topology.index, gateway, listener_set)
    if admitted is None:
        return unknown(
            "Accepted", f"whether {gateway} selects it is unknown: Namespace {listener_set.namespace} was not read"
        )
    if not admitted:
        return Condition("Accepted", "False", "NotAllowed", f"{gateway} does not allow it (spec.allowedListeners)")
    parent = _accepted(topology, gateway)
    if parent.status == "False":
        return Condition("Accepted", "False", "ParentNotAccepted", f"{gateway} is not accepted: {parent.message}")
    return None


def _parameters(topology: Topology, owner: ObjectRef, field: str) -> Condition | None:
    """Accepted=False for parameters that do not exist (GatewayReasonInvalidParameters); None if nothing is wrong."""
    reference = mapping_at(topology.index.raw(owner), field)
    target = refer(topology.index, reference, owner.namespace, CONFIG_MAP)
    if not target.name or topology.index.presence(target) != "missing":
        return None
    return Condition("Accepted", "False", "InvalidParameters", f"{field}: {target} does not exist")


def _resolved(topology: Topology, gateway: ObjectRef) -> Condition:
    """By `spec.tls.backend.clientCertificateRef` (GatewayReasonInvalidClientCertificateRef)."""
    reference = mapping_at(topology.index.raw(gateway), "spec.tls.backend.clientCertificateRef")
    target = refer(topology.index, reference, gateway.namespace, SECRET)
    fault = certificate_fault(topology.index, gateway, target) if target.name else None
    if fault is None:
        return Condition("ResolvedRefs", "True", "ResolvedRefs")
    if fault.sort == "unknown":
        return unknown("ResolvedRefs", fault.message)
    reason = "RefNotPermitted" if fault.sort == "grant" else "InvalidClientCertificateRef"
    return Condition("ResolvedRefs", "False", reason, fault.message)
