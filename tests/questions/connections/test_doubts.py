"""Reasons why a verdict is not known, each in the smallest world that has it."""

from __future__ import annotations

from collections.abc import Sequence

import pytest

from kubectl_policy import analyze
from kubectl_policy.model import Json, Resource
from kubectl_policy.questions.connections.connection import PortQuery, describe_connection
from kubectl_policy.questions.connections.endpoints import end_at_address, end_of
from kubectl_policy.topology.workloads.workload import parse_address
from tests import build


def pod(name: str, address: str = "", **spec: Json) -> Resource:
    status: Json = {"podIPs": [{"ip": address}]} if address else None
    return build.resource("Pod", name, {"containers": [], **spec}, group="", labels={"app": name}, status=status)


def network_policy(peer: Json, pods: Json = None) -> Resource:
    spec: Json = {"podSelector": pods or {}, "policyTypes": ["Egress"], "egress": [{"to": [peer]}]}
    return build.resource("NetworkPolicy", "np", spec, group="networking.k8s.io")


def cluster_policy(name: str, action: str, peer: Json, **spec: Json) -> Resource:
    rule: Json = [{"action": action, "to": [peer], "name": "r"}]
    content: Json = {"tier": "Admin", "priority": 1, "subject": {"namespaces": {}}, "egress": rule, **spec}
    return build.resource("ClusterNetworkPolicy", name, content, group="policy.networking.k8s.io", namespace="")


A, B = pod("a", "10.0.0.1"), pod("b", "10.0.0.2")
HERE = build.namespace("default")


@pytest.mark.parametrize(
    ("objects", "destination", "expected"),
    [
        ([network_policy({"namespaceSelector": {"matchLabels": {"team": "x"}}}), A, B], "b", ["namespace-unread"]),
        ([network_policy({"ipBlock": {"cidr": "10.0.0.0/8"}}), A, B, HERE], "b", ["pod-in-block"]),
        ([network_policy({"ipBlock": {"cidr": "10.0.0.0/8"}}), A, pod("b"), HERE], "b", ["address-unknown"]),
        (
            [network_policy({"podSelector": {}}), A, pod("b", "192.0.2.1", hostNetwork=True), HERE],
            "b",
            ["host-network"],
        ),
        ([network_policy({"ipBlock": {"cidr": "${CIDR}"}}), A, B, HERE], "b", ["placeholder"]),
        ([network_policy({"ipBlock": {"cidr": "${CIDR}"}}), A, B, HERE], "8.8.8.8", ["placeholder"]),
        ([network_policy({"podSelector": {"matchLabels": {"app": "${APP}"}}}), A, B, HERE], "b", ["placeholder"]),
        (
            [network_policy({"podSelector": {}}, {"matchLabels": {"app": "${APP}"}}), A, B, HERE],
            "8.8.8.8",
            ["placeholder"],
        ),
        ([cluster_policy("c", "Deny", {"domainNames": ["example.com"]}), A, B, HERE], "8.8.8.8", ["domain-name"]),
        ([cluster_policy("c", "Deny", {"nodes": {"matchLabels": {"a": "b"}}}), A, B, HERE], "8.8.8.8", ["node-unread"]),
        (
            [
                cluster_policy("c", "Deny", {"nodes": {"matchLabels": {"a": "b"}}}),
                A,
                pod("b", "192.0.2.1", hostNetwork=True, nodeName="n"),
                HERE,
            ],
            "b",
            ["node-unread"],
        ),
        (
            [cluster_policy("c", "Deny", {"namespaces": {}}), cluster_policy("d", "Accept", {"namespaces": {}}), A, B],
            "b",
            ["equal-priority"],
        ),
        (
            [cluster_policy("c", "Deny", {"namespaces": {}}, priority="${PRIORITY}"), A, B, HERE],
            "b",
            ["rule-unclear"],
        ),
        ([cluster_policy("c", "Deny", {"namespaces": {}}), A, B, HERE], "b", []),
    ],
)
def test_a_verdict_that_is_not_known_has_its_reasons(
    objects: Sequence[Resource], destination: str, expected: list[str]
) -> None:
    analysis = analyze(build.snapshot(*objects))
    address = parse_address(destination)
    target = end_at_address(analysis, address) if address else end_of(analysis, pod(destination).ref)
    answer = describe_connection(analysis, end_of(analysis, A.ref), target, PortQuery(80))
    egress = answer.connections[0].verdict.egress
    assert egress
    assert [doubt.reason for doubt in egress.doubts] == expected
    assert (egress.allowed is None) == bool(expected)
    assert answer.found_nothing == bool(expected)
