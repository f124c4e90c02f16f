"""What the backendRefs of a route resolve to, and why some do not."""

from __future__ import annotations

from types import MappingProxyType
from typing import TYPE_CHECKING, Final, Literal, NamedTuple, TypeAlias

from kubectl_policy.model import NodeRef
from kubectl_policy.model.fields import integer_at, mappings_at, text_at
from kubectl_policy.model.kinds import BUILT_IN, SERVICE
from kubectl_policy.topology.grants import permitted, unseen
from kubectl_policy.topology.references import ROUTES, WITH_PORTS, port_names

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from kubectl_policy.model import ObjectRef
    from kubectl_policy.model.index import Index
    from kubectl_policy.topology.implementation import Implementation
    from kubectl_policy.topology.references import BackendRef

State: TypeAlias = Literal["resolved", "broken", "unknown"]

_BUILT_IN: Final = frozenset(names.group_kind for names in BUILT_IN) - {*WITH_PORTS, *ROUTES}
# KEP-3726's names, and the features of Gateway API that stand for them (pkg/features).
_PROTOCOL_FEATURES: Final[Mapping[str, str]] = {
    "kubernetes.io/h2c": "HTTPRouteBackendProtocolH2C",
    "kubernetes.io/ws": "HTTPRouteBackendProtocolWebSocket",
}


class _Problem(NamedTuple):
    state: State
    reason: str
    message: str


class Backend(NamedTuple):
    """One backendRef and what it comes to.

    `reason` is the API's reason (RouteConditionReason of ResolvedRefs) if the reference is broken; `message` says why
    it is broken or what it depends on that is unknown. `node` is the port if it names one that the backend has, else
    the object, whether or not it exists. `routes` are those that it delegates to; None if it does not delegate.
    Such a reference may name no object, but mean any route that has what it says (`is_any`).
    """

    ref: BackendRef
    node: NodeRef
    state: State = "resolved"
    reason: str = ""
    message: str = ""
    routes: tuple[ObjectRef, ...] | None = None
    is_any: bool = False

    @property
    def nodes(self) -> tuple[NodeRef, ...]:
        """Where requests go by it: none if they are not forwarded, or not permitted to be."""
        if not self.ref.forwards or self.reason == "RefNotPermitted":
            return ()
        return (self.node,) if self.routes is None else tuple(NodeRef(route) for route in self.routes)


_NONE: Final[Mapping[str, Backend]] = MappingProxyType({})


def backends_of(
    index: Index,
    implementation: Implementation,
    route: ObjectRef,
    refs: Iterable[BackendRef],
    delegating: Mapping[str, Backend] = _NONE,
) -> tuple[Backend, ...]:
    """What references of a route to backends come to, in their order.

    `delegating` are those that stand for routes, by their fields.
    """
    return tuple(
        delegating.get(ref.field) or _resolve(index, implementation, route, ref)
        for ref in refs
        if ref.object.name or ref.field in delegating
    )


def _resolve(index: Index, implementation: Implementation, route: ObjectRef, ref: BackendRef) -> Backend:
    ports = port_names(index.raw(ref.object)) if ref.object.group_kind in WITH_PORTS else {}
    node = NodeRef(ref.object, ports.get(ref.port, "") if ref.port is not None else "")
    problem = (
        _kind_problem(index, ref)
        or _grant_problem(index, route, ref)
        or _presence_problem(index, ref)
        or _port_problem(implementation, index, ref, node)
    )
    return Backend(ref, node, *problem) if problem else Backend(ref, node)


def _kind_problem(index: Index, ref: BackendRef) -> _Problem | None:
    if _is_no_backend(index, ref.object):
        return _Problem("broken", "InvalidKind", f"a {ref.object.group_kind} cannot be a backend")
    return None


def _grant_problem(index: Index, route: ObjectRef, ref: BackendRef) -> _Problem | None:
    target = ref.object
    if permitted(index, route.group_kind, route.namespace, target):
        return None
    if unseen(index, target.namespace):
        message = f"whether {target} may be referred to is unknown: its ReferenceGrants were not read"
        return _Problem("unknown", "", message)
    message = f"no ReferenceGrant in namespace {target.namespace} lets {route} refer to {target}"
    return _Problem("broken", "RefNotPermitted", message)


def _presence_problem(index: Index, ref: BackendRef) -> _Problem | None:
    presence = index.presence(ref.object)
    if presence == "missing":
        return _Problem("broken", "BackendNotFound", f"{ref.object} does not exist")
    return _Problem("unknown", "", f"{ref.object} was not read") if presence == "unknown" else None


def _port_problem(implementation: Implementation, index: Index, ref: BackendRef, node: NodeRef) -> _Problem | None:
    """What is wrong with the port, "required when the referent is a Kubernetes Service" (BackendRef)."""
    if ref.object.group_kind not in WITH_PORTS:
        return None
    if not node.section:
        message = f"{ref.object} has no port {ref.port}" if ref.port else f"it names no port of {ref.object}"
        return _Problem("broken", "BackendNotFound", message)
    feature = _PROTOCOL_FEATURES.get(_app_protocol(index, ref))
    if feature not in implementation.unsupported_features:
        return None
    return _Problem("broken", "UnsupportedProtocol", f"{node} speaks a protocol that needs {feature}")


def _is_no_backend(index: Index, target: ObjectRef) -> bool:
    """Whether an object of this kind cannot be a backend: a built-in kind that is none, or one that no API serves."""
    kind = target.group_kind
    if kind in _BUILT_IN or (not kind.group and kind != SERVICE):
        return True
    return index.snapshot.complete and kind not in index.kinds and kind not in index.group_kinds


def _app_protocol(index: Index, ref: BackendRef) -> str:
    ports = mappings_at(index.raw(ref.object), "spec.ports")
    return next((text_at(port, "appProtocol") for port in ports if integer_at(port, "port") == ref.port), "")
