"""GWP4009, GWP4013, GWP4015, GWP4016, GWP4018 and GWP4019: routes and listeners that no request reaches."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from kubectl_policy.attachment.references import may_be_more
from kubectl_policy.lint.finding import MOST_RELATED, Finding, Fix, some
from kubectl_policy.lint.rule import lint_rule
from kubectl_policy.model.fields import text_at
from kubectl_policy.model.kinds import GATEWAY_API
from kubectl_policy.model.unknown import is_unfilled
from kubectl_policy.model.world import grouped
from kubectl_policy.questions.shared.reasons import binding_reason
from kubectl_policy.topology.gateway.listeners import ROUTES_BY_PROTOCOL
from kubectl_policy.topology.references import GATEWAY, HTTP_ROUTE, LISTENER_SETS, ROUTES

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from kubectl_policy.lint.facts.refusals import Refusal
    from kubectl_policy.lint.linted import Linted
    from kubectl_policy.model import GroupKind, ObjectRef, Resource
    from kubectl_policy.topology.gateway.listeners import Listener

# What refuses a route at the reference itself, so that a rule finds it there; anything else is wrong elsewhere.
_FOUND_THERE: Final = frozenset(
    {"listener-missing", "listener-port", "listener-kind", "listener-namespace", "listener-hostname"}
)


@lint_rule("GWP4013", "error", "closed world")
def attached_nowhere(world: Linted) -> Iterator[Finding]:
    """A route is attached to nothing, so that no request reaches it.

    It names no parent and no other route delegates to it, or what it names does not take it for a reason that is not of
    its own making. Where one of its references is wrong by itself, the rule about that says so, and this one nothing;
    nor where the cause is found at an object that is linted as well, such as a route that would delegate to it.

    Source: ParentReference.SectionName, "the Route MUST be considered detached" (Gateway API,
    apis/v1/shared_types.go).
    """
    of_route = grouped((refused.route, refused) for refused in world.refusals)
    for route in world.routes:
        uses_defaults = text_at(route.raw, "spec.useDefaultGateways") not in {"", "None"}
        if world.relations.is_unattached(route.ref) and not uses_defaults:
            yield from _nowhere(world, route, of_route.get(route, ()))


@lint_rule("GWP4018", "error")
def route_cycle(world: Linted) -> Iterator[Finding]:
    """Routes delegate to each other in a circle.

    A request would go round for ever, so that controllers do not follow the reference that closes the circle: requests
    that would go that way get an error response.

    Source: the delegation of kgateway, which refuses cycles (kgateway-dev/kgateway,
    pkg/kgateway/translator/httproute/delegation.go).
    """
    for circle in world.topology.cycles():
        routes = tuple(dict.fromkeys(node.object for node in circle))
        fields = ((route, field) for route, field in sorted(world.relations.delegations.circling) if route in routes)
        own = ((route, "") for route in routes)
        subject, field = next((each for each in (*fields, *own) if world.is_linted(each[0])), (routes[0], ""))
        yield Finding(
            subject=subject,
            field=field,
            message=f"a request would loop: {' → '.join(map(str, (*routes, routes[0])))}",
            related=tuple(world.related(route, "on the circle") for route in routes if route != subject),
        )


def _nowhere(world: Linted, route: Resource, refused: Sequence[Refusal]) -> Iterator[Finding]:
    circles = world.relations.delegations.order.circles
    if any(route.ref in circle for circle in circles.values()):
        return
    if not refused and not world.relations.bindings(route.ref):
        yield from _without_parents(world, route)
    for each in refused:
        if each.sort in _FOUND_THERE or world.index.presence(each.parent) != "present":
            return
    for binding in world.relations.bindings(route.ref):
        why = binding_reason(world.analysis, binding)
        holder = binding.listener.object if binding.listener else why.object
        delegating = binding.parent.group_kind in ROUTES
        if delegating and (
            world.relations.is_unattached(binding.parent) or _is_found_above(world, route, binding.parent)
        ):
            continue
        if delegating or not world.is_linted(holder):
            field, message = f"spec.parentRefs[{binding.parent_index}]", f"{binding.message}; no request reaches it"
            related = (world.related(binding.parent),)
            yield Finding(subject=route.ref, field=field, message=message, reason=binding.reason, related=related)
            return


def _without_parents(world: Linted, route: Resource) -> Iterator[Finding]:
    """That a route names no parent, and that no route delegates to it; or why those that do so do not count."""
    delegations, kind = world.relations.delegations_to(route.ref), route.ref.group_kind
    for each in delegations:
        # What is wrong with the other one is found there.
        above = each.parent.object
        if (not each.reason and world.relations.is_unattached(above)) or _is_found_above(world, route, above):
            return
    if delegations:
        message, above = f"{delegations[0].message}; no request reaches it", delegations[0].parent.object
        yield Finding(
            subject=route.ref,
            message=message,
            reason=delegations[0].reason,
            related=(world.related(above, "delegates to it"),),
        )
    elif kind == HTTP_ROUTE and (
        may_be_more(world.index, [HTTP_ROUTE])
        or world.topology.possible.leads_from_routes(route.ref)
        or world.once(_delegates_otherwise)
    ):
        message = f"it names no parent, and no route in {world.index.place} is known to delegate to it"
        yield world.unknown(route, "spec.parentRefs", message)
    else:
        nor = ", and no route delegates to it" if kind == HTTP_ROUTE else ""
        message = f"it names no parent{nor}: no request reaches it"
        yield Finding(subject=route.ref, field="spec.parentRefs", message=message)


def _is_found_above(world: Linted, route: Resource, above: ObjectRef) -> bool:
    """Whether a reference of another route that would delegate to a route is found to lead nowhere."""
    refs = world.relations.delegations.refs.get(above, ())
    fields = {each.ref.field for each in refs if route.ref in {*each.children, *each.strangers}}
    broken = (each.ref.field for each in world.relations.backends(above) if each.state == "broken")
    return world.is_linted(above) and not fields.isdisjoint(broken)


def _delegates_otherwise(world: Linted) -> bool:
    """Whether a route has a backend of a kind that may stand for routes, as some implementations have it."""
    relations, index = world.relations, world.index
    strange = relations.kinds_of_backends - ({*index.kinds, *index.group_kinds} - {*ROUTES})
    known = {(route, each.ref.field) for route, refs in relations.delegations.refs.items() for each in refs}
    every = ((ref.object.group_kind, (route, ref.field)) for route, ref in relations.forwards) if strange else ()
    return any(kind in strange and place not in known for kind, place in every)


@lint_rule("GWP4009", "error")
def listenerset_not_allowed(world: Linted) -> Iterator[Finding]:
    """A ListenerSet names a Gateway that does not take it.

    Its listeners serve nothing, and no route that names it is attached. Without `allowedListeners` a Gateway takes no
    ListenerSets at all; whoever owns the Gateway has to let their namespace in.

    Source: GatewaySpec.AllowedListeners, "The default value is to allow no ListenerSets" (Gateway API,
    apis/v1/gateway_types.go); ListenerSetReasonNotAllowed.
    """
    for listener_set in world.of_kind(*LISTENER_SETS):
        gateway = world.gateways.gateway_of(listener_set.ref)
        if gateway is None or world.index.get(gateway) is None:
            continue
        admitted = world.gateways.admits(gateway, listener_set.ref)
        if admitted is None:
            message = f"whether {gateway} takes ListenerSets of namespace {listener_set.ref.namespace} is unknown"
            yield world.unknown(listener_set, "spec.parentRef", message)
        elif not admitted:
            yield Finding(
                subject=listener_set.ref,
                field="spec.parentRef",
                message=f"{gateway} does not take it (spec.allowedListeners), so that its listeners serve nothing",
                reason="NotAllowed",
                related=(world.related(gateway, "the parent", "spec.allowedListeners"),),
                fix=Fix(words=f"let namespace {listener_set.ref.namespace} in, by spec.allowedListeners of {gateway}"),
            )


@lint_rule("GWP4015", "info")
def default_gateway_implicit(world: Linted) -> Iterator[Finding]:
    """A route attaches to default Gateways, without naming them.

    Which Gateways these are may change without any change of the route, so that one that is protected by policies of
    its Gateway should name that instead. Attachments of this kind, which are experimental, are not looked at here.

    Source: CommonRouteSpec.UseDefaultGateways and GatewaySpec.DefaultScope (Gateway API, apis/v1/shared_types.go and
    gateway_types.go); GEP-3793.
    """
    for route in world.routes:
        scope = text_at(route.raw, "spec.useDefaultGateways")
        if scope and scope != "None" and not is_unfilled(scope):
            gateways = world.index.of_kind(GATEWAY)
            defaults = [each for each in gateways if text_at(each.raw, "spec.defaultScope") == scope]
            now = (
                f"now {some([str(each.ref) for each in defaults])}"
                if defaults
                else f"of which there is none in {world.index.place}"
            )
            yield Finding(
                subject=route.ref,
                field="spec.useDefaultGateways",
                message=f"it attaches to every Gateway with the default scope {scope}, {now}",
                related=tuple(world.related(each.ref, "", "spec.defaultScope") for each in defaults[:MOST_RELATED]),
            )


@lint_rule("GWP4016", "error", "closed world")
def gatewayclass_missing(world: Linted) -> Iterator[Finding]:
    """A Gateway names a GatewayClass that does not exist.

    No controller acts on the Gateway, so that it serves nothing, and its status says nothing either. Many controllers
    make their GatewayClass themselves: then it is in the cluster, but in no manifest.

    Source: GatewaySpec.GatewayClassName (Gateway API, apis/v1/gateway_types.go).
    """
    for gateway in world.of_kind(GATEWAY):
        gateway_class = world.gateways.class_of(gateway.ref)
        if gateway_class:
            yield from world.absent(gateway, gateway_class, "spec.gatewayClassName", reason="Pending")


@lint_rule("GWP4019", "error")
def listener_kind_impossible(world: Linted) -> Iterator[Finding]:
    """A listener allows a kind of routes that its protocol cannot serve.

    No route of that kind is attached, and the listener reports that its references do not resolve; other kinds that it
    allows are not affected. Kinds of an implementation's own, and protocols of its own, are not looked at.

    Source: AllowedRoutes.Kinds and ListenerReasonInvalidRouteKinds (Gateway API, apis/v1/gateway_types.go).
    """
    for owner, listener in world.listeners:
        for position, kind in enumerate(impossible_kinds(world, listener)):
            if kind:
                served = [each.kind for each in world.gateways.kinds_by_protocol(listener)]
                known = f"; it serves {some(served)}" if served else ", nor any other kind here"
                yield Finding(
                    subject=owner.ref,
                    field=f"{listener.field}.allowedRoutes.kinds[{position}]",
                    message=f"protocol {listener.protocol} cannot serve {kind.kind}{known}",
                    reason="InvalidRouteKinds",
                )


def impossible_kinds(world: Linted, listener: Listener) -> list[GroupKind | None]:
    """Of the kinds that a listener allows those that it cannot serve, and None in the place of each other one."""
    named = listener.named_kinds
    if not named or listener.protocol not in ROUTES_BY_PROTOCOL or listener.may_serve_more:
        return []
    possible = world.gateways.kinds_by_protocol(listener)
    return [kind if kind.group == GATEWAY_API and kind not in possible else None for kind in named]
