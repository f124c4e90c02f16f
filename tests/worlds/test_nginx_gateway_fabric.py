"""NGINX Gateway Fabric: a route's setting stands for the Gateway's; two that set the same on one target conflict."""

from __future__ import annotations

from typing import Final

import pytest

from kubectl_policy import NodeRef, analyze, plain
from kubectl_policy.lint.lint_world import LintWorld
from kubectl_policy.lint.rules.policies.validity import target_not_enabled
from kubectl_policy.lint.settings import LintSettings
from kubectl_policy.model import Json
from kubectl_policy.model.fields import mapping_at
from kubectl_policy.questions.describe.policies import describe_policy
from kubectl_policy.render.wording.headlines import policy_headline
from tests import build
from tests.implementations import (
    Condition,
    added,
    affected,
    edited,
    fixture_world,
    policy,
    policy_ref,
    reported,
    spec_at,
    states,
)

GROUP: Final = "gateway.nginx.org"
COMMENTS: Final = build.node("HTTPRoute", "comments", namespace="newsroom")
ARTICLES: Final = build.node("HTTPRoute", "articles", namespace="newsroom")
ARCHIVE: Final = build.node("HTTPRoute", "archive", namespace="newsroom")
ALERTS: Final = build.node("GRPCRoute", "alerts", namespace="newsroom")
PRESS: Final = build.node("Gateway", "press", namespace="platform")
DESK: Final = build.node("Gateway", "desk", namespace="platform")
HOUSE: Final[dict[str, Json]] = {
    "buffering": {"bufferSize": "8k", "buffers": {"number": 8, "size": "8k"}, "busyBuffersSize": "16k"}
}
world: Final = fixture_world("nginx-gateway-fabric")


def waf(name: str, bundle: str) -> dict[str, Json]:
    """The outcome of a WAFPolicy, where all policies of a target stand for themselves."""
    source: Json = {"httpSource": {"url": f"https://bundles.paper.example/{bundle}.tgz"}}
    return {name: {"type": "HTTP", "policySource": source}}


GOOD: Final[dict[str, Condition]] = {"Accepted": ("True", "Accepted", ()), "Programmed": ("True", "Programmed", ())}


def refused(reason: str) -> dict[str, Condition]:
    """The conditions on a policy that is not accepted for a reason of its own."""
    return {"Accepted": ("False", reason, ()), "Programmed": ("False", "Reconciling", ())}


def bare(status: str, reason: str) -> dict[str, Condition]:
    """The conditions of kinds that say nothing of being programmed."""
    return {"Accepted": (status, reason, ())}


@pytest.mark.parametrize(
    ("where", "expected"),
    [
        (
            ARTICLES,
            {
                "ObservabilityPolicyAffected": [
                    "ObservabilityPolicy newsroom/everything",
                    "ObservabilityPolicy newsroom/samples",
                ],
                "ProxySettingsPolicyAffected": ["ProxySettingsPolicy newsroom/pages"],
            },
        ),
        (DESK, {"gateway.nginx.org/WAFPolicyAffected": ["WAFPolicy platform/basics"]}),
        (ARCHIVE, {"RateLimitPolicyAffected": ["RateLimitPolicy newsroom/archive"]}),
        (
            ALERTS,
            {
                "ObservabilityPolicyAffected": ["ObservabilityPolicy newsroom/samples"],
                "ProxySettingsPolicyAffected": ["ProxySettingsPolicy newsroom/tiny"],
            },
        ),
        (build.node("HTTPRoute", "new-archive", namespace="newsroom"), {}),
    ],
    ids=str,
)
def test_targets_say_that_they_are_affected(where: NodeRef, expected: dict[str, list[str]]) -> None:
    """Whatever becomes of the policy; what is below a target says nothing."""
    assert affected(analyze(world()), where) == expected


def test_a_refusal_names_the_setting_and_the_target() -> None:
    """Also where it is refused on a target that nobody else has, for one that somebody has."""
    answer = describe_policy(analyze(world()), policy_ref(analyze(world()), "ProxySettingsPolicy newsroom/pages"))
    said = "ProxySettingsPolicy newsroom/live sets buffering.disable of HTTPRoute newsroom/comments already"
    assert [condition.message for place in answer.expected for condition in place.conditions] == [said] * 4


def test_what_nobody_refuses_any_more_is_in_force() -> None:
    """Without the older policy the newer one holds on both of its targets, and false undoes nothing there."""
    analysis = analyze(world("ProxySettingsPolicy newsroom/live"))
    pages: Json = {"disable": False, **mapping_at(HOUSE, "buffering"), "bufferSize": "16k"}
    assert spec_at(analysis, f"ProxySettingsPolicy.{GROUP}", COMMENTS) == [{"buffering": pages}]
    assert states(analysis)["ProxySettingsPolicy newsroom/pages"] == ("Enforced", [])


def test_a_policy_that_sets_something_else_is_not_refused() -> None:
    """Two on one target with no setting in common are both in force."""
    snapshot = edited(world(), "ClientSettingsPolicy newsroom/long", body={"maxSize": None}, keepAlive={"requests": 10})
    assert states(analyze(snapshot))["ClientSettingsPolicy newsroom/long"] == ("Enforced", [])


def test_an_overlap_that_the_policy_names_is_none() -> None:
    """It may have both routes that share a location, or neither."""
    both = [build.target(name, "HTTPRoute") for name in ("archive", "new-archive")]
    analysis = analyze(edited(world(), "RateLimitPolicy newsroom/archive", targetRefs=list(both)))
    assert states(analysis)["RateLimitPolicy newsroom/archive"] == ("Enforced", [])


