"""One small world to test single sentences of the APIs in, and what cases of it are made of."""

from __future__ import annotations

from typing import NamedTuple

from tests.network.oracle import Direction, EndRef, Verdict, verdict
from tests.network.oracle_world import Manifest

EVERYTHING: Manifest = {}
SHOP: Manifest = {"namespaces": {"matchLabels": {"team": "shop"}}}
BANK: Manifest = {"namespaces": {"matchLabels": {"team": "bank"}}}
ALL_PODS: Manifest = {"namespaces": {}}


def _namespace(name: str, **labels: str) -> Manifest:
    return {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": name, "labels": labels}}


def _node(name: str, address: str, **labels: str) -> Manifest:
    status = {"addresses": [{"type": "Hostname", "address": name}, {"type": "InternalIP", "address": address}]}
    return {"apiVersion": "v1", "kind": "Node", "metadata": {"name": name, "labels": labels}, "status": status}


def _pod(path: str, address: str, node: str, ports: dict[str, str] | None = None, **spec: object) -> Manifest:
    """Return a pod with the label `app` of its name; a port is called, and then written as `5432/TCP`."""
    namespace, name = path.split("/")
    container_ports = [
        {"name": key, "containerPort": int(text.split("/")[0]), "protocol": text.split("/")[1]}
        for key, text in (ports or {}).items()
    ]
    return {
        "apiVersion": "v1",
        "kind": "Pod",
        "metadata": {"name": name, "namespace": namespace, "labels": {"app": name}},
        "spec": {"nodeName": node, "containers": [{"name": "main", "ports": container_ports}], **spec},
        "status": {"podIP": address, "podIPs": [{"ip": address}]} if address else {},
    }


# Two namespaces with labels and one (`bare`) without an object; a pod of the host on both nodes; `shop/new` has neither
# a node nor an address yet.
WORLD: tuple[Manifest, ...] = (
    _namespace("shop", team="shop"),
    _namespace("bank", team="bank", env="prod"),
    _node("node-1", "172.18.0.2", zone="a"),
    _node("node-2", "172.18.0.3", zone="b"),
    _pod("shop/web", "10.244.1.1", "node-1", {"http": "8080/TCP"}),
    _pod("shop/db", "10.244.1.2", "node-1", {"sql": "5432/TCP", "dns": "53/UDP"}),
    _pod("bank/teller", "10.244.2.1", "node-2", {"http": "80/TCP"}),
    _pod("bare/lone", "10.244.2.2", "node-2"),
    _pod("shop/new", "", ""),
    _pod("host/agent-1", "172.18.0.2", "node-1", {"http": "9100/TCP"}, hostNetwork=True),
    _pod("host/agent-2", "172.18.0.3", "node-2", {"http": "9100/TCP"}, hostNetwork=True),
)


def network_policy(name: str = "np", namespace: str = "shop", **spec: object) -> Manifest:
    """Return a NetworkPolicy, of all pods of its namespace where it has no podSelector."""
    metadata = {"name": name, "namespace": namespace}
    return {"apiVersion": "networking.k8s.io/v1", "kind": "NetworkPolicy", "metadata": metadata, "spec": spec}


def admin_policy(name: str = "admin", *, priority: int = 10, subject: Manifest = SHOP, **rules: object) -> Manifest:
    """Return an AdminNetworkPolicy."""
    return _cluster("v1alpha1", "AdminNetworkPolicy", name, {"priority": priority, "subject": subject, **rules})


def baseline_policy(*, subject: Manifest = SHOP, **rules: object) -> Manifest:
    """Return the BaselineAdminNetworkPolicy."""
    return _cluster("v1alpha1", "BaselineAdminNetworkPolicy", "default", {"subject": subject, **rules})


def cluster_policy(name: str, tier: str, *, priority: int = 10, subject: Manifest = SHOP, **rules: object) -> Manifest:
    """Return a ClusterNetworkPolicy."""
    spec = {"tier": tier, "priority": priority, "subject": subject, **rules}
    return _cluster("v1alpha2", "ClusterNetworkPolicy", name, spec)


def _cluster(version: str, kind: str, name: str, spec: Manifest) -> Manifest:
    return {
        "apiVersion": f"policy.networking.k8s.io/{version}",
        "kind": kind,
        "metadata": {"name": name},
        "spec": spec,
    }


def selector(key: str, operator: str, *values: str) -> Manifest:
    """Return a label selector of one requirement."""
    requirement: Manifest = {"key": key, "operator": operator}
    return {"matchExpressions": [{**requirement, "values": list(values)} if values else requirement]}


DEFAULT = Direction(allowed=True, tier="Default")


def allowed(*names: str) -> Direction:
    """Return the answer of NetworkPolicies that allow, by namespace and name."""
    return Direction(allowed=True, tier="NetworkPolicy", by=frozenset(f"NetworkPolicy/{name}" for name in names))


def denied(*names: str) -> Direction:
    """Return the answer of NetworkPolicies that isolate and do not allow, by namespace and name."""
    return Direction(allowed=False, tier="NetworkPolicy", by=frozenset(f"NetworkPolicy/{name}" for name in names))


class Case(NamedTuple):
    """Verdict of a connection, `bank/teller > shop/db 5432/TCP`, in the small world with policies, by a sentence."""

    sentence: str
    policies: list[Manifest]
    connection: str
    verdict: Verdict


def ingress_case(sentence: str, policies: list[Manifest], connection: str, decided: Direction) -> Case:
    """Return a case that the ingress of the destination decides alone: no policy is about the source."""
    egress = DEFAULT if "/" in connection.partition(" > ")[0] else None
    return Case(sentence, policies, connection, Verdict(allowed=decided.allowed, egress=egress, ingress=decided))


def egress_case(sentence: str, policies: list[Manifest], connection: str, decided: Direction) -> Case:
    """Return a case that the egress of the source decides alone: no policy is about the destination."""
    ingress = DEFAULT if "/" in connection.partition(" > ")[2].rpartition(" ")[0] else None
    return Case(sentence, policies, connection, Verdict(allowed=decided.allowed, egress=decided, ingress=ingress))


def judged(case: Case) -> Verdict:
    """Judge the connection of a case."""
    source, _, destination, port = case.connection.split()
    number, protocol = port.split("/")
    return verdict([*WORLD, *case.policies], _end(source), _end(destination), int(number), protocol)


def _end(text: str) -> EndRef:
    namespace, _, name = text.partition("/")
    return ("pod", namespace, name) if name else text


def rule(*peers: Manifest, side: str = "from", **fields: object) -> Manifest:
    """Return a rule of ingress; `side` is `to` for one of egress."""
    return {**({side: list(peers)} if peers else {}), **fields}


def pods(operator: str, *values: str) -> Manifest:
    """Return a peer of a NetworkPolicy: pods of all namespaces, by their label `app`."""
    return {"namespaceSelector": EVERYTHING, "podSelector": selector("app", operator, *values)}


def block(cidr: str, *excepted: str) -> Manifest:
    """Return a peer of a NetworkPolicy: a block of addresses."""
    return {"ipBlock": {"cidr": cidr, **({"except": list(excepted)} if excepted else {})}}
