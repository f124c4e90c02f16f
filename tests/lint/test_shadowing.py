"""Matches that are the same, within a route and at a listener, and those that others may keep requests from."""

from __future__ import annotations

from typing import Final

import pytest

from kubectl_policy import analyze
from kubectl_policy.lint.lint_world import LintWorld
from kubectl_policy.lint.rules.routes.shadowing import (
    catch_all_shadowed_by_host,
    literal_start,
    match_duplicate,
    match_duplicate_in_route,
    regex_precedence_undefined,
    rule_unreachable,
)
from kubectl_policy.lint.settings import LintSettings
from tests.lint.policy_manifests import check, said
from tests.lint.route_manifests import HTTP, gateway, listener_set, path, route, rule
from tests.lint.rule_worlds import document, snapshot_of

OLD, NEW = "2024-01-01T00:00:00Z", "2024-01-02T00:00:00Z"
CART: Final = rule(path("/cart"))
ALL: Final = path("/")
REGULAR: Final = "RegularExpression"


def listener(name: str, hostname: str = "", more: str = "") -> str:
    """A listener for HTTP on port 80."""
    return f'{{name: {name}, port: 80, protocol: HTTP, hostname: "{hostname}"{more}}}'


ONE: Final = gateway() + route("one", CART)


@pytest.mark.parametrize(
    "other",
    [
        route("other", rule(path("/carts"))),
        route("other", rule(path("/Cart"))),
        route("other", rule(path("/cart", "Exact"))),
        route("other", rule(path("/cart", REGULAR))),
        route("other", rule(path("/cart", more=", method: GET"))),
        route("other", rule(path("/cart", more=", headers: [{name: x, value: v}]"))),
        route("other", rule(path("/cart", more=", queryParams: [{name: x, value: v}]"))),
        route("other", CART, hosts="blog.example.com"),
        # A hostname comes before one that is wider.
        route("other", CART, hosts='"*.example.com"'),
        route("other", CART, hosts=""),
        # It is attached elsewhere, or nowhere.
        route("other", CART, parent="name: public, sectionName: https"),
        route("other", CART, parent="name: public, namespace: infra"),
        route("other", CART, parent="kind: Service, group: '', name: cart"),
        # Routes of gRPC are not merged with those of HTTP.
        route("other", "{}", kind="GRPCRoute") + route("third", "{}"),
        # What is not understood is not compared.
        route("other", "{matches: [{path: {type: Glob, value: /cart}}, {path: /cart}, /cart]}", "cart", "{matches: x}"),
        route("other", "{matches: [{path: {value: /cart}, headers: x}]}"),
        route("other", "{matches: [{path: {value: /cart}, scheme: https}, {path: {value: /cart, ignoreCase: true}}]}"),
        route("other", "{matches: [{path: {value: /cart}, cookies: []}]}"),
        route("other", "{matches: [{path: {value: /cart}, headers: [{name: x}]}, {method: 1}]}"),
    ],
)
def test_routes_that_do_not_match_the_same(other: str) -> None:
    assert check(match_duplicate, ONE, other) == []
    assert check(rule_unreachable, ONE, other) == []


def test_hostnames_that_are_ignored() -> None:
    only = gateway(listener("http", "*.example.com"))
    hosts = "example.net, shop.example.com, Shop.example.com"
    findings = check(match_duplicate, only, *[route(name, CART, hosts=hosts) for name in ("a", "b")])
    assert [finding.message.partition(", for ")[2].partition(" at ")[0] for finding in findings] == ["shop.example.com"]


PORTS: Final = document("Service", "cart", "{ports: [{name: web, port: 80}, {name: admin, port: 81}]}", version="v1")


def at_service(name: str, more: str = "", *, home: str = "shop", hosts: str = "", created: str = OLD) -> str:
    """A route with the rule for the cart at Service shop/cart, in a namespace of its own."""
    parent = f"kind: Service, group: '', name: cart, namespace: shop{more}"
    written = route(name, CART, parent=parent, hosts=hosts, creationTimestamp=created)
    return written.replace(f"name: {name}, namespace: shop", f"name: {name}, namespace: {home}")


