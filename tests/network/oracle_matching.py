"""Match selectors, peers and ports of a rule against a connection, in one reading of what the APIs leave open."""

from __future__ import annotations

import json
from typing import Literal, TypeAlias

from msgspec import Struct

from tests.network.oracle_readings import Reading
from tests.network.oracle_world import Address, End, Labels, Manifest, Pod, World, block

Side: TypeAlias = Literal["ingress", "egress"]


class Connection(Struct, frozen=True, kw_only=True):
    """A connection of a world in one reading."""

    world: World
    reading: Reading
    source: End
    destination: End
    port: int
    protocol: str

    def subject(self, side: Side) -> End:
        """Return the end whose policies are asked: ingress is the destination's, egress the source's."""
        return self.destination if side == "ingress" else self.source

    def peer(self, side: Side) -> End:
        """Return the end that the rules of that side select by their peers."""
        return self.source if side == "ingress" else self.destination

    def destination_is_host_pod(self) -> bool:
        """Whether the destination has the ports of its node."""
        return isinstance(self.destination, Pod) and self.destination.host_network

    def host_pods_are_pods(self) -> bool:
        """Whether the network plugin tells host-network pods from their nodes: the documentation leaves it open."""
        return self.reading.choose("host-network pods are pods to NetworkPolicy", (True, False))

    def node_of(self, pod: Pod) -> str:
        """Return the node of a pod; any, one of no name or one for itself, where nothing says which."""
        if pod.node:
            return pod.node
        names = self.world.node_names()
        by_address = [name for name in names if pod.host_network and self.world.node_addresses(name) & {*pod.addresses}]
        return self.reading.choose(("node", pod.key), by_address or [*names, "a node", f"a node of {pod.key}"])

    def address(self, end: End) -> Address | None:
        """Return the address of an end in this connection: one family, and any address where it has none yet."""
        families = {address.version for address in self._addresses(self.source)}
        families &= {address.version for address in self._addresses(self.destination)}
        family = self.reading.choose("family", sorted(families or {4, 6}))
        addresses = [address for address in self._addresses(end) if address.version == family]
        question = ("address", end.key if isinstance(end, Pod) else end)
        return self.reading.choose(question, addresses) if addresses else None

    def _addresses(self, end: End) -> list[Address]:
        if not isinstance(end, Pod):
            return [end]
        addresses = list(end.addresses)
        if end.host_network and not addresses:
            addresses = sorted(self.world.node_addresses(self.node_of(end)), key=str)
        return addresses or self.world.all_addresses


def matches(selector: Manifest, labels: Labels) -> bool:
    """Whether a label selector selects an object: all its requirements hold; an empty one selects everything."""
    return all(labels.get(key) == value for key, value in (selector.get("matchLabels") or {}).items()) and all(
        _holds(requirement, labels) for requirement in selector.get("matchExpressions") or []
    )


def _holds(requirement: Manifest, labels: Labels) -> bool:
    key, values = requirement["key"], requirement.get("values") or []
    return {
        "In": key in labels and labels[key] in values,
        "NotIn": key not in labels or labels[key] not in values,
        "Exists": key in labels,
        "DoesNotExist": key not in labels,
    }[requirement["operator"]]


def pod_matches(world: World, selection: Manifest, pod: Pod) -> bool:
    """Whether a pair of a namespaceSelector and a podSelector selects a pod; one that is absent excludes nothing."""
    return matches(selection.get("namespaceSelector") or {}, world.namespace_labels(pod.namespace)) and matches(
        selection.get("podSelector") or {}, pod.labels
    )


def subject_matches(world: World, subject: Manifest, pod: Pod) -> bool:
    """Whether the subject of a cluster-scoped policy, or a peer of the same fields, selects a pod."""
    if pod.host_network:
        return False
    if subject.get("namespaces") is not None:
        return matches(subject["namespaces"], world.namespace_labels(pod.namespace))
    return subject.get("pods") is not None and pod_matches(world, subject["pods"], pod)


def cluster_peer_matches(connection: Connection, peer: Manifest, end: End) -> bool:
    """Whether a peer of a cluster-scoped policy selects an end of a connection."""
    if peer.get("nodes") is not None:
        return _nodes_match(connection, peer["nodes"], end)
    if peer.get("networks") is not None:
        address = connection.address(end)
        return address is not None and any(address in block(text) for text in peer["networks"])
    if peer.get("domainNames") is not None:
        return _either(connection, "resolves to the end", peer)
    return isinstance(end, Pod) and subject_matches(connection.world, peer, end)


