"""Which routes lose traffic from one state to another, or get some: where, for which hostnames, and how much of it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from msgspec import Struct

from kubectl_policy.model import NodeRef, ObjectRef
from kubectl_policy.model.body import text_of
from kubectl_policy.model.world import MAX_SINGLE_QUESTIONS, grouped
from kubectl_policy.patterns import pattern
from kubectl_policy.questions.differences.counts import owner
from kubectl_policy.questions.differences.serving import Serving
from kubectl_policy.topology.references import ROUTES, WITH_LISTENERS, WITH_PORTS, hostnames_of

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Iterator, Mapping

    from kubectl_policy.comparison import StateComparison
    from kubectl_policy.model import GroupKind
    from kubectl_policy.questions.differences.serving import RuleAnswers
    from kubectl_policy.questions.shared.failing import FailingRoute

# What of these differs is looked up at the routes that name it; anything else may matter to every listener.
_LOOKED_UP: Final[tuple[GroupKind, ...]] = (*ROUTES, *WITH_PORTS)
_ANY_HOST: Final = "*"
# In a route as compact JSON that names any hostname.
_WITH_HOSTNAME: Final = pattern(rb'"hostnames":\["')


class FailingRule(Struct, frozen=True, kw_only=True):
    """A rule of which requests fail in one of two states and not in the other: `failing` of `total`, by weight.

    `backends` are those to which such requests would go, `reason` and `message` say why the first of them gets none, or
    which policy is not valid, or which filter is to blame; it answers with a `status` unless that is 0. A rule
    `is_gone` if that state has no rule for its matches.
    """

    rule: NodeRef
    failing: int
    total: int
    backends: tuple[ObjectRef, ...] = ()
    reason: str = ""
    message: str = ""
    status: int = 0
    is_gone: bool = False


class RouteTraffic(Struct, frozen=True, kw_only=True):
    """A route that answers requests in one of two states that it does not answer in the other.

    `hostnames` are those of these requests, `*` for every host. `lost` are the listeners (or parents) at which it takes
    none in the other state, `kept` those at which it takes some there, or may. `failing` are its rules of which
    requests fail there; `rules` is the number of all. Its `owner` is empty if it names none, or none was asked for.
    """

    route: ObjectRef
    hostnames: tuple[str, ...]
    lost: tuple[NodeRef, ...]
    kept: tuple[NodeRef, ...]
    failing: tuple[FailingRule, ...]
    rules: int
    owner: str = ""


class StillAnswered(Struct, frozen=True):
    """Hostnames for which a route takes no requests any more, and the routes that do."""

    hostnames: tuple[str, ...]
    by: tuple[ObjectRef, ...]


class TrafficOneWay(Struct, frozen=True, kw_only=True):
    """The traffic that one of two states has and the other one has not.

    `all` are the routes that take no request there, or answer none, `some` those that do for a part. `hostnames`,
    `listeners` and `backends` are those that no route serves, takes requests at or leads to there; of the hostnames, it
    is none at the same Gateway, and none that names it elsewhere. `answered` has the other hostnames of these routes.
    """

    all: tuple[RouteTraffic, ...] = ()
    some: tuple[RouteTraffic, ...] = ()
    hostnames: tuple[str, ...] = ()
    answered: tuple[StillAnswered, ...] = ()
    listeners: tuple[NodeRef, ...] = ()
    backends: tuple[ObjectRef, ...] = ()

    @property
    def routes(self) -> tuple[RouteTraffic, ...]:
        """Every route that is concerned."""
        return (*self.all, *self.some)


class TrafficChanges(Struct, frozen=True, kw_only=True):
    """The traffic that is lost and that is gained, and the routes behind Gateways on which no controller acts then.

    What becomes of the last is up to the implementation. No route is among them that is in `lost`. `owner_key` is the
    label or annotation that names the owners of routes; empty if none was asked for.
    """

    lost: TrafficOneWay
    gained: TrafficOneWay
    uncontrolled: tuple[RouteTraffic, ...] = ()
    owner_key: str = ""

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
    """What of the traffic differs between two states.

    `without_class` are the Gateways that lose their class, `failing` the routes that fail for a policy in either state.
    """
    if comparison.shares_topology and failing[0] == failing[1]:
        return NO_TRAFFIC
    before = Serving(comparison.before, failing[0])
    after = Serving(comparison.after, failing[1])
    routes = _routes_that_may_differ(comparison, {each.route for state in failing for each in state})
    lost = _OneWay(before, after, owner_key).of(routes)
    told = {each.route for each in lost.routes}
    orphans = {*without_class}
    return TrafficChanges(
        lost=lost,
        gained=_OneWay(after, before, owner_key).of(routes),
        uncontrolled=tuple(
            found
            for route in (routes if orphans else ())
            if route not in told and (found := _uncontrolled(after, route, orphans, owner_key))
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
    every = sorted(dict.fromkeys(route for world in worlds for kind in ROUTES for route in world.names_of(kind)))
    if any(ref.group_kind not in _LOOKED_UP for ref in (*comparison.changed, *comparison.gone)):
        return every
    old, new = before.topology, after.topology
    relations = (old.relations, new.relations)
    leads_on = any(each.delegations.refs or each.routes_lead_to_routes for each in relations)
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
    places = state.places(route)
    lost = [place for place in places if state.gateway(place) in gateways]
    if not lost:
        return None
    return RouteTraffic(
        route=route,
        hostnames=tuple(sorted({name for place in lost for name in state.hostnames(place, route)})),
        lost=tuple(lost),
        kept=tuple(place for place in places if place not in lost),
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
            places = [place for place, certain in self._having.places(route).items() if certain]
            rules = [rule for rule in self._having.rules(route) if rule.answered] if places else []
            if rules:
                there = self._lacking.places(route)
                failing = tuple(self._failing(route, rules)) if there else ()
                loses_all = not there or _is_all(failing, rules)
                found = self._traffic(route, places, there, failing, loses_all=loses_all)
                if found:
                    (every if loses_all else some).append(found)
        concerned = (*every, *some)
        answered = self._still_answered({each.route for each in every if not each.kept}) if self._names else ()
        still = {name for each in answered for name in each.hostnames}
        return TrafficOneWay(
            all=tuple(every),
            some=tuple(some),
            hostnames=tuple(sorted({name for _, name in self._names} - still)),
            answered=answered,
            listeners=tuple(sorted(filter(self._is_empty, {place for each in concerned for place in each.lost}))),
            backends=tuple(self._unreached(concerned)),
        )

    def _traffic(
        self,
        route: ObjectRef,
        places: Collection[NodeRef],
        there: Mapping[NodeRef, bool],
        failing: tuple[FailingRule, ...],
        *,
        loses_all: bool,
    ) -> RouteTraffic | None:
        """What of a route's traffic is lacking, of which there is some at `places`; None if nothing is."""
        having, lacking = self._having, self._lacking
        names = [(place, name) for place in places for name in having.hostnames(place, route)]
        if there:
            lost = tuple(place for place in places if not (place in there or NodeRef(place.object) in there))
            # Attached alike, it has the same hostnames in both.
            same = having.topology.bindings(route) is lacking.topology.bindings(route)
            gone = [
                (place, name)
                for place, name in names
                if place in lost or (there.get(place) and not same and name not in lacking.hostnames(place, route))
            ]
        else:
            lost, gone = tuple(places), names
        if not (lost or failing or gone):
            return None
        at_gateways = {(having.gateway(place), name) for place, name in (names if loses_all else gone)}
        if not loses_all:
            at_gateways -= {
                (lacking.gateway(place), name) for place in there for name in lacking.hostnames(place, route)
            }
        self._names |= at_gateways
        return RouteTraffic(
            route=route,
            hostnames=tuple(sorted({name for _, name in (names if failing else gone)})),
            lost=lost,
            kept=tuple(there),
            failing=failing,
            rules=len(having.rules(route)),
            owner=owner(having.analysis.index, route, self._owner_key) if self._owner_key else "",
        )

    def _failing(self, route: ObjectRef, rules: Iterable[RuleAnswers]) -> Iterator[FailingRule]:
        """The rules that have requests answered of which fewer are, or none."""
        others = self._lacking.rules(route)
        same = self._lacking.analysis.index.get(route) is self._having.analysis.index.get(route)
        for rule in rules:
            alike = (each for each in others if each.rule == rule.rule if same or each.shares_requests(rule))
            other = next(alike, None) or next((each for each in others if each.shares_requests(rule)), None)
            if other is None:
                yield FailingRule(rule=rule.rule, failing=1, total=1, is_gone=True)
            elif other.answered * rule.total < rule.answered * other.total or not other.answered:
                known = {backend.ref.object for backend in rule.broken}
                broken = [each for each in other.broken if each.ref.object not in known] or other.broken
                yield FailingRule(
                    rule=rule.rule,
                    failing=(other.total - other.answered) or 1,
                    total=other.total or 1,
                    backends=tuple(dict.fromkeys(each.ref.object for each in broken)),
                    reason=broken[0].reason if broken else "",
                    status=other.status,
                    message=other.invalid or (broken[0].message if broken else ""),
                )

    def _still_answered(self, without: Collection[ObjectRef]) -> tuple[StillAnswered, ...]:
        """Who takes the requests for the hostnames that routes lose at Gateways; `without` those that take none at all.

        At the same Gateway, or at another one where a route names the hostname; of several names the nearest counts.
        """
        serving: dict[tuple[ObjectRef, str], set[ObjectRef]] = {}
        perhaps = [route for route in self._perhaps_answering() if route not in without]
        wanted = {wider for _, name in (self._names if perhaps else ()) for wider in _wider(name)}
        for route in perhaps:
            own = hostnames_of(self._lacking.analysis.index, route)
            is_meant = not (own and wanted.isdisjoint(own)) or any(name.startswith("*.") for name in own)
            places = list(self._lacking.places(route)) if is_meant else []
            if places and any(rule.answered for rule in self._lacking.rules(route)):
                for place in places:
                    for name in self._lacking.hostnames(place, route):
                        serving.setdefault((self._lacking.gateway(place), name), set()).add(route)
        if not serving:
            return ()
        elsewhere = grouped((name, (gateway, name)) for gateway, name in serving if name != _ANY_HOST)
        by_names: dict[tuple[tuple[ObjectRef, str], ...], set[str]] = {}
        for gateway, name in sorted(self._names):
            here = next(((gateway, wider) for wider in _wider(name) if (gateway, wider) in serving), None)
            found = (here,) if here else elsewhere.get(name, ())
            if found:
                by_names.setdefault(found, set()).add(name)
        return tuple(
            StillAnswered(tuple(sorted(names)), tuple(sorted({route for each in found for route in serving[each]})))
            for found, names in sorted(by_names.items(), key=lambda item: sorted(item[1]))
        )

    def _perhaps_answering(self) -> Iterable[ObjectRef]:
        """The routes that may take requests for one of the hostnames at the same Gateway, or at any if they name it.

        Also those that do so by taking all requests at a listener which names it.
        """
        index, relations = self._lacking.analysis.index, self._lacking.topology.relations
        world, names = index.world, {name for _, name in self._names} - {_ANY_HOST}
        if len(names) > MAX_SINGLE_QUESTIONS or relations.delegations.refs:
            return [route for kind in ROUTES for route in world.names_of(kind)]
        places, gateways = {gateway for gateway, _ in self._names}, relations.gateways
        for name in names:
            places.update(found for kind in WITH_LISTENERS for found in index.naming(kind, name))
        parents = {each for found in places for each in (found, *gateways.admitted(found))}
        routes: set[ObjectRef] = set()
        for kind in ROUTES:
            # A wildcard may match any of them.
            named = {route for name in (*names, _ANY_HOST) for route in index.naming(kind, name)}
            below = {route for parent in parents for route in index.naming(kind, parent)}
            routes.update(named, self._perhaps_for_every_host(below - named))
        return sorted(routes, key=lambda route: (ROUTES[route.group_kind], route))

    def _perhaps_for_every_host(self, routes: Collection[ObjectRef]) -> Iterable[ObjectRef]:
        """Of some routes, those that may name no hostname; it is told from their texts."""
        resources = filter(None, map(self._lacking.analysis.index.get, routes))
        return (resource.ref for resource in resources if not _WITH_HOSTNAME.search(text_of(resource.raw)))

    def _is_empty(self, place: NodeRef) -> bool:
        """Whether no route takes requests at a place."""
        return self._lacking.is_dark(place) or not self._lacking.topology.relations.is_any_attached_to(place)

    def _unreached(self, routes: Iterable[RouteTraffic]) -> list[ObjectRef]:
        """What some routes send requests to, and no route that gets any in the other state; without what is gone."""
        lacking = self._lacking
        # Many come in their order, which a set would lose.
        backends = dict.fromkeys(
            node.object
            for each in routes
            for backend in self._having.topology.backends(each.route)
            for node in (backend.nodes if backend.state != "broken" and backend.routes is None else ())
        )
        there = (ref for ref in sorted(backends) if lacking.analysis.index.presence(ref) != "missing")
        return [ref for ref in there if not lacking.is_reached(ref)]


def _is_all(failing: Collection[FailingRule], rules: Collection[RuleAnswers]) -> bool:
    """Whether all requests of all rules fail that are answered otherwise."""
    return len(failing) == len(rules) and all(each.failing == each.total for each in failing)


def _wider(name: str) -> Iterator[str]:
    """A hostname and the wildcards that match it, the nearest first."""
    yield name
    labels = name.removeprefix("*.").split(".")
    for place in range(1, len(labels)):
        yield f"*.{'.'.join(labels[place:])}"
    if name != _ANY_HOST:
        yield _ANY_HOST
