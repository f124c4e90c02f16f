"""References of routes to backends (GWP5001 to GWP5004, GWP5007 to GWP5011, and GWP5015)."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final, Literal, TypeAlias

from msgspec.structs import replace

from kubectl_policy.lint.finding import MAX_RELATED, Finding, Fix, Related, some
from kubectl_policy.lint.rule import lint_rule
from kubectl_policy.model import GroupKind, ObjectRef, Resource
from kubectl_policy.model.fields import items_at, labels_of, mappings_at, text_at, value_at
from kubectl_policy.model.kind_roles import GRPC_ROUTE, HTTP_ROUTE, PORT_HOLDERS, ROUTES, SERVICE, UDP_ROUTE
from kubectl_policy.model.unknown import Port, is_unknown_kind, port_at
from kubectl_policy.model.world import grouped
from kubectl_policy.topology.references import NOT_PERMITTED, parent_refs

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence
    from collections.abc import Set as AbstractSet

    from kubectl_policy.lint.lint_world import LintWorld
    from kubectl_policy.topology import Topology
    from kubectl_policy.topology.backends import Backend

_Failing: TypeAlias = "tuple[Resource, Backend]"
# What may be wrong with a reference; nothing, for what is said otherwise, or is taken to exist.
_Concern: TypeAlias = Literal["missing", "port", "kind", "permission", "mirror", "protocol", "nothing"]
# The protocols of ports, each with the application protocol of it, empty without one.
_Ports: TypeAlias = "Mapping[tuple[ObjectRef, Port | None], AbstractSet[tuple[str, str]]]"
_ENDPOINT_SLICE: Final = GroupKind("discovery.k8s.io", "EndpointSlice")
_ENDPOINTS: Final = GroupKind("", "Endpoints")
_SERVICE_NAME: Final = "kubernetes.io/service-name"
# By GEP-1911's table of combinations; a GRPCRoute speaks HTTP/2.
_NOT_GRPC: Final = frozenset({"kubernetes.io/ws", "kubernetes.io/wss"})
_PLAIN: Final = frozenset({("TCP", "")})


@lint_rule("GWP5001", "error", "closed world")
def backend_not_found(world: LintWorld) -> Iterator[Finding]:
    """A route sends requests to a backend that does not exist.

    The share of requests that the weight assigns to the backend fails: HTTP requests get status 500, requests of a
    GRPCRoute get UNAVAILABLE, and TCP connections are refused. The same applies to a rule that delegates to routes if
    no such route exists, or if none accepts the requests.

    Source: RouteReasonBackendNotFound (Gateway API, apis/v1/shared_types.go); HTTPRouteRule.BackendRefs
    (apis/v1/httproute_types.go).
    """
    for route, backend in _with(world, "missing"):
        named, is_named = backend.ref.object, not backend.is_any and backend.ref.object.name
        field = f"{backend.ref.field}.name" if is_named else backend.ref.field
        related = tuple(_refused(world, route, backend))[:MAX_RELATED]
        fix = world.meant(named, world.trials.backend(route.ref, backend.ref)) if is_named else None
        yield _broken(world, route, backend, field=field, related=related, fix=fix)


@lint_rule("GWP5002", "error")
def backend_port_missing(world: LintWorld) -> Iterator[Finding]:
    """A route names no port of a Service, or a port that the Service does not have.

    The backend counts as missing, and its share of requests fails. The reference names the `port` of the Service, not
    the `targetPort` of its Pods.

    Source: BackendObjectReference.Port, "Port is required when the referent is a Kubernetes Service" (Gateway API,
    apis/v1/object_reference_types.go).
    """
    for route, backend in _with(world, "port"):
        wanted, field = backend.ref.port, backend.ref.field
        ports = [
            (number, port_at(port, "targetPort"))
            for port in mappings_at(world.index.defaulted(backend.ref.object), "spec.ports")
            if (number := port_at(port, "port")) is not None
        ]
        meant = [number for number, target in ports if target == wanted] or [number for number, _ in ports]
        # Of several ports it is one whose Pods listen where the route wants to go.
        is_clear = len(meant) == 1 and bool(wanted)
        fix = Fix(words=f"did you mean port {meant[0]}?", value=str(meant[0])) if is_clear else None
        known = f"; it has {some([number for number, _ in ports])}" if ports else "; it has none"
        yield _broken(world, route, backend, field=f"{field}.port" if wanted else field, known=known, fix=fix)


@lint_rule("GWP5003", "error")
def backend_kind_unsupported(world: LintWorld) -> Iterator[Finding]:
    """A route names a backend of a kind that cannot be a backend.

    The share of requests for this backend fails. Backends are Services, ServiceImports, and kinds of an implementation.
    A kind that does not exist (neither a definition nor an object of it) is reported only if the input is complete.

    Source: RouteReasonInvalidKind (Gateway API, apis/v1/shared_types.go).
    """
    for route, backend in _with(world, "kind"):
        yield _broken(world, route, backend, field=f"{backend.ref.field}.kind")


@lint_rule("GWP5004", "error", "closed world")
def ref_not_permitted(world: LintWorld) -> Iterator[Finding]:
    """A route names a backend in another namespace without a ReferenceGrant that permits it.

    The share of requests for this backend fails. The ReferenceGrant belongs into the namespace of the backend, and
    names the kind and the namespace of the route: a grant for HTTPRoutes does not cover GRPCRoutes. Routes of a mesh,
    which are attached only to Services, need no grant for backends in the namespace of such a Service, and mostly none
    for others; for these the result is unknown.

    Source: RouteReasonRefNotPermitted (Gateway API, apis/v1/shared_types.go); GEP-1294 and MeshConsumerRoute (Gateway
    API, conformance/tests/mesh), for the mesh.
    """
    for route, backend in _with(world, "permission"):
        named, field = backend.ref.object, f"{backend.ref.field}.namespace"
        parents = parent_refs(world.index, route.ref)
        if parents and all(parent.object.group_kind in PORT_HOLDERS for parent in parents):
            if named.namespace in {parent.object.namespace for parent in parents}:
                continue
            message = f"no ReferenceGrant lets it refer to {named}, and whether the mesh asks for one is not known"
            yield world.unknown(route, field, message)
            continue
        delegates = backend.routes is not None
        target = ObjectRef(HTTP_ROUTE, named.namespace, "" if backend.is_any else named.name) if delegates else named
        related = world.closed_grants(named.namespace)
        yield _broken(world, route, backend, field=field, related=related, fix=world.grant_for(route.ref, target))


@lint_rule("GWP5015", "warning", "closed world")
def mirror_backend_invalid(world: LintWorld) -> Iterator[Finding]:
    """A route mirrors requests to a backend that does not exist.

    The requests themselves are served, but no request is mirrored, and the route reports that its references do not
    resolve.

    Source: HTTPRequestMirrorFilter.BackendRef, "If the referent cannot be found, this BackendRef is invalid and must be
    dropped" (Gateway API, apis/v1/httproute_types.go).
    """
    for route, backend in _with(world, "mirror"):
        is_there = world.index.get(backend.ref.object) is not None
        tried = "" if is_there else world.trials.backend(route.ref, backend.ref)
        fix = None if is_there else world.meant(backend.ref.object, tried)
        field = backend.ref.field if is_there else f"{backend.ref.field}.name"
        yield _broken(world, route, backend, field=field, fix=fix)


def _with(world: LintWorld, concern: _Concern) -> Sequence[_Failing]:
    return world.once(_by_concern).get(concern, ())


def _by_concern(world: LintWorld) -> Mapping[_Concern, Sequence[_Failing]]:
    return grouped((_concern(world, route, backend), (route, backend)) for route, backend in world.failed_backends)


def _concern(world: LintWorld, route: Resource, backend: Backend) -> _Concern:
    named, reason, plain = backend.ref.object, backend.reason, backend.routes is None
    presence = world.index.presence(named)
    is_assumed = presence == "present" and world.index.get(named) is None
    if (route.ref, backend.ref.field) in world.relations.delegations.circular_refs or is_assumed:
        return "nothing"
    if reason == "UnsupportedProtocol":
        return "protocol"
    permitted = world.topology.gateways.permit(route.ref, named) if plain else True
    if reason == NOT_PERMITTED or (not reason and permitted is None):
        return "permission"
    if is_mirror(backend):
        return "mirror"
    if reason == "InvalidKind" or is_unknown_kind(named.group_kind):
        return "kind"
    return "port" if plain and presence == "present" else "missing"


def _refused(world: LintWorld, route: Resource, backend: Backend) -> Iterator[Related]:
    """Yield the routes that a delegating reference selects but that refuse it, with the reasons."""
    delegations = world.relations.delegations
    for ref in delegations.refs.get(route.ref, ()) if backend.routes is not None else ():
        if ref.ref.field == backend.ref.field:
            for child in (*ref.children, *ref.foreign_routes):
                refused = (link.message for link in delegations.to(child) if link.parent == ref.parent)
                yield from (world.related(child, message) for message in refused if message)


def _broken(  # noqa: PLR0913 (what findings have)
    world: LintWorld,
    route: Resource,
    backend: Backend,
    *,
    field: str,
    known: str = "",
    related: tuple[Related, ...] = (),
    fix: Fix | None = None,
) -> Finding:
    message, named = backend.message.replace(f"lets {route.ref} refer", "lets it refer"), backend.ref.object
    # By such a name, some implementations mean all routes of a namespace.
    if backend.state == "unknown" or (named.group_kind in ROUTES and backend.routes is None and named.name == "*"):
        is_unread = named.name and world.index.presence(named) == "unknown"
        return world.unknown(
            route, field, message, name=world.trials.backend(route.ref, backend.ref) if is_unread else ""
        )
    if backend.reason == "InvalidKind" and named.group_kind.group and named.group_kind not in world.index.kinds:
        message = f"{named} does not exist, nor does any other {named.group_kind}"
    return Finding(
        subject=route.ref,
        field=field,
        message=f"{message}{known}{lost_with(world.topology, route.ref, backend)}",
        reason=backend.reason,
        related=related or ((world.related(named),) if world.index.get(named) else ()),
        fix=fix,
    )


def sharing(backends: Sequence[Backend]) -> Mapping[int, Sequence[Backend]]:
    """Return the backends among which each rule of a route divides its requests, by the index of the rule."""
    forwarding = (backend for backend in backends if backend.ref.forwards and backend.routes is None)
    return grouped((backend.ref.rule, backend) for backend in forwarding)


def lost_with(topology: Topology, route: ObjectRef, backend: Backend, status: str = "500") -> str:
    """Return the consequence of an unusable backend for the requests to its rule, as a clause after a semicolon.

    It is "" if the consequence is unknown or the rule answers requests itself.
    """
    if is_mirror(backend):
        return "; nothing is mirrored"
    if not backend.ref.forwards:
        return "; requests to this rule are refused, as nothing can let them in"
    filters = mappings_at(topology.index.defaulted(route), f"spec.rules[{backend.ref.rule}].filters")
    if backend.routes is not None or any(value_at(entry, "requestRedirect") is not None for entry in filters):
        return ""
    traffic, fail = "connections", "fail"
    if route.group_kind in (HTTP_ROUTE, GRPC_ROUTE):
        traffic, fail = "requests", f"get status {'UNAVAILABLE' if route.group_kind == GRPC_ROUTE else status}"
    sharers = sharing(topology.backends(route)).get(backend.ref.rule, ())
    weight, whole = backend.ref.weight, sum(max(sharer.ref.weight, 0) for sharer in sharers)
    if weight <= 0:
        return f"; none of the {traffic} fail, as its weight is 0"
    share = "" if weight == whole else f"{max(round(100 * weight / whole), 1)}% of the "
    return f"; {share}{traffic} to this rule {fail}"


def is_mirror(backend: Backend) -> bool:
    """Whether requests are only mirrored to a backend."""
    return ".requestMirror." in backend.ref.field


@lint_rule("GWP5007", "warning", "status")
def backend_no_endpoints(world: LintWorld) -> Iterator[Finding]:
    """A route sends requests to a Service without ready endpoints.

    The share of requests for this backend gets status 503. The rule needs the EndpointSlices or Endpoints of the
    Service in the input.

    Source: HTTPRouteRule.BackendRefs, "a Service that has no ready endpoints" (Gateway API,
    apis/v1/httproute_types.go).
    """
    without = {service for service in _without_endpoints(world) if world.index.get(service)}
    for route in world.routes if without else ():
        for backend in world.relations.backends(route.ref):
            service = backend.ref.object
            if service in without and backend.state == "resolved" and backend.ref.forwards and backend.ref.weight:
                message = f"no endpoint of {service} is ready{lost_with(world.topology, route.ref, backend, '503')}"
                related = (world.related(service),)
                yield Finding(subject=route.ref, field=backend.ref.field, message=message, related=related)


@lint_rule("GWP5008", "error")
def all_weights_zero(world: LintWorld) -> Iterator[Finding]:
    """All backends of a rule have weight 0.

    No backend gets requests, so all requests to the rule fail.

    Source: BackendRef.Weight, "If weight is set to 0, no traffic should be forwarded for this entry" (Gateway API,
    apis/v1/shared_types.go).
    """
    for route in world.routes:
        backends = world.relations.backends(route.ref)
        if [backend for backend in backends if not backend.ref.weight]:
            for rule, every in sharing(backends).items():
                if not any(backend.ref.weight for backend in every):
                    field = f"spec.rules[{rule}].backendRefs"
                    message = "none of its backends has a weight above 0, so requests to this rule fail"
                    yield Finding(subject=route.ref, field=field, message=message)


@lint_rule("GWP5009", "info")
def weight_single_backend(world: LintWorld) -> Iterator[Finding]:
    """The only backend of a rule has a weight, which has no effect.

    The backend gets all requests, whatever its weight. The weight may be left over from a rollout, or another backend
    may be missing.

    Source: BackendRef.Weight, "If only one backend is specified and it has a weight greater than 0, 100% of the traffic
    is forwarded to that backend" (Gateway API, apis/v1/shared_types.go); Kiali's KIA1104.
    """
    for route in world.routes:
        backends = world.relations.backends(route.ref)
        if [backend for backend in backends if backend.ref.weight > 1]:
            for first, *siblings in sharing(backends).values():
                if first.ref.weight > 1 and not siblings:
                    message = f"weight {first.ref.weight} has no effect: {first.ref.object} is the only backend here"
                    yield Finding(subject=route.ref, field=f"{first.ref.field}.weight", message=message)


@lint_rule("GWP5010", "warning")
def duplicate_backendref(world: LintWorld) -> Iterator[Finding]:
    """A rule names the same backend twice.

    The weights add up, so the backend gets more requests than each entry shows; or one of the entries should name
    another backend. Two entries with filters of their own are not duplicates.

    Source: Kiali's KIA1105, for the same mistake in Istio.
    """
    for route in world.routes:
        backends = world.relations.backends(route.ref)
        if len(backends) > 1 and len({(backend.ref.rule, backend.ref.object) for backend in backends}) < len(backends):
            first = dict[object, str]()
            for ref in (backend.ref for every in sharing(backends).values() for backend in every):
                if not items_at(world.index.defaulted(route.ref), f"{ref.field}.filters"):
                    earlier = first.setdefault((ref.rule, ref.object, ref.port), ref.field)
                    if earlier != ref.field:
                        message = f"it names {ref.object} as {earlier} does, so their weights add up"
                        yield Finding(subject=route.ref, field=ref.field, message=message)


@lint_rule("GWP5011", "warning")
def app_protocol_mismatch(world: LintWorld) -> Iterator[Finding]:
    """A route sends requests to a port with another protocol.

    The port is for UDP and the route is not, or the reverse; or a GRPCRoute leads to a port for WebSockets
    (`appProtocol`); or the implementation is declared to lack support for the protocol of the port. Requests or
    connections fail.

    Source: RouteReasonUnsupportedProtocol (Gateway API, apis/v1/shared_types.go); GEP-1911.
    """
    for route, backend in _with(world, "protocol"):
        yield _broken(world, route, backend, field=f"{backend.ref.field}.port")
    unusual = _unusual_ports(world)
    for route in world.routes:
        if unusual or route.ref.group_kind == UDP_ROUTE:
            yield from _mismatches(world, route, unusual)


def _without_endpoints(world: LintWorld) -> AbstractSet[ObjectRef]:
    ready: dict[ObjectRef, bool] = {}
    for endpoints in world.index.of_kind(_ENDPOINTS):
        is_any = any(items_at(subset, "addresses") for subset in mappings_at(endpoints.raw, "subsets"))
        ready[replace(endpoints.ref, group_kind=SERVICE)] = is_any
    slices: dict[ObjectRef, bool] = {}
    for slice_ in world.index.of_kind(_ENDPOINT_SLICE):
        service = ObjectRef(SERVICE, slice_.ref.namespace, labels_of(slice_.raw).get(_SERVICE_NAME, ""))
        # "A nil value should be interpreted as true" (EndpointConditions.Ready).
        slice_endpoints = mappings_at(slice_.raw, "endpoints")
        is_any = any(value_at(endpoint, "conditions.ready") is not False for endpoint in slice_endpoints)
        slices[service] = slices.get(service, False) or is_any
    return {service for service, is_any in {**ready, **slices}.items() if not is_any}


def _unusual_ports(world: LintWorld) -> _Ports:
    """Return the protocols of the ports of Services that have any but plain TCP."""
    ports_of: dict[tuple[ObjectRef, Port | None], set[tuple[str, str]]] = {}
    for service in world.index.of_kind(SERVICE):
        ports = mappings_at(service.raw, "spec.ports")
        protocols = [(text_at(port, "protocol", "TCP"), text_at(port, "appProtocol")) for port in ports]
        if any(protocol != "TCP" or application in _NOT_GRPC for protocol, application in protocols):
            for port, pair in zip(ports, protocols, strict=True):
                ports_of.setdefault((service.ref, port_at(port, "port")), set()).add(pair)
    return ports_of


def _mismatches(world: LintWorld, route: Resource, unusual: _Ports) -> Iterator[Finding]:
    kind = route.ref.group_kind
    wanted, unwanted = ("UDP", "TCP") if kind == UDP_ROUTE else ("TCP", "UDP")
    for backend in world.relations.backends(route.ref):
        ref = backend.ref
        if backend.state != "resolved" or ref.object.group_kind != SERVICE or not world.index.get(ref.object):
            continue
        protocols = unusual.get((ref.object, ref.port), _PLAIN)
        spoken = {application for protocol, application in protocols if protocol != unwanted}
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
