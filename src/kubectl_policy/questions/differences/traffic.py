"""Traffic that routes lose or gain between two states: listeners, hostnames and failing shares, but no new backends."""

from __future__ import annotations

from itertools import chain
from typing import TYPE_CHECKING, Annotated, Final

from msgspec import Meta, Struct

from kubectl_policy.lazy import pattern
from kubectl_policy.model import GroupKind, NodeRef, ObjectRef
from kubectl_policy.model.body import text_of
from kubectl_policy.model.kind_roles import LISTENER_HOLDERS, PORT_HOLDERS, ROUTES
from kubectl_policy.model.world import MAX_SINGLE_QUESTIONS, grouped
from kubectl_policy.questions.differences.serving import RuleAnswers, Serving, owner
from kubectl_policy.topology.references import hostnames_of

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Iterator, Mapping

    from kubectl_policy.comparison import StateComparison
    from kubectl_policy.questions.shared.failing_routes import FailingRoute

# What of these differs is looked up at the routes that name it; anything else may matter to every listener.
_LOOKED_UP: Final[tuple[GroupKind, ...]] = (*ROUTES, *PORT_HOLDERS)
_ANY_HOST: Final = "*"
# In a route as compact JSON that names any hostname.
_WITH_HOSTNAME: Final = pattern(rb'"hostnames":\["')


class FailingRule(Struct, frozen=True, kw_only=True):
    """A rule whose requests fail in only one of two states."""

    rule: Annotated[NodeRef, Meta(description="The rule.")]
    failing: Annotated[int, Meta(description="The failing share of `total`, by the weights of the backends.")]
    total: Annotated[int, Meta(description="The total of which `failing` is a part.")]
    backends: Annotated[tuple[ObjectRef, ...], Meta(description="The backends of the failing requests.")] = ()
    reason: Annotated[str, Meta(description="The reason as the API spells it; empty if the API defines none.")] = ""
    message: Annotated[
        str,
        Meta(description="The reason why the first backend receives no requests, or the responsible policy or filter."),
    ] = ""
    status: Annotated[
        int, Meta(description="The HTTP status with which a filter answers the requests; 0 if no filter does.")
    ] = 0
    gone: Annotated[bool, Meta(description="Whether the state has no rule for these requests.")] = False


_KEPT: Final = "The listeners or parents at which the route accepts or may accept requests in the other state."


class RouteTraffic(Struct, frozen=True, kw_only=True):
    """A route that receives requests in one of two states that it does not receive in the other state."""

    route: Annotated[ObjectRef, Meta(description="The route.")]
    hostnames: Annotated[tuple[str, ...], Meta(description="The hostnames of the requests; `*` for any.")]
    lost: Annotated[
        tuple[NodeRef, ...],
        Meta(description="The listeners or parents at which the route accepts no requests in the other state."),
    ]
    kept: Annotated[tuple[NodeRef, ...], Meta(description=_KEPT)]
    failing: Annotated[tuple[FailingRule, ...], Meta(description="The rules whose requests fail in the other state.")]
    rules: Annotated[int, Meta(description="The number of rules of the route.", ge=0)]
    owner: Annotated[
        str, Meta(description="The owner of the route; empty if the route names none, and without --owner.")
    ] = ""


class StillAnswered(Struct, frozen=True):
    """Hostnames that a route no longer accepts, and the routes that accept them."""

    hostnames: Annotated[tuple[str, ...], Meta(description="The hostnames.")]
    by: Annotated[tuple[ObjectRef, ...], Meta(description="The routes that accept them.")]


class TrafficOneWay(Struct, frozen=True, kw_only=True):
    """The traffic that one of two states has and the other state lacks."""

    all: Annotated[
        tuple[RouteTraffic, ...], Meta(description="The routes without any traffic in the other state.")
    ] = ()
    some: Annotated[tuple[RouteTraffic, ...], Meta(description="The routes with less traffic in the other state.")] = ()
    hostnames: Annotated[
        tuple[str, ...],
        Meta(description="The hostnames that no route accepts in the other state, at the same Gateway; `*` for any."),
    ] = ()
    answered: Annotated[
        tuple[StillAnswered, ...],
        Meta(description="The other hostnames of these routes, with the routes that accept them in the other state."),
    ] = ()
    listeners: Annotated[
        tuple[NodeRef, ...], Meta(description="The listeners at which no route accepts requests in the other state.")
    ] = ()
    backends: Annotated[
        tuple[ObjectRef, ...], Meta(description="The backends to which no route sends requests in the other state.")
    ] = ()

    @property
    def routes(self) -> tuple[RouteTraffic, ...]:
        """Every route that is concerned."""
        return (*self.all, *self.some)


