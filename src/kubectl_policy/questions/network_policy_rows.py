"""Network policies that are evaluated as rows: their tiers, directions and rules, and the workloads they select."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any

from msgspec import Meta, Struct

from kubectl_policy.network.policy import DIRECTIONS, Direction, Tier
from kubectl_policy.questions.policy_rows import PolicyRow, policy_row

if TYPE_CHECKING:
    from kubectl_policy.analysis import Analysis
    from kubectl_policy.model import Resource


class NetworkPolicySummary(Struct, frozen=True, kw_only=True):
    """The tier and the rules of a network policy, and the number of workloads that it selects."""

    tier: Annotated[Tier, Meta(description="The tier of the policy.")]
    priority: Annotated[
        int | None, Meta(description="The priority in the tier, the lowest number first; null without any.")
    ]
    directions: Annotated[tuple[Direction, ...], Meta(description="The directions that the policy has a say in.")]
    ingress_rules: Annotated[int, Meta(description="The number of rules for ingress.")]
    egress_rules: Annotated[int, Meta(description="The number of rules for egress.")]
    selects: Annotated[
        int, Meta(description="The number of workloads that it selects: Pods, and controllers without Pods.")
    ]
    may_select: Annotated[int, Meta(description="The number of further workloads that it may select.")]
    may_select_unread: Annotated[
        bool, Meta(description="Whether there may be workloads that it selects and that were not read.")
    ]


class NetworkPolicyRow(PolicyRow, frozen=True, kw_only=True):
    """A network policy whose rules are evaluated."""

    summary: Annotated[NetworkPolicySummary, "inline"]


def network_policy_row(analysis: Analysis, resource: Resource) -> NetworkPolicyRow:
    """Return the row of a network policy of a kind that is evaluated."""
    row, policy = policy_row(analysis, resource), analysis.network.policy(resource.ref)
    subjects = analysis.network.subjects_of(resource.ref)
    members: dict[str, Any] = {name: getattr(row, name) for name in row.__struct_fields__}
    return NetworkPolicyRow(
        **members,
        summary=NetworkPolicySummary(
            tier=policy.tier,
            priority=policy.priority,
            directions=tuple(direction for direction in DIRECTIONS if policy.concerns(direction)),
            ingress_rules=len(policy.ingress),
            egress_rules=len(policy.egress),
            selects=subjects.pods.certain.bit_count(),
            may_select=subjects.pods.undecided.bit_count(),
            may_select_unread=subjects.may_have_more,
        ),
    )
