"""The topology of a snapshot: objects and their sections as nodes, and the paths between them."""

from __future__ import annotations

from functools import cached_property
from typing import TYPE_CHECKING

import msgspec

from kubectl_policy.model import GroupKind, NodeRef, ObjectRef
from kubectl_policy.model.kind_roles import HIERARCHY, NAMESPACE
from kubectl_policy.model.kinds import with_article
from kubectl_policy.profiles import Registry
from kubectl_policy.topology.gateway.gateways import Implementation
from kubectl_policy.topology.links import LINKS, Link
from kubectl_policy.topology.paths import Path, Paths, first_route
from kubectl_policy.topology.possible import PossibleRelations
from kubectl_policy.topology.possible_routes import PossibleRoutes
from kubectl_policy.topology.relations import Relations
from kubectl_policy.topology.requests import SharedRequests

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator

    import networkx as nx

    from kubectl_policy.model.index import Index
    from kubectl_policy.topology.backends import Backend
    from kubectl_policy.topology.gateway.handshake import Binding
    from kubectl_policy.topology.gateway.listeners import Listener

_DEFAULT = Implementation()


class Edge(msgspec.Struct, frozen=True, order=True):
    """A relation between two nodes; `link` names its row in `LINKS`."""

    parent: NodeRef
    child: NodeRef
    link: str


