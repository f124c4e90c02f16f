"""Ask the tiers of network policies in their order which ports they allow, deny and pass on, for one pair of peers."""

from __future__ import annotations

from functools import reduce
from itertools import groupby
from typing import TYPE_CHECKING, TypeAlias

from msgspec import Struct

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

    from kubectl_policy.network.policy import Action, Direction, PolicyRules, Rule, Tier

# Ports, as sets of a `PortSpace`, that a rule of a policy certainly matches for some peer, and those that it may match.
Ports: TypeAlias = tuple[int, int]
Match: TypeAlias = "Callable[[PolicyRules, Rule], Ports]"


class Selecting(Struct, frozen=True, gc=False):
    """A policy that selects the Pod in question, or may select it."""

    policy: PolicyRules
    is_certain: bool


class Chain(Struct, frozen=True, kw_only=True):
    """The policies that select one Pod, by tier; those of Admin and Baseline in groups of one priority, in order."""

    direction: Direction
    admin: tuple[tuple[Selecting, ...], ...]
    network: tuple[Selecting, ...]
    baseline: tuple[tuple[Selecting, ...], ...]
    # Whether the peer is the node of the Pod, or on its network; None if that is not known. "Traffic to and from the
    # node where a Pod is running is always allowed" by NetworkPolicies.
    is_own_node: bool | None = False

    @property
    def policies(self) -> tuple[Selecting, ...]:
        """All policies, in the order in which they are asked."""
        groups = (*self.admin, self.network, *self.baseline)
        return tuple(selecting for group in groups for selecting in group)


def chain_of(policies: Iterable[Selecting], direction: Direction) -> Chain:
    """Order the policies that select a Pod and have a say in a direction."""
    concerned = [selecting for selecting in policies if selecting.policy.concerns(direction)]

    def groups(tier: Tier) -> tuple[tuple[Selecting, ...], ...]:
        in_tier = sorted((selecting for selecting in concerned if selecting.policy.tier == tier), key=_order)
        return tuple(tuple(group) for _, group in groupby(in_tier, key=_rank))

    network = tuple(selecting for selecting in concerned if selecting.policy.tier == "NetworkPolicy")
    return Chain(direction=direction, admin=groups("Admin"), network=network, baseline=groups("Baseline"))


def _rank(selecting: Selecting) -> float:
    """Return the position in a tier; an open policy comes first, because it may decide before any other."""
    priority = selecting.policy.priority
    return -1 if selecting.policy.is_open or priority is None else priority


def _order(selecting: Selecting) -> tuple[float, str]:
    return _rank(selecting), selecting.policy.ref.qualified_name


class Step(Struct, frozen=True, kw_only=True):
    """A policy that decides about some ports, or sends them on, by one of its rules.

    A NetworkPolicy without a rule isolates the Pod: it denies what no NetworkPolicy allows, and allows the own node.
    """

    policy: PolicyRules
    rule: Rule | None
    action: Action
    # The ports about which the step decides, and those about which it may decide.
    certain: int
    possible: int


class Decision(Struct, frozen=True, kw_only=True):
    """Ports that the policies on one side of a connection allow and deny."""

    may_allow: int
    may_deny: int
    # The ports about which no policy decides, or may decide: they are allowed.
    by_default: int
    steps: tuple[Step, ...]

    @property
    def allowed(self) -> int:
        """The ports that are certainly allowed."""
        return self.may_allow & ~self.may_deny

    @property
    def denied(self) -> int:
        """The ports that are certainly denied."""
        return self.may_deny & ~self.may_allow

    @property
    def undecided(self) -> int:
        """The ports of which it is not known whether they are allowed."""
        return self.may_allow & self.may_deny


class Allowed(Struct, frozen=True, gc=False):
    """Ports that are allowed, and those of which it is not known; all others are denied."""

    certain: int
    undecided: int

    def __and__(self, other: Allowed) -> Allowed:
        """Return the ports that are allowed on both sides of a connection."""
        certain = self.certain & other.certain
        possible = (self.certain | self.undecided) & (other.certain | other.undecided)
        return Allowed(certain, possible & ~certain)


