"""Routes that may be attached, and paths that may exist for that: what decides was not read, or is to be filled in."""

from __future__ import annotations

from typing import TYPE_CHECKING

from msgspec import Struct

from kubectl_policy.lazy import cached_method
from kubectl_policy.model import NodeRef, ObjectRef
from kubectl_policy.model.kind_roles import GATEWAY, LISTENER_SETS, NAMESPACE, ROUTE_PARENTS, ROUTES
from kubectl_policy.topology.paths import Path, with_namespaces

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from kubectl_policy.topology.paths import Paths
    from kubectl_policy.topology.possible import PossibleRelations


class PossibleRoute(Struct, frozen=True):
    """A route that may be attached to a listener, or to a parent as a whole; `message` says what is not known."""

    route: ObjectRef
    parent: NodeRef
    message: str


class PossiblePath(Struct, frozen=True):
    """A path that exists if a route is attached."""

    path: Path
    route: PossibleRoute


class PossibleRoutes:
    """The routes of a snapshot that may be attached, beside those that are."""

    def __init__(self, paths: Paths, possible: PossibleRelations) -> None:
        """Look among the unknown handshakes, and the relations that placeholders leave open."""
        self._paths, self._relations, self._possible = paths, paths.relations, possible

    @cached_method
    def parents_of(self, route: ObjectRef) -> tuple[PossibleRoute, ...]:
        """Return what a route may be attached to, each place once."""
        bindings = self._relations.bindings(route)
        named = {binding.parent for binding in bindings}
        undecided = (
            PossibleRoute(route, binding.listener or NodeRef(binding.parent), binding.message)
            for binding in bindings
            if binding.state == "unknown"
        )
        meant = (
            PossibleRoute(route, NodeRef(relation.upper, section), relation.message)
            for relation in self._possible.parents(route)
            if relation.upper.group_kind in ROUTE_PARENTS and relation.upper not in named
            for section in self._relations.sections(relation.upper) or ("",)
        )
        return tuple({possible.parent: possible for possible in (*undecided, *meant)}.values())

    @cached_method
    def at(self, parent: ObjectRef) -> tuple[PossibleRoute, ...]:
        """Return the routes that may be attached to an object, or to a listener or port of it."""
        meaning = (relation.lower for relation in self._possible.children(parent))
        routes = dict.fromkeys((*self._relations.routes_naming(parent), *meaning))
        return tuple(
            possible
            for route in routes
            if route.group_kind in ROUTES
            for possible in self.parents_of(route)
            if possible.parent.object == parent
        )

    def below(self, node: NodeRef) -> Iterator[PossibleRoute]:
        """Yield the routes that may be attached to a node, or to what is below it."""
        if node.object.group_kind in ROUTES:
            return
        nodes = {
            below: None for path in self._paths.through(node) if node in path for below in path[path.index(node) :]
        }
        holders = dict.fromkeys(member.object for member in nodes if member.object.group_kind in ROUTE_PARENTS)
        gateways = self._relations.gateways
        for gateway in () if node.section else tuple(holders):
            sets = gateways.listener_sets(gateway) if gateway.group_kind == GATEWAY else ()
            holders |= dict.fromkeys(candidate for candidate in sets if gateways.admits(gateway, candidate) is None)
        for holder in holders:
            yield from (possible for possible in self.at(holder) if possible.parent in nodes or not node.section)

    def paths(self, paths: Iterable[Path]) -> Iterator[PossiblePath]:
        """Yield the paths that may lead to the ends of some paths, if their first routes are attached elsewhere too."""
        for path in dict.fromkeys(paths):
            start = next((at for at, node in enumerate(path) if node.object.group_kind in ROUTES), None)
            for possible in self.parents_of(path[start].object) if start is not None else ():
                for head in self._heads(possible.parent):
                    nodes = (node for node in (*head, *path[start:]) if node.object.group_kind != NAMESPACE)
                    yield PossiblePath(with_namespaces(tuple(nodes)), possible)

    def _heads(self, parent: NodeRef) -> Iterator[Path]:
        """Yield the paths to a parent; to a ListenerSet by way of its Gateway, also where that may not admit it."""
        gateways, holder = self._relations.gateways, parent.object
        gateway = gateways.gateway_of(holder) if holder.group_kind in LISTENER_SETS else None
        may_be_admitted = gateway is not None and gateways.admits(gateway, holder) is None
        for head in self._paths.to(parent):
            yield head
            if gateway and may_be_admitted:
                yield from ((*above, *head) for above in self._paths.to(NodeRef(gateway)))
