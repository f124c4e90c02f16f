"""Match peers of rules: sets of Pods by labels, addresses and nodes, and single addresses outside the cluster."""

from __future__ import annotations

from functools import cached_property
from typing import TYPE_CHECKING, Final

from kubectl_policy.lazy import cached_method
from kubectl_policy.model import ObjectRef
from kubectl_policy.model.fields import labels_of, mappings_at, text_at
from kubectl_policy.model.kind_roles import NODE
from kubectl_policy.model.selectors import selects
from kubectl_policy.topology.workloads import NO_PODS, PodSet, Workloads
from kubectl_policy.topology.workloads.workload import parse_address

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping
    from ipaddress import IPv4Address, IPv6Address

    from kubectl_policy.model import Json
    from kubectl_policy.network.policy import Block, Peer, PolicyRules, Rule, Selection, Tier

_VERSIONS: Final = frozenset({4, 6})


class Matching:
    """Which workloads and addresses the policies of one snapshot are about, and match as peers."""

    def __init__(self, workloads: Workloads) -> None:
        """Match nothing before it is asked for."""
        self.workloads = workloads

    @cached_method
    def subjects(self, policy: PolicyRules) -> PodSet:
        """Return the workloads that a policy applies to.

        "Note that host-networked pods are not included in subject selection" (ClusterNetworkPolicySubject); what a
        NetworkPolicy does to them is undefined.
        """
        return self._selected(policy.subject, policy.tier)

    def _selected(self, selection: Selection, tier: Tier) -> PodSet:
        chosen = self.workloads.selected(selection.namespaces, selection.pods)
        outside = ~self.workloads.on_host_network
        return PodSet(
            chosen.certain & outside, chosen.possible if tier == "NetworkPolicy" else chosen.possible & outside
        )

    @cached_method
    def pods(self, policy: PolicyRules, rule: Rule) -> PodSet:
        """Return the workloads that match any peer of a rule of a policy."""
        if rule.peers is None:
            return PodSet.exactly(self.workloads.everything)
        chosen = NO_PODS
        for peer in rule.peers:
            chosen |= self.pods_of_peer(policy, peer)
        return chosen | self._everywhere(rule) if policy.tier != "NetworkPolicy" else chosen

    def pods_of_peer(self, policy: PolicyRules, peer: Peer) -> PodSet:
        """Return the workloads that match one peer of a policy."""
        chosen = self._selected(peer.selection, policy.tier) if peer.selection else NO_PODS
        for block in peer.blocks:
            chosen |= self._in_block(block, policy.tier)
        if peer.nodes is not None:
            chosen |= self._on_nodes(peer.nodes)
        return chosen | PodSet(0, self.workloads.everything) if peer.is_open else chosen

    def _in_block(self, block: Block, tier: Tier) -> PodSet:
        """Return the workloads with an address in a block.

        "Cluster-internal traffic will be checked against the rule as well" (networks of a ClusterNetworkPolicy). Of an
        ipBlock of a NetworkPolicy, network plugins differ in whether it matches Pods.
        """
        addresses = self.workloads.addresses
        inside = addresses.perhaps_within(block.network)
        for network in block.excluded:
            hole = addresses.perhaps_within(network)
            known = hole.certain & ~addresses.unknown
            inside = PodSet(inside.certain & ~known, inside.possible & ~known)
        on_nodes = self.workloads.on_host_network
        return PodSet(inside.certain & on_nodes, inside.possible) if tier == "NetworkPolicy" else inside

    def _everywhere(self, rule: Rule) -> PodSet:
        """Return the workloads of unknown address if a rule matches all addresses, whatever their version."""
        blocks = [block for peer in rule.peers or () for block in peer.blocks]
        whole = {block.network.version for block in blocks if not (block.network.prefixlen or block.excluded)}
        return PodSet.exactly(self.workloads.addresses.unknown) if whole == _VERSIONS else NO_PODS

    def _on_nodes(self, selector: Mapping[str, Json]) -> PodSet:
        """Return the workloads whose address is that of a selected Node: those on its network."""
        chosen = NO_PODS
        for node, members in self.workloads.by_node.items():
            on_network = members & self.workloads.on_host_network
            verdict = self._selects_node(selector, node) if on_network else False
            if verdict is not False:
                chosen |= PodSet(on_network if verdict else 0, on_network)
        return chosen

    def _selects_node(self, selector: Mapping[str, Json], name: str) -> bool | None:
        index, ref = self.workloads.index, ObjectRef(NODE, "", name)
        resource = index.get(ref) if name else None
        if resource is None:
            return True if not selector else False if index.presence(ref) == "missing" else None
        return selects(selector, labels_of(resource.raw))

    def matches_address(self, rule: Rule, address: IPv4Address | IPv6Address) -> bool | None:
        """Whether a rule matches an address that is no Pod's; None if that is not known."""
        if rule.peers is None:
            return True
        return any_of(self.peer_matches_address(peer, address) for peer in rule.peers)

    def peer_matches_address(self, peer: Peer, address: IPv4Address | IPv6Address) -> bool | None:
        """Whether one peer matches an address that is no Pod's; None if that is not known."""
        in_block = any(_contains(block, address) for block in peer.blocks)
        is_node = peer.nodes is not None and self._is_node(peer.nodes, address)
        # The addresses of a domain name are known to a resolver alone.
        may_match = peer.is_open or bool(peer.domain_names)
        return True if in_block or is_node else None if may_match or is_node is None else False

    def cuts(self, rule: Rule) -> Iterator[tuple[int, int]]:
        """Yield the points, as versions of IP and numbers, at which a rule tells addresses apart."""
        for peer in rule.peers or ():
            for block in peer.blocks:
                for network in (block.network, *block.excluded):
                    yield network.version, int(network.network_address)
                    yield network.version, int(network.broadcast_address) + 1
            for address in self._node_addresses if peer.nodes is not None else ():
                yield address.version, int(address)
                yield address.version, int(address) + 1

    @property
    def _node_addresses(self) -> Iterator[IPv4Address | IPv6Address]:
        for resource in self.workloads.index.of_kind(NODE):
            texts = (text_at(entry, "address") for entry in mappings_at(resource.raw, "status.addresses"))
            yield from filter(None, map(parse_address, texts))

    def _is_node(self, selector: Mapping[str, Json], address: IPv4Address | IPv6Address) -> bool | None:
        """Whether an address is in "the node.Status.Addresses field" of a selected Node."""
        nodes = self.workloads.index.of_kind(NODE)
        for resource in nodes:
            texts = (text_at(entry, "address") for entry in mappings_at(resource.raw, "status.addresses"))
            if address in map(parse_address, texts):
                return selects(selector, labels_of(resource.raw))
        is_known = bool(nodes) or self.workloads.index.presence(ObjectRef(NODE, "", "")) == "missing"
        return False if is_known and not self._are_nodes_hidden else None

    @cached_property
    def _are_nodes_hidden(self) -> bool:
        """Whether there may be Nodes that could not be read."""
        return any(gap.covers(ObjectRef(NODE, "", gap.name)) for gap in self.workloads.index.snapshot.gaps)


def any_of(verdicts: Iterable[bool | None]) -> bool | None:
    """Whether one of some verdicts is true; None if one of them is not known, and none is true."""
    is_unknown = False
    for verdict in verdicts:
        if verdict:
            return True
        is_unknown |= verdict is None
    return None if is_unknown else False


def _contains(block: Block, address: IPv4Address | IPv6Address) -> bool:
    inside = address.version == block.network.version and address in block.network
    return inside and not any(address.version == network.version and address in network for network in block.excluded)
