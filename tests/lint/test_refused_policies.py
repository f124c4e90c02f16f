"""Policies that a controller refuses as a whole, in part, or not at all, as NGINX Gateway Fabric does."""

from __future__ import annotations

from typing import Final

import pytest

from kubectl_policy import Analysis, ObjectRef, Resource, analyze
from kubectl_policy.lint.lint_world import LintWorld
from kubectl_policy.lint.rules.certificates import cert_ref_missing
from kubectl_policy.lint.rules.gateways import address_unsupported
from kubectl_policy.lint.rules.policies.targets import target_kind_unsupported
from kubectl_policy.lint.rules.policies.validity import policy_invalid, target_invalid, target_not_enabled
from kubectl_policy.lint.settings import LintSettings
from kubectl_policy.model import Json
from kubectl_policy.questions.describe.objects import describe
from tests import build
from tests.implementations import added, edited, fixture_world, policy, policy_ref, reported, states
from tests.worlds.test_nginx_gateway_fabric import GOOD, GROUP, refused

world: Final = fixture_world("nginx-gateway-fabric")


def tracked(name: str, *targets: Json) -> Resource:
    """An ObservabilityPolicy of the newsroom."""
    tracing: dict[str, Json] = {"tracing": {"strategy": "parent"}, "targetRefs": list(targets)}
    return policy(f"ObservabilityPolicy.{GROUP}", name, tracing, namespace="newsroom")


def test_one_target_of_a_wrong_kind_makes_a_policy_invalid_everywhere() -> None:
    """A kind that another kind of policy could target does as well as any other."""
    sitemap = build.route("sitemap", parents=[build.parent("press", namespace="platform")], namespace="newsroom")
    wrong = tracked("wrong", build.target("sitemap", "HTTPRoute"), build.target("stories", "Service", group=""))
    analysis = analyze(added(world(), sitemap, wrong))
    assert states(analysis)["ObservabilityPolicy newsroom/wrong"] == ("Invalid", [])
    assert reported(analysis, "ObservabilityPolicy newsroom/wrong") == {
        "HTTPRoute newsroom/sitemap": refused("Invalid")
    }
    (failed, _) = analysis.attachments[wrong.ref]
    assert (failed.state, failed.message) == (
        "policy invalid",
        "spec.targetRefs[1] names a Service, which makes the policy invalid as a whole",
    )
    lint_world = LintWorld(analysis, LintSettings(), lambda resource: resource.ref == wrong.ref)
    assert list(policy_invalid.check(lint_world)) == []
    (finding,) = target_kind_unsupported.check(lint_world)
    assert finding.message.endswith("; the policy is invalid at its other targets, too")


def upstream(name: str, *groups: str, **settings: Json) -> Resource:
    """An UpstreamSettingsPolicy of Service newsroom/stories, under each spelling of the core group."""
    targets: Json = [build.target("stories", "Service", group=group) for group in groups]
    return policy(
        f"UpstreamSettingsPolicy.{GROUP}", name, {**settings, "targetRefs": targets}, namespace="newsroom", age=9
    )


@pytest.mark.parametrize(
    ("groups", "settings", "expected"),
    [
        (["core"], {"zoneSize": "2m"}, {"a": "Unknown", "b": "Unknown"}),
        (["core"], {"loadBalancingMethod": "ip_hash"}, {"a": "Enforced", "b": "Enforced"}),
        ([""], {"zoneSize": "2m"}, {"a": "Enforced", "b": "Conflicted"}),
        (["core", ""], {"zoneSize": "2m"}, {"a": "Enforced", "b": "Conflicted"}),
    ],
)
def test_policies_that_spell_a_service_differently_do_not_compete(
    groups: list[str], settings: dict[str, Json], expected: dict[str, str]
) -> None:
    """Both apply; of a field that both set, either value may count, and the answer says so."""
    route = build.route(
        "stories",
        parents=[build.parent("press", namespace="platform")],
        rules=[build.rule(build.backend("stories"))],
        namespace="newsroom",
    )
    service = build.service("stories", ("http", 8080), namespace="newsroom")
    both = upstream("a", "", zoneSize="1m"), upstream("b", *groups, **settings)
    analysis = analyze(added(world(), route, service, *both))
    found = states(analysis)
    assert {name: found[f"UpstreamSettingsPolicy newsroom/{name}"][0] for name in "ab"} == expected
    in_force = describe(analysis, build.node("Service", "stories", "http", namespace="newsroom", group="")).in_force
    (doubts,) = [group.combination.doubts for group in in_force if group.kind.kind == "UpstreamSettingsPolicy"]
    assert doubts == (("order undefined",) if "Unknown" in expected.values() else ())


