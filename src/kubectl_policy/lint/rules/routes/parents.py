"""GWP4xxx: routes and the Gateways, ListenerSets and Services that they name as their parents."""

from __future__ import annotations

from typing import TYPE_CHECKING

from kubectl_policy.lint.finding import MOST_RELATED, Finding, Fix, some
from kubectl_policy.lint.linted import similar
from kubectl_policy.lint.rule import lint_rule
from kubectl_policy.lint.rules.routes.unreached import impossible_kinds
from kubectl_policy.model.kinds import SERVICE
from kubectl_policy.model.unknown import is_unknown
from kubectl_policy.topology.gateway.handshake import NO_PARENT
from kubectl_policy.topology.gateway.listeners import listener_words
from kubectl_policy.topology.references import LISTENER_SETS, TLS_ROUTE, parent_refs

if TYPE_CHECKING:
    from collections.abc import Iterator

    from kubectl_policy.lint.facts.refusals import Refusal
    from kubectl_policy.lint.finding import Related
    from kubectl_policy.lint.linted import Linted
    from kubectl_policy.topology.references import ParentRef


@lint_rule("GWP4001", "error", "closed world")
def parent_not_found(world: Linted) -> Iterator[Finding]:
    """A route or a ListenerSet names a parent that does not exist.

    No request reaches the route by that parent, nor the listeners of the ListenerSet. No controller acts on such a
    reference, so that the status says nothing either: a route without any status is a sign of it.

    Source: RouteReasonNoMatchingParent (Gateway API, apis/v1/shared_types.go); kubernetes-sigs/gateway-api#4272.
    """
    for each in world.refusals:
        if not each.listeners:
            yield from world.absent(each.route, each.parent, f"{each.field}.name", reason=NO_PARENT)
    for listener_set in world.of_kind(*LISTENER_SETS):
        gateway = world.gateways.gateway_of(listener_set.ref)
        if gateway:
            yield from world.absent(listener_set, gateway, "spec.parentRef.name", reason="ParentNotAccepted")
        else:
            message = "it names no Gateway as its parent, so that its listeners serve nothing"
            yield Finding(subject=listener_set.ref, field="spec.parentRef", message=message, reason="Invalid")


@lint_rule("GWP4002", "error")
def parent_section_not_found(world: Linted) -> Iterator[Finding]:
    """A route names a listener of its parent, or a port of a Service, by a name that there is none of.

    The route is not attached, and takes no requests: a reference with a `sectionName` is to that section alone.

    Source: ParentReference.SectionName and RouteReasonNoMatchingParent (Gateway API, apis/v1/shared_types.go).
    """
    for each in _refused_as(world, "listener-missing"):
        parents = parent_refs(world.index, each.route.ref)
        parent = next(parent for parent in parents if parent.position == each.position)
        if parent.section:
            yield _refused(world, each, field=f"{each.field}.sectionName", fix=_other_section(world, parent))
        else:
            yield _refused(world, each, field=each.field)


@lint_rule("GWP4003", "error")
def parent_port_no_listener(world: Linted) -> Iterator[Finding]:
    """A route names a port of its parent on which there is no listener, or not the one that it names as well.

    The route is not attached, and takes no requests. Where a `sectionName` and a `port` are both given, both must be
    those of one listener. To name the listener alone is enough, and goes on to hold if its port changes.

    Source: ParentReference.Port (Gateway API, apis/v1/shared_types.go).
    """
    for each in _refused_as(world, "listener-port"):
        yield _refused(world, each, field=f"{each.field}.port")


@lint_rule("GWP4004", "error")
def not_allowed_namespace(world: Linted) -> Iterator[Finding]:
    """A route is in a namespace from which its listener takes no routes.

    The route is not attached, and takes no requests. Without `allowedRoutes` a listener takes routes of its Gateway's
    own namespace only. Whoever owns the Gateway has to let the namespace in; or the route belongs on another listener.
    Of several listeners one that takes the route is enough.

    Source: AllowedRoutes.Namespaces (Gateway API, apis/v1/gateway_types.go); RouteReasonNotAllowedByListeners.
    """
    for each in _refused_as(world, "listener-namespace"):
        namespace = each.route.ref.namespace
        where = " or ".join(map(listener_words, each.listeners[:MOST_RELATED]))
        fix = Fix(words=f"let namespace {namespace} in, by allowedRoutes.namespaces of {where}")
        yield _refused(world, each, field=each.field, fix=fix)


@lint_rule("GWP4005", "error")
def not_allowed_kind(world: Linted) -> Iterator[Finding]:
    """A route is of a kind that its listener does not take.

    The route is not attached, and takes no requests. Which kinds a listener takes follows from its protocol, and may be
    narrowed by `allowedRoutes.kinds`: HTTP and HTTPS take HTTPRoutes and GRPCRoutes, TLS takes TLSRoutes, and
    TCPRoutes where it terminates TLS, TCP takes TCPRoutes, UDP takes UDPRoutes. Which ones a protocol of an
    implementation's own takes is not known here. Of a TLSRoute tlsroute-wrong-listener tells; and of a listener that
    allows no kind that it can serve, listener-kind-impossible does.

    Source: AllowedRoutes.Kinds and ProtocolType (Gateway API, apis/v1/gateway_types.go).
    """
    yield from _refused_kinds(world, of_tls=False)


