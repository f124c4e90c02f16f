"""Gaps that may change an answer."""

from __future__ import annotations

from typing import Final

import pytest
from msgspec.structs import replace

from kubectl_policy import PolicyKindProfile, analyze
from kubectl_policy.model import Gap, GroupKind, Json, ObjectRef, Permission, Resource
from kubectl_policy.model.kind_roles import GATEWAY_API
from kubectl_policy.questions.blind_spots import relevance
from kubectl_policy.questions.blind_spots.answers import blind_spots_for_policy
from tests import build
from tests.questions.build import analyzed

GATEWAY: Final = build.ref("Gateway", "edge", "infra")
ROUTE: Final = build.ref("HTTPRoute", "echo", "media")
SERVICE: Final = build.ref("Service", "echo", "media", "")
NAMESPACE: Final = build.ref("Namespace", "media", "", "")
WORLD: Final = (
    build.gateway("edge", namespace="infra"),
    build.route("echo", namespace="media"),
    build.service("echo", namespace="media"),
)
POLICY: Final = frozenset({"targetRefs", "edge"})


def said(*words: str) -> frozenset[str]:
    return frozenset(words)


def relevant(gap: Gap, *subjects: ObjectRef, others: tuple[ObjectRef, ...] = (), below: bool = False) -> bool:
    analysis = analyzed(*WORLD, complete=True, gaps=[gap])
    return relevance.relevant_gaps(analysis, subjects, others, include_descendants=below) == (gap,)


def test_one_object_matters_where_the_answer_is_about_it() -> None:
    gap = Gap("HTTPRoute", "media", "patched", name="echo")
    assert relevant(gap, ROUTE)
    assert relevant(gap, SERVICE, others=(ROUTE,))
    assert not relevant(gap, SERVICE, others=(GATEWAY,))


def test_one_object_that_is_not_there_may_be_about_anything() -> None:
    gap = Gap("RetryPolicy", "media", "not YAML", name="slow")
    assert relevant(gap, ROUTE)
    read = build.policy("slow", kind="RetryPolicy", namespace="media")
    analysis = analyzed(*WORLD, read, gaps=[gap])
    assert relevance.relevant_gaps(analysis, [ROUTE], [GATEWAY]) == ()
    assert relevance.relevant_gaps(analysis, [ROUTE], [read.ref]) == (gap,)


@pytest.mark.parametrize(
    ("kind", "of_route", "of_gateway"),
    [
        ("", True, True),
        ("RetryPolicy", True, True),
        ("CustomResourceDefinition", True, True),
        ("HTTPRoute", False, True),
        ("Gateway", False, True),
        ("Secret", False, False),
        ("Deployment", False, False),
    ],
)
def test_what_may_mention_anything_matters_by_its_kind(kind: str, *, of_route: bool, of_gateway: bool) -> None:
    gap = Gap(kind, "", "forbidden")
    assert relevant(gap, ROUTE, others=(GATEWAY,)) is of_route
    assert relevant(gap, GATEWAY) is of_gateway
    assert relevant(gap, ROUTE, below=True) is of_gateway


@pytest.mark.parametrize(
    ("gap", "expected"),
    [
        # A policy on the Gateway affects the route as well.
        (Gap("", "", "not YAML", mentions=POLICY), True),
        (Gap("", "infra", "not YAML", mentions=POLICY), True),
        (Gap("RetryPolicy", "infra", "not YAML", mentions=said("edge")), True),
        (Gap("RetryPolicy", "infra", "not YAML", mentions=said("RetryPolicy", "echo")), False),
        # From another namespace, it names that of its target.
        (Gap("RetryPolicy", "far", "not YAML", mentions=said("edge")), False),
        (Gap("RetryPolicy", "far", "not YAML", mentions=said("edge", "infra")), True),
        (Gap("RetryPolicy", "${TEAM}", "not YAML", mentions=said("edge")), True),
        # Another route on the Gateway does not.
        (Gap("", "infra", "HelmRelease infra/x may create objects", mentions=said("edge", "parentRefs")), False),
        (Gap("HTTPRoute", "infra", "not YAML", mentions=said("edge")), False),
        (Gap("", "", "not YAML", mentions=said("RetryPolicy", "other")), False),
        (Gap("Secret", "", "encrypted", mentions=frozenset()), False),
    ],
)
def test_what_mentions_something_on_the_paths_matters_if_it_may_be_a_policy(gap: Gap, *, expected: bool) -> None:
    assert relevant(gap, ROUTE, others=(GATEWAY,)) is expected


