"""Read network policies of each kind and version into `PolicyRules`, as their API types say."""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial
from ipaddress import ip_network
from typing import TYPE_CHECKING, Final

from kubectl_policy.model import FieldPath, GroupKind
from kubectl_policy.model.fields import Json, integer_at, items_at, mapping_at, strings_at, text_at, value_at
from kubectl_policy.model.unknown import is_unfilled
from kubectl_policy.network.kinds import (
    ADMIN_NETWORK_POLICY,
    BASELINE_ADMIN_NETWORK_POLICY,
    CLUSTER_NETWORK_POLICY,
    NETWORK_POLICY,
)
from kubectl_policy.network.policy import (
    DIRECTIONS,
    MAX_PORT,
    PROTOCOLS,
    Action,
    Block,
    Direction,
    NamedPort,
    Peer,
    PolicyRules,
    PortMatch,
    PortRange,
    Protocol,
    Rule,
    Selection,
    Tier,
)

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence
    from ipaddress import IPv4Network, IPv6Network

    from kubectl_policy.model import Resource

_PEERS: Final[Mapping[Direction, str]] = {"ingress": "from", "egress": "to"}
# The words of v1alpha1 and v1alpha2 (AdminNetworkPolicyRuleAction, ClusterNetworkPolicyRuleAction).
_ACTIONS: Final[Mapping[str, Action]] = {"Allow": "Allow", "Accept": "Allow", "Deny": "Deny", "Pass": "Pass"}
_PROTOCOL_FIELDS: Final[Mapping[str, Protocol]] = {"tcp": "TCP", "udp": "UDP", "sctp": "SCTP"}


def read_policy(resource: Resource, raw: Mapping[str, Json]) -> PolicyRules:
    """Read a network policy, whose content may have defaults filled in."""
    return _READERS[resource.ref.group_kind](resource, raw)


def _network_policy(resource: Resource, raw: Mapping[str, Json]) -> PolicyRules:
    """Read a NetworkPolicy (kubernetes/api, networking/v1/types.go, NetworkPolicySpec).

    "If no policyTypes are specified ... will default to Ingress; and Egress if the policy has any egress rules."
    """
    types = strings_at(raw, "spec.policyTypes")
    declared = types or ["Ingress", *(["Egress"] if items_at(raw, "spec.egress") else [])]
    isolates = frozenset[Direction](direction for direction in DIRECTIONS if direction.title() in declared)
    namespace = resource.ref.namespace

    def rules(direction: Direction) -> tuple[Rule, ...]:
        if direction not in isolates:
            return ()
        fields = _fields(raw, f"spec.{direction}")
        return tuple(_allowing_rule(field, rule, _PEERS[direction], namespace) for field, rule in fields)

    return PolicyRules(
        ref=resource.ref,
        tier="NetworkPolicy",
        priority=None,
        subject=Selection(namespaces=namespace, pods=mapping_at(raw, "spec.podSelector")),
        ingress=rules("ingress"),
        egress=rules("egress"),
        isolates=isolates,
    )


def _allowing_rule(field: FieldPath, rule: Mapping[str, Json], peers_field: str, namespace: str) -> Rule:
    """Read a rule of a NetworkPolicy: "if this field is empty or missing, this rule matches all" sources or ports."""
    peers = tuple(_pod_or_block(path, peer, namespace) for path, peer in _fields(rule, peers_field, field))
    ports: list[PortMatch] = [port for _, entry in _fields(rule, "ports", field) if (port := _port(entry))]
    return Rule(
        field=field,
        name="",
        action="Allow",
        peers=peers if items_at(rule, peers_field) else None,
        ports=tuple(ports) if items_at(rule, "ports") else None,
    )


