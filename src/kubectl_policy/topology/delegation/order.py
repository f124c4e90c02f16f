"""In which order requests come to routes that delegate to each other, and where they would circle."""

from __future__ import annotations

from itertools import pairwise
from typing import TYPE_CHECKING, NamedTuple

from kubectl_policy.model import NodeRef

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence

    from kubectl_policy.model import ObjectRef
    from kubectl_policy.topology.delegation.references import DelegatingRef, Place


class Order(NamedTuple):
    """The routes so that each stands after those that delegate to it, but for what `circles`.

    `circles` has for each reference that leads back to a route on the way to it, by its place, the routes that a
    request would pass again and again, from the one that it came to first.
    """

    routes: tuple[ObjectRef, ...]
    circles: Mapping[Place, tuple[ObjectRef, ...]]


def order(refs: Mapping[ObjectRef, tuple[DelegatingRef, ...]], is_entered: Callable[[ObjectRef], bool]) -> Order:
    """Follow requests from the routes that they come to first (`is_entered`), then from those that none comes to."""
    delegated = {child for found in refs.values() for ref in found for child in ref.children}
    starts = sorted(refs, key=lambda route: (route in delegated and not is_entered(route), route))
    walk = _Walk(refs)
    for start in starts:
        walk.follow(start)
    return Order(tuple(reversed(walk.left)), walk.circles)


def loops(refs: Mapping[ObjectRef, tuple[DelegatingRef, ...]], known: Order) -> tuple[tuple[NodeRef, ...], ...]:
    """The routes and rules of every circle; sorted, each once and from its smallest node."""
    found: dict[frozenset[ObjectRef], tuple[NodeRef, ...]] = {}
    for circle in known.circles.values():
        start = circle.index(min(circle))
        steps = pairwise((*circle[start:], *circle[: start + 1]))
        nodes = [(NodeRef(one), _leading(refs[one], other)) for one, other in steps]
        found.setdefault(frozenset(circle), tuple(node for pair in nodes for node in pair))
    return tuple(sorted(found.values()))


def _leading(refs: Iterable[DelegatingRef], child: ObjectRef) -> NodeRef:
    return next(ref.parent for ref in refs if child in ref.children)


def circle_words(circle: Sequence[ObjectRef]) -> str:
    """A circle of routes in words, ending where it began."""
    return " → ".join(map(str, (*circle, circle[0])))


class _Walk:
    """A walk in depth, without recursion, since input decides how deep it is."""

    def __init__(self, refs: Mapping[ObjectRef, tuple[DelegatingRef, ...]]) -> None:
        self._refs = refs
        self._seen: set[ObjectRef] = set()
        self.left: list[ObjectRef] = []
        self.circles: dict[Place, tuple[ObjectRef, ...]] = {}

    def follow(self, start: ObjectRef) -> None:
        if start in self._seen:
            return
        way = {start: self._below(start)}
        self._seen.add(start)
        while way:
            route = next(reversed(way))
            step = next(way[route], None)
            if step is None:
                self.left.append(route)
                del way[route]
                continue
            ref, child = step
            if child in way:
                passed = list(way)
                self.circles.setdefault(ref.place, tuple(passed[passed.index(child) :]))
            elif child not in self._seen:
                self._seen.add(child)
                way[child] = self._below(child)

    def _below(self, route: ObjectRef) -> Iterator[tuple[DelegatingRef, ObjectRef]]:
        return iter([(ref, child) for ref in self._refs.get(route, ()) for child in ref.children])
