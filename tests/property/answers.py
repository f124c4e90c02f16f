"""Everything that can be asked of an analysis, as one value."""

from __future__ import annotations

from kubectl_policy import Analysis
from kubectl_policy.model import NodeRef
from kubectl_policy.questions.describe.objects import describe
from kubectl_policy.questions.describe.policies import describe_policy
from kubectl_policy.questions.lists import list_type
from kubectl_policy.questions.shared.selection import Selection
from kubectl_policy.questions.status.report import status
from tests.render.shown import shown


def answers(analysis: Analysis) -> dict[str, object]:
    """The topology, the attachments, the effective policies at every node, the enforcement, and the diagnostics."""
    nodes = analysis.topology.nodes
    return {
        "nodes": nodes,
        "edges": analysis.topology.edges,
        "paths": {node: analysis.topology.paths(node) for node in nodes},
        "policies": [policy.ref for policy in analysis.policies],
        "attachments": analysis.attachments,
        "effective": {
            node: [(effective, effective.resolution.fates) for effective in analysis.effective(node)] for node in nodes
        },
        "affected": {node: analysis.affected_by(node) for node in nodes},
        "enforcement": {policy.ref: analysis.enforcement(policy.ref) for policy in analysis.policies},
        "diagnostics": analysis.diagnostics,
    }


def texts(analysis: Analysis) -> dict[str, str]:
    """Return the texts of each description, of the lists, and of status."""
    objects = dict.fromkeys(node.object for node in analysis.topology.nodes)
    policies = [policy.ref for policy in analysis.policies]
    descriptions: dict[str, object] = {
        **{f"describe {ref}": describe(analysis, NodeRef(ref)) for ref in objects if ref not in policies},
        **{f"describe {ref}": describe_policy(analysis, ref) for ref in policies},
    }
    kinds = {analysis.registry.kind_names(ref.group_kind).plural for ref in objects if ref not in policies}
    words = ("policies", "policykinds", "routes", *kinds)
    lists = {f"get {word}": list_type(analysis, word, Selection()) for word in words}
    return {
        **{f"{command} -o wide": shown(answer, "wide") for command, answer in {**descriptions, **lists}.items()},
        **{command: shown(answer, "tree") for command, answer in descriptions.items()},
        "status": shown(status(analysis, "", Selection()), "tree"),
    }
