"""What stands directly above and below a node, with what would if it were not refused, missing or unknown."""

from __future__ import annotations

from functools import lru_cache
from typing import TYPE_CHECKING, Final

from kubectl_policy.model import NodeRef
from kubectl_policy.questions.graph.failing import Failing
from kubectl_policy.questions.graph.picture import GraphLink
from kubectl_policy.topology.links import LINKS

if TYPE_CHECKING:
    from collections.abc import Iterator

    from kubectl_policy.analysis import Analysis
    from kubectl_policy.model import GroupKind, ObjectRef
    from kubectl_policy.topology.links import Link

_LINKS: Final = tuple(link for link in LINKS if link.carries != "place")
# From an object to its sections.
INSIDE: Final = frozenset({"listener", "rule", "port"})
# Those of which the lower end names the upper one; of all others but sections it is the other way round.
_UPWARD: Final = frozenset({"gateway", "listener-set", "route", "mesh-route"})
_BACKEND: Final = "backend"
FRONTEND: Final = "mesh-route"


# Kinds are few, but input may name any number of them.
@lru_cache(256)
def _rows_below(kind: GroupKind) -> tuple[Link, ...]:
    return tuple(row for row in _LINKS if kind in row.above)


@lru_cache(256)
def _rows_above(kind: GroupKind) -> tuple[Link, ...]:
    return tuple(row for row in _LINKS if row.below is None or kind in row.below)


class Links:
    """The links of nodes in one state. The same link is found from either of its ends."""

    def __init__(self, analysis: Analysis) -> None:
        """Remember where to look."""
        self._relations = analysis.topology.relations
        self._failing = Failing(analysis)

    def below(self, node: NodeRef, *, is_front: bool = True) -> Iterator[GraphLink]:
        """The links from a node downward.

        Those to routes of the mesh are left out unless requests enter it at the node: from a backend they are not
        routed again.
        """
        for row in _rows_below(node.object.group_kind):
            if is_front or row.name != FRONTEND:
                for child in row.children(self._relations, node):
                    yield self._link(node, child, row.name)
        yield from self._failing.below(node, is_front=is_front)

    def above(self, node: NodeRef) -> Iterator[GraphLink]:
        """The links to a node from what is above it."""
        for row in _rows_above(node.object.group_kind):
            for parent in row.parents(self._relations, node):
                yield self._link(parent, node, row.name)
        yield from self._failing.above(node)

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
        yield from self._failing.parents(obj)
        for part in self.inside(whole):
            yield part
            yield from self.from_rule(part.child)

    def from_rule(self, rule: NodeRef) -> Iterator[GraphLink]:
        """The links from a rule of a route to what it names as its backends; none from any other node."""
        for row in _rows_below(rule.object.group_kind):
            if row.name == _BACKEND:
                for child in row.children(self._relations, rule):
                    yield self._link(rule, child, row.name)
                yield from self._failing.idle(rule)

    def again(self, link: GraphLink) -> Iterator[GraphLink]:
        """What has become of a link of another state: those that the object which makes it makes to the same object."""
        if link.relation == _BACKEND:
            return (each for each in self.from_rule(link.parent) if each.child.object == link.child.object)
        return (each for each in self.made_by(link.child.object) if each.parent.object == link.parent.object)

    def _link(self, parent: NodeRef, child: NodeRef, relation: str) -> GraphLink:
        broken = self._failing.broken(parent, child) if relation == _BACKEND else None
        return broken or GraphLink(parent=parent, child=child, relation=relation)