@pytest.mark.parametrize(
    ("newer", "where"),
    [
        (at_service("b", created=NEW), "at Service shop/cart; that route is older, so that it gets these requests"),
        (at_service("b", ", port: 80", created=NEW), "at port web of Service shop/cart; that route is older"),
        (at_service("b", ", sectionName: admin", created=NEW), "at port admin of Service shop/cart; that route is"),
        (at_service("b"), "at Service shop/cart; that route is as old, and comes first by name"),
        (at_service("b", hosts="cart.example.com"), ""),
        (at_service("b", home="tea"), ""),
    ],
)
def test_routes_at_one_service(newer: str, where: str) -> None:
    """A route of another namespace than the Service takes the requests of its own namespace alone."""
    messages = [finding.message for finding in check(match_duplicate, PORTS, at_service("a"), newer)]
    assert [message.partition("PathPrefix /cart, ")[2][: len(where)] for message in messages] == [where] * bool(where)


def test_routes_for_the_requests_of_one_namespace() -> None:
    hosts = "cart.example.com"
    both = at_service("a", home="tea", hosts=hosts), at_service("b", home="tea", hosts=hosts)
    (finding,) = check(match_duplicate, PORTS, *both)
    assert "for cart.example.com at Service shop/cart for requests from namespace tea; that" in finding.message


def test_routes_at_a_service_that_was_not_read() -> None:
    both = at_service("a"), at_service("b", created=NEW), at_service("c", home="tea", created=NEW)
    (finding,) = check(match_duplicate, *both, complete=False)
    assert (str(finding.subject), finding.certain) == ("HTTPRoute shop/b", False)
    assert finding.message.endswith(
        "and both routes may be attached to one Service; that route is older, so that it gets these requests"
    )


def test_a_route_is_not_compared_with_itself() -> None:
    """Neither where two of its parentRefs may mean one listener, nor with a template that may be the same route."""
    twice = route("one", CART, parent="name: public, sectionName: http}, {name: public, sectionName: '${LISTENER}'")
    assert check(match_duplicate, gateway(), twice, complete=False) == []
    (finding,) = check(match_duplicate, ONE, route("'${NAME}'", CART), complete=False)
    assert (finding.certain, finding.message.rpartition(", ")[2]) == (False, "unless the two are one route")
    (finding,) = check(match_duplicate, ONE, route("'two-${NAME}'", CART), complete=False)
    assert finding.certain


def test_which_route_was_created_first_need_not_be_known() -> None:
    (finding,) = check(match_duplicate, ONE, route("a", CART), complete=False)
    assert finding.message == (
        "rule[0] of HTTPRoute shop/a matches the same, PathPrefix /cart, for shop.example.com at listener http of "
        "Gateway shop/public; only the route that was created first gets these requests"
    )
    assert (str(finding.subject), finding.field) == ("HTTPRoute shop/one", "spec.rules[0].matches[0]")
    assert [(str(related.object), related.field) for related in finding.related] == [
        ("HTTPRoute shop/a", "spec.rules[0].matches[0]")
    ]


def test_it_is_said_of_what_is_linted() -> None:
    analysis = analyze(snapshot_of(ONE + route("a", CART)))
    world = LintWorld(analysis, LintSettings(), lambda resource: resource.ref.name != "one")
    (finding,) = match_duplicate.check(world)
    assert str(finding.subject) == "HTTPRoute shop/a"
    assert finding.message.startswith("rule[0] of HTTPRoute shop/one matches the same")


def test_the_older_route_has_the_requests() -> None:
    others = route("a", CART, creationTimestamp=NEW), route("z", CART, creationTimestamp=OLD)
    assert said(check(match_duplicate, gateway(), *others)) == (
        "HTTPRoute shop/a: rule[0] of HTTPRoute shop/z matches the same, PathPrefix /cart, for shop.example.com at "
        "listener http of Gateway shop/public; that route is older, so that no request reaches this rule"
    )
    others = route("a", CART, creationTimestamp=OLD), route("z", CART, creationTimestamp=OLD)
    (finding,) = check(match_duplicate, gateway(), *others)
    assert finding.message.endswith(
        "that route is as old, and comes first by name, so that no request reaches this rule"
    )


