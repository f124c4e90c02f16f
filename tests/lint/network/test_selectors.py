"""Selectors of network policies that select nothing, and what may be meant instead."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

import pytest

from kubectl_policy.lint.rules.network import near_labels
from kubectl_policy.lint.rules.network.selectors import no_peers_selected, no_pods_selected
from kubectl_policy.model import Gap
from tests import build
from tests.lint.network.manifests import admin_policy, labelled, network_policy, pod
from tests.lint.rule_worlds import checked, said

if TYPE_CHECKING:
    from kubectl_policy.lint.finding import Finding
    from kubectl_policy.model import Json, Resource

WEB: Final = pod("web", namespace="shop")
EDGE: Final = pod("edge", namespace="infra")
SHOP: Final = build.namespace("shop", {"team": "shop"})
INFRA: Final = build.namespace("infra", {"team": "infra"})
NOTHING: Final = "so the policy applies to nothing"
BY_PEER: Final = "so the rule allows nothing by this entry"


def shop_policy(subject: Json = None, **spec: Json) -> Resource:
    return network_policy("p", subject, namespace="shop", **spec)


def fixes(findings: list[Finding]) -> list[str]:
    return [finding.fix.words if finding.fix else "" for finding in findings]


class TestSubjects:
    @pytest.mark.parametrize(
        "policy",
        [
            shop_policy(),
            shop_policy(labelled(app="web")),
            shop_policy(labelled(app="${APP}")),
            network_policy("p", namespace="empty"),
            admin_policy("p", 1, {"namespaces": labelled(team="shop")}),
            admin_policy("p", 1, {"pods": {"namespaceSelector": labelled(team="shop"), "podSelector": {}}}),
        ],
        ids=str,
    )
    def test_what_selects_something_or_needs_no_label(self, policy: Resource) -> None:
        assert checked(no_pods_selected, policy, WEB, SHOP) == []

    @pytest.mark.parametrize(
        ("policy", "field", "message"),
        [
            (shop_policy(labelled(app="x")), "podSelector", "there are no Pods app=x in namespace shop"),
            (
                network_policy("p", labelled(app="web"), namespace="empty"),
                "podSelector",
                "there are no Pods app=web in namespace empty",
            ),
            (
                admin_policy("p", 1, {"namespaces": labelled(team="x")}),
                "subject",
                "no Namespace has labels that match team=x",
            ),
            (
                admin_policy("p", 1, {"pods": {"podSelector": labelled(app="x")}}),
                "subject",
                "there are no Pods app=x in all namespaces",
            ),
        ],
    )
    def test_what_selects_nothing(self, policy: Resource, field: str, message: str) -> None:
        assert said(checked(no_pods_selected, policy, WEB, SHOP)) == [(f"spec.{field}", f"{message}, {NOTHING}")]

    def test_pods_on_the_network_of_their_nodes(self) -> None:
        """They count for a NetworkPolicy, of which it is not defined what it does to them."""
        agent = pod("agent", namespace="shop", hostNetwork=True)
        by_labels = labelled(app="agent")
        (finding,) = checked(no_pods_selected, admin_policy("p", 1, {"pods": {"podSelector": by_labels}}), agent)
        words = "Pods app=agent in all namespaces are on the network of their nodes, where such policies do not apply"
        assert finding.message == f"{words}, {NOTHING}"
        assert checked(no_pods_selected, shop_policy(by_labels), agent) == []

    @pytest.mark.parametrize(
        ("subject", "fix"),
        [
            ({"app": "wbe"}, "did you mean app=web?"),
            ({"aps": "web"}, "did you mean app=web?"),
            ({"aps": "none"}, ""),
            ({"app": "web", "tier": "frnot"}, "did you mean tier=front?"),
            ({"app": "web", "tier": "none"}, ""),
            ({"app": "cart", "tier": "frnt"}, ""),
            (
                {"app": "edge"},
                "such Pods are in infra: the policy belongs there",
            ),
        ],
    )
    def test_what_is_meant(self, subject: dict[str, str], fix: str) -> None:
        front = pod("web", {"app": "web", "tier": "front"}, namespace="shop")
        other = pod("cart", {"app": "cart", "tier": "back"}, namespace="shop")
        policy = shop_policy(labelled(**subject))
        assert fixes(checked(no_pods_selected, policy, front, other, EDGE)) == [fix]

    def test_namespaces_that_are_meant(self) -> None:
        named = "kubernetes.io/metadata.name"
        for labels, fix in (
            ({"team": "shpo"}, "did you mean team=shop?"),
            ({named: "infar"}, f"did you mean {named}=infra?"),
            ({"team": "x"}, ""),
        ):
            policies = [admin_policy(name, 1, {"namespaces": labelled(**labels)}) for name in ("p", "q")]
            assert fixes(checked(no_pods_selected, *policies, WEB, EDGE, SHOP, INFRA)) == [fix, fix]

    def test_a_namespace_whose_labels_were_not_read(self) -> None:
        policy = admin_policy("p", 1, {"namespaces": labelled(team="shpo")})
        assert checked(no_pods_selected, policy, WEB, EDGE, SHOP) == []

    def test_labels_are_compared_up_to_a_limit(self, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr(near_labels, "_MAX_COMPARISONS", 2)
        policies = [network_policy(name, labelled(app="wbe"), namespace="shop") for name in ("a", "b", "c")]
        assert fixes(checked(no_pods_selected, *policies, WEB)) == ["did you mean app=web?", "", ""]

    def test_a_selector_of_another_type(self) -> None:
        policy = shop_policy({"matchLabels": {"app": 1}})
        assert fixes(checked(no_pods_selected, policy, WEB)) == [""]


class TestOpenWorlds:
    @pytest.mark.parametrize(
        ("label", "certain", "likely"),
        [("other", False, False), ("wbe", False, False), ("checkuot", False, True)],
    )
    def test_a_slip_of_the_pen_counts(self, label: str, *, certain: bool, likely: bool) -> None:
        checkout = pod("checkout", namespace="shop")
        (finding,) = checked(no_pods_selected, shop_policy(labelled(app=label)), WEB, checkout, complete=False)
        assert (finding.certain, finding.is_likely) == (certain, likely)

    @pytest.mark.parametrize(
        "policy",
        [
            network_policy("p", labelled(app="x"), namespace="elsewhere"),
            admin_policy("p", 1, {"namespaces": labelled(team="x")}),
        ],
        ids=str,
    )
    def test_nothing_is_said_where_nothing_was_read(self, policy: Resource) -> None:
        assert checked(no_pods_selected, policy, complete=False) == []

    def test_a_gap_in_the_namespace(self) -> None:
        policy, elsewhere = shop_policy(labelled(app="x")), Gap("Pod", "infra", "forbidden", group="")
        assert [finding.certain for finding in checked(no_pods_selected, policy, WEB, gaps=[elsewhere])] == [True]
        inside = Gap("Pod", "shop", "forbidden", group="")
        assert [finding.certain for finding in checked(no_pods_selected, policy, WEB, gaps=[inside])] == [False]


class TestPeers:
    @pytest.mark.parametrize(
        "peer",
        [
            {"podSelector": {}},
            {"podSelector": labelled(app="web")},
            {"namespaceSelector": {}, "podSelector": labelled(app="edge")},
            {"ipBlock": {"cidr": "10.0.0.0/8"}},
            {},
        ],
    )
    def test_peers_that_match_something_or_have_no_labels(self, peer: Json) -> None:
        assert checked(no_peers_selected, shop_policy(ingress=[{"from": [peer]}, {}]), WEB, EDGE) == []

    @pytest.mark.parametrize(
        ("peer", "message", "fix"),
        [
            (
                {"podSelector": labelled(app="edge")},
                "there are no Pods app=edge in namespace shop",
                "such Pods are in infra: a namespaceSelector in the same entry selects them",
            ),
            (
                {"namespaceSelector": labelled(team="shpo")},
                "no Namespace has labels that match team=shpo",
                "did you mean team=shop?",
            ),
            (
                {"namespaceSelector": labelled(team="shop"), "podSelector": labelled(app="edge")},
                "there are no Pods app=edge in namespaces team=shop",
                "",
            ),
        ],
    )
    def test_peers_that_match_nothing(self, peer: Json, message: str, fix: str) -> None:
        findings = checked(no_peers_selected, shop_policy(ingress=[{"from": [peer]}]), WEB, EDGE, SHOP, INFRA)
        assert said(findings) == [("spec.ingress[0].from[0]", f"{message}, {BY_PEER}")]
        assert fixes(findings) == [fix]

    def test_the_action_says_what_is_lost(self) -> None:
        rules: Json = [
            {"action": action, "to": [{"pods": {"podSelector": labelled(app="x")}}]} for action in ("Deny", "Pass")
        ]
        assert said(checked(no_peers_selected, admin_policy("p", 1, egress=rules), WEB)) == [
            (
                f"spec.egress[{position}].to[0]",
                f"there are no Pods app=x in all namespaces, so the rule {effect} nothing by this entry",
            )
            for position, effect in enumerate(("denies", "passes on"))
        ]
