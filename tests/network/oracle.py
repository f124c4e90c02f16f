"""Judge connections by network policies: brute force over manifests, straight from the text of the APIs.

What the text leaves open (network plugins that differ, equal priorities, a pod that has no address or no node yet) is
read in every way: what the readings do not agree in is None, undecided. An address given as text is outside the
cluster, unless an object says that it is a node's. It shares no code with what it judges.
"""

from __future__ import annotations

from collections.abc import Sequence
from ipaddress import ip_address
from typing import Literal, TypeAlias

from msgspec import Struct

from tests.network.oracle_matching import (
    Connection,
    Side,
    cluster_peer_matches,
    cluster_port_matches,
    network_peer_matches,
    network_port_matches,
    pod_matches,
    subject_matches,
)
from tests.network.oracle_readings import Reading, agreed, every_outcome
from tests.network.oracle_world import End, Manifest, Pod, World, spec_of

EndRef: TypeAlias = tuple[Literal["pod"], str, str] | str
Tier: TypeAlias = Literal["Admin", "NetworkPolicy", "Baseline", "Default"]

# Fields of a peer, by the side of its rule: a peer of none of these fails closed.
_PEERS: dict[Side, frozenset[str]] = {
    "ingress": frozenset({"namespaces", "pods"}),
    "egress": frozenset({"namespaces", "pods", "nodes", "networks", "domainNames"}),
}


class Direction(Struct, frozen=True, kw_only=True):
    """The decision of the policies of one end; a field that depends on the reading is None."""

    allowed: bool | None
    tier: Tier | None
    by: frozenset[str] | None = frozenset()
    """The deciding policies; of NetworkPolicies all that allow, else all that isolate."""
    rule: str | None = ""
    """Name of the deciding rule of a cluster-scoped policy, its index where it has no name; else empty."""
    passed: str | None = ""
    """The policy of the Admin tier whose Pass rule matched; else empty."""


class Verdict(Struct, frozen=True, kw_only=True):
    """Whether a connection is allowed, by both of its ends; an end that is no pod has no direction."""

    allowed: bool | None
    egress: Direction | None
    ingress: Direction | None


class _Decision(Struct, frozen=True, kw_only=True):
    """The first rule of a cluster-scoped policy that matches a connection."""

    action: str
    policy: str
    rule: str


def verdict(objects: Sequence[Manifest], source: EndRef, destination: EndRef, port: int, protocol: str) -> Verdict:
    """Judge a connection between two ends, `("pod", namespace, name)` or the text of an address outside."""
    return judge(World(objects), source, destination, port, protocol)


def judge(world: World, source: EndRef, destination: EndRef, port: int, protocol: str) -> Verdict:
    """Judge a connection in a world that is looked up more than once."""
    ends = {"source": _end(world, source), "destination": _end(world, destination)}

    def read(reading: Reading) -> tuple[Direction | None, Direction | None]:
        connection = Connection(world=world, reading=reading, port=port, protocol=protocol, **ends)
        return _direction(connection, "egress"), _direction(connection, "ingress")

    outcomes = every_outcome(read)
    return Verdict(
        allowed=agreed([all(direction.allowed for direction in outcome if direction) for outcome in outcomes]),
        egress=_merged([egress for egress, _ in outcomes]),
        ingress=_merged([ingress for _, ingress in outcomes]),
    )


def selected(objects: Sequence[Manifest], policy: Manifest) -> set[str]:
    """Return the pods that the subject or podSelector of a policy selects, as `Pod/namespace/name`."""
    world = World(objects)
    return {pod.key for pod in world.pods.values() if _selects(world, policy, pod)}


def _end(world: World, ref: EndRef) -> End:
    return ip_address(ref) if isinstance(ref, str) else world.pods[ref[1:]]


def _merged(readings: Sequence[Direction | None]) -> Direction | None:
    directions = [direction for direction in readings if direction is not None]
    if not directions:
        return None
    # Two policies may call their rules the same.
    rule = agreed([(direction.by if direction.rule else None, direction.rule) for direction in directions])
    return Direction(
        allowed=agreed([direction.allowed for direction in directions]),
        tier=agreed([direction.tier for direction in directions]),
        by=agreed([direction.by for direction in directions]),
        rule=rule and rule[1],
        passed=agreed([direction.passed for direction in directions]),
    )


def _direction(connection: Connection, side: Side) -> Direction | None:
    """Ask the tiers in order; a tier that decides nothing, or passes, leaves the connection to the next one."""
    pod = connection.subject(side)
    if not isinstance(pod, Pod):
        return None
    if connection.source == connection.destination:
        return Direction(allowed=True, tier="Default")
    admin = _cluster_decision(connection, side, pod, "Admin")
    if admin is not None and admin.action != "Pass":
        return _decided("Admin", admin, "")
    passed = admin.policy if admin is not None else ""
    isolating = _isolating(connection, side, pod)
    if isolating:
        return _network_direction(connection, side, isolating, passed)
    baseline = _cluster_decision(connection, side, pod, "Baseline")
    if baseline is not None and baseline.action != "Pass":
        return _decided("Baseline", baseline, passed)
    return Direction(allowed=True, tier="Default", passed=passed)


def _decided(tier: Tier, decision: _Decision, passed: str) -> Direction:
    by = frozenset({decision.policy})
    return Direction(allowed=decision.action != "Deny", tier=tier, by=by, rule=decision.rule, passed=passed)


