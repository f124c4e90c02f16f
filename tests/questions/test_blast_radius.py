"""Tests of `questions/blast_radius.py`: what an object reaches, and what deleting it would change."""

from __future__ import annotations

from collections.abc import Collection
from typing import Final

from msgspec.structs import replace

from kubectl_policy import PolicyKindProfile, TargetLevel, analyze
from kubectl_policy.model import GroupKind, Json, NodeRef, ObjectRef, Resource
from kubectl_policy.model.kind_roles import GATEWAY_API
from kubectl_policy.questions import blast_radius
from kubectl_policy.questions.differences.serving import owner, routes_behind
from tests import build
from tests.delegation import CONTROLLER, http_route, passing, to, top
from tests.differences import color, ref, told
from tests.questions.build import analyzed, color_kind
from tests.render.shown import headline, shown

KIND: Final = GroupKind("example.com", "ColorPolicy")
PROFILE: Final = color_kind("inherited", effective_targets=(TargetLevel(GroupKind(GATEWAY_API, "HTTPRoute")),))
WORLD: Final = (
    build.gateway_class(),
    build.namespace("default", {"team": "us"}),
    build.gateway(),
    build.route("one"),
    build.route("two"),
    build.service(),
)
G: Final = build.ON_GATEWAY
ONE: Final = build.target("one", "HTTPRoute")
TWO: Final = build.target("two", "HTTPRoute")


def answer(subject: ObjectRef, *more: Resource, world: Collection[Resource] = WORLD) -> blast_radius.BlastRadius:
    """The answer for an object in a world with more in it."""
    state = build.listed(build.snapshot(*world, *more))
    return blast_radius.blast_radius(analyze(state, profiles=[PROFILE]), subject, "team")


def reach(*more: Resource, world: Collection[Resource] = WORLD) -> blast_radius.BlastRadius:
    found = answer(ref(), *more, world=world)
    assert found.policy
    return found


def names(nodes: Collection[NodeRef]) -> list[str]:
    return [str(node) for node in nodes]


def test_what_was_not_read_reaches_nothing() -> None:
    found = answer(build.ref("Service", "ghost", group=""))
    assert (found.origin, found.policy, found.deleted_with_it, found.counts.total) == (None, False, (), 0)
    assert not found.difference.changes


