"""Which of the things that could not be read may change an answer."""

from __future__ import annotations

from typing import Final

import pytest

from kubectl_policy import PolicyKindProfile, analyze
from kubectl_policy.model import Gap, ObjectRef
from kubectl_policy.model.kind_roles import GATEWAY_API
from kubectl_policy.questions.blind_spots.answers import blind_spots_for_policy
from kubectl_policy.questions.blind_spots.relevance import gaps_in_list, relevant_gaps
from tests import build

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
    """What a gap mentions."""
    return frozenset(words)


def relevant(gap: Gap, *subjects: ObjectRef, others: tuple[ObjectRef, ...] = (), below: bool = False) -> bool:
    """Whether a gap may change an answer."""
    analysis = analyze(build.snapshot(*WORLD, complete=True, gaps=[gap]))
    return relevant_gaps(analysis, subjects, others, include_descendants=below) == (gap,)


def test_one_object_matters_where_the_answer_is_about_it() -> None:
    """As its subject, or on its paths."""
    gap = Gap("HTTPRoute", "media", "patched", name="echo")
    assert relevant(gap, ROUTE)
    assert relevant(gap, SERVICE, others=(ROUTE,))
    assert not relevant(gap, SERVICE, others=(GATEWAY,))


def test_one_object_that_is_not_there_may_be_about_anything() -> None:
    """Nothing is known of it but its name."""
    gap = Gap("RetryPolicy", "media", "not YAML", name="slow")
    assert relevant(gap, ROUTE)
    read = build.policy("slow", kind="RetryPolicy", namespace="media")
    analysis = analyze(build.snapshot(*WORLD, read, gaps=[gap]))
    assert relevant_gaps(analysis, [ROUTE], [GATEWAY]) == ()
    assert relevant_gaps(analysis, [ROUTE], [read.ref]) == (gap,)


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
    """A route is not affected by others, nor anything by a Deployment."""
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
    """By what it mentions, or by its kind."""
    assert relevant(gap, ROUTE, others=(GATEWAY,)) is expected


def test_what_mentions_the_subject_matters_if_the_answer_looks_below() -> None:
    """Or if what leads to it counts: routes lead to a Service."""
    gap = Gap("", "infra", "HelmRelease infra/x may create objects", mentions=said("edge", "echo", "media"))
    assert relevant(gap, GATEWAY, below=True)
    assert not relevant(gap, GATEWAY)
    assert not relevant(gap, ROUTE)
    assert relevant(gap, SERVICE)
    assert not relevant(gap, ROUTE, others=(SERVICE, NAMESPACE))


def test_what_mentions_a_route_matters_where_routes_delegate() -> None:
    """It may be delegated to from there."""
    gap = Gap("HTTPRoute", "media", "not YAML", mentions=said("echo"))
    assert not relevant(gap, ROUTE)
    to = build.backend("echo", None, kind="HTTPRoute", group=GATEWAY_API)
    top = build.route("top", namespace="media", rules=[build.rule(to)])
    analysis = analyze(build.snapshot(*WORLD, top, gaps=[gap]))
    assert relevant_gaps(analysis, [ROUTE]) == (gap,)


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
    """By kind and namespace."""
    analysis = analyze(build.snapshot(*WORLD, gaps=[gap]))
    assert bool([*gaps_in_list(analysis, ["HTTPRoute"], "media")]) is routes
    assert bool([*gaps_in_list(analysis, ["RetryPolicy"], "media", policies=True)]) is policies


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
    analysis = analyze(
        build.snapshot(*WORLD, lost, grant, build.listener_set(namespace="media"), gaps=[patched, parent])
    )
    assert relevant_gaps(analysis, [SERVICE]) == (patched,)
    assert relevant_gaps(analysis, [lost.ref]) == (patched, parent)
    assert relevant_gaps(analysis, [GATEWAY]) == ()


def test_who_beats_a_policy_may_be_otherwise() -> None:
    """The answer about the beaten one says so."""
    older, newer = (
        build.policy(name, build.target("echo", "Service", group=""), namespace="media", age=age, a=age)
        for name, age in (("older", 1), ("newer", 2))
    )
    gap = Gap("ColorPolicy", "media", "nothing applies it", name="older", mentions=frozenset())
    direct = PolicyKindProfile(older.ref.group_kind, "direct", "profile")
    analysis = analyze(build.snapshot(*WORLD, older, newer, gaps=[gap]), profiles=[direct])
    found = blind_spots_for_policy(analysis, analysis.enforcement(newer.ref))
    assert [thing.reason for thing in found if thing.is_there] == ["nothing applies it"]


def test_gaps_are_told_in_their_order() -> None:
    """Whatever makes them matter, and each once."""
    found = [
        Gap("", "", "first"),
        Gap("RetryPolicy", "infra", "second", mentions=said("edge")),
        Gap("Gateway", "infra", "third", name="edge", mentions=said("edge")),
    ]
    analysis = analyze(build.snapshot(*WORLD, gaps=found))
    assert relevant_gaps(analysis, [GATEWAY, ROUTE], [GATEWAY]) == tuple(found)
