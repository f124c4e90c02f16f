"""Paths through the hierarchy: from roots down to a node, and on to where nothing follows."""

from __future__ import annotations

from functools import lru_cache
from itertools import groupby
from typing import TYPE_CHECKING, Final, TypeAlias

from msgspec import Struct

from kubectl_policy.lazy import cached_method
from kubectl_policy.model import GroupKind, NodeRef, ObjectRef
from kubectl_policy.model.kind_roles import ABOVE_ROUTES, NAMESPACE, ROUTES
from kubectl_policy.topology.links import BACKENDS, LINKS, Carries, Link

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Iterator, Sequence

    from kubectl_policy.topology.relations import Relations

Path: TypeAlias = "tuple[NodeRef, ...]"

# Deeper than any hierarchy in use, shallow enough for the stack: where routes refer to routes, input decides the depth.
MAX_NODES: Final = 60


# Kinds are few, but input may name any number of them.
@lru_cache(256)
def _links_below(kind: GroupKind, carries: Carries) -> tuple[Link, ...]:
    """Return the links that lead down from nodes of a kind."""
    return tuple(link for link in LINKS if link.carries == carries and kind in link.parent_kinds)


@lru_cache(256)
def _links_above(kind: GroupKind, carries: Carries) -> tuple[Link, ...]:
    """Return the links that lead up from nodes of a kind."""
    return tuple(
        link for link in LINKS if link.carries == carries and (link.child_kinds is None or kind in link.child_kinds)
    )


@lru_cache(256)
def _leads_on(backend: GroupKind) -> bool:
    """Whether objects of a kind of backends lead to other objects than their own sections."""
    return any(link.reference != "inside" for link in _links_below(backend, "traffic"))


def _children(relations: Relations, node: NodeRef, carries: Carries = "traffic") -> list[NodeRef]:
    links = _links_below(node.object.group_kind, carries)
    return [child for link in links for child in link.children(relations, node)]


def _parents(relations: Relations, node: NodeRef, carries: Carries = "traffic") -> list[NodeRef]:
    links = _links_above(node.object.group_kind, carries)
    return [parent for link in links for parent in link.parents(relations, node)]


