"""What a cluster did not give out matters only where it may have an effect on what an answer is about."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

import pytest
from msgspec.structs import replace

from kubectl_policy import PolicyKindProfile, analyze
from kubectl_policy.model import Gap, GroupKind, Permission
from kubectl_policy.model.kind_roles import GATEWAY_API
from kubectl_policy.questions.blind_spots.answers import blind_spots_for_policy
from kubectl_policy.questions.blind_spots.relevance import (
    describe_gaps,
    gaps_in_list,
    is_closed_in,
    may_lead_to,
    relevant_gaps,
)
from tests import build

if TYPE_CHECKING:
    from kubectl_policy.model import Json, ObjectRef, Resource

GATEWAY: Final = build.ref("Gateway", "edge", "infra")
ROUTE: Final = build.ref("HTTPRoute", "echo", "media")
RETRY: Final = GroupKind("example.com", "RetryPolicy")
MAY: Final = Permission("list", "retrypolicies.example.com", "media")
HIDDEN: Final = Gap("RetryPolicy", "media", "forbidden", group="example.com", needs=MAY)
EVERYWHERE: Final = Gap("RetryPolicy", "", "forbidden", group="example.com")


def definition(*fields: str, kind: str = "RetryPolicy", reference: str = "targetRefs") -> Resource:
    """The definition of a policy kind whose references have some fields."""
    one: Json = {"properties": {name: {"type": "string"} for name in fields}}
    listed: Json = {"type": "array", "items": one}
    spec: Json = {"properties": {reference: one if reference == "targetRef" else listed}}
    labels = {"gateway.networking.k8s.io/policy": "inherited"} if fields else {}
    return build.crd(kind, "example.com", schema={"properties": {"spec": spec}}, labels=labels)


def relevant(
    *found: Gap, others: tuple[ObjectRef, ...] = (GATEWAY,), fields: tuple[str, ...] = ("group", "kind", "name")
) -> tuple[Gap, ...]:
    """The gaps that may change an answer about the route and the Gateway that it is attached to."""
    world = (
        build.gateway("edge", namespace="infra"),
        build.route("echo", namespace="media", parents=[build.parent("edge", namespace="infra")]),
    )
    defined = (definition(*fields),) if fields else ()
    analysis = analyze(build.snapshot(*world, *defined, complete=True, gaps=found))
    return relevant_gaps(analysis, [ROUTE], others)


@pytest.mark.parametrize(
    "gap",
    [
        # It is in another namespace, and its references name none.
        replace(HIDDEN, namespace="far"),
        # A kind of Kubernetes itself that no policy is of, or whose policies are for Pods.
        Gap("PodDisruptionBudget", "", "forbidden", group="policy"),
        Gap("NetworkPolicy", "", "forbidden", group="networking.k8s.io"),
        Gap("NetworkPolicy", "media", "forbidden", group="networking.k8s.io"),
        # Its profile has other targets: Services.
        Gap("BackendTLSPolicy", "media", "forbidden", group=GATEWAY_API),
        # What selects by the labels of a Namespace says so itself.
        Gap("Namespace", "", "forbidden", group="", name="media"),
        # What definitions say is known of all kinds that there are.
        Gap("CustomResourceDefinition", "", "forbidden", group="apiextensions.k8s.io"),
    ],
)
def test_what_cannot_matter_is_not_told(gap: Gap) -> None:
    """By its kind, or by where it is."""
    assert relevant(gap) == ()


@pytest.mark.parametrize(
    ("gap", "fields"),
    [
        (HIDDEN, ("kind", "name")),
        (replace(HIDDEN, namespace="infra"), ("kind", "name")),
        (replace(HIDDEN, namespace="far"), ("kind", "name", "namespace")),
        # Nothing says what its policies are like.
        (replace(HIDDEN, namespace="far"), ()),
        (EVERYWHERE, ("kind", "name")),
        (replace(EVERYWHERE, besides=frozenset({"media", "far"})), ("kind", "name")),
        (Gap("Gateway", "infra", "forbidden", group=GATEWAY_API, name="edge"), ("kind",)),
        (Gap("", "", "no answer", group="metrics.io"), ("kind",)),
    ],
)
def test_what_may_matter_is_told(gap: Gap, fields: tuple[str, ...]) -> None:
    """A policy in the namespace of something on the paths, or of anywhere if its kind may leave its namespace."""
    assert relevant(gap, fields=fields) == (gap,)


def test_each_namespace_has_its_own_gap() -> None:
    """That of all namespaces says no more, unless a policy of another one may matter."""
    own = (HIDDEN, replace(HIDDEN, namespace="infra"), replace(HIDDEN, namespace="far"))
    assert relevant(EVERYWHERE, *own) == own[:2]
    read = replace(EVERYWHERE, besides=frozenset({"infra"}))
    assert relevant(read, HIDDEN) == (HIDDEN,)
    assert relevant(replace(read, besides=frozenset({"infra", "media"}))) == ()
    assert relevant(EVERYWHERE, *own, fields=("kind", "namespace")) == (EVERYWHERE, *own)


def test_a_definition_that_was_not_read_matters_if_it_may_be_of_a_policy() -> None:
    """Of a kind that nothing else is known of."""
    gap = Gap("CustomResourceDefinition", "", "forbidden", group="apiextensions.k8s.io")
    unknown = build.crd("Shaping", "example.com")
    profiled = PolicyKindProfile(GroupKind("example.com", "Shaping"), "direct", "profile")
    found = build.snapshot(unknown, complete=True, gaps=[gap])
    assert relevant_gaps(analyze(found), [ROUTE]) == (gap,)
    assert relevant_gaps(analyze(found, profiles=[profiled]), [ROUTE]) == ()
    other = replace(gap, name="others.example.com")
    assert relevant_gaps(analyze(replace(found, gaps=(other,))), [ROUTE]) == ()


def test_what_is_called_a_policy_and_is_none_does_not_matter() -> None:
    """Its definition was read, and has no target references."""
    gap = Gap("CleanupPolicy", "", "forbidden", group="example.com")
    none = build.crd("CleanupPolicy", "example.com", schema={"properties": {"spec": {"properties": {"match": {}}}}})
    analysis = analyze(build.snapshot(none, complete=True, gaps=[gap]))
    assert relevant_gaps(analysis, [ROUTE]) == ()
    assert [*gaps_in_list(analysis, ["HTTPRoute"], "", policies=True)] == []


def test_below_a_gateway_are_the_namespaces_of_its_routes() -> None:
    """A policy there matters to what the Gateway is deleted from, and not to what is set at the Gateway."""
    route = build.route("echo", namespace="media", parents=[build.parent("edge", namespace="infra")])
    gateway = build.gateway("edge", build.listener(allowedRoutes=build.allow()), namespace="infra")
    analysis = analyze(build.snapshot(gateway, route, definition("kind", "name"), complete=True, gaps=[HIDDEN]))
    assert relevant_gaps(analysis, [GATEWAY]) == ()
    assert relevant_gaps(analysis, [GATEWAY], include_descendants=True) == (HIDDEN,)


def test_policies_of_other_kinds_do_not_change_what_becomes_of_a_policy() -> None:
    """Those of its own do."""
    policy = build.policy("slow", build.target("echo", "HTTPRoute"), kind="RetryPolicy", namespace="media")
    others = Gap("TimeoutPolicy", "media", "forbidden", group="example.com")
    own = replace(HIDDEN, group=policy.ref.group_kind.group)
    found = build.snapshot(build.route("echo", namespace="media"), policy, complete=True, gaps=[others, own])
    known = [
        PolicyKindProfile(kind, "inherited", "profile")
        for kind in (GroupKind("example.com", "TimeoutPolicy"), policy.ref.group_kind)
    ]
    analysis = analyze(found, profiles=known)
    assert [thing.gaps for thing in blind_spots_for_policy(analysis, analysis.enforcement(policy.ref))] == [(own,)]


def test_a_list_in_a_namespace_misses_what_could_not_be_read_there() -> None:
    """Not what was read in it, although not everywhere."""
    read = replace(EVERYWHERE, besides=frozenset({"media"}))
    analysis = analyze(build.snapshot(complete=True, gaps=[read]))
    assert [*gaps_in_list(analysis, ["RetryPolicy"], "media")] == []
    assert [*gaps_in_list(analysis, ["RetryPolicy"], "far")] == [read]
    assert [*gaps_in_list(analysis, ["RetryPolicy"], "")] == [read]


@pytest.mark.parametrize(
    ("found", "what"),
    [
        ([HIDDEN], "RetryPolicies in namespace media"),
        ([HIDDEN, replace(HIDDEN, namespace="infra")], "RetryPolicies in namespaces media and infra"),
        ([HIDDEN, EVERYWHERE], "RetryPolicies"),
        ([replace(EVERYWHERE, besides=frozenset({"b", "a"}))], "RetryPolicies not in namespaces a and b"),
        ([replace(HIDDEN, name="a"), replace(HIDDEN, name="b")], "RetryPolicies media/a and media/b"),
        ([replace(HIDDEN, name="a")], "RetryPolicy media/a"),
        (
            [replace(HIDDEN, namespace=str(each)) for each in range(7)],
            "RetryPolicies in namespaces 0, 1, 2, 3 and 3 more",
        ),
        ([Gap("", "", "no answer", group="metrics.io")], "objects of API group metrics.io"),
    ],
)
def test_all_of_a_kind_is_told_at_once(found: list[Gap], what: str) -> None:
    """With every namespace and name, or with the first of many."""
    (told,) = describe_gaps(analyze(build.snapshot()), found)
    assert (told.what, told.gaps) == (what, tuple(found))


def test_different_reasons_are_told_apart() -> None:
    """And so are kinds of the same name."""
    others = (replace(HIDDEN, reason="no answer"), replace(HIDDEN, group="example.org"))
    assert len([*describe_gaps(analyze(build.snapshot()), [HIDDEN, *others])]) == 3


@pytest.mark.parametrize(
    ("kind", "subject", "expected"),
    [
        # Nothing names these but what is known: a route its Gateway, a Gateway its class.
        ("Gateway", build.ref("Service", "echo", "media", ""), False),
        ("GatewayClass", GATEWAY, False),
        ("ListenerSet", ROUTE, False),
        ("HTTPRoute", ROUTE, False),
        # A grant in its namespace would let them in.
        ("GRPCRoute", build.ref("Service", "echo", "media", ""), False),
        ("HTTPRoute", build.ref("Service", "echo", "media", ""), True),
        ("HTTPRoute", GATEWAY, True),
        ("ListenerSet", GATEWAY, True),
        ("Gateway", build.ref("GatewayClass", "public"), True),
        ("HTTPRoute", build.ref("Namespace", "far", "", ""), True),
        ("HTTPRoute", build.ref("Namespace", "media", "", ""), False),
    ],
)
def test_what_leads_to_something_matters_where_it_may_name_it(kind: str, subject: ObjectRef, *, expected: bool) -> None:
    """Of a namespace that was read, not what is in others, unless that may refer to it."""
    gap = Gap(kind, "", "forbidden", group=GATEWAY_API, besides=frozenset({"media"}))
    grant = build.grant(namespace="media", sources=[(GATEWAY_API, "HTTPRoute", "far")])
    world = (build.gateway("edge", namespace="infra"), build.route("echo", namespace="media"), grant)
    analysis = analyze(build.snapshot(*world, build.service("echo", namespace="media"), complete=True, gaps=[gap]))
    assert relevant_gaps(analysis, [subject]) == ((gap,) if expected else ())


def test_one_object_of_the_hierarchy_that_is_hidden_leads_to_nothing_else() -> None:
    """What names it, says so itself."""
    gap = Gap("HTTPRoute", "media", "forbidden", group=GATEWAY_API, name="other")
    analysis = analyze(build.snapshot(build.gateway("edge", namespace="infra"), complete=True, gaps=[gap]))
    assert not may_lead_to(analysis, gap, [GATEWAY])
    assert may_lead_to(analysis, replace(gap, name=""), [GATEWAY])


def test_a_gap_in_one_namespace_closes_no_other() -> None:
    """Only what could not be listed everywhere is closed where it was listed."""
    analysis = analyze(build.snapshot(complete=True, gaps=[HIDDEN, EVERYWHERE]))
    assert not is_closed_in(analysis, HIDDEN, {"media"})
    assert is_closed_in(analysis, EVERYWHERE, {"media"})
    assert not is_closed_in(analysis, EVERYWHERE, {"far"})


def test_grants_of_a_cluster_that_are_hidden_are_said_to_be() -> None:
    """They are in the cluster or not, and nobody adds them to any input."""
    snapshot = replace(build.snapshot(complete=True), source="the cluster")
    assert analyze(snapshot).index.grants.unsaid == "the ReferenceGrants there could not be read"


def test_routes_that_are_hidden_lead_to_backends_beside_them() -> None:
    """And to other routes only where any delegates."""
    gap = Gap("HTTPRoute", "media", "forbidden", group=GATEWAY_API)
    analysis = analyze(build.snapshot(build.service("echo", namespace="media"), complete=True, gaps=[gap]))
    assert may_lead_to(analysis, gap, [build.ref("Service", "echo", "media", "")])
    assert not may_lead_to(analysis, gap, [ROUTE])