def test_a_true_dry_run_is_heeded() -> None:
    on = edited(world("RateLimitPolicy platform/trial"), "RateLimitPolicy newsroom/writers", rateLimit={"dryRun": True})
    (spec,) = spec_at(analyze(on), f"RateLimitPolicy.{GROUP}", COMMENTS)
    assert mapping_at(spec, "rateLimit")["dryRun"] is True


def test_a_policy_that_says_nothing_but_what_is_passed_over_has_no_effect() -> None:
    """It is accepted, and nobody has beaten it."""
    alone = edited(world(), "RateLimitPolicy newsroom/writers", rateLimit={"dryRun": False})
    analysis = analyze(alone)
    assert states(analysis)["RateLimitPolicy newsroom/writers"] == ("NoEffect", [])
    assert reported(analysis, "RateLimitPolicy newsroom/writers") == {"HTTPRoute newsroom/comments": GOOD}


def test_two_firewalls_on_one_target_are_both_in_force() -> None:
    """They are not looked at for conflicts, and a route's still stand for the Gateway's."""
    on_route: dict[str, Json] = {"targetRefs": [build.target("comments", "HTTPRoute")], "type": "HTTP"}
    second = policy(f"WAFPolicy.{GROUP}", "more", on_route, namespace="newsroom")
    (spec,) = spec_at(analyze(added(world(), second)), f"WAFPolicy.{GROUP}", COMMENTS)
    assert set(spec) == {"newsroom/forms", "newsroom/more"}


def test_parameters_that_enable_nothing_let_no_firewall_in() -> None:
    analysis = analyze(edited(world(), "NginxProxy platform/press", waf={"enable": False}))
    assert spec_at(analysis, f"WAFPolicy.{GROUP}", PRESS) == []
    expected = {"HTTPRoute newsroom/comments": bare("False", "NginxProxyConfigNotSet")}
    assert reported(analysis, "WAFPolicy newsroom/forms") == expected


def test_tracing_needs_an_exporter_where_there_are_parameters() -> None:
    """Articles hang on desk as well, which has none, and there it is allowed."""
    analysis = analyze(edited(world(), "NginxProxy platform/press", telemetry=None))
    expected = refused("NginxProxyConfigNotSet")
    assert reported(analysis, "ObservabilityPolicy newsroom/samples") == {
        "HTTPRoute newsroom/articles": expected,
        "GRPCRoute newsroom/alerts": expected,
    }


def test_a_grant_lets_the_newsroom_have_its_own_moderation() -> None:
    grant = build.grant(
        namespace="platform", sources=[(GROUP, "PayloadProcessor", "newsroom")], targets=[("", "Service", "moderation")]
    )
    analysis = analyze(added(world(), grant))
    assert states(analysis)["PayloadProcessor newsroom/moderation"] == ("Enforced", [])
    assert states(analysis)["PayloadProcessor platform/moderation"] == ("PartiallyEnforced", ["newsroom/moderation"])


def test_another_controllers_gateway_is_passed_over_in_silence() -> None:
    """Nothing is attached, nothing is in force, and nothing is reported."""
    other = build.gateway_class("nginx", "example.com/other")
    analysis = analyze(added(world("GatewayClass nginx"), other))
    assert {state for state, _ in states(analysis).values()} <= {"NoEffect", "Invalid", "NotPermitted", "Unknown"}
    assert [reported(analysis, str(found.ref)) for found in analysis.policies] == [{}] * 24


def test_a_firewall_on_a_route_counts_below_the_gateways_that_enable_it() -> None:
    """Articles hang on desk as well, which is told not to; that is said of the whole target."""
    on_articles = edited(world(), "WAFPolicy newsroom/forms", targetRefs=[build.target("articles", "HTTPRoute")])
    parameters: Json = {"parametersRef": {"group": GROUP, "kind": "NginxProxy", "name": "desk"}}
    told = edited(on_articles, "Gateway platform/desk", infrastructure=parameters)
    desk = build.resource("NginxProxy", "desk", {"waf": {"enable": False}}, group=GROUP, namespace="platform")
    analysis = analyze(added(told, desk))
    kind = build.ref("WAFPolicy", "", group=GROUP).group_kind
    found = {
        node.object.name: plain(effective.resolution.spec)
        for effective in analysis.effective(ARTICLES, kind)
        for node in effective.path
        if node.kind == "Gateway"
    }
    assert found == {"press": waf("newsroom/forms", "forms")}
    expected = {"HTTPRoute newsroom/articles": bare("False", "NginxProxyConfigNotSet")}
    assert reported(analysis, "WAFPolicy newsroom/forms") == expected
    assert states(analysis)["WAFPolicy newsroom/forms"] == ("PartiallyEnforced", [])
    forms = policy_ref(analysis, "WAFPolicy newsroom/forms")
    assert policy_headline(describe_policy(analysis, forms)).endswith(
        ", but nothing below Gateway platform/desk, which does not enable it."
    )
    findings = list(target_not_enabled.check(LintWorld(analysis, LintSettings(), lambda one: one.ref == forms)))
    message = "it has no effect there, and is not accepted on HTTPRoute newsroom/articles"
    assert [(finding.severity, finding.message.rpartition(": ")[2]) for finding in findings] == [("warning", message)]
