"""The judge of cluster-scoped policies judged: sentences on peers and ports of their rules, each as a small world.

Sentences are quoted from the types of policy.networking.k8s.io, v1alpha1 and v1alpha2, or follow from the one before.
"""

from __future__ import annotations

from typing import Literal, NamedTuple

import pytest

from tests.network.oracle import Direction
from tests.network.oracle_world import Manifest
from tests.network.small_world import (
    ALL_PODS,
    DEFAULT,
    EVERYTHING,
    admin_policy,
    baseline_policy,
    cluster_policy,
    egress_case,
    ingress_case,
    judged,
    rule,
    selector,
)

DENIED = Direction(allowed=False, tier="Admin", by=frozenset({"AdminNetworkPolicy/admin"}), rule="0")
UNDECIDED = Direction(allowed=None, tier=None, by=None, rule=None)
ZONE_A = {"nodes": {"matchLabels": {"zone": "a"}}}


class Match(NamedTuple):
    """Whether a rule that denies matches the egress of a pod, by a sentence."""

    sentence: str
    peers: list[Manifest]
    connection: str
    direction: Direction = DENIED
    ports: list[Manifest] | None = None


PEERS = [
    Match("all pods within a set of Namespaces", [ALL_PODS], "shop/db > bare/lone 80/TCP"),
    Match(
        "all pods within a set of Namespaces: by labels",
        [{"namespaces": selector("team", "Exists")}],
        "shop/db > bare/lone 80/TCP",
        DEFAULT,
    ),
    Match(
        "a set of pods in a set of namespaces",
        [{"pods": {"namespaceSelector": EVERYTHING, "podSelector": selector("app", "In", "lone")}}],
        "shop/db > bare/lone 80/TCP",
    ),
    Match(
        "a set of pods in a set of namespaces: both have to match",
        [{"pods": {"namespaceSelector": selector("team", "Exists"), "podSelector": EVERYTHING}}],
        "shop/db > bare/lone 80/TCP",
        DEFAULT,
    ),
    Match(
        "Note that host-networked pods are not included in this type of peer.",
        [ALL_PODS],
        "shop/db > host/agent-2 80/TCP",
        DEFAULT,
    ),
    Match("an address outside is in no namespace", [ALL_PODS], "shop/db > 203.0.113.7 80/TCP", DEFAULT),
    Match("It selects the nodeIPs as the peer type", [ZONE_A], "shop/db > 172.18.0.2 80/TCP"),
    Match("based on the node's labels", [ZONE_A], "shop/db > 172.18.0.3 80/TCP", DEFAULT),
    Match("a host-networked pod has the address of its node", [ZONE_A], "shop/db > host/agent-1 80/TCP"),
    Match("a host-networked pod of another node", [ZONE_A], "shop/db > host/agent-2 80/TCP", DEFAULT),
    Match("if present but empty, it selects all Nodes", [{"nodes": {}}], "shop/db > host/agent-2 80/TCP"),
    Match("an address outside is no node", [{"nodes": {}}], "shop/db > 8.8.8.8 80/TCP", DEFAULT),
    Match("a pod is no node", [{"nodes": {}}], "shop/db > bare/lone 80/TCP", DEFAULT),
    Match("select peers via CIDR blocks", [{"networks": ["203.0.113.0/24"]}], "shop/db > 203.0.113.7 80/TCP"),
    Match("outside of all blocks", [{"networks": ["203.0.113.0/24", "::/0"]}], "shop/db > 8.8.8.8 80/TCP", DEFAULT),
    Match(
        "that will allow or deny all IPv4 pod-to-pod traffic as well",
        [{"networks": ["0.0.0.0/0"]}],
        "shop/db > bare/lone 80/TCP",
    ),
    Match(
        "cluster-internal traffic will be checked against the rule as well: host-networked pods",
        [{"networks": ["172.18.0.0/24"]}],
        "shop/db > host/agent-1 80/TCP",
    ),
    Match(
        "a pod without an address may get one of the block",
        [{"networks": ["10.244.2.0/24"]}],
        "bank/teller > shop/new 80/TCP",
        UNDECIDED,
    ),
    Match(
        "all addresses of the family that the source has",
        [{"networks": ["0.0.0.0/1", "128.0.0.0/1"]}],
        "bank/teller > shop/new 80/TCP",
    ),
    Match(
        "domainNames: which addresses a name has is in no manifest",
        [{"domainNames": ["example.com"]}],
        "shop/db > 203.0.113.7 80/TCP",
        UNDECIDED,
    ),
    Match(
        "For Deny and Pass rules, fail closed means: treat the rule as a Deny all rule.",
        [{"future": {}}],
        "shop/db > bare/lone 80/TCP",
        ports=[{"portNumber": {"port": 7}}],
    ),
]


