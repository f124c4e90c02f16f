"""Links of a node to its parents and children, also refused and unknown ones, and those to missing objects."""

from __future__ import annotations

from functools import lru_cache
from typing import TYPE_CHECKING, Final

from msgspec import Struct

from kubectl_policy.lazy import cached_method
from kubectl_policy.model import GroupKind, NodeRef, ObjectRef
from kubectl_policy.model.kind_roles import ABOVE_BACKENDS, LISTENER_SETS, PORT_HOLDERS, ROUTES, role_of
from kubectl_policy.model.world import grouped, grouped_by
from kubectl_policy.questions.graph.picture import GraphLink, LinkState
from kubectl_policy.topology.gateway.conditions import listener_set_conditions
from kubectl_policy.topology.links import LINKS, Link

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from kubectl_policy.analysis import Analysis
    from kubectl_policy.topology import Binding
    from kubectl_policy.topology.backends import Backend

_LINKS: Final = tuple(link for link in LINKS if link.carries != "place")
# From an object to its sections.
INSIDE: Final = frozenset(link.name for link in _LINKS if link.reference == "inside")
_UPWARD: Final = frozenset(link.name for link in _LINKS if link.reference == "upward")
_BACKEND: Final = "backend"
FRONTEND: Final = "mesh-route"


# Kinds are few, but input may name any number of them.
@lru_cache(256)
def _rows_below(kind: GroupKind) -> tuple[Link, ...]:
    return tuple(row for row in _LINKS if kind in row.parent_kinds)


@lru_cache(256)
def _rows_above(kind: GroupKind) -> tuple[Link, ...]:
    return tuple(row for row in _LINKS if row.child_kinds is None or kind in row.child_kinds)


class _BackendLinks(Struct, frozen=True):
    """The backendRefs of a route with which something is wrong, by the ends of their links.

    Requests run down those that are `broken`, as the hierarchy has it; they do not down `idle` ones.
    """

    broken: Mapping[tuple[NodeRef, NodeRef], GraphLink]
    idle: Mapping[tuple[NodeRef, NodeRef], GraphLink]


