"""Gloo Gateway: of listener options one alone applies; of the others each option comes from the first that sets it."""

from __future__ import annotations

from typing import Final

import pytest

from kubectl_policy import analyze
from kubectl_policy.model import Json
from tests import build
from tests.implementations import added, annotated, edited, fixture_world, policy, settings, states

GROUP: Final = "gateway.solo.io"
LISTENERS: Final = f"ListenerOption.{GROUP}"
HTTP_LISTENERS: Final = f"HttpListenerOption.{GROUP}"
HOSTS: Final = f"VirtualHostOption.{GROUP}"
ROUTES: Final = f"RouteOption.{GROUP}"
HTTP: Final = "market > http"
HTTPS: Final = "market > https"
BOUQUETS: Final = "market > weddings > bouquets"
BASKET: Final = "market > https > orders > basket"
LISTS: Final = "market > https > orders > gifts > gifts > lists"
world: Final = fixture_world("gloo")


def test_a_listener_has_the_option_of_its_set_or_the_gateways() -> None:
    """The nearer one alone, whole; without it the Gateway's holds there as well."""
    alone = settings(analyze(world("ListenerOption weddings/photographs")), LISTENERS)
    house = {"perConnectionBufferLimitBytes": 32768}
    assert alone == {place: {"options": house} for place in (HTTP, HTTPS, BOUQUETS)}


def test_a_listener_of_the_gateway_has_its_own_option_before_the_gateways() -> None:
    """Whichever is older, and on no other listener."""
    own = policy(
        LISTENERS,
        "own",
        {"targetRefs": [build.target("market", section="https")], "options": {"a": 1}},
        namespace="platform",
        age=1,
    )
    in_force = settings(analyze(added(world(), own)), LISTENERS)
    assert (in_force[HTTPS], in_force[HTTP]) == (
        {"options": {"a": 1}},
        {"options": {"perConnectionBufferLimitBytes": 32768}},
    )


def test_of_two_http_listener_options_the_older_one_alone_is_used() -> None:
    """What the newer one sets beside it is lost as well; without the older one it is used."""
    in_force = settings(analyze(world("HttpListenerOption platform/idle")), HTTP_LISTENERS)
    assert in_force[HTTP] == {
        "options": {"httpConnectionManagerSettings": {"idleTimeout": "5s"}, "websocketOnly": True}
    }


def test_route_options_are_merged_with_the_older_one_first() -> None:
    """The newer one's timeout loses and its retries are added; a null of the older one is no value."""
    empty = edited(world(), "RouteOption orders/basket", options={"timeout": None})
    assert settings(analyze(empty), ROUTES)[BASKET]["options"] == {"timeout": "30s", "retries": {"numRetries": 1}}


def test_a_route_goes_before_the_one_that_it_delegates_to() -> None:
    """The one below fills what is left; without options above, its own hold."""
    alone = analyze(world("RouteOption orders/basket", "RouteOption orders/mothers-day"))
    assert settings(alone, ROUTES)[LISTS] == {"options": {"timeout": "90s", "prefixRewrite": "/"}}


@pytest.mark.parametrize(
    ("said", "timeout", "retries"),
    [
        ("*", "90s", 9),
        ("timeout", "90s", 1),
        (" prefixRewrite, TIMEOUT ", "90s", 1),
        ("retries,cors", "2s", 9),
        ("", "2s", 1),
        ("timeouts", "2s", 1),
        (7, "2s", 1),
    ],
)
def test_a_route_may_let_those_below_it_override_some_options(said: Json, timeout: str, retries: int) -> None:
    """Those that its annotation lists, whatever their case; or all."""
    annotation: Json = {"delegation.gateway.solo.io/enable-policy-overrides": said}
    below = edited(world(), "RouteOption weddings/gifts", options={"timeout": "90s", "retries": {"numRetries": 9}})
    analysis = analyze(annotated(below, "HTTPRoute orders/orders", annotation))
    assert settings(analysis, ROUTES)[LISTS] == {"options": {"timeout": timeout, "retries": {"numRetries": retries}}}


def test_an_option_in_another_namespace_is_never_found() -> None:
    grant = build.grant(
        namespace="orders",
        sources=[(GROUP, "RouteOption", "platform")],
        targets=[("gateway.networking.k8s.io", "HTTPRoute")],
    )
    analysis = analyze(added(world(), grant))
    assert [found.state for found in analysis.attachments[build.ref("RouteOption", "faults", "platform", GROUP)]] == [
        "not permitted"
    ]


def test_another_controllers_gateway_has_no_options() -> None:
    other = build.gateway_class("gloo-gateway", "example.com/other")
    analysis = analyze(added(world("GatewayClass gloo-gateway"), other))
    assert [settings(analysis, kind) for kind in (LISTENERS, HTTP_LISTENERS, HOSTS, ROUTES)] == [{}] * 4
    assert {state for state, _ in states(analysis).values()} == {"NoEffect", "NotPermitted"}
