"""Objects of a world as the judge looks them up: pods, nodes, namespaces, and the addresses that pods may have."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from ipaddress import IPv4Address, IPv4Network, IPv6Address, IPv6Network, ip_address, ip_network
from typing import Any, TypeAlias

from msgspec import Struct

Manifest: TypeAlias = dict[str, Any]
Labels: TypeAlias = dict[str, str]
Address: TypeAlias = IPv4Address | IPv6Address
Network: TypeAlias = IPv4Network | IPv6Network

# An address that no block of a world contains, unless it contains all: the rest of the Internet.
_FALLBACKS = ("192.0.2.1", "2001:db8::1")


class Pod(Struct, frozen=True, kw_only=True):
    """A pod, as far as policies look at it; `node` is empty where it is not scheduled."""

    namespace: str
    name: str
    labels: Labels
    host_network: bool
    node: str
    addresses: tuple[Address, ...]
    ports: tuple[tuple[str, str, int], ...]
    """Name, protocol and number of every container port."""

    @property
    def key(self) -> str:
        """Return the name of the pod in verdicts and selections."""
        return f"Pod/{self.namespace}/{self.name}"


End: TypeAlias = Pod | Address


class World:
    """A list of manifests, by kind."""

    def __init__(self, objects: Sequence[Manifest]) -> None:
        self.pods = {(pod.namespace, pod.name): pod for pod in map(_pod, _of_kind(objects, "Pod"))}
        self._namespaces = {item["metadata"]["name"]: _labels(item) for item in _of_kind(objects, "Namespace")}
        self.nodes = {item["metadata"]["name"]: _labels(item) for item in _of_kind(objects, "Node")}
        self._node_addresses: dict[str, set[Address]] = {name: set() for name in self.nodes}
        for item in _of_kind(objects, "Node"):
            self._node_addresses[item["metadata"]["name"]] |= set(_node_addresses(item))
        for item in _of_kind(objects, "Pod"):
            self._node_addresses.setdefault(_pod(item).node, set()).update(_host_addresses(item))
        self._node_addresses.pop("", None)
        self.policies = [item for item in objects if item["kind"].endswith("NetworkPolicy")]
        self.all_addresses = _representatives(self.policies)

    def namespace_labels(self, namespace: str) -> Labels:
        """Return the labels of a namespace, with the one that the API server sets on all of them."""
        return {**self._namespaces.get(namespace, {}), "kubernetes.io/metadata.name": namespace}

    def node_addresses(self, node: str) -> set[Address]:
        """Return the addresses of a node: its own, and what its pods say of it."""
        return self._node_addresses.get(node, set())

    def node_names(self) -> list[str]:
        """Return every node that an object or a pod names."""
        return list(self._node_addresses)


def spec_of(item: Manifest) -> Manifest:
    """Return the spec of an object; NetworkPolicies may leave theirs out."""
    return item.get("spec") or {}


def _of_kind(objects: Sequence[Manifest], kind: str) -> Iterator[Manifest]:
    return (item for item in objects if item["kind"] == kind)


def _labels(item: Manifest) -> Labels:
    return item["metadata"].get("labels") or {}


def _pod(item: Manifest) -> Pod:
    spec, status = spec_of(item), item.get("status") or {}
    # A sidecar is an init container that keeps running; the ports of the rest are closed once the pod runs.
    sidecars = [init for init in spec.get("initContainers") or [] if init.get("restartPolicy") == "Always"]
    texts = [*(entry["ip"] for entry in status.get("podIPs") or []), *([status["podIP"]] if "podIP" in status else [])]
    return Pod(
        namespace=item["metadata"].get("namespace") or "default",
        name=item["metadata"]["name"],
        labels=_labels(item),
        host_network=bool(spec.get("hostNetwork")),
        node=spec.get("nodeName") or "",
        addresses=tuple(dict.fromkeys(map(ip_address, texts))),
        ports=tuple(
            (port.get("name", ""), port.get("protocol", "TCP"), port["containerPort"])
            for container in [*(spec.get("containers") or []), *sidecars]
            for port in container.get("ports") or []
        ),
    )


def _host_addresses(pod: Manifest) -> Iterator[Address]:
    """Yield addresses of the pod's node: of a host-network pod they are its own."""
    status = pod.get("status") or {}
    yield from (ip_address(entry["ip"]) for entry in status.get("hostIPs") or [])
    if "hostIP" in status:
        yield ip_address(status["hostIP"])
    if spec_of(pod).get("hostNetwork"):
        yield from _pod(pod).addresses


def _node_addresses(node: Manifest) -> Iterator[Address]:
    """Yield addresses of a Node without its names, which are listed beside them."""
    for entry in (node.get("status") or {}).get("addresses") or []:
        if entry["type"] in {"InternalIP", "ExternalIP"}:
            yield ip_address(entry["address"])


def _representatives(policies: Sequence[Manifest]) -> list[Address]:
    """Return one address of every set that the blocks of all policies tell apart: what lies in the same of them."""
    networks = [block(text) for text in _blocks(policies)]
    addresses = set(map(ip_address, _FALLBACKS))
    # Blocks nest or are disjoint, so a set begins or ends where a block does.
    for network in networks:
        first, last = network[0], network[-1]
        addresses |= {first, last}
        if int(first) > 0:
            addresses.add(first - 1)
        if int(last) + 1 < 2**network.max_prefixlen:
            addresses.add(last + 1)
    ordered = sorted(addresses, key=lambda address: (address.version, int(address)))
    by_set = {(address.version, *(address in network for network in networks)): address for address in ordered}
    return list(by_set.values())


def block(text: str) -> Network:
    """Parse a CIDR as net.ParseCIDR does, which masks the bits of the host."""
    return ip_network(text, strict=False)


def peers(policy: Manifest, side: str) -> Iterator[Manifest]:
    """Yield every peer of the rules of a policy on one side, `ingress` or `egress`."""
    for rule in spec_of(policy).get(side) or []:
        yield from rule.get("from" if side == "ingress" else "to") or []


def _blocks(policies: Sequence[Manifest]) -> Iterator[str]:
    """Yield every CIDR that a peer of a policy names, also those that it excepts."""
    for peer in (peer for policy in policies for side in ("ingress", "egress") for peer in peers(policy, side)):
        yield from peer.get("networks") or []
        if peer.get("ipBlock"):
            yield peer["ipBlock"]["cidr"]
            yield from peer["ipBlock"].get("except") or []