class Paths:
    """The paths of a hierarchy. What is looked up is looked up once.

    Nothing else depends on the state of policies, so that states in which only policies differ share them.
    """

    def __init__(self, relations: Relations) -> None:
        """Remember where to look."""
        self.relations = relations
        self._ways_to: dict[NodeRef, tuple[Path, ...]] = {}

    @cached_method
    def to(self, node: NodeRef) -> tuple[Path, ...]:
        """Return every path from a root down to a node; see `Topology.paths`."""
        return _in_order(with_namespaces(way) for way in self._ways(node))

    @cached_method
    def through(self, node: NodeRef) -> tuple[Path, ...]:
        """Return every full path through a node; see `Topology.paths_through`."""
        nodes = [node]
        if node.object.group_kind == NAMESPACE:
            relations, inside = self.relations, self.relations.objects_in(node.object.name)
            existing = [obj for obj in inside if relations.index.presence(obj) != "missing"]
            nodes = [NodeRef(obj) for obj in existing if not self._is_below_own_routes(obj)]
        paths = (path for start in nodes for way in self._ways(start) for path in self._descend(way))
        return _in_order(paths) or self.to(node)

    def _is_below_own_routes(self, backend: ObjectRef) -> bool:
        """Whether every path through an object is one of some route in its own namespace."""
        relations = self.relations
        routes = relations.routes_forwarding_to(backend)
        if not routes:
            return False
        elsewhere = any(route.namespace != backend.namespace for route in routes)
        if elsewhere or relations.routes_naming(backend):
            return False
        return any(not relations.is_unattached(route) for route in routes)

    def _ways(self, node: NodeRef) -> Iterable[Path]:
        """Return every way down to a node from a root, without Namespaces; at least one, perhaps with repetitions.

        No way leads through a route that is known to be attached to nothing; one to such a route starts there.
        A section is preceded by its object. The paths to a Service are those of every rule that reaches it, on any
        port; the paths to a port are those of rules that name the port, or none. A parent Service starts paths as well.
        Of a route that another one delegates to, a way leads to the rules that requests reach. Where routes refer to
        each other in circles that nothing else leads to, a way starts at the node. Of a truncated way it is the end.
        """
        return self._ways_above(node, ()) or (_extended((), node),)

    def _ways_above(self, node: NodeRef, descendants: Path) -> tuple[Path, ...]:
        """Return the ways down to a node; cached, unless a circle of routes makes them depend on `descendants`."""
        known = self._ways_to.get(node)
        if known is not None:
            return known
        parents = tuple(self._senders(node)) if len(descendants) < MAX_NODES else ()
        # However much is known of what is above: a way is the same whatever was asked before.
        ways = tuple(map(_truncated, self._climb(node, parents, descendants)))
        if len(descendants) < MAX_NODES and all(parent in self._ways_to for parent in parents):
            self._ways_to[node] = ways
        return ways

    def _climb(self, node: NodeRef, parents: Sequence[NodeRef], descendants: Path) -> Iterator[Path]:
        for parent in parents:
            # A circle is no way down: those that lead to it come by another parent.
            for way in self._ways_above(parent, (*descendants, node)) if parent not in descendants else ():
                if self._goes_on(way, node):
                    yield _extended(way, node)
        frontends = _parents(self.relations, node, "frontend")
        for parent in frontends:
            yield _extended(_extended((), parent), node)
        is_entered = bool(parents or frontends)
        if not is_entered or _children(self.relations, node, "frontend"):
            yield _extended((), node)

    def _senders(self, node: NodeRef) -> Iterable[NodeRef]:
        """Return the nodes from which traffic reaches a node; for a backend with ports all rules that refer to it."""
        if not self.relations.has_ports(node.object.group_kind):
            return dict.fromkeys(
                [parent for parent in _parents(self.relations, node) if self._carries_traffic(parent, node)]
            )
        whole = NodeRef(node.object)
        ports = [NodeRef(node.object, section) for section in self.relations.sections(node.object)]
        entries = (node, whole) if node.section else (whole, *ports)
        parents = (parent for entry in entries for parent in _parents(self.relations, entry))
        return dict.fromkeys(
            parent for parent in parents if parent.object != node.object and self._carries_traffic(parent, node)
        )

    def _carries_traffic(self, parent: NodeRef, child: NodeRef) -> bool:
        """Whether traffic can come from one node to the next; it never gets to what an unattached route refers to."""
        if parent.object == child.object or parent.object.group_kind not in ROUTES:
            return True
        return not self.relations.is_unattached(parent.object)

    def _goes_on(self, way: Path, node: NodeRef) -> bool:
        """Whether a request that comes down a way goes on to a node; it may not only where routes delegate."""
        if node.object.group_kind not in ROUTES or way[-1].object.group_kind not in ROUTES:
            return True
        if not node.section:
            return self.relations.delegations.forwards_to(way, node.object)
        return len(way) == 1 or way[-2].object.group_kind not in ROUTES or self.relations.delegations.reaches(way, node)

    def _descend(self, way: Path) -> Iterable[Path]:
        """Return every path that goes on from the end of a way, down to where nothing is below."""
        route = way[-1]
        if route.section or route.object.group_kind not in ROUTES:
            return self._follow(way)
        rest, head = self._straight_below(route.object), self._head(way[:-1])
        if rest is None or head is None:
            return self._follow(way)
        start = head.to(route)
        return [start + nodes if is_at_home else with_namespaces(way + nodes) for nodes, is_at_home in rest]

    @cached_method
    def _head(self, ancestors: Path) -> _Head | None:
        """Return the beginning of ways to routes; None if these come from other routes, the mesh or nowhere.

        Such a way may not go on to all that is below.
        """
        if not ancestors or not all(node.object.group_kind in ABOVE_ROUTES for node in ancestors):
            return None
        return _Head(with_namespaces(ancestors), frozenset({"", *(node.object.namespace for node in ancestors)}))

    @cached_method
    def _straight_below(self, route: ObjectRef) -> list[tuple[Path, bool]] | None:
        """Return the ways from a route to backends, and whether each stays in its namespace; None if one goes on."""
        relations, rest = self.relations, list[tuple[Path, bool]]()
        for rule, backends in relations.backends_by_rule(route).items():
            for backend in backends:
                obj = backend.object
                if obj.group_kind not in BACKENDS or _leads_on(obj.group_kind):
                    return None
                whole = NodeRef(obj)
                entered = [backend] if backend.section else [NodeRef(obj, port) for port in relations.sections(obj)]
                is_at_home = obj.namespace in {"", route.namespace}
                rest += [((rule, whole, port), is_at_home) for port in entered] or [((rule, whole), is_at_home)]
            rest += [] if backends else [((rule,), True)]
        return rest or [((), True)]

    def _follow(self, way: Path) -> Iterator[Path]:
        """Follow a way step by step, to every node where it may end."""
        ended = True
        for child in self._receivers(way):
            if not self._goes_on(way, child):
                continue
            if len(way) < MAX_NODES and (child not in way or self.relations.has_ports(child.object.group_kind)):
                ended = False
                yield from self._descend(_extended(way, child))
        if ended:
            yield with_namespaces(way)

    def _receivers(self, way: Path) -> Iterable[NodeRef]:
        node = way[-1]
        is_port = node.section and self.relations.has_ports(node.object.group_kind)
        if is_port and way[0].object != node.object and not _leads_on(node.object.group_kind):
            return ()
        children = dict.fromkeys(
            [child for child in _children(self.relations, node) if self._carries_traffic(node, child)]
        )
        starts = way[0].object == node.object
        if starts:
            return children | dict.fromkeys(_children(self.relations, node, "frontend"))
        if node.section or not self.relations.has_ports(node.object.group_kind):
            return children
        # Of a Service's ports, a rule reaches those that it names, or all of them if it names none.
        named = dict.fromkeys(_children(self.relations, way[-2]))
        return children if node in named else (port for port in children if port in named)


