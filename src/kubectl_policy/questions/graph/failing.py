"""References that do not lead where they should: which link each would be, and the API's word for what is wrong."""

from __future__ import annotations

from typing import TYPE_CHECKING

from msgspec import Struct

from kubectl_policy.model import NodeRef
from kubectl_policy.model.kinds import NAMESPACE
from kubectl_policy.questions.graph.picture import GraphLink
from kubectl_policy.topology.gateway.conditions import listener_set_conditions
from kubectl_policy.topology.references import (
    GATEWAY_CLASS,
    LISTENER_SETS,
    ROUTES,
    WITH_LISTENERS,
    WITH_PORTS,
)

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from kubectl_policy.analysis import Analysis
    from kubectl_policy.model import ObjectRef
    from kubectl_policy.questions.graph.picture import LinkState
    from kubectl_policy.topology import Binding
    from kubectl_policy.topology.backends import Backend


class _Backends(Struct, frozen=True):
    """The backendRefs of a route with which something is wrong, by the ends of their links.

    Requests run down those that are `broken`, as the hierarchy has it; they do not down `idle` ones.
    """

    broken: Mapping[tuple[NodeRef, NodeRef], GraphLink]
    idle: Mapping[tuple[NodeRef, NodeRef], GraphLink]


class Failing:
    """The links of one state that are no relation of the hierarchy, and what is wrong with some that are."""

    def __init__(self, analysis: Analysis) -> None:
        """Remember where to look."""
        self._index, self._topology = analysis.index, analysis.topology
        self._relations = analysis.topology.relations
        self._parents: dict[ObjectRef, tuple[GraphLink, ...]] = {}
        self._children: dict[ObjectRef, Mapping[NodeRef, list[GraphLink]]] = {}
        self._backends: dict[ObjectRef, _Backends] = {}

    def below(self, node: NodeRef, *, is_front: bool) -> Iterator[GraphLink]:
        """The links from a node downward; see `Links.below`."""
        kind = node.object.group_kind
        if kind in (*WITH_LISTENERS, *ROUTES) or (is_front and kind not in {GATEWAY_CLASS, NAMESPACE}):
            yield from self._refused_by(node.object).get(node, ())
        yield from self.idle(node)

    def above(self, node: NodeRef) -> Iterator[GraphLink]:
        """The links to a node from what is above it."""
        kind = node.object.group_kind
        if not node.section:
            yield from self.parents(node.object)
        if kind in ROUTES:
            # Few worlds have routes that delegate to others, and in all others none is looked at.
            may_be_backend = kind in self._relations.kinds_of_other_backends
        else:
            may_be_backend = kind not in {GATEWAY_CLASS, NAMESPACE, *WITH_LISTENERS}
        for route in self._relations.referring.naming.to(node.object) if may_be_backend else ():
            found = self._of(route)
            yield from (each for each in (*found.idle.values(), *found.broken.values()) if each.child == node)

    def idle(self, rule: NodeRef) -> Iterator[GraphLink]:
        """The links from the rule of a route to what it names, and sends no requests to."""
        if rule.section and rule.object.group_kind in ROUTES:
            yield from (each for each in self._of(rule.object).idle.values() if each.parent == rule)

    def broken(self, rule: NodeRef, backend: NodeRef) -> GraphLink | None:
        """The link of a backendRef that leads where requests get no answer, or that may do so."""
        return self._of(rule.object).broken.get((rule, backend))

    def parents(self, obj: ObjectRef) -> tuple[GraphLink, ...]:
        """What an object names as its parents and is not attached to.

        Nothing of a parentRef by which a route is attached to any listener: one that names a Gateway as a whole does
        not mean those of its listeners that are for other hosts.
        """
        if obj not in self._parents:
            found = self._refusals(obj) if obj.group_kind in ROUTES else self._not_admitted(obj)
            self._parents[obj] = tuple(dict.fromkeys(found))
        return self._parents[obj]

    def _refusals(self, route: ObjectRef) -> Iterator[GraphLink]:
        by_reference: dict[int, list[Binding]] = {}
        for binding in self._topology.bindings(route):
            by_reference.setdefault(binding.parent_index, []).append(binding)
        for found in by_reference.values():
            if not any(binding.state == "attached" for binding in found) and not self._is_named_by(
                found[0].parent, route
            ):
                yield _refused(found)

    def _is_named_by(self, parent: ObjectRef, route: ObjectRef) -> bool:
        """Whether a parent is a route that delegates to another one in vain: that link says why."""
        idle = self._of(parent).idle.values() if parent.group_kind in ROUTES else ()
        return any(link.child.object == route for link in idle)

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

    def _refused_by(self, parent: ObjectRef) -> Mapping[NodeRef, list[GraphLink]]:
        """The links from an object, or its sections, to what names it as a parent and is not attached to it."""
        if parent not in self._children:
            relations, found = self._relations, dict[NodeRef, list[GraphLink]]()
            for child in (*relations.gateways.listener_sets(parent), *relations.routes_naming(parent)):
                for link in self.parents(child):
                    if link.parent.object == parent:
                        found.setdefault(link.parent, []).append(link)
            self._children[parent] = found
        return self._children[parent]

    def _of(self, route: ObjectRef) -> _Backends:
        if route not in self._backends:
            broken: dict[tuple[NodeRef, NodeRef], GraphLink] = {}
            idle: dict[tuple[NodeRef, NodeRef], GraphLink] = {}
            sections = self._topology.sections(route)
            for backend in self._topology.backends(route):
                rule = NodeRef(route, sections[backend.ref.rule])
                if backend.state != "resolved":
                    for node in backend.nodes:
                        broken.setdefault((rule, node), _broken(rule, node, backend))
                # What stands for any route names none that could be drawn.
                names_one = backend.ref.forwards and not backend.is_any
                # Another reference of the rule may send requests to the same backend.
                if names_one and not backend.nodes and backend.node not in self._relations.below_rule(rule):
                    idle.setdefault((rule, backend.node), self._idle(rule, backend))
            self._backends[route] = _Backends(broken, idle)
        return self._backends[route]

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
            every = self._relations.delegations_to(backend.node.object)
            message = next((each.message for each in every if each.parent == rule), message)
        return GraphLink(
            parent=rule, child=backend.node, relation="backend", state=state, reason=backend.reason, message=message
        )


def _broken(rule: NodeRef, node: NodeRef, backend: Backend) -> GraphLink:
    return GraphLink(
        parent=rule,
        child=node,
        relation="backend",
        state="unknown" if backend.state == "unknown" else "broken",
        reason=backend.reason,
        message=backend.message,
    )


def _refused(bindings: list[Binding]) -> GraphLink:
    """One link for a parentRef that attaches a route to nothing: from the parent itself if several listeners refuse."""
    first = next((each for each in bindings if each.state == "unknown"), bindings[0])
    parent = NodeRef(first.parent) if len(bindings) > 1 or first.listener is None else first.listener
    reasons = dict.fromkeys(each.reason for each in bindings if each.reason and each.state == first.state)
    others = len(bindings) - 1
    return GraphLink(
        parent=parent,
        child=NodeRef(first.route),
        relation="mesh-route" if first.parent.group_kind in WITH_PORTS else "route",
        state=first.state if first.state == "unknown" else "refused",
        reason=", ".join(reasons),
        message=f"{first.message}, and {others} more" if others else first.message,
    )
