"""Which routes lose traffic, and which get some: where, for which hostnames, and how much of it."""

from __future__ import annotations

from collections.abc import Iterable

from kubectl_policy.comparison import what_if
from kubectl_policy.model import Gap, Json, ObjectRef, Resource
from kubectl_policy.questions.diff import StateDiff, diff
from kubectl_policy.questions.differences.traffic import NO_TRAFFIC, RouteTraffic, TrafficChanges, TrafficOneWay
from tests import build
from tests.delegation import CONTROLLER, http_route, passing, to, top
from tests.differences import between, color
from tests.questions.build import analyzed

HTTP = build.listener("http", hostname="*.example.com")
TLS = {"certificateRefs": [{"name": "cert"}]}
HTTPS = build.listener("https", "HTTPS", 443, tls=TLS)
SECRET = build.resource("Secret", "cert", group="")
AT = build.ref("Gateway", "g")


def traffic(
    world: Iterable[Resource], *deleted: ObjectRef, owner_key: str = "", complete: bool = True
) -> TrafficChanges:
    return diff(what_if(analyzed(*world, complete=complete), deleted=deleted), owner_key).traffic


def lost(world: Iterable[Resource], *deleted: ObjectRef, complete: bool = True) -> TrafficOneWay:
    """The traffic that is lost by deleting some objects; none is gained by that."""
    found = traffic(world, *deleted, complete=complete)
    assert not found.gained.routes
    return found.lost


def told(routes: Iterable[RouteTraffic]) -> list[str]:
    """`HTTPRoute default/r: a.example.com`."""
    return [f"{each.route}: {', '.join(each.hostnames)}" for each in routes]


def shares(routes: Iterable[RouteTraffic]) -> list[str]:
    """`rule[0] 9/10 BackendNotFound Service default/s`, or `gone` for a rule that is."""
    return [
        f"{each.rule.section} {each.failing}/{each.total} {each.reason} {', '.join(map(str, each.backends))}".rstrip()
        + (" gone" if each.gone else "")
        for found in routes
        for each in found.failing
    ]


def world(*more: Resource, listeners: tuple[dict[str, Json], ...] = ()) -> list[Resource]:
    return [build.gateway_class(), build.gateway("g", *(listeners or (build.listener(),))), build.service(), *more]


