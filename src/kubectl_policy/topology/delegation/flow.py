"""Requests through routes that delegate: the order of the routes, circles, and the matches that reach rules."""

from __future__ import annotations

from itertools import islice, pairwise
from posixpath import normpath
from typing import TYPE_CHECKING, Final, TypeAlias

from msgspec import Struct

from kubectl_policy.lazy import cached_method
from kubectl_policy.model import Json, NodeRef, ObjectRef
from kubectl_policy.model.fields import items_at, mapping_at, mappings_at, strings_at, text_at
from kubectl_policy.model.kind_roles import HTTP_ROUTE
from kubectl_policy.topology.references import parent_refs

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterable, Mapping, Sequence

    from kubectl_policy.model.index import Index
    from kubectl_policy.topology.delegation.references import DelegatingRef, RefKey


class Order(Struct, frozen=True):
    """The routes so that each stands after those that delegate to it, but for what `circles`.

    `circles` has for each reference that leads back to a route on the way to it, by its place, the routes that a
    request would pass again and again, from the one that it reached first.
    """

    routes: tuple[ObjectRef, ...]
    circles: Mapping[RefKey, tuple[ObjectRef, ...]]


def order_routes(refs: Mapping[ObjectRef, tuple[DelegatingRef, ...]], is_entered: Callable[[ObjectRef], bool]) -> Order:
    """Follow requests from the routes that they reach first (`is_entered`), then from those that none reaches."""
    circles: dict[RefKey, tuple[ObjectRef, ...]] = {}
    if not refs:
        return Order((), circles)
    from graphlib import CycleError  # noqa: PLC0415 (few routes delegate to others)

    try:
        routes = _sorted(refs, circles)
    except CycleError:
        delegated = {child for route_refs in refs.values() for ref in route_refs for child in ref.children}
        starts = sorted(refs, key=lambda route: (route in delegated and not is_entered(route), route))
        circles = _circles(refs, starts)
        routes = _sorted(refs, circles)
    return Order(routes, circles)


def _sorted(refs: Mapping[ObjectRef, tuple[DelegatingRef, ...]], circles: Collection[RefKey]) -> tuple[ObjectRef, ...]:
    from graphlib import TopologicalSorter  # noqa: PLC0415 (see `order`)

    sorter: TopologicalSorter[ObjectRef] = TopologicalSorter()
    for route, route_refs in refs.items():
        sorter.add(route)
        for ref in route_refs:
            for child in ref.children if ref.key not in circles else ():
                sorter.add(child, route)
    return tuple(sorter.static_order())


def _circles(
    refs: Mapping[ObjectRef, tuple[DelegatingRef, ...]], starts: Sequence[ObjectRef]
) -> dict[RefKey, tuple[ObjectRef, ...]]:
    # It takes longer to import than most questions take to answer, so that it is left to input with this mistake.
    import networkx as nx  # noqa: PLC0415

    graph: nx.DiGraph[ObjectRef] = nx.DiGraph()
    graph.add_nodes_from(starts)
    graph.add_edges_from((route, child) for route in starts for ref in refs[route] for child in ref.children)
    passed: list[ObjectRef] = []
    returns: dict[tuple[ObjectRef, ObjectRef], tuple[ObjectRef, ...]] = {}
    for route, child, step in nx.dfs_labeled_edges(graph):
        if step == "forward":
            passed.append(child)
        elif step == "reverse":
            passed.pop()
        elif child in passed:
            returns[route, child] = tuple(passed[passed.index(child) :])
    circles: dict[RefKey, tuple[ObjectRef, ...]] = {}
    for route in starts:
        for ref in refs[route]:
            for child in ref.children:
                if (route, child) in returns:
                    circles.setdefault(ref.key, returns[route, child])
    return circles


def loop_nodes(refs: Mapping[ObjectRef, tuple[DelegatingRef, ...]], known: Order) -> tuple[tuple[NodeRef, ...], ...]:
    """Return the routes and rules of every circle; sorted, each once and from its smallest node."""
    by_routes: dict[frozenset[ObjectRef], tuple[NodeRef, ...]] = {}
    for circle in known.circles.values():
        start = circle.index(min(circle))
        steps = pairwise((*circle[start:], *circle[: start + 1]))
        nodes: list[NodeRef] = []
        for route, child in steps:
            nodes += [NodeRef(route), next(ref.parent for ref in refs[route] if child in ref.children)]
        by_routes.setdefault(frozenset(circle), tuple(nodes))
    return tuple(sorted(by_routes.values()))


