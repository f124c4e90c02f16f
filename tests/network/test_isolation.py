"""Tests of `network/isolation.py`."""

from __future__ import annotations

import pytest

from kubectl_policy.model import Json, Resource
from kubectl_policy.network.isolation import policies_by_position
from kubectl_policy.network.policy import DIRECTIONS
from tests import build
from tests.lint.network.manifests import admin_policy, baseline_policy, cluster_policy, labelled, network_policy, pod
from tests.questions.build import analyzed

RED: Json = {"pods": {"namespaceSelector": {}, "podSelector": labelled(app="red")}}
# Of a Namespace that was not read, no label is known but that of its name.
BY_TEAM: Json = {"namespaces": labelled(team="shop")}


def rule(action: str, *peers: Json, field: str = "from", **fields: Json) -> Json:
    return [{"action": action, field: list(peers) or [{"namespaces": {}}], **fields}]


def states(*policies: Resource, host_network: bool = False) -> tuple[str, str]:
    """The isolation of Pod `red` for ingress and for egress."""
    red = pod("red", hostNetwork=host_network)
    network = analyzed(red, pod("blue"), *policies).network
    position = network.workloads.position_of(red.ref)
    assert position is not None
    policies_at = policies_by_position(network)[position]
    ingress, egress = (policies_at.isolation(direction) for direction in DIRECTIONS)
    return ingress, egress


@pytest.mark.parametrize(
    ("policies", "expected"),
    [
        ([], ("open", "open")),
        ([network_policy("p", labelled(app="blue"))], ("open", "open")),
        ([network_policy("p", namespace="far")], ("open", "open")),
        ([network_policy("p")], ("isolated", "open")),
        ([network_policy("p", ingress=[{}])], ("isolated", "open")),
        ([network_policy("p", egress=[{}])], ("isolated", "isolated")),
        ([network_policy("p", policyTypes=["Egress"])], ("open", "isolated")),
        # What allows or passes everything denies nothing.
        ([admin_policy("a", 1, ingress=rule("Allow"), egress=rule("Pass", field="to"))], ("open", "open")),
        ([admin_policy("a", 1, ingress=rule("Deny"))], ("restricted", "open")),
        ([admin_policy("a", 1, RED, egress=rule("Deny", field="to"))], ("open", "restricted")),
        ([admin_policy("a", 1, {"namespaces": labelled(x="y")}, ingress=rule("Deny"))], ("unknown", "open")),
        ([cluster_policy("c", 1, ingress=rule("Deny"))], ("restricted", "open")),
        # A list without any peer matches nothing.
        ([cluster_policy("c", 1, ingress=[{"action": "Deny", "from": []}])], ("open", "open")),
        ([baseline_policy(ingress=rule("Deny")), network_policy("p")], ("isolated", "open")),
        # An undecided policy matters where it would be the strongest one.
        ([admin_policy("a", 1, BY_TEAM, ingress=rule("Deny")), network_policy("p")], ("isolated", "open")),
        ([admin_policy("a", 1, BY_TEAM, ingress=rule("Allow"))], ("open", "open")),
        (
            [admin_policy("a", 1, BY_TEAM, ingress=rule("Deny")), baseline_policy(ingress=rule("Deny"))],
            ("restricted", "open"),
        ),
    ],
)
def test_the_strongest_policy_decides(policies: list[Resource], expected: tuple[str, str]) -> None:
    assert states(*policies) == expected


def test_what_network_policies_do_to_the_network_of_a_node_is_undefined() -> None:
    assert states(network_policy("p"), host_network=True) == ("unknown", "open")
    assert states(admin_policy("a", 1, ingress=rule("Deny")), host_network=True) == ("open", "open")


def test_a_rule_without_peers_or_ports_that_can_match_denies_nothing() -> None:
    no_port: Json = [{"portNumber": {"port": 70000}}]
    assert states(admin_policy("a", 1, ingress=rule("Deny", ports=no_port))) == ("open", "open")


def test_policies_are_in_the_order_of_their_evaluation() -> None:
    network = analyzed(
        pod("red"),
        pod("blue"),
        pod("far", namespace="far"),
        baseline_policy(),
        network_policy("z"),
        network_policy("b", labelled(app="red")),
        admin_policy("late", 20),
        admin_policy("early", 3),
        build.resource("AdminNetworkPolicy", "none", {"subject": {"namespaces": {}}}, group="policy.networking.k8s.io"),
        admin_policy("perhaps", 5, BY_TEAM),
    ).network
    blue, red, far = policies_by_position(network)
    assert [policy.ref.name for policy in red.certain] == ["early", "late", "b", "z", "default"]
    assert [policy.ref.name for policy in blue.certain] == ["early", "late", "z", "default"]
    assert [policy.ref.name for policy in far.certain] == ["early", "late", "default"]
    # A policy without its priority may come anywhere.
    assert [policy.ref.name for policy in far.undecided] == ["perhaps", "none"]


def test_workloads_that_the_same_policies_select_share_their_answer() -> None:
    pods = (pod(name, {"app": "red"}) for name in "abc")
    first, second, third = policies_by_position(analyzed(*pods, network_policy("p")).network)
    assert first is second is third
