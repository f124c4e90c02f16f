"""Matches that are not what they seem: names that are ignored, slashes, asterisks; and listeners without routes."""

from __future__ import annotations

import pytest

from kubectl_policy.lint.rules.routes.matching import (
    header_name_duplicate,
    no_rule_for_listener_host,
    path_asterisk_literal,
    trailing_slash_trap,
)
from tests.lint.policy_manifests import check, said
from tests.lint.route_manifests import HTTP, HTTPS, gateway, listener_set, path, route, rule


@pytest.mark.parametrize(
    "match",
    [
        "{headers: [{name: x, value: a}, {name: z, value: a}]}",
        "{queryParams: [{name: x, value: a}, {name: X, value: a}]}",
        "{headers: [{name: x, value: a}], queryParams: [{name: x, value: a}]}",
        "{headers: [{name: x, value: 1}, {name: x, value: 2}]}",
        "{headers: [x]}",
        "{queryParams: x}",
    ],
)
def test_names_that_differ(match: str) -> None:
    """Those of query parameters also by upper and lower case; what is malformed is not looked at."""
    assert check(header_name_duplicate, route("one", rule(match))) == []


def test_a_name_that_is_there_already() -> None:
    match = "{headers: [{name: X-User, value: a}, {name: x, value: a}, {name: x-user, value: b}], queryParams: [QUERY]}"
    query = "{name: q, value: a}, {name: q, value: b}"
    findings = check(header_name_duplicate, route("one", rule(path("/"), match.replace("QUERY", query))))
    assert [(finding.field, finding.message) for finding in findings] == [
        ("spec.rules[0].matches[1].headers[2]", "header x-user is in headers[0] already, and this one is ignored"),
        (
            "spec.rules[0].matches[1].queryParams[1]",
            "query parameter q is in queryParams[0] already, and this one is ignored",
        ),
    ]
    grpc = route("one", rule(match.replace(", queryParams: [QUERY]", "")), kind="GRPCRoute")
    assert [finding.field for finding in check(header_name_duplicate, grpc)] == ["spec.rules[0].matches[0].headers[2]"]


@pytest.mark.parametrize(
    "rules",
    [
        (rule(path("/", "Exact")),),
        (rule(path("/healthz", "Exact")),),
        (rule(path("/cart", "Exact")), rule(path("/cart/", "Exact")), rule(path("/cart/items"))),
        (rule(path("/cart", "Exact")), rule(path("/"))),
        (rule(path("/cart", "Exact")), rule(path("/cart/items")), rule(path("/c.*", "RegularExpression"))),
        (rule(path("/cart/", "Exact")), rule(path("/cart", "Exact"))),
        (rule(path("/cart/")), rule(path("/v1"))),
        (rule("{}"),),
    ],
)
def test_paths_that_are_what_they_seem(rules: tuple[str, ...]) -> None:
    """Or of which nobody can tell what they should be."""
    assert check(trailing_slash_trap, route("one", *rules)) == []


def test_an_exact_path_and_a_slash() -> None:
    (finding,) = check(trailing_slash_trap, route("one", rule(path("/cart", "Exact"), path("/cart/items"))))
    assert said([finding]) == ("HTTPRoute shop/one: it matches only /cart, and no match of the route covers /cart/")
    assert finding.field == "spec.rules[0].matches[0].path.value"
    (finding,) = check(trailing_slash_trap, route("one", rule(path("/cart/", "Exact"))))
    assert finding.message == "it matches only /cart/, and no match of the route covers /cart"


def test_a_prefix_that_ends_in_the_middle_of_a_word() -> None:
    (finding,) = check(trailing_slash_trap, route("one", rule(path("/img-"))))
    assert finding.message == "it matches /img- and the paths below /img-/, but not /img-a"


def test_more_matches_than_the_api_allows_are_not_compared() -> None:
    """Each with each would take too long."""
    many = [path(f"/{number}/", "Exact") for number in range(600)]
    assert check(trailing_slash_trap, route("one", rule(*many))) == []