def test_a_rule_may_lose_a_part_of_its_requests() -> None:
    first = route("a", rule(path("/a"), path("/b", more=", method: GET"), path("/x")), creationTimestamp=OLD)
    both = "shop.example.com, blog.example.com"
    same = path("/a"), path("/b/", more=", method: GET"), path("/x"), path("/c")
    findings = check(match_duplicate, gateway(), first, route("b", rule(*same), creationTimestamp=NEW, hosts=both))
    assert [finding.message for finding in findings] == [
        (
            "rule[0] of HTTPRoute shop/a matches the same, PathPrefix /a, PathPrefix /x, for shop.example.com at "
            "listener http of Gateway shop/public; that route is older, so that it gets these requests"
        ),
        # Of `/b` and `/b/`, which are the same, the longer one may come first.
        (
            "rule[0] of HTTPRoute shop/a matches the same, GET PathPrefix /b, for shop.example.com at "
            "listener http of Gateway shop/public; that route is older, but its path lacks the slash at the end, "
            "which may count for less"
        ),
    ]


def test_a_hostname_that_a_route_does_not_name_may_count_for_less() -> None:
    """So the older one comes first if it names the hostname itself."""
    only = gateway(listener("http", "shop.example.com"))
    others = route("a", CART, creationTimestamp=OLD), route("b", CART, hosts="", creationTimestamp=NEW)
    (finding,) = check(match_duplicate, only, *others)
    assert finding.message.endswith("that route is older, so that no request reaches this rule")
    others = route("a", CART, hosts="", creationTimestamp=OLD), route("b", CART, creationTimestamp=NEW)
    (finding,) = check(match_duplicate, only, *others)
    assert finding.message.endswith(
        "that route is older, but has the hostname from its listener alone, which may count for less"
    )
    analysis = analyze(snapshot_of("".join([only, *others])))
    world = LintWorld(analysis, LintSettings(), lambda resource: resource.ref.name != "b")
    (finding,) = match_duplicate.check(world)
    assert (str(finding.subject), "; this route is older, but has" in finding.message) == ("HTTPRoute shop/a", True)


def test_routes_of_grpc_are_compared_as_well() -> None:
    match = "{matches: [{method: {service: shop.Cart, method: Get}, headers: [{name: X, value: v}]}]}"
    same = "{matches: [{headers: [{name: x, value: v}], method: {type: Exact, method: Get, service: shop.Cart}}]}"
    other = "{matches: [{method: {service: shop.Cart}}, {method: {service: 1}}, {method: x}, {headers: x}]}"
    routes = [route(name, rules, kind="GRPCRoute") for name, rules in (("a", match), ("b", same), ("c", other))]
    (finding,) = check(match_duplicate, gateway(), *routes)
    assert "gRPC method shop.Cart/Get with header x, for shop.example.com" in finding.message
    every = [route(name, kind="GRPCRoute") for name in ("a", "b")] + [
        route("c", "{matches: [{headers: []}]}", kind="GRPCRoute")
    ]
    assert len(check(match_duplicate, gateway(), *every)) == 2
    unheard = (
        "{matches: [{method: {service: shop.Cart, version: 1}}, {protocol: 1}, {headers: [{name: x, invert: 1}]}]}"
    )
    assert check(match_duplicate, gateway(), *[route(name, unheard, kind="GRPCRoute") for name in ("a", "b")]) == []


def test_routes_at_a_gateway_that_was_not_read() -> None:
    routes = [route(name, CART) for name in ("a", "b")]
    (finding,) = check(match_duplicate, *routes, complete=False)
    assert not finding.certain
    assert finding.message == (
        "rule[0] of HTTPRoute shop/a matches the same, PathPrefix /cart, and both routes may be attached to one "
        "listener"
    )
    apart = [route("a", CART, parent="name: public, port: 80"), route("b", CART, parent="name: public, port: 81")]
    assert check(match_duplicate, *apart, complete=False) == []


