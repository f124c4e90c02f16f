"""Settings of routes beside those of policies of implementations: which of the two counts, and why."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

import pytest

from kubectl_policy import analyze
from kubectl_policy.model import Json
from kubectl_policy.questions.describe.objects import ObjectDescription, describe
from kubectl_policy.render.wording.settings import why_superseded, without_effect_phrase
from tests import build

ENVOY: Final = "gateway.envoyproxy.io"
KGATEWAY: Final = "gateway.kgateway.dev"
CONTROLLERS: Final = {ENVOY: f"{ENVOY}/gatewayclass-controller", KGATEWAY: "kgateway.dev/kgateway"}
CORS: Final[Json] = [{"type": "CORS", "cors": {"allowOrigins": ["https://shop.example"]}}]


def described(
    group: str, kind: str, settings: Mapping[str, Json], own: Mapping[str, Json], route: str = "HTTPRoute"
) -> ObjectDescription:
    """A route whose one rule says something itself, on a Gateway with a policy."""
    resources = (
        build.gateway_class("public", CONTROLLERS[group]),
        build.gateway("g"),
        build.namespace("default"),
        build.route("r", kind=route, rules=[{"backendRefs": [build.backend()], **own}]),
        build.service("s"),
        build.resource(kind, "p", {"targetRefs": [build.target("g")], **settings}, group=group),
    )
    return describe(analyze(build.snapshot(*resources, complete=True)), build.node(route, "r"))


def settings_of(answer: ObjectDescription) -> dict[str, dict[str, tuple[Json, str]]]:
    """Return each field in force by kind, with its value and the kind of the object that sets it."""
    return {
        group.kind.kind: {setting.field: (setting.value, setting.source.object.kind) for setting in group.settings}
        for group in answer.in_force
    }


def superseded(answer: ObjectDescription) -> dict[str, str]:
    """Return the reason why each setting of the policy does not count."""
    instead = {
        fate.field: why_superseded(fate, setting.source, group)
        for group in answer.in_force
        for setting in group.settings
        for fate in setting.instead_of
    }
    return instead | {
        fate.field: without_effect_phrase(fate, group) for group in answer.in_force for fate in group.without_effect
    }


class TestEnvoyGateway:
    """Says: "gateway-api timeout takes precedence" (internal/xds/translator/route.go)."""

    traffic: Final[Mapping[str, Json]] = {
        "timeout": {"http": {"requestTimeout": "15s"}},
        "retry": {"numRetries": 2, "perRetry": {"timeout": "2s"}},
    }

    def answer(self, own: Mapping[str, Json]) -> ObjectDescription:
        return described(ENVOY, "BackendTrafficPolicy", self.traffic, own)

    def test_the_time_out_of_a_rule(self) -> None:
        """Beats the policy's, which is said with the reason; it is said once."""
        answer = self.answer({"timeouts": {"request": "120s"}})
        assert settings_of(answer) == {
            "BackendTrafficPolicy": {
                "timeout.http.requestTimeout": ("120s", "HTTPRoute"),
                "retry.numRetries": (2, "BackendTrafficPolicy"),
                "retry.perRetry.timeout": ("2s", "BackendTrafficPolicy"),
            }
        }
        assert superseded(answer) == {"timeout.http.requestTimeout": "the route's own timeout wins"}

    def test_where_it_is_written(self) -> None:
        answer = self.answer({"timeouts": {"request": "120s"}, "retry": {"attempts": 1}})
        written = {
            setting.field: str(setting.declared_in)
            for group in answer.in_force
            for setting in group.settings
            if setting.source.object.kind == "HTTPRoute"
        }
        assert written == {
            "timeout.http.requestTimeout": "spec.rules[0].timeouts.request",
            "retry.attempts": "spec.rules[0].retry.attempts",
        }

    def test_the_time_out_of_requests_to_backends(self) -> None:
        """Counts for the whole request where the rule does not retry."""
        answer = self.answer({"timeouts": {"request": "120s", "backendRequest": "30s"}})
        found = settings_of(answer)["BackendTrafficPolicy"]
        assert found["timeout.http.requestTimeout"] == ("30s", "HTTPRoute")
        (fates,) = [setting.instead_of for group in answer.in_force for setting in group.settings if setting.instead_of]
        assert [(fate.value, fate.source.object.kind) for fate in fates] == [
            ("15s", "BackendTrafficPolicy"),
            ("120s", "HTTPRoute"),
        ]
        (timeout,) = [setting for group in answer.in_force for setting in group.settings if setting.instead_of]
        assert [str(timeout.declared_in), *(str(fate.declared_in) for fate in timeout.instead_of)] == [
            "spec.rules[0].timeouts.backendRequest",
            "spec.timeout.http.requestTimeout",
            "spec.rules[0].timeouts.request",
        ]

    def test_the_retries_of_a_rule(self) -> None:
        """Replace those of the policy whole; the time-out of requests to backends is that of each try."""
        answer = self.answer({"timeouts": {"backendRequest": "1s"}, "retry": {"attempts": 5, "codes": [503]}})
        assert settings_of(answer)["BackendTrafficPolicy"] == {
            "timeout.http.requestTimeout": ("15s", "BackendTrafficPolicy"),
            "retry.attempts": (5, "HTTPRoute"),
            "retry.codes": ([503], "HTTPRoute"),
            "retry.perRetry.timeout": ("1s", "HTTPRoute"),
        }
        assert superseded(answer) == {
            "retry.numRetries": "the route's own retry setting wins",
            "retry.perRetry.timeout": "the route's own retry setting wins",
        }

    def test_the_cors_filter_of_a_rule(self) -> None:
        policy: Json = {"allowOrigins": ["*"], "maxAge": "1h"}
        answer = described(ENVOY, "SecurityPolicy", {"cors": policy}, {"filters": CORS})
        found = settings_of(answer)
        assert list(found) == ["SecurityPolicy"]
        assert {source for _, source in found["SecurityPolicy"].values()} == {"HTTPRoute"}
        assert set(superseded(answer).values()) == {"the route's own CORS filter wins"}


