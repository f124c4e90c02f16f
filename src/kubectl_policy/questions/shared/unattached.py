"""Why things are not attached: a policy to a node, a route to what lets requests in, or a backend to a route."""

from __future__ import annotations

from typing import TYPE_CHECKING

from kubectl_policy.attachment import MEANINGS, without_references
from kubectl_policy.attachment.validity import policy_not_attached
from kubectl_policy.model import NodeRef
from kubectl_policy.questions.shared.reasons import Reason, named
from kubectl_policy.topology.references import (
    GATEWAY,
    GATEWAY_CLASS,
    LISTENER_SETS,
    ROUTES,
    parent_refs,
)

if TYPE_CHECKING:
    from collections.abc import Iterator

    from kubectl_policy.analysis import Analysis
    from kubectl_policy.attachment import Attachment
    from kubectl_policy.model import ObjectRef
    from kubectl_policy.topology import Binding
    from kubectl_policy.topology.gateway.listeners import Listener


def no_reference(analysis: Analysis, policy: ObjectRef) -> Reason:
    """Why a policy without any reference is attached to nothing, or why that is not known."""
    profile = analysis.registry.known(policy.group_kind)
    if not profile.attaches_as_known or not profile.references_alone:
        return Reason("not-computed", f"how {policy.kind} attaches without a target reference is not computed", policy)
    rule = "no-reference" if profile.target_fields else "no-filter"
    return Reason(rule, f"it {without_references(profile)}", policy, field="spec")


def failed(analysis: Analysis, attachment: Attachment) -> Reason:
    """Why a reference of the policy is not attached."""
    declared, target = attachment.declared, attachment.target
    if target is None and declared.selector is not None:
        rule = "not-selected"
    elif "/" in declared.group:
        rule = "group-version"
    elif attachment.state == "not permitted":
        rule = _not_permitted(analysis, attachment)
    else:
        rule = MEANINGS[attachment.state].why
    return Reason(
        rule,
        attachment.message,
        declared.named_by or attachment.policy,
        field=declared.field,
        reason=MEANINGS[attachment.state].api_reason,
        related=(target,) if target else (),
    )


def _not_permitted(analysis: Analysis, attachment: Attachment) -> str:
    target, profile = attachment.target, analysis.registry.known(attachment.policy.group_kind)
    inside = target is None or target.object.namespace in {"", attachment.policy.namespace}
    policy = analysis.index.get(attachment.policy)
    lacks = policy and policy_not_attached(policy, profile, analysis.index)
    if inside or (lacks and lacks.message == attachment.message):
        return "need-not-permitted"
    closed = profile.cross_namespace is False and attachment.declared.selector is None
    return "namespace-closed" if closed else "not-permitted"


def refused(analysis: Analysis, route: ObjectRef, above: NodeRef | None = None) -> Iterator[Reason]:
    """Why a route is not attached to what it names as parents or, if given, to what belongs to a node above it."""
    bindings = analysis.topology.bindings(route)
    relevant = [binding for binding in bindings if above is None or _belongs(analysis, binding, above)]
    yield from (refusal(analysis, binding) for binding in relevant if binding.state != "attached")
    if not relevant:
        where = named(above) if above else "anything that lets requests in"
        others = " and ".join(dict.fromkeys(str(binding.parent) for binding in bindings))
        also = f"; it names {others}" if others and above else ""
        related = (NodeRef(route), above) if above else (NodeRef(route),)
        message = f"{route} does not name {where} as a parent{also}"
        yield Reason("no-parent", message, route, field="spec.parentRefs", related=related)


def _belongs(analysis: Analysis, binding: Binding, above: NodeRef) -> bool:
    """Whether what a route names as a parent is a node, or belongs to it."""
    parent = binding.parent
    if above.section:
        return binding.listener == above or (binding.listener is None and parent == above.object)
    gateway = analysis.topology.gateways.gateway_of(parent)
    if above.object.group_kind == GATEWAY_CLASS:
        return gateway is not None and analysis.topology.gateways.class_of(gateway) == above.object
    return above.object in {parent, gateway}


def refusal(analysis: Analysis, binding: Binding) -> Reason:
    """Why a reference of a route does not attach it, to a parent or to a listener of it, or why that is not known."""
    route, node = binding.route, binding.listener or NodeRef(binding.parent)
    listener = analysis.topology.gateways.listener(node)
    place, ignored = f"spec.parentRefs[{binding.parent_index}]", analysis.topology.relations.why_ignored(node)
    if binding.parent.group_kind in ROUTES:
        rule, holder, field = "not-delegated", binding.parent, "spec.rules"
    elif binding.state == "unknown":
        rule, holder, field = "parent-unknown", route, place
    elif ignored and ignored.message == binding.message:
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
    return Reason(rule, binding.message, holder, field=field, reason=binding.reason, related=related)


def _no_listener(analysis: Analysis, binding: Binding, place: str) -> tuple[str, str]:
    """The rule by which a parent itself refuses a route, and the field of the parentRef that is to blame."""
    index, route = analysis.index, binding.route
    parents = {parent.position: parent for parent in parent_refs(index, route)}
    parent = parents[binding.parent_index]
    if index.presence(parent.object) != "present":
        return "parent-missing", f"{place}.name"
    if parent.port is not None and parent.section in {"", *analysis.topology.sections(parent.object)}:
        return "listener-port", f"{place}.port"
    return "listener-missing", f"{place}.sectionName" if parent.section else place


def _not_allowed(analysis: Analysis, binding: Binding, listener: Listener) -> tuple[str, ObjectRef, str]:
    """The rule by which a listener does not allow a route, the object that says so, and the field."""
    gateways, owner, gateway = analysis.topology.gateways, listener.node.object, listener.gateway
    if gateway is None or analysis.index.presence(gateway) == "missing":
        return "parent-missing", owner, "spec.parentRef.name"
    if owner != gateway and gateways.admits(gateway, owner) is False:
        return "listener-set-refused", gateway, "spec.allowedListeners"
    if binding.route.group_kind not in gateways.kinds_served(listener):
        return "listener-kind", owner, f"{listener.field}.allowedRoutes.kinds"
    return "listener-namespace", owner, f"{listener.field}.allowedRoutes.namespaces"


def not_sent(analysis: Analysis, route: ObjectRef, backend: ObjectRef) -> Iterator[Reason]:
    """Why a route that names a backend may not send requests there; what is wrong otherwise does not end a path."""
    related = (NodeRef(route), NodeRef(backend))
    for backend_ref in analysis.topology.backends(route):
        field = backend_ref.ref.field
        if backend_ref.ref.object != backend or not backend_ref.ref.forwards:
            continue
        if backend_ref.reason == "RefNotPermitted":
            rule, reason = "backend-not-permitted", backend_ref.reason
            yield Reason(rule, backend_ref.message, route, field=field, reason=reason, related=related)
        elif not backend_ref.nodes and backend_ref.routes is None:
            message = f"{route} sends no requests to {backend}: its weight there is 0"
            yield Reason("no-weight", message, route, field=f"{field}.weight", related=related)


def is_above_routes(node: NodeRef) -> bool:
    """Whether a node is of a kind by which routes attach: a Gateway, its class, a ListenerSet or a listener."""
    return node.object.group_kind in (GATEWAY_CLASS, GATEWAY, *LISTENER_SETS)
