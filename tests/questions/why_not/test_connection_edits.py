"""Single edits for connections, in small worlds."""

from __future__ import annotations

import pytest

from kubectl_policy import Analysis, analyze
from kubectl_policy.comparison import compare
from kubectl_policy.model import GroupKind, Json, ObjectRef, Resource
from kubectl_policy.model.kind_roles import DEPLOYMENT, POD, SERVICE
from kubectl_policy.network.kinds import ADMIN_NETWORK_POLICY, CLUSTER_NETWORK_POLICY, NETWORK_POLICY
from kubectl_policy.network.policy import PortRange
from kubectl_policy.questions.connections.changes import NO_CONNECTION_CHANGES, connection_changes
from kubectl_policy.questions.connections.connection import PortQuery, describe_connection
from kubectl_policy.questions.connections.endpoints import end_of, has_connections
from kubectl_policy.questions.why_not.connections.answer import ConnectionExplanation, why_not_connected
from kubectl_policy.questions.why_not.connections.case import ConnectionCase, Wanted
from kubectl_policy.questions.why_not.connections.naming import named_pods
from kubectl_policy.questions.why_not.connections.spelling import spell_range
from tests import build

HERE = build.namespace("default")


def pod(name: str, labels: dict[str, str] | None = None, **spec: Json) -> Resource:
    status: Json = {"podIPs": [{"ip": f"10.0.0.{len(name)}"}]}
    return build.resource(
        "Pod", name, {"containers": [], **spec}, group="", labels=labels or {"app": name}, status=status
    )


def network_policy(name: str = "np", **spec: Json) -> Resource:
    return build.resource("NetworkPolicy", name, {"podSelector": {}, **spec}, group="networking.k8s.io")


def asked(analysis: Analysis, source: ObjectRef, destination: ObjectRef, wanted: Wanted) -> ConnectionExplanation:
    return why_not_connected(
        analysis, end_of(analysis, source), end_of(analysis, destination), PortQuery(80, "TCP"), wanted
    )


@pytest.mark.parametrize(
    ("kind", "ports", "expected"),
    [
        (NETWORK_POLICY, PortRange("TCP", 80, 80), {"protocol": "TCP", "port": 80}),
        (NETWORK_POLICY, PortRange("TCP", 80, 90), {"protocol": "TCP", "port": 80, "endPort": 90}),
        (
            CLUSTER_NETWORK_POLICY,
            PortRange("UDP", 5, 6),
            {"udp": {"destinationPort": {"range": {"start": 5, "end": 6}}}},
        ),
        (ADMIN_NETWORK_POLICY, PortRange("SCTP", 5, 6), {"portRange": {"protocol": "SCTP", "start": 5, "end": 6}}),
    ],
)
def test_a_range_is_spelt_as_its_kind_has_it(kind: GroupKind, ports: PortRange, expected: Json) -> None:
    assert spell_range(kind, ports) == expected


def test_what_can_be_an_end() -> None:
    assert [has_connections(kind) for kind in (POD, SERVICE, NETWORK_POLICY)] == [True, True, False]


def test_a_range_of_ports_is_cut_at_the_port() -> None:
    rule: Json = {"from": [{"podSelector": {}}], "ports": [{"port": 70, "endPort": 90}, {"port": 443}]}
    analysis = analyze(
        build.snapshot(HERE, pod("a"), pod("bb"), network_policy(policyTypes=["Ingress"], ingress=[rule]))
    )
    answer = asked(analysis, pod("a").ref, pod("bb").ref, "denied")
    ports = [
        change.added
        for edit in answer.edits
        for change in edit.changes
        if str(change.path).endswith("ports") and change.added
    ]
    assert answer.edits
    assert ports == [] or all("79" in str(added) and "81" in str(added) for added in ports)


def test_the_template_of_a_deployment_gets_a_label() -> None:
    """Its Pods change with it."""
    template: Json = {"metadata": {"labels": {"app": "web"}}, "spec": {"containers": []}}
    web = build.resource(
        "Deployment", "web", {"selector": {"matchLabels": {"app": "web"}}, "template": template}, group="apps"
    )
    made = pod("web-1", {"app": "web"})
    rule: Json = {"from": [{"podSelector": {"matchLabels": {"access": "granted"}}}]}
    policy = network_policy(policyTypes=["Ingress"], ingress=[rule], podSelector={"matchLabels": {"app": "db"}})
    analysis = analyze(build.snapshot(HERE, web, made, pod("db"), policy))
    answer = asked(analysis, ObjectRef(DEPLOYMENT, "default", "web"), pod("db").ref, "allowed")
    assert "Deployment default/web" in [str(edit.object) for edit in answer.edits]


