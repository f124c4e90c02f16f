"""Redirects and rewrites: where they are not possible, where they lead, and where one is missing."""

from __future__ import annotations

from typing import Final

import pytest

from kubectl_policy.lint.rules.routes.redirects import (
    http_without_redirect,
    redirect_and_rewrite,
    redirect_loop,
    replaceprefix_needs_prefix,
)
from tests.lint.policy_manifests import check, said
from tests.lint.route_manifests import HTTP, HTTPS, gateway, path, route, rule

PREFIX: Final = "path: {type: ReplacePrefixMatch, replacePrefixMatch: VALUE}"
FULL: Final = "path: {type: ReplaceFullPath, replaceFullPath: VALUE}"
BOTH: Final = gateway(HTTP, HTTPS)


def redirect(*fields: str) -> str:
    return f"{{type: RequestRedirect, requestRedirect: {{{', '.join(fields)}}}}}"


def rewrite(*fields: str) -> str:
    return f"{{type: URLRewrite, urlRewrite: {{{', '.join(fields)}}}}}"


def prefix(value: str) -> str:
    return PREFIX.replace("VALUE", value)


def full(value: str) -> str:
    return FULL.replace("VALUE", value)


@pytest.mark.parametrize(
    "rules",
    [
        rule(path("/a"), filters=rewrite(prefix("/b"))),
        rule("{}", filters=redirect(prefix("/b"))),
        f"{{filters: [{rewrite(prefix('/b'))}]}}",
        rule(path("/a", "Exact"), path("/b", "Exact"), filters=rewrite(full("/b"))),
        rule(path("/a", "Exact"), filters=rewrite("path: {type: ReplacePrefixMatch}")),
        f"{{matches: [{path('/a')}], backendRefs: [{{name: a, port: 80, filters: [{rewrite(prefix('/b'))}]}}]}}",
        "{filters: x, backendRefs: [x, {filters: [x]}]}",
    ],
)
def test_prefixes_that_can_be_replaced(rules: str) -> None:
    assert check(replaceprefix_needs_prefix, route("one", rules)) == []


def test_prefixes_that_cannot_be_replaced() -> None:
    backend = f"backendRefs: [{{name: a, port: 80}}, {{name: b, port: 80, filters: [{rewrite(prefix('/b'))}]}}]"
    rules = (
        rule(path("/a", "Exact"), filters=rewrite(prefix("/b"))),
        rule(path("/a"), path("/b"), filters=redirect(prefix("/b"))),
        f"{{matches: [{path('/a.*', 'RegularExpression')}], {backend}}}",
    )
    findings = check(replaceprefix_needs_prefix, route("one", *rules), complete=False)
    assert [(finding.field, finding.message.rpartition("; ")[2]) for finding in findings] == [
        ("spec.rules[0].filters[0].urlRewrite.path", "it has Exact /a"),
        ("spec.rules[1].filters[0].requestRedirect.path", "it has 2"),
        ("spec.rules[2].backendRefs[1].filters[0].urlRewrite.path", "it has RegularExpression /a.*"),
    ]
    assert findings[0].reason == "IncompatibleFilters"


def test_redirects_and_rewrites() -> None:
    """Each is in order alone, and in rules of their own."""
    rules = rule(path("/a"), filters=redirect("port: 80")), rule(path("/b"), filters=rewrite("hostname: a.example"))
    assert check(redirect_and_rewrite, route("one", *rules), route("two", *reversed(rules))) == []
    both = f"{rewrite('hostname: a.example')}, {{type: RequestMirror}}, {redirect('port: 80')}"
    (finding,) = check(redirect_and_rewrite, route("one", rule(path("/a"), filters=both)))
    assert (finding.field, finding.reason) == ("spec.rules[0].filters[2]", "IncompatibleFilters")
    assert finding.message == "RequestRedirect and URLRewrite cannot be together"


def to(
    name: str, *fields: str, match: str = "{}", hosts: str = "shop.example.com", parent: str = "name: public"
) -> str:
    return route(name, rule(match, filters=redirect(*fields)), hosts=hosts, parent=parent)


@pytest.mark.parametrize(
    "world",
    [
        # Another listener, another port, another host.
        BOTH + to("a", "scheme: https", parent="name: public, sectionName: http"),
        gateway(HTTPS.replace("443", "8443")) + to("a", "scheme: https"),
        gateway() + to("a", "port: 8080"),
        gateway() + to("a", "hostname: www.example.com"),
        gateway() + to("a", "hostname: www.example.com", hosts=""),
        gateway() + to("a", "hostname: www.example.com") + route("b", hosts="www.example.com"),
        # The client does not ask for the same again.
        gateway() + to("a", match=path("/", more=", method: POST")),
        gateway() + to("a", match="{headers: [{name: x-forwarded-proto, value: http}]}"),
        gateway() + to("a", prefix("/b"), match=path("/a", more=", queryParams: [{name: a, value: b}]")),
        # Another path, which the rule does not take, or another rule takes before.
        gateway() + to("a", full("/b"), match=path("/a")),
        gateway() + to("a", prefix("/b"), match=path("/a")),
        gateway() + to("a", full("/a/"), match=path("/a", "Exact")),
        gateway() + to("a", "path: {type: ReplacePrefixMatch}"),
        gateway() + to("a", "path: {type: ReplaceRegex, pattern: a}"),
        gateway() + to("a", full("/login")) + route("b", rule(path("/login"))),
        gateway() + to("a", full("/login")) + route("b", rule(path("/login", "Exact"))),
        gateway() + to("a", full("/login")) + route("b", rule(path("/l.*", "RegularExpression"))),
        gateway() + to("a", full("/login")) + route("b", rule(path("/", more=", method: GET"))),
        # It is attached to nothing, or to the mesh, or it is not of a rule.
        to("a"),
        gateway() + to("a", parent="kind: Service, group: '', name: a"),
        gateway() + route("a", f"{{backendRefs: [{{name: a, port: 80, filters: [{redirect()}]}}]}}"),
    ],
)
def test_redirects_that_lead_elsewhere(world: str) -> None:
    assert check(redirect_loop, world) == []