class PortMatch(NamedTuple):
    """Whether a rule that denies some ports of `bank/teller` matches, by a sentence; its `http` is 80/TCP."""

    sentence: str
    entries: list[Manifest] | None
    port: str
    answer: Literal["matches", "no match", "unknown"]

    def direction(self, denied: Direction) -> Direction:
        """Return the answer to the connection, given that of the rule where it matches."""
        return {"matches": denied, "no match": DEFAULT, "unknown": UNDECIDED}[self.answer]


PORTS = [
    PortMatch("If Ports is not set then the rule does not filter traffic via port.", None, "7/SCTP", "matches"),
    PortMatch(
        "PortNumber selects a port on a pod(s) based on number.", [{"portNumber": {"port": 80}}], "80/TCP", "matches"
    ),
    PortMatch("another number", [{"portNumber": {"protocol": "TCP", "port": 81}}], "80/TCP", "no match"),
    PortMatch("If not specified, this field defaults to TCP.", [{"portNumber": {"port": 80}}], "80/UDP", "no match"),
    PortMatch("an inclusive range: Start", [{"portRange": {"start": 80, "end": 90}}], "80/TCP", "matches"),
    PortMatch("an inclusive range: End", [{"portRange": {"start": 70, "end": 80}}], "80/TCP", "matches"),
    PortMatch("above the range", [{"portRange": {"start": 70, "end": 79}}], "80/TCP", "no match"),
    PortMatch(
        "a range of a protocol", [{"portRange": {"protocol": "UDP", "start": 70, "end": 80}}], "80/TCP", "no match"
    ),
    PortMatch("a port on a pod(s) based on name: the destination's", [{"namedPort": "http"}], "80/TCP", "matches"),
    PortMatch("the number that another pod gives to the name", [{"namedPort": "http"}], "8080/TCP", "no match"),
    PortMatch("the name is of one protocol", [{"namedPort": "http"}], "80/UDP", "no match"),
    PortMatch("any of the list", [{"portNumber": {"port": 7}}, {"portNumber": {"port": 80}}], "80/TCP", "matches"),
    PortMatch("a port of unknown fields", [{"future": {}}], "80/TCP", "unknown"),
]

PROTOCOLS = [
    PortMatch("If unspecified, protocol-specific attributes will not be used.", None, "7/SCTP", "matches"),
    PortMatch("TCP specific protocol matches", [{"tcp": {"destinationPort": {"number": 80}}}], "80/TCP", "matches"),
    PortMatch("another number", [{"tcp": {"destinationPort": {"number": 81}}}], "80/TCP", "no match"),
    PortMatch("UDP specific protocol matches", [{"udp": {"destinationPort": {"number": 80}}}], "80/TCP", "no match"),
    PortMatch("SCTP specific protocol matches", [{"sctp": {"destinationPort": {"number": 7}}}], "7/SCTP", "matches"),
    PortMatch("without DestinationPort", [{"udp": {}}], "80/UDP", "matches"),
    PortMatch("Range: Start", [{"udp": {"destinationPort": {"range": {"start": 80, "end": 90}}}}], "80/UDP", "matches"),
    PortMatch("Range: End", [{"udp": {"destinationPort": {"range": {"start": 70, "end": 80}}}}], "80/UDP", "matches"),
    PortMatch(
        "above the range", [{"udp": {"destinationPort": {"range": {"start": 70, "end": 79}}}}], "80/UDP", "no match"
    ),
    PortMatch(
        "a destination port based on the ContainerPort name", [{"destinationNamedPort": "http"}], "80/TCP", "matches"
    ),
    PortMatch(
        "the number that another pod gives to the name", [{"destinationNamedPort": "http"}], "8080/TCP", "no match"
    ),
    PortMatch("a protocol of unknown fields", [{"icmp": {}}], "80/TCP", "unknown"),
]