def test_a_listener_that_may_take_a_route() -> None:
    by_label = ", allowedRoutes: {namespaces: {from: Selector, selector: {matchLabels: {tier: web}}}}"
    both = gateway(HTTP, "{name: web, port: 81, protocol: HTTP, hostname: '*.example.com'" + by_label + "}")
    routes = [route(name, CART, hosts="shop.example.com, example.net") for name in ("a", "b")]
    findings = check(match_duplicate, both, *routes, complete=False)
    assert [finding.certain for finding in findings] == [True, False]
    labelled = "---\napiVersion: v1\nkind: Namespace\nmetadata: {name: shop, labels: {tier: web}}\n"
    stranger = route("c", CART, parent="name: public, namespace: shop").replace(
        "namespace: shop}", "namespace: tea}", 1
    )
    world = gateway(listener("web", more=by_label)) + labelled + stranger
    findings = check(match_duplicate, world, route("a", CART), route("b", CART), complete=False)
    assert [(finding.subject.name, finding.certain) for finding in findings if finding.subject] == [
        ("b", True),
        ("c", False),
    ]


@pytest.mark.parametrize(
    "rules",
    [
        (rule(path("/a")), rule(path("/b"))),
        (rule(path("/a")), rule(path("/a", more=", method: GET"))),
        (rule("{headers: [{name: x, value: a}]}"), rule("{headers: [{name: x, value: b}]}")),
        (rule("{queryParams: [{name: x, value: a}]}"), rule("{queryParams: [{name: X, value: a}]}")),
    ],
)
def test_a_route_that_repeats_nothing(rules: tuple[str, ...]) -> None:
    assert check(match_duplicate_in_route, route("one", *rules)) == []


def test_a_match_that_an_earlier_rule_has() -> None:
    same = "{headers: [{name: X-User, value: a}]}", "{path: {type: PathPrefix}, headers: [{name: x-user, value: a}]}"
    (finding,) = check(match_duplicate_in_route, route("one", rule(same[0], name="users"), rule(same[1])))
    assert said([finding]) == (
        "HTTPRoute shop/one: rule users has the same match, PathPrefix / with header x-user, and comes first, "
        "so that no request reaches this rule"
    )
    assert finding.field == "spec.rules[1].matches[0]"
    assert finding.related[0].field == "spec.rules[0].matches[0]"
    assert check(rule_unreachable, route("one", rule(same[0]), rule(same[1]))) == []
    (finding,) = check(match_duplicate_in_route, route("one", CART, rule(path("/cart"), path("/b"))))
    assert (
        finding.message
        == "rule[0] has the same match, PathPrefix /cart, and comes first, so that it gets these requests"
    )
    (finding,) = check(match_duplicate_in_route, route("one", "{}", rule(ALL)))
    assert finding.related[0].field == "spec.rules[0]"


def test_a_match_that_its_own_rule_has() -> None:
    (finding,) = check(match_duplicate_in_route, route("one", rule(path("/a"), path("/b"), path("/a/"))))
    assert finding.message == "matches[0] of the rule is the same, PathPrefix /a"
    assert check(rule_unreachable, route("one", rule(path("/a"), path("/a/")))) == []


def test_a_slash_may_count_when_paths_are_compared() -> None:
    (finding,) = check(match_duplicate_in_route, route("one", CART, rule(path("/cart/"))))
    assert finding.message == (
        "rule[0] has the same match, PathPrefix /cart, except for a slash at the end, which does not count; "
        "which of the two gets these requests is undefined"
    )


def test_a_rule_that_loses_all_its_matches() -> None:
    world = gateway() + route("old", rule(path("/b")), creationTimestamp=OLD)
    rules = CART, rule(path("/cart"), path("/b"), path("/cart"), name="late")
    world += route("new", *rules, creationTimestamp=NEW)
    (finding,) = check(rule_unreachable, world, complete=False)
    assert said([finding]) == (
        "HTTPRoute shop/new: no request reaches it: rule[0] comes first for PathPrefix /cart, "
        "rule[0] of HTTPRoute shop/old comes first for PathPrefix /b"
    )
    assert finding.field == "spec.rules[1]"
    assert [(related.object.name, related.field) for related in finding.related] == [
        ("new", "spec.rules[0].matches[0]"),
        ("old", "spec.rules[0].matches[0]"),
    ]
    assert check(match_duplicate, world) == check(match_duplicate_in_route, world) == []


