"""Nodes of a picture: their state and outcomes, and the selection of some of them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from msgspec.structs import replace

from kubectl_policy.model import GroupKind, Json, NodeRef
from kubectl_policy.model.fields import items_at, mappings_at, strings_at
from kubectl_policy.model.kind_roles import KINDS, NAMESPACE, PORT_HOLDERS, ROUTES
from kubectl_policy.model.unknown import Port, port_at
from kubectl_policy.model.world import grouped
from kubectl_policy.questions.graph.picture import GraphNode, KindInForce, NodeInForce
from kubectl_policy.questions.shared.effects import covered_paths
from kubectl_policy.questions.shared.in_force import EffectiveEntry, effective_entries, own_settings_entries, summary_of

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterable, Iterator, Mapping

    from kubectl_policy.analysis import Analysis
    from kubectl_policy.questions.graph.picture import GraphLink, GraphOptions, GraphPolicy, LinkState
    from kubectl_policy.resolution import Resolution
    from kubectl_policy.resolution.uncertain_paths import PathDoubt


def node_of(
    analysis: Analysis,
    node: NodeRef,
    *,
    virtual: bool = False,
    may_differ: bool = False,
    outcome: NodeInForce | None = None,
) -> GraphNode:
    """Return a node as it is in one state."""
    index, obj, section = analysis.index, node.object, node.section
    resource = index.get(obj)
    presence = index.presence(obj)
    if section and resource and section not in analysis.topology.sections(obj):
        presence = "missing" if analysis.topology.relations.has_known_sections(obj.group_kind) else "unknown"
    is_route = obj.group_kind in ROUTES
    listener = analysis.topology.gateways.listener(node)
    port = listener.port if listener else _port(analysis, node) if section and not is_route else None
    return GraphNode(
        ref=node,
        presence=presence,
        origin=resource.origin if resource else None,
        virtual=virtual,
        hostnames=tuple(strings_at(resource.raw, "spec.hostnames")) if is_route and resource and not section else (),
        protocol=listener.protocol if listener else "",
        port=port,
        hostname=listener.hostname if listener else "",
        matches=tuple(items_at(section_value(analysis, node), "matches")) if is_route and section else (),
        may_differ=may_differ,
        outcome=outcome,
    )


def _port(analysis: Analysis, node: NodeRef) -> Port | None:
    ports = analysis.topology.relations.ports(node.object).items()
    return next((number for number, name in ports if name == node.section), None)


def section_value(analysis: Analysis, node: NodeRef) -> Json:
    """Return a section of an object as it was read: a listener, a rule or a port; None if there is nothing.

    A rule of a route without rules is filled in, and what ports are is not known of all kinds.
    """
    obj, section = node.object, node.section
    listener = analysis.topology.gateways.listener(node)
    resource = analysis.index.get(obj)
    if listener or not resource:
        return dict(listener.raw) if listener else None
    row = KINDS.get(obj.group_kind)
    if row and row.sections and obj.group_kind not in PORT_HOLDERS:
        sections = zip(analysis.topology.sections(obj), items_at(resource.raw, row.sections), strict=False)
        return next((written for name, written in sections if name == section), None)
    number = _port(analysis, node)
    ports = mappings_at(resource.raw, "spec.ports")
    return next((dict(port) for port in ports if number is not None and port_at(port, "port") == number), None)


def is_there(analysis: Analysis, node: NodeRef) -> bool:
    """Whether an object is there in one state, or a section of it.

    A Namespace is if anything lives in it: of two states, not if that is so in the other one alone.
    """
    obj, section = node.object, node.section
    if section:
        return section in analysis.topology.sections(obj)
    world = analysis.index.world
    if obj.group_kind == NAMESPACE:
        return world.has(obj) or obj.name in world.namespaces
    return analysis.index.presence(obj) == "present"


class NodesInForce:
    """Outcomes at rules of routes and at listeners; equal ones are put into words once."""

    def __init__(self, analysis: Analysis, kinds: frozenset[GroupKind], doubtful: frozenset[str]) -> None:
        """Take the policy kinds that count (none: all), and the objects that may be different."""
        self._analysis, self._kinds, self._doubtful = analysis, kinds, doubtful
        self._groups: dict[tuple[Resolution, GroupKind, PathDoubt], KindInForce] = {}

    def at(self, node: NodeRef) -> NodeInForce | None:
        """Settings in force at a node, kind by kind; None if there are none, as where no traffic comes."""
        topology = self._analysis.topology
        paths = tuple(path for path in covered_paths(self._analysis, node) if topology.carries_traffic(path))
        entries = (*effective_entries(self._analysis, node, paths), *own_settings_entries(self._analysis, paths))
        positions = grouped((self._group(entry), entry.path) for entry in entries if self._counts(entry, node))
        groups = [
            replace(group, positions=on_paths)
            for group, on_paths in positions.items()
            if group.policies or group.summary
        ]
        groups.sort(key=lambda group: (group.policy_kind, group.positions))
        return NodeInForce(paths=paths, groups=tuple(groups)) if groups else None

    def _counts(self, entry: EffectiveEntry, node: NodeRef) -> bool:
        """Whether a kind is asked for and takes effect there: at a listener, what is on its way to routes does not."""
        profile = self._analysis.registry.profile(entry.effective.resolution.kind)
        if entry.passes_down or profile.patches or (self._kinds and profile.group_kind not in self._kinds):
            return False
        return node.object.group_kind in ROUTES or profile.policy_class == "direct" or bool(profile.effective_targets)

    def _group(self, entry: EffectiveEntry) -> KindInForce:
        resolution, kind = entry.effective.resolution, entry.effective.target.object.group_kind
        key = resolution, kind, entry.doubt
        if key not in self._groups:
            profile = self._analysis.registry.profile(resolution.kind)
            # What a rule says itself is in force as well, and no policy's.
            policies = () if profile.route_settings else resolution.policies_in_force
            taking_part = {str(part.source.object) for part in resolution.contributions}
            self._groups[key] = KindInForce(
                policy_kind=resolution.kind,
                policies=tuple(sorted(policies)),
                summary=summary_of(entry.effective, profile.at(kind)),
                certain=not (resolution.undecided or entry.doubt) and self._doubtful.isdisjoint(taking_part),
            )
        return self._groups[key]


# Of the states of links, by how likely requests get to the end.
_BEST_FIRST: Final[tuple[LinkState, ...]] = ("attached", "unknown", "broken", "refused")


def affected_part(
    nodes: Collection[NodeRef], links: Collection[GraphLink], policies: Iterable[GraphPolicy]
) -> list[NodeRef]:
    """The nodes that policies target, or have an effect on, and those above them."""
    parents = grouped((link.child, link.parent) for link in links)
    reached: set[NodeRef] = set()
    waiting = [node for policy in policies for node in (*policy.affected, *_targets(policy)) if node in nodes]
    while waiting:
        node = waiting.pop()
        if node not in reached:
            reached.add(node)
            waiting += [*parents.get(node, ()), *([NodeRef(node.object)] if node.section else [])]
    return [node for node in nodes if node in reached]


def _targets(policy: GraphPolicy) -> Iterator[NodeRef]:
    return (attachment.target for attachment in policy.targets if attachment.target)


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
        """Return the node that stands for a node in the picture, if any: an object stands for its sections."""
        end = node if asked.sections else NodeRef(node.object)
        return end if not asked.kinds or node.object.group_kind in asked.kinds else None

    kept = list(dict.fromkeys(filter(None, map(shown, nodes))))
    children = grouped((link.parent, link) for link in links)
    merged: dict[tuple[NodeRef, NodeRef], GraphLink] = {}
    for link in links:
        parent = shown(link.parent)
        for end in _first_shown(link, children, shown) if parent else ():
            child = shown(end.child)
            if parent and child and child != parent:
                is_whole = end is link and (parent, child) == (link.parent, link.child)
                new = end if is_whole else replace(end, parent=parent, child=child, past=end is not link)
                known = merged.setdefault((parent, child), new)
                if _rank(new) < _rank(known):
                    merged[parent, child] = new
    return kept, list(merged.values())


def _rank(link: GraphLink) -> tuple[int, str, str, str]:
    """Sort key of links between two nodes that are one in the picture; the least one is shown.

    Where one way carries requests, another one that does not is no news; but for requests that are sent where they get
    no answer. Of what is alike the words decide, and not what was found first.
    """
    is_told = link.state == "broken" and not link.past
    return -1 if is_told else _BEST_FIRST.index(link.state), link.relation, link.reason, link.message


def _first_shown(
    link: GraphLink, children: Mapping[NodeRef, tuple[GraphLink, ...]], shown: Callable[[NodeRef], NodeRef | None]
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
            for link_below in children.get(way.child, ()):
                continued = link_below if way.state == "attached" else replace(way, child=link_below.child)
                waiting[continued.state].append(continued)