@lint_rule("GWP4012", "error")
def tlsroute_wrong_listener(world: Linted) -> Iterator[Finding]:
    """A TLSRoute names a listener that does not serve TLSRoutes.

    The route is not attached, and takes no connections. It needs a listener of protocol TLS: one of protocol HTTPS
    reads requests, and so takes HTTPRoutes. Not every implementation has TLSRoutes where TLS is terminated.

    Source: TLSRouteSpec, "A TLSRoute MUST be attached to a Listener of protocol TLS" (Gateway API,
    apis/v1/tlsroute_types.go).
    """
    yield from _refused_kinds(world, of_tls=True)


@lint_rule("GWP4008", "error")
def parentrefs_not_distinct(world: Linted) -> Iterator[Finding]:
    """A route names the same parent twice, and not as different sections of it.

    An API server refuses the route. Where several parentRefs name one parent, each must have a `sectionName` (or each a
    `port`) of its own: one without either is for all listeners, and so for those of the others as well.

    Source: CommonRouteSpec.ParentRefs, "ParentRefs must be distinct" (Gateway API, apis/v1/shared_types.go).
    """
    for route in world.routes:
        parents = parent_refs(world.index, route.ref)
        first: dict[object, ParentRef] = {}
        seen: dict[object, ParentRef] = {}
        for parent in parents if len(parents) > 1 else ():
            earlier = first.setdefault(parent.object, parent)
            same = seen.setdefault((parent.object, parent.section, parent.port), parent)
            field, other = f"spec.parentRefs[{parent.position}]", f"spec.parentRefs[{earlier.position}]"
            lone = "sectionName" if bool(parent.section) != bool(earlier.section) else ""
            lone = lone or ("port" if (parent.port is None) != (earlier.port is None) else "")
            if same is not parent:
                message = f"it is the same reference to {parent.object} as spec.parentRefs[{same.position}]"
                yield Finding(subject=route.ref, field=field, message=message)
            elif lone:
                message = f"it names {parent.object} as {other} does, and only one of them has a {lone}"
                yield Finding(subject=route.ref, field=field, message=message)


@lint_rule("GWP4017", "info")
def mesh_consumer_route(world: Linted) -> Iterator[Finding]:
    """A route names a Service of another namespace as its parent, and so is for clients of its own namespace alone.

    It is a consumer route: in the mesh, it changes requests from its own namespace to that Service, and no other ones.
    A route for all clients of a Service, a producer route, must be in the namespace of the Service. Not every mesh has
    consumer routes.

    Source: ParentReference.Namespace (Gateway API, apis/v1/shared_types.go); GEP-1294, "Consumer routes".
    """
    for route in world.routes:
        for parent in parent_refs(world.index, route.ref):
            service, home = parent.object, route.ref.namespace
            is_known = not (is_unknown(home) or is_unknown(service.namespace))
            is_there = world.index.presence(service) != "missing"
            if service.group_kind == SERVICE and service.namespace != home and is_known and is_there:
                message = f"it is for requests from namespace {home} to {service} alone, not for those of other clients"
                field = f"spec.parentRefs[{parent.position}]"
                yield Finding(subject=route.ref, field=field, message=message, related=(world.related(service),))


def _refused_kinds(world: Linted, *, of_tls: bool) -> Iterator[Finding]:
    """The routes of a kind that a listener does not take; of a listener that can serve none, that is found there."""
    for each in _refused_as(world, "listener-kind"):
        listeners = filter(None, map(world.gateways.listener, each.listeners))
        kinds = (impossible_kinds(world, listener) for listener in listeners if world.is_linted(listener.node.object))
        if (each.route.ref.group_kind == TLS_ROUTE) is of_tls and not any(named and all(named) for named in kinds):
            yield _refused(world, each, field=each.field)


def _refused_as(world: Linted, sort: str) -> Iterator[Refusal]:
    return (each for each in world.refusals if each.sort == sort)


def _refused(world: Linted, each: Refusal, *, field: str, fix: Fix | None = None) -> Finding:
    if not each.certain:
        return world.unknown(each.route, field, each.message)
    others = [node.section for node in each.listeners[1:]]
    also = f"; so it is at listener{'s' if len(others) > 1 else ''} {some(others)}" if others else ""
    return Finding(
        subject=each.route.ref,
        field=field,
        message=f"{each.message}{also}",
        reason=each.reason,
        related=_related(world, each),
        fix=fix,
    )


def _related(world: Linted, each: Refusal) -> tuple[Related, ...]:
    if not each.listeners:
        return (world.related(each.parent),)
    named = zip(each.listeners[:MOST_RELATED], each.reasons, strict=False)
    return tuple(
        world.related(node.object, f"listener {node.section}", reason.field if reason.object == node.object else "")
        for node, reason in named
    )


def _other_section(world: Linted, parent: ParentRef) -> Fix | None:
    """What a name may mean that no listener of a parent has: a listener of a ListenerSet, or one of a name like it."""
    for listener_set in world.gateways.listener_sets(parent.object):
        if parent.section in world.topology.sections(listener_set):
            return Fix(words=f"{listener_set} has that listener: name it as the parent")
    return similar(parent.section, world.topology.sections(parent.object))
