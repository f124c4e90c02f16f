"""Policies about connections whose rules are not evaluated: to which workloads they apply, by their profiles."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Final

import pytest

from kubectl_policy.model import GroupKind, Json, Resource
from kubectl_policy.network.kinds import EVALUATED_KINDS
from kubectl_policy.network.reading import read_policy
from kubectl_policy.network.unevaluated import selected_by
from kubectl_policy.profiles import PolicyKindProfile
from kubectl_policy.profiles.connections import ConnectionProfile, Direction, SubjectFields
from kubectl_policy.profiles.load import built_in_groups, built_in_profiles
from kubectl_policy.topology.workloads.pod_sets import NO_PODS, positions_in
from tests import build
from tests.questions.build import analyzed

CILIUM: Final = "cilium.io"
CALICO: Final = "projectcalico.org"
ANTREA: Final = "crd.antrea.io"
WEB: Final[Json] = {"matchLabels": {"app": "web"}}


def pod(name: str, namespace: str = "shop", *, host: bool = False, **labels: str) -> Resource:
    spec: Json = {"containers": [], **({"hostNetwork": True} if host else {})}
    return build.resource("Pod", name, spec, group="", namespace=namespace, labels={"app": name, **labels})


WORLD: Final = (
    build.namespace("shop", {"team": "shop"}),
    build.namespace("far"),
    pod("web"),
    pod("db", tier="back"),
    pod("web", "far"),
    pod("agent", host=True),
)
# The names of the workloads of the world, by position.
FAR_WEB, AGENT, DB, SHOP_WEB = "far/web", "shop/agent", "shop/db", "shop/web"
ALL: Final = (FAR_WEB, AGENT, DB, SHOP_WEB)


def policy(kind: str, group: str, spec: Json, **top: Any) -> Resource:  # noqa: ANN401 (fields beside the spec)
    return build.resource(kind, "p", spec, group=group, namespace="shop", **top)


def applying(resource: Resource, *objects: Resource) -> tuple[list[str], list[str]]:
    """The workloads to which a policy certainly applies, and those to which it may apply beyond them."""
    analysis = analyzed(*(objects or WORLD), resource, complete=True)
    names = [workload.ref.qualified_name for workload in analysis.workloads.all]
    (pods,) = [found.pods for found in analysis.unevaluated.all] or [NO_PODS]
    return [names[at] for at in positions_in(pods.certain)], [names[at] for at in positions_in(pods.undecided)]


@pytest.mark.parametrize(
    ("kind", "spec", "certain", "possible"),
    [
        # The policies of a namespace apply to none of another one, and hardly to what is on the network of a node.
        ("CiliumNetworkPolicy", {"endpointSelector": WEB}, [SHOP_WEB], []),
        ("CiliumNetworkPolicy", {"endpointSelector": {}}, [DB, SHOP_WEB], [AGENT]),
        ("CiliumNetworkPolicy", {"endpointSelector": {"matchLabels": {"app": "none"}}}, [], []),
        ("CiliumNetworkPolicy", {"endpointSelector": {"matchLabels": {"k8s:app": "web"}}}, [SHOP_WEB], []),
        ("CiliumNetworkPolicy", {"endpointSelector": {"matchLabels": {"any:app": "web"}}}, [SHOP_WEB], []),
        ("CiliumNetworkPolicy", {"endpointSelector": {"matchLabels": {"app": 1}}}, [], []),
        (
            "CiliumNetworkPolicy",
            {"endpointSelector": {"matchExpressions": [{"key": "k8s:tier", "operator": "DoesNotExist"}]}},
            [SHOP_WEB],
            [AGENT],
        ),
        # What is no label of a Pod is not computed; the rest of the selector is.
        (
            "CiliumNetworkPolicy",
            {"endpointSelector": {"matchLabels": {"app": "web", "reserved:host": ""}}},
            [],
            [SHOP_WEB],
        ),
        (
            "CiliumNetworkPolicy",
            {"endpointSelector": {"matchLabels": {"app": "web", "io.cilium.k8s.policy.serviceaccount": "x"}}},
            [],
            [SHOP_WEB],
        ),
        # In a namespace, another one that is named is ignored.
        (
            "CiliumNetworkPolicy",
            {"endpointSelector": {"matchLabels": {"app": "web", "k8s:io.kubernetes.pod.namespace": "far"}}},
            [],
            [SHOP_WEB],
        ),
        ("CiliumNetworkPolicy", {"endpointSelector": "${SELECTOR}"}, [], [AGENT, DB, SHOP_WEB]),
        ("CiliumNetworkPolicy", "${SPEC}", [], [AGENT, DB, SHOP_WEB]),
        ("CiliumNetworkPolicy", {"ingress": []}, [], []),
        ("CiliumClusterwideNetworkPolicy", {"endpointSelector": WEB}, [FAR_WEB, SHOP_WEB], []),
        (
            "CiliumClusterwideNetworkPolicy",
            {"endpointSelector": {"matchLabels": {"k8s:io.kubernetes.pod.namespace": "far"}}},
            [FAR_WEB],
            [],
        ),
        ("CiliumClusterwideNetworkPolicy", {"nodeSelector": {}}, [], [AGENT]),
    ],
)
def test_selectors_of_labels(kind: str, spec: Json, certain: list[str], possible: list[str]) -> None:
    assert applying(policy(kind, CILIUM, spec)) == (certain, possible)


def test_any_of_several_selections_counts() -> None:
    specs: Json = [{"endpointSelector": WEB}, {"endpointSelector": {"matchLabels": {"app": "db"}}}]
    assert applying(policy("CiliumNetworkPolicy", CILIUM, None, specs=specs)) == ([DB, SHOP_WEB], [])


@pytest.mark.parametrize(
    ("kind", "spec", "certain", "possible"),
    [
        ("NetworkPolicy", {"selector": "app == 'web'"}, [SHOP_WEB], []),
        ("NetworkPolicy", {}, [DB, SHOP_WEB], [AGENT]),
        ("NetworkPolicy", {"selector": ""}, [DB, SHOP_WEB], [AGENT]),
        ("NetworkPolicy", {"selector": "app contains 'b' || has(x)"}, [], [AGENT, DB, SHOP_WEB]),
        ("NetworkPolicy", {"selector": {"matchLabels": {"app": "web"}}}, [], [AGENT, DB, SHOP_WEB]),
        ("NetworkPolicy", {"selector": "app == '${APP}'"}, [], [AGENT, DB, SHOP_WEB]),
        ("NetworkPolicy", {"selector": "app == 'web'", "serviceAccountSelector": "x == 'y'"}, [], [SHOP_WEB]),
        ("NetworkPolicy", {"selector": "projectcalico.org/orchestrator == 'k8s'"}, [], [AGENT, DB, SHOP_WEB]),
        ("NetworkPolicy", {"selector": "projectcalico.org/namespace == 'far'"}, [], [AGENT, DB, SHOP_WEB]),
        ("GlobalNetworkPolicy", {"selector": "app == 'web'"}, [FAR_WEB, SHOP_WEB], []),
        (
            "GlobalNetworkPolicy",
            {"selector": "app == 'web' && projectcalico.org/namespace in {'far', 'x'}"},
            [FAR_WEB],
            [],
        ),
        ("GlobalNetworkPolicy", {"namespaceSelector": "team == 'shop' && all()"}, [DB, SHOP_WEB], [AGENT]),
        ("GlobalNetworkPolicy", {"namespaceSelector": "projectcalico.org/name == 'far'"}, [FAR_WEB], []),
        ("GlobalNetworkPolicy", {"namespaceSelector": "kubernetes.io/metadata.name == 'far'"}, [FAR_WEB], []),
        ("GlobalNetworkPolicy", {"namespaceSelector": "global()"}, [], list(ALL)),
        # What is only staged changes nothing.
        ("StagedNetworkPolicy", {"selector": "all()"}, [], []),
        ("StagedGlobalNetworkPolicy", {"selector": "all()"}, [], []),
        ("StagedKubernetesNetworkPolicy", {"podSelector": {}}, [], []),
    ],
)
@pytest.mark.parametrize("group", [CALICO, f"crd.{CALICO}"])
def test_selectors_as_expressions(kind: str, group: str, spec: Json, certain: list[str], possible: list[str]) -> None:
    assert applying(policy(kind, group, spec)) == (certain, possible)


def applied_to(*selections: Json) -> Json:
    return {"appliedTo": list(selections)}


@pytest.mark.parametrize(
    ("kind", "spec", "certain", "possible"),
    [
        ("NetworkPolicy", applied_to({"podSelector": WEB}), [SHOP_WEB], []),
        ("NetworkPolicy", applied_to({"podSelector": WEB, "namespaceSelector": {}}), [FAR_WEB, SHOP_WEB], []),
        ("NetworkPolicy", {"ingress": [applied_to({"podSelector": WEB}), {}]}, [SHOP_WEB], []),
        ("NetworkPolicy", {"egress": [applied_to({"podSelector": WEB})]}, [SHOP_WEB], []),
        ("NetworkPolicy", applied_to({"group": "g"}), [], [AGENT, DB, SHOP_WEB]),
        ("NetworkPolicy", applied_to({}), [], []),
        ("NetworkPolicy", {}, [], []),
        ("ClusterNetworkPolicy", applied_to({"podSelector": WEB}), [FAR_WEB, SHOP_WEB], []),
        ("ClusterNetworkPolicy", applied_to({"nodeSelector": {}}), [], [AGENT]),
    ],
)
def test_selections_in_lists(kind: str, spec: Json, certain: list[str], possible: list[str]) -> None:
    assert applying(policy(kind, ANTREA, spec)) == (certain, possible)


SUBJECT: Final[Mapping[str, Json]] = {"subject": {"pods": {"namespaceSelector": {}, "podSelector": WEB}}}


@pytest.mark.parametrize(
    ("kind", "group", "spec", "certain", "possible"),
    [
        ("EgressFirewall", "k8s.ovn.org", {"egress": []}, [DB, SHOP_WEB], [AGENT]),
        ("EgressNetworkPolicy", "network.openshift.io", {"egress": []}, [DB, SHOP_WEB], [AGENT]),
        ("FQDNNetworkPolicy", "networking.gke.io", {"podSelector": WEB}, [SHOP_WEB], []),
        ("ApplicationNetworkPolicy", "networking.k8s.aws", {"podSelector": WEB}, [SHOP_WEB], []),
        ("ClusterNetworkPolicy", "networking.k8s.aws", SUBJECT, [FAR_WEB, SHOP_WEB], []),
        ("SecurityGroupPolicy", "vpcresources.k8s.aws", {"podSelector": WEB}, [SHOP_WEB], []),
        ("SecurityGroupPolicy", "vpcresources.k8s.aws", {"serviceAccountSelector": {}}, [], [AGENT, DB, SHOP_WEB]),
        ("SecurityGroupPolicy", "vpcresources.k8s.aws", {"securityGroups": {}}, [], []),
    ],
)
def test_other_kinds(kind: str, group: str, spec: Json, certain: list[str], possible: list[str]) -> None:
    assert applying(policy(kind, group, spec)) == (certain, possible)


def test_labels_of_a_namespace_that_was_not_read_are_unknown() -> None:
    selecting = policy("GlobalNetworkPolicy", CALICO, {"namespaceSelector": "team == 'shop'"})
    assert applying(selecting, pod("web")) == ([], [SHOP_WEB])


def test_an_unknown_namespace_may_be_that_of_the_policy() -> None:
    homeless = pod("lost", "${NAMESPACE}")
    everywhere = policy("CiliumNetworkPolicy", CILIUM, {"endpointSelector": {}})
    assert applying(everywhere, pod("web"), homeless) == ([SHOP_WEB], ["${NAMESPACE}/lost"])
    moved = build.resource("CiliumNetworkPolicy", "p", {"endpointSelector": {}}, group=CILIUM, namespace="${NAMESPACE}")
    assert applying(moved, pod("web")) == ([], [SHOP_WEB])


def profile_of(kind: GroupKind) -> PolicyKindProfile:
    return built_in_profiles(kind.group)[kind]


@pytest.mark.parametrize("kind", EVALUATED_KINDS, ids=str)
@pytest.mark.parametrize(
    "spec",
    [
        {"podSelector": WEB, "subject": {"namespaces": {}}},
        {"podSelector": {}, "subject": {"namespaces": {"matchLabels": {"team": "shop"}}}},
        {"podSelector": {"matchLabels": {"app": "none"}}, **SUBJECT},
    ],
)
def test_profiles_of_evaluated_kinds_name_the_fields_that_are_read(kind: GroupKind, spec: Mapping[str, Json]) -> None:
    """What they say is shown, and what is read decides."""
    connections = profile_of(kind).connections
    assert connections is not None
    resource = build.resource(
        kind.kind, "p", {**spec, "tier": "Baseline", "priority": 1}, group=kind.group, namespace="shop"
    )
    analysis = analyzed(*(found for found in WORLD if found.ref.name != "agent"), resource, complete=True)
    rules = read_policy(resource, resource.raw)
    assert selected_by(analysis.workloads, resource, connections) == analysis.network.matching.subjects(rules)
    assert connections.tier_field or rules.tier == connections.tier
    assert analysis.unevaluated.all == ()


def test_which_built_in_kinds_are_evaluated() -> None:
    profiles = [profile for group in built_in_groups() for profile in built_in_profiles(group).values()]
    evaluated = [profile.group_kind for profile in profiles if profile.attachment == "connections"]
    assert sorted(evaluated) == sorted(EVALUATED_KINDS)
    assert [profile.group_kind for profile in profiles if profile.connections and profile.attachment != "none"] == (
        evaluated
    )


@pytest.mark.parametrize(
    ("group", "kind", "direction", "outside", "applies"),
    [
        (CILIUM, "CiliumNetworkPolicy", "ingress", False, True),
        (CILIUM, "CiliumNetworkPolicy", "egress", True, True),
        ("networking.gke.io", "FQDNNetworkPolicy", "ingress", True, False),
        ("networking.gke.io", "FQDNNetworkPolicy", "egress", False, True),
        ("k8s.ovn.org", "EgressFirewall", "egress", False, False),
        ("k8s.ovn.org", "EgressFirewall", "egress", True, True),
        ("k8s.ovn.org", "EgressFirewall", "ingress", True, False),
    ],
)
def test_a_policy_counts_for_the_connections_that_it_is_about(
    group: str,
    kind: str,
    direction: Direction,
    outside: bool,  # noqa: FBT001 (a row of a table)
    applies: bool,  # noqa: FBT001 (a row of a table)
) -> None:
    resource = policy(kind, group, {"endpointSelector": {}, "podSelector": {}})
    analysis = analyzed(*WORLD, resource)
    certain, possible = analysis.unevaluated.applying_to(analysis.workloads.everything, direction, outside=outside)
    assert (certain, possible) == ((resource.ref,) if applies else (), ())


def test_workloads_are_told_apart() -> None:
    certain = policy("CiliumNetworkPolicy", CILIUM, {"endpointSelector": WEB})
    possible = policy("NetworkPolicy", CALICO, {"selector": "a contains 'b' && has(x)"})
    analysis = analyzed(*WORLD, certain, possible)
    positions = {workload.ref.qualified_name: at for at, workload in enumerate(analysis.workloads.all)}

    def of(*names: str) -> Sequence[Sequence[str]]:
        members = sum(1 << positions[name] for name in names)
        policies = analysis.unevaluated.applying_to(members, "ingress", outside=False)
        return [[found.kind for found in part] for part in policies]

    assert of(SHOP_WEB) == [["CiliumNetworkPolicy"], ["NetworkPolicy"]]
    assert of(DB) == [[], ["NetworkPolicy"]]
    assert of(FAR_WEB) == [[], []]
    assert of(DB, SHOP_WEB) == [["CiliumNetworkPolicy"], ["NetworkPolicy"]]


def test_a_profile_of_ones_own() -> None:
    kind = GroupKind("example.com", "Wall")
    connections = ConnectionProfile(subjects=(SubjectFields(field="spec", pods="for"),))
    profile = PolicyKindProfile(kind, "direct", "profile", attachment="none", connections=connections)
    wall = build.resource("Wall", "w", {"for": WEB}, group=kind.group, namespace="far")
    analysis = analyzed(*WORLD, wall, profiles=[profile])
    assert [found.ref for found in analysis.unevaluated.all] == [wall.ref]
    assert analysis.unevaluated.all[0].pods.certain.bit_count() == 1