@pytest.mark.parametrize(
    "new",
    [
        # It has requests at another place, or may have, or what it matches besides is not understood.
        route("new", rule(path("/a"), path("/b")), hosts="shop.example.com, b.example.com", creationTimestamp=NEW),
        route("new", rule(path("/a"), path("/b")), parent="name: public}, {name: other", creationTimestamp=NEW),
        route(
            "new",
            rule(path("/a"), path("/b")),
            parent="name: public}, {kind: Service, group: '', name: s",
            creationTimestamp=NEW,
        ),
        route("new", rule(path("/a"), path("/b"), "{path: x}"), creationTimestamp=NEW),
        route("new", rule(path("/a"), path("/b")), creationTimestamp=OLD),
        route("new", rule(path("/a"), path("/b"))),
    ],
)
def test_a_rule_that_may_have_requests(new: str) -> None:
    world = gateway() + route("old", rule(path("/a"), path("/b")), creationTimestamp=OLD) + new
    names = [str(finding.subject) for finding in check(rule_unreachable, world, complete=False)]
    assert "HTTPRoute shop/new" not in names


ISOLATED: Final = document(
    "GatewayClass",
    "public",
    "{controllerName: example.io/controller}",
    namespace="",
    rest="status: {supportedFeatures: [{name: Gateway}, {name: GatewayHTTPListenerIsolation}, 1]}\n",
)
SPLIT: Final = gateway(listener("wide", "*.example.com"), listener("shop", "shop.example.com"))


def test_requests_that_a_more_specific_listener_has() -> None:
    """Whether it has them is certain only if the implementation says so."""
    wide = route("shop", parent="name: public, sectionName: wide")
    (finding,) = check(rule_unreachable, ISOLATED, SPLIT, wide)
    assert said([finding]) == (
        "HTTPRoute shop/shop: no request reaches it: those for shop.example.com go to listener shop of "
        "Gateway shop/public, to which it is not attached"
    )
    assert [finding.certain for finding in check(rule_unreachable, SPLIT, wide)] == [False]
    assert check(rule_unreachable, ISOLATED, SPLIT, route("shop")) == []
    default = wide.replace("parentRefs:", "useDefaultGateways: All, parentRefs:")
    assert check(rule_unreachable, ISOLATED, SPLIT, default) == []
    some = route("shop", parent="name: public, sectionName: wide", hosts="shop.example.com, blog.example.com")
    assert check(rule_unreachable, ISOLATED, SPLIT, some) == []


DELEGATING: Final = (
    gateway()
    + route(
        "parent",
        "{matches: [{path: {value: /a}}], "
        "backendRefs: [{group: gateway.networking.k8s.io, kind: HTTPRoute, name: child}]}",
    )
    + route("child", rule(path("/a/x")), rule(path("/b")), parent="", hosts="").replace(
        "parentRefs: [{}], hostnames: [], ", ""
    )
)


def test_rules_to_which_no_other_route_delegates() -> None:
    (finding,) = check(rule_unreachable, DELEGATING)
    assert (str(finding.subject), finding.field) == ("HTTPRoute shop/child", "spec.rules[1]")
    assert finding.message == (
        "no request reaches it: its matches lie outside those of the rules that delegate to the route"
    )
    assert [finding.certain for finding in check(rule_unreachable, DELEGATING, complete=False)] == [False]
    assert check(match_duplicate, DELEGATING) == []
    naming = DELEGATING.replace("spec: {rules:", "spec: {parentRefs: [{kind: HTTPRoute, name: parent}], rules:")
    assert check(match_duplicate, naming) == []


@pytest.mark.parametrize(
    ("expression", "start"),
    [
        ("/users/[0-9]+", "/users/"),
        ("^/a/b$", "/a/b"),
        ("/ab*", "/a"),
        ("/ab?c", "/a"),
        ("/ab{2}", "/a"),
        ("/ab+", "/ab"),
        ("/plain", "/plain"),
        ("/a|/b", ""),
        (".*", ""),
        ("", ""),
        ("*", ""),
    ],
)
def test_how_what_an_expression_matches_begins(expression: str, start: str) -> None:
    assert literal_start(expression) == start


USERS: Final = rule(path("/users/[0-9]+", REGULAR), name="users")


