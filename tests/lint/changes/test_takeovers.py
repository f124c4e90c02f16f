"""Requests that another route gets after a change, and what protected them before."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

import pytest

from kubectl_policy.comparison import compare
from kubectl_policy.lint.lint_world import LintWorld
from kubectl_policy.lint.rules.changes import requests_taken_over
from kubectl_policy.lint.settings import LintSettings
from tests.lint.policy_manifests import CORS, JWT, gateway, policy, route
from tests.lint.rule_worlds import document, snapshot_of

if TYPE_CHECKING:
    from kubectl_policy.lint.finding import Finding

HOST: Final = "pay.example.com"
# The route whose requests are taken, and its token.
PAY: Final = route("pay", hostname=HOST)
TOKEN: Final = policy("SecurityPolicy", "HTTPRoute/pay", JWT)


def matching(matches: str, name: str = "new", hostname: str = HOST, namespace: str = "search") -> str:
    """A route with some matches."""
    return route(name, rule=f"matches: [{matches}]", hostname=hostname, namespace=namespace)


def taken(before: str, after: str) -> list[Finding]:
    """What a change makes of `before`; both have a Gateway with a listener."""
    states = (snapshot_of(gateway() + manifests, complete=True) for manifests in (before, after))
    comparison = compare(*states)
    return list(requests_taken_over.check(LintWorld(comparison.after, LintSettings(), lambda _: True, comparison)))


def told(findings: list[Finding]) -> list[tuple[str | None, str, str]]:
    return [(finding.severity, str(finding.subject), finding.message) for finding in findings]


@pytest.mark.parametrize(
    ("former", "match", "hostname", "expected"),
    [
        (PAY, "{path: {value: /v2}}", HOST, "PathPrefix /v2"),
        (PAY, "{path: {type: Exact, value: /v2/a}}", HOST, "Exact /v2/a"),
        (PAY, "{method: GET}", HOST, "GET PathPrefix /"),
        (PAY, "{headers: [{name: x, value: b}]}", HOST, "PathPrefix / with header x"),
        (PAY, "{queryParams: [{name: x, value: b}]}", HOST, "PathPrefix / with query parameter x"),
        # Of one that is for many hostnames, one of these.
        (route("pay", hostname="*.example.com"), "{path: {value: /}}", HOST, "PathPrefix /"),
        # The older one keeps what both ask for; it is the first by name without an age.
        (PAY.replace("name: pay,", "name: a,"), "{path: {value: /}}", HOST, ""),
        (PAY, "{path: {value: /v2}}", "search.example.com", ""),
        # What was served by nobody is nobody's.
        (matching("{path: {value: /v1}}", "pay"), "{path: {value: /v2}}", HOST, ""),
        (matching("{path: {value: /v1}}", "pay"), "{path: {value: /v1/a}}", HOST, "PathPrefix /v1/a"),
        # The former one wants more than these requests have.
        (matching("{headers: [{name: z, value: b}]}", "pay"), "{path: {value: /v2}}", HOST, ""),
        # Which of them comes first is up to the implementation.
        (matching("{path: {type: RegularExpression, value: /v.}}", "pay"), "{path: {value: /v2}}", HOST, ""),
        (PAY, "{path: {type: RegularExpression, value: /v.}}", HOST, ""),
    ],
)
def test_a_new_route_takes_what_is_more_specific(former: str, match: str, hostname: str, expected: str) -> None:
    """A namespace of its own makes it a warning."""
    former = former.replace("namespace: search", "namespace: shop")
    findings = taken(former, former + matching(match, hostname=hostname))
    message = f"gets requests of HTTPRoute shop/pay: {expected} for {HOST}"
    assert told(findings) == ([("warning", "HTTPRoute search/new", message)] if expected else [])


def test_what_protected_the_requests_is_lost() -> None:
    """That is an error, at the match, and not if the other route is protected as well."""
    (finding,) = taken(PAY + TOKEN, PAY + TOKEN + matching("{path: {value: /v2}}"))
    message = f"gets requests of HTTPRoute shop/pay: PathPrefix /v2 for {HOST}, without jwt of SecurityPolicy"
    assert told([finding]) == [("error", "HTTPRoute search/new", message)]
    assert finding.field == "spec.rules[0].matches[0]"
    assert [str(related.object) for related in finding.related] == ["HTTPRoute shop/pay"]
    beside = matching("{path: {value: /v2}}", namespace="shop")
    for settings, severity in ((JWT, "info"), (CORS, "error")):
        after = PAY + TOKEN + beside + policy("SecurityPolicy", "HTTPRoute/new", settings)
        assert [finding.severity for finding in taken(PAY + TOKEN, after)] == [severity]


def test_requests_that_are_given_up() -> None:
    """A change that moves them from one route to another intends it, unless protection is lost."""
    moved = PAY.replace("backendRefs", "matches: [{path: {value: /v1}}], backendRefs")
    assert taken(PAY, moved + matching("{path: {value: /v2}}")) == []
    (finding,) = taken(PAY + TOKEN, moved + TOKEN + matching("{path: {value: /v2}}"))
    assert finding.severity == "error"


def test_requests_of_a_deleted_route() -> None:
    """They go to one that is for more hostnames, without the token."""
    wide = route("wide", hostname="*.example.com")
    assert taken(PAY + wide, wide) == []
    (finding,) = taken(PAY + wide + TOKEN, wide)
    assert told([finding])[0][:2] == ("error", "HTTPRoute shop/wide")
    assert taken(wide, wide) == []
    assert taken(PAY + wide, PAY.replace("labels: {}", "labels: {a: b}") + wide) == []


GET: Final = "{service: shop.Cart, method: Get}"
GRPC: Final = "\n  parentRefs: [{name: public, namespace: infra}]\n  hostnames: [pay.example.com]\n  rules: [%s]"


@pytest.mark.parametrize(
    ("former", "method", "expected"),
    [
        ("{}", "{service: shop.Cart}", "gRPC method shop.Cart/"),
        (
            "{matches: [{method: {service: shop.Cart}}]}",
            "{service: shop.Cart, method: Get}",
            "gRPC method shop.Cart/Get",
        ),
        ("{matches: [{method: {method: Get}}]}", GET, "gRPC method shop.Cart/Get"),
        ("{matches: [{method: {service: shop.Cart}}]}", "{method: Get}", ""),
        ("{matches: [{method: {type: RegularExpression, service: shop.*}}]}", "{service: shop.Cart}", ""),
    ],
)
def test_methods_of_grpc(former: str, method: str, expected: str) -> None:
    old = document("GRPCRoute", "pay", GRPC % former)
    new = document("GRPCRoute", "new", GRPC % f"{{matches: [{{method: {method}}}]}}", namespace="search")
    message = f"gets requests of GRPCRoute shop/pay: {expected} for {HOST}"
    assert [finding.message for finding in taken(old, old + new)] == ([message] if expected else [])