FENCED: Final = ("FencedPolicy", False)
ROAMING: Final = ("RoamingPolicy", True)


@pytest.mark.parametrize(
    ("kinds", "namespace", "expected"),
    [
        (None, "shops", True),
        (["FencedPolicy", "HTTPRoute", "Service"], "shops", False),
        (["FencedPolicy"], "infra", True),
        (["FencedPolicy"], "", True),
        (["FencedPolicy", "RoamingPolicy"], "shops", True),
        (["FencedPolicy", "Mystery"], "shops", True),
    ],
)
def test_policies_that_stay_in_their_namespace_matter_only_there(
    kinds: list[str] | None, namespace: str, *, expected: bool
) -> None:
    """A chart that names a Gateway and its namespace may hold policies on it, if any of its kinds leaves its own."""
    profiles = [
        PolicyKindProfile(GroupKind("example.com", kind), "inherited", "profile", cross_namespace=crosses)
        for kind, crosses in (FENCED, ROAMING)
    ]
    declares = None if kinds is None else frozenset(GroupKind("example.com", kind) for kind in kinds)
    gap = Gap("", namespace, "not rendered", mentions=said("targetRefs", "edge", "infra"), declares=declares)
    analysis = analyze(build.snapshot(*WORLD, build.namespace("infra"), gaps=[gap]), profiles=profiles)
    infra = build.ref("Namespace", "infra", "", "")
    relevant_gaps = relevance.relevant_gaps(analysis, [ROUTE], [GATEWAY, infra])
    assert (relevant_gaps == (gap,)) is expected
    # What is on a class has no namespace to stay in.
    on_class = relevance.relevant_gaps(analysis, [ROUTE], [build.ref("GatewayClass", "edge", "")])
    assert on_class == (gap,)


def test_what_mentions_the_subject_matters_if_the_answer_looks_below() -> None:
    gap = Gap("", "infra", "HelmRelease infra/x may create objects", mentions=said("edge", "echo", "media"))
    assert relevant(gap, GATEWAY, below=True)
    assert not relevant(gap, GATEWAY)
    assert not relevant(gap, ROUTE)
    assert relevant(gap, SERVICE)
    assert not relevant(gap, ROUTE, others=(SERVICE, NAMESPACE))


def test_what_mentions_a_route_matters_where_routes_delegate() -> None:
    gap = Gap("HTTPRoute", "media", "not YAML", mentions=said("echo"))
    assert not relevant(gap, ROUTE)
    to = build.backend("echo", None, kind="HTTPRoute", group=GATEWAY_API)
    top = build.route("top", namespace="media", rules=[build.rule(to)])
    assert relevance.relevant_gaps(analyzed(*WORLD, top, gaps=[gap]), [ROUTE]) == (gap,)


@pytest.mark.parametrize(
    ("gap", "routes", "policies"),
    [
        (Gap("", "", "not YAML"), True, True),
        (Gap("", "far", "not YAML"), False, False),
        (Gap("", "media", "not YAML"), True, True),
        (Gap("HTTPRoute", "", "forbidden"), True, False),
        (Gap("FooPolicy", "", "forbidden"), False, True),
        (Gap("", "", "not YAML", mentions=said("HTTPRoute")), True, False),
        (Gap("", "", "not YAML", mentions=said("targetRefs")), False, True),
        (Gap("", "", "not YAML", mentions=said("x")), False, False),
        (Gap("ConfigMap", "", "forbidden"), False, False),
    ],
)
def test_what_may_hide_rows_of_a_list(gap: Gap, *, routes: bool, policies: bool) -> None:
    analysis = analyzed(*WORLD, gaps=[gap])
    assert bool([*relevance.gaps_in_list(analysis, ["HTTPRoute"], "media")]) is routes
    assert bool([*relevance.gaps_in_list(analysis, ["RetryPolicy"], "media", policies=True)]) is policies


