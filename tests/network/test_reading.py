"""Tests of `network/reading.py`."""

from __future__ import annotations

from collections.abc import Mapping

import pytest

from kubectl_policy.model import Json
from kubectl_policy.network.policy import Direction, NamedPort, PolicyRules, PortRange, Rule
from kubectl_policy.network.reading import read_policy
from tests import build

_GROUPS = {"NetworkPolicy": "networking.k8s.io"}
SUBJECT: Mapping[str, Json] = {"namespaces": {}}
DENY_ALL: Json = {"action": "Deny", "from": [{"namespaces": {}}]}


def read(kind: str, spec: Json) -> PolicyRules:
    group = _GROUPS.get(kind, "policy.networking.k8s.io")
    policy = build.resource(kind, "p", spec, group=group, namespace="shop")
    return read_policy(policy, policy.raw)


def network_policy(**spec: Json) -> PolicyRules:
    return read("NetworkPolicy", spec)


@pytest.mark.parametrize(
    ("spec", "isolates"),
    [
        # Whoever writes no types isolates ingress, and egress with rules for it.
        ({}, {"ingress"}),
        ({"egress": []}, {"ingress"}),
        ({"egress": None}, {"ingress"}),
        ({"egress": [{}]}, {"ingress", "egress"}),
        ({"policyTypes": [], "egress": [{}]}, {"ingress", "egress"}),
        ({"policyTypes": ["Egress"], "ingress": [{}]}, {"egress"}),
        ({"policyTypes": ["Ingress"], "egress": [{}]}, {"ingress"}),
        ({"policyTypes": ["Ingress", "Egress"]}, {"ingress", "egress"}),
        # What no API server accepts.
        ({"policyTypes": ["ingress"]}, set()),
        ({"policyTypes": {"Ingress": True}}, set()),
        ({"policyTypes": 7}, set()),
    ],
)
def test_the_directions_that_a_networkpolicy_isolates(spec: dict[str, Json], isolates: set[str]) -> None:
    policy = network_policy(**spec)
    assert {*policy.isolates} == isolates
    assert not policy.is_open
    assert [policy.concerns(direction) for direction in ("ingress", "egress")] == [
        direction in isolates for direction in ("ingress", "egress")
    ]
    assert [bool(policy.rules(direction)) for direction in ("ingress", "egress")] == [
        bool(spec.get(direction)) and direction in isolates for direction in ("ingress", "egress")
    ]


@pytest.mark.parametrize("types", ["${TYPES}", ["${TYPE}"], ["Ingress", "${TYPE}"]])
def test_types_that_are_to_be_filled_in_may_be_any(types: Json) -> None:
    policy = network_policy(policyTypes=types)
    assert {*policy.isolates} == {"ingress", "egress"}
    assert policy.is_open


def test_a_networkpolicy_selects_pods_of_its_namespace() -> None:
    selectors: list[Json] = [None, {}, "all", {"matchLabels": {"app": "a"}}]
    subjects = [network_policy(podSelector=selector).subject for selector in selectors]
    assert {subject.namespaces for subject in subjects if isinstance(subject.namespaces, str)} == {"shop"}
    assert [subject.pods for subject in subjects] == [{}, {}, {}, selectors[-1]]
    assert read("NetworkPolicy", None).subject.pods == {}


@pytest.mark.parametrize(
    ("rule", "peers", "ports"),
    [
        # Present and not empty, but nothing in it counts.
        ({"from": [{}], "ports": [{"protocol": "ICMP"}]}, 1, 0),
        ({"from": [7], "ports": [7]}, 0, 0),
        ({"from": {"podSelector": {}}}, 0, None),
        # "If this field is empty or missing, this rule matches all".
        ({}, None, None),
        (None, None, None),
        ({"from": [], "ports": []}, None, None),
        ({"from": None, "ports": None}, None, None),
        ({"from": [{"podSelector": {}}, {}], "ports": [{"port": 1}, {"port": 2, "endPort": "${END}"}]}, 2, 3),
    ],
)
def test_peers_and_ports_of_a_networkpolicy(rule: Json, peers: int | None, ports: int | None) -> None:
    (read_rule,) = network_policy(ingress=[rule]).ingress
    assert read_rule.peers is None if peers is None else len(read_rule.peers or ()) == peers
    assert read_rule.ports is None if ports is None else len(read_rule.ports or ()) == ports
    assert (read_rule.action, read_rule.title, read_rule.is_open) == ("Allow", "ingress[0]", False)


