"""The picture of one state: which nodes, links and policies are in it."""

from __future__ import annotations

from collections import deque
from typing import TYPE_CHECKING, Final

from msgspec.structs import replace

from kubectl_policy.errors import NotFoundError
from kubectl_policy.model import NodeRef, ObjectRef, Resource
from kubectl_policy.model.kind_roles import (
    ABOVE_BACKENDS,
    HIERARCHY,
    KIND_ROWS,
    LISTENER_HOLDERS,
    NAMESPACE,
    REFERENCE_GRANT,
    ROUTES,
)
from kubectl_policy.model.world import grouped
from kubectl_policy.questions.blind_spots.answers import blind_spots_for, blind_spots_for_policy
from kubectl_policy.questions.blind_spots.relevance import describe_gaps, gaps_in_list
from kubectl_policy.questions.blind_spots.unknowns import BlindSpot, unknown_parents
from kubectl_policy.questions.graph.links import FRONTEND, INSIDE, Links
from kubectl_policy.questions.graph.nodes import NodesInForce, about_kinds, affected_part, is_there, node_of, with_kinds
from kubectl_policy.questions.graph.picture import GraphLink, GraphOptions, GraphPolicy, Picture, numbered_links
from kubectl_policy.questions.shared.effects import affected_nodes, from_the_root
from kubectl_policy.questions.shared.reported import contrary_report, has_report
from kubectl_policy.questions.shared.selection import is_about_hierarchy
from kubectl_policy.resolution.enforcement import Enforcements
from kubectl_policy.topology import Path, Topology
from kubectl_policy.topology.paths import Paths

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Iterator

    from kubectl_policy.analysis import Analysis
    from kubectl_policy.questions.graph.picture import NodeInForce

_EVERYTHING: Final = GraphOptions()
# Kinds whose objects are drawn whatever leads to them; backends are drawn where something leads to them.
_ROOTS: Final = tuple(
    row.group_kind for row in KIND_ROWS if row.role not in {"namespace", "backend"} and row.template is None
)
_WITH_OUTCOMES: Final = frozenset({*ROUTES, *LISTENER_HOLDERS})
# Of these, more nodes or links may be in the picture of everything.
_DECIDING: Final = frozenset(kind.kind for kind in (*HIERARCHY, NAMESPACE, REFERENCE_GRANT))


def graph(analysis: Analysis, asked: GraphOptions = _EVERYTHING) -> Picture:
    """The picture of a state, or of a part of it. Raises `NotFoundError` for a subject that is not there."""
    for subject in asked.subjects:
        if subject not in analysis.attachments:
            analysis.require(NodeRef(subject))
    return Drawing(analysis, asked).picture()


