"""kgateway: on one target the heavier or older policy keeps what it sets; listeners, routes and rules are scopes."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

import pytest
from msgspec.structs import replace

from kubectl_policy import NodeRef, analyze
from kubectl_policy.questions.describe.policies import describe_policy
from kubectl_policy.topology.gateway.gateways import Implementation
from tests import build
from tests.implementations import (
    added,
    annotated,
    edited,
    fixture_world,
    policy,
    policy_ref,
    reported,
    settings,
    sources,
    spec_at,
    states,
)

if TYPE_CHECKING:
    from kubectl_policy import Resource, Snapshot
    from kubectl_policy.model import Json
    from tests.implementations import Condition

GROUP: Final = "gateway.kgateway.dev"
TRAFFIC: Final = f"TrafficPolicy.{GROUP}"
LISTENERS: Final = f"ListenerPolicy.{GROUP}"
SEARCH: Final = "harbour > https > tickets > search"
PAY: Final = "harbour > https > tickets > pay"
LOST: Final = "harbour > https > tickets > lost-property"
TODAY: Final = "harbour > http > timetable > today"
BEACHES: Final = "harbour > https > site > islands > north > beaches"
PLAIN_BEACHES: Final = "harbour > http > site > islands > north > beaches"
TICKETS: Final = build.node("Service", "tickets", namespace="sailings", group="")
BANK: Final = build.node("Backend", "bank", namespace="sailings", group=GROUP)
TIMETABLE: Final = build.node("HTTPRoute", "timetable", namespace="sailings")
HARBOUR: Final = build.node("Gateway", "harbour", namespace="platform")
LINE: Final[Json] = {"response": {"set": [{"name": "x-line", "value": "blue"}]}}
PLAIN: Final[Json] = {"response": {"set": [{"name": "x-plain", "value": "yes"}]}}
BUCKET: Final[Json] = {"local": {"tokenBucket": {"maxTokens": 500, "tokensPerFill": 100, "fillInterval": "1s"}}}
RETRIES: Final[Json] = {"attempts": 2, "retryOn": ["5xx"]}
PURSER: Final[Json] = {"extensionRef": {"name": "purser"}}
world: Final = fixture_world("kgateway")


@pytest.mark.parametrize(
    ("path", "expected"),
    [
        (
            SEARCH,
            {
                "timeouts": {"request": "3s"},
                "retry": RETRIES,
                "rateLimit": BUCKET,
                "buffer": {"maxRequestSize": "8Ki"},
                "extAuth": PURSER,
                "headerModifiers": LINE,
            },
        ),
        (
            PAY,
            {
                "timeouts": {"request": "60s"},
                "retry": {"attempts": 0},
                "rateLimit": BUCKET,
                "buffer": {"maxRequestSize": "8Ki"},
                "extAuth": PURSER,
                "headerModifiers": LINE,
            },
        ),
        (
            LOST,
            {
                "timeouts": {"request": "10s"},
                "retry": RETRIES,
                "rateLimit": BUCKET,
                "buffer": {"maxRequestSize": "8Ki"},
                "extAuth": PURSER,
                "headerModifiers": LINE,
            },
        ),
        (TODAY, {"timeouts": {"request": "30s"}, "retry": {"attempts": 0}, "headerModifiers": [PLAIN, LINE]}),
        (
            BEACHES,
            {
                "timeouts": {"request": "5s"},
                "retry": RETRIES,
                "buffer": {"maxRequestSize": "4Ki"},
                "csrf": {"percentageEnabled": 100},
                "headerModifiers": LINE,
            },
        ),
        (
            PLAIN_BEACHES,
            {
                "timeouts": {"request": "5s"},
                "retry": {"attempts": 0},
                "buffer": {"maxRequestSize": "4Ki"},
                "csrf": {"percentageEnabled": 100},
                "headerModifiers": [PLAIN, LINE],
            },
        ),
    ],
)
def test_what_is_in_force_at_rules(path: str, expected: dict[str, Json]) -> None:
    """Rule before route before listener before Gateway; header modifiers of all scopes are in force."""
    assert settings(analyze(world()), TRAFFIC)[path] == expected


def test_every_field_knows_who_set_it() -> None:
    """The rule's own timeout, the heavier policy's buffer, and what the lighter one fills in."""
    analysis = analyze(world())
    assert sources(analysis, TRAFFIC, SEARCH) == {
        "timeouts.request": "sailings/tickets",
        "rateLimit.local": "sailings/summer",
        "buffer": "sailings/summer",
        'extAuth["sailings/purser"]': "sailings/selling",
        "retry": "platform/house",
        'headerModifiers["platform/house"]': "platform/house",
    }
    assert sources(analysis, TRAFFIC, PAY)["timeouts.request"] == "sailings/careful"
    assert sources(analysis, TRAFFIC, BEACHES)["timeouts.request"] == "platform/site"
    assert sources(analysis, TRAFFIC, BEACHES)["csrf"] == "islands/north"


@pytest.mark.parametrize(
    ("kind", "where", "expected"),
    [
        (
            "BackendConfigPolicy",
            TICKETS,
            [{"connectTimeout": "2s", "circuitBreakers": {"maxConnections": 100}}],
        ),
        ("BackendConfigPolicy", BANK, [{"connectTimeout": "2s"}]),
        ("RoutePolicy", TIMETABLE, [{"timeout": 15}]),
        ("HTTPListenerPolicy", HARBOUR, [{"upgradeConfig": {"enabledUpgrades": ["websocket"]}}]),
        (
            "DirectResponse",
            build.node("HTTPRoute", "tickets", "lost-property", "sailings"),
            [{"sailings/closed": {"status": 503, "body": "Lost property opens on Monday."}}],
        ),
        ("DirectResponse", build.node("HTTPRoute", "tickets", "pay", "sailings"), []),
    ],
)
def test_what_is_in_force_elsewhere(kind: str, where: NodeRef, expected: list[dict[str, Json]]) -> None:
    """At backends, routes, listeners, and at the rule that names a response."""
    assert spec_at(analyze(world()), f"{kind}.{GROUP}", where) == expected


def test_the_backend_is_spoken_to_by_tls() -> None:
    """By Gateway API's own policy, on the port that it takes effect at."""
    found = spec_at(analyze(world()), "BackendTLSPolicy.gateway.networking.k8s.io", replace(TICKETS, section="8080"))
    assert found == [{"validation": {"wellKnownCACertificates": "System", "hostname": "tickets.sailings"}}]