def test_a_rule_of_a_networkpolicy_may_be_to_be_filled_in() -> None:
    for ingress in ("${RULES}", ["${RULE}"]):
        (rule,) = network_policy(ingress=ingress).ingress
        assert rule.peers is not None
        assert [peer.is_open for peer in rule.peers] == [True]
        assert (rule.ports, rule.actions) == (None, ("Allow",))


@pytest.mark.parametrize(
    ("kind", "spec", "tier", "priority", "is_open"),
    [
        ("AdminNetworkPolicy", {"priority": 7}, "Admin", 7, False),
        ("AdminNetworkPolicy", {"priority": 0, "tier": "Baseline"}, "Admin", 0, False),
        ("BaselineAdminNetworkPolicy", {}, "Baseline", None, False),
        ("BaselineAdminNetworkPolicy", {"priority": 3}, "Baseline", None, False),
        ("ClusterNetworkPolicy", {"tier": "Admin", "priority": 3}, "Admin", 3, False),
        ("ClusterNetworkPolicy", {"tier": "Baseline", "priority": 3}, "Baseline", 3, False),
        # It is not known where the policy comes.
        ("AdminNetworkPolicy", {}, "Admin", None, True),
        ("AdminNetworkPolicy", {"priority": "${PRIORITY}"}, "Admin", None, True),
        ("AdminNetworkPolicy", {"priority": "7"}, "Admin", None, True),
        ("AdminNetworkPolicy", {"priority": True}, "Admin", None, True),
        ("ClusterNetworkPolicy", {"tier": "${TIER}", "priority": 3}, "Admin", 3, True),
        ("ClusterNetworkPolicy", {"tier": 1, "priority": 3}, "Admin", 3, True),
        ("ClusterNetworkPolicy", {"priority": 3}, "Admin", 3, True),
    ],
)
def test_the_tier_and_priority(
    kind: str,
    spec: dict[str, Json],
    tier: str,
    priority: int | None,
    is_open: bool,  # noqa: FBT001 (a case)
) -> None:
    policy = read(kind, {**spec, "ingress": [DENY_ALL], "egress": [{"action": "Pass"}]})
    assert (policy.tier, policy.priority, policy.is_open) == (tier, priority, is_open)
    # A rule of a tier that is not known may have the effects of any.
    is_tier_unknown = kind == "ClusterNetworkPolicy" and is_open
    assert [rule.is_open for rule in (*policy.ingress, *policy.egress)] == [is_tier_unknown, is_tier_unknown]


@pytest.mark.parametrize(
    ("subject", "expected"),
    [
        (None, ("", {})),
        ({}, ("", {})),
        ("all", ("", {})),
        ({"namespaces": [], "pods": 7}, ("", {})),
        ({"namespaces": {}}, ({}, {})),
        ({"pods": {"podSelector": {"matchLabels": {"a": "b"}}}}, ({}, {"matchLabels": {"a": "b"}})),
        ("${SUBJECT}", ({}, {"matchExpressions": [{"key": "", "operator": "<unknown>"}]})),
    ],
)
def test_the_subject_of_a_policy_for_the_whole_cluster(subject: Json, expected: tuple[Json, Json]) -> None:
    policy = read("AdminNetworkPolicy", {"priority": 1, "subject": subject})
    assert (policy.subject.namespaces, policy.subject.pods) == expected
    assert not policy.isolates
    assert not policy.concerns("ingress")


def acting_rule(rule: Json, kind: str = "AdminNetworkPolicy", direction: Direction = "ingress") -> Rule:
    policy = read(kind, {"priority": 1, "tier": "Admin", "subject": SUBJECT, direction: [rule]})
    return policy.rules(direction)[0]