class TestReach:
    def test_nothing(self) -> None:
        found = reach(color("p", build.target("ghost"), a=1))
        assert found.enforcement
        assert (found.enforcement.state, found.affected, found.superseded, found.detached) == (
            "TargetNotFound",
            (),
            (),
            (),
        )
        assert [one.state for one in found.targets] == ["target missing"]

    def test_where_it_has_an_effective_field(self) -> None:
        found = reach(color("p", G, a=1))
        assert names(found.affected) == ["HTTPRoute default/one", "HTTPRoute default/two"]
        assert (found.superseded, found.detached) == ((), ())

    def test_where_others_set_all_of_it(self) -> None:
        found = reach(color("p", G, a=1), color("x", ONE, a=2), color("y", TWO, a=2, b=3))
        assert found.affected == ()
        assert [(names(one.objects), [by.name for by in one.by]) for one in found.superseded] == [
            (["HTTPRoute default/one"], ["x"]),
            (["HTTPRoute default/two"], ["y"]),
        ]

    def test_where_it_is_in_force_on_another_path(self) -> None:
        both = build.gateway("g", build.listener("a"), build.listener("b", port=81))
        world = [*WORLD[:2], both, *WORLD[3:]]
        found = reach(color("p", G, a=1), color("x", {**G, "sectionName": "a"}, a=2), world=world)
        assert names(found.affected) == ["HTTPRoute default/one", "HTTPRoute default/two"]
        assert found.superseded == ()

    def test_without_settings_beside_others(self) -> None:
        assert names(reach(color("p", ONE)).affected) == ["HTTPRoute default/one"]

    def test_a_route_that_is_attached_to_nothing(self) -> None:
        """Because it is refused, or because it names no parent."""
        lost = build.route("lost", parents=[build.parent("g", "ghost")])
        alone = build.route("alone", parents=[])
        targets = [build.target(name, "HTTPRoute") for name in ("lost", "alone")]
        found = reach(color("p", *targets, ONE, a=1), lost, alone)
        assert [(str(one.object), one.reason) for one in found.detached] == [
            ("HTTPRoute default/lost", "NoMatchingParent"),
            ("HTTPRoute default/alone", ""),
        ]
        assert "ghost" in found.detached[0].message
        assert found.detached[1].message == "it names no parent"

    def test_a_backend_without_weight(self) -> None:
        backends = [build.backend(), build.backend("idle", weight=0)]
        world = (*WORLD[:3], build.route("one", rules=[build.rule(*backends)]), build.service(), build.service("idle"))
        policy = color("p", build.target("idle", "Service", group=""), a=1)
        found = blast_radius.blast_radius(analyzed(*world, policy), ref())
        assert [str(one.object) for one in found.detached] == ["HTTPRoute default/one"]
        assert found.detached[0].message == "it gives weight 0 to Service default/idle"
        assert found.affected == ()

    def test_a_rule_that_no_request_reaches(self) -> None:
        below = http_route("c", passing("/b", build.backend()), passing("/a", build.backend()))
        world = (
            build.gateway_class(controller=CONTROLLER),
            build.gateway(),
            build.service(),
            top(passing("/a", to("c"))),
            below,
        )
        profile = color_kind("inherited")
        policy = color("p", build.target("c", "HTTPRoute"), a=1)
        found = blast_radius.blast_radius(analyzed(*world, policy, complete=True, profiles=[profile]), ref())
        assert names(found.affected) == ["HTTPRoute default/c", "Service default/s"]
        assert [one.message for one in found.detached if one.message == "it names no parent"] == []


class TestSpread:
    def test_of_a_policy_those_that_it_affects(self) -> None:
        found = answer(ref(), color("p", G, a=1))
        assert found.counts.total == 2
        assert found.counts.owners == (blast_radius.OwnerCount("us", 2),)
        assert (found.origin, found.deleted_with_it) == (build.ORIGIN, ())

    def test_of_anything_else_those_that_deleting_it_would_affect(self) -> None:
        found = answer(build.ref("Gateway", "g"), color("p", G, a=1), color("q", ONE, a=1))
        assert not found.policy
        assert {counted.kind: counted.count for counted in found.counts.kinds} == {"HTTPRoute": 2, "ColorPolicy": 1}

    def test_not_what_is_deleted_with_it(self) -> None:
        far = build.route("far", namespace="far", parents=[build.parent(namespace="default")])
        gateway = build.gateway("g", build.listener(allowedRoutes=build.allow("All")))
        world = [*WORLD[:2], gateway, *WORLD[3:], build.namespace("far"), far]
        found = answer(build.ref("Namespace", "default", group=""), color("p", G, a=1), world=world)
        assert found.deleted_with_it == tuple(sorted([gateway.ref, *(one.ref for one in WORLD[3:]), ref()]))
        assert found.counts.namespaces == (blast_radius.NamespaceCount("far", 1),)
        assert {change.where for change in found.difference.effects} == {"gone"}


def test_what_deleting_it_would_change() -> None:
    found = answer(ref(), color("p", ONE, a=1), color("g", G, a=2, b=3))
    assert told(found.difference) == ["kept default/g/http/one a: 1 p -> 2 g"]


ROUTED = (
    build.gateway_class(),
    build.gateway(
        "g", build.listener("a"), build.listener("b", port=81), allowedListeners={"namespaces": {"from": "Same"}}
    ),
    build.listener_set("ls", build.listener("c", port=82)),
    build.namespace("default", {"team": "us"}),
    build.route("one", parents=[build.parent(section="a"), build.parent(section="b")], hostnames=["a.b", "c.d"]),
    build.route("two", parents=[build.parent(section="b")]),
    build.route("three", parents=[build.parent("ls", kind="ListenerSet")]),
    build.service(),
)
ANALYSIS = analyzed(*ROUTED)


