"""Tests of `questions/workload_rows.py`: Pods and their controllers as rows."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Final, cast

import pytest
from msgspec.structs import replace

from kubectl_policy import analyze
from kubectl_policy.errors import NotFoundError
from kubectl_policy.model import Gap, Json, ObjectRef, Permission, Resource
from kubectl_policy.model.snapshot import SnapshotSource
from kubectl_policy.questions.lists import list_names, list_type
from kubectl_policy.questions.shared.selection import Listing, Selection
from kubectl_policy.questions.workload_rows import PodRow, WorkloadRow
from tests import build
from tests.lint.network.manifests import admin_policy, baseline_policy, labelled, network_policy, pod
from tests.questions.build import analyzed

DENY: Final[Json] = [{"action": "Deny", "from": [{"namespaces": {}}]}]
BY_TEAM: Final[Json] = {"namespaces": labelled(team="shop")}


def owned(resource: Resource, kind: str, name: str, group: str = "apps") -> Resource:
    owner: Json = {"apiVersion": f"{group}/v1", "kind": kind, "name": name, "controller": True}
    return build.with_metadata(resource, ownerReferences=[owner])


def controller(kind: str, name: str, app: str, *, group: str = "apps", namespace: str = "default") -> Resource:
    template: Json = {"metadata": {"labels": {"app": app}}, "spec": {}}
    selector: Json = None if kind == "Job" else labelled(app=app)
    return build.resource(kind, name, {"selector": selector, "template": template}, group=group, namespace=namespace)


def listing(
    type_name: str,
    *resources: Resource,
    source: SnapshotSource = "the input",
    gaps: Sequence[Gap] = (),
    selection: Selection = Selection(),  # noqa: B008 (a value)
) -> Listing[WorkloadRow]:
    snapshot = replace(build.snapshot(*resources, gaps=gaps), source=source)
    return cast("Listing[WorkloadRow]", list_type(analyze(snapshot), type_name, selection))


def row(
    type_name: str, *resources: Resource, source: SnapshotSource = "the input", gaps: Sequence[Gap] = ()
) -> WorkloadRow:
    """The row of the first object."""
    rows = listing(type_name, *resources, source=source, gaps=gaps).rows
    return next(row for row in rows if row.ref == resources[0].ref)


def pod_row(*resources: Resource, gaps: Sequence[Gap] = ()) -> PodRow:
    return cast("PodRow", row("pods", *resources, gaps=gaps))


def names(refs: Iterable[ObjectRef]) -> list[str]:
    return [ref.name for ref in refs]


HIDDEN_PODS: Final = Gap("Pod", "", "forbidden", group="", needs=Permission("list", "pods", ""), remedy="ask for it")
HIDDEN_POLICIES: Final = Gap(
    "NetworkPolicy",
    "",
    "forbidden",
    group="networking.k8s.io",
    needs=Permission("list", "networkpolicies.networking.k8s.io", ""),
    remedy="ask for it",
)


def test_a_pod_has_the_policies_that_select_it_in_the_order_of_evaluation() -> None:
    answer = pod_row(
        pod("web"),
        network_policy("others", labelled(app="db")),
        network_policy("egress", policyTypes=["Egress"]),
        baseline_policy(ingress=DENY),
        admin_policy("first", 1),
    )
    assert names(answer.listed.policies) == ["first", "egress", "default"]
    assert answer.listed.possible_policies == ()
    assert (answer.workload.ingress, answer.workload.egress) == ("restricted", "isolated")
    assert answer.listed.complete


def test_a_policy_that_may_select_a_pod_may_affect_it() -> None:
    """Of a Namespace that was not read, the labels are unknown."""
    answer = pod_row(pod("web"), admin_policy("perhaps", 1, BY_TEAM, ingress=DENY))
    assert (answer.listed.policies, names(answer.listed.possible_policies)) == ((), ["perhaps"])
    assert (answer.workload.ingress, answer.workload.egress) == ("unknown", "open")
    assert [spot.what for spot in answer.listed.unseen] == ["Namespace default"]
    # Where no policy is in doubt, nobody has to look for the Namespace.
    peers: Json = [{"action": "Allow", "from": [BY_TEAM]}]
    assert pod_row(pod("web"), admin_policy("certain", 1, ingress=peers)).listed.complete


@pytest.mark.parametrize("phase", ["Succeeded", "Failed"])
def test_a_pod_that_has_ended_has_no_connections(phase: str) -> None:
    ended = build.resource("Pod", "web", {}, group="", labels={"app": "web"}, status={"phase": phase})
    answer = pod_row(ended, network_policy("p"))
    assert answer.finished
    assert answer.phase == phase
    assert (answer.workload.ingress, answer.workload.egress, answer.listed.policies) == (None, None, ())


def test_a_pod_on_the_network_of_its_node_says_so() -> None:
    answer = pod_row(pod("web", hostNetwork=True), network_policy("p"))
    assert answer.workload.host_network
    assert (answer.workload.ingress, answer.workload.egress) == ("unknown", "open")
    assert (answer.listed.policies, names(answer.listed.possible_policies)) == ((), ["p"])
    assert not pod_row(pod("web"), network_policy("p")).workload.host_network


def test_a_pod_says_where_it_runs_for_whom_and_which_services_select_it() -> None:
    web = owned(pod("web", ip="10.1.2.3", nodeName="node-1"), "StatefulSet", "db")
    homes = {"b": ("web", "default"), "a": ("web", "default"), "c": ("db", "default"), "d": ("web", "far")}
    services = [
        build.resource("Service", name, {"selector": {"app": app}}, group="", namespace=namespace)
        for name, (app, namespace) in homes.items()
    ]
    answer = pod_row(web, *services)
    assert (answer.node, answer.addresses, answer.controller and str(answer.controller)) == (
        "node-1",
        ("10.1.2.3",),
        "StatefulSet default/db",
    )
    assert names(answer.workload.services) == ["a", "b"]
    lone = pod_row(pod("web"))
    assert (lone.node, lone.addresses, lone.controller, lone.workload.services, lone.finished) == (
        "",
        (),
        None,
        (),
        False,
    )


def test_hidden_policies_may_isolate_what_is_not_isolated() -> None:
    answer = pod_row(pod("web"), network_policy("p"), baseline_policy(egress=DENY), gaps=[HIDDEN_POLICIES])
    assert (answer.workload.ingress, answer.workload.egress) == ("isolated", "unknown")
    assert not answer.listed.complete
    assert pod_row(pod("web"), gaps=[replace(HIDDEN_POLICIES, namespace="far")]).workload.ingress == "open"


@pytest.mark.parametrize(
    ("kind", "group", "spec", "isolation", "reason"),
    [
        ("CiliumNetworkPolicy", "cilium.io", {"endpointSelector": {}}, ("isolated", "unknown"), "it applies here"),
        ("EgressFirewall", "k8s.ovn.org", {}, ("isolated", "unknown"), "it applies here"),
        ("NetworkPolicy", "projectcalico.org", {"selector": "(x)"}, ("isolated", "unknown"), "it may apply here"),
        ("NetworkPolicy", "projectcalico.org", {"selector": "has(x)"}, ("isolated", "open"), ""),
        ("StagedNetworkPolicy", "projectcalico.org", {}, ("isolated", "open"), ""),
    ],
)
def test_policies_that_are_not_evaluated_may_isolate_what_is_not_isolated(
    kind: str, group: str, spec: Json, isolation: tuple[str, str], reason: str
) -> None:
    found = pod_row(pod("web"), network_policy("wall"), build.resource(kind, "p", spec, group=group))
    assert (found.workload.ingress, found.workload.egress) == isolation
    assert [spot.reason.partition(", ")[0] for spot in found.unseen] == ([reason] if reason else [])


def test_workloads_are_controllers_without_controllers_and_pods_of_none() -> None:
    replica_set = owned(controller("ReplicaSet", "web-5d", "web"), "Deployment", "web")
    job = owned(controller("Job", "night-1", "night", group="batch"), "CronJob", "night", "batch")
    hashed = {"app": "web", "pod-template-hash": "5d"}
    answer = listing(
        "workloads",
        controller("Deployment", "web", "web"),
        replica_set,
        owned(pod("web-1", hashed), "ReplicaSet", "web-5d"),
        owned(pod("web-2", hashed), "ReplicaSet", "web-5d"),
        build.resource("CronJob", "night", {}, group="batch"),
        job,
        owned(pod("night-1-x"), "Job", "night-1", "batch"),
        controller("StatefulSet", "db", "db"),
        controller("ReplicaSet", "alone", "alone"),
        pod("bare"),
        # Their controllers were not read, or are of other kinds.
        owned(pod("lost"), "DaemonSet", "gone"),
        owned(pod("kafka-0"), "KafkaSet", "kafka", "example.com"),
    )
    assert answer.type.noun == "workload"
    assert [(it.ref.kind, it.ref.name, names(it.workload.pods)) for it in answer.rows] == [
        ("ReplicaSet", "alone", []),
        ("Pod", "bare", ["bare"]),
        ("StatefulSet", "db", []),
        ("Pod", "kafka-0", ["kafka-0"]),
        ("Pod", "lost", ["lost"]),
        ("CronJob", "night", ["night-1-x"]),
        ("Deployment", "web", ["web-1", "web-2"]),
    ]
    assert all(it.workload.has_all_pods for it in answer.rows)


def test_single_kinds_have_all_objects_with_their_pods() -> None:
    replica_set = owned(controller("ReplicaSet", "web-5d", "web"), "Deployment", "web")
    of_it = owned(pod("web-1", {"app": "web", "pod-template-hash": "5d"}), "ReplicaSet", "web-5d")
    world = (replica_set, of_it, controller("Deployment", "web", "web"), network_policy("p"))
    for type_name in ("replicasets", "deployments"):
        (only,) = listing(type_name, *world).rows
        assert (names(only.workload.pods), only.workload.ingress, names(only.listed.policies)) == (
            ["web-1"],
            "isolated",
            ["p"],
        )
    (only,) = listing("deployments", replica_set, controller("Deployment", "web", "web"), network_policy("p")).rows
    # In manifests a controller stands for its Pods.
    assert (only.workload.pods, only.workload.ingress, names(only.listed.policies)) == ((), "isolated", ["p"])


def test_a_controller_whose_pods_differ_is_mixed() -> None:
    pods = [owned(pod(name, {"app": "db", "pod": name}), "StatefulSet", "db") for name in ("a", "b")]
    both = network_policy("both", policyTypes=["Egress"])
    answer = row("sts", controller("StatefulSet", "db", "db"), *pods, both, network_policy("one", labelled(pod="a")))
    assert (answer.workload.ingress, answer.workload.egress) == ("mixed", "isolated")
    assert names(answer.listed.policies) == ["both", "one"]
    # What certainly selects one Pod, and may select another one, counts once.
    nodes = build.with_metadata(pods[1], labels={"app": "db", "pod": "${POD}"})
    answer = row("sts", controller("StatefulSet", "db", "db"), pods[0], nodes, network_policy("one", labelled(pod="a")))
    assert (names(answer.listed.policies), answer.listed.possible_policies) == (["one"], ())
    assert answer.workload.ingress == "mixed"


def test_a_controller_without_pods_that_run_has_no_connections() -> None:
    deployment = controller("Deployment", "web", "web")
    idle = row("deploy", deployment, network_policy("p"), source="the cluster")
    assert (idle.workload.pods, idle.workload.ingress, idle.workload.egress, idle.listed.policies) == (
        (),
        None,
        None,
        (),
    )
    ended = build.resource("Pod", "x", {}, group="", labels={"app": "web"}, status={"phase": "Failed"})
    over = row("deploy", deployment, owned(ended, "Deployment", "web"), network_policy("p"), source="the cluster")
    assert (names(over.workload.pods), over.workload.ingress) == (["x"], None)
    old = owned(controller("ReplicaSet", "web-1", "web"), "Deployment", "web")
    assert row("rs", old, deployment).workload.ingress is None


def test_in_manifests_pods_may_be_those_of_one_controller_or_another() -> None:
    one, other = controller("Deployment", "one", "web"), controller("Deployment", "other", "web")
    answer = row("deploy", one, other, pod("web"))
    assert (answer.workload.pods, answer.workload.ingress, answer.workload.egress) == ((), "unknown", "unknown")


def test_hidden_pods_are_not_none() -> None:
    answer = row("deploy", controller("Deployment", "web", "web"), source="the cluster", gaps=[HIDDEN_PODS])
    assert (answer.workload.pods, answer.workload.has_all_pods, answer.workload.ingress) == ((), False, "unknown")
    assert [spot.what for spot in answer.listed.unseen] == ["Pods"]
    deployment, read = controller("Deployment", "web", "web"), owned(pod("a"), "Deployment", "web")
    answer = row("deploy", deployment, read, source="the cluster", gaps=[HIDDEN_PODS])
    assert (names(answer.workload.pods), answer.workload.has_all_pods, answer.workload.ingress) == (
        ["a"],
        False,
        "open",
    )


def test_policies_that_name_a_workload_count_as_well() -> None:
    named = build.policy("named", build.target("web", "Deployment", group="apps"), red=1)
    answer = row("deploy", controller("Deployment", "web", "web"), named, network_policy("p"))
    assert names(answer.listed.policies) == ["named", "p"]
    assert names(attachment.policy for attachment in answer.listed.targeted_by) == ["named"]
    assert answer.workload.ingress == "isolated"


def test_a_pod_of_a_workload_is_none_itself() -> None:
    world = (controller("Deployment", "web", "web"), owned(pod("web-1"), "Deployment", "web"))
    with pytest.raises(NotFoundError) as error:
        listing("workloads", *world, selection=Selection("default", names=("web-1",)))
    assert error.value.message == 'workloads "web-1" not found in namespace default'
    assert [it.ref.name for it in list_names(analyzed(*world), "workload", Selection()).rows] == ["web"]
    elsewhere = listing("workloads", *world, selection=Selection("far"))
    assert (elsewhere.rows, elsewhere.elsewhere) == ((), ("default",))
