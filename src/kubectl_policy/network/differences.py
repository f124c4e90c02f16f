"""Differences between two states of a network: policies, and all by which rules match workloads and addresses."""

from __future__ import annotations

from functools import cached_property
from typing import TYPE_CHECKING

from kubectl_policy.model.fields import labels_of, same_json, value_at
from kubectl_policy.model.kind_roles import NODE
from kubectl_policy.topology.workloads.pod_sets import bitmap

if TYPE_CHECKING:
    from kubectl_policy.model import Json, ObjectRef
    from kubectl_policy.network.network import Network
    from kubectl_policy.topology.workloads.workload import Workload


class Differences:
    """Differences between two states of a network with the same positions of workloads."""

    def __init__(self, before: Network, after: Network) -> None:
        """Compare nothing before it is asked for."""
        self._before, self._after = before, after

    @cached_property
    def policies(self) -> frozenset[ObjectRef]:
        """The network policies that only one state has, or whose specifications differ."""
        refs = self._before.by_ref.keys() | self._after.by_ref.keys()
        return frozenset(ref for ref in refs if not self._has_same_policy(ref))

    def _has_same_policy(self, ref: ObjectRef) -> bool:
        mine, theirs = self._before.by_ref.get(ref), self._after.by_ref.get(ref)
        if not mine or not theirs or mine is theirs:
            return mine is theirs
        return same_json(*(value_at(state.index.defaulted(ref), "spec") for state in (self._before, self._after)))

    @cached_property
    def workloads(self) -> int:
        """The workloads with other labels, ports or addresses, or in a namespace with other labels."""
        if self._before.workloads is self._after.workloads:
            return 0
        pairs = enumerate(zip(self._before.workloads.all, self._after.workloads.all, strict=True))
        differing = bitmap(position for position, (mine, theirs) in pairs if not self._are_alike(mine, theirs))
        for namespace, members in self._before.workloads.by_namespace.items():
            labels = [state.index.namespace_labels(namespace) for state in (self._before, self._after)]
            differing |= members if labels[0] != labels[1] else 0
        return differing

    def _are_alike(self, mine: Workload, theirs: Workload) -> bool:
        if self._before.index.get(mine.ref) is self._after.index.get(mine.ref):
            return True
        return (mine.labels, mine.ports, mine.addresses) == (theirs.labels, theirs.ports, theirs.addresses)

    @cached_property
    def nodes(self) -> bool:
        """Whether Nodes, which rules select, have other labels or addresses."""
        # Nodes are read for such rules alone.
        return any(map(_selects_nodes, (self._before, self._after))) and _nodes(self._before) != _nodes(self._after)


def _selects_nodes(network: Network) -> bool:
    rules = (rule for policy in network.policies for rule in (*policy.ingress, *policy.egress))
    return any(peer.nodes is not None for rule in rules for peer in rule.peers or ())


def _nodes(network: Network) -> dict[ObjectRef, tuple[dict[str, str], Json]]:
    nodes = network.index.of_kind(NODE)
    return {node.ref: (labels_of(node.raw), value_at(node.raw, "status.addresses")) for node in nodes}