@pytest.mark.parametrize(
    "rules",
    [
        (USERS, rule(path("/user"))),
        (USERS, rule(path("/users/me", "Exact"))),
        (rule(path("/users/[0-9]+", REGULAR), ALL),),
        (rule(path("/u.*", REGULAR, ", method: GET")), rule(path("/", more=", method: POST"))),
        (
            rule(path("/u.*", REGULAR, ", headers: [{name: x, value: a}]")),
            rule(path("/", more=", headers: [{name: X, value: b}]")),
        ),
        (
            rule(path("/u.*", REGULAR, ", queryParams: [{name: x, value: a}]")),
            rule(path("/", more=", queryParams: [{name: x, value: b}]")),
        ),
    ],
)
def test_expressions_that_have_no_rival(rules: tuple[str, ...]) -> None:
    """No other rule has a prefix for the same requests, as far as is known."""
    assert check(regex_precedence_undefined, gateway(), route("users", *rules)) == []


def test_an_expression_and_a_prefix() -> None:
    """The longest prefix is named, also that of another route; and once, however many listeners there are."""
    two = gateway(HTTP, "{name: other, port: 81, protocol: HTTP}")
    rules = USERS, rule(ALL), rule(path("/users", more=", headers: [{name: x, type: RegularExpression, value: a}]"))
    (finding,) = check(regex_precedence_undefined, two, route("users", *rules))
    assert said([finding]) == (
        "HTTPRoute shop/users: rule[2] has PathPrefix /users with header x for some of the same requests, for "
        "shop.example.com at listener http of Gateway shop/public; which of the two comes first is up to the "
        "implementation"
    )
    more = rule(path("/teas/[0-9]+", REGULAR), path("/users/[0-9]+", REGULAR))
    assert len(check(regex_precedence_undefined, gateway(), route("users", more, rule(ALL)))) == 2
    (finding,) = check(regex_precedence_undefined, gateway(), route("users", USERS), route("shop", rule(ALL)))
    assert "rule[0] of HTTPRoute shop/shop has PathPrefix /" in finding.message


FALLBACK: Final = route("fallback", rule(ALL), hosts="")


@pytest.mark.parametrize(
    "others",
    [
        route("shop", CART),
        FALLBACK + route("shop", CART, rule(ALL)),
        FALLBACK + route("shop", CART) + route("more", rule(path("/.*", REGULAR))),
        FALLBACK + route("shop", CART, hosts=""),
        FALLBACK + route("shop", "{matches: [{method: {service: a}}]}", kind="GRPCRoute"),
        route("fallback", rule(path("/", more=", method: GET")), hosts="") + route("shop", CART),
        route("fallback", rule(ALL), hosts='"*.example.net"') + route("shop", CART),
        route("fallback", rule(ALL), hosts="example.com") + route("shop", CART),
    ],
)
def test_hostnames_that_no_catch_all_is_for(others: str) -> None:
    assert check(catch_all_shadowed_by_host, gateway(), others) == []


def test_a_catch_all_for_more_hosts() -> None:
    two = gateway(HTTP, "{name: other, port: 81, protocol: HTTP}")
    shops = route("shop", CART) + route("tea", rule(path("/tea")), hosts="tea.example.com, shop.example.com")
    findings = check(catch_all_shadowed_by_host, two, FALLBACK, shops)
    assert [(str(finding.subject), finding.field) for finding in findings] == [
        ("HTTPRoute shop/shop", "spec.hostnames[0]"),
        ("HTTPRoute shop/tea", "spec.hostnames[0]"),
    ]
    assert findings[0].message == (
        "no route for shop.example.com at listener http of Gateway shop/public takes every path; for other paths some "
        "implementations answer 404, although HTTPRoute shop/fallback takes every path for every host"
    )


def test_a_hostname_that_only_the_listener_names() -> None:
    wide = gateway(listener("wide", "*.example.com"), spec=", allowedListeners: {namespaces: {from: Same}}")
    more = listener_set(listener("shop", "shop.example.com").replace("80", "81"))
    fallback = route("fallback", rule(ALL), hosts='"*.example.com"')
    shop = route("shop", CART, hosts='"*.shop.example.com", "*.com"')
    (finding,) = check(catch_all_shadowed_by_host, wide, more, fallback, shop)
    assert finding.field == "spec.hostnames[0]"
    named = route("named", CART, hosts='"*.com"', parent="kind: ListenerSet, name: more")
    every = route("every", CART, hosts="", parent="kind: ListenerSet, name: more")
    assert check(catch_all_shadowed_by_host, wide, more, named, every) == []
