"""Picture of two states in one, with marks on nodes, links and policies that differ."""

from __future__ import annotations

from typing import TYPE_CHECKING

from msgspec.structs import replace

from kubectl_policy.model.fields import same_json
from kubectl_policy.model.kind_roles import ROUTES
from kubectl_policy.model.refs import NodeRef
from kubectl_policy.questions.diff import diff
from kubectl_policy.questions.graph.drawing import Drawing
from kubectl_policy.questions.graph.nodes import is_there, section_value
from kubectl_policy.questions.graph.picture import Picture, numbered_links
from kubectl_policy.questions.shared.effects import from_the_root
from kubectl_policy.states import apply_changes

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping

    from kubectl_policy.analysis import Analysis
    from kubectl_policy.comparison import StateComparison
    from kubectl_policy.model import ObjectRef
    from kubectl_policy.questions.graph.picture import GraphLink, GraphNode, GraphOptions, GraphPolicy, Mark


def graph_of_two(comparison: StateComparison, about: Callable[[Analysis], GraphOptions]) -> Picture:
    """The picture of what is asked `about`, in either of two states: the later one, with what only the earlier one has.

    What is asked about is looked for in both states at once: it may be in one of them alone.
    """
    asked = about(_either(comparison))
    # Around something that is in one state alone, nothing could be said of policies in the other one.
    before, after = (Drawing(state, asked, everywhere=True) for state in (comparison.before, comparison.after))
    # What one state alone has led to is not gone from the other; either may have something that the other one lacks.
    while before.extend(after) or after.extend(before):
        pass
    old, new = before.picture(), after.picture()
    nodes = {node.ref: node for node in _nodes(comparison, old.nodes, new.nodes)}
    drawn = {policy.ref for picture in (old, new) for policy in picture.policies}
    differing = _differing(comparison, nodes.values(), sections=asked.sections)
    nodes |= {ref: replace(nodes[ref], settings_differ=True) for ref in differing}
    return Picture(
        asked=asked,
        nodes=tuple(nodes[ref] for ref in from_the_root(nodes)),
        links=numbered_links(_links(old.links, new.links)),
        policies=tuple(_policies(comparison, before.policies, after.policies, drawn)),
        unseen=tuple(dict.fromkeys((*old.unseen, *new.unseen))),
        two_states=True,
        place=new.place,
    )


def _either(comparison: StateComparison) -> Analysis:
    """A state that has what either one has, the later one's version of it."""
    after = comparison.after
    gone = [resource for resource in map(comparison.before.index.get, sorted(comparison.deleted)) if resource]
    return after.of_state(apply_changes(after.snapshot, gone)[1]) if gone else after


def _nodes(comparison: StateComparison, old: Iterable[GraphNode], new: Iterable[GraphNode]) -> Iterator[GraphNode]:
    """The nodes of both states, of each the later one; but what is gone is as it was, also where it is still named.

    What is in force is that of the later state, if that has the node.
    """
    earlier, later = ({node.ref: node for node in nodes} for nodes in (old, new))
    for ref in earlier | later:
        mark = _mark(comparison, ref)
        if ref not in later:
            mark = "removed"
        elif ref not in earlier:
            mark = "added"
        outcome = (later if ref in later else earlier)[ref].outcome
        yield replace((earlier if mark == "removed" else later)[ref], mark=mark, outcome=outcome)


def _mark(comparison: StateComparison, node: NodeRef) -> Mark:
    """Whether one state alone has a node, or has another version of it; nothing of what is in neither of them."""
    states = (comparison.before, comparison.after)
    was_there, is_here = (is_there(state, node) for state in states)
    if was_there != is_here:
        return "added" if is_here else "removed"
    if not is_here or node.object not in comparison.updated:
        return ""
    earlier, later = (section_value(state, node) for state in states)
    return "" if node.section and same_json(earlier, later) else "changed"


def _links(old: Iterable[GraphLink], new: Iterable[GraphLink]) -> Iterator[GraphLink]:
    """The links of both states.

    One that does not carry requests in both is one that is changed, as it is in the later state: also where it stands
    for others, as a parentRef that all listeners refuse is refused by their Gateway.
    """
    earlier, later = (
        {(link.relation, link.parent, link.child, link.number): link for link in links} for links in (old, new)
    )
    for ends in [ends for ends in later if ends in earlier]:
        before, after = earlier.pop(ends), later.pop(ends)
        is_same = (before.state, before.reason) == (after.state, after.reason)
        yield after if is_same else replace(after, mark="changed")
    removed, added = _by_objects(earlier.values()), _by_objects(later.values())
    for between in dict.fromkeys((*removed, *added)):
        lost, gained = removed.get(between, []), added.get(between, [])
        is_one = bool(lost and gained) and _carry(lost) != _carry(gained)
        yield from (replace(link, mark="changed" if is_one else "added") for link in gained)
        yield from (replace(link, mark="removed") for link in lost if not is_one)


def _by_objects(links: Iterable[GraphLink]) -> dict[tuple[str, NodeRef, ObjectRef], list[GraphLink]]:
    """Links by what they are between, of a rule with its section: each sends its requests itself."""
    by_ends: dict[tuple[str, NodeRef, ObjectRef], list[GraphLink]] = {}
    for link in links:
        parent = link.parent if link.relation == "backend" else NodeRef(link.parent.object)
        by_ends.setdefault((link.relation, parent, link.child.object), []).append(link)
    return by_ends


def _carry(links: Iterable[GraphLink]) -> bool:
    """Whether requests run down some link."""
    return any(link.state == "attached" for link in links)


def _policies(
    comparison: StateComparison,
    earlier: Mapping[ObjectRef, GraphPolicy],
    later: Mapping[ObjectRef, GraphPolicy],
    drawn: Iterable[ObjectRef],
) -> Iterator[GraphPolicy]:
    """The policies that are drawn in either state, sorted; of each the later one, with what it was before."""
    for ref in sorted(drawn):
        before, after = earlier.get(ref), later.get(ref)
        if before and after:
            was, now = (
                {reference.target: reference.state for reference in policy.targets} for policy in (before, after)
            )
            differs = before.state != after.state
            yield replace(
                after,
                mark="changed" if differs or was != now or ref in comparison.updated else "",
                earlier=before.state if differs else None,
                former=tuple(target for target in was if target and target not in now),
            )
        else:
            yield replace(before, mark="removed") if before else replace(later[ref], mark="added")


def _differing(comparison: StateComparison, nodes: Iterable[GraphNode], *, sections: bool) -> frozenset[NodeRef]:
    """The nodes of both states at which settings are in force that are not the same; of sections their objects.

    With the rules by which requests come to these settings.
    """
    effects = diff(comparison).effects
    every = {changed_object.node for effect in effects for changed_object in effect.objects}
    on_paths = {node for effect in effects for path in effect.paths for node in path}
    every.update(node for node in on_paths if node.section and node.object.group_kind in ROUTES)
    in_both = {node.ref for node in nodes if node.mark not in {"added", "removed"}}
    return frozenset(node if sections else NodeRef(node.object) for node in every).intersection(in_both)
