"""Conditions that a conformant controller would report on GatewayClasses, Gateways, ListenerSets and listeners."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final, Literal, TypeAlias

from msgspec import Struct

from kubectl_policy.model import GroupKind, NodeRef, ObjectRef, Problem
from kubectl_policy.model.fields import mapping_at, mappings_at, text_at
from kubectl_policy.model.kind_roles import GATEWAY, LISTENER_SETS
from kubectl_policy.model.unknown import is_unfilled, is_unknown_kind, port_at
from kubectl_policy.topology.gateway.certificates import (
    CONFIG_MAP,
    ELSEWHERE,
    INVALID,
    INVALID_KIND,
    SECRET,
    authority_problem,
    certificate_problem,
    certificate_refs,
)
from kubectl_policy.topology.gateway.contradictions import Contradiction, contradictions
from kubectl_policy.topology.gateway.handshake import INVALID_LISTENER, NO_PARENT
from kubectl_policy.topology.gateway.listeners import ROUTES_BY_PROTOCOL, Conflict, Listener, listener_label
from kubectl_policy.topology.references import NOT_PERMITTED, parameters_ref, refer

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from kubectl_policy.topology.gateway.gateways import Gateways

ConditionStatus: TypeAlias = Literal["True", "False", "Unknown"]

# AddressType: IPAddress, Hostname and the implementation-specific NamedAddress. A "domain-prefixed string" is a type of
# one implementation, which nothing here can vouch for.
ADDRESS_TYPES: Final = ("IPAddress", "Hostname", "NamedAddress")
_CERTIFICATE_REASONS: Final[Mapping[str, str]] = {
    INVALID_KIND: "InvalidCertificateRef",
    NOT_PERMITTED: "RefNotPermitted",
    INVALID: "InvalidCertificateRef",
    ELSEWHERE: "InvalidCertificateRef",
}
_AUTHORITY_REASONS: Final[Mapping[str, str]] = {
    INVALID_KIND: "InvalidCACertificateKind",
    NOT_PERMITTED: "RefNotPermitted",
    INVALID: "InvalidCACertificateRef",
    ELSEWHERE: "InvalidCACertificateRef",
}


class Condition(Struct, frozen=True):
    """A condition as in `metav1.Condition`.

    The status is Unknown, with the reason Pending, where it depends on something that was not read; the message then
    says on what.
    """

    type: str
    status: ConditionStatus
    reason: str
    message: str = ""


def true_condition(kind: str) -> Condition:
    """Return a condition that holds, with its own name as the reason."""
    return Condition(kind, "True", kind)


def unknown_condition(kind: str, message: str) -> Condition:
    """Return a condition that cannot be decided."""
    return Condition(kind, "Unknown", "Pending", message)


def gateway_class_conditions(gateways: Gateways, gateway_class: ObjectRef) -> tuple[Condition, ...]:
    """Accepted of a GatewayClass, as far as its parameters decide it; nothing if it was not read."""
    if gateways.index.get(gateway_class) is None:
        return ()
    return (_parameters(gateways, gateway_class, "spec.parametersRef") or true_condition("Accepted"),)


def gateway_conditions(gateways: Gateways, gateway: ObjectRef) -> tuple[Condition, ...]:
    """Accepted and ResolvedRefs of a Gateway (GatewayConditionType); nothing for what is none, or was not read.

    Accepted depends on the Gateway and its own listeners, not on its GatewayClass: every Gateway is looked at as if its
    controller had taken it.
    """
    if gateway.group_kind != GATEWAY or gateways.index.get(gateway) is None:
        return ()
    return (_gateway_accepted(gateways, gateway), _gateway_resolved(gateways, gateway))


def listener_set_conditions(gateways: Gateways, listener_set: ObjectRef) -> tuple[Condition, ...]:
    """Accepted of a ListenerSet (ListenerSetConditionType); nothing for what is none, or was not read."""
    if listener_set.group_kind not in LISTENER_SETS or gateways.index.get(listener_set) is None:
        return ()
    gateway = gateways.gateway_of(listener_set)
    if gateway is None:
        return (Condition("Accepted", "False", "Invalid", "spec.parentRef names no Gateway"),)
    return (_attachment_refusal(gateways, gateway, listener_set) or _by_listeners(gateways, listener_set, every=True),)


def listener_conditions(gateways: Gateways, node: NodeRef) -> tuple[Condition, ...]:
    """Accepted, Conflicted and ResolvedRefs of a listener (ListenerConditionType); nothing if there is none."""
    listener = gateways.listener(node)
    if listener is None:
        return ()
    conflict = gateways.conflict(listener)
    conflicted = Condition("Conflicted", "False", "NoConflicts")
    if conflict:
        conflicted = Condition("Conflicted", "True", conflict.reason, _conflict_phrase(conflict))
    return (_listener_accepted(gateways, listener, conflict), conflicted, _listener_resolved(gateways, listener))


def supported_kinds(gateways: Gateways, node: NodeRef) -> tuple[GroupKind, ...]:
    """Return the route kinds that a listener serves (ListenerStatus.SupportedKinds); a conflicted one serves none."""
    listener = gateways.listener(node)
    return gateways.kinds_served(listener) if listener and not gateways.conflict(listener) else ()


def attached_listener_sets(gateways: Gateways, gateway: ObjectRef) -> tuple[ObjectRef, ...]:
    """Return the ListenerSets that a Gateway admits and that are accepted, in their order of precedence.

    "A ListenerSet is successfully attached to a Gateway when ... The ListenerSet's status has the condition Accepted:
    true" (ListenerSet, "Gateway Integration").
    """
    return tuple(
        listener_set
        for listener_set in gateways.listener_sets(gateway)
        if listener_set_conditions(gateways, listener_set)[0].status == "True"
    )


def why_invalid(gateways: Gateways, gateway: ObjectRef, node: NodeRef) -> Problem | None:
    """Return the problem of a Gateway or listener that is not valid; None if it is valid, or may be.

    The reason is the one that a route reports where the controller ignores such a node.
    """
    refusal = next(
        (condition for condition in gateway_conditions(gateways, gateway) if condition.type == "Accepted"), None
    )
    if refusal and refusal.status == "False" and refusal.reason != "ListenersNotValid":
        return Problem(message=f"{gateway} is not valid: {refusal.message}", reason=NO_PARENT)
    for condition in listener_conditions(gateways, node):
        if condition.type != "Conflicted" and condition.status == "False":
            return Problem(message=f"{listener_label(node)} is not valid: {condition.message}", reason=INVALID_LISTENER)
    return None


def is_valid_alone(gateways: Gateways, listener: Listener) -> bool:
    """Whether a listener is valid, or may be, whatever other listeners share its port."""
    if any(contradictions(listener)):
        return False
    conditions = (_listener_accepted(gateways, listener, None), _listener_resolved(gateways, listener))
    return all(condition.status != "False" for condition in conditions)


def _gateway_accepted(gateways: Gateways, gateway: ObjectRef) -> Condition:
    refusal = _parameters(gateways, gateway, "spec.infrastructure.parametersRef")
    if refusal:
        return refusal
    profile = gateways.profile_of(gateway)
    addresses = mappings_at(gateways.index.defaulted(gateway), "spec.addresses")
    types = [text_at(address, "type", "IPAddress") for address in addresses]
    known = (*(profile.address_types or ADDRESS_TYPES), *filter(is_unfilled, types))
    unsupported = [type_ for type_ in types if type_ not in known]
    if unsupported:
        message = f"address type {', '.join(unsupported)} is not supported"
        return Condition("Accepted", "False", "UnsupportedAddress", message)
    return _by_listeners(gateways, gateway, every=False, strictly=profile.ignores_invalid)


def _gateway_resolved(gateways: Gateways, gateway: ObjectRef) -> Condition:
    """Return ResolvedRefs of a Gateway by its client certificate (GatewayReasonInvalidClientCertificateRef)."""
    reference = mapping_at(gateways.index.defaulted(gateway), "spec.tls.backend.clientCertificateRef")
    target = refer(gateways.index, reference, gateway.namespace, SECRET)
    problem = certificate_problem(gateways, gateway, target) if target.name else None
    if problem is None:
        return true_condition("ResolvedRefs")
    if not problem.certain:
        return unknown_condition("ResolvedRefs", problem.message)
    reason = NOT_PERMITTED if problem.reason == NOT_PERMITTED else "InvalidClientCertificateRef"
    return Condition("ResolvedRefs", "False", reason, problem.message)


def _by_listeners(gateways: Gateways, obj: ObjectRef, *, every: bool, strictly: bool = False) -> Condition:
    """Accepted by what the listeners are worth: False if none is valid, True with a remark if only some are.

    With `every`, a listener also has to refer to what it may: a ListenerSet "is not accepted because the only listener
    is missing a reference grant" (conformance test ListenerSetReferenceGrant), while a Gateway is. That a certificate
    is not there, or is none, is reported in ResolvedRefs alone, unless controllers look at all references (`strictly`).
    """
    nodes = [listener.node for listener in gateways.listeners(obj)]
    if not nodes:
        return Condition("Accepted", "False", "ListenersNotValid", "it has no listeners")
    invalid: list[str] = []
    for node in nodes:
        accepted, _, resolved = listener_conditions(gateways, node)
        counts = strictly or (every and resolved.reason not in {"InvalidCertificateRef", "InvalidCACertificateRef"})
        if accepted.status == "False" or (counts and resolved.status == "False"):
            invalid.append(node.section)
    if not invalid:
        return true_condition("Accepted")
    message = f"not valid: listener {', '.join(invalid)}"
    return Condition("Accepted", "True" if len(invalid) < len(nodes) else "False", "ListenersNotValid", message)


def _attachment_refusal(gateways: Gateways, gateway: ObjectRef, listener_set: ObjectRef) -> Condition | None:
    """Return the condition of a ListenerSet that its Gateway does not accept; None if it does."""
    if gateways.index.presence(gateway) == "missing":
        return Condition("Accepted", "False", "ParentNotAccepted", f"{gateway} does not exist")
    if gateways.index.is_content_unknown(gateway):
        return unknown_condition("Accepted", gateways.index.absence.message(gateway))
    admitted = gateways.admits(gateway, listener_set)
    if admitted is None:
        why = gateways.index.absence.of_namespace(listener_set.namespace)
        return unknown_condition("Accepted", f"whether {gateway} selects it is unknown: {why}")
    if not admitted:
        return Condition("Accepted", "False", "NotAllowed", f"{gateway} does not allow it (spec.allowedListeners)")
    parent = _gateway_accepted(gateways, gateway)
    if parent.status == "False":
        return Condition("Accepted", "False", "ParentNotAccepted", f"{gateway} is not accepted: {parent.message}")
    return None


def _parameters(gateways: Gateways, owner: ObjectRef, field: str) -> Condition | None:
    """Accepted=False for parameters that do not exist (GatewayReasonInvalidParameters); None if nothing is wrong."""
    reference = mapping_at(gateways.index.defaulted(owner), field)
    target = refer(gateways.index, reference, owner.namespace, CONFIG_MAP)
    if not target.name or gateways.index.presence(target) != "missing":
        return None
    return Condition("Accepted", "False", "InvalidParameters", f"{field}: {target} does not exist")


def _listener_accepted(gateways: Gateways, listener: Listener, conflict: Conflict | None) -> Condition:
    if is_unfilled(listener.protocol):
        return unknown_condition("Accepted", f"protocol {listener.protocol} is a placeholder")
    if listener.protocol not in ROUTES_BY_PROTOCOL:
        return Condition("Accepted", "False", "UnsupportedProtocol", f"protocol {listener.protocol} is not supported")
    if not gateways.supports_mode(listener):
        return Condition("Accepted", "False", "UnsupportedValue", "TLS mode Terminate is not supported for TLSRoutes")
    if conflict:
        return Condition(
            "Accepted", "False", _conflict_reason(gateways, listener, conflict), _conflict_phrase(conflict)
        )
    authorities = list(_authorities(gateways, listener))
    if authorities and all(problem and problem.certain for problem in authorities):
        messages = dict.fromkeys(problem.message for problem in authorities if problem)
        return Condition("Accepted", "False", "NoValidCACertificate", "; ".join(messages))
    refusal = listener_refusal(gateways, listener)
    return Condition("Accepted", "False", "Invalid", refusal.message) if refusal else true_condition("Accepted")


def listener_refusal(gateways: Gateways, listener: Listener) -> Contradiction | None:
    """Return the field of a listener that its controllers refuse by a choice of their own; None if there is none."""
    profile = gateways.profile_of(listener.gateway)
    port = port_at(listener.raw, "port")
    if port in profile.reserved_ports or (
        port in profile.default_ports and not _has_parameters(gateways, listener.gateway)
    ):
        return Contradiction(field="port", message=f"port {listener.port} is reserved by its implementation")
    options = sorted(profile.authority_options.intersection(mapping_at(listener.raw, "tls.options")))
    if options and not list(_authorities(gateways, listener)):
        message = f"{options[0]} needs CA certificates in spec.tls.frontend of the Gateway"
        return Contradiction(field="tls.options", message=message)
    return None


def _has_parameters(gateways: Gateways, gateway: ObjectRef | None) -> bool:
    gateway_class = gateways.class_of(gateway) if gateway else None
    return any(parameters_ref(gateways.index, holder) for holder in (gateway, gateway_class) if holder)


def _conflict_phrase(conflict: Conflict) -> str:
    return f"it cannot be distinguished from {listener_label(conflict.rival)}"


def _conflict_reason(gateways: Gateways, listener: Listener, conflict: Conflict) -> str:
    """Return the reason of a conflicted listener for not being accepted.

    A Gateway whose own listeners have incompatible protocols for one port is "syntactically or semantically invalid"
    (ListenerReasonInvalid); anywhere else the conflict is the reason (GEP-1713; GEP-2643 for mixed TLS modes).
    """
    rival = gateways.listener(conflict.rival)
    differs = rival is not None and rival.protocol != listener.protocol and conflict.reason == "ProtocolConflict"
    return "Invalid" if differs and listener.node.object.group_kind == GATEWAY else conflict.reason


def _listener_resolved(gateways: Gateways, listener: Listener) -> Condition:
    possible = gateways.kinds_by_protocol(listener)
    impossible = [kind for kind in listener.named_kinds if kind not in possible and not is_unknown_kind(kind)]
    if impossible and not is_unfilled(listener.protocol):
        message = f"protocol {listener.protocol} cannot serve {', '.join(map(str, impossible))}"
        return Condition("ResolvedRefs", "False", "InvalidRouteKinds", message)
    certificates = [(ref.problem, _CERTIFICATE_REASONS) for ref in certificate_refs(gateways, listener)]
    authorities = [(problem, _AUTHORITY_REASONS) for problem in _authorities(gateways, listener)]
    problems = [(problem, reasons) for problem, reasons in (*certificates, *authorities) if problem]
    if not problems:
        return true_condition("ResolvedRefs")
    problems.sort(key=lambda problem: not problem[0].certain)
    message = "; ".join(dict.fromkeys(problem.message for problem, _ in problems))
    certain = next((reasons[problem.reason] for problem, reasons in problems if problem.certain), None)
    return (
        Condition("ResolvedRefs", "False", certain, message) if certain else unknown_condition("ResolvedRefs", message)
    )


def _authorities(gateways: Gateways, listener: Listener) -> Iterator[Problem | None]:
    """Return the problem, or None, of each CA certificate with which a listener validates clients.

    `spec.tls.frontend`: `perPort` replaces `default` for "all Listeners handling HTTPS traffic" on a port
    (FrontendTLSConfig); the references are the Gateway's, also for listeners of its ListenerSets.
    """
    if listener.protocol != "HTTPS" or listener.gateway is None:
        return
    frontend = mapping_at(gateways.index.defaulted(listener.gateway), "spec.tls.frontend")
    by_port = {port_at(entry, "port"): mapping_at(entry, "tls") for entry in reversed(mappings_at(frontend, "perPort"))}
    default = mapping_at(frontend, "default")
    tls = default if listener.port is None else by_port.get(listener.port, default)
    for reference in mappings_at(tls, "validation.caCertificateRefs"):
        target = refer(gateways.index, reference, listener.gateway.namespace, CONFIG_MAP)
        yield authority_problem(gateways, listener.gateway, target)