@pytest.mark.parametrize("match", PEERS, ids=lambda match: match.sentence)
def test_a_peer_matches(match: Match) -> None:
    ports = {"ports": match.ports} if match.ports else {}
    policy = admin_policy(subject=ALL_PODS, egress=[rule(*match.peers, side="to", action="Deny", **ports)])
    case = egress_case(match.sentence, [policy], match.connection, match.direction)
    assert judged(case) == case.verdict


@pytest.mark.parametrize("match", PORTS, ids=lambda match: match.sentence)
def test_a_port_of_v1alpha1_matches(match: PortMatch) -> None:
    policy = admin_policy(egress=[rule(ALL_PODS, side="to", action="Deny", ports=match.entries)])
    connection = f"shop/web > bank/teller {match.port}"
    case = egress_case(match.sentence, [policy], connection, match.direction(DENIED))
    assert judged(case) == case.verdict


@pytest.mark.parametrize("match", PROTOCOLS, ids=lambda match: match.sentence)
def test_a_protocol_of_v1alpha2_matches(match: PortMatch) -> None:
    policy = cluster_policy("c", "Baseline", egress=[rule(ALL_PODS, side="to", action="Deny", protocols=match.entries)])
    denied = Direction(allowed=False, tier="Baseline", by=frozenset({"ClusterNetworkPolicy/c"}), rule="0")
    connection = f"shop/web > bank/teller {match.port}"
    case = egress_case(match.sentence, [policy], connection, match.direction(denied))
    assert judged(case) == case.verdict


NOBODY = {"matchLabels": {"team": "nobody"}}
UNKNOWN: Manifest = {"future": {}}
BASELINE_DENIED = Direction(
    allowed=False, tier="Baseline", by=frozenset({"BaselineAdminNetworkPolicy/default"}), rule="0"
)


@pytest.mark.parametrize(
    ("policy", "direction"),
    [
        (admin_policy(ingress=[rule(UNKNOWN, action="Deny")]), DENIED),
        (admin_policy(ingress=[rule(UNKNOWN, action="Pass"), rule(ALL_PODS, action="Allow")]), DENIED),
        (admin_policy(ingress=[rule(UNKNOWN, ALL_PODS, action="Allow")]), DEFAULT),
        (admin_policy(ingress=[rule({"namespaces": NOBODY}, UNKNOWN, action="Deny")]), DENIED),
        (admin_policy(ingress=[rule({"networks": ["0.0.0.0/0"]}, action="Deny")]), DENIED),
        (admin_policy(ingress=[rule({"networks": ["0.0.0.0/0"]}, action="Allow")]), DEFAULT),
        (admin_policy(ingress=[rule({"namespaces": None, "pods": None}, action="Deny")]), DENIED),
        (baseline_policy(ingress=[rule({"nodes": {}}, action="Deny")]), BASELINE_DENIED),
        (cluster_policy("c", "Admin", ingress=[rule(UNKNOWN, action="Accept")]), DEFAULT),
        (admin_policy(subject={"namespaces": {"matchLabels": {"team": "bank"}}}, ingress=[UNKNOWN]), DEFAULT),
    ],
    ids=[
        "Deny: treat the rule as a Deny all rule",
        "Pass: treat the rule as a Deny all rule",
        "Allow: treat the rule as matching no traffic, whatever its other peers are",
        "whatever its other peers are: Deny",
        "ingress peers have no networks: Deny",
        "ingress peers have no networks: Allow",
        "all fields null",
        "Baseline: ingress peers have no nodes",
        "Accept: treat the rule as matching no traffic",
        "a policy of other subjects",
    ],
)
def test_a_peer_of_unknown_fields_fails_closed(policy: Manifest, direction: Direction) -> None:
    case = ingress_case("", [policy], "host/agent-2 > shop/db 80/TCP", direction)
    assert judged(case) == case.verdict


def test_domain_names_are_no_field_of_the_baseline_of_v1alpha1() -> None:
    policy = baseline_policy(egress=[rule({"domainNames": ["example.com"]}, side="to", action="Deny")])
    case = egress_case("", [policy], "shop/db > 203.0.113.7 80/TCP", BASELINE_DENIED)
    assert judged(case) == case.verdict
