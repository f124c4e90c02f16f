"""Hostnames of routes at their listeners (GWP4006, GWP4007, GWP4011 and GWP4014)."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from kubectl_policy.lint.finding import MAX_RELATED, Finding, Related, some
from kubectl_policy.lint.rule import lint_rule
from kubectl_policy.model.fields import items_at
from kubectl_policy.model.kind_roles import GRPC_ROUTE, HTTP_ROUTE, LISTENER_HOLDERS, ROUTES_WITH_HOSTNAMES
from kubectl_policy.model.snapshot import are_ages_known
from kubectl_policy.model.world import grouped
from kubectl_policy.topology.gateway.hostnames import Hostnames, comparable, covering_names, hostnames_in
from kubectl_policy.topology.gateway.listeners import Listener, listener_label
from kubectl_policy.topology.references import hostnames_of, parent_refs

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

    from kubectl_policy.lint.lint_world import LintWorld
    from kubectl_policy.lint.refusals import ParentRefusal
    from kubectl_policy.model import GroupKind, NodeRef, Resource
    from kubectl_policy.profiles.controllers import SharedHostnames
    from kubectl_policy.topology import Binding

_BOTH_KINDS: Final = (HTTP_ROUTE, GRPC_ROUTE)


@lint_rule("GWP4006", "error")
def hostname_no_intersection(world: LintWorld) -> Iterator[Finding]:
    """A route and its listener have no hostname in common.

    The route is not attached and gets no requests. A wildcard matches one or more labels: `*.example.com` matches
    `shop.example.com` and `eu.shop.example.com`, but not `example.com`. One listener with a hostname in common is
    enough.

    Source: HTTPRouteSpec.Hostnames and RouteReasonNoMatchingListenerHostname (Gateway API, apis/v1/httproute_types.go).
    """
    for refusal in world.refusals:
        if refusal.sort == "listener-hostname":
            yield _without_common_hostname(world, refusal)


@lint_rule("GWP4007", "warning")
def hostname_partially_ignored(world: LintWorld) -> Iterator[Finding]:
    """A hostname of a route matches none of its listeners and is ignored.

    The route is attached for its other hostnames, so its status reports no problem, but no request for this hostname
    reaches it.

    Source: HTTPRouteSpec.Hostnames, "any HTTPRoute hostnames that do not match the Listener hostname MUST be ignored"
    (Gateway API, apis/v1/httproute_types.go).
    """
    for route in world.of_kind(*ROUTES_WITH_HOSTNAMES):
        if len(hostnames_of(world.index, route.ref)) > 1:
            yield from _ignored_hostnames(world, route)


@lint_rule("GWP4011", "warning")
def http_grpc_same_host(world: LintWorld) -> Iterator[Finding]:
    """An HTTPRoute and a GRPCRoute have the same hostname at one listener, and only one of them may be accepted.

    Gateway API allows an implementation to accept only the older route, then the first by namespace and name; the other
    one gets no requests. Most implementations accept both, and nothing is reported if the profile of the controller
    says so; without a profile, it is unknown. Use a hostname or a listener for each route, which works with all
    implementations.

    Source: GEP-1016, "Cross Serving", which requires uniqueness no longer (kubernetes-sigs/gateway-api#4598);
    GRPCRouteSpec.Hostnames (Gateway API, apis/v1/grpcroute_types.go).
    """
    at_listeners = _by_listener(world, GRPC_ROUTE)
    if not at_listeners:
        return
    http = _by_listener(world, HTTP_ROUTE)
    reported: set[tuple[Resource, Resource]] = set()
    for listener, grpc in at_listeners.items():
        if _treatment(world, listener) == "accepted":
            continue
        for refused, accepted, hostname in _refused_for_others(world, listener, (*grpc, *http.get(listener, ()))):
            if (refused, accepted) not in reported:
                reported.add((refused, accepted))
                yield _refused_route(world, refused, accepted, hostname, listener)


@lint_rule("GWP4014", "info")
def attaches_everywhere(world: LintWorld) -> Iterator[Finding]:
    """A route names neither a listener nor hostnames, and so serves every listener of its Gateway.

    The route gets requests for every hostname, over plain HTTP as well as HTTPS: cookies and tokens may be sent without
    encryption. If this is not intended, add a `sectionName` or `hostnames`.

    Source: ParentReference.SectionName, "When unspecified, this will reference the entire resource" (Gateway API,
    apis/v1/shared_types.go).
    """
    for route in world.of_kind(*_BOTH_KINDS):
        for parent in () if hostnames_of(world.index, route.ref) else parent_refs(world.index, route.ref):
            if parent.section or parent.port is not None or parent.object.group_kind not in LISTENER_HOLDERS:
                continue
            bindings = world.relations.bindings(route.ref)
            of_parent = (binding for binding in bindings if binding.parent_index == parent.position)
            nodes = (binding.listener for binding in of_parent if binding.state == "attached" and binding.listener)
            listeners = [*filter(None, map(world.gateways.listener, nodes))]
            if len(listeners) > 1:
                protocols = {listener.protocol for listener in listeners}
                plain = ", over plain HTTP as well" if protocols == {"HTTP", "HTTPS"} else ""
                yield Finding(
                    subject=route.ref,
                    field=f"spec.parentRefs[{parent.position}]",
                    message=f"it serves every hostname at all {len(listeners)} listeners of {parent.object}{plain}",
                    related=(world.related(parent.object),),
                )


def _without_common_hostname(world: LintWorld, refusal: ParentRefusal) -> Finding:
    hostnames = hostnames_of(world.index, refusal.route.ref)
    field = "spec.hostnames[0]" if len(hostnames) == 1 else "spec.hostnames"
    if not refusal.certain:
        return world.unknown(refusal.route, field, refusal.message)
    listeners = list(filter(None, map(world.gateways.listener, refusal.listeners)))
    subject = f"hostname {hostnames[0]}" if len(hostnames) == 1 else f"none of its {len(hostnames)} hostnames"
    verb = "matches" if len(hostnames) > 1 else "does not match"
    return Finding(
        subject=refusal.route.ref,
        field=field,
        message=f"{subject} {verb} {_hostnames_of(listeners)}",
        reason=refusal.reason,
        related=tuple(_related(world, listener) for listener in listeners[:MAX_RELATED]),
    )


def _hostnames_of(listeners: Sequence[Listener]) -> str:
    if len(listeners) == 1:
        return f"{listeners[0].hostname} of {listeners[0]}"
    every = some([f"{listener.hostname} ({listener.node.section})" for listener in listeners])
    return f"{every} of the listeners of {listeners[0].node.object}"


def _related(world: LintWorld, listener: Listener) -> Related:
    return world.related(listener.node.object, f"listener {listener.node.section}", f"{listener.field}.hostname")


def _ignored_hostnames(world: LintWorld, route: Resource) -> Iterator[Finding]:
    bindings = world.relations.bindings(route.ref)
    attached = [binding for binding in bindings if binding.state == "attached"]
    at = [world.gateways.listener(binding.listener) if binding.listener else None for binding in attached]
    if not all(at) or all(listener and not listener.hostname for listener in at):
        return
    listeners = [*filter(None, at), *_willing_listeners(world, bindings)]
    doubt = next((binding for binding in bindings if binding.state == "unknown"), None)
    at_listeners = Hostnames([listener.hostname for listener in listeners])
    for position, hostname in enumerate(items_at(world.index.defaulted(route.ref), "spec.hostnames")):
        if not isinstance(hostname, str) or not listeners:
            continue
        is_common = at_listeners.have_common_hostname(hostname)
        field = f"spec.hostnames[{position}]"
        if is_common:
            continue
        if doubt:
            yield world.unknown(route, "spec.hostnames", doubt.message)
            return
        if is_common is None:
            yield world.unknown(route, field, f"whether a listener matches {hostname} cannot be known yet")
        else:
            yield Finding(
                subject=route.ref,
                field=field,
                message=f"hostname {hostname} matches none of its listeners, so it is ignored",
                related=tuple(_related(world, listener) for listener in listeners[:MAX_RELATED]),
            )


def _willing_listeners(world: LintWorld, bindings: Iterable[Binding]) -> Iterator[Listener]:
    """Yield the listeners that would accept a route but for problems that other rules report."""
    accepted = {binding.parent_index for binding in bindings if binding.state == "attached"}
    for binding in bindings:
        node = binding.listener if binding.state == "refused" else None
        listener = world.gateways.listener(node) if node else None
        if listener and (binding.counts_as_attached or binding.parent_index not in accepted):
            yield listener


def _by_listener(world: LintWorld, kind: GroupKind) -> Mapping[NodeRef, Sequence[Resource]]:
    return grouped(
        (binding.listener, route)
        for route in world.index.of_kind(kind)
        for binding in world.relations.bindings(route.ref)
        if binding.listener and binding.state == "attached" and binding.parent.group_kind in LISTENER_HOLDERS
    )


def _refused_for_others(
    world: LintWorld, listener: NodeRef, routes: Iterable[Resource]
) -> Iterator[tuple[Resource, Resource, str]]:
    """Yield the refused routes at a listener, each with the accepted one and a common hostname."""
    at = world.gateways.listener(listener)
    accepted = {kind: _Hostnames() for kind in _BOTH_KINDS}
    for route in sorted(
        routes, key=lambda candidate: (candidate.seniority, _BOTH_KINDS.index(candidate.ref.group_kind))
    ):
        hostnames = hostnames_of(world.index, route.ref) or ("",)
        names = [name for _, name in hostnames_in(hostnames).intersections(at.hostname)] if at else []
        rivals = accepted[GRPC_ROUTE if route.ref.group_kind == HTTP_ROUTE else HTTP_ROUTE]
        met = ((rivals.meeting(name), name) for name in names)
        first = next(((holder, name) for holder, name in met if holder), None)
        if first:
            yield route, *first
        else:
            accepted[route.ref.group_kind].add(names, route)


class _Hostnames:
    """An index of hostnames of routes by which overlapping ones are found."""

    def __init__(self) -> None:
        self._names: dict[str, Resource] = {}
        self._inside: dict[str, Resource] = {}

    def add(self, names: Iterable[str], route: Resource) -> None:
        for name in names:
            self._names.setdefault(comparable(name), route)
            for wider in _covering(name):
                self._inside.setdefault(wider, route)

    def meeting(self, name: str) -> Resource | None:
        """Return the first route with a hostname that covers a name or is covered by it."""
        covering = next((self._names[wider] for wider in _covering(name) if wider in self._names), None)
        return covering or self._inside.get(comparable(name))


def _covering(name: str) -> Iterator[str]:
    """Yield a hostname and all that cover it; "" covers every one."""
    yield from covering_names(name)
    yield ""


def _treatment(world: LintWorld, listener: NodeRef) -> SharedHostnames:
    """Return what the controller of a listener makes of an HTTPRoute and a GRPCRoute with a common hostname."""
    return world.gateways.profile_of(world.gateways.gateway_of(listener.object)).shared_hostnames


def _refused_route(
    world: LintWorld, refused: Resource, accepted: Resource, hostname: str, listener: NodeRef
) -> Finding:
    shared = f"{accepted.ref} has {f'hostname {hostname}' if hostname else 'hostnames'} of {listener_label(listener)}"
    if _treatment(world, listener) == "unknown":
        outcome = "whether both are accepted depends on the implementation"
        return world.unknown(refused, "spec.hostnames", f"{shared} as well: {outcome}")
    known = are_ages_known((refused, accepted))
    which = f"the older one, {accepted.ref}" if known else "the older one, and their ages are not known here"
    return Finding(
        subject=refused.ref,
        field="spec.hostnames",
        message=f"{shared}: one of the two is accepted, by Gateway API {which}",
        related=(world.related(accepted.ref, "", "spec.hostnames"), world.related(listener.object)),
    )
