"""Objects that a change can reach: known of routes and policies, as long as nothing may depend on any object."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from kubectl_policy import PolicyKindProfile, analyze
from kubectl_policy.comparison import StateComparison, what_if
from kubectl_policy.model import GroupKind
from kubectl_policy.model.kind_roles import HTTP_ROUTE
from kubectl_policy.questions.diff import diff
from kubectl_policy.topology.references import hostnames_of
from tests import build

if TYPE_CHECKING:
    from kubectl_policy.model import ObjectRef, Resource, Snapshot

GATEWAY = build.gateway("g", build.listener(hostname="*.example.com"))
ROUTE = build.route("r", hostnames=["a.example.com"], rules=[build.rule(build.backend("s"))])
OTHER = build.route("o", rules=[build.rule(build.backend("t"))])
SERVICES = (build.service("s"), build.service("t"))
ON_ROUTE = build.policy("p", build.target("r", "HTTPRoute"), color="red")
WORLD = (GATEWAY, ROUTE, OTHER, *SERVICES, ON_ROUTE)


def without(snapshot: Snapshot, *deleted: ObjectRef) -> StateComparison:
    """Compare a world with the same one without some objects."""
    return what_if(analyze(snapshot), deleted=deleted)


def test_around_a_route() -> None:
    """The route, what it leads to, and its policies; others on its Gateway are not looked at."""
    found = without(build.snapshot(*WORLD), ROUTE.ref).surroundings
    assert found
    assert found.routes == {ROUTE.ref}
    assert {*found.backends} == {SERVICES[0].ref}
    assert found.reattached == {ON_ROUTE.ref}


def test_around_a_policy_that_a_filter_names() -> None:
    """The route with the filter, what it leads to, and the policies there."""
    kind = PolicyKindProfile(
        GroupKind("example.com", "ColorPolicy"), "inherited", "profile", filter_routes=frozenset({HTTP_ROUTE})
    )
    route = build.route("r", rules=[build.rule(build.backend("s"), filters=[build.names("named")])])
    named, on_service = build.policy("named"), build.policy("p", build.target("s", "Service", group=""))
    world = build.snapshot(GATEWAY, route, OTHER, *SERVICES, named, on_service)
    found = what_if(analyze(world, profiles=[kind]), deleted=[named.ref]).surroundings
    assert found
    assert found.routes == {route.ref}
    assert {*found.backends} == {SERVICES[0].ref}
    assert found.reattached == {named.ref}
    assert found.share == {named.ref, on_service.ref}


@pytest.mark.parametrize("deleted", [GATEWAY, SERVICES[0]])
def test_what_others_may_depend_on(deleted: Resource) -> None:
    assert without(build.snapshot(*WORLD), deleted.ref).surroundings is None


def test_a_backend_that_is_missing() -> None:
    world = build.snapshot(GATEWAY, ROUTE, complete=True)
    assert without(world, ROUTE.ref).surroundings is None


def test_who_answers_for_a_hostname_that_is_lost() -> None:
    comparison = without(build.snapshot(*WORLD), ROUTE.ref)
    assert comparison.surroundings
    difference = diff(comparison)
    assert difference == diff(what_if(analyze(build.snapshot(*WORLD)), deleted=[ROUTE.ref]))
    assert [(each.hostnames, each.by) for each in difference.traffic.lost.answered] == [
        (("a.example.com",), (OTHER.ref,))
    ]


NAMES = build.listener(hostname="a.example.com")


@pytest.mark.parametrize(
    "others",
    [
        [build.route("o")],
        [build.route("o", hostnames=[])],
        [build.route("o", hostnames=[]), build.route("n", hostnames=["b.example.com"])],
        [build.route("o", hostnames=["*.example.com"])],
        [build.route("o", hostnames=["b.example.com", "a.example.com"])],
        [build.route("o", hostnames=["b.example.com"])],
        [build.gateway("other"), build.route("o", parents=[build.parent("other")], hostnames=["a.example.com"])],
        [build.gateway("other", NAMES), build.route("o", parents=[build.parent("other")])],
    ],
)
def test_who_answers_among_others(others: list[Resource]) -> None:
    world = build.snapshot(GATEWAY, ROUTE, *others, *SERVICES)
    found = diff(without(world, ROUTE.ref)).traffic
    assert found == diff(what_if(analyze(world), deleted=[ROUTE.ref])).traffic
    by = {ref for each in found.lost.answered for ref in each.by}
    named = hostnames_of(analyze(world).index, build.ref("HTTPRoute", "o"))
    assert by == ({build.ref("HTTPRoute", "o")} if named != ("b.example.com",) else set())