def _cluster_decision(connection: Connection, side: Side, pod: Pod, tier: Tier) -> _Decision | None:
    """Return the decision of the policies of highest precedence that match; any of those of one priority."""
    world = connection.world
    policies = [policy for policy in world.policies if _tier(policy) == tier and _selects(world, policy, pod)]
    for priority in sorted({_priority(policy) for policy in policies}):
        equals = [policy for policy in policies if _priority(policy) == priority]
        decisions = [decision for policy in equals if (decision := _policy_decision(connection, side, policy))]
        if decisions:
            return connection.reading.choose((side, tier, priority), decisions)
    return None


def _policy_decision(connection: Connection, side: Side, policy: Manifest) -> _Decision | None:
    for number, rule in enumerate(spec_of(policy).get(side) or []):
        action = _rule_action(connection, side, policy, rule)
        if action is not None:
            return _Decision(action=action, policy=_ref(policy), rule=rule.get("name") or str(number))
    return None


def _rule_action(connection: Connection, side: Side, policy: Manifest, rule: Manifest) -> str | None:
    """Return the action of a rule on a connection, None where it does not match."""
    peers = rule.get("from" if side == "ingress" else "to") or []
    known = _PEERS[side] - ({"domainNames"} if policy["kind"] == "BaselineAdminNetworkPolicy" else set())
    action: str = rule["action"]
    if any(not known & {field for field, value in peer.items() if value is not None} for peer in peers):
        return None if action in {"Allow", "Accept"} else "Deny"
    entries = rule.get("protocols" if policy["kind"] == "ClusterNetworkPolicy" else "ports") or []
    if entries and not any(cluster_port_matches(connection, entry) for entry in entries):
        return None
    end = connection.peer(side)
    return action if any(cluster_peer_matches(connection, peer, end) for peer in peers) else None


def _isolating(connection: Connection, side: Side, pod: Pod) -> list[Manifest]:
    """Return the NetworkPolicies that isolate a pod; some network plugins know none of a host-network pod."""
    policies = [
        policy
        for policy in connection.world.policies
        if policy["kind"] == "NetworkPolicy"
        and side in _policy_types(spec_of(policy))
        and _selects(connection.world, policy, pod)
    ]
    return policies if policies and (not pod.host_network or connection.host_pods_are_pods()) else []


def _policy_types(spec: Manifest) -> set[str]:
    types = spec.get("policyTypes") or ["Ingress", *(["Egress"] if spec.get("egress") else [])]
    return {text.lower() for text in types}


def _network_direction(connection: Connection, side: Side, isolating: list[Manifest], passed: str) -> Direction:
    """Add up what the isolating policies allow; the traffic of a pod with its own node is beyond them."""
    allowing = [policy for policy in isolating if _allows(connection, side, policy)]
    allowed = bool(allowing) or _with_own_node(connection)
    by = allowing if allowed else isolating
    return Direction(allowed=allowed, tier="NetworkPolicy", by=frozenset(map(_ref, by)), passed=passed)


def _allows(connection: Connection, side: Side, policy: Manifest) -> bool:
    end, namespace = connection.peer(side), policy["metadata"].get("namespace") or "default"
    for rule in spec_of(policy).get(side) or []:
        ports, peers = rule.get("ports") or [], rule.get("from" if side == "ingress" else "to") or []
        if (not ports or any(network_port_matches(connection, entry) for entry in ports)) and (
            not peers or any(network_peer_matches(connection, namespace, peer, end) for peer in peers)
        ):
            return True
    return False


def _with_own_node(connection: Connection) -> bool:
    """Whether one end is a pod and the other one its node, or a host-network pod there."""
    ends = connection.source, connection.destination
    return any(
        isinstance(pod, Pod) and _is_on_node_of(connection, end, pod) for pod, end in (ends, tuple(reversed(ends)))
    )


def _is_on_node_of(connection: Connection, end: End, pod: Pod) -> bool:
    if isinstance(end, Pod):
        return end.host_network and connection.node_of(end) == connection.node_of(pod)
    world = connection.world
    is_node = any(end in world.node_addresses(node) for node in world.node_names())
    return is_node and end in world.node_addresses(connection.node_of(pod))


def _selects(world: World, policy: Manifest, pod: Pod) -> bool:
    spec, namespace = spec_of(policy), policy["metadata"].get("namespace") or "default"
    if policy["kind"] != "NetworkPolicy":
        return subject_matches(world, spec["subject"], pod)
    return pod.namespace == namespace and pod_matches(world, {"podSelector": spec.get("podSelector")}, pod)


def _tier(policy: Manifest) -> str:
    tiers = {"AdminNetworkPolicy": "Admin", "BaselineAdminNetworkPolicy": "Baseline", "NetworkPolicy": "NetworkPolicy"}
    return tiers.get(policy["kind"]) or spec_of(policy)["tier"]


def _priority(policy: Manifest) -> int:
    return int(spec_of(policy).get("priority") or 0)


def _ref(policy: Manifest) -> str:
    """Return the name of a policy in verdicts."""
    name = policy["metadata"]["name"]
    if policy["kind"] != "NetworkPolicy":
        return f"{policy['kind']}/{name}"
    return f"NetworkPolicy/{policy['metadata'].get('namespace') or 'default'}/{name}"
