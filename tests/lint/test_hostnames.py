"""Hostnames of routes: which of them are served, ignored, or another route's."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

import pytest

from kubectl_policy.lint.finding import Finding, Related
from kubectl_policy.lint.rules.routes.hostnames import (
    attaches_everywhere,
    hostname_no_intersection,
    hostname_partially_ignored,
    http_grpc_same_host,
)
from kubectl_policy.profiles.controllers import GatewayProfile
from tests import build
from tests.lint.rule_worlds import CLASS, OURS, checked, known, said, verdicts

if TYPE_CHECKING:
    from collections.abc import Sequence

    from kubectl_policy.model import Json, Resource

R: Final = build.ref("HTTPRoute", "r")
G: Final = build.ref("Gateway", "g")
# The controller of `CLASS` accepts one kind of routes for a hostname.
REFUSING: Final = (known(controllers=(OURS,), gateways=GatewayProfile(shared_hostnames="refused")),)


def at(*hostnames: str) -> Resource:
    """A Gateway with a listener for each hostname, on ports from 80 on."""
    listeners = [
        build.listener(f"l{place}", port=80 + place, hostname=hostname) for place, hostname in enumerate(hostnames)
    ]
    return build.gateway("g", *listeners)


class TestNone:
    @pytest.mark.parametrize(
        ("listener", "route", "doubts"),
        [
            ("*.shop.example", "www.shop.example", []),
            ("*.shop.example", "eu.www.shop.example", []),
            ("www.shop.example", "*.shop.example", []),
            ("WWW.shop.example", "www.SHOP.example", []),
            ("${DOMAIN}", "www.shop.example", [False]),
            ("www.shop.example", "www.${DOMAIN}", [False]),
        ],
    )
    def test_one_in_common(self, listener: str, route: str, doubts: list[bool]) -> None:
        """By a wildcard on either side, in any case, or as far as is known."""
        findings = checked(hostname_no_intersection, at(listener), build.route("r", hostnames=[route]))
        assert verdicts(findings) == doubts

    def test_none_in_common(self) -> None:
        """A wildcard does not stand for no label at all; other reasons are other rules'."""
        elsewhere = build.route("x", parents=[build.parent(section="x")], hostnames=["shop.example"])
        own = build.route("r", hostnames=["shop.example"])
        assert checked(hostname_no_intersection, at("*.shop.example"), own, elsewhere) == [
            Finding(
                subject=R,
                field="spec.hostnames[0]",
                message="hostname shop.example does not match *.shop.example of listener l0 of Gateway default/g",
                reason="NoMatchingListenerHostname",
                related=(
                    Related(object=G, words="listener l0", field="spec.listeners[0].hostname", origin=build.ORIGIN),
                ),
            )
        ]

    def test_several_of_both(self) -> None:
        """Not all of many listeners are told."""
        gateway = at("a.example", "b.example", "c.example", "d.example")
        [finding] = checked(hostname_no_intersection, gateway, build.route("r", hostnames=["e.example", "f.example"]))
        known = "a.example (l0), b.example (l1), c.example (l2) and 1 more of the listeners of Gateway default/g"
        assert (finding.field, finding.message) == ("spec.hostnames", f"none of its 2 hostnames matches {known}")
        assert len(finding.related) == 3