def circle_phrase(circle: Sequence[ObjectRef]) -> str:
    """Return a circle of routes in words, ending where it began."""
    return " → ".join(map(str, (*circle, circle[0])))


# More than anybody has. Where routes delegate to routes, input decides how many ways there are, and they multiply.
_MOST_WAYS: Final = 1_000
# More than anybody has: the API allows a rule 64.
_MOST_MATCHES: Final = 5_000
_PREFIX: Final = "PathPrefix"
_REGULAR_EXPRESSION: Final = "RegularExpression"
_YES: Final = frozenset({"true", "yes", "enabled"})
# Type, name and value.
_Condition: TypeAlias = "tuple[str, str, str]"


class Flow(Struct, frozen=True):
    """The matches with which requests reach each rule; too many ways lead to the routes `over_limit`."""

    matches: Mapping[NodeRef, tuple[Match, ...]]
    over_limit: frozenset[ObjectRef]


class RuleMatches(Struct, frozen=True, dict=True, eq=False):
    """The matches of rules, and of the requests that pass from one rule to another."""

    _index: Index

    def on(self, ref: DelegatingRef, coming: Sequence[Match], rule: NodeRef) -> tuple[Match, ...]:
        """Return the matches with which requests get by way of a reference to a rule of a route that it stands for."""
        inherit = inherits(self._index.defaulted(rule.object), ref.profile.inherit_matches)
        return reaching_matches(coming, self.own(rule), inherit=inherit)

    @cached_method
    def own(self, rule: NodeRef) -> tuple[Match, ...]:
        """Return the matches that a rule has itself."""
        position = self._index.rules_of(rule.object).index(rule.section)
        return matches_of(self._index.defaulted(rule.object), position)

    def rules(self, route: ObjectRef) -> list[NodeRef]:
        """Return the rules of a route."""
        return [NodeRef(route, name) for name in self._index.rules_of(route)]

    def has_hostnames(self, route: ObjectRef) -> bool:
        """Whether a route names hostnames, and so cannot be delegated to."""
        return bool(strings_at(self._index.defaulted(route), "spec.hostnames"))

    def is_entered(self, route: ObjectRef) -> bool:
        """Whether requests may reach a route without delegation: it names a parent that is no route."""
        parents = parent_refs(self._index, route)
        return any(parent.object.group_kind != HTTP_ROUTE for parent in parents)


def follow_requests(passing: RuleMatches, refs: Mapping[ObjectRef, tuple[DelegatingRef, ...]], order: Order) -> Flow:
    """Follow requests from the top down, past every route once."""
    refs_to: dict[ObjectRef, list[DelegatingRef]] = {}
    for route_refs in refs.values():
        for ref in route_refs:
            for child in ref.children if ref.key not in order.circles else ():
                refs_to.setdefault(child, []).append(ref)
    reached: dict[NodeRef, tuple[Match, ...]] = {}
    over_limit: set[ObjectRef] = set()
    ways: dict[ObjectRef, int] = {}
    for route in order.routes:
        coming = [] if passing.has_hostnames(route) else refs_to.get(route, [])
        ways[route] = 1 + sum(ways[rule.object] for rule in {ref.parent for ref in coming})
        matches = _matches(passing, route, coming, reached)
        if ways[route] > _MOST_WAYS or sum(map(len, matches.values())) > _MOST_MATCHES:
            over_limit.add(route)
            ways[route], matches = 1, _matches(passing, route, [], reached)
        reached.update(matches)
    return Flow(reached, frozenset(over_limit))


