"""How far policies are enforced in two states, found from a few of the routes below a Gateway."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

import pytest
from msgspec.structs import replace

from kubectl_policy import analyze
from kubectl_policy.comparison import what_if
from kubectl_policy.profiles import MergeStrategy, PolicyKindProfile
from kubectl_policy.questions.diff import diff
from kubectl_policy.questions.differences.relations import EnforcementChange
from tests import build
from tests.fakes import all_at_once

if TYPE_CHECKING:
    from collections.abc import Sequence

    from kubectl_policy.model import Resource
    from kubectl_policy.questions.diff import StateDiff

GATEWAY: Final = build.gateway(
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
WORLD: Final = (build.gateway_class(), GATEWAY, *ROUTES, *(build.service(f"s{n}") for n in range(5)))
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
    """Where the policy fares as it does elsewhere, nothing changes."""
    assert not _without((*WORLD, ON_GATEWAY), ROUTES[0]).enforcement


def test_a_route_where_another_policy_beats_it() -> None:
    """Beside routes with policies, who beats the policy is told of all of them."""
    assert _without((*WORLD, ON_GATEWAY, *ON_ROUTES[:2]), ROUTES[0]).enforcement[0] == EnforcementChange(
        policy=ON_GATEWAY.ref,
        before="PartiallyEnforced",
        after="PartiallyEnforced",
        by=(ON_ROUTES[1].ref,),
        by_before=(ON_ROUTES[0].ref, ON_ROUTES[1].ref),
    )


def test_a_route_of_another_kind() -> None:
    """What is below a Gateway may be of any kind."""
    route = build.route("rpc", kind="GRPCRoute", rules=[build.rule(build.backend("s0"))])
    own = build.policy("own", build.target("rpc", "GRPCRoute"), color="blue")
    change = _without((*WORLD, ON_GATEWAY, route, own), route).enforcement[0]
    assert (change.before, change.after, change.by_before, change.by) == (
        "PartiallyEnforced",
        "Enforced",
        (own.ref,),
        (),
    )


def test_the_last_route_where_it_is_beaten() -> None:
    """Then the policy is enforced everywhere."""
    change = _without((*WORLD, ON_GATEWAY, ON_ROUTES[0]), ROUTES[0]).enforcement[0]
    assert (change.policy, change.before, change.after) == (ON_GATEWAY.ref, "PartiallyEnforced", "Enforced")


def test_the_last_route_where_it_is_not_beaten() -> None:
    """Then another policy beats it on all of its paths."""
    others = build.policy("p", *(build.target(each.ref.name, "HTTPRoute") for each in ROUTES[1:]), color="blue")
    change = _without((*WORLD, ON_LISTENER, ON_GATEWAY, others), ROUTES[0]).enforcement[0]
    assert (change.policy, change.before, change.after) == (ON_GATEWAY.ref, "PartiallyEnforced", "Overridden")


def test_the_last_route_of_a_listener() -> None:
    """What beats the policy at the listener does so without a route as well."""
    found = _without((*WORLD, ALONE, ON_GATEWAY, ON_LISTENER), ALONE)
    assert not found.enforcement


def test_a_route_with_a_policy_alone_on_a_listener() -> None:
    """Without it a path ends at the listener, where the listener's policy counts."""
    own = build.policy("own", build.target("alone", "HTTPRoute"), color="blue")
    change = next(
        each
        for each in _without((*WORLD, ALONE, ON_GATEWAY, ON_LISTENER, own), ALONE).enforcement
        if each.policy == ON_GATEWAY.ref
    )
    assert (change.by_before, change.by) == ((own.ref,), (ON_LISTENER.ref,))


@pytest.mark.parametrize(
    ("world", "deleted"),
    [
        ((*WORLD, ON_GATEWAY, *ON_ROUTES[:2]), ON_ROUTES[0]),
        ((*WORLD, ON_GATEWAY, *ON_ROUTES), ROUTES[0]),
        ((*WORLD, ON_GATEWAY, ON_NAMESPACE, ON_ROUTES[0]), ROUTES[0]),
        ((*WORLD, ON_GATEWAY, ELSEWHERE, ON_ROUTES[0]), ROUTES[0]),
        ((*WORLD, ON_GATEWAY, ON_ALL), ROUTES[0]),
        ((*WORLD, ON_GATEWAY, ON_RULES[1], ON_ROUTES[0]), ROUTES[0]),
        ((*WORLD, IN_OTHER, ON_GATEWAY, ELSEWHERE, ON_ROUTES[0]), ROUTES[0]),
        ((*WORLD, ON_GATEWAY, *(ON_RULES[:4]), ON_ROUTES[4]), ROUTES[4]),
        ((*WORLD, ON_GATEWAY, ON_ROUTES[0], build.policy("o", build.target("nobody", "HTTPRoute"))), ROUTES[0]),
        ((*WORLD, ON_GATEWAY, ON_ROUTES[0], build.route("x", parents=[build.parent("y")]), ON_OTHER), ROUTES[0]),
        ((*WORLD, ON_BOTH, ON_ROUTES[0]), ROUTES[0]),
        ((*WORLD, ON_GATEWAY, ON_LISTENER, ON_ROUTES[0]), ON_LISTENER),
        ((*WORLD, ON_GATEWAY, build.policy("g2", build.target("g", "Gateway"))), ON_GATEWAY),
        ((*WORLD, ON_GATEWAY, build.gateway("other"), ON_OTHER_GATEWAY), ROUTES[0]),
        ((*WORLD, ON_GATEWAY, ON_ROUTES[0], build.gateway("other"), ON_OTHER_GATEWAY), ROUTES[0]),
        ((*WORLD, ON_GATEWAY, *ON_ROUTES[1:4], build.policy("s", build.target("s1", "Service", group=""))), ROUTES[0]),
    ],
)
def test_narrowly_as_widely(world: Sequence[Resource], deleted: Resource) -> None:
    """Whatever else there is, what is found narrowly is what all paths tell."""
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
    """What more decides on is looked up on all paths."""
    _without((*WORLD, ON_GATEWAY, ON_ROUTES[0]), ROUTES[0], profile=profile)


def test_where_policies_do_not_count() -> None:
    """A route that takes more hosts than its listener has is none on which policies of some kinds count."""
    wide = [build.route(f"w{n}", parents=[build.parent("h")], hostnames=["*.example.com"]) for n in range(2)]
    on_gateway = build.policy("h", build.target("h", "Gateway"), color="red")
    world = (build.gateway_class(), build.gateway("h", build.listener(hostname="a.example.com")), *wide, on_gateway)
    _without((*world, build.service("s")), wide[0], profile=replace(COLOR, hostnames="inside"))