def decide(chain: Chain, match: Match, ports: int) -> Decision:
    """Decide about some ports of one pair of peers, by the policies of one of them.

    Tiers are asked in order: Admin, NetworkPolicy ("always makes a final decision for selected pods"), Baseline; then
    all is allowed (ClusterNetworkPolicySpec.tier).
    """
    walk = _Walk(chain, match)
    reached = walk.through_priorities(chain.admin, ports)
    reached = walk.through_network_policies(reached)
    reached = walk.through_priorities(chain.baseline, reached)
    return Decision(
        may_allow=walk.may_allow | reached, may_deny=walk.may_deny, by_default=reached, steps=tuple(walk.steps)
    )


# A rule with the ports that it certainly matches, if it is asked, and those that it may match.
_Hit: TypeAlias = "tuple[Rule, int, int]"


class _Walk:
    """A walk through the tiers, with what has been decided on it so far."""

    def __init__(self, chain: Chain, match: Match) -> None:
        self._chain = chain
        self._match = match
        self.may_allow = 0
        self.may_deny = 0
        self.steps: list[Step] = []

    def through_priorities(self, groups: Sequence[Sequence[Selecting]], reached: int) -> int:
        """Ask the policies of a tier, and return the ports that it leaves to the next tier."""
        passed = 0
        for group in groups:
            # "If two policies ... with the same priority could match a connection, then the implementation can apply
            # any of the matching policies": all of them are asked as if they came first.
            hits = [self._hits(selecting, reached) for selecting in group]
            matched = [_union(possible for _, _, possible in policy_hits) for policy_hits in hits]
            doubtful = self.may_allow | self.may_deny | passed
            for position, selecting in enumerate(group):
                rivals = _union(matched[:position] + matched[position + 1 :])
                passed |= self._add_hits(selecting.policy, hits[position], doubtful | rivals)
            reached &= ~_union(certain for policy_hits in hits for _, certain, _ in policy_hits)
        return reached | passed

    def _hits(self, selecting: Selecting, reached: int) -> list[_Hit]:
        """Ask the rules of a policy, each about the ports that no earlier one certainly matches."""
        hits: list[_Hit] = []
        for rule in selecting.policy.rules(self._chain.direction):
            certain, possible = self._match(selecting.policy, rule)
            certain = certain & reached if selecting.is_certain else 0
            hits.append((rule, certain, possible & reached))
            reached &= ~certain
        return hits

    def _add_hits(self, policy: PolicyRules, hits: Iterable[_Hit], doubtful: int) -> int:
        """Add the steps of a policy, and return the ports that it may pass; others may decide the doubtful ones."""
        passed = 0
        for rule, certain, possible in hits:
            for action in rule.actions:
                self._add(policy, rule, action, (0 if rule.is_open else certain & ~doubtful, possible))
                passed |= possible if action == "Pass" else 0
            doubtful |= possible
        return passed

    def through_network_policies(self, reached: int) -> int:
        """Ask the NetworkPolicies, which add up, and return the ports that are left to the next tier.

        These are none if a NetworkPolicy certainly isolates the Pod.
        """
        policies, is_own_node = self._chain.network, self._chain.is_own_node
        doubtful, allowed = self.may_allow | self.may_deny, 0
        granted_by_policy: list[int] = []
        for selecting in policies:
            granted = reached if is_own_node else 0
            if is_own_node is not False:
                certain = granted & ~doubtful if selecting.is_certain else 0
                self._add(selecting.policy, None, "Allow", (certain, reached))
            for rule in selecting.policy.rules(self._chain.direction):
                certain, possible = self._match(selecting.policy, rule)
                granted |= certain & reached
                certain = certain & reached & ~doubtful if selecting.is_certain else 0
                self._add(selecting.policy, rule, "Allow", (certain, possible & reached))
            granted_by_policy.append(granted)
            allowed |= granted if selecting.is_certain else 0
        denied = reached & ~allowed
        surely_denied = denied & ~self.may_allow & ~doubtful
        for selecting, granted in zip(policies, granted_by_policy, strict=True):
            self._add(selecting.policy, None, "Deny", (surely_denied if selecting.is_certain else 0, denied & ~granted))
        return 0 if any(selecting.is_certain for selecting in policies) else reached

    def _add(self, policy: PolicyRules, rule: Rule | None, action: Action, ports: Ports) -> None:
        certain, possible = ports
        if possible:
            self.steps.append(Step(policy=policy, rule=rule, action=action, certain=certain, possible=possible))
            self.may_allow |= possible if action == "Allow" else 0
            self.may_deny |= possible if action == "Deny" else 0


def _union(sets: Iterable[int]) -> int:
    """Return the ports in any of some sets."""
    return reduce(int.__or__, sets, 0)
