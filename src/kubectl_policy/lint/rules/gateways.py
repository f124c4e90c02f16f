"""Gateways and listeners that their controllers do not accept as they are written (GWP4020, GWP6013 and GWP6014)."""

from __future__ import annotations

from itertools import islice
from typing import TYPE_CHECKING, Final

from kubectl_policy.lint.finding import MAX_RELATED, Finding, Fix
from kubectl_policy.lint.lint_world import nearest
from kubectl_policy.lint.rule import lint_rule
from kubectl_policy.model import NodeRef
from kubectl_policy.model.fields import items_at, text_at
from kubectl_policy.model.kind_roles import GATEWAY
from kubectl_policy.model.unknown import is_unfilled
from kubectl_policy.profiles.controllers import STANDARD_GATEWAYS
from kubectl_policy.topology.gateway.conditions import ADDRESS_TYPES, listener_conditions, listener_refusal
from kubectl_policy.topology.gateway.contradictions import Contradiction, contradictions
from kubectl_policy.topology.gateway.handshake import NO_PARENT
from kubectl_policy.topology.gateway.listeners import ROUTES_BY_PROTOCOL, listener_label

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from kubectl_policy.lint.lint_world import LintWorld
    from kubectl_policy.model import Resource
    from kubectl_policy.topology import Binding
    from kubectl_policy.topology.gateway.listeners import Listener

# Protocols, address types and certificates of an implementation have names with its domain.
_DOMAIN_END: Final = "/"


@lint_rule("GWP4020", "warning")
def no_listener_in_service(world: LintWorld) -> Iterator[Finding]:
    """The only listeners that take a route are not accepted themselves, so no request reaches the route.

    A listener conflicts with another one, contradicts itself, or is not supported, or its Gateway is not accepted. The
    findings about these say what to change; the route itself may be right.

    Source: ListenerConditionAccepted, ListenerConditionConflicted and GatewayConditionAccepted (Gateway API,
    apis/v1/gateway_types.go).
    """
    problems: dict[NodeRef, str] = {}
    for route in world.routes:
        refusing: dict[NodeRef, Binding] = {}
        for binding in world.relations.bindings(route.ref):
            node = binding.listener or NodeRef(binding.parent)
            if node not in problems:
                problems[node] = _problem_of(world, node)
            if binding.state == "unknown" or (binding.counts_as_attached and not problems[node]):
                refusing = {}
                break
            if problems[node] and (binding.counts_as_attached or binding.reason == NO_PARENT):
                refusing[node] = binding
        if refusing:
            yield _out_of_service(world, route, refusing, problems)


def _problem_of(world: LintWorld, node: NodeRef) -> str:
    """Return the reason why a listener, or the Gateway of a listener, is not accepted; "" if it is, or may be."""
    gateways = world.gateways
    ignored = world.relations.why_ignored(node)
    if ignored:
        return ignored.message
    for condition in listener_conditions(gateways, node):
        if condition.type == "Accepted" and condition.status == "False":
            return f"{listener_label(node)} is not accepted: {condition.message}"
    listener = gateways.listener(node)
    if listener is None:
        return ""
    for contradiction in contradictions(listener):
        if contradiction.kind == "rejected" or (contradiction.kind == "missing" and _is_required(world, listener)):
            return f"{listener_label(node)} is not valid: {contradiction.message}"
    return ""


def _is_required(world: LintWorld, listener: Listener) -> bool:
    """Whether the controller of a listener is known to need what Gateway API requires."""
    return world.gateways.profile_of(listener.gateway).certificates == "required"


def _out_of_service(
    world: LintWorld, route: Resource, refusing: Mapping[NodeRef, Binding], problems: Mapping[NodeRef, str]
) -> Finding:
    (node, binding), *more = refusing.items()
    several = f"none of the {len(refusing)} listeners that take it is accepted: " if more else ""
    return Finding(
        subject=route.ref,
        field=f"spec.parentRefs[{binding.parent_index}]",
        message=f"{several}{problems[node]}; no request reaches it",
        reason=binding.reason,
        related=tuple(world.related_listener(listener, "not accepted") for listener in islice(refusing, MAX_RELATED)),
    )