def _pod_or_block(field: FieldPath, peer: Mapping[str, Json], namespace: str) -> Peer:
    """Read a NetworkPolicyPeer: "If ipBlock is set then neither of the other fields can be"."""
    block = value_at(peer, "ipBlock")
    if isinstance(block, Mapping):
        excluded = strings_at(block, "except")
        return Peer(
            field=field,
            blocks=tuple(_blocks([text_at(block, "cidr")], excluded)),
            is_open=any(map(is_unfilled, (text_at(block, "cidr"), *excluded))),
        )
    names = value_at(peer, "namespaceSelector"), value_at(peer, "podSelector")
    if not any(isinstance(selector, Mapping) for selector in names):
        return Peer(field=field)
    namespaces, pods = names
    return Peer(
        field=field,
        selection=Selection(
            namespaces=namespaces if isinstance(namespaces, Mapping) else namespace,
            pods=pods if isinstance(pods, Mapping) else {},
        ),
    )


def _port(port: Mapping[str, Json]) -> PortMatch | None:
    """Read a NetworkPolicyPort: protocol TCP by default; without a port, all ports of the protocol."""
    protocol = _protocol(text_at(port, "protocol") or "TCP")
    number = value_at(port, "port")
    if protocol is None:
        return None
    if isinstance(number, str):
        return NamedPort(number, protocol)
    first = integer_at(port, "port")
    if first is None:
        return PortRange(protocol, 1, MAX_PORT)
    return _port_range(protocol, first, integer_at(port, "endPort"))


def _port_range(protocol: Protocol, first: int, last: int | None) -> PortRange | None:
    first, last = max(first, 1), min(first if last is None else last, MAX_PORT)
    return PortRange(protocol, first, last) if first <= last else None


def read_port(kind: GroupKind, entry: Mapping[str, Json]) -> PortMatch | None:
    """Read an entry of the ports, or protocols, of a rule of some kind; None if it matches nothing."""
    return _port(entry) if kind == NETWORK_POLICY else _cluster_port(entry)


def _admin_policy(tier: Tier | None, protocols_field: str, resource: Resource, raw: Mapping[str, Json]) -> PolicyRules:
    """Read a policy for the whole cluster (kubernetes-sigs/network-policy-api, apis/v1alpha1 and apis/v1alpha2).

    The tier of a ClusterNetworkPolicy is one of its fields.
    """
    rules = {
        direction: tuple(
            _acting_rule(field, rule, _PEERS[direction], protocols_field)
            for field, rule in _fields(raw, f"spec.{direction}")
        )
        for direction in DIRECTIONS
    }
    return PolicyRules(
        ref=resource.ref,
        tier=tier or ("Baseline" if text_at(raw, "spec.tier") == "Baseline" else "Admin"),
        priority=integer_at(raw, "spec.priority"),
        subject=_subject(mapping_at(raw, "spec.subject")) or Selection(namespaces="", pods={}),
        ingress=rules["ingress"],
        egress=rules["egress"],
    )


def _subject(holder: Mapping[str, Json]) -> Selection | None:
    """Read the subject of a policy, or a peer, by `namespaces` or by `pods`."""
    namespaces, pods = value_at(holder, "namespaces"), value_at(holder, "pods")
    if isinstance(namespaces, Mapping):
        return Selection(namespaces=namespaces, pods={})
    if isinstance(pods, Mapping):
        return Selection(namespaces=mapping_at(pods, "namespaceSelector"), pods=mapping_at(pods, "podSelector"))
    return None


def _acting_rule(field: FieldPath, rule: Mapping[str, Json], peers_field: str, protocols_field: str) -> Rule:
    """Read a rule of a policy for the whole cluster.

    "If an implementation sees no fields are set then ... it should fail closed. For "Accept" rules, ... treat the rule
    as matching no traffic. For "Deny" and "Pass" rules, ... treat the rule as a "Deny all" rule" (of peers).
    """
    action = _ACTIONS.get(text_at(rule, "action"))
    peers = tuple(_cluster_peer(path, peer) for path, peer in _fields(rule, peers_field, field))
    name = text_at(rule, "name")
    if action is None or not all(peer.is_understood for peer in peers):
        failing: Action = "Allow" if action == "Allow" else "Deny"
        return Rule(field=field, name=name, action=failing, peers=() if action == "Allow" else None, ports=None)
    entries = [entry for _, entry in _fields(rule, protocols_field, field)]
    ports: list[PortMatch] = [port for entry in entries if (port := _cluster_port(entry))]
    return Rule(field=field, name=name, action=action, peers=peers, ports=tuple(ports) if entries else None)


