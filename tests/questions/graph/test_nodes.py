"""Tests of `questions/graph/nodes.py`."""

from __future__ import annotations

from typing import Final

import pytest

from kubectl_policy import MergeStrategy, PolicyKindProfile, TargetLevel, analyze, load_manifests
from kubectl_policy.model import GroupKind, Json, NodeRef, Resource
from kubectl_policy.model.kind_roles import GATEWAY, GATEWAY_API, GATEWAY_CLASS, HTTP_ROUTE, ROUTES, SERVICE
from kubectl_policy.questions.blast_radius import blast_radius
from kubectl_policy.questions.describe.objects import describe
from kubectl_policy.questions.graph.drawing import graph
from kubectl_policy.questions.graph.nodes import node_of, section_value
from kubectl_policy.questions.graph.picture import GraphNode, GraphOptions
from tests import build
from tests.delegation import CONTROLLER, http_route, passing, to, top
from tests.questions.build import COLOR, analyzed
from tests.questions.graph.drawings import around, drawn, failing, groups, links, nodes, outcomes

NAMED = {"path": {"type": "PathPrefix", "value": "/cart"}}


def found(node: NodeRef, *resources: Resource, complete: bool = False) -> GraphNode:
    return node_of(analyzed(*resources, complete=complete), node)


def test_what_was_not_read() -> None:
    node = found(build.node("Gateway", "g"))
    assert (node.presence, node.origin, node.protocol, node.port) == ("unknown", None, "", None)
    node = found(build.node("HTTPRoute", "r", "rule[0]"), complete=True)
    assert (node.presence, node.hostnames, node.matches) == ("missing", (), ())


def test_sections_that_an_object_lacks() -> None:
    assert found(build.node("Gateway", "g", "ghost"), build.gateway()).presence == "missing"
    assert found(build.node("HTTPRoute", "r", "ghost"), build.route()).presence == "missing"
    assert found(build.node("Service", "s", "ghost", group=""), build.service()).presence == "missing"
    fleet = build.resource("Fleet", "f", {}, group="example.com")
    assert found(NodeRef(fleet.ref, "ghost"), fleet).presence == "unknown"


def test_a_listener() -> None:
    node = found(build.node("Gateway", "g", "http"), build.gateway())
    assert (node.protocol, node.port) == ("HTTP", 80)
    assert (node.presence, node.origin) == ("present", build.ORIGIN)


def test_a_route_and_its_rules() -> None:
    route = build.route(hostnames=["a.example.com"], rules=[build.rule(name="cart", matches=[NAMED]), build.rule()])
    whole, *rules = (found(build.node("HTTPRoute", "r", section), route) for section in ("", "cart", "rule[1]"))
    assert (whole.hostnames, whole.matches) == (("a.example.com",), ())
    assert [(rule.hostnames, rule.matches) for rule in rules] == [((), (NAMED,)), ((), ())]
    # A rule is filled in where there is none.
    filled = build.resource("HTTPRoute", "r", {"parentRefs": [build.parent()]})
    node = found(build.node("HTTPRoute", "r", "rule[0]"), filled)
    assert (node.presence, node.matches) == ("present", ())


def test_a_port() -> None:
    service = build.service("s", ("web", 80), 81)
    assert [found(build.node("Service", "s", section, group=""), service).port for section in ("web", "81")] == [80, 81]
    assert found(build.node("Service", "s", group=""), service).port is None


def test_what_sections_say() -> None:
    web, gateway, route = build.service("s", ("web", 80), 81), build.gateway(), build.route(rules=[{"name": "one"}])
    backend = build.resource(
        "Backend", "b", {"endpoints": [{"ip": {"address": "10.0.0.1", "port": 80}}]}, group="gateway.envoyproxy.io"
    )
    analysis = analyzed(web, gateway, route, backend)
    assert section_value(analysis, NodeRef(web.ref, "web")) == {"name": "web", "port": 80}
    assert section_value(analysis, NodeRef(gateway.ref, "http")) == build.listener()
    assert section_value(analysis, NodeRef(route.ref, "one")) == {"name": "one"}
    assert section_value(analysis, NodeRef(route.ref, "two")) is None
    assert section_value(analysis, NodeRef(backend.ref, "80")) is None
    assert section_value(analysis, build.node("Service", "ghost", "80", group="")) is None


