"""What a cluster is asked for by questions about workloads and network policies, and by other ones."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final

import pytest

from kubectl_policy.model import GroupKind, Json, ObjectRef, Resource
from kubectl_policy.model.kind_roles import DEPLOYMENT, HTTP_ROUTE, JOB, NAMESPACE, NODE, POD, SERVICE, WORKLOADS
from kubectl_policy.model.kinds import plural
from kubectl_policy.sources.cluster.discovery import Served
from kubectl_policy.sources.cluster.world import ClusterWorld, Interests, Query
from tests import build

NETWORK_POLICY: Final = GroupKind("networking.k8s.io", "NetworkPolicy")
ADMIN: Final = GroupKind("policy.networking.k8s.io", "AdminNetworkPolicy")
RETRY: Final = GroupKind("example.io", "RetryPolicy")
CLUSTER_SCOPED: Final = {NAMESPACE, NODE, ADMIN}
SERVED: Final = {
    kind: Served(kind.group, "v1", kind.kind, plural(kind.kind.lower()), kind not in CLUSTER_SCOPED)
    for kind in (*WORKLOADS, NODE, NAMESPACE, SERVICE, HTTP_ROUTE, NETWORK_POLICY, ADMIN, RETRY)
}
FOR_WORKLOADS: Final = {NETWORK_POLICY, ADMIN}
INTERESTS: Final = Interests(
    alongside={POD: (NAMESPACE,)},
    descendants=dict.fromkeys(WORKLOADS, (POD,)),
    is_for_workloads=FOR_WORKLOADS.__contains__,
)


def world(*answers: tuple[Query, Iterable[Resource] | None]) -> ClusterWorld:
    """A world of a question about namespace `shop`; after the first round, if there are answers."""
    asked = ClusterWorld(INTERESTS, SERVED, [NETWORK_POLICY, ADMIN, RETRY], "shop")
    for query, resources in answers:
        asked.record(query, resources)
    if answers:
        asked.start_round()
    return asked


def pod(name: str, namespace: str = "shop", **metadata: Json) -> Resource:
    return build.with_metadata(build.resource("Pod", name, {}, group="", namespace=namespace), **metadata)


def ref(kind: GroupKind, name: str = "a", namespace: str = "shop") -> ObjectRef:
    return ObjectRef(kind, "" if kind in CLUSTER_SCOPED else namespace, name)


@pytest.mark.parametrize("subject", [HTTP_ROUTE, SERVICE, RETRY])
def test_other_questions_ask_for_no_workload(subject: GroupKind) -> None:
    asked = world()
    assert not asked.has(ref(subject))
    assert asked.wanted == (Query(subject, "shop", "a"),)


@pytest.mark.parametrize("subject", [POD, DEPLOYMENT, JOB, NETWORK_POLICY, ADMIN])
def test_questions_about_workloads_ask_at_once(subject: GroupKind) -> None:
    """For all Pods, of which the named one is one, the labels of their namespaces, and the policies for them."""
    asked = world()
    named = ref(subject)
    assert not asked.has(named)
    expected = {Query(POD), Query(NAMESPACE), Query(NETWORK_POLICY), Query(ADMIN)}
    assert {*asked.wanted} - {Query(subject, named.namespace, "a")} == expected
    assert Query(POD, "shop", "a") not in asked.wanted


def test_pods_of_a_namespace_are_read_where_no_others_may_be() -> None:
    asked = world((Query(POD), None))
    assert not asked.of_kind(POD)
    assert not asked.has(ref(POD))
    assert asked.wanted == (Query(POD, "shop"),)


def test_peers_lead_to_no_more_namespaces() -> None:
    """Only what a question is about does, where a kind may be listed in some namespaces alone."""
    asked = world((Query(POD), [pod("a"), pod("b", "far")]), (Query(NAMESPACE), ()), (Query(NETWORK_POLICY), None))
    assert [resource.ref.name for resource in asked.of_kind(POD)] == ["b", "a"]
    assert not asked.refs_of(NETWORK_POLICY)
    assert asked.wanted == (Query(NETWORK_POLICY, "shop"),)
    assert asked.has(ref(POD, "b", "far"))
    assert {*asked.wanted} == {Query(NETWORK_POLICY, "shop"), Query(NETWORK_POLICY, "far")}


def test_nodes_and_jobs_of_pods_are_listed() -> None:
    """There may be one for each Pod."""
    asked = world((Query(POD), [pod("a")]))
    for name in ("a", "b"):
        assert not asked.has(ref(NODE, name))
        assert not asked.has(ref(JOB, name))
        assert not asked.has(ref(DEPLOYMENT, name))
    names = (Query(DEPLOYMENT, "shop", name) for name in ("a", "b"))
    assert asked.wanted == (Query(NODE), Query(JOB), *names)


def test_nodes_and_jobs_that_may_not_be_listed_are_not_tried_one_by_one() -> None:
    asked = world((Query(NODE), None), (Query(JOB), None))
    assert not asked.has(ref(NODE))
    assert not asked.has(ref(JOB))
    assert asked.wanted == (Query(JOB, "shop"),)


def test_a_node_that_a_question_is_about_is_read_alone() -> None:
    asked = world()
    assert not asked.has(ref(NODE))
    assert Query(NODE, "", "a") in asked.wanted
    assert Query(NODE) not in asked.wanted


OWNED: Final[Json] = [{"apiVersion": "batch/v1", "kind": "Job", "name": "j"}]
ON_NODES: Final = build.resource("AdminNetworkPolicy", "a", {"egress": [{"to": [{"nodes": {}}]}]}, group=ADMIN.group)


@pytest.mark.parametrize(
    ("pods", "policies", "expected"),
    [
        ([pod("a")], [build.resource("AdminNetworkPolicy", "a", {}, group=ADMIN.group)], set[GroupKind]()),
        ([pod("a", ownerReferences=[{"kind": "ReplicaSet", "name": "r"}])], [], set[GroupKind]()),
        ([pod("a", ownerReferences=OWNED)], [], {JOB}),
        ([], [ON_NODES], {NODE}),
    ],
)
def test_everything_is_what_connections_depend_on(
    pods: list[Resource], policies: list[Resource], expected: set[GroupKind]
) -> None:
    asked = world()
    asked.want_everything()
    policy_kinds = {Query(NETWORK_POLICY), Query(ADMIN), Query(RETRY)}
    assert {*asked.wanted} == {Query(POD), Query(NAMESPACE), *policy_kinds}
    answers = {Query(POD): pods, Query(ADMIN): policies}
    for query in asked.wanted:
        asked.record(query, answers.get(query, ()))
    asked.start_round()
    asked.want_everything()
    assert {query.kind for query in asked.wanted if not query.name} == expected
