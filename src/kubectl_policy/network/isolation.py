"""Network policies of many workloads at once: which select each workload, and whether they isolate it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final, Literal, TypeAlias, get_args

from msgspec import Struct

from kubectl_policy.lazy import cached_method
from kubectl_policy.network.policy import TIERS
from kubectl_policy.topology.workloads.pod_sets import positions_in

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from kubectl_policy.network.network import Network
    from kubectl_policy.network.policy import Direction, PolicyRules

# Whether connections of a workload in one direction are restricted, the strongest last but for unknown:
# `restricted` by rules of Admin or Baseline policies that deny some; `isolated` by a NetworkPolicy, so that nothing is
# allowed but what rules allow ("isolated for ingress" and "for egress" in the documentation of NetworkPolicies).
Isolation: TypeAlias = Literal["open", "restricted", "isolated", "unknown"]
_STRENGTH: Final[tuple[Isolation, ...]] = get_args(Isolation)


class SelectingPolicies(Struct, frozen=True, dict=True, eq=False, kw_only=True):
    """The network policies that select some workloads, and those that may select them, in the order of evaluation."""

    certain: tuple[PolicyRules, ...]
    undecided: tuple[PolicyRules, ...]

    @cached_method
    def isolation(self, direction: Direction) -> Isolation:
        """Return what the policies make of connections in a direction; unknown if an undecided one would change it."""
        certain = _strongest(self.certain, direction)
        possible = _strongest(self.undecided, direction)
        return certain if _STRENGTH.index(possible) <= _STRENGTH.index(certain) else "unknown"


def _strongest(policies: Iterable[PolicyRules], direction: Direction) -> Isolation:
    effects = {_STRENGTH.index(_effect(policy, direction)) for policy in policies}
    return _STRENGTH[max(effects, default=0)]


def _effect(policy: PolicyRules, direction: Direction) -> Isolation:
    if direction in policy.isolates:
        return "isolated"
    # A rule with an empty list of peers or ports matches nothing.
    is_denying = any(
        rule.action == "Deny" and rule.peers != () and rule.ports != () for rule in policy.rules(direction)
    )
    return "restricted" if is_denying else "open"


def policies_by_position(network: Network) -> Sequence[SelectingPolicies]:
    """Return the policies that select each workload; workloads that the same policies select share one value."""
    # Policies with equal subjects are looked through once.
    policies_of: dict[tuple[int, int], list[PolicyRules]] = {}
    for policy in sorted(network.policies, key=_order):
        subjects = network.matching.subjects(policy)
        policies_of.setdefault((subjects.certain, subjects.undecided), []).append(policy)
    groups_at: list[list[tuple[int, bool]]] = [[] for _ in network.workloads.all]
    for number, (certain, undecided) in enumerate(policies_of):
        for position in positions_in(certain):
            groups_at[position].append((number, True))
        for position in positions_in(undecided):
            groups_at[position].append((number, False))
    groups = tuple(policies_of.values())
    shared: dict[tuple[tuple[int, bool], ...], SelectingPolicies] = {}
    for at_position in groups_at:
        key = tuple(at_position)
        if key not in shared:
            shared[key] = SelectingPolicies(
                certain=_in_order(groups[number] for number, is_certain in key if is_certain),
                undecided=_in_order(groups[number] for number, is_certain in key if not is_certain),
            )
    return [shared[tuple(at_position)] for at_position in groups_at]


def _in_order(groups: Iterable[Iterable[PolicyRules]]) -> tuple[PolicyRules, ...]:
    return tuple(sorted((policy for group in groups for policy in group), key=_order))


def _order(policy: PolicyRules) -> tuple[int, float, str]:
    priority = float("inf") if policy.priority is None else policy.priority
    return TIERS.index(policy.tier), priority, policy.ref.qualified_name