def test_virtual_ones() -> None:
    p = build.policy("p", build.target("f", "Fleet", group="no.example.org"), color="red")
    picture = drawn([build.gateway(), p])
    assert [(str(node.ref), node.virtual) for node in picture.nodes if node.ref.kind == "Fleet"] == [
        ("Fleet default/f", True)
    ]
    assert not any(node.virtual for node in picture.nodes if node.ref.kind == "Gateway")


WORLD: Final[tuple[Resource, ...]] = (
    build.gateway_class(),
    build.gateway("g", build.listener("one"), build.listener("two", port=81)),
    build.route(),
    build.service("s"),
)
WHOLE: Final = GraphOptions(sections=False)


def kinds(*kinds: object, **asked: object) -> GraphOptions:
    return GraphOptions(kinds=frozenset(kinds), **asked)  # type: ignore[arg-type]


class TestKinds:
    def test_none_of_a_kind(self) -> None:
        picture = drawn(WORLD, kinds(build.ref("TCPRoute", "t").group_kind))
        assert (picture.nodes, picture.links) == ((), ())

    def test_neighbours(self) -> None:
        picture = drawn(WORLD, kinds(GATEWAY, HTTP_ROUTE))
        assert nodes(picture) == ["Gateway g", "Gateway g#one", "Gateway g#two", "HTTPRoute r", "HTTPRoute r#rule[0]"]
        assert links(picture) == [
            "Gateway g > Gateway g#one",
            "Gateway g > Gateway g#two",
            "Gateway g#one > HTTPRoute r",
            "Gateway g#two > HTTPRoute r",
            "HTTPRoute r > HTTPRoute r#rule[0]",
        ]

    def test_past_what_is_left_out(self) -> None:
        picture = drawn(WORLD, kinds(GATEWAY_CLASS, SERVICE))
        assert links(picture) == ["Service s > Service s#8080", "GatewayClass public > Service s#8080 past"]
        assert [link.relation for link in picture.links] == ["port", "backend"]

    def test_past_what_is_refused(self) -> None:
        refused = build.route("refused", parents=[build.parent("g", "three")], rules=[build.rule(build.backend("t"))])
        picture = drawn([*WORLD, refused, build.service("t")], kinds(GATEWAY, SERVICE, sections=False))
        assert links(picture) == ["Gateway g > Service s past", "Gateway g > Service t refused NoMatchingParent past"]
        missing = build.route("missing", rules=[build.rule(build.backend("s", 9))])
        picture = drawn([*WORLD, missing], kinds(GATEWAY, SERVICE, sections=False))
        assert links(picture) == ["Gateway g > Service s past"]
        picture = drawn([*WORLD[:2], WORLD[3], missing], kinds(GATEWAY, SERVICE, sections=False))
        assert links(picture) == ["Gateway g > Service s broken BackendNotFound past"]

    def test_ways_that_meet(self) -> None:
        """Of two ways to what is left out, the one that carries requests counts, whichever was found first."""
        routes = [
            top(passing("/", to("between")), name="top"),
            http_route("between", passing("/a", to("end"))),
            http_route("end", passing("/a", build.backend())),
            http_route(
                "other", passing("/a", build.backend("s", weight=0), to("end")), parents=[build.parent("g", "x")]
            ),
        ]
        world = [build.gateway_class(controller=CONTROLLER), build.gateway(), *routes, build.service()]
        picture = drawn(world, kinds(GATEWAY, SERVICE, sections=False))
        assert links(picture) == ["Gateway g > Service s past"]

    def test_policies(self) -> None:
        """Those that are about what is shown, by target or by effect, and those without any target."""
        on_route = build.policy("on-route", build.ON_ROUTE, color="red")
        on_gateway = build.policy("on-gateway", build.ON_GATEWAY, color="red")
        world = [*WORLD, on_route, on_gateway, build.policy("on-nothing", color="red")]
        assert [policy.ref.name for policy in drawn(world, kinds(GATEWAY)).policies] == ["on-gateway", "on-nothing"]
        assert [policy.ref.name for policy in drawn(world, kinds(SERVICE)).policies] == ["on-nothing", "on-route"]


