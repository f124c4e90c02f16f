"""Retries that multiply, and timeouts that contradict each other."""

from __future__ import annotations

from typing import Final

import pytest

from kubectl_policy.lint.rules.routes.retries import retry_amplification, timeout_inversion
from tests.lint.policy_manifests import check, gateway, policy, retrying, route, said, service

LABEL: Final = '"gateway.networking.k8s.io/gateway-name": inner'
# Requests of any host to the outer Gateway go on to the inner one.
SERVICES: Final = service("inner", "infra", LABEL) + service()
GATEWAYS: Final = gateway() + gateway("inner") + SERVICES


def outer(rule: str = "retry: {attempts: 3}", hostname: str = "*.example.com") -> str:
    """The route that leads to the inner Gateway."""
    return route("all", backend="inner", namespace="infra", hostname=hostname, rule=rule)


def inner(rule: str = "retry: {attempts: 4}", name: str = "cart") -> str:
    return route(name, gateway="inner", rule=rule)


@pytest.mark.parametrize(
    "manifests",
    [
        # One of the two does not retry, or does not say how often.
        [GATEWAYS, outer(""), inner()],
        [GATEWAYS, outer(), inner("")],
        [GATEWAYS, outer(), inner("retry: {codes: [503]}")],
        [GATEWAYS, outer(), inner("retry: {attempts: 0}")],
        # They have other hosts, paths or methods.
        [GATEWAYS, outer(hostname="www.example.org"), inner()],
        [
            GATEWAYS,
            outer("retry: {attempts: 3}, matches: [{path: {type: PathPrefix, value: /cart}}]"),
            inner("retry: {attempts: 4}, matches: [{path: {type: PathPrefix, value: /search}}]"),
        ],
        [
            GATEWAYS,
            outer("retry: {attempts: 3}, matches: [{method: GET}]"),
            inner("retry: {attempts: 4}, matches: [{method: POST}]"),
        ],
        # What is asked for at the next Gateway is something else.
        [GATEWAYS, outer("retry: {attempts: 3}, filters: [{type: URLRewrite, urlRewrite: {hostname: a.b}}]"), inner()],
        # It is a Service of something else, or of a Gateway that is not there.
        [gateway(), gateway("inner"), service("inner", "infra"), service(), outer(), inner()],
        [gateway(), gateway("other"), SERVICES, outer(), inner()],
        [gateway(), gateway("inner"), service("inner", "infra", LABEL.replace("inner", "[]")), outer(), inner()],
        # There is but one Gateway.
        [gateway("inner"), SERVICES, inner()],
        # The rule that retries leads elsewhere.
        [
            GATEWAYS,
            service("other", "infra"),
            outer("").replace(
                "rules: [", "rules: [{name: else, retry: {attempts: 3}, backendRefs: [{name: other, port: 80}]}, "
            ),
            inner(),
        ],
        # Only itself would be behind itself.
        [GATEWAYS, outer().replace("name: public", "name: inner")],
    ],
)
def test_requests_are_retried_once(manifests: list[str]) -> None:
    assert check(retry_amplification, *manifests) == []


def test_retries_multiply_behind_a_second_gateway() -> None:
    manifests = [
        GATEWAYS,
        outer(),
        inner(name="search"),
        inner("matches: [{path: {type: Exact, value: /cart}}]"),
        retrying("HTTPRoute/cart", 9),
    ]
    (finding,) = check(retry_amplification, *manifests, complete=False)
    assert said([finding]) == (
        "HTTPRoute infra/all: makes up to 4 tries of a request, and Gateway infra/inner behind Service infra/inner"
        " makes up to 10 of each by HTTPRoute shop/cart: 40 requests to the backend for one"
    )
    assert finding.field == "spec.rules[0]"
    assert [str(related.object) for related in finding.related] == ["HTTPRoute shop/cart", "Gateway infra/inner"]


def test_the_policies_of_gateways_multiply_as_well() -> None:
    selecting = service("inner", "infra").replace("spec: {", f"spec: {{selector: {{{LABEL}}}, ")
    anywhere = outer("").replace('hostnames: ["*.example.com"]', "hostnames: []")
    manifests = [
        gateway() + gateway("inner") + selecting + service(),
        anywhere,
        inner(""),
        retrying("Gateway/public", 1),
        retrying("Gateway/inner", 2),
    ]
    (finding,) = check(retry_amplification, *manifests)
    assert finding.message.endswith("6 requests to the backend for one")


SLOW: Final = "timeout: {http: {requestTimeout: 10s}}"
WORLD: Final = gateway() + service()


def timed(request: str = "", backend: str = "", attempts: int = 0) -> str:
    parts = [f"request: {request}"] * bool(request) + [f"backendRequest: {backend}"] * bool(backend)
    retry = f", retry: {{attempts: {attempts}}}" if attempts else ""
    return route(rule=f"timeouts: {{{', '.join(parts)}}}{retry}")


@pytest.mark.parametrize(
    "manifests",
    [
        [WORLD, timed("30s", "10s", 2)],
        [WORLD, timed("30s")],
        [WORLD, timed("", "10s", 2)],
        # No limit, and what nobody can read.
        [WORLD, timed("0s", "10s")],
        [WORLD, timed("5s", "0s")],
        [WORLD, timed("5s", '"${TIMEOUT}"')],
        [WORLD, timed("5s", "7")],
        # Without retries, Envoy Gateway takes it for the timeout of requests.
        [WORLD, timed("", "30s"), policy("BackendTrafficPolicy", "Gateway/public", SLOW)],
        # The policy sets something else, or what cannot be read.
        [WORLD, timed("", "30s", 1), retrying("Gateway/public", 3)],
        [WORLD, timed("", "30s", 1), policy("BackendTrafficPolicy", "Gateway/public", SLOW.replace("10s", "10"))],
        [WORLD, timed("", "30s", 1), policy("SecurityPolicy", "Gateway/public", "basicAuth: {}")],
        [WORLD, route().replace("rules: [", "rules: [7, ")],
    ],
)
def test_there_is_time_enough(manifests: list[str]) -> None:
    assert check(timeout_inversion, *manifests) == []


def test_a_try_may_not_take_longer_than_the_request() -> None:
    (finding,) = check(timeout_inversion, WORLD, timed("500ms", "1m1.5s"), complete=False)
    assert said([finding]) == ("HTTPRoute shop/cart: a try may take 1m1.5s, and requests end after 500ms")
    assert (finding.field, finding.severity, finding.related) == ("spec.rules[0].timeouts.backendRequest", None, ())


def test_tries_that_do_not_all_fit_are_an_info() -> None:
    (finding,) = check(timeout_inversion, WORLD, timed("1h", "30m", 3))
    assert said([finding]) == ("HTTPRoute shop/cart: 4 tries of 30m each may take 7200s, and requests end after 1h")
    assert finding.severity == "info"


def test_a_policy_may_give_requests_less_time() -> None:
    above = policy("BackendTrafficPolicy", "Gateway/public", SLOW)
    (finding,) = check(timeout_inversion, WORLD, timed("", "30s", 1), above)
    assert finding.message == "a try may take 30s, and requests end after 10s by BackendTrafficPolicy infra/public"
    assert [str(related.object) for related in finding.related] == ["BackendTrafficPolicy infra/public"]