class TestSome:
    @pytest.mark.parametrize(
        "hostnames", [["*.example"], ["a.example", "b.example"], [""], ["a.example", ""]], ids=" and ".join
    )
    def test_each_has_a_listener(self, hostnames: list[str]) -> None:
        world = (build.route("r", hostnames=["a.example", "b.example"]), build.route("one", hostnames=["a.example"]))
        assert checked(hostname_partially_ignored, at(*hostnames), *world) == []

    @pytest.mark.parametrize(
        "gateway",
        [
            build.gateway("g", build.listener("a", hostname="a.example"), build.listener("b", hostname="b.example")),
            build.gateway("g", *(build.listener(name, hostname="a.example") for name in ("one", "two"))),
        ],
        ids=["served", "in conflict"],
    )
    def test_none_is_served_although_it_would_be(self, gateway: Resource) -> None:
        route = build.route("r", hostnames=["a.example", "b.example"])
        assert checked(hostname_partially_ignored, gateway, route) == []

    def test_in_the_mesh(self) -> None:
        route = build.route("r", parents=[build.service_parent()], hostnames=["a.example", "b.example"])
        assert checked(hostname_partially_ignored, build.service(), route) == []

    def test_the_listener_of_a_reference_that_fails(self) -> None:
        """What is wrong with that is found there, and the hostname would be right."""
        other = build.gateway("other", build.listener(hostname="b.example"), namespace="infra")
        parents = [build.parent(), build.parent("other", namespace="infra")]
        route = build.route("r", parents=parents, hostnames=["a.example", "b.example"])
        assert checked(hostname_partially_ignored, at("a.example"), other, route) == []

    def test_one_that_no_listener_has(self) -> None:
        hostnames: list[Json] = ["a.example", 7, "b.test"]
        route = build.resource("HTTPRoute", "r", {"parentRefs": [build.parent()], "hostnames": hostnames})
        message = "hostname b.test matches none of its listeners, so it is ignored"
        assert said(checked(hostname_partially_ignored, at("*.example"), route)) == [("spec.hostnames[2]", message)]

    def test_beside_a_listener_that_does_not_take_such_routes(self) -> None:
        """It does not count that it would have the hostname."""
        listeners = [build.listener(hostname="a.example"), build.listener("tls", "TLS", 443)]
        route = build.route("r", hostnames=["a.example", "b.example"])
        findings = checked(hostname_partially_ignored, build.gateway("g", *listeners), route)
        assert [finding.field for finding in findings] == ["spec.hostnames[1]"]

    def test_where_a_parent_was_not_read(self) -> None:
        route = build.route("r", parents=[build.parent(), build.parent("x")], hostnames=["a.example", "b", "c"])
        findings = checked(hostname_partially_ignored, at("a.example"), route, complete=False)
        assert said(findings) == [("spec.hostnames", "? Gateway default/x is not in the input")]

    def test_one_that_is_to_be_filled_in(self) -> None:
        route = build.route("r", hostnames=["a.example", "${HOST}"])
        findings = checked(hostname_partially_ignored, at("a.example"), route)
        assert said(findings) == [("spec.hostnames[1]", "? whether a listener matches ${HOST} cannot be known yet")]


