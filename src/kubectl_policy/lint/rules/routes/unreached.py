"""GWP4013 and GWP4018: routes that no request reaches, or that send requests round in circles."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from kubectl_policy.attachment.references import may_be_more
from kubectl_policy.lint.finding import Finding
from kubectl_policy.lint.rule import lint_rule
from kubectl_policy.model.fields import text_at
from kubectl_policy.questions.shared.unattached import refusal
from kubectl_policy.topology.references import HTTP_ROUTE, ROUTES

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from kubectl_policy.lint.facts.refusals import Refusal
    from kubectl_policy.lint.linted import Linted
    from kubectl_policy.model import ObjectRef, Resource

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
    of_route: dict[Resource, list[Refusal]] = {}
    for each in world.refusals:
        of_route.setdefault(each.route, []).append(each)
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
    """That a route is attached to nothing, if nothing else says why."""
    circles = world.relations.delegations.order.circles
    if any(route.ref in circle for circle in circles.values()):
        return
    if not refused and not world.relations.bindings(route.ref):
        yield from _without_parents(world, route)
    for each in refused:
        if each.sort in _FOUND_THERE or world.index.presence(each.parent) != "present":
            return
    for binding in world.relations.bindings(route.ref):
        why = refusal(world.analysis, binding)
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
