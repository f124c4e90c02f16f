"""Two states: objects that a change can reach, and what the later one takes over from the earlier one."""

from __future__ import annotations

from typing import Final

import pytest
from msgspec.structs import replace

from kubectl_policy import Gap, GroupKind, ObjectRef, PolicyKindProfile, Resource, Snapshot, analyze
from kubectl_policy.comparison import StateComparison, compare, what_if
from kubectl_policy.model.kind_roles import GATEWAY_API, HTTP_ROUTE
from kubectl_policy.questions.diff import diff
from kubectl_policy.topology.references import hostnames_of
from kubectl_policy.topology.relations import Relations
from tests import build

GATEWAY: Final = build.ref("Gateway", "g")
LABELLED: Final = build.allow("Selector", {"matchLabels": {"web": "yes"}})
FAR: Final = build.backend("far", namespace="far")
OBJECTS: Final = (
    build.gateway_class(),
    build.gateway("g", build.listener(allowedRoutes=LABELLED), build.listener("b", port=81, allowedRoutes=LABELLED)),
    build.namespace("default", {"web": "yes"}),
    build.namespace("far"),
    build.grant(namespace="far"),
    build.service("s"),
    build.service("far", namespace="far"),
    build.route("one"),
    build.route("two", parents=[build.parent("g", "b")], rules=[build.rule(build.backend()), build.rule(FAR)]),
    build.route("lost", parents=[build.parent("gone")], rules=[build.rule(build.backend("gone"))]),
)
# Each replaces the object of its name.
OTHERWISE: Final = (
    build.gateway_class(controller="example.com/other"),
    build.gateway("g", build.listener(allowedRoutes=LABELLED)),
    build.gateway("gone"),
    build.namespace("default"),
    build.grant(namespace="far", targets=[("", "Service", "other")]),
    build.service("s", 9090),
    build.service("far", ("web", 8080), namespace="far"),
    build.service("gone"),
    build.route("one", parents=[build.parent("g", "b")]),
    build.route("one", parents=[]),
    build.route("two", rules=[build.rule(build.backend("gone"))]),
    build.route("new", rules=[build.rule(FAR)]),
)
ROUTES: Final = tuple(ObjectRef(HTTP_ROUTE, "default", name) for name in ("one", "two", "lost", "new"))


REFERRING: Final = (
    Relations.routes_naming,
    Relations.routes_forwarding_to,
    Relations.routes_referring_to,
    lambda relations, obj: relations.referring.naming.to(obj),
    Relations.filters_naming,
    Relations.gets_no_requests,
)


@pytest.mark.parametrize("complete", [True, False])
@pytest.mark.parametrize(
    ("applied", "deleted"),
    [*(((), (each.ref,)) for each in OBJECTS), *(((each,), ()) for each in OTHERWISE)],
    ids=[*(f"without {each.ref}" for each in OBJECTS), *(f"other {each.ref}" for each in OTHERWISE)],
)
def test_each_change(applied: tuple[Resource, ...], deleted: tuple[ObjectRef, ...], *, complete: bool) -> None:
    """Whatever is deleted, replaced or added: attachments, backends and paths are those of the later state alone."""
    analysis = analyze(build.snapshot(*OBJECTS, complete=complete))
    after = what_if(analysis, applied=applied, deleted=deleted).after
    taken, alone = after.topology, analysis.of_state(after.snapshot).topology
    for route in ROUTES:
        assert taken.bindings(route) == alone.bindings(route)
        assert taken.backends(route) == alone.backends(route)
    assert taken.nodes == alone.nodes
    for node in alone.nodes:
        assert taken.paths(node) == alone.paths(node)
    for obj in {node.object for node in alone.nodes}:
        for question in REFERRING:
            assert question(taken.relations, obj) == question(alone.relations, obj)


@pytest.mark.parametrize(
    ("changed", "is_same"),
    [
        (build.gateway("g", build.listener()), True),
        (build.gateway_class(controller="example.com/other"), True),
        (build.service("s", 9090), True),
        (build.route("one", parents=[]), False),
        (build.grant(namespace="far", targets=[("", "Service", "other")]), False),
        (build.crd("Thing"), False),
    ],
    ids=lambda it: str(getattr(it, "ref", it)),
)
def test_which_routes_refer_to_what_is_looked_up_once(changed: Resource, *, is_same: bool) -> None:
    """Where no route differs, nor what lets it refer to anything."""
    comparison = what_if(analyze(build.snapshot(*OBJECTS, complete=True)), applied=[changed])
    before, after = comparison.before.topology.relations, comparison.after.topology.relations
    assert (after.referring is before.referring) == is_same


@pytest.mark.parametrize("other", [build.snapshot(complete=True), build.snapshot(gaps=[Gap("Service", "", "")])])
def test_where_more_was_read_routes_may_refer_to_more(other: Snapshot) -> None:
    of_this = build.snapshot(*OBJECTS)
    comparison = compare(of_this, replace(other, resources=[each for each in OBJECTS if each.ref != GATEWAY]))
    assert comparison.changed == {GATEWAY}
    assert comparison.after.topology.relations.referring is not comparison.before.topology.relations.referring


def test_where_routes_delegate_they_refer_to_what_depends_on_gateways() -> None:
    """Which controllers there are decides whether a reference means routes."""
    delegating = build.route("top", rules=[build.rule(build.backend("one", kind="HTTPRoute", group=GATEWAY_API))])
    comparison = what_if(analyze(build.snapshot(*OBJECTS, delegating)), deleted=[GATEWAY])
    before, after = comparison.before.topology.relations, comparison.after.topology.relations
    assert after.delegations.refs
    assert after.referring is not before.referring


EDGE = build.gateway("g", build.listener(hostname="*.example.com"))
ROUTE = build.route("r", hostnames=["a.example.com"], rules=[build.rule(build.backend("s"))])
OTHER = build.route("o", rules=[build.rule(build.backend("t"))])
SERVICES = (build.service("s"), build.service("t"))
ON_ROUTE = build.policy("p", build.target("r", "HTTPRoute"), color="red")
WORLD = (EDGE, ROUTE, OTHER, *SERVICES, ON_ROUTE)


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
    world = build.snapshot(EDGE, route, OTHER, *SERVICES, named, on_service)
    found = what_if(analyze(world, profiles=[kind]), deleted=[named.ref]).surroundings
    assert found
    assert found.routes == {route.ref}
    assert {*found.backends} == {SERVICES[0].ref}
    assert found.reattached == {named.ref}
    assert found.share == {named.ref, on_service.ref}


@pytest.mark.parametrize("deleted", [EDGE, SERVICES[0]])
def test_what_others_may_depend_on(deleted: Resource) -> None:
    assert without(build.snapshot(*WORLD), deleted.ref).surroundings is None


def test_a_backend_that_is_missing() -> None:
    world = build.snapshot(EDGE, ROUTE, complete=True)
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
    world = build.snapshot(EDGE, ROUTE, *others, *SERVICES)
    found = diff(without(world, ROUTE.ref)).traffic
    assert found == diff(what_if(analyze(world), deleted=[ROUTE.ref])).traffic
    by = {ref for each in found.lost.answered for ref in each.by}
    named = hostnames_of(analyze(world).index, build.ref("HTTPRoute", "o"))
    assert by == ({build.ref("HTTPRoute", "o")} if named != ("b.example.com",) else set())