def _matches(
    passing: RuleMatches, route: ObjectRef, coming: Sequence[DelegatingRef], known: Mapping[NodeRef, tuple[Match, ...]]
) -> dict[NodeRef, tuple[Match, ...]]:
    """Return the matches with which requests reach each rule of a route; its own where nothing is above it."""
    with_direct = passing.is_entered(route) or not coming
    reaching: dict[NodeRef, tuple[Match, ...]] = {}
    for rule in passing.rules(route):
        passed = [passing.on(ref, known.get(ref.parent, ()), rule) for ref in coming]
        every = [passing.own(rule), *passed] if with_direct else passed
        reaching[rule] = tuple(dict.fromkeys(match for matches in every for match in matches))
    return reaching


class Match(Struct, frozen=True, kw_only=True):
    """One match of a rule (HTTPRouteMatch) with its defaults; an empty method is any."""

    path_type: str
    path: str
    headers: frozenset[_Condition]
    query: frozenset[_Condition]
    method: str


def matches_of(raw: Mapping[str, Json], rule: int) -> tuple[Match, ...]:
    """Return the matches of a rule by its index; by default one that has every request (HTTPRouteRule.Matches)."""
    rules = items_at(raw, "spec.rules")
    entries = mappings_at(rules[rule], "matches") if rule < len(rules) else []
    return tuple(dict.fromkeys(_match(entry) for entry in entries or [{}]))


def _match(entry: Mapping[str, Json]) -> Match:
    path = mapping_at(entry, "path")
    return Match(
        path_type=text_at(path, "type", _PREFIX),
        path=text_at(path, "value", "/"),
        headers=_conditions(entry, "headers"),
        query=_conditions(entry, "queryParams"),
        method=text_at(entry, "method"),
    )


def _conditions(entry: Mapping[str, Json], field: str) -> frozenset[_Condition]:
    return frozenset(
        (text_at(condition, "type", "Exact"), text_at(condition, "name"), text_at(condition, "value"))
        for condition in mappings_at(entry, field)
    )


def inherits(raw: Mapping[str, Json], annotation: str) -> bool:
    """Whether a route has an annotation that is switched on."""
    value = mapping_at(raw, "metadata.annotations").get(annotation) if annotation else None
    return isinstance(value, str) and value.lower() in _YES


def reaching_matches(incoming: Iterable[Match], direct: Sequence[Match], *, inherit: bool) -> tuple[Match, ...]:
    """Return the matches of a rule that requests of a delegating rule reach, joined with its own if it inherits them.

    Of joined ones, which multiply, no more than one beyond `_MOST_MATCHES`.
    """
    pairs = ((outer, inner) for outer in incoming for inner in direct)
    if inherit:
        return tuple(dict.fromkeys(_joined(outer, inner) for outer, inner in islice(pairs, _MOST_MATCHES + 1)))
    return tuple(dict.fromkeys(inner for outer, inner in pairs if _inside(outer, inner)))


def _inside(outer: Match, inner: Match) -> bool:
    """Whether a match has nothing that the delegating one has not; paths are compared as text, `/ab` is inside `/a`."""
    return (
        outer.path_type == _PREFIX
        and _normal(inner).startswith(_normal(outer))
        and outer.headers <= inner.headers
        and outer.query <= inner.query
        and outer.method in {"", inner.method}
    )


def _normal(match: Match) -> str:
    """Return a path as it is compared: "a trailing slash is ignored" at the end of a prefix (PathMatchPathPrefix)."""
    return match.path.rstrip("/") or "/" if match.path_type == _PREFIX else match.path


def _joined(outer: Match, inner: Match) -> Match:
    """Join two matches; of a header, a parameter or the method, that of the delegating match counts."""
    expression = _REGULAR_EXPRESSION in {outer.path_type, inner.path_type}
    path = outer.path + inner.path if expression else normpath(f"/{outer.path}/{inner.path}".replace("//", "/"))
    return Match(
        path_type=_REGULAR_EXPRESSION if outer.path_type == _REGULAR_EXPRESSION else inner.path_type,
        path=path,
        headers=_both(outer.headers, inner.headers),
        query=_both(outer.query, inner.query),
        method=outer.method or inner.method,
    )


def _both(outer: frozenset[_Condition], inner: frozenset[_Condition]) -> frozenset[_Condition]:
    named = {name for _, name, _ in outer}
    return outer | {condition for condition in inner if condition[1] not in named}
