"""Tests of `topology/workloads/owners.py`."""

from __future__ import annotations

from collections.abc import Mapping

import pytest
from msgspec.structs import replace

from kubectl_policy.model import Json, Resource
from kubectl_policy.model.kind_roles import KINDS
from kubectl_policy.topology.workloads import Workloads
from tests import build

LABELS = {"app": "web", "pod-template-hash": "5d6f"}


def controlled_by(kind: str, name: str, *, is_controller: Json = True) -> list[Json]:
    """The ownerReferences of an object with one owner."""
    group = next((group_kind.group for group_kind in KINDS if group_kind.kind == kind), "example.com")
    version = "v1" if kind == "Node" else f"{group}/v1"
    return [{"apiVersion": version, "kind": kind, "name": name, "uid": "u", "controller": is_controller}]


def pod(name: str = "p", labels: Mapping[str, str] = LABELS, namespace: str = "default", **metadata: Json) -> Resource:
    built = build.resource("Pod", name, {}, group="", namespace=namespace, labels=labels)
    return build.with_metadata(built, **metadata)


def controller(
    kind: str, name: str, selector: Json = None, namespace: str = "default", owners: Json = None
) -> Resource:
    group = next(group_kind.group for group_kind in KINDS if group_kind.kind == kind)
    built = build.resource(kind, name, {"selector": selector}, group=group, namespace=namespace)
    return build.with_metadata(built, ownerReferences=owners)


def app(name: str) -> dict[str, Json]:
    return {"matchLabels": {"app": name}}


def expression(operator: str, *values: str) -> dict[str, Json]:
    return {"matchExpressions": [{"key": "app", "operator": operator, "values": values}]}


def owner(*resources: Resource, source: str = "the input") -> str:
    """The owner of the first object, as `Kind name`."""
    index = build.index(*resources)
    snapshot = replace(index.snapshot, source=source)
    workloads = Workloads(type(index)(snapshot))
    workload = next(it for it in workloads.all if it.ref == resources[0].ref)
    ref = workloads.owner_of(workload)
    return f"{ref.kind} {ref.qualified_name}"


@pytest.mark.parametrize(
    ("owners", "expected"),
    [
        (None, "Pod default/p"),
        ("web", "Pod default/p"),
        ([1, {}, {"controller": True, "kind": 1, "name": "web"}], "Pod default/p"),
        ([{"controller": True, "kind": "ReplicaSet", "name": ""}], "Pod default/p"),
        # An owner that does not manage the Pod only keeps it from being collected.
        (controlled_by("StatefulSet", "db", is_controller=None), "Pod default/p"),
        (controlled_by("StatefulSet", "db", is_controller="true"), "Pod default/p"),
        # A mirror Pod of the kubelet's.
        (controlled_by("Node", "node-1"), "Pod default/p"),
        (controlled_by("StatefulSet", "db"), "StatefulSet default/db"),
        (controlled_by("DaemonSet", "agent"), "DaemonSet default/agent"),
        (controlled_by("KafkaSet", "kafka"), "KafkaSet default/kafka"),
        (controlled_by("Job", "j", is_controller=False) + controlled_by("DaemonSet", "d"), "DaemonSet default/d"),
    ],
)
def test_the_controller_is_the_managing_owner(owners: Json, expected: str) -> None:
    assert owner(pod(ownerReferences=owners)) == expected


@pytest.mark.parametrize(
    ("name", "labels", "expected"),
    [
        ("web-5d6f", {}, "ReplicaSet default/web-5d6f"),
        ("web-5d6f", {"pod-template-hash": "77aa"}, "ReplicaSet default/web-5d6f"),
        ("web5d6f", LABELS, "ReplicaSet default/web5d6f"),
        ("-5d6f", LABELS, "ReplicaSet default/-5d6f"),
        ("web-5d6f", LABELS, "Deployment default/web"),
        ("web-a-5d6f", LABELS, "Deployment default/web-a"),
    ],
)
def test_the_hash_of_the_template_names_the_deployment(name: str, labels: Mapping[str, str], expected: str) -> None:
    owned = pod(labels=labels, ownerReferences=controlled_by("ReplicaSet", name))
    assert owner(owned) == expected
    assert owner(owned, source="the cluster") == expected


