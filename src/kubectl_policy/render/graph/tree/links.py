"""What of a picture is below what in the tree, what is not though it would be or was, and which policies are where."""

from __future__ import annotations

import re
from collections import defaultdict
from typing import TYPE_CHECKING, Final

from kubectl_policy.model import NodeRef
from kubectl_policy.questions.graph.picture import GraphLink
from kubectl_policy.topology.references import ROUTES, WITH_LISTENERS, depth_of, section_noun

if TYPE_CHECKING:
    from kubectl_policy.attachment import Attachment
    from kubectl_policy.model import ObjectRef
    from kubectl_policy.questions.graph.picture import GraphPolicy, Picture

_WITH_SECTIONS: Final = frozenset({*WITH_LISTENERS, *ROUTES})
_DIGITS: Final = re.compile(r"([0-9]+)")


class TreeLinks:
    """The links and the policies of a picture, by its nodes."""

    def __init__(self, picture: Picture) -> None:
        """Find them all."""
        self.nodes = {node.ref: node for node in picture.nodes}
        # What a node leads to, or would if it was there: its own sections first, then by kind and name.
        self.below: defaultdict[NodeRef, list[GraphLink]] = defaultdict(list)
        # The routes that name a node as their parent and that it refuses, and what is no longer below it.
        self.refused_at: defaultdict[NodeRef, list[GraphLink]] = defaultdict(list)
        # What a route names as its parents and is not attached to, or no longer.
        self.refused_by: defaultdict[NodeRef, list[GraphLink]] = defaultdict(list)
        # What is below something.
        self.entered: set[NodeRef] = set()
        # What routes of a mesh have as their parents: paths start there, whatever else leads there.
        self.fronts: set[ObjectRef] = set()
        # The policies that name a node, or a section of it that is not drawn, each with that reference; those that no
        # longer name it have None.
        self.policies: defaultdict[NodeRef, list[tuple[GraphPolicy, Attachment | None]]] = defaultdict(list)
        # The policies of which nothing is drawn that they refer to.
        self.elsewhere: list[GraphPolicy] = []
        for link in picture.links:
            self._add(link)
        for policy in picture.policies:
            self._place(policy)
        for node in self.nodes:
            # Sections that there are not, and that policies name: they belong where they were looked for.
            whole = NodeRef(node.object)
            if (
                node.object.group_kind in _WITH_SECTIONS
                and node.section
                and node not in self.entered
                and whole in self.nodes
            ):
                self._add(GraphLink(parent=whole, child=node, relation=section_noun(node.object.group_kind)))
        for links in self.below.values():
            if len(links) > 1:
                links.sort(key=_place_of)

    def _add(self, link: GraphLink) -> None:
        # Of what is gone, all that it led to is told as it was.
        is_gone = link.mark == "removed" and "removed" not in {
            self.nodes[link.child].mark,
            self.nodes[link.parent].mark,
        }
        if is_gone or (link.state == "refused" and link.child.object.group_kind in ROUTES and not link.past):
            self.refused_at[link.parent].append(link)
            self.refused_by[link.child].append(link)
            return
        self.below[link.parent].append(link)
        self.entered.add(link.child)
        if link.relation == "backend":
            # Rules lead to ports, which the tree tells with what has them.
            self.entered.add(NodeRef(link.child.object))
        elif link.relation == "mesh-route":
            self.fronts.add(link.parent.object)

    def _place(self, policy: GraphPolicy) -> None:
        named = [(attachment.target, attachment) for attachment in policy.targets if attachment.target]
        is_drawn = False
        for target, attachment in (*named, *((target, None) for target in policy.former)):
            node = next((end for end in (target, NodeRef(target.object)) if end in self.nodes), None)
            if node:
                is_drawn = is_drawn or attachment is not None
                self.policies[node].append((policy, attachment))
        if not is_drawn:
            self.elsewhere.append(policy)


def _place_of(link: GraphLink) -> tuple[object, ...]:
    """Where a link comes among those from the same node; numbers in names count as such."""
    child = link.child
    kind = child.object.group_kind
    names = (child.object.namespace, child.object.name, child.section)
    is_other = child.object != link.parent.object
    return is_other, depth_of(kind), kind, tuple(map(_natural, names))


def _natural(name: str) -> tuple[tuple[int, str], ...]:
    # Digits by how many there are: names may have more of them than there are numbers.
    pieces = re.split(_DIGITS, name)
    return tuple((len(piece.lstrip("0")), piece) if place % 2 else (0, piece) for place, piece in enumerate(pieces))