def test_a_port_whose_name_is_to_be_filled_in_may_be_the_one() -> None:
    container: Json = [
        {"ports": [{"containerPort": 80, "name": "${NAME}"}, {"containerPort": 53, "name": "${X}", "protocol": "UDP"}]}
    ]
    rule: Json = {"ports": [{"port": "http"}]}
    analysis = analyze(
        build.snapshot(
            HERE, pod("a"), pod("bb", containers=container), network_policy(policyTypes=["Ingress"], ingress=[rule])
        )
    )
    ends = end_of(analysis, pod("a").ref), end_of(analysis, pod("bb").ref)
    assert describe_connection(analysis, *ends, PortQuery(80, "TCP")).allowed is None
    assert describe_connection(analysis, *ends, PortQuery(53, "UDP")).allowed is False


def test_a_definition_of_a_policy_kind_may_change_connections() -> None:
    """It says which defaults a policy has; a definition of another kind says nothing about connections."""
    definition = build.crd("ClusterNetworkPolicy", "policy.networking.k8s.io", cluster_scoped=True)
    other = build.crd("ColorPolicy", "example.com")
    world = (HERE, pod("a"), pod("bb"), network_policy(policyTypes=["Ingress"]))
    changes = connection_changes(compare(build.snapshot(*world), build.snapshot(*world, definition)))
    assert not changes
    assert connection_changes(compare(build.snapshot(*world), build.snapshot(*world, other))) is NO_CONNECTION_CHANGES


def test_pods_that_only_an_expression_selects_are_not_told_from_others() -> None:
    """No condition on one label is met by all Pods but those."""
    selector: Json = {"matchExpressions": [{"key": "app", "operator": "In", "values": ["web", "shop"]}]}
    web = build.resource(
        "Deployment", "web", {"selector": selector, "template": {"metadata": {"labels": {"app": "web"}}}}, group="apps"
    )
    world = (HERE, web, pod("web-1", {"app": "web"}), pod("db"))
    rule: Json = {"from": [{"podSelector": {}}]}
    for policies in ((), (network_policy(policyTypes=["Ingress"], ingress=[rule]),)):
        analysis = analyze(build.snapshot(*world, *policies))
        answer = asked(analysis, ObjectRef(DEPLOYMENT, "default", "web"), pod("db").ref, "denied")
        assert not any("NotIn" in str(change.added) for edit in answer.edits for change in edit.changes)


def test_the_pods_of_a_gateway_without_labels_in_common_are_no_peer() -> None:
    of_gateway: dict[str, str] = {"gateway.networking.k8s.io/gateway-name": "gw"}
    gateway = build.resource("Gateway", "gw", {"gatewayClassName": "x"})
    pods = (pod("one", {**of_gateway, "app": "one"}), pod("three", {**of_gateway, "app": "three"}))
    closed = network_policy(policyTypes=["Ingress"], podSelector={"matchLabels": {"app": "db"}})
    analysis = analyze(build.snapshot(HERE, gateway, *pods, pod("db"), closed))
    answer = asked(analysis, gateway.ref, pod("db").ref, "allowed")
    assert named_pods(analysis, answer.source) is None
    assert not any("ingress" in str(change.path) for edit in answer.edits for change in edit.changes)


def test_the_pods_of_a_job_get_no_labels() -> None:
    """Its template cannot be changed."""
    template: Json = {"metadata": {"labels": {"app": "task"}}, "spec": {"containers": []}}
    job = build.resource("Job", "task", {"template": template}, group="batch")
    rule: Json = {"from": [{"podSelector": {"matchLabels": {"access": "granted"}}}]}
    policy = network_policy(policyTypes=["Ingress"], ingress=[rule], podSelector={"matchLabels": {"app": "db"}})
    analysis = analyze(build.snapshot(HERE, job, pod("db"), policy))
    answer = asked(analysis, job.ref, pod("db").ref, "allowed")
    assert answer.edits
    assert job.ref not in [edit.object for edit in answer.edits]


def test_one_policy_that_denies_both_sides_is_edited_once() -> None:
    policy = network_policy(policyTypes=["Ingress", "Egress"])
    analysis = analyze(build.snapshot(HERE, pod("a"), pod("bb"), policy))
    answer = asked(analysis, pod("a").ref, pod("bb").ref, "allowed")
    assert answer.pair is None
    assert [edit.object for edit in answer.edits] == [policy.ref]
    (edit,) = answer.edits
    assert {str(change.path) for change in edit.changes} >= {"spec.egress", "spec.ingress"}


def test_an_end_without_pods_in_another_state() -> None:
    web = build.resource("Service", "web", {"selector": {"app": "a"}, "ports": [{"port": 80}]}, group="")
    analysis = analyze(build.snapshot(HERE, web, pod("a"), pod("bb")))
    ends = end_of(analysis, web.ref), end_of(analysis, pod("bb").ref)
    case = ConnectionCase(
        analysis=analysis, source=ends[0], destination=ends[1], query=PortQuery(80, "TCP"), wanted="denied"
    )
    assert case.in_state(analyze(build.snapshot(HERE, web, pod("bb")))) is None
    assert case.in_state(analysis) == case