def test_an_entry_for_a_port_stands_instead_of_the_default() -> None:
    """Whole, from both policies; on the other port the default of both holds, of which the older one goes first."""
    found = settings(analyze(world()), LISTENERS)
    assert found == {
        "harbour > http": {
            "perPort": [{"port": 80, "listener": {"httpSettings": {"acceptHttp10": True, "serverName": "jetty"}}}]
        },
        "harbour > https": {
            "default": {
                "perConnectionBufferLimitBytes": 32768,
                "httpSettings": {"xffNumTrustedHops": 1, "serverName": "harbour"},
            }
        },
    }


def test_a_section_of_https_is_heeded_but_for_what_belongs_to_the_port() -> None:
    """The same policy on the other listener counts, without its buffer limit."""
    on_https = edited(
        world(),
        "ListenerPolicy platform/old-clients",
        targetRefs=[build.target("harbour", section="https")],
        default={"perConnectionBufferLimitBytes": 1, "httpSettings": {"streamIdleTimeout": "5s"}},
    )
    found = settings(analyze(on_https), LISTENERS)["harbour > https"]
    assert found["default"] == {
        "perConnectionBufferLimitBytes": 32768,
        "httpSettings": {"xffNumTrustedHops": 1, "serverName": "harbour", "streamIdleTimeout": "5s"},
    }


VALID: Final[Condition] = ("True", "Valid", ())
INVALID: Final[dict[str, Condition]] = {
    "Accepted": ("False", "Invalid", ()),
    "Attached": ("False", "Pending", ()),
}
GATEWAY: Final = "Gateway platform/harbour"


def test_who_has_a_part_in_no_field_is_overridden() -> None:
    """Of the scope of the route alone: that the listener's policy takes all of the Gateway's is not reported."""
    late = policy(
        TRAFFIC,
        "late",
        {"targetRefs": [build.target("tickets", "HTTPRoute")], "buffer": {"maxRequestSize": "1Ki"}},
        namespace="sailings",
        age=10_000,
    )
    analysis = analyze(added(world(), late))
    assert states(analysis)["TrafficPolicy sailings/late"] == ("Overridden", ["sailings/summer"])
    assert reported(analysis, "TrafficPolicy sailings/late") == {
        f"{GATEWAY}#https": {"Accepted": VALID, "Attached": ("False", "Overridden", ())}
    }


def weighing(weight: str) -> Snapshot:
    """The world in which the summer's policy has another weight."""
    return annotated(world(), "TrafficPolicy sailings/summer", {"kgateway.dev/policy-weight": weight})


def test_without_its_weight_the_newer_policy_fills_in_alone() -> None:
    """The older one keeps its buffer."""
    found = settings(analyze(weighing("0")), TRAFFIC)[SEARCH]
    assert (found["buffer"], found["rateLimit"]) == ({"maxRequestSize": "16Ki"}, BUCKET)


def test_a_weight_that_is_no_number_makes_the_policy_invalid() -> None:
    """It is not in force, and the status says so."""
    analysis = analyze(weighing("heavy"))
    assert states(analysis)["TrafficPolicy sailings/summer"] == ("Invalid", [])
    assert reported(analysis, "TrafficPolicy sailings/summer") == {f"{GATEWAY}#https": INVALID}