@pytest.mark.parametrize(
    ("action", "expected"),
    [
        ("Allow", ("Allow",)),
        ("Accept", ("Allow",)),
        ("Deny", ("Deny",)),
        ("Pass", ("Pass",)),
        # A word of a later version may mean anything.
        ("allow", ("Allow", "Deny", "Pass")),
        (None, ("Allow", "Deny", "Pass")),
        (["Allow"], ("Allow", "Deny", "Pass")),
        ("${ACTION}", ("Allow", "Deny", "Pass")),
    ],
)
def test_actions(action: Json, expected: tuple[str, ...]) -> None:
    assert acting_rule({"action": action, "from": [{"namespaces": {}}]}).actions == expected


@pytest.mark.parametrize(
    ("action", "expected"),
    [
        # "Treat the rule as matching no traffic"; "treat the rule as a Deny all rule".
        ("Allow", ("Allow", 0)),
        ("Accept", ("Allow", 0)),
        ("Deny", ("Deny", None)),
        ("Pass", ("Deny", None)),
    ],
)
@pytest.mark.parametrize("peer", [{}, None, {"futureSelector": {}}, {"networks": ["10.0.0.0/8"]}, {"nodes": {}}])
def test_a_peer_of_no_known_field_fails_closed(action: str, peer: Json, expected: tuple[str, int | None]) -> None:
    rule = acting_rule(
        {"action": action, "name": "r", "ports": [{"portNumber": {"port": 1}}], "from": [{"pods": {}}, peer]}
    )
    assert (rule.action, rule.peers if rule.peers is None else len(rule.peers), rule.ports) == (*expected, None)
    assert (rule.name, rule.title, rule.is_open) == ("r", "r", False)


def test_a_peer_of_no_known_field_in_a_rule_of_an_unknown_action() -> None:
    rule = acting_rule({"action": "${ACTION}", "name": "r", "from": [{}]})
    assert rule.peers is not None
    assert ([peer.is_open for peer in rule.peers], rule.ports, rule.actions) == (
        [True],
        None,
        ("Allow", "Deny", "Pass"),
    )


def test_fields_of_peers_by_kind() -> None:
    peers: Json = [{"domainNames": ["example.com"]}]
    actions = {
        kind: acting_rule({"action": "Allow", "to": peers}, kind, "egress").peers
        for kind in ("AdminNetworkPolicy", "BaselineAdminNetworkPolicy", "ClusterNetworkPolicy")
    }
    assert [len(peers_read or ()) for peers_read in actions.values()] == [1, 0, 1]


@pytest.mark.parametrize(
    ("kind", "field", "entries", "expected"),
    [
        ("AdminNetworkPolicy", "ports", None, None),
        ("AdminNetworkPolicy", "ports", [], None),
        ("AdminNetworkPolicy", "protocols", [{"tcp": {}}], None),
        ("AdminNetworkPolicy", "ports", [{"portNumber": {"port": 0}}], ()),
        ("AdminNetworkPolicy", "ports", [{"portNumber": {"port": 1}}], (PortRange("TCP", 1, 1),)),
        ("BaselineAdminNetworkPolicy", "ports", [{"namedPort": "x"}], (NamedPort("x"),)),
        ("ClusterNetworkPolicy", "ports", [{"portNumber": {"port": 1}}], None),
        ("ClusterNetworkPolicy", "protocols", [{"udp": {}}], (PortRange("UDP", 1, 65_535),)),
        ("ClusterNetworkPolicy", "protocols", "${PROTOCOLS}", (NamedPort("${PROTOCOLS}"),)),
    ],
)
def test_ports_by_kind(kind: str, field: str, entries: Json, expected: tuple[object, ...] | None) -> None:
    assert acting_rule({"action": "Deny", "from": [{"namespaces": {}}], field: entries}, kind).ports == expected


def test_rules_of_a_policy_for_the_whole_cluster() -> None:
    policy = read("AdminNetworkPolicy", {"priority": 1, "ingress": [7, None, "${RULE}"], "egress": "${RULES}"})
    assert [(str(rule.field), rule.is_open) for rule in (*policy.ingress, *policy.egress)] == [
        ("spec.ingress[1]", True),
        ("spec.ingress[2]", True),
        ("spec.egress", True),
    ]
    # The rule without peers matches none.
    assert [len(rule.peers or ()) for rule in policy.ingress] == [0, 1]
