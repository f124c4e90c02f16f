"""Description of a network policy: the workloads that it applies to, and what each of its rules matches and decides."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

from msgspec import Meta, Struct
from msgspec.structs import replace

from kubectl_policy.model import Diagnostic, ObjectRef  # noqa: TC001 (answers are encoded by these types)
from kubectl_policy.network.policy import DIRECTIONS, Direction
from kubectl_policy.network.reach import Reach
from kubectl_policy.questions.blind_spots.network import unevaluated_policies, unread_for_network
from kubectl_policy.questions.blind_spots.unknowns import BLIND_SPOTS, Answer, BlindSpot
from kubectl_policy.questions.connections.rule_views import (
    PolicyView,
    RuleView,
    policy_view,
    rule_view,
    selection_phrase,
    with_lines,
)
from kubectl_policy.questions.connections.workload_sets import WorkloadSet, workload_set
from kubectl_policy.topology.workloads.pod_sets import positions_in

if TYPE_CHECKING:
    from collections.abc import Iterator

    from kubectl_policy.analysis import Analysis
    from kubectl_policy.network.policy import PolicyRules, Rule
    from kubectl_policy.questions.connections.rule_views import Locate


class RuleOfPolicy(Struct, frozen=True, kw_only=True):
    """A rule of a network policy, or its isolation, with what it matches and where it decides."""

    direction: Annotated[Direction, Meta(description="Egress or ingress.")]
    rule: Annotated[RuleView, "inline"]
    matches: Annotated[
        WorkloadSet | None, Meta(description="The workloads that the rule matches as peers; null for an isolation.")
    ]
    decides_for: Annotated[
        int,
        Meta(description="The number of workloads for which the rule decides, or may decide, about any connection."),
    ]


class NetworkPolicyDescription(Answer, frozen=True, kw_only=True):
    """The answer about a network policy."""

    view: Annotated[PolicyView, "inline"]
    subject: Annotated[str, Meta(description="The Pods that the policy selects, for people: `Pods app=web`.")]
    applies_to: Annotated[WorkloadSet, Meta(description="The workloads that the policy applies to.")]
    may_apply_to: Annotated[WorkloadSet, Meta(description="The further workloads that the policy may apply to.")]
    selects: Annotated[tuple[ObjectRef, ...], Meta(description="The workloads that the policy applies to, by name.")]
    may_select: Annotated[tuple[ObjectRef, ...], Meta(description="The workloads that the policy may apply to.")]
    directions: Annotated[tuple[Direction, ...], Meta(description="The directions that the policy has a say in.")]
    isolates: Annotated[
        tuple[Direction, ...],
        Meta(description="The directions in which the policy denies what no NetworkPolicy allows."),
    ]
    rules: Annotated[tuple[RuleOfPolicy, ...], Meta(description="The rules in their order.")]
    unseen: Annotated[tuple[BlindSpot, ...], Meta(description=BLIND_SPOTS)]
    problems: Annotated[
        tuple[Diagnostic, ...], Meta(description="The problems with reading the input that concern the answer.")
    ]

    @property
    def found_nothing(self) -> bool:
        """Whether the policy is not known to apply to any workload."""
        return not self.applies_to.number


def describe_network_policy(analysis: Analysis, ref: ObjectRef) -> NetworkPolicyDescription:
    """Describe a network policy. Raises `NotFoundError` for one that was not read."""
    network = analysis.network
    policy = network.by_ref.get(ref)
    if policy is None:
        raise analysis.not_read(
            ref, "add the manifest that contains it" if analysis.index.source == "the input" else ""
        )
    subjects = network.matching.subjects(policy)
    reach = Reach(network, network.space)
    is_namespaced = policy.tier == "NetworkPolicy"
    return NetworkPolicyDescription(
        view=policy_view(network.index, policy),
        subject=selection_phrase(policy.subject, ref.namespace),
        applies_to=workload_set(analysis.workloads, subjects.certain),
        may_apply_to=workload_set(analysis.workloads, subjects.undecided),
        selects=tuple(workload.ref for workload in analysis.workloads.at(positions_in(subjects.certain))),
        may_select=tuple(workload.ref for workload in analysis.workloads.at(positions_in(subjects.undecided))),
        directions=tuple(direction for direction in DIRECTIONS if policy.concerns(direction)),
        isolates=tuple(direction for direction in DIRECTIONS if direction in policy.isolates),
        rules=tuple(_rules(reach, policy, subjects.possible)),
        place=analysis.index.source,
        unseen=(
            *unread_for_network(analysis, frozenset({ref.namespace}) if is_namespaced else None),
            *unevaluated_policies(
                analysis,
                {direction: subjects.possible for direction in DIRECTIONS if policy.concerns(direction)},
                outside=True,
            ),
        ),
        problems=analysis.problems_of(ref),
    )


def _rules(reach: Reach, policy: PolicyRules, subjects: int) -> Iterator[RuleOfPolicy]:
    network = reach.network
    for direction in DIRECTIONS:
        deciding = _deciding(reach, policy, subjects, direction)
        rules: list[Rule | None] = [*policy.rules(direction), *([None] if direction in policy.isolates else [])]
        for rule in rules:
            matched = network.matching.pods(policy, rule).possible & reach.pods if rule else 0
            yield RuleOfPolicy(
                direction=direction,
                rule=rule_view(network.index, policy, rule, rule.action if rule else "Deny"),
                matches=workload_set(network.workloads, matched) if rule else None,
                decides_for=deciding.get(rule, 0).bit_count(),
            )


def _deciding(reach: Reach, policy: PolicyRules, subjects: int, direction: Direction) -> dict[Rule | None, int]:
    """Return the workloads for which each rule of a policy decides about any connection."""
    members: dict[Rule | None, int] = {}
    for part in reach.classes_of(subjects, direction):
        decisions = [decision for _, decision in reach.decisions(part)]
        decisions += [decision for _, decision in reach.address_decisions(part)]
        for rule in {step.rule for decision in decisions for step in decision.steps if step.policy is policy}:
            members[rule] = members.get(rule, 0) | part.members
    return members


def policy_with_lines(answer: NetworkPolicyDescription, locate: Locate) -> NetworkPolicyDescription:
    """Return the answer with the lines of rules instead of that of the policy."""
    rules = (replace(entry, rule=with_lines((entry.rule,), locate)[0]) for entry in answer.rules)
    return replace(answer, rules=tuple(rules))
