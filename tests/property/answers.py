"""Everything that can be asked of an analysis, as one value."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from kubectl_policy import Analysis


def answers(analysis: Analysis) -> dict[str, object]:
    """The topology, the attachments, the effective policies at every node, the enforcement, and the diagnostics."""
    nodes = analysis.topology.nodes
    return {
        "nodes": nodes,
        "edges": analysis.topology.edges,
        "paths": {node: analysis.topology.paths(node) for node in nodes},
        "policies": [policy.ref for policy in analysis.policies],
        "attachments": analysis.attachments,
        "effective": {node: [(found, found.fates()) for found in analysis.effective(node)] for node in nodes},
        "affected": {node: analysis.affected_by(node) for node in nodes},
        "enforcement": {policy.ref: analysis.enforcement(policy.ref) for policy in analysis.policies},
        "diagnostics": analysis.diagnostics,
    }