class TestObjects:
    def test_links_between_objects(self) -> None:
        picture = drawn(WORLD, WHOLE)
        assert nodes(picture) == ["GatewayClass public", "Gateway g", "HTTPRoute r", "Service s"]
        assert links(picture) == [
            "Gateway g > HTTPRoute r",
            "GatewayClass public > Gateway g",
            "HTTPRoute r > Service s",
        ]
        assert [link.relation for link in picture.links] == ["route", "gateway", "backend"]

    def test_one_listener_takes_a_route(self) -> None:
        parents = [build.parent("g", "three"), build.parent("g", "two")]
        picture = drawn([*WORLD[:2], build.route(parents=parents), WORLD[3]], WHOLE)
        assert "Gateway g > HTTPRoute r" in links(picture)
        assert not failing(picture)

    def test_one_listener_may_take_a_route(self) -> None:
        listeners = [build.listener("one", hostname="one.example.com"), build.listener("two", hostname="${HOST}")]
        parents = [build.parent("g", "one"), build.parent("g", "two")]
        route = build.route(parents=parents, hostnames=["three.example.com"])
        picture = drawn([build.gateway("g", *listeners), route, WORLD[3]], WHOLE)
        assert "Gateway g > HTTPRoute r unknown" in links(picture)

    def test_one_rule_is_broken(self) -> None:
        rules = [build.rule(build.backend("s")), build.rule(build.backend("s", 9))]
        picture = drawn([*WORLD[:2], build.route(rules=rules), WORLD[3]], WHOLE)
        assert links(picture, "backend") == ["HTTPRoute r > Service s broken BackendNotFound"]
        rules = [build.rule(build.backend("s")), build.rule(build.backend("s", weight=0))]
        picture = drawn([*WORLD[:2], build.route(rules=rules), WORLD[3]], WHOLE)
        assert links(picture, "backend") == ["HTTPRoute r > Service s"]

    def test_routes_that_refer_to_themselves(self) -> None:
        loop = top(passing("/", to("top")))
        world = [build.gateway_class(controller=CONTROLLER), build.gateway(), loop]
        assert [link.child.object for link in drawn(world).links if link.relation == "backend"] == [loop.ref]
        assert not links(drawn(world, WHOLE), "backend")


class TestOnlyAffected:
    ASKED: Final = GraphOptions(only_affected=True)

    def test_no_policies(self) -> None:
        picture = drawn(WORLD, self.ASKED)
        assert (picture.nodes, picture.links) == ((), ())

    def test_what_leads_there(self) -> None:
        """Of two routes, the one that a policy is about; and not what is below that, if nothing is set there."""
        tls = build.policy(
            "tls",
            build.ON_SERVICE,
            kind="BackendTLSPolicy",
            group="gateway.networking.k8s.io",
            validation={"hostname": "s", "wellKnownCACertificates": "System"},
        )
        other = build.route("other", rules=[build.rule(build.backend("t"))])
        picture = drawn([*WORLD, other, build.service("t"), tls], self.ASKED)
        assert nodes(picture) == nodes(drawn(WORLD))
        assert links(picture) == links(drawn(WORLD))

    def test_targets_without_effect(self) -> None:
        p = build.policy("p", build.target("g", section="three"), color="red")
        picture = drawn([*WORLD, p], self.ASKED)
        assert nodes(picture) == ["GatewayClass public", "Gateway g", "Gateway g#three (missing)"]

    def test_of_some_policies(self) -> None:
        p = build.policy("p", build.ON_ROUTE, color="red")
        q = build.policy("q", build.target("q"), kind="OtherPolicy", color="red")
        picture = drawn([*WORLD, p, q], GraphOptions(only_affected=True, policy_kinds=frozenset({p.ref.group_kind})))
        assert "Gateway q (missing)" not in nodes(picture)

    def test_around_something(self) -> None:
        p = build.policy("p", build.ON_GATEWAY, color="red")
        world = [*WORLD, build.route("other", rules=[]), p]
        asked = around(build.ref("HTTPRoute", "r"), only_affected=True)
        assert "HTTPRoute other" not in nodes(drawn(world, asked))
        assert "HTTPRoute r" in nodes(drawn(world, asked))


