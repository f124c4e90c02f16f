"""A part of a graph: what policies have to do with, or nodes of some kinds alone, with links past the others."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from msgspec.structs import replace

from kubectl_policy.model import NodeRef
from kubectl_policy.model.world import grouped

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterable, Iterator, Mapping

    from kubectl_policy.questions.graph.picture import GraphLink, GraphOptions, GraphPolicy, LinkState

# Of the states of links, by how likely requests get to the end.
_BEST_FIRST: Final[tuple[LinkState, ...]] = ("attached", "unknown", "broken", "refused")


def affected_part(
    nodes: Collection[NodeRef], links: Collection[GraphLink], policies: Iterable[GraphPolicy]
) -> list[NodeRef]:
    """The nodes that policies target, or have an effect on, and those above them."""
    above = grouped((link.child, link.parent) for link in links)
    found: set[NodeRef] = set()
    waiting = [node for policy in policies for node in (*policy.affected, *_targets(policy)) if node in nodes]
    while waiting:
        node = waiting.pop()
        if node not in found:
            found.add(node)
            waiting += [*above.get(node, ()), *([NodeRef(node.object)] if node.section else [])]
    return [node for node in nodes if node in found]


def _targets(policy: GraphPolicy) -> Iterator[NodeRef]:
    return (each.target for each in policy.targets if each.target)


def about_kinds(policies: Iterable[GraphPolicy], asked: GraphOptions) -> list[GraphPolicy]:
    """The policies that target nodes of the kinds that are asked for, or have an effect on some, or have no target."""

    def is_shown(policy: GraphPolicy) -> bool:
        about = {node.object.group_kind for node in (*_targets(policy), *policy.affected)}
        return not (about and asked.kinds.isdisjoint(about))

    return [policy for policy in policies if not asked.kinds or is_shown(policy)]


def with_kinds(
    nodes: Collection[NodeRef], links: Collection[GraphLink], asked: GraphOptions
) -> tuple[list[NodeRef], list[GraphLink]]:
    """The nodes that are asked for by kind, and as objects alone; links lead past what is left out."""
    if asked.sections and not asked.kinds:
        return [*nodes], [*links]

    def shown(node: NodeRef) -> NodeRef | None:
        """What stands for a node, if anything does: an object stands for its sections."""
        end = node if asked.sections else NodeRef(node.object)
        return end if not asked.kinds or node.object.group_kind in asked.kinds else None

    kept = list(dict.fromkeys(filter(None, map(shown, nodes))))
    below = grouped((link.parent, link) for link in links)
    found: dict[tuple[NodeRef, NodeRef], GraphLink] = {}
    for link in links:
        parent = shown(link.parent)
        for end in _first_shown(link, below, shown) if parent else ():
            child = shown(end.child)
            if parent and child and child != parent:
                is_whole = end is link and (parent, child) == (link.parent, link.child)
                new = end if is_whole else replace(end, parent=parent, child=child, past=end is not link)
                known = found.setdefault((parent, child), new)
                if _rank(new) < _rank(known):
                    found[parent, child] = new
    return kept, list(found.values())


def _rank(link: GraphLink) -> tuple[int, str, str, str]:
    """Which of several links between two nodes that are one in the picture counts: the one with the least.

    Where one way carries requests, another one that does not is no news; but for requests that are sent where they get
    no answer. Of what is alike the words decide, and not what was found first.
    """
    is_told = link.state == "broken" and not link.past
    return -1 if is_told else _BEST_FIRST.index(link.state), link.relation, link.reason, link.message


def _first_shown(
    link: GraphLink, below: Mapping[NodeRef, tuple[GraphLink, ...]], shown: Callable[[NodeRef], NodeRef | None]
) -> Iterator[GraphLink]:
    """The links by which the first nodes that are shown are reached over a link and what is left out behind it.

    Each has the state of the first one on the way that is not attached, if any is; of several ways, that of the best.
    """
    seen: set[NodeRef] = set()
    waiting: dict[LinkState, list[GraphLink]] = {state: [] for state in _BEST_FIRST}
    waiting[link.state].append(link)
    while ways := next(filter(None, waiting.values()), None):
        way = ways.pop()
        if shown(way.child):
            yield way
        elif way.child not in seen:
            seen.add(way.child)
            for link_below in below.get(way.child, ()):
                further = link_below if way.state == "attached" else replace(way, child=link_below.child)
                waiting[further.state].append(further)