def test_what_is_one_reference_away_may_be_otherwise() -> None:
    """A route that sends requests to a Service may be attached after all, and a parent of a route may take it."""
    patched = Gap("HTTPRoute", "far", "patched", name="lost", mentions=frozenset())
    parent = Gap("ListenerSet", "media", "patched", name="ls", mentions=frozenset())
    lost = build.route(
        "lost",
        namespace="far",
        parents=[build.parent("ls", kind="ListenerSet", namespace="media")],
        rules=[build.rule(build.backend("echo", namespace="media"))],
    )
    grant = build.grant(namespace="media", sources=[(GATEWAY_API, "HTTPRoute", "far")])
    analysis = analyzed(*WORLD, lost, grant, build.listener_set(namespace="media"), gaps=[patched, parent])
    assert relevance.relevant_gaps(analysis, [SERVICE]) == (patched,)
    assert relevance.relevant_gaps(analysis, [lost.ref]) == (patched, parent)
    assert relevance.relevant_gaps(analysis, [GATEWAY]) == ()


def test_who_beats_a_policy_may_be_otherwise() -> None:
    older, newer = (
        build.policy(name, build.target("echo", "Service", group=""), namespace="media", age=age, a=age)
        for name, age in (("older", 1), ("newer", 2))
    )
    gap = Gap("ColorPolicy", "media", "nothing applies it", name="older", mentions=frozenset())
    direct = PolicyKindProfile(older.ref.group_kind, "direct", "profile")
    analysis = analyzed(*WORLD, older, newer, gaps=[gap], profiles=[direct])
    found = blind_spots_for_policy(analysis, analysis.enforcement(newer.ref))
    assert [thing.reason for thing in found if thing.is_there] == ["nothing applies it"]


def test_gaps_are_told_in_their_order() -> None:
    found = [
        Gap("", "", "first"),
        Gap("RetryPolicy", "infra", "second", mentions=said("edge")),
        Gap("Gateway", "infra", "third", name="edge", mentions=said("edge")),
    ]
    assert relevance.relevant_gaps(analyzed(*WORLD, gaps=found), [GATEWAY, ROUTE], [GATEWAY]) == tuple(found)


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


def relevant_hidden(
    *found: Gap, others: tuple[ObjectRef, ...] = (GATEWAY,), fields: tuple[str, ...] = ("group", "kind", "name")
) -> tuple[Gap, ...]:
    """The gaps that may change an answer about the route and the Gateway that it is attached to."""
    world = (
        build.gateway("edge", namespace="infra"),
        build.route("echo", namespace="media", parents=[build.parent("edge", namespace="infra")]),
    )
    defined = (definition(*fields),) if fields else ()
    return relevance.relevant_gaps(analyzed(*world, *defined, complete=True, gaps=found), [ROUTE], others)


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
    assert relevant_hidden(gap) == ()


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
    assert relevant_hidden(gap, fields=fields) == (gap,)


def test_each_namespace_has_its_own_gap() -> None:
    own = (HIDDEN, replace(HIDDEN, namespace="infra"), replace(HIDDEN, namespace="far"))
    assert relevant_hidden(EVERYWHERE, *own) == own[:2]
    read = replace(EVERYWHERE, besides=frozenset({"infra"}))
    assert relevant_hidden(read, HIDDEN) == (HIDDEN,)
    assert relevant_hidden(replace(read, besides=frozenset({"infra", "media"}))) == ()
    assert relevant_hidden(EVERYWHERE, *own, fields=("kind", "namespace")) == (EVERYWHERE, *own)


def test_a_definition_that_was_not_read_matters_if_it_may_be_of_a_policy() -> None:
    gap = Gap("CustomResourceDefinition", "", "forbidden", group="apiextensions.k8s.io")
    unknown = build.crd("Shaping", "example.com")
    profiled = PolicyKindProfile(GroupKind("example.com", "Shaping"), "direct", "profile")
    found = build.snapshot(unknown, complete=True, gaps=[gap])
    assert relevance.relevant_gaps(analyze(found), [ROUTE]) == (gap,)
    assert relevance.relevant_gaps(analyze(found, profiles=[profiled]), [ROUTE]) == ()
    other = replace(gap, name="others.example.com")
    assert relevance.relevant_gaps(analyze(replace(found, gaps=(other,))), [ROUTE]) == ()