class TestPlaces:
    def test_a_gateway_gone(self) -> None:
        both = build.route("both", parents=[build.parent(), build.parent("other")], hostnames=["b.example.com"])
        other = build.gateway("other", build.listener("web"))
        found = lost(world(build.route("one", hostnames=["a.example.com"]), both, other), AT)
        assert told(found.all) == ["HTTPRoute default/one: a.example.com"]
        assert told(found.some) == ["HTTPRoute default/both: b.example.com"]
        assert [str(place) for place in found.some[0].lost] == ["Gateway default/g#http"]
        assert [str(place) for place in found.some[0].kept] == ["Gateway default/other#web"]
        assert found.hostnames == ("a.example.com",)
        assert [(each.hostnames, [ref.name for ref in each.by]) for each in found.answered] == [
            (("b.example.com",), ["both"])
        ]
        assert [str(place) for place in found.listeners] == ["Gateway default/g#http"]
        assert found.backends == ()

    def test_what_nothing_leads_to_any_more(self) -> None:
        """A Service without policies counts as well; one that is gone itself does not, nor one without weight."""
        rule = build.rule(build.backend(), build.backend("gone"), build.backend("idle", weight=0))
        services = (build.service("gone"), build.service("idle"))
        found = lost(world(build.route(rules=[rule]), *services), AT, build.ref("Service", "gone", group=""))
        assert [str(ref) for ref in found.backends] == ["Service default/s"]

    def test_a_listener_of_a_set(self) -> None:
        admitting = build.gateway("g", allowedListeners={"namespaces": {"from": "Same"}})
        route = build.route(parents=[build.parent("ls", kind="ListenerSet")])
        objects = [
            build.gateway_class(),
            admitting,
            build.listener_set("ls", build.listener(port=81)),
            route,
            build.service(),
        ]
        found = lost(objects, build.ref("ListenerSet", "ls"))
        assert [str(place) for place in found.listeners] == ["ListenerSet default/ls#http"]
        assert told(found.all) == ["HTTPRoute default/r: *"]

    def test_a_namespace_takes_its_labels_along(self) -> None:
        chosen = build.listener(allowedRoutes=build.allow("Selector", {"matchLabels": {"open": "yes"}}))
        before = [
            *world(build.route(namespace="far", parents=[build.parent(namespace="default")]), listeners=(chosen,)),
            build.service(namespace="far"),
        ]
        found = between(
            [*before, build.namespace("far", {"open": "yes"})], [*before, build.namespace("far")], complete=True
        ).traffic
        assert told(found.lost.all) == ["HTTPRoute far/r: *"]

    def test_a_certificate_gone(self) -> None:
        """Without one the listener cannot serve TLS; the other listener still takes the requests."""
        found = lost(world(build.route(), SECRET, listeners=(build.listener(), HTTPS)), SECRET.ref)
        assert [str(place) for place in found.some[0].lost] == ["Gateway default/g#https"]
        assert [str(place) for place in found.listeners] == ["Gateway default/g#https"]
        assert found.all == ()

    def test_a_certificate_that_was_never_read(self) -> None:
        objects = world(build.route(), listeners=(HTTPS,))
        assert lost(objects, build.ref("Secret", "other", group=""), complete=False) == NO_TRAFFIC.lost

    def test_a_parent_of_the_mesh(self) -> None:
        route = build.route(parents=[build.service_parent("front")], rules=[build.rule(build.backend())])
        objects = [build.service("front"), build.service(), route]
        found = lost(objects, build.ref("Service", "front", group=""))
        assert told(found.all) == ["HTTPRoute default/r: "]
        assert [str(place) for place in found.listeners] == ["Service default/front"]

    def test_where_a_parent_was_not_read(self) -> None:
        """The route may be attached there, so that it does not lose all."""
        route = build.route(parents=[build.parent(), build.parent("unread")])
        found = lost(world(route), AT, complete=False)
        assert [str(place) for place in found.some[0].kept] == ["Gateway default/unread"]
        assert found.all == ()

    def test_that_a_parent_is_no_longer_known_is_no_loss(self) -> None:
        before = world(build.route())
        after = [found for found in before if found.ref != AT]
        found = between(before, after, gaps=[Gap("Gateway", "", "forbidden")]).traffic
        assert found.lost.routes == ()

    def test_a_route_without_an_answer_has_nothing_to_lose(self) -> None:
        silent = build.route("silent", rules=[build.rule()])
        redirect = build.route("redirect", rules=[build.rule(filters=[{"type": "RequestRedirect"}])])
        empty = build.route("empty", rules=[])
        assert told(lost(world(silent, redirect, empty), AT).all) == ["HTTPRoute default/redirect: *"]

    def test_its_class_gone(self) -> None:
        """What becomes of the traffic, the controller decides; of a route on another Gateway as well, a part."""
        other = (build.gateway_class("second"), build.gateway("other", class_name="second"))
        both = build.route("both", parents=[build.parent(), build.parent("other")])
        elsewhere = build.route("elsewhere", parents=[build.parent("other")])
        found = traffic(
            [*world(build.route(), both, elsewhere), *other, build.namespace("default", {"team": "us"})],
            build.ref("GatewayClass", "public"),
            owner_key="team",
        )
        assert (found.lost.routes, found.gained.routes) == ((), ())
        assert [(each.route.name, len(each.lost), len(each.kept), each.owner) for each in found.uncontrolled] == [
            ("both", 1, 1, "us"),
            ("r", 1, 0, "us"),
        ]
        assert found.routes == found.uncontrolled

    def test_owners(self) -> None:
        objects = [*world(build.route(labels={"team": "us"})), build.namespace("default", {"team": "them"})]
        found = traffic(objects, AT, owner_key="team")
        assert [each.owner for each in found.lost.all] == ["us"]
        assert found.owner_key == "team"