def test_without_a_policy() -> None:
    """What a rule says is shown all the same, as settings of the route's own kind."""
    answer = described(ENVOY, "ClientTrafficPolicy", {"timeout": {}}, {"timeouts": {"request": "5s"}})
    (own,) = [group for group in answer.in_force if group.profile.route_settings]
    assert settings_of(answer)["HTTPRoute"] == {"timeouts.request": ("5s", "HTTPRoute")}
    assert (own.policies, own.combination.strategies, own.undecided, own.extent.passes_down) == ((), (), (), False)
    assert own.extent.at == (build.node("HTTPRoute", "r", "rule[0]"),)


def test_in_short() -> None:
    https: Json = {"type": "RequestRedirect", "requestRedirect": {"scheme": "https", "statusCode": 301}}
    weights: Json = [build.backend(weight=9), build.backend("t", weight=1)]
    mirror: Json = {"type": "RequestMirror", "requestMirror": {"backendRef": {"name": "shadow"}}}
    own: Mapping[str, Json] = {
        "timeouts": {"request": "5s"},
        "retry": {"attempts": 1, "codes": [503]},
        "filters": [https, mirror],
        "backendRefs": weights,
    }
    answer = described(ENVOY, "ClientTrafficPolicy", {"timeout": {}}, own)
    (group,) = [group for group in answer.in_force if group.profile.route_settings]
    assert group.summary == ("redirect to https", "5s timeout", "1 retry", "1 mirror", "weights 9, 1")


class TestKgateway:
    """Its TrafficPolicy has a time-out and retries that those of a rule beat."""

    @pytest.mark.parametrize(
        ("settings", "own", "expected"),
        [
            (
                {"timeouts": {"request": "9s"}},
                {"timeouts": {"request": "1s"}},
                {"timeouts.request": ("1s", "HTTPRoute")},
            ),
            ({"retry": {"attempts": 3}}, {"retry": {"attempts": 1}}, {"retry.attempts": (1, "HTTPRoute")}),
        ],
        ids=["timeout", "retry"],
    )
    def test_a_setting_of_the_rule(
        self, settings: Mapping[str, Json], own: Mapping[str, Json], expected: Mapping[str, tuple[Json, str]]
    ) -> None:
        answer = described(KGATEWAY, "TrafficPolicy", settings, own)
        assert settings_of(answer)["TrafficPolicy"] == expected
        assert len(superseded(answer)) == 1
