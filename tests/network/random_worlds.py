"""Random worlds of pods and network policies, as parsed manifests: small and of few words, so that policies meet.

Everything that an API server accepts may occur, and at times what a later version of an API could add (a peer of
unknown fields). `ADDRESSES` and `PORTS` are what is worth asking of every world.
"""

from __future__ import annotations

from ipaddress import IPv4Network, IPv6Network, ip_network
from random import Random
from typing import Literal, TypeAlias, TypeVar

from tests.network.oracle_world import Labels, Manifest

T = TypeVar("T")
Version: TypeAlias = Literal["v1alpha1", "v1alpha2"]

# Outside of the cluster; the last two are addresses of nodes, where the world has these nodes.
ADDRESSES = ("203.0.113.7", "203.0.113.70", "198.51.100.9", "2001:db8:9::7", "172.18.0.2", "fd00:172:18::3")
PORTS = (
    *((port, "TCP") for port in (53, 79, 80, 81, 8080, 8443, 9000)),
    *((port, "UDP") for port in (53, 80, 5353)),
    (9003, "SCTP"),
)

_KEYS = ("app", "team", "env")
_VALUES = ("a", "b")
# A name stands for different ports in different pods, and in one for another protocol.
_NAMED = {
    "web": ((80, "TCP"), (8080, "TCP")),
    "dns": ((53, "UDP"), (5353, "UDP"), (53, "TCP")),
    "signal": ((9003, "SCTP"),),
}
_BLOCKS = (
    *("0.0.0.0/0", "::/0", "203.0.113.0/24", "203.0.113.0/26", "203.0.113.64/26", "198.51.100.0/24"),
    *("2001:db8:9::/48", "10.244.0.0/16", "10.244.0.0/24", "10.244.1.3/32", "172.18.0.0/24", "172.18.0.2/32"),
    *("fd00::/8", "fd00:10:244::/64"),
)


def random_world(rng: Random, version: Version) -> list[Manifest]:
    """Return Nodes, Namespaces, Pods and up to eight policies; of cluster-scoped ones those of one version."""
    namespaces = [f"ns-{letter}" for letter in "abcde"[: rng.randint(2, 5)]]
    nodes = [_node(rng, number) for number in range(rng.randint(0, 3))]
    pods = [_pod(rng, number, rng.choice(namespaces), nodes) for number in range(rng.randint(3, 12))]
    objects = [
        *(node for node in nodes if not _rarely(rng)),
        *(_namespace(rng, name) for name in namespaces if not _sometimes(rng)),
        *pods,
        *_policies(rng, version, namespaces),
    ]
    rng.shuffle(objects)
    return objects


def _rarely(rng: Random) -> bool:
    return rng.random() < 0.05


def _sometimes(rng: Random) -> bool:
    return rng.random() < 0.2


def _some(rng: Random, options: tuple[T, ...], most: int) -> list[T]:
    return rng.sample(options, rng.randint(1, most))


def _labels(rng: Random) -> Labels:
    return {key: rng.choice(_VALUES) for key in _KEYS if rng.random() < 0.6}