class TrafficChanges(Struct, frozen=True, kw_only=True):
    """The lost and the gained traffic."""

    lost: Annotated[TrafficOneWay, Meta(description="The traffic that only the earlier state has.")]
    gained: Annotated[TrafficOneWay, Meta(description="The traffic that only the later state has.")]
    uncontrolled: Annotated[
        tuple[RouteTraffic, ...], Meta(description="Other routes behind Gateways that no controller manages any more.")
    ] = ()
    owner_key: Annotated[str, Meta(description="The label or annotation that names owners; empty without --owner.")] = (
        ""
    )

    @property
    def routes(self) -> tuple[RouteTraffic, ...]:
        """Every route that is concerned; one that loses some and gains some twice."""
        return (*self.lost.routes, *self.uncontrolled, *self.gained.routes)


NO_TRAFFIC: Final = TrafficChanges(lost=TrafficOneWay(), gained=TrafficOneWay())


def traffic_changes(
    comparison: StateComparison,
    without_class: Collection[ObjectRef] = (),
    failing: tuple[Collection[FailingRoute], Collection[FailingRoute]] = ((), ()),
    owner_key: str = "",
) -> TrafficChanges:
    """Compare the traffic of two states, of which the `failing` routes fail for a policy."""
    if comparison.shares_topology and failing[0] == failing[1]:
        return NO_TRAFFIC
    before = Serving(comparison.before, failing[0])
    after = Serving(comparison.after, failing[1])
    routes = _routes_that_may_differ(comparison, {failure.route for state in failing for failure in state})
    lost = _OneWay(before, after, owner_key).of(routes)
    losing = {traffic.route for traffic in lost.routes}
    orphans = {*without_class}
    return TrafficChanges(
        lost=lost,
        gained=_OneWay(after, before, owner_key).of(routes),
        uncontrolled=tuple(
            uncontrolled
            for route in (routes if orphans else ())
            if route not in losing and (uncontrolled := _uncontrolled(after, route, orphans, owner_key))
        ),
        owner_key=owner_key,
    )


def _routes_that_may_differ(comparison: StateComparison, failing: Collection[ObjectRef]) -> list[ObjectRef]:
    """The routes of both states, without those of which all that decides on their traffic is the same; sorted."""
    before, after = comparison.before, comparison.after
    if comparison.shares_topology:
        return sorted(failing)
    if comparison.surroundings:
        return sorted(comparison.surroundings.routes.union(failing))
    worlds = (before.index.world, after.index.world)
    # They come nearly in their order, which a set would lose.
    every = sorted(dict.fromkeys(route for world in worlds for kind in ROUTES for route in world.refs_of(kind)))
    if any(ref.group_kind not in _LOOKED_UP for ref in (*comparison.changed, *comparison.gone)):
        return every
    old, new = before.topology, after.topology
    relations = (old.relations, new.relations)
    leads_on = any(relation.delegations.refs or relation.routes_lead_to_routes for relation in relations)
    if not leads_on and all(ref.group_kind in ROUTES for ref in comparison.changed):
        return sorted(comparison.changed)
    return [
        route
        for route in every
        if route in comparison.changed
        or route in failing
        or old.relations.delegations_to(route)
        or new.relations.delegations_to(route)
        or old.bindings(route) != new.bindings(route)
        or old.backends(route) != new.backends(route)
    ]


def _uncontrolled(
    state: Serving, route: ObjectRef, gateways: Collection[ObjectRef], owner_key: str
) -> RouteTraffic | None:
    """A route that takes requests at some Gateways, and where; None if it takes none there."""
    listeners = state.listeners(route)
    lost = [listener for listener in listeners if state.gateway(listener) in gateways]
    if not lost:
        return None
    return RouteTraffic(
        route=route,
        hostnames=tuple(sorted({name for listener in lost for name in state.hostnames(listener, route)})),
        lost=tuple(lost),
        kept=tuple(listener for listener in listeners if listener not in lost),
        failing=(),
        rules=len(state.rules(route)),
        owner=owner(state.analysis.index, route, owner_key) if owner_key else "",
    )