def _cluster_peer(field: FieldPath, peer: Mapping[str, Json]) -> Peer:
    nodes = value_at(peer, "nodes")
    return Peer(
        field=field,
        selection=_subject(peer),
        blocks=tuple(_blocks(strings_at(peer, "networks"))),
        nodes=nodes if isinstance(nodes, Mapping) else None,
        domain_names=tuple(strings_at(peer, "domainNames")),
        is_open=any(map(is_unfilled, (*strings_at(peer, "networks"), *strings_at(peer, "domainNames")))),
    )


def _cluster_port(entry: Mapping[str, Json]) -> PortMatch | None:
    """Read an AdminNetworkPolicyPort of v1alpha1, or a ClusterNetworkPolicyProtocol of v1alpha2."""
    name = text_at(entry, "namedPort") or text_at(entry, "destinationNamedPort")
    if name:
        return NamedPort(name)
    for field, by_field in _PROTOCOL_FIELDS.items():
        if isinstance(value_at(entry, field), Mapping):
            port = mapping_at(entry, f"{field}.destinationPort")
            first, last = integer_at(port, "range.start"), integer_at(port, "range.end")
            number = integer_at(port, "number")
            if number is None and first is None:
                return PortRange(by_field, 1, MAX_PORT)
            return _port_range(by_field, number or first or 0, last if number is None else None)
    for field, first_field in (("portNumber", "port"), ("portRange", "start")):
        port = mapping_at(entry, field)
        protocol = _protocol(text_at(port, "protocol") or "TCP")
        first = integer_at(port, first_field)
        if protocol and first is not None:
            return _port_range(protocol, first, integer_at(port, "end"))
    return None


def _protocol(text: str) -> Protocol | None:
    return next((protocol for protocol in PROTOCOLS if protocol == text), None)


def _blocks(networks: Sequence[str], excluded: Sequence[str] = ()) -> Iterator[Block]:
    """Parse ranges of addresses; one that no API server accepts matches nothing."""
    for text in networks:
        network = parse_network(text)
        if network:
            yield Block(network=network, excluded=tuple(filter(None, map(parse_network, excluded))))


def parse_network(text: str) -> IPv4Network | IPv6Network | None:
    """Parse a range of addresses (`10.0.0.0/8`); None for any other text."""
    try:
        return ip_network(text, strict=False) if "/" in text else None
    except ValueError:
        return None


def _fields(
    holder: Json,
    path: str,
    above: FieldPath = FieldPath(),  # noqa: B008 (a value)
) -> Iterator[tuple[FieldPath, Mapping[str, Json]]]:
    """Yield the mappings in a list, with their fields."""
    steps = (*above.steps, *FieldPath.parse(path).steps)
    for position, item in enumerate(items_at(holder, path)):
        if isinstance(item, Mapping):
            yield FieldPath((*steps, position)), item


_READERS: Final[Mapping[GroupKind, Callable[[Resource, Mapping[str, Json]], PolicyRules]]] = {
    NETWORK_POLICY: _network_policy,
    ADMIN_NETWORK_POLICY: partial(_admin_policy, "Admin", "ports"),
    BASELINE_ADMIN_NETWORK_POLICY: partial(_admin_policy, "Baseline", "ports"),
    CLUSTER_NETWORK_POLICY: partial(_admin_policy, None, "protocols"),
}