class Drawing:
    """A picture of one state in the making: what is in it, before kinds or sections are left out.

    Of the subjects, those are drawn that this state has.
    """

    def __init__(self, analysis: Analysis, asked: GraphOptions, *, everywhere: bool = False) -> None:
        """Draw what is asked for; how far policies around that are enforced is told `everywhere`, or there alone."""
        self.analysis, self.asked = analysis, asked
        # Each in the order in which it was found.
        self.nodes: dict[NodeRef, None] = {}
        self.edges: dict[GraphLink, None] = {}
        self.policies: dict[ObjectRef, GraphPolicy] = {}
        self._links = Links(analysis)
        self._subjects = tuple(ref for ref in asked.subjects if _is_known(analysis, ref))
        self._is_part = bool(asked.subjects or asked.namespace)
        # By which paths it is told what becomes of policies.
        self._topology, self._enforced = analysis.topology, analysis.enforcement
        if self._is_part:
            self._draw_part(everywhere=everywhere)
        else:
            self._draw_everything()
        policies = self._policies_around() if self._is_part else self._policies_of_hierarchy()
        self._add_policies(sorted(policies))
        self._drop_idle()
        if asked.only_affected:
            self._keep(affected_part(self.nodes, self.edges, self.policies.values()))

    def picture(self) -> Picture:
        """The picture as it was asked for."""
        kept, links = with_kinds(self.nodes, self.edges, self.asked)
        drawn = from_the_root(kept)
        attachments = (attachment for policy in self.policies.values() for attachment in policy.targets)
        virtual = {attachment.target.object for attachment in attachments if attachment.target and attachment.virtual}
        unseen = tuple(dict.fromkeys(self._blind_spots()))
        # What was read, and may be otherwise, as something changes it that was not applied.
        doubtful = frozenset(blind_spot.what for blind_spot in unseen if blind_spot.is_there)
        outcomes = self._outcomes(drawn, doubtful) if self.asked.effective else {}
        nodes = [
            node_of(
                self.analysis,
                node,
                virtual=node.object in virtual,
                may_differ=bool(doubtful) and str(node.object) in doubtful,
                outcome=outcomes.get(node),
            )
            for node in drawn
        ]
        policies = sorted(about_kinds(self.policies.values(), self.asked), key=lambda policy: policy.ref)
        return Picture(
            asked=self.asked,
            nodes=tuple(nodes),
            links=numbered_links(links),
            policies=tuple(replace(policy, may_differ=str(policy.ref) in doubtful) for policy in policies),
            unseen=unseen,
            place=self.analysis.index.source,
        )

    def extend(self, drawing: Drawing) -> bool:
        """Add the parts of another state's drawing that exist in this state; return whether anything was added."""
        drawn = len(self.nodes), len(self.edges), len(self.policies)
        for node in drawing.nodes:
            if is_there(self.analysis, node):
                self._add(node)
        for link in drawing.edges:
            if link.relation not in INSIDE and link not in self.edges:
                for mine in self._links.again(link):
                    self._add_link(mine)
        for resource in filter(None, map(self.analysis.index.get, drawing.policies)):
            if resource.ref not in self.policies and resource.ref in self.analysis.attachments:
                self.policies[resource.ref] = self._policy(resource)
        return drawn != (len(self.nodes), len(self.edges), len(self.policies))

    def _draw_everything(self) -> None:
        for kind in _ROOTS:
            for obj in self.analysis.index.world.refs_of(kind):
                self._add(NodeRef(obj))
                for link in self._links.made_by(obj):
                    self._add_link(link)
        # Where rules name no port, requests may go to any.
        for backend in [link.child for link in self.edges if _leads_to_all(link)]:
            for link in self._links.inside(backend):
                self._add_link(link)

    def _draw_part(self, *, everywhere: bool) -> None:
        starts = self._starts()
        homes = {node: None for node in starts if node.object.group_kind == NAMESPACE} | self._asked_namespace()
        if not everywhere:
            # To know how far policies are enforced on all paths, every route of their Gateways would be looked at.
            analysis, whole = self.analysis, self.analysis.topology
            paths = _PathsThrough(whole, starts | homes)
            self._topology = Topology(whole.index, whole.gateways.implementation, paths=paths)
            resolver = analysis.resolver
            self._enforced = Enforcements(self._topology, analysis.registry, analysis.attachments, resolver).of
        inside = (obj for home in homes for obj in self.analysis.topology.relations.objects_in(home.object.name))
        self._draw_around(starts | dict.fromkeys(map(NodeRef, inside)))

    def _starts(self) -> dict[NodeRef, None]:
        """The subjects, and of policies among them what they target."""
        attachments, starts = self.analysis.attachments, list[NodeRef]()
        for subject in self._subjects:
            targets = (attachment.target for attachment in attachments.get(subject, ()))
            starts += filter(None, targets) if subject in attachments else [NodeRef(subject)]
        return dict.fromkeys(starts)

    def _asked_namespace(self) -> dict[NodeRef, None]:
        """The Namespace of which the contents are asked for, unless that is one of the subjects."""
        name = "" if self.asked.subjects else self.asked.namespace
        return {NodeRef(ObjectRef(NAMESPACE, "", name)): None} if name else {}

    def _draw_around(self, starts: Collection[NodeRef]) -> None:
        relations = self.analysis.topology.relations
        # Rules lead to ports of what has any.
        with_ports = [
            node.object for node in starts if not node.section and relations.has_ports(node.object.group_kind)
        ]
        starts = (*starts, *(NodeRef(obj, port) for obj in with_ports for port in relations.sections(obj)))
        for node in starts:
            self._add(node)
        if self.asked.down:
            self._walk(starts, down=True)
        if self.asked.up:
            self._walk(starts, down=False)

    def _walk(self, starts: Iterable[NodeRef], *, down: bool) -> None:
        """Draw what links lead to from some nodes; their depth counts objects: sections are no further away.

        A link that is refused is drawn, and not followed. Requests enter the mesh at the parents of its routes: those
        do not lead to what is above these, nor are they below what only sends requests there.
        """
        reached: dict[NodeRef, int] = dict.fromkeys(starts, 0)
        fronts = {node.object for node in reached}
        waiting = deque(reached)
        while waiting:
            node = waiting.popleft()
            if reached[node] == self.asked.depth:
                links = self._links.inside(node)
            elif down:
                links = self._links.below(node, is_front=node.object in fronts)
            else:
                links = self._links.above(node)
            for link in links:
                start, end = (link.parent, link.child) if down else (link.child, link.parent)
                if start != node:
                    continue
                self._add_link(link)
                steps = reached[node] + (end.object != node.object)
                enters = link.relation == FRONTEND and not down
                if _leads_on(link) and not enters and steps < reached.get(end, steps + 1):
                    reached[end] = steps
                    waiting.append(end)

    def _add_link(self, link: GraphLink) -> None:
        self.edges[link] = None
        # That a section is part of its object is just being drawn.
        add = self.nodes.setdefault if link.relation in INSIDE else self._add
        add(link.parent)
        add(link.child)

    def _add(self, node: NodeRef) -> None:
        """Draw a node; of a section also its object, and that it is part of it, if the object has such a section."""
        if node not in self.nodes:
            self.nodes[node] = None
            if node.section:
                self.nodes.setdefault(NodeRef(node.object))
                self.edges.update(dict.fromkeys(self._links.inside(node)))

    def _policies_around(self) -> set[ObjectRef]:
        """The policies on what is drawn, and on the Namespaces of that."""
        homes = self._homes()
        objects = {node.object for node in self.nodes} | homes
        references = (reference for obj in objects for reference in self.analysis.attachments_to(obj))
        near = {
            reference.policy for reference in references if reference.target and self._is_near(reference.target, homes)
        }
        return near.union(ref for ref in self._subjects if ref in self.analysis.attachments)

    def _homes(self) -> set[ObjectRef]:
        return {ObjectRef(NAMESPACE, "", node.object.namespace) for node in self.nodes if node.object.namespace}

    def _is_near(self, target: NodeRef, homes: set[ObjectRef]) -> bool:
        """Whether a target is drawn, or is a Namespace around that, or a section that a drawn object lacks."""
        if target in self.nodes or target.object in homes:
            return True
        is_absent = target.section not in self.analysis.topology.sections(target.object)
        return NodeRef(target.object) in self.nodes and is_absent

    def _policies_of_hierarchy(self) -> Iterator[ObjectRef]:
        """All policies that are about Gateways, routes, or what these lead to; all else that anything there names."""
        for ref, attachments in self.analysis.attachments.items():
            profile = self.analysis.registry.profile(ref.group_kind)
            if (
                is_about_hierarchy(profile)
                if profile.role == "policy"
                else any(attachment.target for attachment in attachments)
            ):
                yield ref

    def _add_policies(self, refs: Iterable[ObjectRef]) -> None:
        """Draw policies with what they target; in the picture of everything, also all that they have an effect on."""
        kinds, homes = self.asked.policy_kinds, self._homes()
        for resource in filter(None, map(self.analysis.index.get, refs)):
            if not kinds or resource.ref.group_kind in kinds:
                self.policies[resource.ref] = self._policy(resource)
        for policy in self.policies.values():
            targets = [attachment.target for attachment in policy.targets if attachment.target]
            near = (target for target in targets if self._is_near(target, homes))
            for node in near if self._is_part else (*targets, *policy.affected):
                self._add(node)

    def _policy(self, resource: Resource) -> GraphPolicy:
        analysis, ref = self.analysis, resource.ref
        profile, attachments = analysis.registry.profile(ref.group_kind), analysis.attachments[ref]
        # Of a policy that is asked about, everything is told.
        enforcement = (analysis.enforcement if ref in self._subjects else self._enforced)(ref)
        targets = [attachment.target for attachment in attachments if attachment.target and has_report(resource.raw)]
        ancestors = {node.object for target in targets for path in self._topology.paths(target) for node in path}
        around = ancestors.union(target.object for target in targets)
        return GraphPolicy(
            ref=ref,
            profile=profile,
            enforcement=enforcement,
            targets=attachments,
            affected=affected_nodes(enforcement, profile),
            origin=resource.origin,
            contrary=contrary_report(resource, around),
        )

    def _drop_idle(self) -> None:
        """Leave out ports and backends that no rule names, and no policy is about, unless they are asked about.

        Rules that name a backend without a port lead to all of its ports.
        """
        about = {NodeRef(ref) for ref in self._subjects}
        for policy in self.policies.values():
            about.update(policy.affected)
            about.update(attachment.target for attachment in policy.targets if attachment.target)
        links = [link for link in self.edges if link.relation != "port"]
        about.update(end for link in links for end in (link.parent, link.child))
        objects = {node.object for node in about}
        whole = {link.child.object for link in links if _leads_to_all(link)}

        def is_idle(node: NodeRef) -> bool:
            obj, section = node.object, node.section
            if obj.group_kind in ABOVE_BACKENDS:
                return False
            return node not in about if section and obj not in whole else obj not in objects

        self._keep([node for node in self.nodes if not is_idle(node)])

    def _keep(self, nodes: Iterable[NodeRef]) -> None:
        self.nodes = kept = dict.fromkeys(nodes)
        self.edges = {link: None for link in self.edges if link.parent in kept and link.child in kept}

    def _outcomes(self, nodes: Iterable[NodeRef], doubtful: frozenset[str]) -> dict[NodeRef, NodeInForce]:
        # What is in force is told at rules and listeners, or at an object of which none are drawn.
        sections = self.analysis.topology.sections
        outcomes = NodesInForce(self.analysis, self.asked.policy_kinds, doubtful)
        return {
            node: outcome
            for node in nodes
            if node.object.group_kind in _WITH_OUTCOMES
            and (node.section or not (self.asked.sections and sections(node.object)))
            and (outcome := outcomes.at(node))
        }

    def _blind_spots(self) -> Iterator[BlindSpot]:
        analysis = self.analysis
        objects = (NodeRef(ref) for ref in self._subjects if ref not in analysis.attachments)
        for node in (*objects, *self._asked_namespace()):
            yield from blind_spots_for(analysis, node, analysis.topology.paths_through(node), include_descendants=True)
        if not self._is_part:
            yield from describe_gaps(analysis, gaps_in_list(analysis, _DECIDING, "", policies=True))
        yield from unknown_parents(analysis, dict.fromkeys(node.object for node in self.nodes))
        is_local = self._topology is not analysis.topology
        for ref, policy in self.policies.items():
            if ref in self._subjects or not is_local:
                yield from blind_spots_for_policy(analysis, policy.enforcement)