class _OneWay:
    """The traffic that one state has and the other one lacks."""

    def __init__(self, having: Serving, lacking: Serving, owner_key: str) -> None:
        self._having, self._lacking = having, lacking
        self._owner_key = owner_key
        # What is lost by the routes so far: hostnames at Gateways.
        self._names: set[tuple[ObjectRef, str]] = set()

    def of(self, routes: Iterable[ObjectRef]) -> TrafficOneWay:
        """The traffic of some routes."""
        every: list[RouteTraffic] = []
        some: list[RouteTraffic] = []
        for route in routes:
            listeners = [listener for listener, certain in self._having.listeners(route).items() if certain]
            rules = [rule for rule in self._having.rules(route) if rule.answered] if listeners else []
            if rules:
                remaining = self._lacking.listeners(route)
                failing = tuple(self._failing(route, rules)) if remaining else ()
                fails = len(failing) == len(rules) and all(rule.failing == rule.total for rule in failing)
                loses_all = not remaining or fails
                traffic = self._traffic(route, listeners, remaining, failing, loses_all=loses_all)
                if traffic:
                    (every if loses_all else some).append(traffic)
        concerned = (*every, *some)
        answered = self._still_answered({traffic.route for traffic in every if not traffic.kept}) if self._names else ()
        lost = {listener for traffic in concerned for listener in traffic.lost}
        has_routes = self._lacking.topology.relations.has_attached_routes
        empty = (listener for listener in lost if self._lacking.is_dark(listener) or not has_routes(listener))
        still = {name for group in answered for name in group.hostnames}
        return TrafficOneWay(
            all=tuple(every),
            some=tuple(some),
            hostnames=tuple(sorted({name for _, name in self._names} - still)),
            answered=answered,
            listeners=tuple(sorted(empty)),
            backends=tuple(self._unreached(concerned)),
        )

    def _traffic(
        self,
        route: ObjectRef,
        listeners: Collection[NodeRef],
        remaining: Mapping[NodeRef, bool],
        failing: tuple[FailingRule, ...],
        *,
        loses_all: bool,
    ) -> RouteTraffic | None:
        """Traffic of a route at `listeners` that the other state lacks; None if nothing is lacking."""
        having, lacking = self._having, self._lacking
        names = [(listener, name) for listener in listeners for name in having.hostnames(listener, route)]
        if remaining:
            lost = tuple(
                listener
                for listener in listeners
                if not (listener in remaining or NodeRef(listener.object) in remaining)
            )
            # Attached alike, it has the same hostnames in both.
            same = having.topology.bindings(route) is lacking.topology.bindings(route)
            gone = [
                (listener, name)
                for listener, name in names
                if listener in lost
                or (remaining.get(listener) and not same and name not in lacking.hostnames(listener, route))
            ]
        else:
            lost, gone = tuple(listeners), names
        if not (lost or failing or gone):
            return None
        at_gateways = {(having.gateway(listener), name) for listener, name in (names if loses_all else gone)}
        if not loses_all:
            at_gateways -= {
                (lacking.gateway(listener), name)
                for listener in remaining
                for name in lacking.hostnames(listener, route)
            }
        self._names |= at_gateways
        return RouteTraffic(
            route=route,
            hostnames=tuple(sorted({name for _, name in (names if failing else gone)})),
            lost=lost,
            kept=tuple(remaining),
            failing=failing,
            rules=len(having.rules(route)),
            owner=owner(having.analysis.index, route, self._owner_key) if self._owner_key else "",
        )

    def _failing(self, route: ObjectRef, rules: Iterable[RuleAnswers]) -> Iterator[FailingRule]:
        """The rules that have requests answered of which fewer are, or none."""
        later_rules = self._lacking.rules(route)
        same = self._lacking.analysis.index.get(route) is self._having.analysis.index.get(route)
        for rule in rules:
            named = (it for it in later_rules if it.rule == rule.rule and (same or it.shares_requests(rule)))
            sharing = (it for it in later_rules if it.shares_requests(rule))
            later = next(chain(named, sharing), None)
            if later is None:
                yield FailingRule(rule=rule.rule, failing=1, total=1, gone=True)
            elif later.answered * rule.total < rule.answered * later.total or not later.answered:
                known = {backend.ref.object for backend in rule.broken}
                broken = [backend for backend in later.broken if backend.ref.object not in known] or later.broken
                yield FailingRule(
                    rule=rule.rule,
                    failing=(later.total - later.answered) or 1,
                    total=later.total or 1,
                    backends=tuple(dict.fromkeys(backend.ref.object for backend in broken)),
                    reason=broken[0].reason if broken else "",
                    status=later.status,
                    message=later.invalid or (broken[0].message if broken else ""),
                )

    def _still_answered(self, without: Collection[ObjectRef]) -> tuple[StillAnswered, ...]:
        """Return the routes that take the requests for hostnames that others lose, at the same Gateway or by name."""
        serving: dict[tuple[ObjectRef, str], set[ObjectRef]] = {}
        perhaps = [route for route in self._perhaps_answering() if route not in without]
        wanted = {wider for _, name in (self._names if perhaps else ()) for wider in _wider(name)}
        for route in perhaps:
            own_hostnames = hostnames_of(self._lacking.analysis.index, route)
            is_meant = not (own_hostnames and wanted.isdisjoint(own_hostnames)) or any(
                name.startswith("*.") for name in own_hostnames
            )
            listeners = list(self._lacking.listeners(route)) if is_meant else []
            if listeners and any(rule.answered for rule in self._lacking.rules(route)):
                for listener in listeners:
                    for name in self._lacking.hostnames(listener, route):
                        serving.setdefault((self._lacking.gateway(listener), name), set()).add(route)
        if not serving:
            return ()
        elsewhere = grouped((name, (gateway, name)) for gateway, name in serving if name != _ANY_HOST)
        by_names: dict[tuple[tuple[ObjectRef, str], ...], set[str]] = {}
        for gateway, name in sorted(self._names):
            same_gateway = next(((gateway, wider) for wider in _wider(name) if (gateway, wider) in serving), None)
            answering = (same_gateway,) if same_gateway else elsewhere.get(name, ())
            if answering:
                by_names.setdefault(answering, set()).add(name)
        return tuple(
            StillAnswered(tuple(sorted(names)), tuple(sorted({route for pair in answering for route in serving[pair]})))
            for answering, names in sorted(by_names.items(), key=lambda item: sorted(item[1]))
        )

    def _perhaps_answering(self) -> Iterable[ObjectRef]:
        """The routes that may take requests for one of the hostnames: at the same Gateway, or since they name it."""
        index, relations = self._lacking.analysis.index, self._lacking.topology.relations
        world, names = index.world, {name for _, name in self._names} - {_ANY_HOST}
        if len(names) > MAX_SINGLE_QUESTIONS or relations.delegations.refs:
            return [route for kind in ROUTES for route in world.refs_of(kind)]
        holders, gateways = {gateway for gateway, _ in self._names}, relations.gateways
        for name in names:
            holders.update(holder for kind in LISTENER_HOLDERS for holder in index.naming(kind, name))
        parents = {parent for holder in holders for parent in (holder, *gateways.admitted(holder))}
        routes: set[ObjectRef] = set()
        for kind in ROUTES:
            # A wildcard may match any of them.
            named = {route for name in (*names, _ANY_HOST) for route in index.naming(kind, name)}
            under_parents = {route for parent in parents for route in index.naming(kind, parent)}
            # Others may take it by taking all requests at a listener that names it, if they name no hostname.
            resources = filter(None, map(index.get, under_parents - named))
            routes.update(
                named, (resource.ref for resource in resources if not _WITH_HOSTNAME.search(text_of(resource.raw)))
            )
        return sorted(routes, key=lambda route: (ROUTES[route.group_kind], route))

    def _unreached(self, routes: Iterable[RouteTraffic]) -> list[ObjectRef]:
        """Objects to which some routes send requests, and no route with requests in the other state does."""
        lacking = self._lacking
        # Many come in their order, which a set would lose.
        backends = dict.fromkeys(
            node.object
            for traffic in routes
            for backend in self._having.topology.backends(traffic.route)
            for node in (backend.nodes if backend.state != "broken" and backend.routes is None else ())
        )
        present = (ref for ref in sorted(backends) if lacking.analysis.index.presence(ref) != "missing")
        routes_to = lacking.topology.relations.routes_forwarding_to
        return [ref for ref in present if not any(map(lacking.listeners, routes_to(ref)))]


def _wider(name: str) -> Iterator[str]:
    """A hostname and the wildcards that match it, the nearest first."""
    yield name
    labels = name.removeprefix("*.").split(".")
    for position in range(1, len(labels)):
        yield f"*.{'.'.join(labels[position:])}"
    if name != _ANY_HOST:
        yield _ANY_HOST
