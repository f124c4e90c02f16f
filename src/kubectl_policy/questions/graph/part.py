"""A part of the hierarchy: what becomes of policies on the paths through some nodes, whatever they do elsewhere."""

from __future__ import annotations

from typing import TYPE_CHECKING

from kubectl_policy.model.kinds import NAMESPACE
from kubectl_policy.resolution.enforcement import Enforcements
from kubectl_policy.topology import Topology
from kubectl_policy.topology.paths import Paths

if TYPE_CHECKING:
    from collections.abc import Iterable

    from kubectl_policy.analysis import Analysis
    from kubectl_policy.model import NodeRef
    from kubectl_policy.topology import Path


class _PathsThrough(Paths):
    """The paths of a hierarchy that lead through some nodes, as if there were no others."""

    def __init__(self, topology: Topology, nodes: Iterable[NodeRef]) -> None:
        super().__init__(topology.relations)
        self._by_node: dict[NodeRef, list[Path]] = {}
        for path in dict.fromkeys(path for node in nodes for path in topology.paths_through(node)):
            for node in path:
                self._by_node.setdefault(node, []).append(path)

    def through(self, node: NodeRef) -> tuple[Path, ...]:
        """Those that lead through a node as well: of a Namespace, through what may exist there."""
        found, obj = self._by_node.get(node, ()), node.object
        if obj.group_kind == NAMESPACE:
            found = [path for path in found if any(self._may_exist_in(obj.name, each) for each in path)]
        return tuple(found)

    def _may_exist_in(self, namespace: str, node: NodeRef) -> bool:
        return node.object.namespace == namespace and self.relations.index.presence(node.object) != "missing"

    def to(self, node: NodeRef) -> tuple[Path, ...]:
        """The parts of these that end at the node."""
        return tuple(dict.fromkeys(path[: path.index(node) + 1] for path in self._by_node.get(node, ())))


def part_of(analysis: Analysis, nodes: Iterable[NodeRef]) -> Topology:
    """The topology with those paths alone that lead through some nodes."""
    topology = analysis.topology
    return Topology(topology.index, topology.gateways.implementation, paths=_PathsThrough(topology, nodes))


def enforcements_in(part: Topology, analysis: Analysis) -> Enforcements:
    """How far policies are enforced on the paths of a part.

    To know that of all paths, every route that a policy of a Gateway is about would have to be looked at.
    """
    return Enforcements(part, analysis.registry, analysis.attachments, analysis.resolver)