def two_gateways(*addresses: str) -> tuple[Analysis, ObjectRef]:
    """An UpstreamSettingsPolicy of a Service with routes at Gateways that have an address of some type each."""
    gateways = [
        build.gateway(f"g{number}", namespace="newsroom", class_name="nginx", addresses=[{"type": type_, "value": "x"}])
        for number, type_ in enumerate(addresses)
    ]
    parents = [build.parent(gateway.ref.name, "http") for gateway in gateways]
    route = build.route("stories", parents=parents, rules=[build.rule(build.backend("stories"))], namespace="newsroom")
    settings = upstream("a", "", zoneSize="1m")
    return analyze(
        added(world(), *gateways, route, build.service("stories", namespace="newsroom"), settings)
    ), settings.ref


def test_a_service_all_of_whose_gateways_are_invalid_is_no_target() -> None:
    """Of several Gateways one that is valid is enough; what is not accepted at the others is a warning."""
    analysis, settings = two_gateways("Hostname")
    (failed,) = analysis.attachments[settings]
    assert (failed.state, analysis.enforcement(settings).state) == ("target invalid", "Invalid")
    assert reported(analysis, str(settings)) == {"Gateway newsroom/g0": refused("TargetNotFound")}
    analysis, settings = two_gateways("Hostname", "IPAddress")
    assert analysis.enforcement(settings).state == "Enforced"
    assert reported(analysis, str(settings)) == {
        "Gateway newsroom/g0": refused("TargetNotFound"),
        "Gateway newsroom/g1": GOOD,
    }
    (finding,) = target_invalid.check(LintWorld(analysis, LintSettings(), lambda one: one.ref == settings))
    assert finding.severity == "warning"
    assert finding.message.startswith("Gateway newsroom/g0")
    assert finding.message.endswith("; it has no effect there")


def test_what_makes_a_gateway_or_listener_invalid_names_the_routes_that_are_refused() -> None:
    analysis, _ = two_gateways("Hostname")
    at_gateway = build.route("lost", parents=[build.parent("g0")], namespace="newsroom")
    secure = build.listener("https", "HTTPS", 443, tls={"certificateRefs": [{"kind": "ConfigMap", "name": "gone"}]})
    gateway = build.gateway("g9", build.listener(), secure, namespace="newsroom", class_name="nginx")
    at_listener = build.route("dark", parents=[build.parent("g9", "https")], namespace="newsroom")
    every = added(analysis.snapshot, at_gateway, gateway, at_listener)
    lint_world = LintWorld(analyze(every), LintSettings(), lambda one: one.ref.name in {"g0", "g9"})
    (address,) = address_unsupported.check(lint_world)
    assert [(str(related.object), related.words) for related in address.related] == [
        ("HTTPRoute newsroom/lost", "not attached there"),
        ("HTTPRoute newsroom/stories", "not attached there"),
    ]
    (certificate,) = cert_ref_missing.check(lint_world)
    assert [str(related.object) for related in certificate.related] == ["HTTPRoute newsroom/dark"]


def test_a_policy_that_some_gateways_do_not_enable() -> None:
    """It is enforced in part, and reported as not accepted on the whole target."""
    desk = build.resource("NginxProxy", "desk", {"waf": {"enable": False}}, group=GROUP, namespace="platform")
    on_articles = edited(world(), "WAFPolicy newsroom/forms", targetRefs=[build.target("articles", "HTTPRoute")])
    parameters: Json = {"parametersRef": {"group": GROUP, "kind": "NginxProxy", "name": "desk"}}
    analysis = analyze(added(edited(on_articles, "Gateway platform/desk", infrastructure=parameters), desk))
    forms = policy_ref(analysis, "WAFPolicy newsroom/forms")
    (finding,) = target_not_enabled.check(LintWorld(analysis, LintSettings(), lambda one: one.ref == forms))
    assert (finding.severity, analysis.enforcement(forms).state) == ("warning", "PartiallyEnforced")