class TestHostnames:
    def test_another_route_takes_them(self) -> None:
        """By the very name, by the nearest wildcard, or whatever the name; nothing answers the rest."""
        gone = build.route("gone", hostnames=["a.example.com", "b.x.example.com", "c.example.org"])
        exact = build.route("exact", hostnames=["a.example.com"])
        found = lost(world(gone, exact, build.route("wide", hostnames=["*.example.com"])), gone.ref)
        assert [(each.hostnames, [ref.name for ref in each.by]) for each in found.answered] == [
            (("a.example.com",), ["exact"]),
            (("b.x.example.com",), ["wide"]),
        ]
        assert found.hostnames == ("c.example.org",)
        with_any = lost(world(gone, build.route("any")), gone.ref)
        assert [[ref.name for ref in each.by] for each in with_any.answered] == [["any"]]
        assert with_any.hostnames == ()

    def test_a_catch_all_elsewhere_does_not_answer_for_it(self) -> None:
        """Clients come to the address of one Gateway, unless a route names the hostname at another one."""
        gone = build.route("gone", hostnames=["a.example.com", "b.example.com"])
        elsewhere = [build.parent("other")]
        others = (
            build.gateway("other"),
            build.route("any", parents=elsewhere),
            build.route("named", parents=elsewhere, hostnames=["b.example.com"]),
        )
        found = lost(world(gone, *others), gone.ref)
        assert found.hostnames == ("a.example.com",)
        assert [(each.hostnames, [ref.name for ref in each.by]) for each in found.answered] == [
            (("b.example.com",), ["named"])
        ]

    def test_the_same_hostname_at_several_gateways(self) -> None:
        names = [f"g{number}" for number in range(6)]
        gone = build.route("gone", parents=[build.parent(name) for name in names], hostnames=["a.b"])
        others = (build.route(f"at-{name}", parents=[build.parent(name)], hostnames=["a.b"]) for name in names)
        found = lost(world(gone, *map(build.gateway, names), *others), gone.ref)
        assert [[ref.name for ref in each.by] for each in found.answered] == [[f"at-{name}"] for name in names]

    def test_any_hostname(self) -> None:
        assert lost(world(build.route("gone")), build.ref("HTTPRoute", "gone")).hostnames == ("*",)

    def test_a_listener_takes_fewer(self) -> None:
        route = build.route(hostnames=["a.example.com", "a.example.org"])
        before, after = (
            world(route, listeners=(build.listener(hostname=name),)) for name in ("*.example.com", "*.example.org")
        )
        found = between(before, after, complete=True).traffic
        assert told(found.lost.some) == ["HTTPRoute default/r: a.example.com"]
        assert told(found.gained.some) == ["HTTPRoute default/r: a.example.org"]
        assert found.lost.hostnames == ("a.example.com",)
        assert found.lost.some[0].lost == ()

    def test_a_hostname_at_another_listener_of_the_gateway(self) -> None:
        route = build.route(parents=[build.parent(section="one"), build.parent(section="two")], hostnames=["a.b"])
        one, two = build.listener("one"), build.listener("two", port=81)
        found = between(world(route, listeners=(one, two)), world(route, listeners=(two,)), complete=True).traffic
        assert [str(place) for place in found.lost.some[0].lost] == ["Gateway default/g#one"]
        assert (found.lost.hostnames, found.lost.answered) == ((), ())


