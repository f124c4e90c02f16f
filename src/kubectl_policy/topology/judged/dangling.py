"""References of the hierarchy that lead nowhere, or to something that is not in the input."""

from __future__ import annotations

from typing import TYPE_CHECKING

from msgspec.structs import replace

from kubectl_policy.model.unknown import is_open
from kubectl_policy.topology.gateway.handshake import NO_PARENT
from kubectl_policy.topology.references import (
    GATEWAY,
    GATEWAY_CLASS,
    NOT_PERMITTED,
    ROUTES,
    WITH_PARAMETERS,
    parameters_ref,
    parent_refs,
)

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from kubectl_policy.model import Diagnostic, ObjectRef, Resource
    from kubectl_policy.topology.backends import Backend
    from kubectl_policy.topology.references import BackendRef
    from kubectl_policy.topology.relations import Relations


def dangling_references(relations: Relations, resource: Resource) -> Iterator[Diagnostic]:
    """A diagnostic for each such reference of a route, or of a GatewayClass, a Gateway or a ListenerSet.

    Rules: `missing-reference` (an error, the object does not exist), `unknown-reference` (info, it is not in the
    input), `reference-not-permitted` (an error, a ReferenceGrant is missing), with the API's reason where it has one,
    and `no-weight` (a warning, all backends of a rule have weight 0).
    References by which requests would circle are left to `Topology.cycles`.
    """
    if resource.ref.group_kind in ROUTES:
        yield from _of_route(relations, resource)
    elif resource.ref.group_kind == GATEWAY_CLASS:
        yield from _of_parameters(relations, resource)
    else:
        gateways, is_gateway = relations.gateways, resource.ref.group_kind == GATEWAY
        above = gateways.class_of(resource.ref) if is_gateway else gateways.gateway_of(resource.ref)
        if above:
            yield from _absent(
                relations, resource, "spec.gatewayClassName" if is_gateway else "spec.parentRef", above, ""
            )
        yield from _of_parameters(relations, resource)
        yield from _of_listeners(relations, resource)


def _of_parameters(relations: Relations, holder: Resource) -> Iterator[Diagnostic]:
    """Parameters that are missing: "the Gateway SHOULD be rejected" with InvalidParameters, and so should a class."""
    named = parameters_ref(relations.index, holder.ref) if holder.ref.group_kind in WITH_PARAMETERS else None
    presence = relations.index.presence(named.object) if named else "present"
    if named and presence == "missing":
        lost = f"controllers should not accept the {holder.ref.kind} for that"
        message = f"{named.object} does not exist; {lost}"
        yield broken_reference(holder, named.field, named.object, message, "InvalidParameters")
    elif named and presence == "unknown":
        yield _unknown(holder, named.field, named.object, relations.index.not_here(named.object))


def _of_listeners(relations: Relations, owner: Resource) -> Iterator[Diagnostic]:
    """The certificates that are known to be broken; one that was not read takes nothing from an answer."""
    from kubectl_policy.topology.gateway.certificates import certificate_refs  # noqa: PLC0415 (most objects are routes)

    for listener in relations.gateways.listeners(owner.ref):
        for ref in certificate_refs(relations.gateways, listener):
            if ref.problem and not ref.problem.certain and is_open(ref.target):
                yield _unknown(owner, ref.field, ref.target, ref.problem.message)
            if ref.problem and ref.problem.certain:
                reason = NOT_PERMITTED if ref.problem.reason == NOT_PERMITTED else "InvalidCertificateRef"
                yield broken_reference(owner, ref.field, ref.target, ref.problem.message, reason)


def _of_route(relations: Relations, route: Resource) -> Iterator[Diagnostic]:
    # There are many routes, and most of them are in order.
    for parent in parent_refs(relations.index, route.ref):
        if relations.index.presence(parent.object) != "present":
            field = f"spec.parentRefs[{parent.position}]"
            yield from _absent(relations, route, field, parent.object, NO_PARENT)
    backends = relations.backends(route.ref)
    for backend in [each for each in backends if each.state != "resolved"]:
        field, named = backend.ref.field, None if backend.is_any else backend.ref.object
        if backend.state == "unknown":
            yield _unknown(route, field, named, backend.message)
        elif (route.ref, field) not in relations.delegations.circling:
            yield broken_reference(route, field, named, backend.message, backend.reason)
    if [each for each in backends if not each.ref.weight]:
        yield from _without_weight(route, backends)
    if relations.filters_of(route.ref):
        yield from _of_filters(relations, route)


def _without_weight(route: Resource, backends: Iterable[Backend]) -> Iterator[Diagnostic]:
    """The rules whose backends all have weight 0; implementations answer requests with 500 or 503."""
    rules: dict[int, list[BackendRef]] = {}
    for backend in backends:
        if backend.ref.forwards and backend.routes is None:
            rules.setdefault(backend.ref.rule, []).append(backend.ref)
    for rule, refs in rules.items():
        if not any(ref.weight for ref in refs):
            field = f"spec.rules[{rule}].backendRefs"
            message = f"{field}: none has a weight, so that requests to this rule get an error response"
            yield route.diagnostic("no-weight", "warning", message, field)


def _of_filters(relations: Relations, route: Resource) -> Iterator[Diagnostic]:
    """Filters that name what does not exist, or is not in the input.

    "Requests that would have been processed by that filter MUST receive a HTTP error response" (HTTPRouteFilter, type
    ExtensionRef).
    """
    for extension in relations.filters_of(route.ref):
        presence = relations.index.presence(extension.object)
        if presence == "missing":
            lost = f"requests to {extension.backend}" if extension.backend else "requests to this rule"
            message = f"{extension.object} does not exist; {lost} get an error response"
            yield broken_reference(route, extension.field, extension.object, message, "")
        elif presence == "unknown":
            yield _unknown(route, extension.field, extension.object, relations.index.not_here(extension.object))


def _absent(relations: Relations, subject: Resource, field: str, to: ObjectRef, reason: str) -> Iterator[Diagnostic]:
    presence = relations.index.presence(to)
    if presence == "missing":
        yield broken_reference(subject, field, to, f"{to} does not exist", reason)
    elif presence == "unknown":
        yield _unknown(subject, field, to, relations.index.not_here(to))


def broken_reference(subject: Resource, field: str, to: ObjectRef | None, message: str, reason: str) -> Diagnostic:
    """The diagnostic for a reference that is known to lead nowhere, with the API's reason if it has one."""
    rule = "reference-not-permitted" if reason == NOT_PERMITTED else "missing-reference"
    diagnostic = subject.diagnostic(rule, "error", f"{field}: {message}", field, (to,) if to else ())
    return replace(diagnostic, reason=reason)


def _unknown(subject: Resource, field: str, to: ObjectRef | None, message: str) -> Diagnostic:
    return subject.diagnostic("unknown-reference", "info", f"{field}: {message}", field, (to,) if to else ())
