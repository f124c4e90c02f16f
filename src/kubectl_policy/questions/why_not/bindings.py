"""Why requests do not come from a Gateway to a route, or from a route to a backend."""

from __future__ import annotations

from typing import TYPE_CHECKING

from kubectl_policy.model import NodeRef
from kubectl_policy.questions.why_not.reasons import Reason, named
from kubectl_policy.topology.gateway.conflicts import admits
from kubectl_policy.topology.gateway.listeners import supported_kinds_of
from kubectl_policy.topology.references import (
    GATEWAY,
    GATEWAY_CLASS,
    LISTENER_SETS,
    ROUTES,
    gateway_of,
    parent_refs,
)

if TYPE_CHECKING:
    from collections.abc import Iterator

    from kubectl_policy.analysis import Analysis
    from kubectl_policy.model import ObjectRef
    from kubectl_policy.topology import Binding
    from kubectl_policy.topology.gateway.listeners import Listener


def refused(analysis: Analysis, route: ObjectRef, above: NodeRef | None = None) -> Iterator[Reason]:
    """Why a route is not attached to what it names as parents or, if given, to what belongs to a node above it."""
    bindings = analysis.topology.bindings(route)
    relevant = [binding for binding in bindings if above is None or belongs(analysis, binding, above)]
    yield from (_refused(analysis, binding) for binding in relevant if binding.state != "attached")
    if not relevant:
        where = named(above) if above else "anything that lets requests in"
        others = " and ".join(dict.fromkeys(str(binding.parent) for binding in bindings))
        also = f"; it names {others}" if others and above else ""
        related = (NodeRef(route), above) if above else (NodeRef(route),)
        message = f"{route} does not name {where} as a parent{also}"
        yield Reason("no-parent", message, route, "spec.parentRefs", related=related)


def belongs(analysis: Analysis, binding: Binding, above: NodeRef) -> bool:
    """Whether what a route names as a parent is a node, or belongs to it."""
    parent, kind = binding.parent, above.object.group_kind
    if above.section:
        return binding.listener == above or (binding.listener is None and parent == above.object)
    gateway = (
        gateway_of(analysis.index, parent, analysis.index.raw(parent)) if parent.group_kind in LISTENER_SETS else parent
    )
    if kind == GATEWAY_CLASS:
        return gateway is not None and analysis.topology.relations.class_of(gateway) == above.object
    return above.object in {parent, gateway}


def _refused(analysis: Analysis, binding: Binding) -> Reason:
    route, node = binding.route, binding.listener or NodeRef(binding.parent)
    place, listener = f"spec.parentRefs[{binding.parent_index}]", _listener(analysis, binding.listener)
    invalid = analysis.topology.relations.why_ignored(node)
    if binding.parent.group_kind in ROUTES:
        rule, holder, field = "not-delegated", binding.parent, "spec.rules"
    elif binding.state == "unknown":
        rule, holder, field = "parent-unknown", route, place
    elif invalid and invalid.message == binding.message:
        rule, holder, field = "parent-invalid", node.object, listener.field if listener else "spec"
    elif listener is None:
        rule, field = _no_listener(analysis, binding, place)
        holder = route
    elif binding.reason == "NoMatchingListenerHostname":
        rule, holder, field = "listener-hostname", route, "spec.hostnames"
    elif binding.reason == "NotAllowedByListeners":
        rule, holder, field = _not_allowed(analysis, binding, listener)
    else:
        rule, holder, field = "listener-conflict", node.object, listener.field
    related = (NodeRef(route), node)
    return Reason(rule, binding.message, holder, field, api_reason=binding.reason, related=related)


def _listener(analysis: Analysis, node: NodeRef | None) -> Listener | None:
    listeners = analysis.topology.relations.listeners(node.object) if node else ()
    return next((listener for listener in listeners if listener.node == node), None)


def _no_listener(analysis: Analysis, binding: Binding, place: str) -> tuple[str, str]:
    """The rule by which a parent itself refuses a route, and the field of the parentRef that is to blame."""
    index, route = analysis.index, binding.route
    parents = {one.position: one for one in parent_refs(index, route, index.raw(route))}
    parent = parents[binding.parent_index]
    if index.presence(parent.object) != "present":
        return "parent-missing", f"{place}.name"
    if parent.port is not None and parent.section in {"", *analysis.topology.sections(parent.object)}:
        return "listener-port", f"{place}.port"
    return "listener-missing", f"{place}.sectionName" if parent.section else place


def _not_allowed(analysis: Analysis, binding: Binding, listener: Listener) -> tuple[str, ObjectRef, str]:
    """The rule by which a listener does not allow a route, the object that says so, and the field."""
    index, owner, gateway = analysis.index, listener.node.object, listener.gateway
    if gateway is None or index.presence(gateway) == "missing":
        return "parent-missing", owner, "spec.parentRef.name"
    if owner != gateway and admits(index, gateway, owner) is False:
        return "listener-set-refused", gateway, "spec.allowedListeners"
    if binding.route.group_kind not in supported_kinds_of(index, analysis.topology.implementation, listener):
        return "listener-kind", owner, f"{listener.field}.allowedRoutes.kinds"
    return "listener-namespace", owner, f"{listener.field}.allowedRoutes.namespaces"


def not_sent(analysis: Analysis, route: ObjectRef, backend: ObjectRef) -> Iterator[Reason]:
    """Why a route that names a backend may not send requests there; what is wrong otherwise does not end a path."""
    for found in analysis.topology.backends(route):
        if found.ref.object == backend and found.reason == "RefNotPermitted":
            related = (NodeRef(route), NodeRef(backend))
            rule, field = "backend-not-permitted", found.ref.field
            yield Reason(rule, found.message, route, field, api_reason=found.reason, related=related)


def cut_off(route: ObjectRef) -> Reason:
    """Why no request comes down a path although its first route is attached."""
    message = f"no request gets to {route} by the routes that delegate to it"
    return Reason("not-delegated", message, route, "spec.rules", related=(NodeRef(route),))


def is_above_routes(node: NodeRef) -> bool:
    """Whether a node is of a kind by which routes attach: a Gateway, its class, a ListenerSet or a listener."""
    return node.object.group_kind in (GATEWAY_CLASS, GATEWAY, *LISTENER_SETS)
