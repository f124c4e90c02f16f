"""Tests of `topology/workloads/population.py`."""

from __future__ import annotations

from collections.abc import Mapping

import pytest

from kubectl_policy.model import Json, ObjectRef, Resource
from kubectl_policy.model.kind_roles import POD
from kubectl_policy.topology.workloads import Workloads
from tests import build
from tests.topology.workloads.worlds import controller, names, pod, split, workloads

APP: Mapping[str, str] = {"app": "a"}
COMPLETE: Json = {"conditions": [{"type": "Complete", "status": "True"}]}


def owned(kind: str, name: str, group: str = "apps") -> list[Json]:
    return [{"apiVersion": f"{group}/v1", "kind": kind, "name": name, "controller": True}]


def of_job(name: str) -> list[Json]:
    return owned("Job", name, "batch")


def owned_pod(name: str, owner: list[Json], labels: Mapping[str, str] | None = None, **fields: Json) -> Resource:
    return build.with_metadata(pod(name, labels=labels, status=fields), ownerReferences=owner)


OF_DEPLOYMENT = owned("Deployment", "d")
HASH = {"pod-template-hash": "1"}


@pytest.mark.parametrize(
    ("resources", "expected"),
    [
        ([], []),
        ([pod("b"), pod("a"), pod("z", "a")], ["z", "a", "b"]),
        ([pod("done", status={"phase": "Succeeded"}), pod("failed", status={"phase": "Failed"}), pod("p")], ["p"]),
        ([controller("Deployment", "d", APP)], ["d"]),
        # By the labels of the template.
        ([controller("Deployment", "d", APP), pod("p", labels={"app": "b"})], ["d", "p"]),
        ([controller("Deployment", "d", APP), pod("p", "x", labels=APP)], ["d", "p"]),
        ([controller("Deployment", "d", APP), pod("p", labels=APP, status={"phase": "Failed"})], ["d"]),
        ([controller("Deployment", "d", {"app": "${A}"}), pod("p", labels=APP)], ["d", "p"]),
        ([controller("Deployment", "d", APP), pod("p", labels={"app": "a", "x": "y"})], ["p"]),
        # A template without labels has those of no Pod.
        ([controller("Job", "j"), pod("p", labels=APP)], ["j", "p"]),
        ([controller("Job", "j"), owned_pod("p", of_job("j"))], ["p"]),
        # A Pod of another controller, although it has the labels.
        (
            [
                controller("Job", "j", APP),
                controller("Deployment", "d", APP),
                owned_pod("p", of_job("j"), APP),
            ],
            ["d", "p"],
        ),
        # What another controller made.
        (
            [controller("ReplicaSet", "d-1", APP, ownerReferences=OF_DEPLOYMENT)],
            ["d-1"],
        ),
        (
            [
                controller("ReplicaSet", "d-1", APP, ownerReferences=OF_DEPLOYMENT),
                controller("Deployment", "d", APP),
            ],
            ["d"],
        ),
        (
            [controller("Job", "c-1", ownerReferences=owned("CronJob", "c", "batch")), controller("CronJob", "c")],
            ["c"],
        ),
        (
            [
                controller("Job", "c-1", ownerReferences=owned("CronJob", "c", "batch")),
                controller("CronJob", "c"),
                owned_pod("p", of_job("c-1")),
            ],
            ["p"],
        ),
        (
            [
                controller("ReplicaSet", "d-1", APP),
                owned_pod("p", owned("ReplicaSet", "d-1"), {"pod-template-hash": "1"}),
            ],
            ["p"],
        ),
        (
            [
                build.resource(
                    "Job", "j", group="batch", status={"conditions": [{"type": "Complete", "status": "True"}]}
                )
            ],
            [],
        ),
    ],
)
def test_workloads_are_pods_and_controllers_without_pods(resources: list[Resource], expected: list[str]) -> None:
    assert [workload.ref.name for workload in workloads(*resources).all] == expected


def test_a_cluster_runs_no_controller_without_pods() -> None:
    found = workloads(controller("Deployment", "d", APP), pod("p"), source="the cluster")
    assert [workload.ref.name for workload in found.all] == ["p"]


def test_the_position_of_a_workload() -> None:
    found = workloads(pod("a"), pod("b"), pod("done", status={"phase": "Failed"}))
    assert [found.position_of(build.ref("Pod", name, group="")) for name in ("a", "b", "done")] == [0, 1, None]
    assert [workload.ref.name for workload in found.at([1])] == ["b"]


