"""Network policies that an API server rejects, and rules that it accepts although they count for nothing."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from msgspec.structs import replace

from kubectl_policy import analyze
from kubectl_policy.lint.lint_world import LintWorld
from kubectl_policy.lint.rules.network.admission import network_policy_invalid, network_rules_ignored
from kubectl_policy.lint.settings import LintSettings
from tests import build
from tests.lint.network.manifests import admin_policy, baseline_policy, cluster_policy, network_policy
from tests.lint.rule_worlds import checked, said

if TYPE_CHECKING:
    from kubectl_policy.model import Json

DEFINED = build.resource(
    "CustomResourceDefinition",
    "baselineadminnetworkpolicies.policy.networking.k8s.io",
    {
        "group": "policy.networking.k8s.io",
        "names": {"kind": "BaselineAdminNetworkPolicy", "plural": "baselineadminnetworkpolicies"},
        "scope": "Cluster",
        "versions": [{"name": "v1alpha1", "served": True, "storage": True}],
    },
    group="apiextensions.k8s.io",
)


class TestInvalid:
    def test_a_world_without_network_policies(self) -> None:
        assert checked(network_policy_invalid, build.route("r")) == []

    def test_each_kind(self) -> None:
        findings = checked(
            network_policy_invalid,
            network_policy("p", ingress=[{"ports": [{"port": 0}]}]),
            baseline_policy("other"),
            admin_policy("p", -1),
            cluster_policy("p", 1, tier="Admin"),
        )
        assert [(str(finding.subject), finding.field) for finding in findings] == [
            ("NetworkPolicy default/p", "spec.ingress[0].ports[0].port"),
            ("AdminNetworkPolicy p", "spec.priority"),
            ("BaselineAdminNetworkPolicy other", "metadata.name"),
        ]

    def test_a_definition_in_the_input_decides(self) -> None:
        assert checked(network_policy_invalid, baseline_policy("other"), DEFINED) == []

    def test_what_a_cluster_accepted(self) -> None:
        wrong = network_policy("p", ingress=[{"ports": [{"port": 0}]}])
        snapshot = replace(build.snapshot(wrong, complete=True), source="the cluster")
        for applied, count in ((frozenset({wrong.ref}), 1), (frozenset(), 0)):
            world = LintWorld(analyze(replace(snapshot, applied=applied)), LintSettings(), lambda _: True)
            assert len([*network_policy_invalid.check(world)]) == count


class TestIgnored:
    @pytest.mark.parametrize(
        ("types", "fields"),
        [
            (None, []),
            ([], []),
            (["Ingress", "Egress"], []),
            (["${TYPE}"], []),
            (["Ingress"], ["spec.egress"]),
            (["Egress"], ["spec.ingress"]),
        ],
    )
    def test_directions_without_a_policy_type(self, types: Json, fields: list[str]) -> None:
        policy = network_policy("p", policyTypes=types, ingress=[{}], egress=[{}])
        assert [finding.field for finding in checked(network_rules_ignored, policy)] == fields

    def test_the_remedy(self) -> None:
        (finding,) = checked(network_rules_ignored, network_policy("p", policyTypes=["Ingress"], egress=[{}]))
        assert finding.message == (
            "policyTypes does not have Egress, so these rules are ignored: "
            "the policy denies no connection from the Pods"
        )
        assert finding.fix
        assert finding.fix.words == "add Egress to spec.policyTypes"

    @pytest.mark.parametrize(("action", "count"), [("Accept", 0), ("Deny", 1), ("Pass", 1)])
    def test_names_of_domains(self, action: str, count: int) -> None:
        rule: Json = {"action": action, "to": [{"domainNames": ["a.example"]}]}
        message = f"domainNames counts only in rules that accept connections, and this one has action {action}"
        findings = checked(network_rules_ignored, cluster_policy("p", 1, egress=[rule]))
        assert said(findings) == [("spec.egress[0].to[0].domainNames", message)] * count
