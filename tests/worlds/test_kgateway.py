"""kgateway: on one target the heavier or older policy keeps what it sets; listeners, routes and rules are scopes."""

from __future__ import annotations

from typing import Final

import pytest

from kubectl_policy import Resource, Snapshot, analyze
from kubectl_policy.model import Json
from kubectl_policy.questions.describe.policies import describe_policy
from kubectl_policy.topology.gateway.gateways import Implementation
from tests import build
from tests.implementations import (
    Condition,
    added,
    annotated,
    edited,
    fixture_world,
    policy,
    policy_ref,
    reported,
    settings,
    states,
)

GROUP: Final = "gateway.kgateway.dev"
TRAFFIC: Final = f"TrafficPolicy.{GROUP}"
LISTENERS: Final = f"ListenerPolicy.{GROUP}"
SEARCH: Final = "harbour > https > tickets > search"
PAY: Final = "harbour > https > tickets > pay"
BEACHES: Final = "harbour > https > site > islands > north > beaches"
BUCKET: Final[Json] = {"local": {"tokenBucket": {"maxTokens": 500, "tokensPerFill": 100, "fillInterval": "1s"}}}
PURSER: Final[Json] = {"extensionRef": {"name": "purser"}}
world: Final = fixture_world("kgateway")


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
INVALID: Final[dict[str, Condition]] = {"Accepted": ("False", "Invalid", ()), "Attached": ("False", "Pending", ())}
GATEWAY: Final = "Gateway platform/harbour"


def test_who_has_a_part_in_no_field_is_overridden() -> None:
    """Of the scope of the route alone: that the listener's policy takes all of the Gateway's is not reported."""
    spec: dict[str, Json] = {"targetRefs": [build.target("tickets", "HTTPRoute")], "buffer": {"maxRequestSize": "1Ki"}}
    late = policy(TRAFFIC, "late", spec, namespace="sailings", age=10_000)
    analysis = analyze(added(world(), late))
    assert states(analysis)["TrafficPolicy sailings/late"] == ("Overridden", ["sailings/summer"])
    assert reported(analysis, "TrafficPolicy sailings/late") == {
        f"{GATEWAY}#https": {"Accepted": VALID, "Attached": ("False", "Overridden", ())}
    }


def weighing(weight: str) -> Snapshot:
    return annotated(world(), "TrafficPolicy sailings/summer", {"kgateway.dev/policy-weight": weight})


def test_without_its_weight_the_newer_policy_fills_in_alone() -> None:
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
    provider: Json = {"extensionRef": {"name": "deck"}}
    spec: dict[str, Json] = {"targetRefs": [build.target("harbour", section="https")], "extAuth": provider}
    in_force = settings(analyze(added(world(), deck, policy(TRAFFIC, "deck", spec, namespace="platform"))), TRAFFIC)
    assert in_force[SEARCH]["extAuth"] == [PURSER, provider]


def test_the_global_namespace_selects_in_every_namespace() -> None:
    """If the setting names it; references reach nothing there."""
    selector: Json = {"group": "gateway.networking.k8s.io", "kind": "HTTPRoute", "matchLabels": {"line": "coast"}}
    spec: dict[str, Json] = {"targetSelectors": [selector], "csrf": {"percentageEnabled": 50}}
    chosen = policy(TRAFFIC, "everywhere", spec, namespace="platform")
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
