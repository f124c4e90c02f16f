"""GWP5001 to GWP5004, and GWP5015: references of routes to backends that are not there, or may not be used."""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal, TypeAlias

from kubectl_policy.lint.finding import MOST_RELATED, Finding, Fix, some
from kubectl_policy.lint.rule import lint_rule
from kubectl_policy.model import ObjectRef
from kubectl_policy.model.fields import mappings_at, value_at
from kubectl_policy.model.unknown import is_unknown_kind, port_at
from kubectl_policy.model.world import grouped
from kubectl_policy.topology.references import GRPC_ROUTE, HTTP_ROUTE, NOT_PERMITTED, ROUTES, WITH_PORTS, parent_refs

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from kubectl_policy.lint.finding import Related
    from kubectl_policy.lint.linted import Linted
    from kubectl_policy.model import Resource
    from kubectl_policy.topology import Topology
    from kubectl_policy.topology.backends import Backend

_Failing: TypeAlias = "tuple[Resource, Backend]"
# What may be wrong with a reference; nothing, for what is said otherwise, or is taken to exist.
_Concern: TypeAlias = Literal["missing", "port", "kind", "permission", "mirror", "protocol", "nothing"]


@lint_rule("GWP5001", "error", "closed world")
def backend_not_found(world: Linted) -> Iterator[Finding]:
    """A route sends requests to a backend that does not exist.

    The share of requests that its weight gives to it fails: they get status 500, those of a GRPCRoute UNAVAILABLE, and
    connections are refused. The same holds where a rule delegates to routes, and there is none, or none that takes its
    requests.

    Source: RouteReasonBackendNotFound (Gateway API, apis/v1/shared_types.go); HTTPRouteRule.BackendRefs
    (apis/v1/httproute_types.go).
    """
    for route, backend in _with(world, "missing"):
        named, is_named = backend.ref.object, not backend.is_any and backend.ref.object.name
        field = f"{backend.ref.field}.name" if is_named else backend.ref.field
        related = tuple(_refused(world, route, backend))[:MOST_RELATED]
        fix = world.did_you_mean(named) if is_named else None
        yield _broken(world, route, backend, field=field, related=related, fix=fix)


@lint_rule("GWP5002", "error")
def backend_port_missing(world: Linted) -> Iterator[Finding]:
    """A route names a port that its Service does not have, or none.

    The backend counts as one that is not there, and its share of requests fails. It is the `port` of the Service that
    is named, not the `targetPort` of its Pods.

    Source: BackendObjectReference.Port, "Port is required when the referent is a Kubernetes Service" (Gateway API,
    apis/v1/object_reference_types.go).
    """
    for route, backend in _with(world, "port"):
        wanted, field = backend.ref.port, backend.ref.field
        ports = [
            (number, port_at(port, "targetPort"))
            for port in mappings_at(world.index.raw(backend.ref.object), "spec.ports")
            if (number := port_at(port, "port")) is not None
        ]
        meant = [number for number, target in ports if target == wanted] or [number for number, _ in ports]
        # Of several ports it is one whose Pods listen where the route wants to go.
        is_clear = len(meant) == 1 and bool(wanted)
        fix = Fix(words=f"did you mean port {meant[0]}?", value=str(meant[0])) if is_clear else None
        known = f"; it has {some([number for number, _ in ports])}" if ports else "; it has none"
        yield _broken(world, route, backend, field=f"{field}.port" if wanted else field, known=known, fix=fix)


@lint_rule("GWP5003", "error")
def backend_kind_unsupported(world: Linted) -> Iterator[Finding]:
    """A route names a backend of a kind that can be none.

    Its share of requests fails. Backends are Services; there may be ServiceImports, and kinds of an implementation's
    own. That a kind does not exist, as there is neither a definition of it nor any object, is found only where all is
    known that there is.

    Source: RouteReasonInvalidKind (Gateway API, apis/v1/shared_types.go).
    """
    for route, backend in _with(world, "kind"):
        yield _broken(world, route, backend, field=f"{backend.ref.field}.kind")


@lint_rule("GWP5004", "error", "closed world")
def ref_not_permitted(world: Linted) -> Iterator[Finding]:
    """A route names a backend in another namespace, and no ReferenceGrant there lets it.

    Its share of requests fails. The ReferenceGrant has to be in the namespace of the backend, and to name the kind and
    the namespace of the route: one for HTTPRoutes is none for GRPCRoutes. Routes of a mesh, which are attached to
    Services alone, mostly need none: of these it is not known.

    Source: RouteReasonRefNotPermitted (Gateway API, apis/v1/shared_types.go); GEP-1294, for the mesh.
    """
    for route, backend in _with(world, "permission"):
        named, field = backend.ref.object, f"{backend.ref.field}.namespace"
        parents = parent_refs(world.index, route.ref)
        if parents and all(parent.object.group_kind in WITH_PORTS for parent in parents):
            message = f"no ReferenceGrant lets it refer to {named}, and whether the mesh asks for one is not known"
            yield world.unknown(route, field, message)
            continue
        delegates = backend.routes is not None
        target = ObjectRef(HTTP_ROUTE, named.namespace, "" if backend.is_any else named.name) if delegates else named
        related = world.closed_grants(named.namespace)
        yield _broken(world, route, backend, field=field, related=related, fix=world.grant_for(route.ref, target))


