"""Influence of policies that differ between two states on ports that neither state decides."""

from __future__ import annotations

from typing import TYPE_CHECKING, TypeAlias

from msgspec import Struct

from kubectl_policy.network.network import ports_of

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterator

    from kubectl_policy.model import ObjectRef
    from kubectl_policy.network.evaluation import Chain, Selecting
    from kubectl_policy.network.network import Network
    from kubectl_policy.network.policy import PolicyRules, Rule
    from kubectl_policy.network.ports import PortSpace

# Whether a rule may match a peer in the state that it is of.
MayMatch: TypeAlias = "Callable[[Network, PolicyRules, Rule], bool]"


class Influence(Struct, frozen=True, eq=False):
    """The policies for one workload that only one of two states has, or that differ between them."""

    # The rules with the states that they are of.
    rules: tuple[tuple[Network, PolicyRules, Rule], ...]
    # Whether they may isolate the workload, and no policy that both states have certainly does.
    isolates: bool

    def ports(self, space: PortSpace, may_match: MayMatch) -> int:
        """Return the ports about which the policies may have a say, for one peer."""
        if self.isolates:
            return space.everything
        ports = 0
        for network, policy, rule in self.rules:
            if may_match(network, policy, rule):
                # The ports of the destination that have a name are not looked up.
                ports |= ports_of(space, rule, lambda _: (space.everything, space.everything))[1]
        return ports


def influence_of(
    before: tuple[Network, Chain], after: tuple[Network, Chain], differing: Collection[ObjectRef]
) -> Influence:
    """Return the influence of the policies that differ between two states, each with the chain of a workload."""
    states = (before, after)
    keys = [{_key(selecting) for selecting in chain.policies} for _, chain in states]
    alike = {key for key in keys[0] & keys[1] if key[0] not in differing}
    changed = [
        (network, chain, selecting)
        for network, chain in states
        for selecting in chain.policies
        if _key(selecting) not in alike
    ]
    isolated = any(selecting.is_certain and _key(selecting) in alike for selecting in before[1].network)
    return Influence(
        tuple(_rules(changed)),
        not isolated and any(selecting.policy.tier == "NetworkPolicy" for _, _, selecting in changed),
    )


def _key(selecting: Selecting) -> tuple[ObjectRef, bool]:
    return selecting.policy.ref, selecting.is_certain


def _rules(changed: Collection[tuple[Network, Chain, Selecting]]) -> Iterator[tuple[Network, PolicyRules, Rule]]:
    for network, chain, selecting in changed:
        yield from ((network, selecting.policy, rule) for rule in selecting.policy.rules(chain.direction))
