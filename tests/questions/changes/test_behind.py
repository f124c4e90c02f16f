"""The routes behind Gateways and listeners."""

from __future__ import annotations

from typing import TYPE_CHECKING

from kubectl_policy import PolicyKindProfile, analyze
from kubectl_policy.model import GroupKind
from kubectl_policy.questions.blast_radius import OwnerCount, blast_radius
from kubectl_policy.questions.differences.serving import routes_behind
from tests import build
from tests.differences import color, ref
from tests.render.shown import headline, shown

if TYPE_CHECKING:
    from kubectl_policy.model import Json, NodeRef
    from kubectl_policy.questions.blast_radius import BlastRadius

WORLD = (
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
ANALYSIS = analyze(build.snapshot(*WORLD))


def behind(*nodes: NodeRef) -> list[str]:
    """The routes behind some nodes, each with its hostnames and listeners."""
    return [
        f"{each.route.name}: {', '.join(each.hostnames)} at {', '.join(node.section for node in each.listeners)}"
        for each in routes_behind(ANALYSIS, nodes)
    ]


def test_behind_a_listener() -> None:
    """The routes that are attached to it, and to no other one."""
    assert behind(build.node("Gateway", "g", "a")) == ["one: a.b, c.d at a"]
    assert behind(build.node("ListenerSet", "ls", "c")) == ["three: * at c"]


def test_behind_a_gateway() -> None:
    """All of its listeners, also those of the ListenerSets that it admits."""
    every = ["one: a.b, c.d at a, b", "three: * at c", "two: * at b"]
    assert behind(build.node("Gateway", "g")) == every
    assert behind(build.node("GatewayClass", "public")) == every
    assert behind(build.node("ListenerSet", "ls")) == ["three: * at c"]


def test_other_kinds() -> None:
    """What counts elsewhere as well has more to say than this."""
    assert behind(build.node("Gateway", "g"), build.node("HTTPRoute", "one")) == []
    assert behind() == []


def test_the_hostnames_of_requests_that_a_policy_affects() -> None:
    """Those of the routes at the listeners by which it comes to them; of what is behind listeners, the same."""
    profile = PolicyKindProfile(GroupKind("example.com", "ColorPolicy"), "inherited", "profile")
    on_route = color("p", build.target("one", "HTTPRoute"), a=1)
    on_service = color("q", build.target("s", "Service", group=""), a=1)
    worlds = [analyze(build.snapshot(*WORLD, policy), profiles=[profile]) for policy in (on_route, on_service)]
    found = [blast_radius(analysis, ref(name)) for analysis, name in zip(worlds, "pq", strict=True)]
    assert [reach.hostnames for reach in found] == [("a.b", "c.d"), ("*", "a.b", "c.d")]
    alone = analyze(build.snapshot(build.service(), on_service), profiles=[profile])
    assert blast_radius(alone, ref("q")).hostnames == ()


def test_a_policy_on_a_listener() -> None:
    """It reaches what is behind it."""
    policy = color("p", {**build.target("g"), "sectionName": "b"}, a=1)
    profile = PolicyKindProfile(GroupKind("example.com", "ColorPolicy"), "direct", "profile")
    analysis = analyze(build.snapshot(*WORLD, policy), profiles=[profile])
    reach = blast_radius(analysis, ref(), "team")
    assert [(each.route.name, each.owner) for each in reach.behind] == [("one", "us"), ("two", "us")]
    assert reach.hostnames == ("*", "a.b", "c.d")
    assert {each.owner for each in blast_radius(analysis, ref()).behind} == {""}


def test_objects_are_counted_with_the_routes_behind_them() -> None:
    """Whose they are too: what the first sentence says of them, the numbers say as well."""
    own = build.resource("Gateway", "g", WORLD[1].raw["spec"], labels={"team": "platform"})
    other = (build.gateway("h"), build.route("four", parents=[build.parent("h")]))
    world = (own, *(each for each in WORLD if each is not WORLD[1]), *other)
    profile = PolicyKindProfile(GroupKind("example.com", "ColorPolicy"), "direct", "profile")

    def answer(*targets: dict[str, Json]) -> BlastRadius:
        """The answer for a policy on some targets."""
        analysis = analyze(build.snapshot(*world, color("p", *targets, a=1)), profiles=[profile])
        return blast_radius(analysis, ref(), "team")

    on_one = answer({**build.target("g"), "sectionName": "b"})
    assert on_one.counts.total == 3
    assert {counted.kind: counted.count for counted in on_one.counts.kinds} == {"HTTPRoute": 2, "Gateway": 1}
    assert on_one.counts.owners == (OwnerCount("us", 2), OwnerCount("platform", 1))
    assert headline(on_one).startswith(
        "ColorPolicy default/p → Gateway default/g, listener b affects Gateway default/g, listener b, in front of "
        "2 routes in namespace default (2 hostnames, any hostname on 1 route, team us)."
    )
    assert "team         us 2, platform 1" in shown(on_one, "tree")

    on_both = answer(build.target("g"), build.target("h"))
    assert on_both.counts.owners == (OwnerCount("us", 4), OwnerCount("platform", 1))
    assert "affects 2 Gateways in namespace default, in front of 3 routes in namespace default (" in headline(on_both)