@pytest.mark.parametrize(
    ("priority", "timeout"),
    [
        ("ShallowMergePreferParent", "5s"),
        ("ShallowMergePreferChild", "20s"),
        # Timeouts are not merged deeply, so that the child keeps them.
        ("DeepMergePreferParent", "20s"),
    ],
)
def test_the_route_above_chooses_who_wins(priority: str, timeout: str) -> None:
    """By its annotation; the route below has no say."""
    name = "kgateway.dev/inherited-policy-priority"
    analysis = analyze(annotated(world(), "HTTPRoute platform/site", {name: priority}))
    assert settings(analysis, TRAFFIC)[BEACHES]["timeouts"] == {"request": timeout}
    below = annotated(world(), "HTTPRoute islands/north", {name: "ShallowMergePreferChild"})
    assert settings(analyze(below), TRAFFIC)[BEACHES]["timeouts"] == {"request": "5s"}


def test_without_the_filter_its_policy_attaches_to_nothing() -> None:
    """It has no target of its own, and the rule takes what its route has."""
    rules = build.rule(build.backend("tickets"), name="pay")
    analysis = analyze(edited(world(), "HTTPRoute sailings/tickets", rules=[rules]))
    assert states(analysis)["TrafficPolicy sailings/careful"] == ("NoEffect", [])
    assert settings(analysis, TRAFFIC)[PAY]["timeouts"] == {"request": "10s"}


def test_providers_of_all_scopes_authorize() -> None:
    """The listener's and the route's, since they are different ones; the same one again would be dropped."""
    deck: Resource = build.resource("GatewayExtension", "deck", {"type": "ExtAuth"}, group=GROUP, namespace="platform")
    guard = policy(
        TRAFFIC,
        "deck",
        {
            "targetRefs": [build.target("harbour", section="https")],
            "extAuth": {"extensionRef": {"name": "deck"}},
        },
        namespace="platform",
    )
    found = settings(analyze(added(world(), deck, guard)), TRAFFIC)
    assert found[SEARCH]["extAuth"] == [PURSER, {"extensionRef": {"name": "deck"}}]


def test_the_global_namespace_selects_in_every_namespace() -> None:
    """If the setting names it; references reach nothing there."""
    chosen = policy(
        TRAFFIC,
        "everywhere",
        {
            "targetSelectors": [
                {"group": "gateway.networking.k8s.io", "kind": "HTTPRoute", "matchLabels": {"line": "coast"}}
            ],
            "csrf": {"percentageEnabled": 50},
        },
        namespace="platform",
    )
    route = build.route(
        "coast",
        namespace="sailings",
        labels={"line": "coast"},
        parents=[build.parent("harbour", "http", namespace="platform")],
    )
    snapshot = added(world(), chosen, route)
    path = "harbour > http > coast > rule[0]"
    named = analyze(snapshot, implementation=Implementation(settings={"kgateway.globalPolicyNamespace": "platform"}))
    assert settings(named, TRAFFIC)[path]["csrf"] == {"percentageEnabled": 50}
    assert "csrf" not in settings(analyze(snapshot), TRAFFIC)[path]


def test_what_is_passed_over_says_where() -> None:
    """An entry for another port, and a default where there is an entry."""
    answer = describe_policy(analyze(world()), policy_ref(analyze(world()), "ListenerPolicy platform/house"))
    ends = [path[-1].section for path in answer.paths]
    found = {
        field.field: ([ends[at] for at in field.ignored_on], [ends[at] for at in field.port_entry_on])
        for field in answer.fields
    }
    assert found == {
        "default.perConnectionBufferLimitBytes": ([], ["http"]),
        "default.httpSettings.xffNumTrustedHops": ([], ["http"]),
        "perPort[80].port": (["https"], []),
        "perPort[80].listener.httpSettings.acceptHttp10": (["https"], []),
    }


def test_another_controllers_gateway_is_passed_over_in_silence() -> None:
    """Nothing is attached, nothing is in force, no rule delegates, and nothing is reported but on backends."""
    analysis = analyze(added(world("GatewayClass kgateway"), build.gateway_class("kgateway", "example.com/other")))
    ours = [found for found in analysis.policies if found.ref.group_kind.group == GROUP]
    assert settings(analysis, TRAFFIC) == settings(analysis, LISTENERS) == {}
    assert analysis.topology.paths(build.node("HTTPRoute", "north", "beaches", "islands"))[0][0].kind != "GatewayClass"
    found = {str(policy.ref) for policy in ours if reported(analysis, str(policy.ref))}
    assert found == {"BackendConfigPolicy sailings/patience", "BackendConfigPolicy sailings/protection"}
