"""A route with six policies of thirty fields: its description fits a screen, and says first what ends requests."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Final

from kubectl_policy import analyze
from kubectl_policy.questions.describe.objects import describe
from kubectl_policy.render.output.text import View
from tests import build
from tests.render.shown import shown

if TYPE_CHECKING:
    from kubectl_policy import Analysis
    from kubectl_policy.model import Json, Resource

ENVOY: Final = "gateway.envoyproxy.io"
ON_GATEWAY: Final = build.target("public")
ON_CART: Final = build.target("tickets", "HTTPRoute", "cart")


def policy(kind: str, name: str, target: dict[str, Json], **spec: Json) -> Resource:
    """A policy of a built-in kind."""
    return build.resource(kind, name, {"targetRefs": [target], **spec}, group=ENVOY, age=1)


def concert_hall() -> Analysis:
    """A route with two rules: policies on its Gateway and on itself, two of its own for the rule `cart`."""
    everybody: Json = [{"sourceCIDR": {"type": "Distinct", "value": "0.0.0.0/0"}}]
    limits: Json = [{"clientSelectors": everybody, "limit": {"requests": 600, "unit": "Minute"}}]
    providers: Json = [
        {
            "name": "guild",
            "issuer": "https://login.guild.example",
            "remoteJWKS": {"uri": "https://login.guild.example/keys"},
        }
    ]
    objects = (
        build.gateway_class("envoy", "gateway.envoyproxy.io/gatewayclass-controller"),
        build.gateway("public", build.listener("https", hostname="hall.example"), class_name="envoy"),
        build.route(
            "tickets",
            parents=[build.parent("public")],
            hostnames=["hall.example"],
            rules=[
                build.rule(build.backend("pages"), name="pages"),
                build.rule(build.backend("cart"), name="cart", timeouts={"request": "5s"}),
            ],
        ),
        build.service("pages"),
        build.service("cart"),
        policy(
            "BackendTrafficPolicy",
            "house",
            ON_GATEWAY,
            timeout={"http": {"requestTimeout": "15s", "maxStreamDuration": "1h"}, "tcp": {"connectTimeout": "3s"}},
            retry={
                "numRetries": 2,
                "perRetry": {"timeout": "2s", "backOff": {"baseInterval": "100ms", "maxInterval": "1s"}},
                "retryOn": {"triggers": ["connect-failure"], "httpStatusCodes": [502, 503]},
            },
            rateLimit={"type": "Global", "global": {"rules": limits}},
            circuitBreaker={"maxConnections": 2048, "maxPendingRequests": 512, "maxParallelRequests": 99},
        ),
        policy(
            "BackendTrafficPolicy",
            "cart",
            ON_CART,
            mergeType="StrategicMerge",
            rateLimit={"type": "Local", "local": {"rules": [{"limit": {"requests": 10, "unit": "Second"}}]}},
        ),
        policy(
            "SecurityPolicy",
            "members",
            ON_GATEWAY,
            jwt={"providers": providers},
            cors={"allowOrigins": ["https://hall.example"], "allowMethods": ["GET", "POST"], "maxAge": "1h"},
        ),
        policy(
            "SecurityPolicy",
            "guests",
            build.target("tickets", "HTTPRoute", "pages"),
            cors={"allowOrigins": ["https://guests.example"]},
        ),
        policy(
            "ClientTrafficPolicy",
            "clients",
            ON_GATEWAY,
            timeout={"http": {"requestReceivedTimeout": "10s", "idleTimeout": "5m"}},
            clientIPDetection={"xForwardedFor": {"numTrustedHops": 2}},
            tls={"minVersion": "1.2", "maxVersion": "1.3"},
        ),
        policy(
            "EnvoyExtensionPolicy",
            "footer",
            build.target("tickets", "HTTPRoute"),
            lua=[{"type": "Inline", "inline": "function envoy_on_response(handle) end"}],
        ),
    )
    return analyze(build.snapshot(*objects, complete=True))


TERMINAL: Final = View(100, terminal=True)
ANSWER: Final = describe(concert_hall(), build.node("HTTPRoute", "tickets"))


def test_the_world_is_as_large_as_is_said() -> None:
    """Six policies, and thirty fields that they set or that others beat."""
    fields = {
        (str(source.object), field)
        for group in ANSWER.in_force
        for setting in group.settings
        for source, field in ((setting.source, setting.field), *((fate.source, fate.field) for fate in setting.beaten))
    }
    assert len(ANSWER.policies) == 6
    assert len(fields) >= 30


def test_it_fits_a_screen() -> None:
    """Fifty lines at a hundred columns, and what to ask next; no policy has two headings."""
    lines = shown(ANSWER, "tree", TERMINAL).splitlines()
    assert lines.index("Next") - 1 <= 50
    assert max(map(len, lines)) <= 100
    for heading in ("default/house → Gateway default/public", "default/cart → rule cart"):
        assert sum(line.startswith(f"BackendTrafficPolicy {heading}  ") for line in lines) == 1


def test_piped_every_field_has_a_row() -> None:
    """Nothing is shortened there, nor with `--show-all`."""
    piped, everything = (shown(ANSWER, "tree", view) for view in (View(100), replace(TERMINAL, everything=True)))
    assert "  circuitBreaker.maxPendingRequests           512\n" in piped
    assert everything.startswith(piped)
    assert "circuitBreaker         " in shown(ANSWER, "tree", TERMINAL)


def test_the_first_ten_lines_say_what_ends_requests() -> None:
    """Why a request gets a 401, a 429 or no answer in time: what asks for it, in short, and from whom."""
    lines = shown(ANSWER, "tree", TERMINAL).splitlines()[:10]
    first = " ".join(" ".join(lines).split())
    assert "rule cart ▸ Service default/cart:8080 SecurityPolicy JWT from guild, CORS" in first
    assert "default/members → Gateway default/public" in first
    assert "BackendTrafficPolicy 10 requests/s, 5s timeout" in first
    assert "default/cart → rule cart, merged with default/house → Gateway default/public, and the route itself" in first
    assert "rule pages ▸ Service default/pages:8080 SecurityPolicy CORS" in first
    assert "default/guests → rule pages, replaces default/members" in first


def test_a_long_value_shows_its_beginning_at_a_terminal() -> None:
    """By the names of what it lists; anywhere else all of it is there."""
    cut, whole = (shown(ANSWER, "tree", view) for view in (TERMINAL, View(100)))
    assert "jwt.providers       [guild] issuer https://login.guild.example …" in cut
    assert '"remoteJWKS": {"uri": "https://login.guild.example/keys"}' in whole
    assert "remoteJWKS" not in cut
