"""The routes behind Gateways and listeners."""

from __future__ import annotations

from typing import TYPE_CHECKING

from kubectl_policy import PolicyKindProfile, analyze
from kubectl_policy.model import GroupKind
from kubectl_policy.questions.changes.behind import routes_behind
from kubectl_policy.questions.changes.blast_radius import blast_radius
from tests import build
from tests.differences import color, ref

if TYPE_CHECKING:
    from kubectl_policy.model import NodeRef

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
    found = [blast_radius(analysis, ref(name)).reach for analysis, name in zip(worlds, "pq", strict=True)]
    assert [reach.hostnames for reach in found if reach] == [("a.b", "c.d"), ("*", "a.b", "c.d")]
    alone = analyze(build.snapshot(build.service(), on_service), profiles=[profile])
    without_routes = blast_radius(alone, ref("q")).reach
    assert without_routes
    assert without_routes.hostnames == ()


def test_a_policy_on_a_listener() -> None:
    """It reaches what is behind it."""
    policy = color("p", {**build.target("g"), "sectionName": "b"}, a=1)
    profile = PolicyKindProfile(GroupKind("example.com", "ColorPolicy"), "direct", "profile")
    analysis = analyze(build.snapshot(*WORLD, policy), profiles=[profile])
    reach = blast_radius(analysis, ref(), "team").reach
    assert reach
    assert [(each.route.name, each.owner) for each in reach.behind] == [("one", "us"), ("two", "us")]
    assert reach.hostnames == ("*", "a.b", "c.d")
    plain = blast_radius(analysis, ref()).reach
    assert plain
    assert {each.owner for each in plain.behind} == {""}
