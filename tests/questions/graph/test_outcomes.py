"""Policies in a picture, and outcomes at its nodes."""

from __future__ import annotations

from typing import Final

import pytest

from kubectl_policy import MergeStrategy, PolicyKindProfile, TargetLevel, analyze, load_manifests
from kubectl_policy.model import GroupKind, Json, NodeRef, Resource
from kubectl_policy.model.kind_roles import GATEWAY_API, ROUTES
from kubectl_policy.questions.blast_radius import blast_radius
from kubectl_policy.questions.describe.objects import describe
from kubectl_policy.questions.graph.drawing import graph
from kubectl_policy.questions.graph.picture import GraphOptions
from tests import build
from tests.questions.graph.drawings import around, drawn, outcomes, wins

EFFECTIVE: Final = GraphOptions(effective=True)
COLOR: Final = GroupKind("example.com", "ColorPolicy")
WORLD: Final[tuple[Resource, ...]] = (
    build.gateway_class(),
    build.gateway("g", build.listener("one"), build.listener("two", port=81)),
    build.route(rules=[build.rule(build.backend()), build.rule(build.backend(), name="two")]),
    build.service(),
)
ON_TWO: Final = build.policy("on-two", build.target("g", section="two"), color="green")
ON_GATEWAY: Final = build.policy("on-g", build.target("g"), color="red")


def test_not_unless_asked_for() -> None:
    assert not outcomes(drawn([*WORLD, ON_GATEWAY]))


def test_where_nothing_is_in_force() -> None:
    assert not outcomes(drawn(WORLD, EFFECTIVE))
    idle = build.route("idle", parents=[])
    assert "HTTPRoute idle#rule[0]" not in wins(drawn([*WORLD, idle, ON_GATEWAY], EFFECTIVE))


def test_at_rules() -> None:
    """Which policy wins on which path; what is on its way to routes is not told at listeners."""
    picture = drawn([*WORLD, ON_GATEWAY, ON_TWO], EFFECTIVE)
    told = [("ColorPolicy", "on-g", "0"), ("ColorPolicy", "on-two", "1")]
    assert wins(picture) == {"HTTPRoute r#rule[0]": told, "HTTPRoute r#two": told}
    outcome = outcomes(picture)[build.node("HTTPRoute", "r", "two")]
    assert [path[3].section for path in outcome.paths] == ["one", "two"]
    assert [win.certain for win in outcome.wins] == [True, True]


def test_at_routes_without_rules() -> None:
    """Then the route itself has them; with `sections` left out, any route has, for all of its rules."""
    bare = build.resource("TLSRoute", "r", {"parentRefs": [build.parent()], "rules": []})
    gateway = build.gateway("g", build.listener(protocol="TLS", port=443, tls={"mode": "Passthrough"}))
    assert wins(drawn([WORLD[0], gateway, bare, ON_GATEWAY], EFFECTIVE)) == {
        "TLSRoute r": [("ColorPolicy", "on-g", "0")]
    }
    assert wins(drawn([*WORLD, ON_GATEWAY], GraphOptions(effective=True, sections=False))) == {
        "HTTPRoute r": [("ColorPolicy", "on-g", "0123")]
    }


def test_at_listeners() -> None:
    levels = (TargetLevel(GroupKind(GATEWAY_API, "Gateway"), section=True),)
    for profile in (
        PolicyKindProfile(COLOR, "direct", "profile", strategy=MergeStrategy.ATOMIC_DEFAULTS),
        PolicyKindProfile(COLOR, "inherited", "profile", effective_targets=levels),
    ):
        found = wins(drawn([*WORLD, ON_GATEWAY], EFFECTIVE, profiles=[profile]))
        assert found["Gateway g#one"] == found["Gateway g#two"] == [("ColorPolicy", "on-g", "0")]


def test_what_passes_on() -> None:
    levels = (TargetLevel(GroupKind(GATEWAY_API, "HTTPRoute")),)
    profile = PolicyKindProfile(COLOR, "inherited", "profile", effective_targets=levels)
    assert [*wins(drawn([*WORLD, ON_GATEWAY], EFFECTIVE, profiles=[profile]))] == [
        "HTTPRoute r#rule[0]",
        "HTTPRoute r#two",
    ]


def test_what_is_not_read() -> None:
    profile = PolicyKindProfile(COLOR, "inherited", "profile", patches=True)
    assert not outcomes(drawn([*WORLD, ON_GATEWAY], EFFECTIVE, profiles=[profile]))


def test_what_rules_say_themselves() -> None:
    route = build.route(rules=[build.rule(build.backend(), timeouts={"request": "5s"})])
    assert wins(drawn([*WORLD[:2], route, WORLD[3]], EFFECTIVE)) == {"HTTPRoute r#rule[0]": [("HTTPRoute", "", "01")]}