def behind(*nodes: NodeRef) -> list[str]:
    """The routes behind some nodes, each with its hostnames and listeners."""
    return [
        f"{each.route.name}: {', '.join(each.hostnames)} at {', '.join(node.section for node in each.listeners)}"
        for each in routes_behind(ANALYSIS, nodes)
    ]


def test_behind_a_listener() -> None:
    assert behind(build.node("Gateway", "g", "a")) == ["one: a.b, c.d at a"]
    assert behind(build.node("ListenerSet", "ls", "c")) == ["three: * at c"]


def test_behind_a_gateway() -> None:
    every = ["one: a.b, c.d at a, b", "three: * at c", "two: * at b"]
    assert behind(build.node("Gateway", "g")) == every
    assert behind(build.node("GatewayClass", "public")) == every
    assert behind(build.node("ListenerSet", "ls")) == ["three: * at c"]


def test_other_kinds() -> None:
    assert behind(build.node("Gateway", "g"), build.node("HTTPRoute", "one")) == []
    assert behind() == []


def test_the_hostnames_of_requests_that_a_policy_affects() -> None:
    """Those of the routes at the listeners by which it comes to them; of what is behind listeners, the same."""
    profile = PolicyKindProfile(GroupKind("example.com", "ColorPolicy"), "inherited", "profile")
    on_route = color("p", build.target("one", "HTTPRoute"), a=1)
    on_service = color("q", build.ON_SERVICE, a=1)
    worlds = [analyzed(*ROUTED, policy, profiles=[profile]) for policy in (on_route, on_service)]
    found = [blast_radius.blast_radius(analysis, ref(name)) for analysis, name in zip(worlds, "pq", strict=True)]
    assert [reach.hostnames for reach in found] == [("a.b", "c.d"), ("*", "a.b", "c.d")]
    alone = analyzed(build.service(), on_service, profiles=[profile])
    assert blast_radius.blast_radius(alone, ref("q")).hostnames == ()


def test_a_policy_on_a_listener() -> None:
    policy = color("p", {**build.ON_GATEWAY, "sectionName": "b"}, a=1)
    profile = PolicyKindProfile(GroupKind("example.com", "ColorPolicy"), "direct", "profile")
    analysis = analyzed(*ROUTED, policy, profiles=[profile])
    reach = blast_radius.blast_radius(analysis, ref(), "team")
    assert [(each.route.name, each.owner) for each in reach.behind] == [("one", "us"), ("two", "us")]
    assert reach.hostnames == ("*", "a.b", "c.d")
    assert {each.owner for each in blast_radius.blast_radius(analysis, ref()).behind} == {""}


def test_objects_are_counted_with_the_routes_behind_them() -> None:
    own = build.resource("Gateway", "g", ROUTED[1].raw["spec"], labels={"team": "platform"})
    other = (build.gateway("h"), build.route("four", parents=[build.parent("h")]))
    world = (own, *(each for each in ROUTED if each is not ROUTED[1]), *other)
    profile = PolicyKindProfile(GroupKind("example.com", "ColorPolicy"), "direct", "profile")

    def answer(*targets: dict[str, Json]) -> blast_radius.BlastRadius:
        analysis = analyzed(*world, color("p", *targets, a=1), profiles=[profile])
        return blast_radius.blast_radius(analysis, ref(), "team")

    on_one = answer({**build.ON_GATEWAY, "sectionName": "b"})
    assert on_one.counts.total == 3
    assert {counted.kind: counted.count for counted in on_one.counts.kinds} == {"HTTPRoute": 2, "Gateway": 1}
    assert on_one.counts.owners == (blast_radius.OwnerCount("us", 2), blast_radius.OwnerCount("platform", 1))
    assert headline(on_one).startswith(
        "ColorPolicy default/p → Gateway default/g, listener b affects Gateway default/g, listener b, in front of "
        "2 routes in namespace default (2 hostnames, any hostname on 1 route, team us)."
    )
    assert "team         us 2, platform 1" in shown(on_one, "tree")

    on_both = answer(build.ON_GATEWAY, build.target("h"))
    assert on_both.counts.owners == (blast_radius.OwnerCount("us", 4), blast_radius.OwnerCount("platform", 1))
    assert "affects 2 Gateways in namespace default, in front of 3 routes in namespace default (" in headline(on_both)


