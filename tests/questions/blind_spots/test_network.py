"""What could not be read and may change an answer about connections."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final, cast

import pytest
from msgspec.structs import replace

from kubectl_policy import analyze
from kubectl_policy.model import Gap, GroupKind, Json, Permission, Resource
from kubectl_policy.model.snapshot import AssumedObjects
from kubectl_policy.network.policy import DIRECTIONS
from kubectl_policy.questions.blind_spots.network import unevaluated_policies, unread_for_network
from kubectl_policy.questions.blind_spots.unknowns import BlindSpot
from kubectl_policy.questions.connections.connection import describe_connection
from kubectl_policy.questions.connections.endpoints import end_of
from kubectl_policy.questions.connections.network_policy import describe_network_policy
from kubectl_policy.questions.connections.workload import describe_workload
from kubectl_policy.render.connections.connection import connection_headline
from kubectl_policy.render.wording.blind_spots import unread_hedge, unread_reason
from tests import build
from tests.questions.build import analyzed

if TYPE_CHECKING:
    from kubectl_policy.network.policy import Direction

NETWORKING: Final = "networking.k8s.io"
CLUSTER_WIDE: Final = "policy.networking.k8s.io"
DECLARED: Final = frozenset({GroupKind(NETWORKING, "NetworkPolicy"), GroupKind("apps", "Deployment")})


def pod(name: str, namespace: str = "shop") -> Resource:
    return build.resource("Pod", name, {"containers": []}, group="", namespace=namespace, labels={"app": name})


def network_policy(*peers: Json, namespace: str = "shop") -> Resource:
    """A policy for all Pods of a namespace that lets some peers in."""
    spec: Json = {"podSelector": {}, "ingress": [{"from": list(peers)}]}
    return build.resource("NetworkPolicy", "p", spec, group=NETWORKING, namespace=namespace)


def cluster_policy(*peers: Json, subject: Json = None) -> Resource:
    """An AdminNetworkPolicy that denies what is sent to some peers."""
    rule: Json = {"action": "Deny", "to": list(peers)}
    spec: Json = {"priority": 1, "subject": subject or {"namespaces": {}}, "egress": [rule] if peers else []}
    return build.resource("AdminNetworkPolicy", "a", spec, group=CLUSTER_WIDE)


def hidden(kind: str, group: str = "", namespace: str = "", **fields: object) -> Gap:
    """A list that a cluster refuses."""
    needs = Permission("list", f"{kind.lower()}s.{group}".strip("."), namespace)
    return replace(Gap(kind, namespace, "forbidden", group=group, needs=needs, remedy="ask for it"), **fields)


WORLD: Final = (build.namespace("shop"), build.namespace("far"), pod("a"), pod("b", "far"))


def blind_spots(
    gap: Gap, namespaces: tuple[str, ...] | None = ("shop",), pods: tuple[str, ...] | None = ()
) -> list[str]:
    analysis = analyzed(*WORLD, complete=True, gaps=[gap])
    return [spot.what for spot in unread_for_network(analysis, namespaces, pods)]


def test_nothing_is_missing_where_everything_was_read() -> None:
    assert unread_for_network(analyzed(*WORLD, network_policy({"namespaceSelector": {}}), complete=True)) == ()


@pytest.mark.parametrize(
    ("gap", "namespaces", "expected"),
    [
        # A NetworkPolicy selects Pods of its own namespace alone.
        (hidden("NetworkPolicy", NETWORKING, "far"), ("shop",), []),
        (hidden("NetworkPolicy", NETWORKING, "far"), (), []),
        (hidden("NetworkPolicy", NETWORKING), (), []),
        (hidden("NetworkPolicy", NETWORKING, besides=frozenset({"shop"})), ("shop",), []),
        # Rules of these are not evaluated, and can change a verdict; drafts cannot.
        (hidden("NetworkPolicy", "crd.projectcalico.org"), ("shop",), ["NetworkPolicies"]),
        (hidden("NetworkPolicy", "crd.projectcalico.org", "far"), ("shop",), []),
        (hidden("NetworkPolicy", "example.com"), ("shop",), []),
        (hidden("StagedNetworkPolicy", "projectcalico.org"), ("shop",), []),
        (hidden("CiliumClusterwideNetworkPolicy", "cilium.io"), (), ["CiliumClusterwideNetworkPolicies"]),
        (Gap("EgressFirewall", "shop", "not YAML"), ("shop",), ["EgressFirewall in namespace shop"]),
        (Gap("EgressFirewall", "far", "not YAML"), ("shop",), []),
        (Gap("", "", "the server does not answer", group="cilium.io"), ("shop",), ["objects of API group cilium.io"]),
        (
            Gap("", "shop", "the chart is here", declares=frozenset({GroupKind("cilium.io", "CiliumNetworkPolicy")})),
            ("shop",),
            ["objects of any kind in namespace shop"],
        ),
        (hidden("Ingress", NETWORKING), ("shop",), []),
        (Gap("", "", "the server behind this API group does not answer", group="metrics.k8s.io"), ("shop",), []),
        (Gap("", "far", "HelmRelease far/x may create objects"), ("shop",), ["objects of any kind in namespace far"]),
        (Gap("", "far", "HelmRelease far/x may create objects", mentions=frozenset({"x"})), ("shop",), []),
        (Gap("", "shop", "the chart is here", declares=frozenset({GroupKind("", "Service")})), ("shop",), []),
        # Whatever else it names, a NetworkPolicy may be among what an unknown chart makes.
        (
            Gap("", "shop", "HelmRelease shop/x may create objects", mentions=frozenset({"x"})),
            ("shop",),
            ["objects of any kind in namespace shop"],
        ),
        (Gap("", "shop", "the chart is here", declares=DECLARED), ("shop",), ["objects of any kind in namespace shop"]),
        (hidden("NetworkPolicy", NETWORKING, "shop"), ("shop",), ["NetworkPolicies in namespace shop"]),
        (hidden("NetworkPolicy", NETWORKING), ("shop",), ["NetworkPolicies"]),
        (hidden("NetworkPolicy", NETWORKING, "far"), None, ["NetworkPolicies in namespace far"]),
        (
            hidden("NetworkPolicy", NETWORKING, besides=frozenset({"shop"})),
            ("shop", "far"),
            ["NetworkPolicies not in namespace shop"],
        ),
        (Gap("NetworkPolicy", "${TEAM}", "not YAML"), ("shop",), ["NetworkPolicy in namespace ${TEAM}"]),
        (hidden("AdminNetworkPolicy", CLUSTER_WIDE), (), ["AdminNetworkPolicies"]),
        (hidden("BaselineAdminNetworkPolicy", CLUSTER_WIDE), ("shop",), ["BaselineAdminNetworkPolicies"]),
        (hidden("ClusterNetworkPolicy", CLUSTER_WIDE), ("shop",), ["ClusterNetworkPolicies"]),
        (
            Gap("", "", "the server does not answer", group=CLUSTER_WIDE),
            (),
            [f"objects of API group {CLUSTER_WIDE}"],
        ),
        (
            Gap("", "far", "not YAML", mentions=frozenset({"ClusterNetworkPolicy"})),
            (),
            ["objects of any kind in namespace far"],
        ),
    ],
)
def test_policies_that_may_decide(gap: Gap, namespaces: tuple[str, ...] | None, expected: list[str]) -> None:
    assert blind_spots(gap, namespaces) == expected


@pytest.mark.parametrize(
    ("gap", "pods", "expected"),
    [
        (hidden("Pod"), (), []),
        (hidden("Pod", namespace="far"), ("shop",), []),
        (hidden("Pod", besides=frozenset({"far"})), ("far",), []),
        (hidden("Service"), None, []),
        # Its list has it.
        (hidden("Pod", namespace="shop", name="a"), None, []),
        (hidden("Pod"), ("shop",), ["Pods"]),
        (hidden("Pod", besides=frozenset({"far"})), None, ["Pods not in namespace far"]),
        (hidden("Pod", namespace="far"), None, ["Pods in namespace far"]),
        (hidden("Pod", namespace="shop", name="hidden"), None, ["Pod shop/hidden"]),
        (Gap("Deployment", "far", "not YAML", mentions=frozenset()), None, ["Deployment in namespace far"]),
        # What was read of it may be different.
        (Gap("Pod", "shop", "patched", name="a"), ("shop",), ["Pod shop/a"]),
    ],
)
def test_workloads_at_the_other_end(gap: Gap, pods: tuple[str, ...] | None, expected: list[str]) -> None:
    assert blind_spots(gap, (), pods) == expected


def test_on_a_cluster_pods_alone_are_workloads() -> None:
    snapshot = build.snapshot(*WORLD, complete=True, gaps=[hidden("Deployment", "apps"), hidden("Pod")])
    (spot,) = unread_for_network(analyze(replace(snapshot, source="the cluster")))
    assert (spot.what, spot.needs) == ("Pods", ("list pods in all namespaces",))


def test_what_is_said_to_exist_is_not_known() -> None:
    def assumed(kind: str, namespace: str = "") -> list[BlindSpot]:
        snapshot = replace(build.snapshot(*WORLD, complete=True), assumed=(AssumedObjects(kind, namespace),))
        return [*unread_for_network(analyze(snapshot), ("shop",), ())]

    assert assumed("service") == assumed("pod") == assumed("networkpolicy", "far") == []
    spot = BlindSpot(
        what="NetworkPolicies",
        reason="they are taken to exist, and nothing of them was read",
        remedy="add the manifests that contain them",
    )
    assert assumed("networkpolicy") == assumed("networkpolicies", "shop") == [spot]
    assert assumed("anp") == [replace(spot, what="AdminNetworkPolicies")]


TEAM: Final[Json] = {"matchLabels": {"team": "a"}}
BY_NAME: Final[Json] = {"matchLabels": {"kubernetes.io/metadata.name": "far"}}
ADD: Final = "add the manifest that contains it"
PODS: Final = (pod("a"), pod("b", "far"), pod("c", "lost"))


@pytest.mark.parametrize(
    ("policy", "namespaces", "pods", "expected"),
    [
        (network_policy({"namespaceSelector": BY_NAME}), None, None, []),
        (network_policy({"namespaceSelector": {}}), None, None, []),
        (network_policy({"podSelector": {}}), None, None, []),
        (network_policy({"ipBlock": {"cidr": "10.0.0.0/8"}}), None, None, []),
        (network_policy({"namespaceSelector": TEAM}, namespace="far"), ("shop",), ("lost",), []),
        (network_policy({"namespaceSelector": TEAM}), ("shop",), (), []),
        (network_policy({"namespaceSelector": TEAM}), ("shop",), ("lost",), ["Namespace lost"]),
        (network_policy({"namespaceSelector": TEAM}), None, None, ["Namespaces far and lost"]),
        (network_policy({"namespaceSelector": TEAM}), ("shop",), None, ["Namespaces far and lost"]),
        (cluster_policy(subject={"namespaces": TEAM}), ("far",), (), ["Namespace far"]),
        (cluster_policy({"namespaces": TEAM}), ("shop",), ("far",), ["Namespace far"]),
    ],
)
def test_labels_of_namespaces_that_a_policy_selects(
    policy: Resource, namespaces: tuple[str, ...] | None, pods: tuple[str, ...] | None, expected: list[str]
) -> None:
    analysis = analyzed(build.namespace("shop"), *PODS, policy)
    assert [spot.what for spot in unread_for_network(analysis, namespaces, pods)] == expected
    assert unread_for_network(analysis, namespaces, pods, labels=False) == ()


def test_what_shows_the_labels() -> None:
    policy = network_policy({"namespaceSelector": TEAM})
    (one,) = unread_for_network(analyzed(build.namespace("far"), build.namespace("lost"), *PODS, policy))
    reason = "NetworkPolicy shop/p selects namespaces by their labels, and it is not in the input"
    assert one == BlindSpot(what="Namespace shop", reason=reason, remedy=ADD)
    (several,) = unread_for_network(analyzed(*PODS, policy))
    assert (several.what, several.reason, several.remedy) == (
        "Namespaces far, lost and shop",
        "NetworkPolicy shop/p selects namespaces by their labels, and these are not in the input",
        "add the manifests that contain them",
    )


def test_labels_that_a_cluster_hides_or_that_may_be_different() -> None:
    policy = network_policy({"namespaceSelector": TEAM})
    forbidden = analyzed(*PODS, policy, complete=True, gaps=[hidden("Namespace")])
    assert [(spot.what, spot.reason) for spot in unread_for_network(forbidden)] == [("Namespaces", "forbidden")]
    patched = Gap("Namespace", "", "it is different in b.yaml", name="shop")
    changed = analyzed(*map(build.namespace, ("shop", "far", "lost")), *PODS, policy, gaps=[patched])
    assert [(spot.what, spot.is_there) for spot in unread_for_network(changed)] == [("Namespace shop", True)]


ON_NODES: Final = cluster_policy({"nodes": {"matchLabels": {"zone": "a"}}})
NODE: Final = build.resource("Node", "n", group="")


def test_nodes_that_a_policy_selects() -> None:
    assert unread_for_network(analyzed(*WORLD)) == ()
    assert unread_for_network(analyzed(*WORLD, ON_NODES, NODE)) == ()
    assert unread_for_network(analyzed(*WORLD, ON_NODES, complete=True)) == ()
    (spot,) = unread_for_network(analyzed(*WORLD, ON_NODES))
    reason = "AdminNetworkPolicy a selects Nodes by their labels, and these are not in the input"
    assert spot == BlindSpot(what="Nodes", reason=reason, remedy="add the manifests that contain them")
    forbidden = analyzed(*WORLD, ON_NODES, complete=True, gaps=[hidden("Node")])
    assert [spot.what for spot in unread_for_network(forbidden)] == ["Nodes"]


def other_policy(kind: str, group: str, name: str, spec: Json, namespace: str = "shop") -> Resource:
    return build.resource(kind, name, spec, group=group, namespace=namespace)


SELECTS_A: Final = {"endpointSelector": {"matchLabels": {"app": "a"}}}
SELECTS_SOME: Final = {"endpointSelector": {"matchLabels": {"app": "a", "reserved:x": ""}}}


@pytest.mark.parametrize(
    ("names", "spec", "what", "reason"),
    [
        ("p", SELECTS_A, "shop/p", "it applies here, and its rules are not evaluated"),
        ("pq", SELECTS_A, "shop/p and shop/q", "they apply here, and their rules are not evaluated"),
        ("p", SELECTS_SOME, "shop/p", "it may apply here, and its rules are not evaluated"),
        ("pq", SELECTS_SOME, "shop/p and shop/q", "they may apply here, and their rules are not evaluated"),
    ],
)
def test_policies_whose_rules_are_not_evaluated(names: str, spec: Json, what: str, reason: str) -> None:
    policies = [other_policy("CiliumNetworkPolicy", "cilium.io", name, spec) for name in names]
    analysis = analyzed(*WORLD, *policies)
    (spot,) = unevaluated_policies(analysis, {"ingress": analysis.workloads.everything}, outside=False)
    assert spot == BlindSpot(
        what=f"CiliumNetworkPolicy.cilium.io {what}",
        reason=reason,
        remedy="read what explain ciliumnetworkpolicy.cilium.io says",
        policies=tuple(policy.ref for policy in policies),
        unevaluated=True,
    )


def test_a_policy_that_applies_on_one_side_is_named_once() -> None:
    selecting = other_policy("CiliumNetworkPolicy", "cilium.io", "p", SELECTS_A)
    walls = other_policy("EgressFirewall", "k8s.ovn.org", "default", {})
    analysis = analyzed(*WORLD, selecting, walls)
    both = dict.fromkeys(DIRECTIONS, analysis.workloads.everything)
    assert [spot.what for spot in unevaluated_policies(analysis, both, outside=False)] == [
        "CiliumNetworkPolicy.cilium.io shop/p"
    ]
    assert [spot.what for spot in unevaluated_policies(analysis, both, outside=True)] == [
        "CiliumNetworkPolicy.cilium.io shop/p",
        "EgressFirewall.k8s.ovn.org shop/default",
    ]
    assert list(unevaluated_policies(analysis, {"ingress": 0, "egress": 0}, outside=True)) == []


def test_what_applies_to_one_workload_and_may_apply_to_another_is_certain() -> None:
    """The Pod on the network of its node may be left alone."""
    on_node = build.resource("Pod", "n", {"hostNetwork": True}, group="", namespace="shop")
    everywhere = other_policy("CiliumNetworkPolicy", "cilium.io", "p", {"endpointSelector": {}})
    analysis = analyzed(*WORLD, on_node, everywhere)
    sides = {
        "egress": 1 << (analysis.workloads.position_of(on_node.ref) or 0),
        "ingress": analysis.workloads.everything,
    }
    (spot,) = unevaluated_policies(analysis, cast("dict[Direction, int]", sides), outside=False)
    assert spot.reason == "it applies here, and its rules are not evaluated"


def test_answers_name_them() -> None:
    """A verdict may be another one; so may what a policy opens, and what a workload accepts."""
    selecting = other_policy("CiliumNetworkPolicy", "cilium.io", "p", SELECTS_A)
    analysis = analyzed(*WORLD, network_policy(), selecting, complete=True)
    a, b = (end_of(analysis, resource.ref) for resource in (pod("a"), pod("b", "far")))
    answers = (
        describe_connection(analysis, a, b, None),
        describe_workload(analysis, pod("a").ref, a.members),
        describe_network_policy(analysis, network_policy().ref),
    )
    for answer in answers:
        assert [spot.policies for spot in answer.unseen] == [(selecting.ref,)]
    assert describe_workload(analysis, pod("b", "far").ref, b.members).unseen == ()
    assert "; the rules of 1 policy are not evaluated." in connection_headline(answers[0])


def test_hedges_about_policies() -> None:
    """Of some, it is not known where they are attached; of others, what they do there."""
    attached, applying = (
        BlindSpot(what=name, reason="", policies=(network_policy(namespace=name).ref,), unevaluated=name == "b")
        for name in "ab"
    )
    assert unread_hedge([attached]) == "; how 1 policy attaches is not computed"
    assert unread_hedge([applying]) == "; the rules of 1 policy are not evaluated"
    assert unread_reason([applying, attached]) == (
        "how 1 policy attaches is not computed; the rules of 1 policy are not evaluated"
    )
