"""Tests of `questions/network_policy_rows.py`."""

from __future__ import annotations

from typing import Final, cast

import pytest

from kubectl_policy.model import Json, Resource
from kubectl_policy.questions.lists import Only, list_type
from kubectl_policy.questions.network_policy_rows import NetworkPolicyRow
from kubectl_policy.questions.policy_rows import PolicyRow
from kubectl_policy.questions.shared.selection import Selection, type_named
from tests import build
from tests.lint.network.manifests import admin_policy, baseline_policy, cluster_policy, labelled, network_policy, pod
from tests.questions.build import analyzed

RULE: Final[Json] = {"action": "Deny", "from": [{"namespaces": {}}]}
BY_TEAM: Final[Json] = {"namespaces": labelled(team="shop")}


def row(policy: Resource, *resources: Resource, complete: bool = False) -> NetworkPolicyRow:
    analysis = analyzed(policy, pod("web"), pod("api"), *resources, complete=complete)
    (only,) = list_type(analysis, policy.ref.kind, Selection()).rows
    return cast("NetworkPolicyRow", only)


@pytest.mark.parametrize(
    ("policy", "tier", "priority", "directions", "rules"),
    [
        (network_policy("p"), "NetworkPolicy", None, ("ingress",), (0, 0)),
        (network_policy("p", ingress=[{}, {}], egress=[{}]), "NetworkPolicy", None, ("ingress", "egress"), (2, 1)),
        # Rules for a direction that the policy does not have count for nothing.
        (network_policy("p", policyTypes=["Egress"], ingress=[{}]), "NetworkPolicy", None, ("egress",), (0, 0)),
        (admin_policy("p", 7), "Admin", 7, (), (0, 0)),
        (admin_policy("p", 7, ingress=[RULE]), "Admin", 7, ("ingress",), (1, 0)),
        (cluster_policy("p", 3, tier="Baseline", ingress=[RULE]), "Baseline", 3, ("ingress",), (1, 0)),
        (baseline_policy(ingress=[RULE]), "Baseline", None, ("ingress",), (1, 0)),
    ],
)
def test_a_network_policy_has_a_tier_directions_and_rules(
    policy: Resource, tier: str, priority: int | None, directions: tuple[str, ...], rules: tuple[int, int]
) -> None:
    summary = row(policy).summary
    assert (summary.tier, summary.priority, summary.directions) == (tier, priority, directions)
    assert (summary.ingress_rules, summary.egress_rules) == rules


@pytest.mark.parametrize(
    ("policy", "complete", "selected"),
    [
        (network_policy("p", labelled(app="web")), True, (1, 0, False)),
        (network_policy("p", labelled(app="gone")), True, (0, 0, False)),
        (network_policy("p"), False, (2, 0, True)),
        # Of a Namespace that was not read, the labels are unknown.
        (admin_policy("p", 1, BY_TEAM, ingress=[RULE]), False, (0, 2, True)),
    ],
)
def test_workloads_that_it_selects_are_counted(
    policy: Resource, *, complete: bool, selected: tuple[int, int, bool]
) -> None:
    summary = row(policy, complete=complete).summary
    assert (summary.selects, summary.may_select, summary.may_select_unread) == selected


def test_a_list_of_them_is_filtered_by_their_enforcement() -> None:
    policies = (network_policy("some"), network_policy("none", labelled(app="gone")))
    analysis = analyzed(*policies, pod("web"), complete=True)
    rows = list_type(analysis, "netpol", Selection(), Only(states=frozenset({"NoEffect"}))).rows
    assert [row.ref.name for row in rows] == ["none"]


def test_among_policies_of_all_kinds_they_are_rows_like_others() -> None:
    analysis = analyzed(network_policy("p"), build.policy("q", build.ON_GATEWAY))
    rows = list_type(analysis, "policies", Selection(), Only(all_kinds=True)).rows
    assert [type(row) for row in rows] == [PolicyRow, PolicyRow]


def test_a_kind_of_the_same_name_that_is_not_evaluated_has_no_tiers() -> None:
    """Both are meant by the name, and listed as policies."""
    definition = build.crd("NetworkPolicy", labels={"gateway.networking.k8s.io/policy": "direct"})
    same = build.policy("same", build.ON_GATEWAY, kind="NetworkPolicy")
    analysis = analyzed(network_policy("p"), definition, same)
    type_ = type_named(analysis, "networkpolicy")
    assert {kind.group for kind in type_.kinds} == {"networking.k8s.io", "example.com"}
    assert type_.rows == "policies"
    assert type_named(analysis, "networkpolicy.networking.k8s.io").rows == "network policies"