class Topology:
    """The hierarchy of target kinds in one snapshot.

    Nothing is computed before it is asked for, and nothing is computed twice. Nodes are identified by name alone: what
    is referred to is a node whether or not it was read.
    """

    def __init__(
        self,
        index: Index,
        implementation: Implementation = _DEFAULT,
        profiles: Registry | None = None,
        *,
        paths: Paths | None = None,
    ) -> None:
        """Remember where to look.

        `profiles` say how controllers treat Gateways and delegation; without any, the built-in ones do. `paths` are
        those of another state of the world, in which nothing differs that the hierarchy is made of; see `with_index`.
        """
        self.index = index
        if paths is None:
            known = profiles or Registry(index, (), implementation.settings)
            paths = Paths(Relations(index, implementation, known))
        self._paths = paths
        self.relations = paths.relations
        self.gateways = self.relations.gateways

    def with_index(self, index: Index) -> Topology:
        """This topology over another state of the world, in which nothing differs that the hierarchy is made of."""
        return Topology(index, self.gateways.implementation, paths=self._paths)

    def reusing(self, original: Topology, differing: Collection[GroupKind]) -> Topology:
        """This topology, which takes over from that of another state what is the same, as only some kinds differ."""
        relations = self.relations.reusing(original.relations, differing)
        return Topology(self.index, self.gateways.implementation, paths=Paths(relations))

    @cached_property
    def possible(self) -> PossibleRelations:
        """The relations that may hold once placeholders are filled in."""
        return PossibleRelations(self.relations)

    @cached_property
    def possible_routes(self) -> PossibleRoutes:
        """The routes of which it is not known whether they are attached."""
        return PossibleRoutes(self._paths, self.possible)

    @cached_property
    def shared_requests(self) -> SharedRequests:
        """The requests that routes take, and the routes that share them."""
        return SharedRequests(self.relations)

    @cached_property
    def nodes(self) -> tuple[NodeRef, ...]:
        """Every object of the hierarchy's kinds, its sections, its namespace and what it refers to; sorted."""
        objects = [NodeRef(resource.ref) for kind in (*HIERARCHY, NAMESPACE) for resource in self.index.of_kind(kind)]
        sections = [NodeRef(node.object, section) for node in objects for section in self.sections(node.object)]
        nodes = {*objects, *sections}
        for node in (*objects, *sections):
            nodes.update(self.children(node))
            nodes.update(self.parents(node))
        return tuple(sorted(nodes))

    @cached_property
    def edges(self) -> tuple[Edge, ...]:
        """Every relation between two nodes; sorted."""
        return tuple(
            sorted(
                Edge(parent, child, link.name) for child in self.nodes for link, parent in self._links_to_parents(child)
            )
        )

    def sections(self, obj: ObjectRef) -> tuple[str, ...]:
        """Return the names of an object's sections in their order: listeners, rules (`rule[0]` if unnamed), ports."""
        return self.relations.sections(obj)

    def sections_phrase(self, obj: ObjectRef) -> str:
        """Describe the sections of an object."""
        sections = self.sections(obj)
        if not sections and not self.relations.has_known_sections(obj.group_kind):
            return f"what sections of {with_article(obj.kind)} are is not known"
        return f"it has {', '.join(sections)}" if sections else "it has no sections"

    def children(self, node: NodeRef) -> tuple[NodeRef, ...]:
        """Return the nodes directly below a node."""
        return tuple(dict.fromkeys(child for link in LINKS for child in link.children(self.relations, node)))

    def parents(self, node: NodeRef) -> tuple[NodeRef, ...]:
        """Return the nodes directly above a node, its Namespace last."""
        return tuple(dict.fromkeys(parent for _, parent in self._links_to_parents(node)))

    def _links_to_parents(self, node: NodeRef) -> Iterator[tuple[Link, NodeRef]]:
        return ((link, parent) for link in LINKS for parent in link.parents(self.relations, node))

    def paths(self, node: NodeRef) -> tuple[Path, ...]:
        """Return every path from a root down to a node, least specific first and with Namespaces; sorted, never empty.

        The Namespace of each object stands before it unless it is on the path already. A path starts at a GatewayClass,
        or at what has nothing above it; one of the mesh starts at the parent Service.
        """
        return self._paths.to(node)

    def paths_through(self, node: NodeRef) -> tuple[Path, ...]:
        """Return every full path through a node: from a root, through it, to what has nothing below it; sorted.

        For a Namespace, the full paths through any object in it that may exist; its own path if there is none.
        """
        return self._paths.through(node)

    def carries_traffic(self, path: Path) -> bool:
        """Whether traffic runs down a path, as far as is known.

        It does not if the first route is attached to nothing, nor on to a rule whose matches keep out whatever comes
        from the rules that delegate to it, nor to a backend to which every route gives weight 0.
        """
        first = first_route(path)
        if first is None:
            return not self.relations.gets_no_requests(path[-1].object)
        cut_off = self.relations.delegations.unreached_rules
        return not (self.relations.is_unattached(first) or (cut_off and not cut_off.isdisjoint(path)))

    def listener_on(self, path: Path) -> Listener | None:
        """Return the listener on a path; None if there is none, or it was not read."""
        return next((listener for node in path if (listener := self.gateways.listener(node))), None)

    def bindings(self, route: ObjectRef) -> tuple[Binding, ...]:
        """Return the outcome of each parentRef of a route, at each listener that it picks.

        Of a parentRef by which any listener takes the route, or may, listeners for other hosts are left out.
        """
        return self.relations.bindings(route)

    def all_bindings(self, route: ObjectRef) -> tuple[Binding, ...]:
        """Return the outcome of each parentRef of a route, at every listener that it picks, for any hosts."""
        return self.relations.all_bindings(route)

    def backends(self, route: ObjectRef) -> tuple[Backend, ...]:
        """Return what each reference of a route to a backend resolves to, also those of filters, in their order."""
        return self.relations.backends(route)

    def cycles(self) -> tuple[Path, ...]:
        """Return one cycle for each set of nodes that traffic would circle in; sorted, each from its smallest node.

        A parent Service that is a backend as well is none: the mesh does not route traffic to a backend again.
        """
        loops = self.relations.delegations.loops
        if not self.relations.routes_lead_to_routes:
            return loops
        import networkx as nx  # noqa: PLC0415 - it takes longer to import than most questions take to answer

        carrying = {link.name for link in LINKS if link.carries == "traffic"}
        graph: nx.DiGraph[NodeRef] = nx.DiGraph()
        graph.add_edges_from((edge.parent, edge.child) for edge in self.edges if edge.link in carrying)
        parts = [part for part in nx.strongly_connected_components(graph) if len(part) > 1]
        return tuple(sorted({*loops, *(_shortest_loop(graph, min(part)) for part in parts)}))

    def to_networkx(self) -> nx.DiGraph[NodeRef]:
        """Return the topology as a graph whose nodes are `NodeRef`s; an edge has the name of its link as `link`."""
        import networkx as nx  # noqa: PLC0415 - it takes longer to import than most questions take to answer

        graph: nx.DiGraph[NodeRef] = nx.DiGraph()
        graph.add_nodes_from(self.nodes)
        graph.add_edges_from((edge.parent, edge.child, {"link": edge.link}) for edge in self.edges)
        return graph


def _shortest_loop(graph: nx.DiGraph[NodeRef], start: NodeRef) -> Path:
    """Return the shortest way from a node back to itself; the first of several, by the sorted edges of the graph."""
    import networkx as nx  # noqa: PLC0415 - as above

    ways = (
        nx.bidirectional_shortest_path(graph, child, start)
        for child in graph[start]
        if nx.has_path(graph, child, start)
    )
    return (start, *min(ways, key=len)[:-1])
