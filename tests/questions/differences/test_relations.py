"""Changes of attachments, of parents of routes, and of enforcement."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

import pytest
from msgspec.structs import replace

from kubectl_policy import MergeStrategy, PolicyKindProfile, analyze
from kubectl_policy.comparison import what_if
from kubectl_policy.model import Gap, Resource
from kubectl_policy.questions.diff import StateDiff, diff
from kubectl_policy.questions.differences.relations import EnforcementChange
from tests import build
from tests.differences import attachments, between, color, enforcement, parents
from tests.fakes import all_at_once
from tests.questions.build import color_kind

PROFILE: Final = color_kind("inherited")
GATEWAY: Final = build.gateway()
ROUTE: Final = build.route()
SERVICE: Final = build.service()
WORLD: Final = (build.gateway_class(), build.namespace("default"), GATEWAY, ROUTE, SERVICE)
G: Final = build.ON_GATEWAY
R: Final = build.ON_ROUTE
S: Final = build.ON_SERVICE


def differing(before: list[Resource], after: list[Resource]) -> StateDiff:
    """What differs when the rest of the world is the same."""
    return between([*WORLD, *before], [*WORLD, *after], PROFILE)


def except_for(*left_out: Resource) -> list[Resource]:
    return [resource for resource in WORLD if resource not in left_out]


class TestAttachments:
    def test_the_same_targets_in_another_order(self) -> None:
        assert attachments(differing([color("p", G, S, a=1)], [color("p", S, G, a=1)])) == []

    def test_another_target(self) -> None:
        found = differing([color("p", G, a=1)], [color("p", S, a=1)])
        assert attachments(found) == [
            ("p", "Service default/s", None, "attached"),
            ("p", "Gateway default/g", "attached", None),
        ]
        ghosts = [build.target(name) for name in ("ghost", "spook")]
        found = differing([color("p", ghosts[0], a=1)], [color("p", ghosts[1], a=1)])
        assert attachments(found) == [
            ("p", "Gateway default/ghost", "target unknown", None),
            ("p", "Gateway default/spook", None, "target unknown"),
        ]
        assert [one.message for one in found.attachments] == [
            "Gateway default/ghost is not in the input",
            "Gateway default/spook is not in the input",
        ]

    def test_a_target_named_twice(self) -> None:
        twice = color("p", R, {**R, "sectionName": "ghost"}, R, a=1)
        assert attachments(differing([color("p", R, a=1)], [twice])) == [
            ("p", "HTTPRoute default/r#ghost", None, "section missing")
        ]

    def test_a_section_that_vanishes(self) -> None:
        other = build.gateway("g", build.listener("other"))
        policy = color("p", {**G, "sectionName": "http"}, a=1)
        (found,) = between([*WORLD, policy], [*except_for(GATEWAY), other, policy], PROFILE).attachments
        assert (found.before, found.after) == ("attached", "section missing")
        assert "http" in found.message

    def test_a_policy_is_created_or_deleted(self) -> None:
        policy = color("p", G, a=1)
        assert attachments(differing([], [policy])) == [("p", "Gateway default/g", None, "attached")]
        assert attachments(differing([policy], [])) == [("p", "Gateway default/g", "attached", None)]
        assert attachments(differing([color("p", a=1)], [])) == []


class TestParents:
    def test_not_where_the_hierarchy_is_shared(self) -> None:
        assert parents(differing([color("p", G, a=1)], [])) == []

    def test_a_route_that_is_refused_before_and_after_or_not_there(self) -> None:
        refused = build.route("x", parents=[build.parent("g", "ghost")])
        assert parents(differing([refused], [])) == []
        assert parents(differing([], [refused])) == []

    def test_a_route_is_created_or_deleted(self) -> None:
        found = between(WORLD, except_for(ROUTE))
        assert parents(found) == [("r", "Gateway default/g#http", "attached", None, "")]
        found = between(except_for(ROUTE), WORLD)
        assert parents(found) == [("r", "Gateway default/g#http", None, "attached", "")]

    def test_a_listener_takes_no_routes_any_more(self) -> None:
        closed = build.gateway("g", build.listener(allowedRoutes=build.allow("None")))
        (found,) = between(WORLD, [*except_for(GATEWAY), closed]).parents
        assert (found.before, found.after) == ("attached", "refused")
        assert found.message != ""

    def test_a_listener_that_vanishes(self) -> None:
        named = build.route("named", parents=[build.parent("g", "http")])
        other = build.gateway("g", build.listener("other"))
        found = between([*WORLD, named], [*except_for(GATEWAY), other, named])
        lost = [one for one in parents(found) if one[0] == "named"]
        assert [one[1:4] for one in lost] == [("Gateway default/g#http", "attached", None)]
        assert "http" in lost[0][4]

    def test_a_parent_that_is_not_known_any_more(self) -> None:
        found = between(WORLD, except_for(GATEWAY), gaps=[Gap("Gateway", "", "forbidden")])
        assert parents(found) == [
            ("r", "Gateway default/g", None, "unknown", "Gateway default/g is not in the input"),
            ("r", "Gateway default/g#http", "attached", None, "Gateway default/g is not in the input"),
        ]


class TestEnforcement:
    def test_nothing_else(self) -> None:
        assert enforcement(differing([color("p", G, a=1)], [color("p", G, a=2)])) == {}

    def test_another_state(self) -> None:
        policy = color("p", S, a=1)
        assert enforcement(between([*WORLD, policy], [*except_for(SERVICE), policy], PROFILE)) == {
            "p": ("Enforced", "TargetNotFound", [])
        }

    def test_by_somebody_else(self) -> None:
        above = color("g", G, a=1)
        assert enforcement(differing([above, color("r", R, a=2)], [above, color("s", S, a=2)])) == {
            "g": ("Overridden", "Overridden", ["s"]),
            "r": ("Enforced", None, []),
            "s": (None, "Enforced", []),
        }


TWO_LISTENERS: Final = build.gateway(
    "g", build.listener("l0", allowedRoutes=build.allow("All")), build.listener("l1", port=81)
)
ROUTES: Final = tuple(
    build.route(f"r{n}", parents=[build.parent("g", "l0")], rules=[build.rule(build.backend(f"s{n}"))])
    for n in range(5)
)
ON_GATEWAY: Final = build.policy("g", build.target("g", "Gateway"), color="red")
ON_ROUTES: Final = tuple(build.policy(f"p{n}", build.target(f"r{n}", "HTTPRoute"), color="blue") for n in range(5))
ON_RULES: Final = tuple(
    build.policy(f"p{n}", build.target(f"s{n}", "Service", group=""), color="blue") for n in range(5)
)
ON_OTHER: Final = build.policy("x", build.target("x", "HTTPRoute"), color="blue")
ON_OTHER_GATEWAY: Final = build.policy("o", build.target("other", "Gateway"))
ON_LISTENER: Final = build.policy("l", build.target("g", "Gateway", sectionName="l1"), color="green")
ON_NAMESPACE: Final = build.policy("n", build.target("default", "Namespace", group=""), color="green")
ELSEWHERE: Final = build.policy("n", build.target("other", "Namespace", group=""), namespace="other", color="green")
IN_OTHER: Final = build.route("r9", parents=[build.parent("g", "l0", namespace="default")], namespace="other")
ON_ALL: Final = build.policy("all", *(build.target(each.ref.name, "HTTPRoute") for each in ROUTES), color="green")
ON_BOTH: Final = build.policy("g", build.target("g", "Gateway"), build.target("r4", "HTTPRoute"), color="red")
MANY_ROUTES: Final = (build.gateway_class(), TWO_LISTENERS, *ROUTES, *(build.service(f"s{n}") for n in range(5)))
ALONE: Final = build.route("alone", parents=[build.parent("g", "l1")])
COLOR: Final = PolicyKindProfile(
    group_kind=ON_GATEWAY.ref.group_kind,
    policy_class="inherited",
    strategy=MergeStrategy.ATOMIC_DEFAULTS,
    known_by="profile",
)


def _without(world: Sequence[Resource], *deleted: Resource, profile: PolicyKindProfile = COLOR) -> StateDiff:
    """Return what differs without some objects: the same by what they can reach and by all that there is."""
    snapshot = build.snapshot(*world)
    reached = diff(what_if(analyze(snapshot, profiles=[profile]), deleted=[each.ref for each in deleted]))
    with all_at_once():
        every = diff(what_if(analyze(snapshot, profiles=[profile]), deleted=[each.ref for each in deleted]))
    assert every == reached
    return every


def test_a_route_like_others() -> None:
    assert not _without((*MANY_ROUTES, ON_GATEWAY), ROUTES[0]).enforcement


def test_a_route_where_another_policy_beats_it() -> None:
    assert _without((*MANY_ROUTES, ON_GATEWAY, *ON_ROUTES[:2]), ROUTES[0]).enforcement[0] == EnforcementChange(
        policy=ON_GATEWAY.ref,
        before="PartiallyEnforced",
        after="PartiallyEnforced",
        by=(ON_ROUTES[1].ref,),
        by_before=(ON_ROUTES[0].ref, ON_ROUTES[1].ref),
    )


def test_a_route_of_another_kind() -> None:
    route = build.route("rpc", kind="GRPCRoute", rules=[build.rule(build.backend("s0"))])
    own = build.policy("own", build.target("rpc", "GRPCRoute"), color="blue")
    change = _without((*MANY_ROUTES, ON_GATEWAY, route, own), route).enforcement[0]
    assert (change.before, change.after, change.by_before, change.by) == (
        "PartiallyEnforced",
        "Enforced",
        (own.ref,),
        (),
    )


def test_the_last_route_where_it_is_beaten() -> None:
    change = _without((*MANY_ROUTES, ON_GATEWAY, ON_ROUTES[0]), ROUTES[0]).enforcement[0]
    assert (change.policy, change.before, change.after) == (ON_GATEWAY.ref, "PartiallyEnforced", "Enforced")


def test_the_last_route_where_it_is_not_beaten() -> None:
    others = build.policy("p", *(build.target(each.ref.name, "HTTPRoute") for each in ROUTES[1:]), color="blue")
    change = _without((*MANY_ROUTES, ON_LISTENER, ON_GATEWAY, others), ROUTES[0]).enforcement[0]
    assert (change.policy, change.before, change.after) == (ON_GATEWAY.ref, "PartiallyEnforced", "Overridden")


def test_the_last_route_of_a_listener() -> None:
    assert not _without((*MANY_ROUTES, ALONE, ON_GATEWAY, ON_LISTENER), ALONE).enforcement


def test_a_route_with_a_policy_alone_on_a_listener() -> None:
    own = build.policy("own", build.target("alone", "HTTPRoute"), color="blue")
    change = next(
        each
        for each in _without((*MANY_ROUTES, ALONE, ON_GATEWAY, ON_LISTENER, own), ALONE).enforcement
        if each.policy == ON_GATEWAY.ref
    )
    assert (change.by_before, change.by) == ((own.ref,), (ON_LISTENER.ref,))


@pytest.mark.parametrize(
    ("world", "deleted"),
    [
        ((*MANY_ROUTES, ON_GATEWAY, *ON_ROUTES[:2]), ON_ROUTES[0]),
        ((*MANY_ROUTES, ON_GATEWAY, *ON_ROUTES), ROUTES[0]),
        ((*MANY_ROUTES, ON_GATEWAY, ON_NAMESPACE, ON_ROUTES[0]), ROUTES[0]),
        ((*MANY_ROUTES, ON_GATEWAY, ELSEWHERE, ON_ROUTES[0]), ROUTES[0]),
        ((*MANY_ROUTES, ON_GATEWAY, ON_ALL), ROUTES[0]),
        ((*MANY_ROUTES, ON_GATEWAY, ON_RULES[1], ON_ROUTES[0]), ROUTES[0]),
        ((*MANY_ROUTES, IN_OTHER, ON_GATEWAY, ELSEWHERE, ON_ROUTES[0]), ROUTES[0]),
        ((*MANY_ROUTES, ON_GATEWAY, *(ON_RULES[:4]), ON_ROUTES[4]), ROUTES[4]),
        ((*MANY_ROUTES, ON_GATEWAY, ON_ROUTES[0], build.policy("o", build.target("nobody", "HTTPRoute"))), ROUTES[0]),
        ((*MANY_ROUTES, ON_GATEWAY, ON_ROUTES[0], build.route("x", parents=[build.parent("y")]), ON_OTHER), ROUTES[0]),
        ((*MANY_ROUTES, ON_BOTH, ON_ROUTES[0]), ROUTES[0]),
        ((*MANY_ROUTES, ON_GATEWAY, ON_LISTENER, ON_ROUTES[0]), ON_LISTENER),
        ((*MANY_ROUTES, ON_GATEWAY, build.policy("g2", build.target("g", "Gateway"))), ON_GATEWAY),
        ((*MANY_ROUTES, ON_GATEWAY, build.gateway("other"), ON_OTHER_GATEWAY), ROUTES[0]),
        ((*MANY_ROUTES, ON_GATEWAY, ON_ROUTES[0], build.gateway("other"), ON_OTHER_GATEWAY), ROUTES[0]),
        (
            (*MANY_ROUTES, ON_GATEWAY, *ON_ROUTES[1:4], build.policy("s", build.target("s1", "Service", group=""))),
            ROUTES[0],
        ),
    ],
)
def test_narrowly_as_widely(world: Sequence[Resource], deleted: Resource) -> None:
    _without(world, deleted)


@pytest.mark.parametrize(
    "profile",
    [
        replace(COLOR, policy_class="direct"),
        replace(COLOR, object_fields={"color": "metadata.name"}),
        replace(COLOR, controllers=frozenset({"example.org/other"})),
    ],
)
def test_of_kinds_that_differ(profile: PolicyKindProfile) -> None:
    _without((*MANY_ROUTES, ON_GATEWAY, ON_ROUTES[0]), ROUTES[0], profile=profile)


def test_where_policies_do_not_count() -> None:
    """A route that takes more hosts than its listener has is none on which policies of some kinds count."""
    wide = [build.route(f"w{n}", parents=[build.parent("h")], hostnames=["*.example.com"]) for n in range(2)]
    on_gateway = build.policy("h", build.target("h", "Gateway"), color="red")
    world = (build.gateway_class(), build.gateway("h", build.listener(hostname="a.example.com")), *wide, on_gateway)
    _without((*world, build.service("s")), wide[0], profile=replace(COLOR, hostnames="inside"))
