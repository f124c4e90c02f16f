"""In which order requests reach routes that delegate to each other, and where they would circle."""

from __future__ import annotations

from itertools import pairwise
from typing import TYPE_CHECKING

from msgspec import Struct

from kubectl_policy.model import NodeRef

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Mapping, Sequence

    from kubectl_policy.model import ObjectRef
    from kubectl_policy.topology.delegation.references import DelegatingRef, Place


class Order(Struct, frozen=True):
    """The routes so that each stands after those that delegate to it, but for what `circles`.

    `circles` has for each reference that leads back to a route on the way to it, by its place, the routes that a
    request would pass again and again, from the one that it reached first.
    """

    routes: tuple[ObjectRef, ...]
    circles: Mapping[Place, tuple[ObjectRef, ...]]


def order(refs: Mapping[ObjectRef, tuple[DelegatingRef, ...]], is_entered: Callable[[ObjectRef], bool]) -> Order:
    """Follow requests from the routes that they reach first (`is_entered`), then from those that none reaches."""
    circles: dict[Place, tuple[ObjectRef, ...]] = {}
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


def _sorted(refs: Mapping[ObjectRef, tuple[DelegatingRef, ...]], circles: Collection[Place]) -> tuple[ObjectRef, ...]:
    from graphlib import TopologicalSorter  # noqa: PLC0415 (see `order`)

    sorter: TopologicalSorter[ObjectRef] = TopologicalSorter()
    for route, route_refs in refs.items():
        sorter.add(route)
        for ref in route_refs:
            for child in ref.children if ref.place not in circles else ():
                sorter.add(child, route)
    return tuple(sorter.static_order())


def _circles(
    refs: Mapping[ObjectRef, tuple[DelegatingRef, ...]], starts: Sequence[ObjectRef]
) -> dict[Place, tuple[ObjectRef, ...]]:
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
    circles: dict[Place, tuple[ObjectRef, ...]] = {}
    for route in starts:
        for ref in refs[route]:
            for child in ref.children:
                if (route, child) in returns:
                    circles.setdefault(ref.place, returns[route, child])
    return circles


def loops(refs: Mapping[ObjectRef, tuple[DelegatingRef, ...]], known: Order) -> tuple[tuple[NodeRef, ...], ...]:
    """The routes and rules of every circle; sorted, each once and from its smallest node."""
    by_routes: dict[frozenset[ObjectRef], tuple[NodeRef, ...]] = {}
    for circle in known.circles.values():
        start = circle.index(min(circle))
        steps = pairwise((*circle[start:], *circle[: start + 1]))
        nodes: list[NodeRef] = []
        for route, child in steps:
            nodes += [NodeRef(route), next(ref.parent for ref in refs[route] if child in ref.children)]
        by_routes.setdefault(frozenset(circle), tuple(nodes))
    return tuple(sorted(by_routes.values()))


def circle_words(circle: Sequence[ObjectRef]) -> str:
    """A circle of routes in words, ending where it began."""
    return " → ".join(map(str, (*circle, circle[0])))