def test_of_some_kinds() -> None:
    fast = build.policy("fast", build.target("g"), kind="SpeedPolicy", speed=1)
    route = build.route(rules=[build.rule(build.backend(), timeouts={"request": "5s"})])
    asked = GraphOptions(effective=True, policy_kinds=frozenset({COLOR}))
    assert wins(drawn([*WORLD[:2], route, WORLD[3], ON_GATEWAY, fast], asked)) == {
        "HTTPRoute r#rule[0]": [("ColorPolicy", "on-g", "01")]
    }


def test_kinds_of_routes_told_apart() -> None:
    """What of a policy counts may differ between kinds of routes, though it is the same policy."""
    routes = [build.route("r"), build.route("t", kind="GRPCRoute")]
    picture = drawn([*WORLD[:2], *routes, WORLD[3], ON_GATEWAY], EFFECTIVE)
    assert wins(picture)["GRPCRoute t#rule[0]"] == [("ColorPolicy", "on-g", "01")]
    assert outcomes(picture)[build.node("GRPCRoute", "t", "rule[0]")].wins[0].summary == ("color red",)


def test_around_something() -> None:
    picture = drawn([*WORLD, ON_GATEWAY], around(build.ref("Service", "s", group=""), effective=True))
    assert [*wins(picture)] == ["HTTPRoute r#rule[0]", "HTTPRoute r#two"]


@pytest.mark.parametrize(
    "name", ["bakery", "delegation", "envoy-gateway", "kgateway", "kuadrant", "nginx-gateway-fabric"]
)
def test_as_described(name: str) -> None:
    """What is in force at each rule, and by whom, is what `describe` says of it."""
    analysis = analyze(load_manifests(f"fixtures/{name}"))
    picture = graph(analysis, EFFECTIVE)
    rules = [node.ref for node in picture.nodes if node.ref.object.group_kind in ROUTES and node.ref.section]
    assert rules
    for rule in rules:
        outcome = outcomes(picture).get(rule)
        told = {(win.policy_kind, policy) for win in (outcome.wins if outcome else ()) for policy in win.policies}
        description = describe(analysis, rule)
        groups = [group for group in description.in_force if not (group.extent.passes_down or group.profile.patches)]
        expected = {(group.kind, policy) for group in groups for policy in group.policies}
        assert told == (expected if description.requests.carries_traffic else set()), rule


def test_as_described_of_whole_routes() -> None:
    analysis = analyze(load_manifests("fixtures/bakery"))
    picture = graph(analysis, GraphOptions(effective=True, sections=False))
    for node, outcome in outcomes(picture).items():
        described = {policy for group in describe(analysis, NodeRef(node.object)).in_force for policy in group.policies}
        assert {policy for win in outcome.wins for policy in win.policies} == described


TWO_GATEWAYS: Final = (build.gateway_class(), build.gateway(), build.gateway("other"), build.route(), build.service())


def reported(ancestor: str, status: str = "False") -> Resource:
    """A policy on a route, and what a controller says of it for a Gateway."""
    condition: dict[str, Json] = {"type": "Accepted", "status": status, "reason": "Invalid"}
    entry: dict[str, Json] = {
        "ancestorRef": {"group": GATEWAY_API, "kind": "Gateway", "name": ancestor},
        "controllerName": "example.com/gateway",
        "conditions": [condition],
    }
    spec: dict[str, Json] = {"targetRefs": [build.target("r", "HTTPRoute")], "color": "red"}
    return build.resource("ColorPolicy", "p", spec, group="example.com", status={"ancestors": [entry]})


def test_reports() -> None:
    assert drawn([*TWO_GATEWAYS, reported("g", "True")]).policies[0].contrary is None
    assert drawn([*TWO_GATEWAYS, reported("other")]).policies[0].contrary is None
    contrary = drawn([*TWO_GATEWAYS, reported("g")]).policies[0].contrary
    assert contrary
    assert (contrary.reason, contrary.about) == ("Invalid", "Gateway g")
    near = drawn([*TWO_GATEWAYS, reported("g")], around(build.ref("HTTPRoute", "r"))).policies[0]
    assert near.contrary == contrary


def test_where_they_were_read() -> None:
    policy = drawn([*TWO_GATEWAYS, reported("g")]).policies[0]
    assert policy.origin == build.ORIGIN
    assert policy.profile.group_kind == policy.ref.group_kind


def test_what_they_affect() -> None:
    analysis = analyze(load_manifests("fixtures/bakery"))
    found = graph(analysis).policies
    assert len(found) == 11
    for policy in found:
        answer = blast_radius(analysis, policy.ref)
        assert (answer.affected, answer.targets, answer.enforcement) == (
            policy.affected,
            policy.targets,
            policy.enforcement,
        )