def unsupported_protocol(world: Linted) -> Iterator[Finding]:
    """The references to ports whose protocol the implementation is said to lack, for the rule about protocols."""
    for route, backend in _with(world, "protocol"):
        yield _broken(world, route, backend, field=f"{backend.ref.field}.port")


@lint_rule("GWP5015", "warning", "closed world")
def mirror_backend_invalid(world: Linted) -> Iterator[Finding]:
    """A route mirrors requests to a backend that does not exist.

    The requests themselves are served; but none is mirrored, and the route reports that its references do not resolve.

    Source: HTTPRequestMirrorFilter.BackendRef, "If the referent cannot be found, this BackendRef is invalid and must be
    dropped" (Gateway API, apis/v1/httproute_types.go).
    """
    for route, backend in _with(world, "mirror"):
        is_there = world.index.get(backend.ref.object) is not None
        fix = None if is_there else world.did_you_mean(backend.ref.object)
        yield _broken(
            world, route, backend, field=backend.ref.field if is_there else f"{backend.ref.field}.name", fix=fix
        )


def _with(world: Linted, concern: _Concern) -> Sequence[_Failing]:
    return world.once(_by_concern).get(concern, ())


def _by_concern(world: Linted) -> Mapping[_Concern, Sequence[_Failing]]:
    return grouped((_concern(world, route, backend), (route, backend)) for route, backend in world.not_resolved)


def _concern(world: Linted, route: Resource, backend: Backend) -> _Concern:
    named, reason, plain = backend.ref.object, backend.reason, backend.routes is None
    presence = world.index.presence(named)
    is_assumed = presence == "present" and world.index.get(named) is None
    if (route.ref, backend.ref.field) in world.relations.delegations.circling or is_assumed:
        return "nothing"
    if reason == "UnsupportedProtocol":
        return "protocol"
    permitted = world.index.grants.permit(route.ref.group_kind, route.ref.namespace, named) if plain else True
    if reason == NOT_PERMITTED or (not reason and permitted is None):
        return "permission"
    if is_mirror(backend):
        return "mirror"
    if reason == "InvalidKind" or is_unknown_kind(named.group_kind):
        return "kind"
    return "port" if plain and presence == "present" else "missing"


def _refused(world: Linted, route: Resource, backend: Backend) -> Iterator[Related]:
    """The routes that a reference may stand for, and that it does not delegate to, each with the reason."""
    delegations = world.relations.delegations
    for ref in delegations.refs.get(route.ref, ()) if backend.routes is not None else ():
        if ref.ref.field == backend.ref.field:
            for child in (*ref.children, *ref.strangers):
                refused = (each.message for each in delegations.to(child) if each.parent == ref.parent)
                yield from (world.related(child, message) for message in refused if message)


def _broken(  # noqa: PLR0913 (what findings have)
    world: Linted,
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
        return world.unknown(route, field, message)
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
    """The backends among which each rule of a route shares its requests, by the position of the rule."""
    return grouped(
        (backend.ref.rule, backend) for backend in backends if backend.ref.forwards and backend.routes is None
    )


def lost_with(topology: Topology, route: ObjectRef, backend: Backend, status: str = "500") -> str:
    """What becomes of the requests that a rule would send to a backend that cannot take them, in words.

    They follow a semicolon; none if that is not known, or the rule answers requests itself.
    """
    if is_mirror(backend):
        return "; nothing is mirrored"
    if not backend.ref.forwards:
        return "; requests to this rule are refused, as nothing can let them in"
    filters = mappings_at(topology.index.raw(route), f"spec.rules[{backend.ref.rule}].filters")
    if backend.routes is not None or any(value_at(each, "requestRedirect") is not None for each in filters):
        return ""
    what, fail = "connections", "fail"
    if route.group_kind in (HTTP_ROUTE, GRPC_ROUTE):
        what, fail = "requests", f"get status {'UNAVAILABLE' if route.group_kind == GRPC_ROUTE else status}"
    sharers = sharing(topology.backends(route)).get(backend.ref.rule, ())
    own, whole = backend.ref.weight, sum(max(sharer.ref.weight, 0) for sharer in sharers)
    if own <= 0:
        return f"; none of the {what} fail, as its weight is 0"
    share = "" if own == whole else f"{max(round(100 * own / whole), 1)}% of the "
    return f"; {share}{what} to this rule {fail}"


def is_mirror(backend: Backend) -> bool:
    """Whether requests are only mirrored to a backend."""
    return ".requestMirror." in backend.ref.field
