"""The links of a picture: those that carry requests, and those that do not, with the reason."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

import pytest

from kubectl_policy.model import Json, NodeRef, Resource
from kubectl_policy.questions.graph.links import Links
from kubectl_policy.questions.graph.picture import Picture
from tests import build
from tests.delegation import CONTROLLER, below, http_route, labelled, passing, to, top
from tests.questions.build import analyzed
from tests.questions.graph.drawings import around, drawn, failing, links, nodes

ROUTE: Final = build.ref("HTTPRoute", "r")
CLASS: Final = build.gateway_class()


def at_gateway(*resources: Resource, complete: bool = True) -> Picture:
    """The picture of a Gateway with listeners for two hosts, and of what else there is."""
    listeners = [build.listener(name, hostname=f"{name}.example.com") for name in ("one", "two")]
    return drawn([CLASS, build.gateway("g", *listeners), *resources], complete=complete)


class TestParents:
    def test_not_the_listeners_for_other_hosts(self) -> None:
        picture = at_gateway(build.route(hostnames=["one.example.com"]))
        assert links(picture, "route") == ["Gateway g#one > HTTPRoute r"]

    def test_one_listener_that_refuses(self) -> None:
        parents = [build.parent("g", "one"), build.parent("g", "two")]
        picture = at_gateway(build.route(parents=parents, hostnames=["one.example.com"]))
        assert links(picture, "route") == [
            "Gateway g#one > HTTPRoute r",
            "Gateway g#two > HTTPRoute r refused NoMatchingListenerHostname",
        ]

    def test_all_listeners_refuse(self) -> None:
        """Then the Gateway does, once for each parentRef; the first reason is told, and how many more there are."""
        parents = [build.parent("g"), build.parent("g", port=80)]
        picture = at_gateway(build.route(parents=parents, hostnames=["three.example.com"]))
        hostnames = "hostname three.example.com does not match one.example.com of listener one of Gateway default/g"
        refused = "Gateway g > HTTPRoute r refused NoMatchingListenerHostname"
        assert failing(picture)[:1] == [f"{refused}: {hostnames}, and 1 more"]
        # Both parentRefs say the same.
        assert links(picture, "route") == [refused]

    def test_for_several_reasons(self) -> None:
        listeners = [build.listener("one", hostname="one.example.com"), build.listener("two", "TLS", 443)]
        world = [CLASS, build.gateway("g", *listeners), build.route(hostnames=["three.example.com"])]
        assert links(drawn(world), "route") == [
            "Gateway g > HTTPRoute r refused NoMatchingListenerHostname, NotAllowedByListeners"
        ]

    def test_sections_that_are_not_there(self) -> None:
        parents = [build.parent("g", "three"), build.parent("g", "four")]
        refused = "Gateway g > HTTPRoute r refused NoMatchingParent"
        picture = at_gateway(build.route(parents=parents))
        assert links(picture, "route") == [refused, refused]
        assert [link.message for link in picture.links if link.state == "refused"] == [
            f"Gateway default/g has no listener {name}; it has listeners one (80), two (80)"
            for name in ("three", "four")
        ]

    def test_parents_that_are_not_there(self) -> None:
        route = build.route(parents=[build.parent("ghost")])
        refused = "Gateway ghost > HTTPRoute r refused NoMatchingParent: Gateway default/ghost does not exist"
        assert refused in failing(at_gateway(route))
        unknown = "Gateway ghost > HTTPRoute r unknown: Gateway default/ghost is not in the input"
        assert unknown in failing(at_gateway(route, complete=False))

    def test_one_of_several_is_not_known(self) -> None:
        listeners = [build.listener("one", hostname="one.example.com"), build.listener("two", hostname="${HOST}")]
        world = [CLASS, build.gateway("g", *listeners), build.route(hostnames=["three.example.com"])]
        assert links(drawn(world), "route") == ["Gateway g#two > HTTPRoute r unknown"]

    def test_kinds_of_which_nothing_is_known(self) -> None:
        route = build.route(parents=[build.parent("m", kind="Mesh", group="example.com")])
        picture = at_gateway(route, complete=False)
        assert "Mesh m (unknown)" in nodes(picture)
        assert links(picture, "route") == ["Mesh m > HTTPRoute r unknown"]


class TestMesh:
    WORLD: Final = (build.service("s", 80, 81), build.service("t"))
    RULES: Final = (build.rule(build.backend("t")),)

    def test_ports_that_are_not_there(self) -> None:
        route = build.route(parents=[build.service_parent("s", port=9)], rules=self.RULES)
        assert links(drawn([*self.WORLD, route]), "mesh-route") == ["Service s > HTTPRoute r refused NoMatchingParent"]

    def test_whole_services_and_ports(self) -> None:
        whole = build.route(parents=[build.service_parent("s")], rules=self.RULES)
        port = build.route(parents=[build.service_parent("s", port=81)], rules=self.RULES)
        assert links(drawn([*self.WORLD, whole]), "mesh-route", "port") == [
            "Service s > HTTPRoute r",
            "Service t > Service t#8080",
        ]
        assert links(drawn([*self.WORLD, port]), "mesh-route", "port") == [
            "Service s > Service s#81",
            "Service s#81 > HTTPRoute r",
            "Service t > Service t#8080",
        ]

    def test_where_requests_enter(self) -> None:
        """What sends requests to a backend does not send them to the routes of which that is the parent."""
        front = build.route("front", rules=[build.rule(build.backend("s", 80))])
        behind = build.route("behind", parents=[build.service_parent("s")], rules=self.RULES)
        world = [CLASS, build.gateway(), front, behind, *self.WORLD]
        picture = drawn(world, around(front.ref))
        assert "HTTPRoute behind" not in nodes(picture)
        assert "Service s" in nodes(picture)
        picture = drawn(world, around(behind.ref))
        assert "HTTPRoute front" not in nodes(picture)
        assert links(picture, "mesh-route") == ["Service s > HTTPRoute behind"]
        picture = drawn(world, around(self.WORLD[0].ref))
        assert {"HTTPRoute behind", "HTTPRoute front"} < {*nodes(picture)}


class TestBackends:
    def of_rule(self, *backends: Mapping[str, Json], complete: bool = True) -> Picture:
        """The picture of a route with one rule, next to Services here and elsewhere."""
        services = [build.service("s"), build.service("away", namespace="other")]
        rules = [build.rule(*backends)]
        return drawn([CLASS, build.gateway(), build.route(rules=rules), *services], complete=complete)

    def test_missing_ones(self) -> None:
        backend = build.backend("ghost")
        assert failing(self.of_rule(backend)) == [
            "HTTPRoute r#rule[0] > Service ghost broken BackendNotFound: Service default/ghost does not exist"
        ]
        assert failing(self.of_rule(backend, complete=False)) == [
            "HTTPRoute r#rule[0] > Service ghost unknown: Service default/ghost is not in the input"
        ]

    def test_ports_that_are_not_there(self) -> None:
        assert failing(self.of_rule(build.backend("s", 9))) == [
            "HTTPRoute r#rule[0] > Service s broken BackendNotFound: Service default/s has no port 9"
        ]

    def test_those_that_may_not_be_referred_to(self) -> None:
        backend = build.backend("away", namespace="other")
        why = "no ReferenceGrant in namespace other lets HTTPRoute default/r refer to Service other/away"
        assert failing(self.of_rule(backend)) == [
            f"HTTPRoute r#rule[0] > Service other/away#8080 refused RefNotPermitted: {why}"
        ]
        assert links(self.of_rule(backend, complete=False), "backend") == [
            "HTTPRoute r#rule[0] > Service other/away#8080 unknown"
        ]

    def test_weight_0(self) -> None:
        told = "HTTPRoute r#rule[0] > Service s#8080 refused: its weight is 0"
        assert failing(self.of_rule(build.backend("s", weight=0))) == [told]
        ghost = "HTTPRoute r#rule[0] > Service ghost refused"
        backend = build.backend("ghost", weight=0)
        assert failing(self.of_rule(backend, complete=False)) == [f"{ghost}: its weight is 0"]
        assert failing(self.of_rule(backend)) == [f"{ghost} BackendNotFound: Service default/ghost does not exist"]

    def test_weight_0_beside_others(self) -> None:
        picture = self.of_rule(build.backend("s", weight=0), build.backend("s"))
        assert links(picture, "backend") == ["HTTPRoute r#rule[0] > Service s#8080"]

    def test_two_that_are_broken_alike(self) -> None:
        picture = self.of_rule(build.backend("s", 9), build.backend("s", 10))
        assert [link.message for link in picture.links if link.state == "broken"] == ["Service default/s has no port 9"]

    def test_mirrors(self) -> None:
        mirror: dict[str, Json] = {"type": "RequestMirror", "requestMirror": {"backendRef": build.backend("ghost")}}
        rules = [build.rule(build.backend("s"), filters=[mirror])]
        picture = drawn([CLASS, build.gateway(), build.route(rules=rules), build.service()])
        assert links(picture, "backend") == ["HTTPRoute r#rule[0] > Service s#8080"]


class TestListenerSets:
    NONE: Final = build.gateway()
    ALL: Final = build.gateway(allowedListeners={"namespaces": {"from": "All"}})
    SET: Final = build.listener_set("more", build.listener("extra", port=8080))

    def test_not_allowed(self) -> None:
        world = [CLASS, self.NONE, self.SET]
        why = "Gateway default/g does not allow it (spec.allowedListeners)"
        assert failing(drawn(world)) == [f"Gateway g > ListenerSet more refused NotAllowed: {why}"]
        assert failing(drawn([self.SET], complete=False)) == [
            "Gateway g > ListenerSet more unknown: Gateway default/g is not in the input"
        ]
        assert nodes(drawn([build.resource("ListenerSet", "none", {})])) == ["ListenerSet none"]

    def test_allowed(self) -> None:
        route = build.route(parents=[build.parent("more", kind="ListenerSet")], rules=[])
        assert links(drawn([CLASS, self.ALL, self.SET, route])) == [
            "Gateway g > Gateway g#http",
            "Gateway g > ListenerSet more",
            "GatewayClass public > Gateway g",
            "ListenerSet more > ListenerSet more#extra",
            "ListenerSet more#extra > HTTPRoute r",
        ]


class TestDelegation:
    GATEWAY: Final = (
        build.gateway_class(controller=CONTROLLER),
        build.gateway("g", build.listener(allowedRoutes=build.allow())),
    )

    def of(self, *routes: Resource, complete: bool = True) -> Picture:
        return drawn([*self.GATEWAY, *routes], complete=complete)

    def test_to_a_route_that_is_not_there(self) -> None:
        route = top(passing("/a", to("ghost")))
        assert failing(self.of(route)) == [
            "HTTPRoute top#rule[0] > HTTPRoute ghost broken BackendNotFound: HTTPRoute default/ghost does not exist"
        ]
        assert failing(self.of(route, complete=False)) == [
            "HTTPRoute top#rule[0] > HTTPRoute ghost unknown: HTTPRoute default/ghost is not in the input"
        ]

    def test_to_a_route_that_takes_nothing(self) -> None:
        """None of its matches is inside those of the rule; that it names the parent is not told once more."""
        child = http_route("child", passing("/b"), parents=[below("top")])
        picture = self.of(top(passing("/a", to("child"))), child)
        why = "none of its matches lies inside those of rule[0] of HTTPRoute default/top"
        assert failing(picture) == [f"HTTPRoute top#rule[0] > HTTPRoute child refused BackendNotFound: {why}"]

    def test_to_a_route_that_names_others(self) -> None:
        child = http_route("child", passing("/a"), parents=[build.parent()])
        picture = self.of(top(passing("/a", to("child"))), child)
        assert links(picture, "route", "backend") == [
            "Gateway g#http > HTTPRoute child",
            "Gateway g#http > HTTPRoute top",
            "HTTPRoute top#rule[0] > HTTPRoute child refused BackendNotFound",
        ]

    def test_from_a_rule_that_no_request_reaches(self) -> None:
        middle = http_route("middle", passing("/a", name="in"), passing("/b", to("end"), name="out"))
        picture = self.of(top(passing("/a", to("middle"))), middle, http_route("end", passing("/b")))
        why = "no request reaches rule out of HTTPRoute default/middle, which refers to it"
        assert failing(picture) == [f"HTTPRoute middle#out > HTTPRoute end refused: {why}"]

    def test_to_a_route_that_does_not_say_so(self) -> None:
        child = http_route("child", passing("/a"), parents=[below("top")])
        picture = self.of(top(passing("/a", build.backend())), child, build.service())
        assert failing(picture) == [
            "HTTPRoute top > HTTPRoute child refused NoMatchingParent: no rule of HTTPRoute default/top delegates to it"
        ]

    def test_to_whatever_there_is(self) -> None:
        """What stands for any route leads to those that take something, and to nothing where none does."""
        routes = [http_route("a", passing("/a/1")), http_route("b", passing("/b"))]
        picture = self.of(top(passing("/a", to("*"))), *routes)
        assert links(picture, "backend") == ["HTTPRoute top#rule[0] > HTTPRoute a"]
        assert not links(self.of(top(passing("/c", to("*", "other"))), *routes), "backend")
        assert not links(self.of(top(passing("/c", labelled("x"))), *routes), "backend")

    def test_where_some_requests_find_nothing(self) -> None:
        two = build.rule(
            to("child"), matches=[{"path": {"type": "PathPrefix", "value": each}} for each in ("/a", "/b")]
        )
        picture = self.of(top(two), http_route("child", passing("/a")))
        assert failing(picture) == [
            "HTTPRoute top#rule[0] > HTTPRoute child broken BackendNotFound: some of its matches find no route"
        ]
        picture = self.of(top(two), http_route("child", passing("/a")))
        assert "HTTPRoute child#rule[0]" in nodes(picture)


FAILING: Final[tuple[Resource, ...]] = (
    build.gateway_class(controller=CONTROLLER),
    build.gateway("g", build.listener(allowedRoutes=build.allow()), build.listener("two", hostname="two.example.com")),
    build.listener_set("more"),
    top(passing("/a", to("child"), to("ghost")), passing("/b", build.backend("s", 9), build.backend("t", weight=0))),
    http_route("child", passing("/a", build.backend("away", namespace="other")), parents=[below("top")]),
    http_route(
        "refused", passing("/b"), parents=[build.parent("g", "three"), below("top"), build.service_parent("s", port=9)]
    ),
    http_route("mesh", passing("/b"), parents=[build.service_parent("s"), build.service_parent("t", port=8080)]),
    http_route("strange", passing("/b"), parents=[build.parent("m", kind="Mesh", group="example.com")]),
    build.service("s"),
    build.service("t"),
    build.service("away", namespace="other"),
)


@pytest.mark.parametrize("complete", [False, True])
def test_from_both_ends(*, complete: bool) -> None:
    picture = drawn(FAILING, complete=complete)
    found = Links(analyzed(*FAILING, complete=complete))
    assert {link.state for link in picture.links} == {"attached", "broken", "refused", "unknown"}
    for link in picture.links:
        assert link in [*found.below(link.parent)], link
        assert link in [*found.above(link.child)], link
        assert link in [*found.inside(link.parent), *found.again(link)], link
    every = {link for node in picture.nodes for link in (*found.below(node.ref), *found.above(node.ref))}
    assert every == {*picture.links}
    assert not [*found.from_rule(NodeRef(build.ref("GatewayClass", "public")))]