@lint_rule("GWP6013", "error")
def listener_invalid(world: LintWorld) -> Iterator[Finding]:
    """A listener contradicts itself, or has a protocol or TLS mode that its controller does not support.

    The controller does not accept the listener, or an API server rejects its Gateway or ListenerSet. Protocols HTTPS
    and TLS need `tls`, with certificates if the listener terminates TLS, and without them if TLS passes through; other
    protocols take no `tls`, and TCP and UDP no hostname. A protocol that is none of Gateway API may be one of the
    implementation; without a profile of it, that is unknown. Some implementations reserve ports, or have TLS options
    that need CA certificates. HTTPS without `tls` is a warning if the implementation may
    find certificates elsewhere, and so are certificates that are ignored.

    Source: ProtocolType, Listener.TLS and ListenerTLSConfig.Mode (Gateway API, apis/v1/gateway_types.go);
    ListenerReasonInvalid, ListenerReasonUnsupportedProtocol and ListenerReasonUnsupportedValue.
    """
    for owner, listener in world.listeners:
        if is_unfilled(listener.protocol):
            continue
        if listener.protocol not in ROUTES_BY_PROTOCOL:
            yield _unknown_protocol(world, owner, listener)
        elif not world.gateways.supports_mode(listener):
            yield Finding(
                subject=owner.ref,
                field=f"{listener.field}.tls.mode",
                message=f"listener {listener.name}: its implementation does not terminate TLS for protocol TLS",
                reason="UnsupportedValue",
            )
        refusal = listener_refusal(world.gateways, listener)
        for contradiction in (*contradictions(listener), *((refusal,) if refusal else ())):
            yield from _contradiction(world, owner, listener, contradiction)


def _unknown_protocol(world: LintWorld, owner: Resource, listener: Listener) -> Finding:
    protocol = text_at(listener.raw, "protocol")
    field, known = f"{listener.field}.protocol", list(ROUTES_BY_PROTOCOL)
    message = f"listener {listener.name}: protocol {protocol} is none of Gateway API, which has {', '.join(known)}"
    near = nearest(listener.protocol, known)
    fix = Fix(words=f"did you mean {near}?", value=near) if near else None
    if not fix and world.gateways.profile_of(listener.gateway) is STANDARD_GATEWAYS:
        return world.unknown(owner, field, f"{message}; whether its implementation supports it is unknown")
    return Finding(subject=owner.ref, field=field, message=message, reason="UnsupportedProtocol", fix=fix)


def _contradiction(
    world: LintWorld, owner: Resource, listener: Listener, contradiction: Contradiction
) -> Iterator[Finding]:
    """Yield a finding unless a definition says the same, or the implementation finds certificates elsewhere."""
    lacks_tls = contradiction.kind == "missing" and contradiction.field == "tls"
    if contradiction.kind == "rejected" and _is_rejected(world, owner):
        return
    if lacks_tls and world.gateways.profile_of(listener.gateway).certificates == "elsewhere":
        return
    is_doubtful = contradiction.kind == "ignored" or (lacks_tls and not _is_required(world, listener))
    yield Finding(
        subject=owner.ref,
        field=f"{listener.field}.{contradiction.field}",
        message=f"listener {listener.name}: {contradiction.message}",
        reason="Invalid",
        severity="warning" if is_doubtful else None,
    )


def _is_rejected(world: LintWorld, owner: Resource) -> bool:
    """Whether a definition is known that rejects the listeners of an object."""
    problems = world.analysis.shape_problems_of(owner.ref)
    return any(problem.rule == "schema" and problem.field.startswith("spec.listeners") for problem in problems)


@lint_rule("GWP6014", "error")
def address_unsupported(world: LintWorld) -> Iterator[Finding]:
    """A Gateway requests an address of a type that its controller does not support.

    The controller does not accept the Gateway, so no request reaches its routes. Gateway API has the types IPAddress,
    Hostname and NamedAddress, and implementations can have types of their own, with their domain. The profile of an
    implementation lists the types that it supports; without it, a type with a domain is unknown.

    Source: GatewaySpecAddress.Type (Gateway API, apis/v1/gateway_types.go); GatewayReasonUnsupportedAddress.
    """
    for gateway in world.of_kind(GATEWAY):
        supported = world.gateways.profile_of(gateway.ref).address_types
        for position, address in enumerate(items_at(gateway.raw, "spec.addresses")):
            type_ = text_at(address, "type", "IPAddress")
            if type_ in (supported or ADDRESS_TYPES) or is_unfilled(type_):
                continue
            field = f"spec.addresses[{position}].type"
            known = sorted(supported or ADDRESS_TYPES)
            if not supported and _DOMAIN_END in type_:
                message = f"whether its implementation supports addresses of type {type_} is unknown"
                yield world.unknown(gateway, field, message)
            else:
                message = f"addresses of type {type_} are not supported, only {', '.join(known)}"
                yield Finding(
                    subject=gateway.ref,
                    field=field,
                    message=message,
                    reason="UnsupportedAddress",
                    related=world.routes_refused_at(NodeRef(gateway.ref)),
                )