class _PathsThrough(Paths):
    """The paths of a hierarchy that lead through some nodes, as if there were no others."""

    def __init__(self, topology: Topology, nodes: Iterable[NodeRef]) -> None:
        super().__init__(topology.relations)
        paths = dict.fromkeys(path for node in nodes for path in topology.paths_through(node))
        self._by_node = grouped((node, path) for path in paths for node in path)

    def through(self, node: NodeRef) -> tuple[Path, ...]:
        """Those that lead through a node as well: of a Namespace, through what may exist there."""
        paths, obj, index = self._by_node.get(node, ()), node.object, self.relations.index

        def may_exist_there(inner: NodeRef) -> bool:
            return inner.object.namespace == obj.name and index.presence(inner.object) != "missing"

        return tuple(path for path in paths if obj.group_kind != NAMESPACE or any(map(may_exist_there, path)))

    def to(self, node: NodeRef) -> tuple[Path, ...]:
        """The parts of these that end at the node."""
        return tuple(dict.fromkeys(path[: path.index(node) + 1] for path in self._by_node.get(node, ())))


def _is_known(analysis: Analysis, ref: ObjectRef) -> bool:
    """Whether a state has something to be asked about, or something that names it."""
    try:
        analysis.require(NodeRef(ref))
    except NotFoundError:
        return False
    return True


def _leads_to_all(link: GraphLink) -> bool:
    """Whether requests may get to all ports of a backend."""
    return link.relation == "backend" and not link.child.section and _leads_on(link)


def _leads_on(link: GraphLink) -> bool:
    """Whether requests run down a link, or might."""
    return link.state != "refused"
