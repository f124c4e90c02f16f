"""The judge of cluster-scoped policies judged: sentences on tiers, priorities, subjects and peers, each a small world.

Sentences are quoted from the types of policy.networking.k8s.io, v1alpha1 and v1alpha2, or follow from the one before.
"""

from __future__ import annotations

import pytest

from tests.network.oracle import Direction, Tier, Verdict, selected
from tests.network.oracle_world import Manifest
from tests.network.small_world import (
    ALL_PODS,
    BANK,
    DEFAULT,
    EVERYTHING,
    SHOP,
    WORLD,
    Case,
    admin_policy,
    allowed,
    baseline_policy,
    cluster_policy,
    denied,
    ingress_case,
    judged,
    network_policy,
    rule,
    selector,
)

FROM_BANK = "bank/teller > shop/db 5432/TCP"
TO_BANK = "shop/db > bank/teller 80/TCP"
ADMIN, BASELINE = "AdminNetworkPolicy/admin", "BaselineAdminNetworkPolicy/default"


def decided(action: str, tier: Tier, policy: str, rule_name: str = "0", *, passed: str = "") -> Direction:
    """Return the answer of a rule of a cluster-scoped policy."""
    return Direction(allowed=action == "allowed", tier=tier, by=frozenset({policy}), rule=rule_name, passed=passed)


def ingress(action: str, *peers: Manifest, name: str = "") -> Manifest:
    return rule(*(peers or [BANK]), action=action, name=name)


def egress(action: str, *peers: Manifest) -> Manifest:
    return rule(*(peers or [BANK]), side="to", action=action)


def passed_on(direction: Direction) -> Direction:
    """Return the answer of a later tier, to a connection that the policy of the Admin tier passed on."""
    return Direction(allowed=direction.allowed, tier=direction.tier, by=direction.by, passed=ADMIN)


OPEN, CLOSED = network_policy("open", ingress=[{}]), network_policy("closed")

TIERS = [
    ingress_case(
        "Allow: allows the selected traffic (even if it would otherwise have been denied by NetworkPolicy)",
        [admin_policy(ingress=[ingress("Allow", name="bank")]), CLOSED],
        FROM_BANK,
        decided("allowed", "Admin", ADMIN, "bank"),
    ),
    ingress_case(
        "Deny: matching traffic will be denied before being checked against NetworkPolicy",
        [admin_policy(ingress=[ingress("Deny")]), OPEN],
        FROM_BANK,
        decided("denied", "Admin", ADMIN),
    ),
    ingress_case(
        "Pass: then pass execution to any NetworkPolicies that select the pod",
        [admin_policy(ingress=[ingress("Pass"), ingress("Deny")]), OPEN],
        FROM_BANK,
        passed_on(allowed("shop/open")),
    ),
    ingress_case(
        "If the pod is not selected by any NetworkPolicies then execution is passed to any Baseline...",
        [admin_policy(ingress=[ingress("Pass")]), baseline_policy(ingress=[ingress("Deny", name="all")])],
        FROM_BANK,
        decided("denied", "Baseline", BASELINE, "all", passed=ADMIN),
    ),
    ingress_case(
        "Pass skips any remaining ANP rules, also those of policies of a lower precedence",
        [admin_policy(ingress=[ingress("Pass")]), admin_policy("later", priority=11, ingress=[ingress("Deny")])],
        FROM_BANK,
        passed_on(DEFAULT),
    ),
    ingress_case(
        "v1.NetworkPolicy always makes a final decision for selected pods.",
        [cluster_policy("base", "Baseline", ingress=[ingress("Accept")]), CLOSED],
        FROM_BANK,
        denied("shop/closed"),
    ),
    ingress_case(
        "Further evaluation only happens for Pods not selected by a v1.NetworkPolicy.",
        [cluster_policy("base", "Baseline", ingress=[ingress("Deny")]), network_policy(policyTypes=["Egress"])],
        FROM_BANK,
        decided("denied", "Baseline", "ClusterNetworkPolicy/base"),
    ),
    ingress_case(
        "Pass in the Baseline tier: the next tier is the default one",
        [
            cluster_policy("pass", "Baseline", priority=1, ingress=[ingress("Pass")]),
            cluster_policy("deny", "Baseline", priority=2, ingress=[ingress("Deny")]),
        ],
        FROM_BANK,
        DEFAULT,
    ),
    ingress_case(
        "If a given connection wasn't allowed or denied by any of the tiers, all pods can communicate with each other.",
        [cluster_policy("admin", "Admin", ingress=[ingress("Deny")])],
        "bare/lone > shop/db 5432/TCP",
        DEFAULT,
    ),
    ingress_case(
        "Policies with lower priority values have higher precedence",
        [
            cluster_policy("second", "Admin", priority=2, ingress=[ingress("Deny")]),
            cluster_policy("first", "Admin", priority=1, ingress=[ingress("Accept")]),
        ],
        FROM_BANK,
        decided("allowed", "Admin", "ClusterNetworkPolicy/first"),
    ),
    ingress_case(
        "a rule that appears at the top of the ingress rules would take the highest precedence",
        [admin_policy(ingress=[ingress("Deny", {"namespaces": selector("env", "DoesNotExist")}), ingress("Allow")])],
        FROM_BANK,
        decided("allowed", "Admin", ADMIN, "1"),
    ),
    ingress_case(
        "CNPs with no ingress rules do not affect ingress traffic.",
        [cluster_policy("admin", "Admin", egress=[egress("Deny")])],
        FROM_BANK,
        DEFAULT,
    ),
    Case(
        "Accept at egress: but any ingress rules at the destination do apply",
        [
            cluster_policy("out", "Admin", egress=[egress("Accept")]),
            cluster_policy("in", "Admin", subject=BANK, ingress=[ingress("Deny", ALL_PODS)]),
        ],
        TO_BANK,
        Verdict(
            allowed=False,
            egress=decided("allowed", "Admin", "ClusterNetworkPolicy/out"),
            ingress=decided("denied", "Admin", "ClusterNetworkPolicy/in"),
        ),
    ),
]