@pytest.mark.parametrize(
    ("above", "expected"),
    [
        ([], "Job default/j"),
        ([controller("Job", "j")], "Job default/j"),
        ([controller("Job", "j", namespace="x", owners=controlled_by("CronJob", "c"))], "Job default/j"),
        ([controller("Job", "j", owners=controlled_by("Workflow", "w"))], "Job default/j"),
        ([controller("Job", "j", owners=controlled_by("CronJob", "c"))], "CronJob default/c"),
    ],
)
def test_a_cronjob_stands_for_a_job_that_says_so(above: list[Resource], expected: str) -> None:
    assert owner(pod(ownerReferences=controlled_by("Job", "j")), *above) == expected


def test_a_replicaset_in_manifests_says_which_deployment_it_is_of() -> None:
    owned = pod(labels={}, ownerReferences=controlled_by("ReplicaSet", "blue"))
    blue = controller("ReplicaSet", "blue", owners=controlled_by("Deployment", "web"))
    assert owner(owned, blue) == "Deployment default/web"
    # Of a cluster no list of ReplicaSets is asked for.
    assert owner(owned, blue, source="the cluster") == "ReplicaSet default/blue"
    rollout = controller("ReplicaSet", "blue", owners=controlled_by("Rollout", "web"))
    assert owner(owned, rollout) == "ReplicaSet default/blue"


@pytest.mark.parametrize(
    ("controllers", "expected"),
    [
        ([controller("Deployment", "web", app("db"))], "Pod default/p"),
        ([controller("Deployment", "web", app("web"), namespace="x")], "Pod default/p"),
        ([controller("Deployment", "web", {})], "Pod default/p"),
        ([controller("Deployment", "web", "app=web")], "Pod default/p"),
        ([controller("Deployment", "web", {"matchLabels": {"app": "${APP}"}})], "Pod default/p"),
        ([controller("CronJob", "web", app("web"))], "Pod default/p"),
        ([controller("Deployment", "a", app("web")), controller("StatefulSet", "b", app("web"))], "Pod default/p"),
        ([controller("Deployment", "web", {**expression("Exists"), "matchLabels": {"a": "b"}})], "Pod default/p"),
        ([controller("Deployment", "web", {**expression("In", "db", "x"), **app("web")})], "Pod default/p"),
        ([controller("StatefulSet", "db", app("db")), controller("Job", "j", app("web"))], "Job default/j"),
        ([controller("DaemonSet", "d", expression("Exists"))], "DaemonSet default/d"),
        ([controller("Job", "j", expression("In", "a", "web"))], "Job default/j"),
        (
            [controller("Deployment", "web", app("web")), controller("ReplicaSet", "web-5d6f", app("web"))],
            "Deployment default/web",
        ),
    ],
)
def test_in_manifests_the_selector_of_one_controller_says_whose_the_pod_is(
    controllers: list[Resource], expected: str
) -> None:
    assert owner(pod(), *controllers) == expected


def test_a_pod_from_a_server_says_itself_that_it_has_no_controller() -> None:
    """A controller adopts what it selects, and would be an owner."""
    assert owner(pod(uid="u"), controller("Deployment", "web", app("web"))) == "Pod default/p"


def test_a_controller_without_pods_is_its_own_owner_or_its_controllers() -> None:
    assert owner(controller("Deployment", "web", app("web"))) == "Deployment default/web"
    assert owner(controller("Job", "j", owners=controlled_by("CronJob", "c"))) == "CronJob default/c"


def test_a_workload_that_was_read_makes_another_one() -> None:
    deployment = controller("Deployment", "web", app("web"))
    replica_set = controller("ReplicaSet", "web-5d6f", app("web"), owners=controlled_by("Deployment", "web"))
    owned = pod(ownerReferences=controlled_by("ReplicaSet", "web-5d6f"))

    def made(*resources: Resource) -> bool:
        return Workloads(build.index(*resources)).owners.is_made(resources[0])

    assert not made(deployment, replica_set, owned)
    assert not made(replica_set, owned)
    assert made(replica_set, deployment)
    assert not made(owned)
    assert made(owned, deployment)
    # The Deployment was not read.
    assert made(owned, replica_set)
    assert made(pod(), deployment)
    # What is no workload kind does not count, read or not.
    strange = build.resource("KafkaSet", "kafka", {}, group="example.com")
    assert not made(pod(ownerReferences=controlled_by("KafkaSet", "kafka")), strange)