def test_workloads_of_another_state_are_in_no_set() -> None:
    index = build.index(pod("a", labels=APP), pod("c", labels=APP, hostNetwork=True))
    found = Workloads(index, [ObjectRef(POD, "default", "b")])
    assert names(found, range(3)) == ["a", "b", "c"]
    assert names(found, found.everything) == ["a", "c"]
    assert names(found, found.on_host_network) == ["c"]
    assert split(found, found.selected({}, {"matchExpressions": []})) == (["a", "c"], [])
    assert split(
        found, found.selected("default", {"matchExpressions": [{"key": "x", "operator": "DoesNotExist"}]})
    ) == (
        ["a", "c"],
        [],
    )
    assert names(found, found.addresses.unknown) == ["a", "c"]
    assert {node: names(found, members) for node, members in found.by_node.items()} == {"": ["a", "c"]}


NAMESPACES = workloads(
    build.namespace("prod", {"env": "prod"}),
    build.namespace("dev", {"env": "${ENV}"}),
    pod("p", "prod", APP),
    pod("q", "prod", {"app": "b"}),
    pod("d", "dev", APP),
    pod("u", "unread", APP),
    pod("v", "${NS}-x", APP),
    pod("w", "?apps", APP),
)


@pytest.mark.parametrize(
    ("namespaces", "pods", "certain", "possible"),
    [
        ("none", {}, [], ["w"]),
        ("none-x", {}, [], ["w", "v"]),
        ("prod", {"matchLabels": {"app": "c"}}, [], []),
        ("prod", {}, ["p", "q"], ["w"]),
        ("prod", {"matchLabels": APP}, ["p"], ["w"]),
        # Of a namespace that is to be filled in, or that nothing states.
        ("${NS}-x", {}, ["v"], ["w"]),
        ("${NS}", {}, [], ["w", "d", "p", "q", "u"]),
        ("?apps", {}, ["w"], ["v", "d", "p", "q", "u"]),
        ("?other", {}, [], ["v", "w", "d", "p", "q", "u"]),
        ({}, {}, ["v", "w", "d", "p", "q", "u"], []),
        ({}, {"matchLabels": APP}, ["v", "w", "d", "p", "u"], []),
        ({"matchLabels": {"env": "prod"}}, {}, ["p", "q"], ["v", "w", "d", "u"]),
        ({"matchLabels": {"env": "prod"}}, {"matchLabels": {"app": "b"}}, ["q"], []),
        ({"matchExpressions": [{"key": "env", "operator": "NotIn", "values": ["prod"]}]}, {}, [], ["v", "w", "d", "u"]),
        ({"matchExpressions": [{"key": "env", "operator": "Exists"}]}, {}, ["d", "p", "q"], ["v", "w", "u"]),
        # An API server gives every Namespace the label, whether it was read or not.
        ({"matchLabels": {"kubernetes.io/metadata.name": "unread"}}, {}, ["u"], ["w"]),
        ({"matchLabels": {"kubernetes.io/metadata.name": "a-x"}}, {}, [], ["v", "w"]),
        ({"matchLabels": {"kubernetes.io/metadata.name": "unread", "env": "x"}}, {}, [], ["w", "u"]),
    ],
)
def test_workloads_by_selectors(
    namespaces: Mapping[str, Json] | str, pods: Mapping[str, Json], certain: list[str], possible: list[str]
) -> None:
    found_certain, found_possible = split(NAMESPACES, NAMESPACES.selected(namespaces, pods))
    assert (sorted(found_certain), sorted(found_possible)) == (sorted(certain), sorted(possible))


def test_workloads_by_node() -> None:
    found = workloads(pod("a", nodeName="n"), pod("b", nodeName="n"), pod("c"))
    assert {node: names(found, members) for node, members in found.by_node.items()} == {"n": ["a", "b"], "": ["c"]}


def port(name: str, number: Json, protocol: str = "TCP") -> Json:
    return [{"ports": [{"name": name, "containerPort": number, "protocol": protocol}]}]


PORTS = workloads(
    pod("a", containers=port("http", 80)),
    pod("b", containers=port("http", 8080)),
    pod("c", containers=port("http", 80)),
    pod("d", containers=port("http", "${PORT}", "UDP")),
    pod("e", containers=port("${NAME}", 1)),
    pod("f", containers=port("dns", 53)),
    pod("g"),
)


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("none", [((), ("TCP",), ["e"])]),
        (
            "http",
            [
                ((("TCP", 80),), (), ["a", "c"]),
                ((("TCP", 8080),), (), ["b"]),
                ((), ("UDP",), ["d"]),
                ((), ("TCP",), ["e"]),
            ],
        ),
    ],
)
def test_workloads_by_the_name_of_a_port(name: str, expected: list[object]) -> None:
    found = [
        (tuple(certain), tuple(possible), names(PORTS, members))
        for (certain, possible), members in PORTS.by_named_port(name).items()
    ]
    assert found == expected
