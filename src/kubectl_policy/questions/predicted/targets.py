"""What the controllers of policies would report on the objects that policies are about."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from kubectl_policy.model import NodeRef
from kubectl_policy.questions.predicted.policies import PolicyCondition
from kubectl_policy.topology.references import GATEWAY, LISTENER_SETS, ROUTES

if TYPE_CHECKING:
    from collections.abc import Iterator

    from kubectl_policy.analysis import Analysis
    from kubectl_policy.model import GroupKind, ObjectRef

# A target that the controllers do not know of, or that is not theirs, gets no conditions.
_NOT_THERE: Final = frozenset(
    {"target missing", "target unknown", "section missing", "not managed", "kind unsupported"}
)


def _targeting(analysis: Analysis, node: NodeRef) -> Iterator[ObjectRef]:
    """The policies that target a node, whatever becomes of them, of kinds that say so on the targets themselves."""
    for attachment in analysis.attachments_to(node.object):
        affects = analysis.registry.known(attachment.policy.group_kind).status.affects
        if affects == "targets" and attachment.target == node and attachment.state not in _NOT_THERE:
            yield attachment.policy


def target_conditions(analysis: Analysis, node: NodeRef) -> Iterator[PolicyCondition]:
    """What the controllers of policies would report on an object or section that these are about, kind by kind.

    A policy counts that is attached to the node or above it on one of its paths, whether or not something beats it.
    Gateways, listeners and routes have such a place in their status; rules, ports and what is behind them have none.
    """
    kind = node.object.group_kind
    if kind not in (GATEWAY, *LISTENER_SETS) and (node.section or kind not in ROUTES):
        return
    above = {parent for path in analysis.topology.paths(node) for parent in path}
    found: dict[GroupKind, set[ObjectRef]] = {}
    for policy in (policy for parent in above for policy in analysis.resolver.policies_at(parent)):
        if analysis.registry.known(policy.ref.group_kind).status.affects == "below":
            found.setdefault(policy.ref.group_kind, set()).add(policy.ref)
    for ref in _targeting(analysis, node):
        found.setdefault(ref.group_kind, set()).add(ref)
    for policy_kind, policies in sorted(found.items()):
        status = analysis.registry.known(policy_kind).status
        words = status.conditions.get("affected", ())
        how = "targeted by" if status.affects == "targets" else "attached here or above:"
        refs = sorted(policies)
        related = tuple(NodeRef(ref) for ref in refs)
        for each in words:
            yield PolicyCondition(*each, f"{how} {', '.join(map(str, refs))}", related)