KEY: Final = "example.com/team"
R: Final = build.ref("HTTPRoute", "r")
S: Final = build.ref("Service", "s", group="")
FAR: Final = build.ref("Service", "s", "far", group="")


def annotated(kind: str, name: str, value: Json, **labels: str) -> Resource:
    found = build.resource(kind, name, group="", labels=labels)
    metadata = found.raw["metadata"]
    assert isinstance(metadata, dict)
    metadata["annotations"] = {KEY: value}
    return found


def test_nothing() -> None:
    nothing = blast_radius.ObjectCounts(total=0, kinds=(), namespaces=(), owners=(), owner_key="")
    assert blast_radius.count_objects(build.index(), ()) == nothing
    assert blast_radius.count_objects(build.index(), (), KEY) == replace(nothing, owner_key=KEY)


def test_the_greatest_number_first_then_by_name() -> None:
    others = [build.ref("Gateway", "g", "far"), build.ref("GatewayClass", "c"), build.ref("Service", "t", group="")]
    found = blast_radius.count_objects(build.index(), {R, S, FAR, *others})
    assert found.total == 6
    assert found.kinds == (
        blast_radius.KindCount("", "Service", 3),
        blast_radius.KindCount(GATEWAY_API, "Gateway", 1),
        blast_radius.KindCount(GATEWAY_API, "GatewayClass", 1),
        blast_radius.KindCount(GATEWAY_API, "HTTPRoute", 1),
    )
    assert found.namespaces == (
        blast_radius.NamespaceCount("default", 3),
        blast_radius.NamespaceCount("far", 2),
        blast_radius.NamespaceCount("", 1),
    )
    assert found.owners == ()


class TestOwner:
    def test_nobody(self) -> None:
        assert owner(build.index(), R, KEY) == ""
        assert owner(build.index(build.route(), build.namespace("default")), R, KEY) == ""

    def test_what_is_no_name_is_passed_over(self) -> None:
        for value in ("", 1, None, ["a"]):
            assert owner(build.index(annotated("Service", "s", value)), S, KEY) == ""

    def test_its_label_or_annotation(self) -> None:
        assert owner(build.index(build.service(labels={KEY: "us"})), S, KEY) == "us"
        assert owner(build.index(annotated("Service", "s", "us")), S, KEY) == "us"
        assert owner(build.index(annotated("Service", "s", "them", **{KEY: "us"})), S, KEY) == "us"

    def test_that_of_its_namespace(self) -> None:
        space = build.namespace("default", {KEY: "them"})
        assert owner(build.index(space, build.service()), S, KEY) == "them"
        assert owner(build.index(space), S, KEY) == "them"
        assert owner(build.index(space, build.service(labels={KEY: "us"})), S, KEY) == "us"
        assert owner(build.index(annotated("Namespace", "default", "them")), S, KEY) == "them"

    def test_each_is_counted(self) -> None:
        index = build.index(build.namespace("default", {KEY: "us"}), build.service(namespace="far"))
        found = blast_radius.count_objects(index, [R, S, FAR], KEY)
        assert found.owners == (blast_radius.OwnerCount("us", 2), blast_radius.OwnerCount("", 1))
        assert found.owner_key == KEY
