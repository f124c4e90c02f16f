"""Match peers of rules: sets of Pods by labels, addresses and nodes, and single addresses outside the cluster."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from kubectl_policy.lazy import cached_method
from kubectl_policy.network.nodes import Nodes, any_of
from kubectl_policy.network.policy import Block
from kubectl_policy.topology.workloads import NO_PODS, PodSet, Workloads
from kubectl_policy.topology.workloads.pod_sets import positions_in

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping
    from ipaddress import IPv4Address, IPv6Address

    from kubectl_policy.model import Json
    from kubectl_policy.network.policy import Peer, PolicyRules, Rule, Selection, Tier

_VERSIONS: Final = (4, 6)


class Matching:
    """Which workloads and addresses the policies of one snapshot are about, and match as peers."""

    def __init__(self, workloads: Workloads) -> None:
        """Match nothing before it is asked for."""
        self.workloads = workloads
        self.nodes = Nodes(workloads)

    @cached_method
    def subjects(self, policy: PolicyRules) -> PodSet:
        """Return the workloads that a policy applies to.

        "Note that host-networked pods are not included in subject selection" (ClusterNetworkPolicySubject); what a
        NetworkPolicy does to them is undefined.
        """
        chosen = self._selected(policy.subject, policy.tier)
        return PodSet(0, chosen.possible) if policy.is_open else chosen

    def _selected(self, selection: Selection, tier: Tier) -> PodSet:
        chosen = self.workloads.selected(selection.namespaces, selection.pods)
        outside = ~self.workloads.on_host_network
        return PodSet(
            chosen.certain & outside, chosen.possible if tier == "NetworkPolicy" else chosen.possible & outside
        )

    @cached_method
    def pods(self, policy: PolicyRules, rule: Rule) -> PodSet:
        """Return the workloads that match any peer of a rule of a policy."""
        return self._matching(policy, rule.peers)

    def pods_of_peer(self, policy: PolicyRules, peer: Peer) -> PodSet:
        """Return the workloads that match one peer of a policy."""
        return self._matching(policy, (peer,))

    def _matching(self, policy: PolicyRules, peers: Iterable[Peer] | None) -> PodSet:
        if peers is None:
            return PodSet.exactly(self.workloads.everything)
        chosen, blocks = NO_PODS, list[Block]()
        for peer in peers:
            if peer.selection:
                chosen |= self._selected(peer.selection, policy.tier)
            if peer.nodes is not None:
                chosen |= self._on_nodes(peer.nodes)
            # "Targeting in-cluster endpoints" by domain names is possible, as by those of a headless Service.
            if peer.is_open or peer.domain_names:
                chosen |= PodSet(0, self.workloads.everything)
            blocks += peer.blocks
        return chosen | self._in_blocks(blocks, policy.tier) if blocks else chosen

    def _in_blocks(self, blocks: Iterable[Block], tier: Tier) -> PodSet:
        """Return the workloads with an address in some blocks.

        "Cluster-internal traffic will be checked against the rule as well" (networks of a ClusterNetworkPolicy). Of an
        ipBlock of a NetworkPolicy, network plugins differ in whether it matches Pods. A Pod with addresses of both
        versions of IP may be reached by the one that is in no block.
        """
        inside = dict.fromkeys(_VERSIONS, NO_PODS)
        for block in blocks:
            inside[block.network.version] |= self._in_block(block)
        addresses, on_nodes = self.workloads.addresses, self.workloads.on_host_network
        certain = self.workloads.everything
        for version, pods in inside.items():
            certain &= pods.certain | ~(addresses.having[version] | addresses.unknown)
        possible = inside[4].possible | inside[6].possible
        certain &= possible & (on_nodes if tier == "NetworkPolicy" else ~0)
        return PodSet(certain, possible)

    def _in_block(self, block: Block) -> PodSet:
        """Return the workloads whose addresses of one version of IP are in a block."""
        addresses = self.workloads.addresses
        if not (block.network.prefixlen or block.excluded):
            everyone = addresses.having[block.network.version] | addresses.unknown
            return PodSet.exactly(everyone)
        inside = addresses.perhaps_within(block.network)
        excluded = 0
        for network in block.excluded:
            excluded |= addresses.within(network)
        # Addresses of nodes are public as well as private.
        on_nodes = addresses.unknown & self.workloads.on_host_network
        return PodSet(inside.certain & ~excluded, (inside.possible & ~excluded) | on_nodes)

    def _on_nodes(self, selector: Mapping[str, Json]) -> PodSet:
        """Return the workloads whose address is that of a selected Node: those on its network."""
        chosen = NO_PODS
        for node, members in self.workloads.by_node.items():
            on_network = members & self.workloads.on_host_network
            if node:
                chosen |= _members_by(on_network, self.nodes.selects_any(selector, [node]))
            else:
                for position in positions_in(on_network):
                    names = self.nodes.of(self.workloads.all[position])
                    verdict = self.nodes.selects_any(selector, names) if names else self.nodes.selects_all(selector)
                    chosen |= _members_by(1 << position, verdict)
        return chosen

    def matches_address(self, rule: Rule, address: IPv4Address | IPv6Address) -> bool | None:
        """Whether a rule matches an address that is no Pod's; None if that is not known."""
        if rule.peers is None:
            return True
        return any_of(self.peer_matches_address(peer, address) for peer in rule.peers)

    def peer_matches_address(self, peer: Peer, address: IPv4Address | IPv6Address) -> bool | None:
        """Whether one peer matches an address that is no Pod's; None if that is not known."""
        if any(_contains(block, address) for block in peer.blocks):
            return True
        # The addresses of a domain name are known to a resolver alone.
        if peer.is_open or peer.domain_names:
            return None
        return False if peer.nodes is None else self._is_node(peer.nodes, address)

    def cuts(self, rule: Rule) -> Iterator[tuple[int, int]]:
        """Yield the points, as versions of IP and numbers, at which a rule tells addresses apart."""
        for peer in rule.peers or ():
            for block in peer.blocks:
                for network in (block.network, *block.excluded):
                    yield network.version, int(network.network_address)
                    yield network.version, int(network.broadcast_address) + 1
            for address in self.nodes.by_address if peer.nodes is not None else ():
                yield address.version, int(address)
                yield address.version, int(address) + 1

    def _is_node(self, selector: Mapping[str, Json], address: IPv4Address | IPv6Address) -> bool | None:
        """Whether an address is in "the node.Status.Addresses field" of a selected Node."""
        names = self.nodes.by_address.get(address)
        if names is None:
            return False if self.nodes.are_known else None
        return self.nodes.selects_any(selector, names)


def _members_by(members: int, verdict: bool | None) -> PodSet:  # noqa: FBT001 (the verdict is no option)
    """Return workloads as members of a set by one verdict about all of them."""
    return NO_PODS if verdict is False else PodSet(members if verdict else 0, members)


def _contains(block: Block, address: IPv4Address | IPv6Address) -> bool:
    inside = address.version == block.network.version and address in block.network
    return inside and not any(address.version == network.version and address in network for network in block.excluded)
