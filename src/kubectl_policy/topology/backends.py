"""Backends: what each backendRef of a route resolves to, also those by which it delegates."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final, Literal, TypeAlias

from msgspec import Struct
from msgspec.structs import replace

from kubectl_policy.model import NodeRef, ObjectRef, Problem
from kubectl_policy.model.fields import mappings_at, text_at
from kubectl_policy.model.kind_roles import HTTP_ROUTE, PORT_HOLDERS, ROUTES, SERVICE
from kubectl_policy.model.kinds import BUILT_IN, with_article
from kubectl_policy.model.unknown import Port, is_unknown_kind, may_be_port, port_at
from kubectl_policy.topology.delegation.flow import circle_phrase
from kubectl_policy.topology.references import NOT_PERMITTED, BackendRef

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping

    from kubectl_policy.model.index import Index
    from kubectl_policy.topology.delegation.delegations import Delegations
    from kubectl_policy.topology.delegation.references import DelegatingRef
    from kubectl_policy.topology.gateway.gateways import Gateways, Implementation

State: TypeAlias = Literal["resolved", "broken", "unknown"]

_BUILT_IN: Final = frozenset(names.group_kind for names in BUILT_IN) - {*PORT_HOLDERS, *ROUTES}
# KEP-3726's names, and the features of Gateway API that stand for them (pkg/features).
_PROTOCOL_FEATURES: Final[Mapping[str, str]] = {
    "kubernetes.io/h2c": "HTTPRouteBackendProtocolH2C",
    "kubernetes.io/ws": "HTTPRouteBackendProtocolWebSocket",
}


class Backend(Struct, frozen=True, kw_only=True):
    """One backendRef and what it leads to."""

    ref: BackendRef
    # The port if the reference names one that the backend has, else the object, whether or not it exists.
    node: NodeRef
    state: State = "resolved"
    # The API's reason (RouteConditionReason of ResolvedRefs) if the reference is broken.
    reason: str = ""
    # Why the reference is broken, or which unknown it depends on.
    message: str = ""
    # The routes that the reference delegates to; None if it does not delegate.
    routes: tuple[ObjectRef, ...] | None = None
    # Whether the reference names no object, but means any route that has what it says.
    is_any: bool = False

    @property
    def nodes(self) -> tuple[NodeRef, ...]:
        """The nodes that receive requests by the reference: none if it does not forward, or is not permitted.

        Weights share requests among backends; a rule delegates to routes whatever the weight is.
        """
        if not self.ref.forwards or self.reason == NOT_PERMITTED:
            return ()
        if self.routes is None:
            return (self.node,) if self.ref.weight else ()
        return tuple(NodeRef(route) for route in self.routes)

    def with_problem(self, problem: Problem | None) -> Backend:
        """Return the backend with the state, reason and message of a problem."""
        if problem is None:
            return self
        state: State = "broken" if problem.certain else "unknown"
        return replace(self, state=state, reason=problem.reason if problem.certain else "", message=problem.message)


def backends_of(
    gateways: Gateways,
    delegations: Delegations,
    route: ObjectRef,
    refs: Iterable[BackendRef],
    ports: Callable[[ObjectRef], Mapping[Port, str]],
) -> tuple[Backend, ...]:
    """Resolve references of a route to backends, in their order; `ports` returns the ports of a backend by number."""
    delegating = _delegating_backends(delegations, route)
    return tuple(
        delegating.get(ref.field) or _resolve(gateways, route, ref, ports(ref.object))
        for ref in refs
        if ref.object.name or ref.field in delegating
    )


def _resolve(gateways: Gateways, route: ObjectRef, ref: BackendRef, ports: Mapping[Port, str]) -> Backend:
    index, kind = gateways.index, ref.object.group_kind
    if is_unknown_kind(kind):
        message = f"what kind of object {ref.object} is cannot be known yet"
        return Backend(ref=ref, node=NodeRef(ref.object)).with_problem(Problem(message=message, certain=False))
    node = NodeRef(ref.object, ports.get(ref.port, "") if ref.port is not None else "")
    built_in = kind in _BUILT_IN or (not kind.group and kind != SERVICE)
    unserved = index.snapshot.complete and kind not in index.kinds and kind not in index.group_kinds
    if built_in or unserved:
        message = f"{with_article(str(kind))} cannot be a backend"
        return Backend(ref=ref, node=node).with_problem(Problem(message=message, reason="InvalidKind"))
    problem = gateways.reference_problem(route, ref.object, "BackendNotFound")
    if problem is None and kind in PORT_HOLDERS:
        problem = _port_problem(index, gateways.implementation, ref, node, ports)
    return Backend(ref=ref, node=node).with_problem(problem)


def _port_problem(
    index: Index, implementation: Implementation, ref: BackendRef, node: NodeRef, ports_there: Iterable[Port]
) -> Problem | None:
    """Return the problem with the port, "required when the referent is a Kubernetes Service" (BackendRef).

    A Service that is only assumed to exist may have any port, with any protocol.
    """
    if ref.port is not None and index.is_content_unknown(ref.object):
        return None
    if not node.section and ref.port is not None and any(may_be_port(port, ref.port) for port in ports_there):
        return Problem(message=f"which port of {ref.object} {ref.port} is cannot be known yet", certain=False)
    if not node.section:
        message = f"{ref.object} has no port {ref.port}" if ref.port else f"it names no port of {ref.object}"
        return Problem(message=message, reason="BackendNotFound")
    if not implementation.unsupported_features:
        return None
    ports = mappings_at(index.defaulted(ref.object), "spec.ports")
    protocol = next((text_at(port, "appProtocol") for port in ports if port_at(port, "port") == ref.port), "")
    feature = _PROTOCOL_FEATURES.get(protocol)
    if feature not in implementation.unsupported_features:
        return None
    return Problem(message=f"{node} speaks a protocol that needs {feature}", reason="UnsupportedProtocol")


def _delegating_backends(delegations: Delegations, route: ObjectRef) -> dict[str, Backend]:
    """Return the backend of each reference that delegates, by its field; a resolved one before a broken one."""
    backends: dict[str, Backend] = {}
    for ref in delegations.refs.get(route, ()):
        target = NodeRef(ref.ref.object)
        plain = Backend(ref=ref.ref, node=target, routes=delegations.accepted_routes(ref), is_any=not ref.names_a_route)
        backend = plain.with_problem(_delegation_problem(delegations, ref, plain))
        known = backends.get(ref.ref.field)
        if known is None or (known.state != "resolved" and backend.state == "resolved"):
            backends[ref.ref.field] = backend
    return backends


def _delegation_problem(delegations: Delegations, ref: DelegatingRef, backend: Backend) -> Problem | None:
    circle, namespace = delegations.order.circles.get(ref.key), ref.ref.object.namespace
    if ref.permitted is False:
        message = f"no ReferenceGrant in namespace {namespace} lets {ref.parent.object} refer to an HTTPRoute"
        return Problem(message=message, reason=NOT_PERMITTED)
    if circle:
        return Problem(message=f"a request would loop: {circle_phrase(circle)}", reason=NOT_PERMITTED)
    if ref.permitted is None:
        where = f"whether {ref.parent.object} may refer to routes in namespace {namespace} is unknown"
        return Problem(message=f"{where}: {delegations.index.grants.unknown_reason}", certain=False)
    if not (ref.children or ref.foreign_routes):
        missing = ref.presence == "missing"
        message = (
            _absence_phrase(ref, "does not exist", "exists")
            if missing
            else _absence_phrase(ref, *(f"{verb} in {delegations.index.source}" for verb in ("is not", "is")))
        )
        return Problem(message=message, reason="BackendNotFound", certain=missing)
    if not delegations.lacks_routes(ref):
        return None
    some = "some of its matches find no route"
    message = some if backend.routes else _absence_phrase(ref, "takes none of its requests", "takes its requests")
    return Problem(message=message, reason="BackendNotFound")


def _absence_phrase(ref: DelegatingRef, of_one: str, of_any: str) -> str:
    """Say of the one route that a reference names, or of any that it may select, that it is missing."""
    target = ref.ref.object
    if ref.names_a_route:
        return f"{target} {of_one}"
    by_label = ref.profile.by_label
    if target.group_kind == HTTP_ROUTE or by_label is None:
        return f"no HTTPRoute in namespace {target.namespace} {of_any}"
    where = "" if target.namespace == by_label.all_namespaces else f" in namespace {target.namespace}"
    return f"no HTTPRoute{where} with the label {by_label.label}={target.name} {of_any}"