EQUAL_PRIORITIES = [
    ingress_case(
        "the implementation can apply any of the matching policies to the connection",
        [admin_policy("a", ingress=[ingress("Deny")]), admin_policy("b", ingress=[ingress("Allow")])],
        FROM_BANK,
        Direction(allowed=None, tier="Admin", by=None, rule=None),
    ),
    ingress_case(
        "a policy that does not match the connection is not among them",
        [admin_policy("a", ingress=[ingress("Deny")]), admin_policy("b", ingress=[ingress("Allow", SHOP)])],
        FROM_BANK,
        decided("denied", "Admin", "AdminNetworkPolicy/a"),
    ),
    ingress_case(
        "all of them deny",
        [admin_policy("a", ingress=[ingress("Deny")]), admin_policy("b", ingress=[ingress("Deny", name="x")])],
        FROM_BANK,
        Direction(allowed=False, tier="Admin", by=None, rule=None),
    ),
    ingress_case(
        "one of them denies, one passes to a NetworkPolicy that denies",
        [admin_policy(ingress=[ingress("Pass")]), admin_policy("deny", ingress=[ingress("Deny")]), CLOSED],
        FROM_BANK,
        Direction(allowed=False, tier=None, by=None, rule=None, passed=None),
    ),
    ingress_case(
        "two policies in the same tier: priorities of two tiers do not meet",
        [
            cluster_policy("admin", "Admin", ingress=[ingress("Deny")]),
            cluster_policy("base", "Baseline", ingress=[ingress("Accept")]),
        ],
        FROM_BANK,
        decided("denied", "Admin", "ClusterNetworkPolicy/admin"),
    ),
]


@pytest.mark.parametrize("case", [*TIERS, *EQUAL_PRIORITIES], ids=lambda case: case.sentence)
def test_a_sentence_of_the_api_decides(case: Case) -> None:
    assert judged(case) == case.verdict


@pytest.mark.parametrize(
    ("subject", "pods_selected"),
    [
        (BANK, {"Pod/bank/teller"}),
        (
            {"pods": {"namespaceSelector": EVERYTHING, "podSelector": selector("app", "In", "db", "lone")}},
            {"Pod/shop/db", "Pod/bare/lone"},
        ),
        ({"namespaces": selector("team", "DoesNotExist")}, {"Pod/bare/lone"}),
        ({"pods": {"podSelector": selector("app", "NotIn", "web", "db", "new", "teller")}}, {"Pod/bare/lone"}),
    ],
    ids=["namespaces", "pods", "host-networked pods are not included", "pods of all namespaces"],
)
def test_a_cluster_scoped_policy_selects_pods_by_its_subject(subject: Manifest, pods_selected: set[str]) -> None:
    assert selected(WORLD, cluster_policy("a", "Admin", subject=subject)) == pods_selected
    assert selected(WORLD, admin_policy(subject=subject)) == pods_selected
    assert selected(WORLD, baseline_policy(subject=subject)) == pods_selected