def test_an_asterisk_in_a_path() -> None:
    assert check(path_asterisk_literal, route("one", rule(path("/api/.*", "RegularExpression"), path("/api")))) == []
    rules = rule(path("/api/*")), rule(path("/*")), rule(path("/a*")), rule(path("/*/b")), rule(path("/a/*", "Exact"))
    findings = check(path_asterisk_literal, route("one", *rules))
    assert [finding.fix.value if finding.fix else None for finding in findings] == ["/api", "/", None, None, None]
    assert findings[0].message == "the asterisk stands for itself: only paths with an asterisk are matched"
    assert findings[0].field == "spec.rules[0].matches[0].path.value"


@pytest.mark.parametrize(
    "world",
    [
        gateway() + route("one"),
        gateway() + route("one", kind="GRPCRoute"),
        gateway("{name: tcp, port: 9000, protocol: TCP}") + route("one", kind="TCPRoute"),
        # What it serves is up to the implementation, or to Gateways by default.
        gateway("{name: mesh, port: 15008, protocol: HBONE}"),
        gateway("{name: web, port: 80, protocol: HTTP, allowedRoutes: {kinds: [{group: example.io, kind: AppRoute}]}}"),
        gateway(HTTP, spec=", defaultScope: All"),
        # It is not served, or refuses what names it, as other rules say.
        gateway(HTTP) + route("one") + listener_set(HTTPS),
        gateway("{name: a, port: 80, protocol: HTTP}", "{name: b, port: 80, protocol: HTTP}"),
        listener_set(HTTP),
        gateway("{name: blog, port: 80, protocol: HTTP, hostname: blog.example.com}") + route("one"),
        # Another listener has all its requests.
        gateway(
            "{name: wide, port: 80, protocol: HTTP}",
            "{name: shop, port: 80, protocol: HTTP, hostname: shop.example.com}",
        )
        + route("one", parent="name: public, sectionName: wide")
        + route("two", parent="name: public, sectionName: shop"),
    ],
)
def test_listeners_that_have_routes(world: str) -> None:
    assert check(no_rule_for_listener_host, world) == []


def test_a_listener_without_routes() -> None:
    both = gateway("{name: blog, port: 80, protocol: HTTP, hostname: blog.example.com}", HTTPS)
    shop = route("shop", parent="name: public, sectionName: https")
    (finding,) = check(no_rule_for_listener_host, both, shop)
    assert said([finding]) == ("Gateway shop/public: no route is attached to it: requests for blog.example.com get 404")
    assert finding.field == "spec.listeners[0]"
    assert [finding.certain for finding in check(no_rule_for_listener_host, both, shop, complete=False)] == [False]
    (finding,) = check(no_rule_for_listener_host, gateway("{name: tcp, port: 9000, protocol: TCP}"))
    assert finding.message == "no route is attached to it: connections are closed"
    assert finding.severity is None
    for hosts, is_certain in (("blog.example.com", False), ("shop.example.com", True)):
        perhaps = route("blog", hosts=hosts, parent="name: public, sectionName: '${LISTENER}'")
        assert [finding.certain for finding in check(no_rule_for_listener_host, both, shop, perhaps)] == [is_certain]


def test_a_listener_that_its_controller_does_not_program_without_routes() -> None:
    owner = """
apiVersion: gateway.networking.k8s.io/v1
kind: GatewayClass
metadata: {name: public}
spec: {controllerName: kgateway.dev/kgateway}
"""
    tcp, http = "{name: tcp, port: 9000, protocol: TCP}", "{name: http, port: 80, protocol: HTTP}"
    findings = check(no_rule_for_listener_host, owner, gateway(tcp, http))
    assert [(finding.severity, finding.message) for finding in findings] == [
        (
            "warning",
            "no route is attached to it: connections are closed, and its controller reports the listener as invalid",
        ),
        (None, "no route is attached to it: requests get 404"),
    ]
