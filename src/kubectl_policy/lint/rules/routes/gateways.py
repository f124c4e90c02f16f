"""GWP4xxx: Gateways, their classes and their ListenerSets, and routes that name no Gateway."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from kubectl_policy.lint.finding import Finding, Fix, some
from kubectl_policy.lint.rule import lint_rule
from kubectl_policy.model.fields import text_at
from kubectl_policy.model.kinds import GATEWAY_API
from kubectl_policy.model.unknown import is_unfilled
from kubectl_policy.topology.gateway.listeners import ROUTES_BY_PROTOCOL
from kubectl_policy.topology.references import GATEWAY, LISTENER_SETS

if TYPE_CHECKING:
    from collections.abc import Iterator

    from kubectl_policy.lint.linted import Linted
    from kubectl_policy.model import GroupKind
    from kubectl_policy.topology.gateway.listeners import Listener

# So many Gateways are told.
_MOST_RELATED: Final = 3


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
                related=tuple(world.related(each.ref, "", "spec.defaultScope") for each in defaults[:_MOST_RELATED]),
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
