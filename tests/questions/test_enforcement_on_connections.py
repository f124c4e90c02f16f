"""Enforcement of network policies: the workloads to which they apply, and what is not known of that."""

from __future__ import annotations

from typing import Any, Final

import pytest

from kubectl_policy import PolicyKindProfile, analyze
from kubectl_policy.errors import NotFoundError
from kubectl_policy.model import Gap, GroupKind, Json, NodeRef, Resource
from kubectl_policy.model.snapshot import AssumedObjects
from kubectl_policy.network.kinds import EVALUATED_KINDS, NETWORK_POLICY
from kubectl_policy.questions.blast_radius import blast_radius
from kubectl_policy.questions.describe.objects import describe
from kubectl_policy.questions.describe.policies import describe_policy
from kubectl_policy.questions.policy_rows import PolicyRow, policy_row
from kubectl_policy.questions.why_not.answer import why_not
from kubectl_policy.render.wording.headlines import policy_headline
from tests import build
from tests.questions.build import analyzed

GROUP: Final = "policy.networking.k8s.io"
SHOP: Final = build.namespace("shop", {"team": "shop"})
WEB: Final = {"matchLabels": {"app": "web"}}


def pod(name: str, namespace: str = "shop", **fields: Any) -> Resource:  # noqa: ANN401 (members of the Pod)
    spec: Json = {"containers": [], **fields.pop("spec", {})}
    return build.resource("Pod", name, spec, group="", namespace=namespace, labels={"app": name}, **fields)


def network_policy(namespace: str = "shop", **spec: Json) -> Resource:
    spec = {"podSelector": WEB, **spec}
    return build.resource("NetworkPolicy", "p", spec, group=NETWORK_POLICY.group, namespace=namespace)


def admin_policy(subject: Json, *rules: Json, kind: str = "AdminNetworkPolicy") -> Resource:
    spec: Json = {"tier": "Admin", "priority": 1, "subject": subject, "ingress": list(rules)}
    return build.resource(kind, "p", spec, group=GROUP)


DENY: Final[Json] = {"action": "Deny", "from": [{"namespaces": {}}]}
TEAM: Final[Json] = {"namespaces": {"matchLabels": {"team": "shop"}}}
FINISHED: Final = pod("web", status={"phase": "Succeeded"})
HOST: Final = pod("web", spec={"hostNetwork": True})
NO_POD: Final = "it selects no Pod"
UNREAD: Final = "no Pod that was read is selected by it"
WHETHER: Final = "whether it applies to Pod shop/web is not known"


def row(*objects: Resource, complete: bool = True, gaps: tuple[Gap, ...] = ()) -> PolicyRow:
    analysis = analyzed(*objects, complete=complete, gaps=gaps)
    (policy,) = analysis.policies
    return policy_row(analysis, policy)


@pytest.mark.parametrize(
    ("objects", "state", "reason"),
    [
        ((network_policy(), SHOP), "NoEffect", NO_POD),
        ((network_policy(), SHOP, pod("db"), pod("web", "far")), "NoEffect", NO_POD),
        ((network_policy(), SHOP, FINISHED), "NoEffect", NO_POD),
        ((network_policy(), SHOP, pod("web")), "Enforced", ""),
        # What a NetworkPolicy does to a Pod on the network of its node is undefined; others do nothing to it.
        ((network_policy(), SHOP, HOST), "Unknown", WHETHER),
        ((admin_policy(TEAM, DENY), SHOP, HOST), "NoEffect", NO_POD),
        ((admin_policy(TEAM, DENY), SHOP, pod("web")), "Enforced", ""),
        ((admin_policy(TEAM, DENY), build.namespace("shop"), pod("web")), "NoEffect", NO_POD),
        ((admin_policy(TEAM, DENY), pod("web")), "Unknown", WHETHER),
        ((admin_policy(TEAM, DENY), pod("web"), pod("db")), "Unknown", "whether it applies to Pod shop/db and 1 more"),
        ((admin_policy(TEAM), SHOP, pod("web")), "NoEffect", "it has no rules"),
        ((network_policy(policyTypes=["Neither"]), SHOP, pod("web")), "NoEffect", "it has no rules"),
        ((admin_policy(TEAM, DENY, kind="BaselineAdminNetworkPolicy"), SHOP, pod("web")), "Enforced", ""),
        ((admin_policy(TEAM, DENY, kind="ClusterNetworkPolicy"), SHOP, pod("web")), "Enforced", ""),
        ((network_policy(podSelector={"matchLabels": {"app": "${APP}"}}), SHOP, pod("web")), "Unknown", WHETHER),
    ],
)
def test_a_policy_is_enforced_if_it_applies_to_a_workload(
    objects: tuple[Resource, ...], state: str, reason: str
) -> None:
    answer = row(*objects)
    assert (answer.enforcement.state, answer.reason[: len(reason)]) == (state, reason)
    affected = [NodeRef(resource.ref) for resource in objects if resource.ref.kind == "Pod"]
    assert answer.affected == {"Enforced": tuple(affected), "NoEffect": (), "Unknown": None}[state]
    assert answer.targets == ()


def test_what_was_not_read_may_be_selected() -> None:
    """Manifests hold few Pods: controllers make them."""
    answer = row(network_policy(), SHOP, pod("db"), complete=False)
    assert (answer.enforcement.state, answer.reason, answer.affected) == ("Unknown", UNREAD, None)
    enforced = row(network_policy(), SHOP, pod("web"), complete=False)
    assert (enforced.enforcement.state, enforced.unseen) == ("Enforced", ())


