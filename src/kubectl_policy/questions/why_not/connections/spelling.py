"""Spell rules, peers and ports as each kind of network policy has them."""

from __future__ import annotations

from ipaddress import ip_network
from typing import TYPE_CHECKING, Final

from kubectl_policy.model.defaults import NAME_LABEL
from kubectl_policy.network.kinds import CLUSTER_NETWORK_POLICY, NETWORK_POLICY

if TYPE_CHECKING:
    from collections.abc import Mapping
    from ipaddress import IPv4Address, IPv6Address

    from kubectl_policy.model import GroupKind, Json
    from kubectl_policy.network.policy import Action, Direction, PortRange
    from kubectl_policy.questions.why_not.connections.case import Ports, Side
    from kubectl_policy.questions.why_not.connections.naming import NamedPods

PEERS: Final[Mapping[Direction, str]] = {"ingress": "from", "egress": "to"}


def ports_field(kind: GroupKind) -> str:
    """Return the field of a rule that has its ports."""
    return "protocols" if kind == CLUSTER_NETWORK_POLICY else "ports"


def spell_action(kind: GroupKind, action: Action) -> str:
    """Return the word that a kind has for an action."""
    return "Accept" if kind == CLUSTER_NETWORK_POLICY and action == "Allow" else action


def spell_ports(kind: GroupKind, ports: Ports) -> list[Json]:
    """Return the entries of a rule for some ports."""
    if kind == NETWORK_POLICY:
        return [{"protocol": protocol, "port": port} for protocol, port in ports]
    if kind == CLUSTER_NETWORK_POLICY:
        return [{protocol.lower(): {"destinationPort": {"number": port}}} for protocol, port in ports]
    return [{"portNumber": {"protocol": protocol, "port": port}} for protocol, port in ports]


def spell_range(kind: GroupKind, ports: PortRange) -> Json:
    """Return the entry of a rule for a range of ports."""
    if ports.first == ports.last:
        return spell_ports(kind, ((ports.protocol, ports.first),))[0]
    if kind == NETWORK_POLICY:
        return {"protocol": ports.protocol, "port": ports.first, "endPort": ports.last}
    bounds: dict[str, Json] = {"start": ports.first, "end": ports.last}
    if kind == CLUSTER_NETWORK_POLICY:
        return {ports.protocol.lower(): {"destinationPort": {"range": bounds}}}
    return {"portRange": {"protocol": ports.protocol, **bounds}}


def named(namespace: str) -> dict[str, Json]:
    """Return the selector of one namespace by its name, a label that an API server gives to every Namespace."""
    return {"matchLabels": {NAME_LABEL: namespace}}


def spell_pods(kind: GroupKind, pods: NamedPods, home: str) -> dict[str, Json]:
    """Return the peer that is some Pods, in a policy of the namespace `home`."""
    if kind == NETWORK_POLICY:
        namespaces: dict[str, Json] = {} if pods.namespace == home else {"namespaceSelector": named(pods.namespace)}
        return {**namespaces, "podSelector": pods.selector} if pods.selector or not namespaces else namespaces
    return spell_subject(pods)


def spell_subject(pods: NamedPods) -> dict[str, Json]:
    """Return the subject of a policy for the whole cluster that is some Pods."""
    if not pods.selector:
        return {"namespaces": named(pods.namespace)}
    return {"pods": {"namespaceSelector": named(pods.namespace), "podSelector": pods.selector}}


def spell_address(kind: GroupKind, direction: Direction, address: IPv4Address | IPv6Address) -> dict[str, Json] | None:
    """Return the peer that is an address outside; None where a kind has no such peers."""
    block = str(ip_network(address))
    if kind == NETWORK_POLICY:
        return {"ipBlock": {"cidr": block}}
    return {"networks": [block]} if direction == "egress" else None


def spell_peer(side: Side, kind: GroupKind, home: str = "") -> dict[str, Json] | None:
    """Return the peer that is the other end of a side, in a policy of the namespace `home`; None if there is none."""
    if side.peer.ip:
        return spell_address(kind, side.direction, side.peer.ip)
    return spell_pods(kind, side.peer_pods, home) if side.peer_pods else None


def spell_rule(side: Side, kind: GroupKind, action: Action, peer: Json) -> dict[str, Json]:
    """Return a rule for one peer and the ports of a side."""
    rule: dict[str, Json] = {} if kind == NETWORK_POLICY else {"action": spell_action(kind, action)}
    return {**rule, PEERS[side.direction]: [peer], ports_field(kind): spell_ports(kind, side.ports)}
