"""Routes and their parents (GWP4001 to GWP4005, GWP4008, GWP4012, GWP4013, GWP4015, GWP4017 and GWP4018)."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Final

from kubectl_policy.attachment.references import may_have_unread
from kubectl_policy.lint.finding import MAX_RELATED, Finding, Fix, Related, some
from kubectl_policy.lint.lint_world import LintWorld, did_you_mean
from kubectl_policy.lint.rule import lint_rule
from kubectl_policy.lint.rules.listeners import impossible_kinds
from kubectl_policy.model.fields import text_at
from kubectl_policy.model.kind_roles import GATEWAY, HTTP_ROUTE, LISTENER_SETS, ROUTES, SERVICE, TLS_ROUTE
from kubectl_policy.model.unknown import is_unfilled, is_unknown
from kubectl_policy.model.world import grouped
from kubectl_policy.questions.shared.reasons import binding_reason
from kubectl_policy.topology.gateway.handshake import NO_PARENT
from kubectl_policy.topology.gateway.listeners import listener_label
from kubectl_policy.topology.references import ParentRef, parent_refs

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from kubectl_policy.lint.refusals import ParentRefusal
    from kubectl_policy.model import ObjectRef, Resource

# What refuses a route at the reference itself, so that a rule finds it there; anything else is wrong elsewhere.
_FOUND_THERE: Final = frozenset(
    {"listener-missing", "listener-port", "listener-kind", "listener-namespace", "listener-hostname"}
)


@lint_rule("GWP4001", "error", "closed world")
def parent_not_found(world: LintWorld) -> Iterator[Finding]:
    """A route or ListenerSet names a parent that does not exist.

    No request reaches the route through that parent, or the listeners of the ListenerSet. No controller acts on such a
    reference, so the status does not report it: a route without any status is a sign of this problem.

    Source: RouteReasonNoMatchingParent (Gateway API, apis/v1/shared_types.go); kubernetes-sigs/gateway-api#4272.
    """
    for refusal in world.refusals:
        if not refusal.listeners:
            parent, field = refusal.parent, f"{refusal.field}.name"
            tried = partial(_other_parent, world, refusal)
            yield from world.absent(refusal.route, parent, field, reason=NO_PARENT, name=tried)
    for listener_set in world.of_kind(*LISTENER_SETS):
        gateway = world.gateways.gateway_of(listener_set.ref)
        if gateway:
            yield from world.absent(listener_set, gateway, "spec.parentRef.name", reason="ParentNotAccepted")
        else:
            message = "it names no Gateway as its parent, so its listeners serve nothing"
            yield Finding(subject=listener_set.ref, field="spec.parentRef", message=message, reason="Invalid")


@lint_rule("GWP4002", "error")
def parent_section_not_found(world: LintWorld) -> Iterator[Finding]:
    """A route names a listener of its parent, or a port of a Service, that does not exist.

    The route is not attached and gets no requests: a reference with a `sectionName` refers only to that section.

    Source: ParentReference.SectionName and RouteReasonNoMatchingParent (Gateway API, apis/v1/shared_types.go).
    """
    for refusal in _refused_as(world, "listener-missing"):
        parent = _parent_of(world, refusal)
        if parent.section:
            fix = _other_section(world, refusal, parent)
            yield _refused(world, refusal, field=f"{refusal.field}.sectionName", fix=fix)
        else:
            yield _refused(world, refusal, field=refusal.field)


@lint_rule("GWP4003", "error")
def parent_port_no_listener(world: LintWorld) -> Iterator[Finding]:
    """A route names a port of its parent without a listener, or with another listener than it names.

    The route is not attached and gets no requests. If both `sectionName` and `port` are set, both must match one
    listener. Naming only the listener is enough, and stays correct if its port changes.

    Source: ParentReference.Port (Gateway API, apis/v1/shared_types.go).
    """
    for refusal in _refused_as(world, "listener-port"):
        yield _refused(world, refusal, field=f"{refusal.field}.port")


@lint_rule("GWP4004", "error")
def not_allowed_namespace(world: LintWorld) -> Iterator[Finding]:
    """A route is in a namespace whose routes its listener does not allow.

    The route is not attached and gets no requests. Without `allowedRoutes`, a listener allows only routes of the
    Gateway's own namespace. The owner of the Gateway has to allow the namespace, or the route has to use another
    listener. One listener that allows the route is enough.

    Source: AllowedRoutes.Namespaces (Gateway API, apis/v1/gateway_types.go); RouteReasonNotAllowedByListeners.
    """
    for refusal in _refused_as(world, "listener-namespace"):
        namespace = refusal.route.ref.namespace
        where = " or ".join(map(listener_label, refusal.listeners[:MAX_RELATED]))
        fix = Fix(words=f"let namespace {namespace} in, by allowedRoutes.namespaces of {where}")
        yield _refused(world, refusal, field=refusal.field, fix=fix)


@lint_rule("GWP4005", "error")
def not_allowed_kind(world: LintWorld) -> Iterator[Finding]:
    """A route has a kind that its listener does not allow.

    The route is not attached and gets no requests. The protocol of a listener determines the kinds, and
    `allowedRoutes.kinds` can restrict them: HTTP and HTTPS allow HTTPRoutes and GRPCRoutes, TLS allows TLSRoutes, and
    TCPRoutes if it terminates TLS, TCP allows TCPRoutes, UDP allows UDPRoutes. The kinds for protocols of an
    implementation are unknown. TLSRoutes are reported by tlsroute-wrong-listener, and listeners that allow no kind that
    they can serve by listener-kind-impossible.

    Source: AllowedRoutes.Kinds and ProtocolType (Gateway API, apis/v1/gateway_types.go).
    """
    yield from _refused_kinds(world, of_tls=False)


@lint_rule("GWP4012", "error")
def tlsroute_wrong_listener(world: LintWorld) -> Iterator[Finding]:
    """A TLSRoute names a listener that does not serve TLSRoutes.

    The route is not attached and gets no connections. It needs a listener with protocol TLS: a listener with protocol
    HTTPS reads requests, and so serves HTTPRoutes. Not every implementation supports TLSRoutes on listeners that
    terminate TLS.

    Source: TLSRouteSpec, "A TLSRoute MUST be attached to a Listener of protocol TLS" (Gateway API,
    apis/v1/tlsroute_types.go).
    """
    yield from _refused_kinds(world, of_tls=True)


@lint_rule("GWP4008", "error")
def parentrefs_not_distinct(world: LintWorld) -> Iterator[Finding]:
    """A route names the same parent twice without naming different sections.

    An API server rejects the route. If several parentRefs name one parent, each must have its own `sectionName` (or its
    own `port`): a parentRef without either refers to all listeners, including those of the other parentRefs.

    Source: CommonRouteSpec.ParentRefs, "ParentRefs must be distinct" (Gateway API, apis/v1/shared_types.go).
    """
    for route in world.routes:
        parents = parent_refs(world.index, route.ref)
        first: dict[object, ParentRef] = {}
        seen: dict[object, ParentRef] = {}
        for parent in parents if len(parents) > 1 else ():
            earlier = first.setdefault(parent.object, parent)
            same = seen.setdefault((parent.object, parent.section, parent.port), parent)
            field, earlier_field = f"spec.parentRefs[{parent.position}]", f"spec.parentRefs[{earlier.position}]"
            lone = "sectionName" if bool(parent.section) != bool(earlier.section) else ""
            lone = lone or ("port" if (parent.port is None) != (earlier.port is None) else "")
            if same is not parent:
                message = f"it is the same reference to {parent.object} as spec.parentRefs[{same.position}]"
                yield Finding(subject=route.ref, field=field, message=message)
            elif lone:
                message = f"it names {parent.object} as {earlier_field} does, and only one of them has a {lone}"
                yield Finding(subject=route.ref, field=field, message=message)


@lint_rule("GWP4017", "info")
def mesh_consumer_route(world: LintWorld) -> Iterator[Finding]:
    """A route names a Service in another namespace as its parent, and so applies only to clients in its own namespace.

    The route is a consumer route: in the mesh, it affects requests from its own namespace to that Service. A route for
    all clients of a Service (a producer route) must be in the namespace of the Service. Not every mesh supports
    consumer routes.

    Source: ParentReference.Namespace (Gateway API, apis/v1/shared_types.go); GEP-1294, "Consumer routes".
    """
    for route in world.routes:
        for parent in parent_refs(world.index, route.ref):
            service, home = parent.object, route.ref.namespace
            is_known = not (is_unknown(home) or is_unknown(service.namespace))
            is_there = world.index.presence(service) != "missing"
            if service.group_kind == SERVICE and service.namespace != home and is_known and is_there:
                message = f"it is for requests from namespace {home} to {service} only, not for those of other clients"
                field = f"spec.parentRefs[{parent.position}]"
                yield Finding(subject=route.ref, field=field, message=message, related=(world.related(service),))


def _refused_kinds(world: LintWorld, *, of_tls: bool) -> Iterator[Finding]:
    """Yield findings for routes whose kind a listener refuses, unless the listener can serve none."""
    for refusal in _refused_as(world, "listener-kind"):
        listeners = filter(None, map(world.gateways.listener, refusal.listeners))
        inside = (listener for listener in listeners if world.ref_in_scope(listener.node.object))
        kinds = (impossible_kinds(world, listener) for listener in inside)
        if (refusal.route.ref.group_kind == TLS_ROUTE) is of_tls and not any(named and all(named) for named in kinds):
            yield _refused(world, refusal, field=refusal.field)


def _refused_as(world: LintWorld, sort: str) -> Iterator[ParentRefusal]:
    return (refusal for refusal in world.refusals if refusal.sort == sort)


def _refused(world: LintWorld, refusal: ParentRefusal, *, field: str, fix: Fix | None = None) -> Finding:
    if not refusal.certain:
        return world.unknown(refusal.route, field, refusal.message)
    sections = [node.section for node in refusal.listeners[1:]]
    also = f"; so it is at listener{'s' if len(sections) > 1 else ''} {some(sections)}" if sections else ""
    return Finding(
        subject=refusal.route.ref,
        field=field,
        message=f"{refusal.message}{also}",
        reason=refusal.reason,
        related=_related(world, refusal),
        fix=fix,
    )


def _related(world: LintWorld, refusal: ParentRefusal) -> tuple[Related, ...]:
    if not refusal.listeners:
        return (world.related(refusal.parent),)
    named = zip(refusal.listeners[:MAX_RELATED], refusal.reasons, strict=False)
    return tuple(
        world.related(node.object, f"listener {node.section}", reason.field if reason.object == node.object else "")
        for node, reason in named
    )


def _parent_of(world: LintWorld, refusal: ParentRefusal) -> ParentRef:
    parents = parent_refs(world.index, refusal.route.ref)
    return next(parent for parent in parents if parent.position == refusal.position)


def _other_parent(world: LintWorld, refusal: ParentRefusal) -> str:
    return world.trials.parent(refusal.route.ref, _parent_of(world, refusal))


def _other_section(world: LintWorld, refusal: ParentRefusal, parent: ParentRef) -> Fix | None:
    """Return a listener of a ListenerSet, or another name that works, as a fix for an unknown section."""
    for listener_set in world.gateways.listener_sets(parent.object):
        if parent.section in world.topology.sections(listener_set):
            return Fix(words=f"{listener_set} has that listener: name it as the parent")
    return did_you_mean(world.trials.listener(refusal.route.ref, parent))


@lint_rule("GWP4013", "error", "closed world")
def attached_nowhere(world: LintWorld) -> Iterator[Finding]:
    """A route is not attached to anything, so no request reaches it.

    The route names no parent and no route delegates to it, or its parents do not accept it for a reason outside the
    route. If a reference of the route itself is wrong, the rule for that reference reports it instead; the same holds
    if the cause is an object that is also linted, such as a route that should delegate to this one.

    Source: ParentReference.SectionName, "the Route MUST be considered detached" (Gateway API,
    apis/v1/shared_types.go).
    """
    of_route = grouped((refused.route, refused) for refused in world.refusals)
    for route in world.routes:
        uses_defaults = text_at(route.raw, "spec.useDefaultGateways") not in {"", "None"}
        if world.relations.is_unattached(route.ref) and not uses_defaults:
            yield from _detached(world, route, of_route.get(route, ()))


@lint_rule("GWP4018", "error")
def route_cycle(world: LintWorld) -> Iterator[Finding]:
    """Routes delegate to each other in a cycle.

    Requests would never reach a backend, so controllers do not follow the reference that closes the cycle; requests
    that would take it get an error response.

    Source: the delegation of kgateway, which refuses cycles (kgateway-dev/kgateway,
    pkg/kgateway/translator/httproute/delegation.go).
    """
    for circle in world.topology.cycles():
        routes = tuple(dict.fromkeys(node.object for node in circle))
        circular_refs = sorted(world.relations.delegations.circular_refs)
        fields = ((route, field) for route, field in circular_refs if route in routes)
        whole = ((route, "") for route in routes)
        in_scope = (candidate for candidate in (*fields, *whole) if world.ref_in_scope(candidate[0]))
        subject, field = next(in_scope, (routes[0], ""))
        yield Finding(
            subject=subject,
            field=field,
            message=f"a request would loop: {' → '.join(map(str, (*routes, routes[0])))}",
            related=tuple(world.related(route, "on the circle") for route in routes if route != subject),
        )


def _detached(world: LintWorld, route: Resource, refused: Sequence[ParentRefusal]) -> Iterator[Finding]:
    circles = world.relations.delegations.order.circles
    if any(route.ref in circle for circle in circles.values()):
        return
    if not refused and not world.relations.bindings(route.ref):
        yield from _without_parents(world, route)
    for refusal in refused:
        if refusal.sort in _FOUND_THERE or world.index.presence(refusal.parent) != "present":
            return
    for binding in world.relations.bindings(route.ref):
        why = binding_reason(world.analysis, binding)
        holder = binding.listener.object if binding.listener else why.object
        delegating = binding.parent.group_kind in ROUTES
        if delegating and (
            world.relations.is_unattached(binding.parent) or _is_reported_at_parent(world, route, binding.parent)
        ):
            continue
        if delegating or not world.ref_in_scope(holder):
            field, message = f"spec.parentRefs[{binding.parent_index}]", f"{binding.message}; no request reaches it"
            related = (world.related(binding.parent),)
            yield Finding(subject=route.ref, field=field, message=message, reason=binding.reason, related=related)
            return


def _without_parents(world: LintWorld, route: Resource) -> Iterator[Finding]:
    """Yield the finding that a route has neither a parent nor a delegating route in effect."""
    delegations, kind = world.relations.delegations_to(route.ref), route.ref.group_kind
    for delegation in delegations:
        # What is wrong with the other one is found there.
        parent = delegation.parent.object
        if (not delegation.reason and world.relations.is_unattached(parent)) or _is_reported_at_parent(
            world, route, parent
        ):
            return
    if delegations:
        message, parent = f"{delegations[0].message}; no request reaches it", delegations[0].parent.object
        yield Finding(
            subject=route.ref,
            message=message,
            reason=delegations[0].reason,
            related=(world.related(parent, "delegates to it"),),
        )
    elif kind == HTTP_ROUTE and (
        may_have_unread(world.index, [HTTP_ROUTE])
        or world.topology.possible.may_be_backend(route.ref)
        or world.once(_has_unknown_delegation)
    ):
        message = f"it names no parent, and no route in {world.index.source} is known to delegate to it"
        yield world.unknown(route, "spec.parentRefs", message)
    else:
        nor = ", and no route delegates to it" if kind == HTTP_ROUTE else ""
        message = f"it names no parent{nor}: no request reaches it"
        yield Finding(subject=route.ref, field="spec.parentRefs", message=message)


def _is_reported_at_parent(world: LintWorld, route: Resource, parent: ObjectRef) -> bool:
    """Whether a broken reference of the delegating route is already a finding."""
    refs = world.relations.delegations.refs.get(parent, ())
    fields = {ref.ref.field for ref in refs if route.ref in {*ref.children, *ref.foreign_routes}}
    broken = (backend.ref.field for backend in world.relations.backends(parent) if backend.state == "broken")
    return world.ref_in_scope(parent) and not fields.isdisjoint(broken)


def _has_unknown_delegation(world: LintWorld) -> bool:
    """Whether a route has a backend of a kind that may stand for routes."""
    relations, index = world.relations, world.index
    strange = relations.kinds_of_backends - ({*index.kinds, *index.group_kinds} - {*ROUTES})
    known = {(route, ref.ref.field) for route, refs in relations.delegations.refs.items() for ref in refs}
    every = ((ref.object.group_kind, (route, ref.field)) for route, ref in relations.forwards) if strange else ()
    return any(kind in strange and reference not in known for kind, reference in every)


@lint_rule("GWP4015", "info")
def default_gateway_implicit(world: LintWorld) -> Iterator[Finding]:
    """A route attaches to default Gateways without naming them.

    The default Gateways can change without a change of the route. A route that policies of its Gateway protect should
    name the Gateway. This tool does not compute such attachments, which are experimental.

    Source: CommonRouteSpec.UseDefaultGateways and GatewaySpec.DefaultScope (Gateway API, apis/v1/shared_types.go and
    gateway_types.go); GEP-3793.
    """
    for route in world.routes:
        scope = text_at(route.raw, "spec.useDefaultGateways")
        if scope and scope != "None" and not is_unfilled(scope):
            gateways = world.index.of_kind(GATEWAY)
            defaults = [gateway for gateway in gateways if text_at(gateway.raw, "spec.defaultScope") == scope]
            refs = [gateway.ref for gateway in defaults]
            now = f"now {some(refs)}" if refs else f"of which there is none in {world.index.source}"
            yield Finding(
                subject=route.ref,
                field="spec.useDefaultGateways",
                message=f"it attaches to every Gateway with the default scope {scope}, {now}",
                related=tuple(world.related(ref, "", "spec.defaultScope") for ref in refs[:MAX_RELATED]),
            )