EFFECTIVE: Final = GraphOptions(effective=True)
WITH_OUTCOMES: Final[tuple[Resource, ...]] = (
    build.gateway_class(),
    build.gateway("g", build.listener("one"), build.listener("two", port=81)),
    build.route(rules=[build.rule(build.backend()), build.rule(build.backend(), name="two")]),
    build.service(),
)
ON_TWO: Final = build.policy("on-two", build.target("g", section="two"), color="green")
ON_GATEWAY: Final = build.policy("on-g", build.ON_GATEWAY, color="red")


def test_not_unless_asked_for() -> None:
    assert not outcomes(drawn([*WITH_OUTCOMES, ON_GATEWAY]))


def test_where_nothing_is_in_force() -> None:
    assert not outcomes(drawn(WITH_OUTCOMES, EFFECTIVE))
    idle = build.route("idle", parents=[])
    assert "HTTPRoute idle#rule[0]" not in groups(drawn([*WITH_OUTCOMES, idle, ON_GATEWAY], EFFECTIVE))


def test_at_rules() -> None:
    """Which policy wins on which path; what is on its way to routes is not told at listeners."""
    picture = drawn([*WITH_OUTCOMES, ON_GATEWAY, ON_TWO], EFFECTIVE)
    told = [("ColorPolicy", "on-g", "0"), ("ColorPolicy", "on-two", "1")]
    assert groups(picture) == {"HTTPRoute r#rule[0]": told, "HTTPRoute r#two": told}
    outcome = outcomes(picture)[build.node("HTTPRoute", "r", "two")]
    assert [path[3].section for path in outcome.paths] == ["one", "two"]
    assert [group.certain for group in outcome.groups] == [True, True]


def test_at_routes_without_rules() -> None:
    """Then the route itself has them; with `sections` left out, any route has, for all of its rules."""
    bare = build.resource("TLSRoute", "r", {"parentRefs": [build.parent()], "rules": []})
    gateway = build.gateway("g", build.listener(protocol="TLS", port=443, tls={"mode": "Passthrough"}))
    assert groups(drawn([WITH_OUTCOMES[0], gateway, bare, ON_GATEWAY], EFFECTIVE)) == {
        "TLSRoute r": [("ColorPolicy", "on-g", "0")]
    }
    assert groups(drawn([*WITH_OUTCOMES, ON_GATEWAY], GraphOptions(effective=True, sections=False))) == {
        "HTTPRoute r": [("ColorPolicy", "on-g", "0123")]
    }


def test_at_listeners() -> None:
    levels = (TargetLevel(GroupKind(GATEWAY_API, "Gateway"), section=True),)
    for profile in (
        PolicyKindProfile(COLOR, "direct", "profile", strategy=MergeStrategy.ATOMIC_DEFAULTS),
        PolicyKindProfile(COLOR, "inherited", "profile", effective_targets=levels),
    ):
        found = groups(drawn([*WITH_OUTCOMES, ON_GATEWAY], EFFECTIVE, profiles=[profile]))
        assert found["Gateway g#one"] == found["Gateway g#two"] == [("ColorPolicy", "on-g", "0")]