class TestBothKinds:
    @pytest.mark.parametrize(
        ("http", "grpc"),
        [(["a.example"], ["b.example"]), (["*.a.example"], ["*.b.example"]), (["*.example"], ["example"])],
    )
    def test_for_different_hostnames(self, http: Sequence[str], grpc: Sequence[str]) -> None:
        world = (at(""), build.route("h", hostnames=http), build.route("g", kind="GRPCRoute", hostnames=grpc))
        assert checked(http_grpc_same_host, *world) == []

    def test_at_different_listeners(self) -> None:
        """The hostname of a listener narrows those of routes."""
        world = (
            at("a.example", "b.example"),
            build.route("h", parents=[build.parent(section="l0")]),
            build.route("g", kind="GRPCRoute", parents=[build.parent(section="l1")]),
        )
        assert checked(http_grpc_same_host, *world) == []

    def test_of_one_kind(self) -> None:
        assert checked(http_grpc_same_host, at(""), build.route("a"), build.route("b")) == []
        several = [build.route(name, kind="GRPCRoute") for name in ("a", "b")]
        assert checked(http_grpc_same_host, at(""), *several) == []

    @pytest.mark.parametrize(
        ("older", "newer", "hostname"),
        [
            (["a.example"], ["a.example"], "hostname a.example"),
            (["*.example"], ["a.example"], "hostname a.example"),
            (["a.example"], ["*.example"], "hostname *.example"),
            ([], ["a.example"], "hostname a.example"),
            (["a.example"], [], "hostnames"),
        ],
    )
    def test_the_newer_one_is_refused(self, older: list[str], newer: list[str], hostname: str) -> None:
        http = build.route("h", hostnames=older, age=1)
        grpc = build.route("g", kind="GRPCRoute", hostnames=newer, age=2)
        assert checked(http_grpc_same_host, CLASS, at(""), http, grpc, profiles=REFUSING) == [
            Finding(
                subject=grpc.ref,
                field="spec.hostnames",
                message=(
                    f"HTTPRoute default/h has {hostname} of listener l0 of Gateway default/g: "
                    "one of the two is accepted, by Gateway API the older one, HTTPRoute default/h"
                ),
                related=(
                    Related(object=http.ref, field="spec.hostnames", origin=build.ORIGIN),
                    Related(object=G, origin=build.ORIGIN),
                ),
            )
        ]

    def test_at_several_listeners(self) -> None:
        world = (at("", ""), build.route("h", age=1), build.route("g", kind="GRPCRoute", age=2))
        assert len(checked(http_grpc_same_host, *world)) == 1

    def test_one_that_is_refused_keeps_no_other_out(self) -> None:
        world = (
            at(""),
            build.route("one", hostnames=["a.example"], age=1),
            build.route("two", kind="GRPCRoute", hostnames=["a.example", "b.example"], age=2),
            build.route("three", hostnames=["b.example"], age=3),
        )
        assert [finding.subject for finding in checked(http_grpc_same_host, *world)] == [build.ref("GRPCRoute", "two")]

    def test_of_unknown_age(self) -> None:
        """Which of the two is refused is not known, but that one is."""
        world = (CLASS, at(""), build.route("h"), build.route("g", kind="GRPCRoute"))
        [finding] = checked(http_grpc_same_host, *world, profiles=REFUSING)
        assert finding.message.endswith(
            "one of the two is accepted, by Gateway API the older one, and their ages are not known here"
        )

    def test_where_the_implementation_is_unknown(self) -> None:
        """Gateway API allows it to accept both."""
        world = (at(""), build.route("h", age=1), build.route("g", kind="GRPCRoute", age=2))
        assert said(checked(http_grpc_same_host, *world)) == [
            (
                "spec.hostnames",
                (
                    "? HTTPRoute default/h has hostnames of listener l0 of Gateway default/g as well: whether both are "
                    "accepted depends on the implementation"
                ),
            )
        ]

    @pytest.mark.parametrize(
        ("controller", "number"),
        [
            ("gateway.envoyproxy.io/gatewayclass-controller", 0),
            ("gateway.nginx.org/nginx-gateway-controller", 0),
            ("kgateway.dev/kgateway", 0),
            ("gateway.k8s.aws/alb", 1),
        ],
    )
    def test_of_known_implementations(self, controller: str, number: int) -> None:
        routes = (build.route("h", age=1), build.route("g", kind="GRPCRoute", age=2))
        world = (build.gateway_class("public", controller), at(""), *routes)
        findings = checked(http_grpc_same_host, *world)
        assert [finding.certain for finding in findings] == [True] * number


class TestEveryListener:
    @pytest.mark.parametrize(
        "route",
        [
            build.route("r", parents=[build.parent(section="l0")]),
            build.route("r", parents=[build.parent(port=80)]),
            build.route("r", hostnames=["a.example"]),
            build.route("r", parents=[build.service_parent()]),
            build.route("r", kind="TCPRoute"),
        ],
        ids=["section", "port", "hostname", "mesh", "another kind"],
    )
    def test_what_is_narrower(self, route: Resource) -> None:
        assert checked(attaches_everywhere, at("", ""), build.service(), route) == []

    def test_one_listener(self) -> None:
        assert checked(attaches_everywhere, at(""), build.route("r")) == []
        other = build.gateway("g", build.listener(), build.listener("tcp", "TCP", 5432))
        assert checked(attaches_everywhere, other, build.route("r")) == []

    def test_several(self) -> None:
        """That plain HTTP is among them is told besides."""
        message = "it serves every hostname at all 2 listeners of Gateway default/g"
        assert said(checked(attaches_everywhere, at("", ""), build.route("r"))) == [("spec.parentRefs[0]", message)]
        both = build.gateway("g", build.listener(), build.listener("https", "HTTPS", 443))
        [finding] = checked(attaches_everywhere, both, build.route("r"))
        assert finding.message == f"{message}, over plain HTTP as well"