class TestRules:
    def test_by_weight(self) -> None:
        rule = build.rule(build.backend("main", weight=90), build.backend("canary", weight=10))
        objects = world(build.route(rules=[rule]), build.service("main"), build.service("canary"))
        found = lost(objects, build.ref("Service", "main", group=""))
        assert shares(found.some) == ["rule[0] 90/100 BackendNotFound Service default/main"]
        assert found.some[0].failing[0].message == "Service default/main does not exist"
        assert told(found.some) == ["HTTPRoute default/r: *"]
        assert (found.hostnames, found.listeners, found.backends) == ((), (), ())

    def test_all_rules(self) -> None:
        """Nothing of what the route takes is answered: it loses all, and its hostnames have nobody."""
        found = lost(world(build.route(hostnames=["a.b"])), build.ref("Service", "s", group=""))
        assert shares(found.all) == ["rule[0] 1/1 BackendNotFound Service default/s"]
        assert found.hostnames == ("a.b",)
        assert found.all[0].kept
        assert found.all[0].lost == ()

    def test_one_of_two_rules(self) -> None:
        rules = [
            build.rule(build.backend("a"), name="a", matches=[{"path": {"value": "/a"}}]),
            build.rule(build.backend("b"), name="b", matches=[{"path": {"value": "/b"}}]),
            build.rule(build.backend("ghost"), name="c", matches=[{"path": {"value": "/c"}}]),
        ]
        found = lost(
            world(build.route(rules=rules), build.service("a"), build.service("b")), build.ref("Service", "a", group="")
        )
        assert shares(found.some) == ["a 1/1 BackendNotFound Service default/a"]

    def test_only_what_fails_newly_is_named(self) -> None:
        rule = build.rule(build.backend("a"), build.backend("ghost", weight=2), build.backend("b"))
        objects = world(build.route(rules=[rule]), build.service("a"), build.service("b"))
        found = lost(objects, build.ref("Service", "a", group=""))
        assert shares(found.some) == ["rule[0] 3/4 BackendNotFound Service default/a"]

    def test_a_mirror_answers_nobody(self) -> None:
        mirror: Json = {"type": "RequestMirror", "requestMirror": {"backendRef": build.backend("copy")}}
        rule = build.rule(build.backend(), filters=[mirror])
        objects = world(build.route(rules=[rule]), build.service("copy"))
        assert lost(objects, build.ref("Service", "copy", group="")) == NO_TRAFFIC.lost

    def test_a_grant_gone(self) -> None:
        grant = build.grant(namespace="far")
        objects = world(build.route(rules=[build.rule(build.backend(namespace="far"))]), grant)
        found = lost([*objects, build.service(namespace="far")], grant.ref)
        assert shares(found.all) == ["rule[0] 1/1 RefNotPermitted Service far/s"]

    def test_weights_alone(self) -> None:
        states = [
            world(build.route(rules=[build.rule(build.backend(weight=weight), build.backend("ghost"))]))
            for weight in (9, 1)
        ]
        found = between(states[0], states[1], complete=True).traffic
        assert shares(found.lost.some) == ["rule[0] 1/2 BackendNotFound Service default/ghost"]
        again = between(states[1], states[0], complete=True).traffic
        assert (shares(again.gained.some), again.lost.routes) == (
            ["rule[0] 1/2 BackendNotFound Service default/ghost"],
            (),
        )

    def test_a_rule_without_weight(self) -> None:
        states = [world(build.route(rules=[build.rule(build.backend(weight=weight))])) for weight in (1, 0)]
        assert shares(between(states[0], states[1], complete=True).traffic.lost.all) == ["rule[0] 1/1"]

    def test_a_rule_gone(self) -> None:
        one = build.rule(build.backend(), name="one", matches=[{"path": {"value": "/one"}}])
        two = build.rule(build.backend(), name="two", matches=[{"path": {"value": "/two"}}])
        found = between(world(build.route(rules=[one, two])), world(build.route(rules=[two])), complete=True).traffic
        assert shares(found.lost.some) == ["one 1/1 gone"]
        turned = between(world(build.route(rules=[one, two])), world(build.route(rules=[two, one])), complete=True)
        assert turned.traffic.routes == ()

    def test_what_a_filter_answers_needs_no_backend(self) -> None:
        rule = build.rule(build.backend(), filters=[{"type": "ExtensionRef", "extensionRef": {"name": "x"}}])
        assert lost(world(build.route(rules=[rule])), build.ref("Service", "s", group="")) == NO_TRAFFIC.lost


class TestDelegation:
    def objects(self) -> list[Resource]:
        """A route on the Gateway that delegates to another one."""
        return [
            build.gateway_class(controller=CONTROLLER),
            build.gateway(),
            build.service(),
            top(passing("/a", to("child")), passing("/b", build.backend()), hostnames=["a.b"]),
            http_route("child", passing("/a/x", build.backend())),
        ]

    def test_what_delegates_to_it_gone(self) -> None:
        found = lost(self.objects(), build.ref("HTTPRoute", "top"))
        assert told(found.all) == ["HTTPRoute default/child: a.b", "HTTPRoute default/top: a.b"]

    def test_it_gone_itself(self) -> None:
        found = lost(self.objects(), build.ref("HTTPRoute", "child"))
        assert told(found.all) == ["HTTPRoute default/child: a.b"]
        assert shares(found.some) == ["rule[0] 1/1 BackendNotFound HTTPRoute default/child"]

    def test_the_gateway_gone(self) -> None:
        found = lost(self.objects(), AT)
        assert [each.route.name for each in found.all] == ["child", "top"]
        assert [ref.name for ref in found.backends] == ["s"]


class TestOtherChanges:
    def test_a_policy(self) -> None:
        objects = [*world(build.route()), color("p", build.ON_GATEWAY, a=1)]
        assert traffic(objects, build.ref("ColorPolicy", "p", group="example.com")) == NO_TRAFFIC

    def test_a_service_that_others_use(self) -> None:
        other = build.route("other", rules=[build.rule(build.backend("x"))])
        found = lost(world(build.route(), other, build.service("x")), build.ref("Service", "x", group=""))
        assert [each.route.name for each in found.routes] == ["other"]

    def test_traffic_begins(self) -> None:
        after = world(build.route(hostnames=["a.b"]))
        before = [found for found in after if found.ref.kind != "Gateway"]
        found: StateDiff = between(before, after, complete=True)
        assert told(found.traffic.gained.all) == ["HTTPRoute default/r: a.b"]
        assert (found.traffic.lost.routes, found.changes) == ((), True)
        assert found.traffic.gained.hostnames == ("a.b",)