def _truncated(way: Path) -> Path:
    """Return as many nodes of a way as are followed; a section is preceded by its object there, too."""
    if len(way) <= MAX_NODES:
        return way
    end = way[-MAX_NODES:]
    return (NodeRef(end[0].object), *end) if end[0].section else end


def _extended(way: Path, node: NodeRef) -> Path:
    """Return a way with one more node; the object of a section stands before it."""
    if not node.section:
        return (*way, node)
    whole = NodeRef(node.object)
    return (*way, node) if way[-1:] == (whole,) else (*way, whole, node)


def _in_order(paths: Iterable[Path]) -> tuple[Path, ...]:
    """Sort paths, each once: to compare neighbours takes a fraction of the time in which all nodes are hashed."""
    return tuple([path for path, _ in groupby(sorted(paths))])


def first_route(path: Path) -> ObjectRef | None:
    """Return the first route on a path; None if it leads through none."""
    for node in path:
        if node.object.group_kind in ROUTES:
            return node.object
    return None


def routes_on(paths: Iterable[Path]) -> Collection[ObjectRef]:
    """Return the routes on some paths, each once, in the order in which they come."""
    return dict.fromkeys([node.object for path in paths for node in path if node.object.group_kind in ROUTES]).keys()


def is_truncated(path: Path) -> bool:
    """Whether a path has so many nodes that it is not followed any further, up or down."""
    return len(path) >= MAX_NODES and sum(node.object.group_kind != NAMESPACE for node in path) >= MAX_NODES


def nodes_on_path(nodes: frozenset[NodeRef] | set[NodeRef], path: Path) -> tuple[NodeRef, ...]:
    """Return the nodes of a set that are on a path, in its order."""
    common = nodes.intersection(path)
    return tuple(sorted(common, key=path.index) if len(common) > 1 else common)


class _Head(Struct, frozen=True, gc=False):
    """The beginning of the ways to routes at a listener: it is the same for all of them."""

    path: Path
    namespaces: frozenset[str]

    def to(self, route: NodeRef) -> Path:
        """Return the path to one of the routes."""
        home = route.object.namespace
        return (*self.path, route) if home in self.namespaces else (*self.path, _namespace(home), route)


# One for all paths: there are more paths than anything else.
@lru_cache(256)
def _namespace(name: str) -> NodeRef:
    return NodeRef(ObjectRef(NAMESPACE, "", name))


def with_namespaces(way: Path) -> Path:
    """Return a path: a way with each object's Namespace before it, unless the path has that Namespace already."""
    path: list[NodeRef] = []
    last = way[-1].object
    # Nothing is below a Namespace.
    entered = {"", last.name} if last.group_kind == NAMESPACE else {""}
    for node in way:
        namespace = node.object.namespace
        if namespace not in entered:
            entered.add(namespace)
            path.append(_namespace(namespace))
        path.append(node)
    return tuple(path)