def test_what_passes_on() -> None:
    levels = (TargetLevel(GroupKind(GATEWAY_API, "HTTPRoute")),)
    profile = PolicyKindProfile(COLOR, "inherited", "profile", effective_targets=levels)
    assert [*groups(drawn([*WITH_OUTCOMES, ON_GATEWAY], EFFECTIVE, profiles=[profile]))] == [
        "HTTPRoute r#rule[0]",
        "HTTPRoute r#two",
    ]


def test_what_is_not_read() -> None:
    profile = PolicyKindProfile(COLOR, "inherited", "profile", patches=True)
    assert not outcomes(drawn([*WITH_OUTCOMES, ON_GATEWAY], EFFECTIVE, profiles=[profile]))


def test_what_rules_say_themselves() -> None:
    route = build.route(rules=[build.rule(build.backend(), timeouts={"request": "5s"})])
    assert groups(drawn([*WITH_OUTCOMES[:2], route, WITH_OUTCOMES[3]], EFFECTIVE)) == {
        "HTTPRoute r#rule[0]": [("HTTPRoute", "", "01")]
    }


def test_of_some_kinds() -> None:
    fast = build.policy("fast", build.ON_GATEWAY, kind="SpeedPolicy", speed=1)
    route = build.route(rules=[build.rule(build.backend(), timeouts={"request": "5s"})])
    asked = GraphOptions(effective=True, policy_kinds=frozenset({COLOR}))
    assert groups(drawn([*WITH_OUTCOMES[:2], route, WITH_OUTCOMES[3], ON_GATEWAY, fast], asked)) == {
        "HTTPRoute r#rule[0]": [("ColorPolicy", "on-g", "01")]
    }


def test_kinds_of_routes_told_apart() -> None:
    """What of a policy counts may differ between kinds of routes, though it is the same policy."""
    routes = [build.route("r"), build.route("t", kind="GRPCRoute")]
    picture = drawn([*WITH_OUTCOMES[:2], *routes, WITH_OUTCOMES[3], ON_GATEWAY], EFFECTIVE)
    assert groups(picture)["GRPCRoute t#rule[0]"] == [("ColorPolicy", "on-g", "01")]
    assert outcomes(picture)[build.node("GRPCRoute", "t", "rule[0]")].groups[0].summary == ("color red",)


def test_around_something() -> None:
    picture = drawn([*WITH_OUTCOMES, ON_GATEWAY], around(build.ref("Service", "s", group=""), effective=True))
    assert [*groups(picture)] == ["HTTPRoute r#rule[0]", "HTTPRoute r#two"]


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
        told = {
            (group.policy_kind, policy) for group in (outcome.groups if outcome else ()) for policy in group.policies
        }
        description = describe(analysis, rule)
        groups = [group for group in description.in_force if not (group.extent.passes_down or group.profile.patches)]
        expected = {(group.kind, policy) for group in groups for policy in group.policies}
        assert told == (expected if description.requests.carries_traffic else set()), rule


def test_as_described_of_whole_routes() -> None:
    analysis = analyze(load_manifests("fixtures/bakery"))
    picture = graph(analysis, GraphOptions(effective=True, sections=False))
    for node, outcome in outcomes(picture).items():
        described = {policy for group in describe(analysis, NodeRef(node.object)).in_force for policy in group.policies}
        assert {policy for group in outcome.groups for policy in group.policies} == described


TWO_GATEWAYS: Final = (build.gateway_class(), build.gateway(), build.gateway("other"), build.route(), build.service())


def reported(ancestor: str, status: str = "False") -> Resource:
    """A policy on a route, and what a controller says of it for a Gateway."""
    condition: dict[str, Json] = {"type": "Accepted", "status": status, "reason": "Invalid"}
    entry: dict[str, Json] = {
        "ancestorRef": {"group": GATEWAY_API, "kind": "Gateway", "name": ancestor},
        "controllerName": "example.com/gateway",
        "conditions": [condition],
    }
    spec: dict[str, Json] = {"targetRefs": [build.ON_ROUTE], "color": "red"}
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
