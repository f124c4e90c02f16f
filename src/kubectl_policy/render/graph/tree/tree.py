"""`graph` as a tree: from GatewayClasses down to ports, with the policies at each node and what is in force where.

What no request runs down stands after that: routes that are attached to nothing, Namespaces, whose policies are told
once, what is in the picture for its policies alone, and policies without a target.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from kubectl_policy.model.kinds import NAMESPACE
from kubectl_policy.render.graph.tree.branches import Branches
from kubectl_policy.render.graph.tree.drawing import drawn
from kubectl_policy.render.graph.tree.links import TreeLinks
from kubectl_policy.render.graph.wording import graph_headline
from kubectl_policy.render.wording.sections import BLANK, headline_line, unseen_section
from kubectl_policy.topology.references import GATEWAY_CLASS, ROUTES, WITH_LISTENERS

if TYPE_CHECKING:
    from collections.abc import Iterator

    from kubectl_policy.model import NodeRef
    from kubectl_policy.questions.graph.picture import Picture
    from kubectl_policy.render.graph.tree.rows import Row
    from kubectl_policy.render.output.text import Document, View

# What the parts of the tree are called that no request runs down.
_UNATTACHED: Final = "Attached to nothing"
_NAMESPACES: Final = "Namespaces with policies"
_OTHERS: Final = "Nothing drawn leads to these"
_WITHOUT_TARGET: Final = "Policies without a target"
# In a picture of some kinds alone.
_LEFT_OUT: Final = "Policies on what is not drawn"


def graph_tree(picture: Picture, view: View) -> Document:
    """The picture for people at a terminal."""
    groups = ((title, rows) for title, rows in _Roots(picture).groups() if rows)
    return (
        headline_line(graph_headline(picture)),
        *(line for title, rows in groups for line in (BLANK, *drawn(title, rows, view))),
        *unseen_section(picture.unseen),
    )


class _Roots:
    """What is below nothing else, with all that is below it, in groups by what it is."""

    def __init__(self, picture: Picture) -> None:
        """Find out what is attached to nothing, which is told once."""
        self._picture, self._links = picture, TreeLinks(picture)
        asked = picture.asked
        is_part = bool(asked.subjects or asked.namespace)
        # In a picture of a part, what leads to something may be left out.
        self._is_whole = not (is_part or asked.kinds or asked.only_affected)
        self._has_parents = not asked.kinds and (not is_part or (asked.up and asked.depth is None))
        self._branches = Branches(picture, self._links)
        links = self._links
        self._starts = [
            node
            for node in links.nodes
            if not node.section and (node not in links.entered or node.object in links.fronts)
        ]
        self._branches.unattached = frozenset(filter(self._is_unattached, self._starts))

    def groups(self) -> Iterator[tuple[str, list[Row]]]:
        """Titles and rows, in the order in which they are read."""
        branches = self._branches
        starts: dict[str, list[NodeRef]] = {title: [] for title in ("", _UNATTACHED, _NAMESPACES, _OTHERS)}
        for node in self._starts:
            if self._is_said_by_others(node):
                branches.seen.add(node)
            else:
                starts[self._title(node)].append(node)
        for title, nodes in starts.items():
            rows = [self._row(node) for node in nodes]
            if title == (_UNATTACHED if self._has_parents else ""):
                rows += [self._row(node) for node in self._links.nodes if self._is_in_circle(node)]
            elif title == _OTHERS:
                rows += [self._row(node) for node in self._links.nodes if self._is_left(node)]
            yield title, branches.rows.folded(rows)
        elsewhere: dict[str, list[Row]] = {_LEFT_OUT: [], _WITHOUT_TARGET: []}
        for policy in self._links.elsewhere:
            has_target = any(each.target for each in policy.targets)
            elsewhere[_LEFT_OUT if has_target else _WITHOUT_TARGET].append(branches.policy_elsewhere(policy))
        yield from ((title, branches.rows.folded(rows)) for title, rows in elsewhere.items())

    def _row(self, node: NodeRef) -> Row:
        is_unattached = node in self._branches.unattached or self._is_in_circle(node)
        lines = self._branches.why_unattached(node) if is_unattached else ()
        return self._branches.row(node, lines=lines)

    def _is_unattached(self, node: NodeRef) -> bool:
        is_there = self._links.nodes[node].presence == "present"
        return self._has_parents and is_there and node.object.group_kind in ROUTES and node not in self._links.entered

    def _is_in_circle(self, node: NodeRef) -> bool:
        """Whether a route is led to by routes alone that it leads to, once all others have a row."""
        is_entered = node not in self._branches.seen and node in self._links.entered
        return is_entered and not node.section and node.object.group_kind in ROUTES

    def _is_left(self, node: NodeRef) -> bool:
        """Whether no row is about a node yet: a port that only a policy names, or that there is not."""
        return node not in self._branches.seen and (not node.section or bool(self._links.policies[node]))

    def _is_said_by_others(self, node: NodeRef) -> bool:
        """Whether what there is to say of a parent is said by the routes that it refuses, or of a route by these."""
        links, refused = self._links, self._links.refused_at[node]
        if links.below[node] or links.policies[node] or links.nodes[node].mark or self._is_asked(node):
            return False
        if node.object.group_kind in ROUTES:
            return bool(links.refused_by[node]) and not self._has_parents
        is_known = node.object.group_kind in WITH_LISTENERS and links.nodes[node].presence == "present"
        are_told = all(link.child in self._branches.unattached and not link.mark for link in refused)
        return bool(refused) and are_told and not is_known

    def _is_asked(self, node: NodeRef) -> bool:
        return node.object in self._picture.asked.subjects

    def _title(self, node: NodeRef) -> str:
        kind, links = node.object.group_kind, self._links
        if node in self._branches.unattached:
            return _UNATTACHED
        if kind == NAMESPACE and not self._is_asked(node):
            return _NAMESPACES
        leads_on = any(link.child.object != node.object for link in links.below[node]) or links.refused_at[node]
        is_parent = kind in {GATEWAY_CLASS, *WITH_LISTENERS} or node.object in links.fronts or leads_on
        return "" if is_parent or self._is_asked(node) or not self._is_whole else _OTHERS