def test_a_redirect_to_https_from_https() -> None:
    """As a route without a section is attached to both; what would put it right is said."""
    (finding,) = check(redirect_loop, BOTH, to("a", "scheme: https"), complete=False)
    assert said([finding]) == (
        "HTTPRoute shop/a: requests at listener https of Gateway shop/public are sent to the URL that they came "
        "from: clients are sent in a loop"
    )
    assert finding.field == "spec.rules[0].filters[0].requestRedirect"
    assert finding.related[0].field == "spec.listeners[1]"
    assert finding.fix is not None
    assert finding.fix.words == "attach the route to listener http of Gateway shop/public alone (sectionName)"


@pytest.mark.parametrize(
    "fields",
    [
        (),
        ("scheme: http",),
        ("port: 80", "hostname: Shop.example.com"),
        ("hostname: www.example.com",),
        (prefix("/a/"),),
    ],
)
def test_a_redirect_to_the_same_url(fields: tuple[str, ...]) -> None:
    world = gateway(), to("a", *fields, match=path("/a"), hosts="shop.example.com, www.example.com")
    (finding,) = check(redirect_loop, *world, complete=False)
    assert finding.certain
    assert finding.message.startswith("requests at listener http of Gateway shop/public are sent to the URL")
    assert finding.fix is None


def test_a_redirect_of_an_exact_path_to_itself() -> None:
    matches = f"{path('/b', 'Exact')}, {path('/a', 'Exact')}"
    (finding,) = check(redirect_loop, gateway(), to("a", full("/a"), match=matches))
    assert finding.message.endswith("are sent to the URL that they came from: clients are sent in a loop")


@pytest.mark.parametrize(
    ("fields", "match", "target"),
    [
        (full("/login"), "{}", "/login"),
        (full("/a/b"), path("/a"), "/a/b"),
        (prefix("/a/b"), path("/a"), "/a/b"),
        (prefix("/app"), "{}", "/app"),
    ],
)
def test_a_redirect_to_a_path_of_its_own_rule(fields: str, match: str, target: str) -> None:
    world = gateway(), to("a", fields, match=match), route("b", rule(path("/x", "Exact"), path("/y")))
    (finding,) = check(redirect_loop, *world)
    assert finding.certain
    assert finding.message == (
        f"requests at listener http of Gateway shop/public are sent to {target}, which this rule takes as well: "
        "clients are sent in a loop"
    )
    assert [finding.certain for finding in check(redirect_loop, *world, complete=False)] == [False]


MENU: Final = route("menu")


@pytest.mark.parametrize(
    "world",
    [
        gateway() + MENU,
        BOTH + route("menu", parent="name: public, sectionName: https"),
        # Of which some, or perhaps some, are redirected.
        BOTH + MENU + to("a", "scheme: https", parent="name: public, sectionName: http"),
        BOTH + route("menu", "{filters: [{type: ExtensionRef}]}"),
        # There is no HTTPS for them.
        gateway(HTTP, HTTPS.replace("tls:", "hostname: blog.example.com, tls:")) + MENU,
        gateway(HTTP, HTTPS) + route("menu", parent="name: public, sectionName: http"),
        gateway(HTTP) + gateway(HTTPS, name="other") + route("menu", parent="name: public}, {name: other"),
        # That it serves all that there is, another rule says.
        BOTH + route("menu", hosts=""),
        BOTH + route("solver", rule(path("/.well-known/acme-challenge/x", "Exact"))),
        BOTH + route("menu", kind="GRPCRoute"),
    ],
)
def test_hostnames_that_are_not_on_both(world: str) -> None:
    assert check(http_without_redirect, world) == []


def test_a_redirect_is_known_where_other_routes_are_not() -> None:
    redirected = to("a", "scheme: https", parent="name: public, sectionName: http")
    assert check(http_without_redirect, BOTH, MENU, redirected, complete=False) == []


def test_a_hostname_on_http_and_https() -> None:
    (finding,) = check(http_without_redirect, BOTH, MENU)
    assert said([finding]) == (
        "HTTPRoute shop/menu: requests for shop.example.com at listener http of Gateway shop/public are served on "
        "plain HTTP, without a redirect, although there is HTTPS for them"
    )
    assert finding.field == "spec.parentRefs[0]"
    assert [finding.certain for finding in check(http_without_redirect, BOTH, MENU, complete=False)] == [False]
    plain = route("menu", parent="name: public, port: 80", hosts="")
    secure = route("all", parent="name: public, sectionName: https", hosts="")
    (finding,) = check(http_without_redirect, BOTH, plain, secure)
    assert finding.message.startswith("requests for every host at listener http")
