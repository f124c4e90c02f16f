"""What an API server rejects in network policies, by its own validation."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

import pytest

from kubectl_policy.network.admission import rejections
from kubectl_policy.network.cluster_admission import cluster_rejections
from kubectl_policy.network.entries import parse_cidr
from tests import build

if TYPE_CHECKING:
    from kubectl_policy.model import Json, Resource

ALL: Final[Json] = {"podSelector": {}}
ANY: Final[dict[str, Json]] = {"namespaces": {}}
CHOICES: Final = "it needs exactly one of namespaces, pods"
EGRESS_CHOICES: Final = f"{CHOICES}, nodes, networks, domainNames"


def in_ports(port: Json) -> Json:
    return {"ingress": [{"ports": [port]}]}


def in_peers(peer: Json) -> Json:
    return {"egress": [{"to": [peer]}]}


def by(operator: str, *values: str) -> Json:
    return {"matchExpressions": [{"key": "app", "operator": operator, "values": [*values]}]}


class TestNetworkPolicies:
    @pytest.mark.parametrize(
        "spec",
        [
            None,
            {},
            {"policyTypes": ["Ingress", "Egress"], "podSelector": by("In", "a")},
            {"policyTypes": ["${TYPE}"], "podSelector": by("${OPERATOR}")},
            {"podSelector": by("Exists"), "ingress": [{}], "egress": [{"to": [], "ports": []}]},
            in_ports({}),
            in_ports({"port": 1, "endPort": 65535, "protocol": "SCTP"}),
            in_ports({"port": 80, "endPort": 80}),
            in_ports({"port": "web-2"}),
            in_ports({"port": "${PORT}", "protocol": "${PROTOCOL}", "endPort": 2}),
            in_ports({"port": 80, "endPort": "${END}"}),
            in_peers(ALL),
            in_peers({"podSelector": {}, "namespaceSelector": by("NotIn", "a")}),
            in_peers({"ipBlock": {"cidr": "10.0.0.1/8", "except": ["10.1.0.0/16", "${EXCEPT}"]}}),
            in_peers({"ipBlock": {"cidr": "${CIDR}", "except": ["192.0.2.0/24"]}}),
            in_peers({"ipBlock": {"cidr": "010.0.0.0/08"}}),
            {"policyTypes": "Ingress", "ingress": "all", "egress": [None]},
        ],
    )
    def test_what_is_accepted(self, spec: Json) -> None:
        assert [*rejections({"spec": spec})] == []

    @pytest.mark.parametrize(
        ("spec", "field", "message"),
        [
            ({"policyTypes": ["ingress"]}, "policyTypes[0]", "ingress is no policy type, only Ingress and Egress are"),
            (
                {"policyTypes": ["Ingress", "Egress", "Egress"]},
                "policyTypes",
                "there are more than two policy types",
            ),
            ({"podSelector": by("In")}, "podSelector.matchExpressions[0]", "operator In needs values"),
            (
                {"podSelector": by("Exists", "a")},
                "podSelector.matchExpressions[0].values",
                "operator Exists takes no values",
            ),
            (
                in_peers({"namespaceSelector": by("")}),
                "egress[0].to[0].namespaceSelector.matchExpressions[0].operator",
                "nothing is no operator of a selector, only In, NotIn, Exists, DoesNotExist are",
            ),
            (
                in_ports({"port": "80"}),
                "ingress[0].ports[0].port",
                '"80" is no name of a port; a number stands without quotes',
            ),
            (in_ports({"port": "a--b"}), "ingress[0].ports[0].port", '"a--b" is no name of a port'),
            (
                in_ports({"port": 0}),
                "ingress[0].ports[0].port",
                "0 is no port: ports are numbers from 1 to 65535",
            ),
            (
                in_ports({"port": True}),
                "ingress[0].ports[0].port",
                "True is no port: ports are numbers from 1 to 65535",
            ),
            (
                in_ports({"port": ["${PORT}"]}),
                "ingress[0].ports[0].port",
                "a list is no port: ports are numbers from 1 to 65535",
            ),
            (in_ports({"endPort": 9}), "ingress[0].ports[0].endPort", "endPort needs port, where the range begins"),
            (
                in_ports({"port": "web", "endPort": 9}),
                "ingress[0].ports[0].endPort",
                "endPort needs a number as port, and web is a name",
            ),
            (in_ports({"port": 10, "endPort": 9}), "ingress[0].ports[0].endPort", "endPort 9 is lower than port 10"),
            (
                in_ports({"protocol": "tcp"}),
                "ingress[0].ports[0].protocol",
                "tcp is no protocol, only TCP, UDP, SCTP are",
            ),
            (
                in_ports({"protocol": [{}]}),
                "ingress[0].ports[0].protocol",
                "a list is no protocol, only TCP, UDP, SCTP are",
            ),
            (in_peers({}), "egress[0].to[0]", "it names no peer: podSelector, namespaceSelector or ipBlock"),
            (
                in_peers({"ipBlock": {"cidr": "10.0.0.0/8"}, "podSelector": {}}),
                "egress[0].to[0]",
                "ipBlock cannot stand beside podSelector",
            ),
            (
                in_peers({"ipBlock": {}}),
                "egress[0].to[0].ipBlock.cidr",
                "nothing is no range of addresses such as 10.0.0.0/8",
            ),
            (
                in_peers({"ipBlock": {"cidr": "10.0.0.0/8", "except": ["10.0.0.0/8"]}}),
                "egress[0].to[0].ipBlock.except[0]",
                "10.0.0.0/8 is no strict part of cidr 10.0.0.0/8",
            ),
            (
                in_peers({"ipBlock": {"cidr": "10.0.0.0/8", "except": ["fd00::/16"]}}),
                "egress[0].to[0].ipBlock.except[0]",
                "fd00::/16 is no strict part of cidr 10.0.0.0/8",
            ),
            (
                in_peers({"ipBlock": {"cidr": "10.0.0.0/8", "except": [{}]}}),
                "egress[0].to[0].ipBlock.except[0]",
                "a mapping is no range of addresses such as 10.0.0.0/8",
            ),
        ],
    )
    def test_what_is_rejected(self, spec: Json, field: str, message: str) -> None:
        (rejection,) = rejections({"spec": spec})
        assert (rejection.field, rejection.message) == (f"spec.{field}", message)

    @pytest.mark.parametrize(
        "text", ["10.0.0.0", "10.0.0.0/33", "10.0.0.0/255.0.0.0", "fe80::1%eth0/64", "a/8", "/8", "10.0.0.0/٨", ""]
    )
    def test_no_range_of_addresses(self, text: str) -> None:
        assert parse_cidr(text) is None


def policy(kind: str, spec: Json, name: str = "p", version: str = "v1alpha1") -> Resource:
    group = "policy.networking.k8s.io"
    return build.resource(kind, name, spec, group=group, apiVersion=f"{group}/{version}")


def anp(**spec: Json) -> Resource:
    return policy("AdminNetworkPolicy", {"priority": 1, "subject": ANY, **spec})


def cnp(**spec: Json) -> Resource:
    return policy("ClusterNetworkPolicy", {"tier": "Admin", "priority": 1, "subject": ANY, **spec}, version="v1alpha2")


def rule(action: Json = "Deny", **fields: Json) -> Json:
    return {"action": action, **fields}


class TestPoliciesForTheCluster:
    @pytest.mark.parametrize(
        "resource",
        [
            policy("BaselineAdminNetworkPolicy", {"subject": ANY}, "default"),
            policy("BaselineAdminNetworkPolicy", {"subject": ANY}, "${NAME}"),
            policy("AdminNetworkPolicy", {}, version="v1"),
            anp(priority="${PRIORITY}", ingress=[rule("${ACTION}", **{"from": [ANY]})]),
            anp(
                priority=1000,
                egress=[
                    rule(to=[{"networks": ["${CIDR}", "10.0.0.0/8"]}], ports=[{"portNumber": {"port": 80}}, {}, "a"])
                ],
            ),
            cnp(egress=[rule("Accept", to=[ANY], protocols=[{"destinationNamedPort": "web"}])]),
            cnp(
                tier="${TIER}",
                egress=[rule("Pass", to=[{"nodes": {}}], protocols=[{"tcp": {"destinationPort": {"number": 1}}}])],
            ),
        ],
        ids=str,
    )
    def test_what_is_accepted(self, resource: Resource) -> None:
        assert [*cluster_rejections(resource)] == []

    @pytest.mark.parametrize(
        ("resource", "field", "message"),
        [
            (
                policy("BaselineAdminNetworkPolicy", {"subject": ANY}),
                "metadata.name",
                "the only policy of its kind in a cluster is called default",
            ),
            (anp(priority=1001), "spec.priority", "1001 is no priority: these are 0 to 1000"),
            (anp(priority=None), "spec.priority", "nothing is no priority: these are 0 to 1000"),
            (cnp(tier="admin"), "spec.tier", "admin is no tier, only Admin and Baseline are"),
            (anp(subject={}), "spec.subject", CHOICES),
            (anp(subject={**ANY, "pods": {}}), "spec.subject", f"{CHOICES}, not namespaces and pods"),
            (
                anp(ingress=[rule(**{"from": [{"networks": ["10.0.0.0/8"]}]})]),
                "spec.ingress[0].from[0]",
                f"{CHOICES}, not networks",
            ),
            (
                anp(ingress=[rule(**{"from": [{"a.[b": {}}]})]),
                "spec.ingress[0].from[0]",
                f"{CHOICES}, not a.[b",
            ),
            (anp(egress=[rule(to=[{"nodes": None}])]), "spec.egress[0].to[0]", EGRESS_CHOICES),
            (anp(egress=[rule(to=[])]), "spec.egress[0]", "a rule needs to with at least one peer"),
            (
                cnp(egress=[rule("Allow", to=[ANY])]),
                "spec.egress[0].action",
                "Allow is no action, only Accept, Deny, Pass are",
            ),
            (
                policy("BaselineAdminNetworkPolicy", {"subject": ANY, "egress": [rule("Pass", to=[ANY])]}, "default"),
                "spec.egress[0].action",
                "Pass is no action, only Allow, Deny are",
            ),
            (
                anp(egress=[rule(to=[{"networks": ["10.0.0.0"]}])]),
                "spec.egress[0].to[0].networks[0]",
                "10.0.0.0 is no range of addresses such as 10.0.0.0/8",
            ),
            (
                cnp(egress=[rule(to=[ANY], protocols=[{"udp": {"destinationPort": {"range": {"end": 70000}}}}])]),
                "spec.egress[0].protocols[0].udp.destinationPort.range.end",
                "70000 is no port: ports are numbers from 1 to 65535",
            ),
            (
                anp(egress=[rule(to=[{"nodes": {}}], ports=[{"namedPort": "web"}])]),
                "spec.egress[0]",
                "ports have no names at nodes, so namedPort is not allowed",
            ),
        ],
    )
    def test_what_is_rejected(self, resource: Resource, field: str, message: str) -> None:
        (rejection,) = cluster_rejections(resource)
        assert (rejection.field, rejection.message) == (field, message)
