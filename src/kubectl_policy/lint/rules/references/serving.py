"""GWP5007 to GWP5011: backends that exist, which requests they get, and whether they can take them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final, TypeAlias

from msgspec.structs import replace

from kubectl_policy.lint.finding import Finding
from kubectl_policy.lint.rule import lint_rule
from kubectl_policy.lint.rules.references.backends import lost_with, sharing, unsupported_protocol
from kubectl_policy.model import GroupKind, ObjectRef
from kubectl_policy.model.fields import items_at, labels_of, mappings_at, text_at, value_at
from kubectl_policy.model.kinds import SERVICE
from kubectl_policy.model.unknown import port_at
from kubectl_policy.topology.references import GRPC_ROUTE, UDP_ROUTE

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping
    from collections.abc import Set as AbstractSet

    from kubectl_policy.lint.linted import Linted
    from kubectl_policy.model import Resource
    from kubectl_policy.model.unknown import Port

# The protocols of ports, each with the application protocol of it, empty without one.
_Ports: TypeAlias = "Mapping[tuple[ObjectRef, Port | None], AbstractSet[tuple[str, str]]]"

_ENDPOINT_SLICE: Final = GroupKind("discovery.k8s.io", "EndpointSlice")
_ENDPOINTS: Final = GroupKind("", "Endpoints")
_SERVICE_NAME: Final = "kubernetes.io/service-name"
# By GEP-1911's table of combinations; a GRPCRoute speaks HTTP/2.
_NOT_GRPC: Final = frozenset({"kubernetes.io/ws", "kubernetes.io/wss"})
_PLAIN: Final = frozenset({("TCP", "")})


@lint_rule("GWP5007", "warning", "status")
def backend_no_endpoints(world: Linted) -> Iterator[Finding]:
    """A route sends requests to a Service of which no endpoint is ready.

    Its share of requests gets status 503. It is found only where the EndpointSlices, or the Endpoints, of the Service
    were read.

    Source: HTTPRouteRule.BackendRefs, "a Service that has no ready endpoints" (Gateway API,
    apis/v1/httproute_types.go).
    """
    without = _without_endpoints(world)
    for route in world.routes if without else ():
        for backend in world.relations.backends(route.ref):
            service = backend.ref.object
            if service in without and backend.state == "resolved" and backend.ref.forwards and backend.ref.weight:
                message = f"no endpoint of {service} is ready{lost_with(world.topology, route.ref, backend, '503')}"
                related = (world.related(service),) if world.index.get(service) else ()
                yield Finding(subject=route.ref, field=backend.ref.field, message=message, related=related)


@lint_rule("GWP5008", "error")
def all_weights_zero(world: Linted) -> Iterator[Finding]:
    """All backends of a rule have the weight 0.

    No backend gets any request, so that all requests to the rule fail.

    Source: BackendRef.Weight, "If weight is set to 0, no traffic should be forwarded for this entry" (Gateway API,
    apis/v1/shared_types.go).
    """
    for route in world.routes:
        backends = world.relations.backends(route.ref)
        if [each for each in backends if not each.ref.weight]:
            for rule, every in sharing(backends).items():
                if not any(each.ref.weight for each in every):
                    field = f"spec.rules[{rule}].backendRefs"
                    message = "none of its backends has a weight above 0, so that requests to this rule fail"
                    yield Finding(subject=route.ref, field=field, message=message)


@lint_rule("GWP5009", "info")
def weight_single_backend(world: Linted) -> Iterator[Finding]:
    """The only backend of a rule has a weight, which means nothing.

    All requests go to it, whatever the weight is. It may be left of a rollout, or another backend may be missing.

    Source: BackendRef.Weight, "If only one backend is specified and it has a weight greater than 0, 100% of the traffic
    is forwarded to that backend" (Gateway API, apis/v1/shared_types.go); Kiali's KIA1104.
    """
    for route in world.routes:
        backends = world.relations.backends(route.ref)
        if [each for each in backends if each.ref.weight > 1]:
            for first, *others in sharing(backends).values():
                if first.ref.weight > 1 and not others:
                    message = f"weight {first.ref.weight} means nothing: {first.ref.object} is the only backend here"
                    yield Finding(subject=route.ref, field=f"{first.ref.field}.weight", message=message)


@lint_rule("GWP5010", "warning")
def duplicate_backendref(world: Linted) -> Iterator[Finding]:
    """A rule names the same backend twice.

    Their weights add up, so that it gets more requests than it seems to; or another backend is meant. Two that have
    filters of their own are no duplicates.

    Source: Kiali's KIA1105, for the same mistake in Istio.
    """
    for route in world.routes:
        backends = world.relations.backends(route.ref)
        if len(backends) > 1 and len({(each.ref.rule, each.ref.object) for each in backends}) < len(backends):
            first = dict[object, str]()
            for ref in (each.ref for every in sharing(backends).values() for each in every):
                if not items_at(world.index.raw(route.ref), f"{ref.field}.filters"):
                    earlier = first.setdefault((ref.rule, ref.object, ref.port), ref.field)
                    if earlier != ref.field:
                        message = f"it names {ref.object} as {earlier} does, so that their weights add up"
                        yield Finding(subject=route.ref, field=ref.field, message=message)


@lint_rule("GWP5011", "warning")
def app_protocol_mismatch(world: Linted) -> Iterator[Finding]:
    """A route sends requests to a port that is for another protocol.

    The port is for UDP and the route is not, or the other way round; a GRPCRoute leads to WebSockets, by `appProtocol`;
    or the implementation is said to lack the protocol that the port asks for. Requests fail, or connections do.

    Source: RouteReasonUnsupportedProtocol (Gateway API, apis/v1/shared_types.go); GEP-1911.
    """
    yield from unsupported_protocol(world)
    unusual = _unusual_ports(world)
    for route in world.routes:
        if unusual or route.ref.group_kind == UDP_ROUTE:
            yield from _mismatches(world, route, unusual)


def _without_endpoints(world: Linted) -> AbstractSet[ObjectRef]:
    ready: dict[ObjectRef, bool] = {}
    for each in world.index.of_kind(_ENDPOINTS):
        is_any = any(items_at(subset, "addresses") for subset in mappings_at(each.raw, "subsets"))
        ready[replace(each.ref, group_kind=SERVICE)] = is_any
    slices: dict[ObjectRef, bool] = {}
    for each in world.index.of_kind(_ENDPOINT_SLICE):
        service = ObjectRef(SERVICE, each.ref.namespace, labels_of(each.raw).get(_SERVICE_NAME, ""))
        # "A nil value should be interpreted as true" (EndpointConditions.Ready).
        is_any = any(value_at(each, "conditions.ready") is not False for each in mappings_at(each.raw, "endpoints"))
        slices[service] = slices.get(service, False) or is_any
    return {service for service, is_any in {**ready, **slices}.items() if not is_any}


def _unusual_ports(world: Linted) -> _Ports:
    """The ports of Services with which something may be wrong, by what they say."""
    found: dict[tuple[ObjectRef, Port | None], set[tuple[str, str]]] = {}
    for service in world.index.of_kind(SERVICE):
        ports = mappings_at(service.raw, "spec.ports")
        said = [(text_at(port, "protocol", "TCP"), text_at(port, "appProtocol")) for port in ports]
        if any(protocol != "TCP" or application in _NOT_GRPC for protocol, application in said):
            for port, pair in zip(ports, said, strict=True):
                found.setdefault((service.ref, port_at(port, "port")), set()).add(pair)
    return found


def _mismatches(world: Linted, route: Resource, unusual: _Ports) -> Iterator[Finding]:
    kind = route.ref.group_kind
    wanted, unwanted = ("UDP", "TCP") if kind == UDP_ROUTE else ("TCP", "UDP")
    for backend in world.relations.backends(route.ref):
        ref = backend.ref
        if backend.state != "resolved" or ref.object.group_kind != SERVICE or not world.index.get(ref.object):
            continue
        said = unusual.get((ref.object, ref.port), _PLAIN)
        spoken = {application for protocol, application in said if protocol != unwanted}
        if not spoken:
            message = f"port {ref.port} of {ref.object} is for {unwanted}, and {kind.kind}s need {wanted}"
        elif kind == GRPC_ROUTE and spoken <= _NOT_GRPC:
            message = f"port {ref.port} of {ref.object} is for {', '.join(sorted(spoken))}, and not for gRPC"
        else:
            continue
        yield Finding(
            subject=route.ref,
            field=f"{ref.field}.port",
            message=message,
            reason="UnsupportedProtocol",
            related=(world.related(ref.object, "", "spec.ports"),),
        )