def test_what_is_called_a_policy_and_is_none_does_not_matter() -> None:
    gap = Gap("CleanupPolicy", "", "forbidden", group="example.com")
    none = build.crd("CleanupPolicy", "example.com", schema={"properties": {"spec": {"properties": {"match": {}}}}})
    analysis = analyzed(none, complete=True, gaps=[gap])
    assert relevance.relevant_gaps(analysis, [ROUTE]) == ()
    assert [*relevance.gaps_in_list(analysis, ["HTTPRoute"], "", policies=True)] == []


def test_below_a_gateway_are_the_namespaces_of_its_routes() -> None:
    """A policy there matters to what the Gateway is deleted from, and not to what is set at the Gateway."""
    route = build.route("echo", namespace="media", parents=[build.parent("edge", namespace="infra")])
    gateway = build.gateway("edge", build.listener(allowedRoutes=build.allow()), namespace="infra")
    analysis = analyzed(gateway, route, definition("kind", "name"), complete=True, gaps=[HIDDEN])
    assert relevance.relevant_gaps(analysis, [GATEWAY]) == ()
    assert relevance.relevant_gaps(analysis, [GATEWAY], include_descendants=True) == (HIDDEN,)


def test_policies_of_other_kinds_do_not_change_what_becomes_of_a_policy() -> None:
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
    read = replace(EVERYWHERE, besides=frozenset({"media"}))
    analysis = analyzed(complete=True, gaps=[read])
    assert [*relevance.gaps_in_list(analysis, ["RetryPolicy"], "media")] == []
    assert [*relevance.gaps_in_list(analysis, ["RetryPolicy"], "far")] == [read]
    assert [*relevance.gaps_in_list(analysis, ["RetryPolicy"], "")] == [read]


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
    (told,) = relevance.describe_gaps(analyzed(), found)
    assert (told.what, told.gaps) == (what, tuple(found))


def test_different_reasons_are_told_apart() -> None:
    others = (replace(HIDDEN, reason="no answer"), replace(HIDDEN, group="example.org"))
    assert len([*relevance.describe_gaps(analyzed(), [HIDDEN, *others])]) == 3


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
    gap = Gap(kind, "", "forbidden", group=GATEWAY_API, besides=frozenset({"media"}))
    grant = build.grant(namespace="media", sources=[(GATEWAY_API, "HTTPRoute", "far")])
    world = (build.gateway("edge", namespace="infra"), build.route("echo", namespace="media"), grant)
    analysis = analyzed(*world, build.service("echo", namespace="media"), complete=True, gaps=[gap])
    assert relevance.relevant_gaps(analysis, [subject]) == ((gap,) if expected else ())


def test_one_object_of_the_hierarchy_that_is_hidden_leads_to_nothing_else() -> None:
    gap = Gap("HTTPRoute", "media", "forbidden", group=GATEWAY_API, name="other")
    analysis = analyzed(build.gateway("edge", namespace="infra"), complete=True, gaps=[gap])
    assert not relevance.may_lead_to(analysis, gap, [GATEWAY])
    assert relevance.may_lead_to(analysis, replace(gap, name=""), [GATEWAY])


def test_a_gap_in_one_namespace_closes_no_other() -> None:
    analysis = analyzed(complete=True, gaps=[HIDDEN, EVERYWHERE])
    assert not relevance.is_closed_in(analysis, HIDDEN, {"media"})
    assert relevance.is_closed_in(analysis, EVERYWHERE, {"media"})
    assert not relevance.is_closed_in(analysis, EVERYWHERE, {"far"})


def test_grants_of_a_cluster_that_are_hidden_are_said_to_be() -> None:
    snapshot = replace(build.snapshot(complete=True), source="the cluster")
    assert analyze(snapshot).index.grants.unknown_reason == "the ReferenceGrants there could not be read"


def test_routes_that_are_hidden_lead_to_backends_beside_them() -> None:
    gap = Gap("HTTPRoute", "media", "forbidden", group=GATEWAY_API)
    analysis = analyzed(build.service("echo", namespace="media"), complete=True, gaps=[gap])
    assert relevance.may_lead_to(analysis, gap, [build.ref("Service", "echo", "media", "")])
    assert not relevance.may_lead_to(analysis, gap, [ROUTE])