class Links:
    """The links of nodes in one state. The same link is found from either of its ends.

    Some are no relation of the hierarchy: references that do not lead where they should.
    """

    def __init__(self, analysis: Analysis) -> None:
        """Remember where to look."""
        self._index, self._topology = analysis.index, analysis.topology
        self._relations = analysis.topology.relations

    def below(self, node: NodeRef, *, is_front: bool = True) -> Iterator[GraphLink]:
        """The links from a node downward.

        Those to routes of the mesh are left out unless requests enter it at the node: from a backend they are not
        routed again.
        """
        kind = node.object.group_kind
        for row in _rows_below(kind):
            if is_front or row.name != FRONTEND:
                for child in row.children(self._relations, node):
                    yield self._link(node, child, row.name)
        if role_of(kind) not in {"class", "namespace"} and (is_front or kind in ABOVE_BACKENDS):
            yield from self._refused_by(node.object).get(node, ())
        yield from self._idle_from(node)

    def above(self, node: NodeRef) -> Iterator[GraphLink]:
        """The links to a node from what is above it."""
        kind = node.object.group_kind
        for row in _rows_above(kind):
            for parent in row.parents(self._relations, node):
                yield self._link(parent, node, row.name)
        if not node.section:
            yield from self._failing_parents(node.object)
        if kind in ROUTES:
            # Few worlds have routes that delegate to others, and in all others none is looked at.
            may_be_backend = kind in self._relations.kinds_of_other_backends
        else:
            may_be_backend = kind not in ABOVE_BACKENDS
        for route in self._relations.referring.naming.to(node.object) if may_be_backend else ():
            backends = self._failing_backends(route)
            yield from (link for link in (*backends.idle.values(), *backends.broken.values()) if link.child == node)

    def inside(self, node: NodeRef) -> Iterator[GraphLink]:
        """The links between an object and its sections: to all of these, or to one of them if the node is one."""
        for row in _rows_below(node.object.group_kind):
            if row.name in INSIDE:
                for child in row.children(self._relations, node):
                    yield GraphLink(parent=node, child=child, relation=row.name)
                for parent in row.parents(self._relations, node):
                    yield GraphLink(parent=parent, child=node, relation=row.name)

    def made_by(self, obj: ObjectRef) -> Iterator[GraphLink]:
        """The links that an object makes itself: to its sections, and to what it names, above it and below.

        Those of all objects are all that there are. What an object is named by is not looked for.
        """
        whole = NodeRef(obj)
        for row in _rows_above(obj.group_kind):
            if row.name in _UPWARD:
                for parent in row.parents(self._relations, whole):
                    yield GraphLink(parent=parent, child=whole, relation=row.name)
        yield from self._failing_parents(obj)
        for part in self.inside(whole):
            yield part
            yield from self.from_rule(part.child)

    def again(self, link: GraphLink) -> Iterator[GraphLink]:
        """Links of this state that the same object makes to the same object as a link of another state."""
        if link.relation == _BACKEND:
            return (same for same in self.from_rule(link.parent) if same.child.object == link.child.object)
        return (same for same in self.made_by(link.child.object) if same.parent.object == link.parent.object)

    def from_rule(self, rule: NodeRef) -> Iterator[GraphLink]:
        """The links from a rule of a route to what it names as its backends; none from any other node."""
        for row in _rows_below(rule.object.group_kind):
            if row.name == _BACKEND:
                for child in row.children(self._relations, rule):
                    yield self._link(rule, child, row.name)
                yield from self._idle_from(rule)

    def _link(self, parent: NodeRef, child: NodeRef, relation: str) -> GraphLink:
        broken = self._failing_backends(parent.object).broken.get((parent, child)) if relation == _BACKEND else None
        return broken or GraphLink(parent=parent, child=child, relation=relation)

    def _idle_from(self, rule: NodeRef) -> Iterator[GraphLink]:
        """The links from the rule of a route to what it names, and sends no requests to."""
        if rule.section and rule.object.group_kind in ROUTES:
            yield from (link for link in self._failing_backends(rule.object).idle.values() if link.parent == rule)

    @cached_method
    def _failing_parents(self, obj: ObjectRef) -> tuple[GraphLink, ...]:
        """Links to an object from the parents that it names and is not attached to.

        Nothing of a parentRef by which a route is attached to any listener: one that names a Gateway as a whole does
        not mean those of its listeners that are for other hosts.
        """
        links = self._refusals(obj) if obj.group_kind in ROUTES else self._not_admitted(obj)
        return tuple(dict.fromkeys(links))

    def _refusals(self, route: ObjectRef) -> Iterator[GraphLink]:
        for bindings in grouped_by(self._topology.bindings(route), lambda binding: binding.parent_index).values():
            parent = bindings[0].parent
            # A route that delegates to another one in vain: that link says why.
            idle = self._failing_backends(parent).idle.values() if parent.group_kind in ROUTES else ()
            is_attached = any(binding.state == "attached" for binding in bindings)
            if not is_attached and not any(link.child.object == route for link in idle):
                yield _refused(bindings)

    def _not_admitted(self, obj: ObjectRef) -> Iterator[GraphLink]:
        """The link from the Gateway that a ListenerSet names, if that does not let it attach."""
        gateways = self._topology.gateways
        gateway = gateways.gateway_of(obj) if obj.group_kind in LISTENER_SETS else None
        if gateway and not gateways.admits(gateway, obj):
            accepted = listener_set_conditions(gateways, obj)[0]
            is_known = accepted.status == "False"
            yield GraphLink(
                parent=NodeRef(gateway),
                child=NodeRef(obj),
                relation="listener-set",
                state="refused" if is_known else "unknown",
                reason=accepted.reason if is_known else "",
                message=accepted.message,
            )

    @cached_method
    def _refused_by(self, parent: ObjectRef) -> Mapping[NodeRef, tuple[GraphLink, ...]]:
        """The links from an object, or its sections, to what names it as a parent and is not attached to it."""
        children = (*self._relations.gateways.listener_sets(parent), *self._relations.routes_naming(parent))
        links = (link for child in children for link in self._failing_parents(child))
        return grouped((link.parent, link) for link in links if link.parent.object == parent)

    @cached_method
    def _failing_backends(self, route: ObjectRef) -> _BackendLinks:
        broken: dict[tuple[NodeRef, NodeRef], GraphLink] = {}
        idle: dict[tuple[NodeRef, NodeRef], GraphLink] = {}
        sections = self._topology.sections(route)
        for backend in self._topology.backends(route):
            rule = NodeRef(route, sections[backend.ref.rule])
            if backend.state != "resolved":
                for node in backend.nodes:
                    state: LinkState = "unknown" if backend.state == "unknown" else "broken"
                    broken.setdefault((rule, node), _to_backend(rule, node, state, backend, backend.message))
            # What stands for any route names none that could be drawn.
            names_one = backend.ref.forwards and not backend.is_any
            # Another reference of the rule may send requests to the same backend.
            if names_one and not backend.nodes and backend.node not in self._relations.rule_backends(rule):
                idle.setdefault((rule, backend.node), self._idle(rule, backend))
        return _BackendLinks(broken, idle)

    def _idle(self, rule: NodeRef, backend: Backend) -> GraphLink:
        state: LinkState = "refused"
        message = backend.message
        if backend.routes is None:
            # What is not known of it matters as little as the backend does.
            message = message if backend.reason else "its weight is 0"
        elif backend.state == "unknown":
            state = "unknown"
        elif self._index.presence(backend.node.object) != "present":
            state = "broken"
        else:
            # Why that route does not take its requests is known better there.
            delegations = self._relations.delegations_to(backend.node.object)
            message = next((delegation.message for delegation in delegations if delegation.parent == rule), message)
        return _to_backend(rule, backend.node, state, backend, message)


def _to_backend(rule: NodeRef, node: NodeRef, state: LinkState, backend: Backend, message: str) -> GraphLink:
    return GraphLink(parent=rule, child=node, relation=_BACKEND, state=state, reason=backend.reason, message=message)


def _refused(bindings: list[Binding]) -> GraphLink:
    """One link for a parentRef that attaches a route to nothing: from the parent itself if several listeners refuse."""
    first = next((binding for binding in bindings if binding.state == "unknown"), bindings[0])
    parent = NodeRef(first.parent) if len(bindings) > 1 or first.listener is None else first.listener
    reasons = dict.fromkeys(binding.reason for binding in bindings if binding.reason and binding.state == first.state)
    further_refusals = len(bindings) - 1
    return GraphLink(
        parent=parent,
        child=NodeRef(first.route),
        relation="mesh-route" if first.parent.group_kind in PORT_HOLDERS else "route",
        state=first.state if first.state == "unknown" else "refused",
        reason=", ".join(reasons),
        message=f"{first.message}, and {further_refusals} more" if further_refusals else first.message,
    )