def _nodes_match(connection: Connection, selector: Manifest, end: End) -> bool:
    """Whether an end is a selected node: by an address of the node, or as a host-network pod that runs on it."""
    if isinstance(end, Pod):
        return end.host_network and _node_selected(connection, selector, connection.node_of(end))
    world = connection.world
    nodes = [node for node in world.node_names() if end in world.node_addresses(node)]
    return any(_node_selected(connection, selector, node) for node in nodes)


def _node_selected(connection: Connection, selector: Manifest, node: str) -> bool:
    labels = connection.world.nodes.get(node)
    if labels is not None:
        return matches(selector, labels)
    # The labels of a node without an object are unknown, but no node escapes the empty selector.
    return not any(selector.values()) or _either(connection, "labels", node, selector)


def _either(connection: Connection, *question: object) -> bool:
    """Choose yes or no where the manifests or the API do not say which."""
    return connection.reading.choose(json.dumps(question), (True, False))


def network_peer_matches(connection: Connection, namespace: str, peer: Manifest, end: End) -> bool:
    """Whether a peer of a NetworkPolicy in a namespace selects an end of a connection."""
    if peer.get("ipBlock") is not None:
        return _ip_block_matches(connection, peer["ipBlock"], end)
    if not isinstance(end, Pod) or (peer.get("podSelector") is None and peer.get("namespaceSelector") is None):
        return False
    if peer.get("namespaceSelector") is None and end.namespace != namespace:
        return False
    return pod_matches(connection.world, peer, end) and (not end.host_network or connection.host_pods_are_pods())


def _ip_block_matches(connection: Connection, ip_block: Manifest, end: End) -> bool:
    # A host-network pod has the address of its node; those of other pods count for some network plugins only.
    if isinstance(end, Pod) and not end.host_network and not _either(connection, "ipBlock matches pods"):
        return False
    address = connection.address(end)
    inside = address is not None and address in block(ip_block["cidr"])
    return inside and not any(address in block(text) for text in ip_block.get("except") or [])


def network_port_matches(connection: Connection, entry: Manifest) -> bool:
    """Whether an entry of `ports` of a NetworkPolicy covers the port of a connection."""
    if (entry.get("protocol") or "TCP") != connection.protocol:
        return False
    port = entry.get("port")
    if isinstance(port, str):
        return _has_named_port(connection, port) and (
            not connection.destination_is_host_pod() or connection.host_pods_are_pods()
        )
    return port is None or port <= connection.port <= (entry.get("endPort") or port)


def cluster_port_matches(connection: Connection, entry: Manifest) -> bool:
    """Whether an entry of `ports` or `protocols` of a cluster-scoped policy covers the port of a connection."""
    name = entry.get("namedPort") or entry.get("destinationNamedPort")
    if name:
        return _has_named_port(connection, name) and not connection.destination_is_host_pod()
    if number := entry.get("portNumber"):
        return _covers(connection, number, number["port"], number["port"])
    if port_range := entry.get("portRange"):
        return _covers(connection, port_range, port_range["start"], port_range["end"])
    for field in ("tcp", "udp", "sctp"):
        if entry.get(field) is not None:
            return field.upper() == connection.protocol and _destination_matches(connection, entry[field])
    return _either(connection, "unknown port", entry)


def _covers(connection: Connection, entry: Manifest, first: int, last: int) -> bool:
    return (entry.get("protocol") or "TCP") == connection.protocol and first <= connection.port <= last


def _destination_matches(connection: Connection, protocol: Manifest) -> bool:
    port = protocol.get("destinationPort")
    if port is None:
        return True
    if "number" in port:
        return bool(port["number"] == connection.port)
    return bool(port["range"]["start"] <= connection.port <= port["range"]["end"])


def _has_named_port(connection: Connection, name: str) -> bool:
    """Whether the destination is a pod that calls the port of a connection by a name."""
    return isinstance(connection.destination, Pod) and (
        (name, connection.protocol, connection.port) in connection.destination.ports
    )