def _namespace(rng: Random, name: str) -> Manifest:
    return {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": name, "labels": _labels(rng)}}


def _node(rng: Random, number: int) -> Manifest:
    addresses = [
        {"type": "Hostname", "address": f"node-{number}"},
        {"type": "InternalIP", "address": f"172.18.0.{number + 2}"},
        {"type": "InternalIP", "address": f"fd00:172:18::{number + 2}"},
    ]
    return {
        "apiVersion": "v1",
        "kind": "Node",
        "metadata": {"name": f"node-{number}", "labels": _labels(rng)},
        "status": {"addresses": addresses if _sometimes(rng) else addresses[:2]},
    }


def _pod(rng: Random, number: int, namespace: str, nodes: list[Manifest]) -> Manifest:
    """Return a pod, at times in the network of its host, without node, or without address."""
    host_network = rng.random() < 0.15
    node = rng.choice(nodes) if nodes and not _sometimes(rng) else None
    spec: Manifest = {"containers": [{"name": "main", "image": "app", "ports": _container_ports(rng)}]}
    if _rarely(rng):
        init = {"name": "sidecar", "image": "proxy", "ports": [{"name": "side", "containerPort": 9000}]}
        spec["initContainers"] = [{**init, "restartPolicy": "Always"} if _sometimes(rng) else init]
    texts = [f"10.244.{number % 3}.{number}", f"fd00:10:244::{number + 1}"]
    if host_network:
        spec["hostNetwork"] = True
        texts = []
    if node is not None:
        spec["nodeName"] = node["metadata"]["name"]
        node_texts = [entry["address"] for entry in node["status"]["addresses"] if entry["type"] == "InternalIP"]
        texts = node_texts if host_network else texts
    pod: Manifest = {"apiVersion": "v1", "kind": "Pod", "metadata": {"name": f"p{number}", "namespace": namespace}}
    if labels := _labels(rng):
        pod["metadata"]["labels"] = labels
    pod["spec"] = spec
    if texts and not _sometimes(rng):
        # A cluster has one family or two, and one primary address of each pod.
        texts = texts if _sometimes(rng) else texts[:1]
        pod["status"] = {"podIP": texts[0], "podIPs": [{"ip": text} for text in texts]}
        if node is not None and _sometimes(rng):
            pod["status"] |= {"hostIP": node_texts[0], "hostIPs": [{"ip": node_texts[0]}]}
    return pod


def _container_ports(rng: Random) -> list[Manifest]:
    ports: list[Manifest] = []
    for name, choices in _NAMED.items():
        if rng.random() < 0.6:
            number, protocol = rng.choice(choices)
            ports.append({"name": name, "containerPort": number, "protocol": protocol})
    if _sometimes(rng):
        ports.append({"containerPort": 8443})
    return ports


def _selector(rng: Random) -> Manifest:
    """Return a label selector; at times one of everything, or of nothing."""
    if rng.random() < 0.4:
        return {}
    selector: Manifest = {}
    if rng.random() < 0.6:
        selector["matchLabels"] = {rng.choice(_KEYS): rng.choice(_VALUES)}
    else:
        selector["matchExpressions"] = [_requirement(rng) for _ in range(rng.randint(1, 2))]
    if _rarely(rng):
        selector.setdefault("matchLabels", {})["app"] = "nobody"
    return selector


def _namespace_selector(rng: Random, namespaces: list[str]) -> Manifest:
    if _sometimes(rng):
        return {"matchLabels": {"kubernetes.io/metadata.name": rng.choice(namespaces)}}
    return _selector(rng)


def _requirement(rng: Random) -> Manifest:
    operator = rng.choice(("In", "NotIn", "Exists", "DoesNotExist"))
    requirement: Manifest = {"key": rng.choice(_KEYS), "operator": operator}
    return {**requirement, "values": _some(rng, _VALUES, 2)} if operator in {"In", "NotIn"} else requirement


def _policies(rng: Random, version: Version, namespaces: list[str]) -> list[Manifest]:
    count = min(rng.randint(0, 10), 8)
    # Priorities are unique, as the API advises, but in every fifth world.
    priorities = [rng.randint(0, 1) for _ in range(count)] if _sometimes(rng) else rng.sample(range(100), count)
    policies: list[Manifest] = []
    for number, priority in enumerate(priorities):
        if rng.random() < 0.4:
            policies.append(_network_policy(rng, f"np-{number}", namespaces))
        elif version == "v1alpha2":
            tier = rng.choice(("Admin", "Baseline"))
            spec = _cluster_spec(rng, namespaces, "ClusterNetworkPolicy")
            spec = {"tier": tier, "priority": priority, **spec}
            policies.append(_cluster_policy("v1alpha2", "ClusterNetworkPolicy", f"cnp-{number}", spec))
        elif rng.random() < 0.7:
            spec = {"priority": priority, **_cluster_spec(rng, namespaces, "AdminNetworkPolicy")}
            policies.append(_cluster_policy("v1alpha1", "AdminNetworkPolicy", f"anp-{number}", spec))
        elif all(policy["kind"] != "BaselineAdminNetworkPolicy" for policy in policies):
            spec = _cluster_spec(rng, namespaces, "BaselineAdminNetworkPolicy")
            policies.append(_cluster_policy("v1alpha1", "BaselineAdminNetworkPolicy", "default", spec))
    return policies


def _cluster_policy(version: Version, kind: str, name: str, spec: Manifest) -> Manifest:
    return {
        "apiVersion": f"policy.networking.k8s.io/{version}",
        "kind": kind,
        "metadata": {"name": name},
        "spec": spec,
    }


def _network_policy(rng: Random, name: str, namespaces: list[str]) -> Manifest:
    metadata = {"name": name, "namespace": rng.choice(namespaces)}
    policy: Manifest = {"apiVersion": "networking.k8s.io/v1", "kind": "NetworkPolicy", "metadata": metadata}
    if _rarely(rng):
        return policy
    spec: Manifest = {} if _rarely(rng) else {"podSelector": _selector(rng)}
    for side, peers in (("ingress", "from"), ("egress", "to")):
        if rng.random() < 0.6:
            spec[side] = [_network_rule(rng, peers, namespaces) for _ in range(rng.randint(0, 3))]
    if rng.random() < 0.6:
        spec["policyTypes"] = _some(rng, ("Ingress", "Egress"), 2)
    return {**policy, "spec": spec}


def _network_rule(rng: Random, peers: str, namespaces: list[str]) -> Manifest:
    rule: Manifest = {}
    if rng.random() < 0.8:
        rule[peers] = [_network_peer(rng, namespaces) for _ in range(rng.randint(0, 3))]
    if rng.random() < 0.6:
        rule["ports"] = [_network_port(rng) for _ in range(rng.randint(0, 3))]
    return rule


def _network_peer(rng: Random, namespaces: list[str]) -> Manifest:
    if _rarely(rng):
        return {"futureSelector": {}}
    if rng.random() < 0.3:
        cidr = rng.choice(_BLOCKS)
        inside = tuple(text for text in _BLOCKS if _is_inside(text, cidr))
        ip_block: Manifest = {"cidr": cidr}
        return {"ipBlock": {**ip_block, "except": _some(rng, inside, len(inside))} if inside else ip_block}
    peer = {"podSelector": _selector(rng), "namespaceSelector": _namespace_selector(rng, namespaces)}
    return {field: peer[field] for field in _some(rng, tuple(peer), 2)}


def _is_inside(text: str, cidr: str) -> bool:
    inner, outer = ip_network(text), ip_network(cidr)
    if isinstance(inner, IPv4Network):
        return isinstance(outer, IPv4Network) and inner != outer and inner.subnet_of(outer)
    return isinstance(outer, IPv6Network) and inner != outer and inner.subnet_of(outer)


def _network_port(rng: Random) -> Manifest:
    number, protocol = rng.choice(PORTS)
    port: Manifest = {} if _sometimes(rng) else {"protocol": protocol}
    kind = rng.choice(("number", "range", "name", "protocol"))
    if kind == "name":
        port["port"] = rng.choice((*_NAMED, "side"))
    elif kind != "protocol":
        port["port"] = number
    if kind == "range":
        port["endPort"] = number + rng.choice((0, 1, 30))
    return port


def _cluster_spec(rng: Random, namespaces: list[str], kind: str) -> Manifest:
    """Return subject and rules of a cluster-scoped policy; tier and priority are its caller's."""
    spec: Manifest = {"subject": _cluster_peer(rng, namespaces, ("namespaces", "pods"))}
    for side in ("ingress", "egress"):
        if rng.random() < 0.7:
            spec[side] = [_cluster_rule(rng, side, namespaces, kind) for _ in range(rng.randint(1, 4))]
    return spec


def _cluster_rule(rng: Random, side: str, namespaces: list[str], kind: str) -> Manifest:
    actions = ["Accept" if kind == "ClusterNetworkPolicy" else "Allow", "Deny"]
    if kind != "BaselineAdminNetworkPolicy":
        actions.append("Pass")
    action = rng.choice(actions)
    fields = ["namespaces", "pods"]
    # Rules with named ports have no other peers: the API forbids them, since nothing but pods has named ports.
    named = side == "ingress" or _sometimes(rng)
    if not named:
        fields += ["nodes", "networks"]
    peers = [_cluster_peer(rng, namespaces, tuple(fields)) for _ in range(rng.randint(1, 3))]
    if _rarely(rng):
        peers[0] = {"futureSelector": {}}
    elif _rarely(rng) and action in {"Allow", "Accept"} and not named and kind != "BaselineAdminNetworkPolicy":
        peers[0] = {"domainNames": ["*.example.com"]}
    rule: Manifest = {"action": action, "from" if side == "ingress" else "to": peers}
    if not _sometimes(rng):
        rule["name"] = f"{action.lower()}-{side}"
    if rng.random() < 0.6:
        port = _protocol if kind == "ClusterNetworkPolicy" else _port
        entries = [port(rng, named=named) for _ in range(rng.randint(1, 3))]
        rule["protocols" if kind == "ClusterNetworkPolicy" else "ports"] = entries
    return rule


def _cluster_peer(rng: Random, namespaces: list[str], fields: tuple[str, ...]) -> Manifest:
    field = rng.choice(fields)
    if field == "networks":
        return {field: _some(rng, _BLOCKS, 2)}
    if field == "nodes":
        return {field: _selector(rng)}
    if field == "namespaces":
        return {field: _namespace_selector(rng, namespaces)}
    return {field: {"namespaceSelector": _namespace_selector(rng, namespaces), "podSelector": _selector(rng)}}


def _port(rng: Random, *, named: bool) -> Manifest:
    """Return a port of v1alpha1."""
    number, protocol = rng.choice(PORTS)
    if _rarely(rng):
        return {"futurePort": {}}
    if named and rng.random() < 0.4:
        return {"namedPort": rng.choice(tuple(_NAMED))}
    port: Manifest = {} if _rarely(rng) else {"protocol": protocol}
    if rng.random() < 0.5:
        return {"portNumber": {**port, "port": number}}
    return {"portRange": {**port, "start": number, "end": number + rng.choice((1, 30))}}


def _protocol(rng: Random, *, named: bool) -> Manifest:
    """Return an entry of `protocols` of v1alpha2."""
    number, protocol = rng.choice(PORTS)
    if _rarely(rng):
        return {"icmp": {}}
    if named and rng.random() < 0.4:
        return {"destinationNamedPort": rng.choice(tuple(_NAMED))}
    if _rarely(rng):
        return {protocol.lower(): {}}
    port: Manifest = {"number": number}
    if rng.random() < 0.5:
        port = {"range": {"start": number, "end": number + rng.choice((1, 30))}}
    return {protocol.lower(): {"destinationPort": port}}
