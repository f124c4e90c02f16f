"""Why things are not attached: a policy to a node, a route to what lets requests in, or a backend to a route."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from kubectl_policy.attachment import MEANINGS, without_references
from kubectl_policy.attachment.validity import policy_not_attached
from kubectl_policy.model import NodeRef
from kubectl_policy.model.kinds import with_article
from kubectl_policy.questions.why_not.case import Reason, named
from kubectl_policy.topology.references import (
    GATEWAY,
    GATEWAY_CLASS,
    LISTENER_SETS,
    ROUTES,
    layer_of,
    parent_refs,
)

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from kubectl_policy.analysis import Analysis
    from kubectl_policy.attachment import Attachment
    from kubectl_policy.model import ObjectRef
    from kubectl_policy.questions.why_not.case import Case
    from kubectl_policy.topology import Binding
    from kubectl_policy.topology.gateway.listeners import Listener

_MOST_NAMED: Final = 3


def no_reference(case: Case) -> Reason:
    """Why a policy without any reference is attached to nothing, or why that is not known."""
    profile, policy = case.profile, case.policy.ref
    if not profile.attaches_as_known or not profile.references_alone:
        return Reason("not-computed", f"how {policy.kind} attaches without a target reference is not computed", policy)
    rule = "no-reference" if profile.target_fields else "no-filter"
    return Reason(rule, f"it {without_references(profile)}", policy, field="spec")


def failed(case: Case, attachment: Attachment) -> Reason:
    """Why a reference of the policy is not attached."""
    declared, target = attachment.declared, attachment.target
    if target is None and declared.selector is not None:
        rule = "not-selected"
    elif "/" in declared.group:
        rule = "group-version"
    elif attachment.state == "not permitted":
        rule = _not_permitted(case, attachment)
    else:
        rule = MEANINGS[attachment.state].why
    return Reason(
        rule,
        attachment.message,
        declared.named_by or attachment.policy,
        field=declared.field,
        api_reason=MEANINGS[attachment.state].api_reason,
        related=(target,) if target else (),
    )


def _not_permitted(case: Case, attachment: Attachment) -> str:
    target, profile = attachment.target, case.profile
    inside = target is None or target.object.namespace in {"", attachment.policy.namespace}
    lacks = policy_not_attached(case.policy, profile, case.analysis.index)
    if inside or (lacks and lacks.message == attachment.message):
        return "need-not-permitted"
    closed = profile.cross_namespace is False and attachment.declared.selector is None
    return "namespace-closed" if closed else "not-permitted"


def elsewhere(case: Case, attachments: Iterable[Attachment]) -> Iterator[Reason]:
    """What references of the policy name instead of the node."""
    target, policy = case.target, case.policy.ref
    others: list[Attachment] = []
    for attachment in attachments:
        meant = _meant(attachment, target) if attachment.state != "attached" else None
        if meant is None and _names_something_else(attachment, target):
            others.append(attachment)
        else:
            yield meant or failed(case, attachment)
    for field in sorted({other.declared.field for other in others if other.declared.selector is not None}):
        selected = [other.target for other in others if other.declared.field == field]
        message = f"{field} selects {_listed(selected)}, and not {target.object}"
        yield Reason("not-selected", message, policy, field=field)
    by_name = [other for other in others if other.declared.selector is None]
    if by_name:
        nodes = [other.target for other in by_name]
        verb = "its target is" if len({*nodes}) == 1 else "its targets are"
        first = by_name[0].declared
        holder = first.named_by or policy
        message = f"{verb} {_listed(nodes)}"
        yield Reason("other-target", message, holder, field=first.field, related=_distinct(nodes))


def _names_something_else(attachment: Attachment, target: NodeRef) -> bool:
    """Whether a reference is to something else than a node, and nothing depends on whether that was read.

    What was not read might lead to the node if it is of a kind further up.
    """
    node = attachment.target
    if attachment.state != "target unknown" or node is None or attachment.declared.selector is not None:
        return attachment.state == "attached"
    return layer_of(node.object.group_kind) >= layer_of(target.object.group_kind)


def _meant(attachment: Attachment, target: NodeRef) -> Reason | None:
    """A reference that would name a node if its group, or the namespace of the policy, were another one."""
    declared, node, wanted = attachment.declared, attachment.target, target.object
    if node is None or (node.object.kind, node.object.name) != (wanted.kind, wanted.name):
        return None
    if node.object.group_kind != wanted.group_kind:
        theirs, ours = (with_article(str(kind)) for kind in (node.object.group_kind, wanted.group_kind))
        message = f"it names {theirs}, and {wanted} is {ours}"
        return Reason("other-group", message, attachment.policy, field=f"{declared.field}.group", related=(node,))
    message = f"it names {node.object}, and the one that is meant is in namespace {wanted.namespace}"
    return Reason("other-namespace", message, attachment.policy, field=declared.field, related=(node,))


def other_section(attachment: Attachment, target: NodeRef) -> Reason:
    """A reference to one section of an object, where another one is asked about."""
    message = f"its target is {_listed([attachment.target])}, and not {named(target)}"
    return Reason("other-section", message, attachment.policy, field=f"{attachment.declared.field}.sectionName")


def below(attachment: Attachment, target: NodeRef) -> Reason:
    """A reference to something below a node, which does not reach what is above it."""
    nodes = [attachment.target]
    message = f"its target {_listed(nodes)} is below {named(target)}, and policies reach downward alone"
    field, related = attachment.declared.field, _distinct(nodes)
    return Reason("target-below", message, attachment.policy, field=field, related=related)


def _distinct(nodes: Sequence[NodeRef | None]) -> tuple[NodeRef, ...]:
    return tuple(dict.fromkeys(node for node in nodes if node))


def _listed(nodes: Sequence[NodeRef | None]) -> str:
    """The first few of some nodes and the number of the others."""
    names = [named(node) for node in _distinct(nodes)]
    more = [f"{len(names) - _MOST_NAMED} more"] if len(names) > _MOST_NAMED else []
    shown = [*names[:_MOST_NAMED], *more]
    return " and ".join([", ".join(shown[:-1]), shown[-1]]) if len(shown) > 1 else "".join(shown)


def refused(analysis: Analysis, route: ObjectRef, above: NodeRef | None = None) -> Iterator[Reason]:
    """Why a route is not attached to what it names as parents or, if given, to what belongs to a node above it."""
    bindings = analysis.topology.bindings(route)
    relevant = [binding for binding in bindings if above is None or _belongs(analysis, binding, above)]
    yield from (_refused(analysis, binding) for binding in relevant if binding.state != "attached")
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


def _refused(analysis: Analysis, binding: Binding) -> Reason:
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
    return Reason(rule, binding.message, holder, field=field, api_reason=binding.reason, related=related)


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
            yield Reason(rule, backend_ref.message, route, field=field, api_reason=reason, related=related)
        elif not backend_ref.nodes and backend_ref.routes is None:
            message = f"{route} sends no requests to {backend}: its weight there is 0"
            yield Reason("no-weight", message, route, field=f"{field}.weight", related=related)


def is_above_routes(node: NodeRef) -> bool:
    """Whether a node is of a kind by which routes attach: a Gateway, its class, a ListenerSet or a listener."""
    return node.object.group_kind in (GATEWAY_CLASS, GATEWAY, *LISTENER_SETS)