@pytest.mark.parametrize(
    ("gap", "may_hold"),
    [
        (Gap("Pod", "", "forbidden", group=""), True),
        (Gap("Pod", "shop", "forbidden", group=""), True),
        (Gap("Pod", "shop", "differs", name="web"), True),
        (Gap("Deployment", "", "unreadable"), True),
        (Gap("", "", "unreadable"), True),
        (Gap("", "", "unreadable", declares=frozenset({GroupKind("apps", "Deployment")})), True),
        (Gap("", "", "unreadable", declares=frozenset({GroupKind("apps", "Widget")})), False),
        (Gap("Pod", "far", "forbidden", group=""), False),
        (Gap("Pod", "", "forbidden", group="", besides=frozenset({"shop"})), False),
        (Gap("Pod", "", "forbidden", group="metrics.example.com"), False),
        (Gap("Service", "", "forbidden", group=""), False),
    ],
)
def test_a_gap_may_hold_subjects(gap: Gap, may_hold: bool) -> None:  # noqa: FBT001 (a row of a table)
    answer = row(network_policy(), SHOP, gaps=(gap,))
    assert answer.enforcement.state == ("Unknown" if may_hold else "NoEffect")
    assert answer.unseen or not may_hold


def test_a_gap_of_any_namespace_matters_to_policies_for_the_whole_cluster() -> None:
    forbidden = Gap("Pod", "far", "forbidden", group="")
    assert row(admin_policy(TEAM, DENY), SHOP, gaps=(forbidden,)).enforcement.state == "Unknown"


def test_a_namespace_that_was_not_read_is_named() -> None:
    (spot,) = row(admin_policy(TEAM, DENY), pod("web")).unseen
    assert (spot.what, spot.reason) == (
        "Namespace shop",
        "AdminNetworkPolicy p selects namespaces by their labels, and it is not in the input",
    )


def test_pods_that_are_said_to_exist_may_be_selected() -> None:
    assumed = (AssumedObjects("pods", "", ""),)
    snapshot = build.snapshot(network_policy(), SHOP, complete=True)
    analysis = analyze(type(snapshot)(resources=snapshot.resources, complete=True, assumed=assumed))
    assert analysis.enforcement(network_policy().ref).state == "Unknown"


@pytest.mark.parametrize("homeless", ["Pod", "Deployment"])
def test_a_workload_of_an_unknown_namespace_may_be_selected(homeless: str) -> None:
    group = "" if homeless == "Pod" else "apps"
    elsewhere = build.resource(homeless, "x", {}, group=group, namespace="${NAMESPACE}")
    assert row(network_policy(), SHOP, elsewhere).enforcement.state == "Unknown"


def test_what_a_policy_of_an_unknown_namespace_selects_is_unknown() -> None:
    assert row(network_policy("${NAMESPACE}"), SHOP).enforcement.state == "Unknown"


def test_the_profiles_of_evaluated_kinds_say_that_they_are() -> None:
    assert {kind: profile.attachment for kind, profile in _profiles().items()} == dict.fromkeys(
        EVALUATED_KINDS, "connections"
    )


def _profiles() -> dict[GroupKind, PolicyKindProfile]:
    registry = analyzed().registry
    return {kind: registry.profile(kind) for kind in EVALUATED_KINDS}


def test_a_policy_that_was_not_read_has_no_subjects() -> None:
    analysis = analyzed()
    with pytest.raises(KeyError):
        analysis.network.subjects_of(network_policy().ref)
    with pytest.raises(NotFoundError):
        analysis.enforcement(network_policy().ref)


def test_a_deletion_opens_what_the_policy_closed() -> None:
    """One Pod is open to any address afterwards; without Pods, nothing opens."""
    analysis = analyzed(network_policy(), SHOP, pod("web"), complete=True)
    difference = blast_radius(analysis, network_policy().ref).difference
    assert (difference.unseen, difference.connections.opened.receiving_outside) == ((), 1)
    without_pods = analyzed(network_policy(), SHOP, complete=True)
    assert not blast_radius(without_pods, network_policy().ref).difference.connections


def test_why_not_is_about_other_policies() -> None:
    analysis = analyzed(network_policy(), SHOP, pod("web"), complete=True)
    (reason,) = why_not(analysis, network_policy().ref, NodeRef(pod("web").ref)).reasons
    assert (reason.rule, reason.message) == (
        "not-computed",
        "what it does is about connections, and is not computed here",
    )


def test_a_draft_has_no_effect() -> None:
    """Whatever it selects; and no answer about a Pod mentions it."""
    staged = build.resource("StagedNetworkPolicy", "s", {"selector": "all()"}, group="projectcalico.org")
    answer = row(staged, SHOP, pod("web", "default"))
    assert (answer.enforcement.state, answer.affected, answer.unseen) == ("NoEffect", (), ())
    assert [(reason.rule, reason.message) for reason in answer.reasons] == [
        ("not-enforced", "it is only staged, and has no effect on connections")
    ]
    described = describe_policy(analyzed(staged, complete=True), staged.ref)
    assert policy_headline(described) == (
        "StagedNetworkPolicy default/s has no effect: it is only staged, and has no effect on connections"
        " (test.yaml:1)."
    )
    on_node = build.resource("Node", "n", group="")
    drafted = build.resource("StagedGlobalNetworkPolicy", "s", {"selector": "all()"}, group="projectcalico.org")
    enforced = build.resource("GlobalNetworkPolicy", "g", {"selector": "all()"}, group="projectcalico.org")
    (spot,) = describe(analyzed(on_node, drafted, enforced), NodeRef(on_node.ref)).unseen
    assert spot.policies == (enforced.ref,)
