"""Envoy Gateway: the nearest policy replaces the others whole, or merges with the closest one on the Gateway's side."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

import pytest
from msgspec.structs import replace

from kubectl_policy import Analysis, analyze
from kubectl_policy.attachment import SettingsReferences
from kubectl_policy.model import Json, Resource
from kubectl_policy.questions.describe.objects import describe
from kubectl_policy.questions.describe.policies import describe_policy
from kubectl_policy.questions.shared.failing_routes import failing_routes
from kubectl_policy.questions.why_not.answer import why_not
from kubectl_policy.render.output.text import View
from tests import build
from tests.implementations import (
    Condition,
    added,
    edited,
    fixture_world,
    policy,
    policy_ref,
    reported,
    settings,
    spec_at,
    states,
)
from tests.render.shown import shown

GROUP: Final = "gateway.envoyproxy.io"
TRAFFIC: Final = f"BackendTrafficPolicy.{GROUP}"
CLIENTS: Final = f"ClientTrafficPolicy.{GROUP}"
SECURITY: Final = f"SecurityPolicy.{GROUP}"
PLAIN_SEATS: Final = "front > http > booking > seats"
PLAIN_CHECKOUT: Final = "front > http > booking > checkout"
SEATS: Final = "front > https > booking > seats"
CHECKOUT: Final = "front > https > booking > checkout"
TITLES: Final = "front > festival > films > programme > titles"
MEMBER: Final[Json] = {
    "clientSelectors": [{"headers": [{"name": "x-member", "type": "Distinct"}]}],
    "limit": {"requests": 10, "unit": "Minute"},
}
world: Final = fixture_world("envoy-gateway")


def test_a_selected_route_needs_the_grant_of_its_namespace() -> None:
    """The festival team has granted nothing, so its route is passed over although it has the label."""
    assert set(settings(analyze(world()), SECURITY)) == {PLAIN_SEATS, PLAIN_CHECKOUT, SEATS, CHECKOUT}
    assert settings(analyze(world("ReferenceGrant tickets/login")), SECURITY) == {}
    own = edited(world(), "SecurityPolicy platform/login", targetSelectors=[{"kind": "HTTPRoute", "matchLabels": {}}])
    assert settings(analyze(own), SECURITY) == {}


ACCEPTED: Final[Condition] = ("True", "Accepted", ())


def test_without_the_routes_policy_the_refused_one_applies() -> None:
    """It does not merge, so it has its rule for itself; the Gateway's is overridden there and merged nowhere."""
    analysis = analyze(world("BackendTrafficPolicy tickets/booking"))
    in_force = settings(analysis, TRAFFIC)
    assert in_force[SEATS] == in_force[PLAIN_SEATS] == {"circuitBreaker": {"maxConnections": 4096}}
    assert states(analysis)["BackendTrafficPolicy tickets/premiere"] == ("PartiallyEnforced", ["tickets/checkout"])
    assert reported(analysis, "BackendTrafficPolicy tickets/premiere") == {
        "Gateway platform/front": {
            "Accepted": ACCEPTED,
            "Overridden": ("True", "Overridden", ("HTTPRoute tickets/booking#checkout",)),
        }
    }
    assert reported(analysis, "BackendTrafficPolicy platform/house") == {
        "Gateway platform/front": {
            "Accepted": ACCEPTED,
            "Overridden": ("True", "Overridden", ("Gateway platform/front#http", "HTTPRoute tickets/booking")),
        }
    }


def test_without_the_gateways_policy_nothing_is_left_to_merge_with() -> None:
    """On https the route's stands alone, with no Merged condition there; the ListenerSet's route has none."""
    analysis = analyze(world("BackendTrafficPolicy platform/house"))
    in_force = settings(analysis, TRAFFIC)
    assert TITLES not in in_force
    assert in_force[SEATS] == {
        "retry": {"numRetries": 0},
        "compressor": [{"type": "Gzip", "gzip": {}}, {"type": "Zstd", "zstd": {}}],
        "rateLimit": {"global": {"rules": [MEMBER]}},
    }
    assert set(reported(analysis, "BackendTrafficPolicy tickets/booking")) == {
        "Gateway platform/front",
        "Gateway platform/front#http",
    }


def test_another_controllers_gateway_is_passed_over_in_silence() -> None:
    """The policies are attached to nothing, have no effect and no status, and say why."""
    analysis = analyze(added(world("GatewayClass envoy"), build.gateway_class("envoy", "example.com/other")))
    assert settings(analysis, TRAFFIC) == settings(analysis, CLIENTS) == settings(analysis, SECURITY) == {}
    not_managed = {ref: {found.state for found in attached} for ref, attached in analysis.attachments.items()}
    assert not_managed.pop(next(ref for ref in not_managed if ref.name == "login")) == {"not managed", "not permitted"}
    assert {state for found in not_managed.values() for state in found} == {"not managed"}
    assert {state for state, _ in states(analysis).values()} <= {"NoEffect", "NotPermitted"}
    assert [reported(analysis, str(policy.ref)) for policy in analysis.policies] == [{}] * 8
    rules = {problem.rule for problem in analysis.diagnostics}
    assert rules == {"target-not-managed", "target-not-permitted"}


def test_a_section_that_its_target_has_not_is_the_only_target_that_is_reported_missing() -> None:
    """A Gateway or route that is missing may be another controller's; a listener or rule cannot be."""
    targets = {"a": build.target("booking", "HTTPRoute", "seat"), "b": build.target("bookings", "HTTPRoute")}
    policies = [
        policy(TRAFFIC, name, {"targetRefs": [target]}, namespace="tickets") for name, target in targets.items()
    ]
    analysis = analyze(added(world(), *policies))
    assert reported(analysis, "BackendTrafficPolicy tickets/a") == {
        "Gateway platform/front": {"Accepted": ("False", "TargetNotFound", ())}
    }
    assert reported(analysis, "BackendTrafficPolicy tickets/b") == {}


def piped(kind: str, protocol: str, *policies: Resource) -> Analysis:
    """A route of a kind to a Service, by way of a listener of a Gateway of its own."""
    gateway = build.gateway("pipes", build.listener("raw", protocol, 5000), class_name="envoy")
    route = build.route("raw", kind=kind, parents=[build.parent("pipes")], rules=[build.rule(build.backend())])
    return analyze(added(world(), gateway, route, build.service(), *policies))


def pipe_policy(kind: str, name: str, target: Mapping[str, Json], **spec: Json) -> Resource:
    return build.resource(kind, name, {"targetRefs": [target], **spec}, group=GROUP, age=1)


@pytest.mark.parametrize(
    ("kind", "protocol", "counting"),
    [
        ("TCPRoute", "TCP", {"timeout", "loadBalancer", "dns", "healthCheck"}),
        ("UDPRoute", "UDP", {"loadBalancer", "dns"}),
    ],
)
def test_what_routes_of_other_kinds_take(kind: str, protocol: str, counting: set[str]) -> None:
    """Of a BackendTrafficPolicy; the rest is said to have no effect there, and why."""
    spec: dict[str, Json] = {
        "timeout": {"tcp": {"connectTimeout": "5s"}},
        "loadBalancer": {"type": "Random"},
        "dns": {"lookupFamily": "IPv4"},
        "healthCheck": {"panicThreshold": 10},
        "retry": {"numRetries": 3},
        "rateLimit": {"type": "Local"},
    }
    found = pipe_policy("BackendTrafficPolicy", "t", build.target("raw", kind), **spec)
    analysis = piped(kind, protocol, found)
    (effective,) = analysis.effective(build.node(kind, "raw", "rule[0]"), found.ref.group_kind)
    assert effective.resolution.spec.keys() == counting
    fates = {fate.field.partition(".")[0]: fate.state for fate in effective.resolution.fates_of.get(found.ref, ())}
    assert {field for field, state in fates.items() if state == "unheeded"} == spec.keys() - counting
    assert analysis.enforcement(found.ref).state == "PartiallyEnforced"
    described = shown(describe(analysis, build.node(kind, "raw")), "tree", View(width=200))
    assert f"(it has no effect on {kind}s)" in described
    assert f"has no effect on {kind}s" in shown(describe_policy(analysis, found.ref), "tree", View(width=200))


def test_a_policy_of_which_nothing_counts_on_a_udp_route() -> None:
    """It has no effect there, and `why-not` says why."""
    found = pipe_policy("BackendTrafficPolicy", "t", build.target("raw", "UDPRoute"), retry={"numRetries": 3})
    analysis = piped("UDPRoute", "UDP", found)
    assert analysis.enforcement(found.ref).state == "NoEffect"
    reasons = why_not(analysis, found.ref, build.node("UDPRoute", "raw", "rule[0]")).reasons
    assert [reason.message for reason in reasons] == ["retry does not count on UDPRoutes"]


def test_a_tcp_route_takes_what_its_policy_leaves_open_from_those_above() -> None:
    """Setting by setting, from the nearest one that has it."""
    keeps: Json = {"probes": 3, "idleTime": "60s"}
    timeout: Json = {"tcp": {"connectTimeout": "5s"}}
    above = pipe_policy("BackendTrafficPolicy", "above", build.target("pipes"), timeout=timeout, tcpKeepalive=keeps)
    own = pipe_policy("BackendTrafficPolicy", "own", build.target("raw", "TCPRoute"), tcpKeepalive={"probes": 9})
    found = settings(piped("TCPRoute", "TCP", above, own), TRAFFIC)["pipes > raw > raw > rule[0]"]
    assert found == {"timeout": timeout, "tcpKeepalive": {"probes": 9}}


def test_connections_of_a_tcp_route_are_its_own_policy_s() -> None:
    above = pipe_policy("BackendTrafficPolicy", "above", build.target("pipes"), connection={"bufferLimit": "1Mi"})
    own = pipe_policy("BackendTrafficPolicy", "own", build.target("raw", "TCPRoute"), connection={"bufferLimit": "2Mi"})
    assert piped("TCPRoute", "TCP", above).enforcement(above.ref).state == "NoEffect"
    assert piped("TCPRoute", "TCP", own).enforcement(own.ref).state == "Enforced"


def test_a_tcp_route_takes_nothing_of_a_security_policy_but_who_may_connect() -> None:
    """As where the policy is on its Gateway."""
    found = pipe_policy(
        "SecurityPolicy", "s", build.target("pipes"), authorization={"defaultAction": "Deny"}, cors={"maxAge": "1h"}
    )
    analysis = piped("TCPRoute", "TCP", found)
    (effective,) = analysis.effective(build.node("TCPRoute", "raw", "rule[0]"), found.ref.group_kind)
    assert effective.resolution.spec.keys() == {"authorization"}


def test_patches_of_envoy_itself_all_apply_in_the_order_of_their_priority() -> None:
    """None refuses another one; what all say is in force, the smallest number first and a patch without one as 0."""
    target: dict[str, Json] = {"targetRef": build.target("front")}
    patches = [
        policy(f"EnvoyPatchPolicy.{GROUP}", "late", {**target, "priority": 5}, namespace="platform", age=1),
        policy(f"EnvoyPatchPolicy.{GROUP}", "early", {**target, "priority": -1}, namespace="platform", age=2),
        policy(f"EnvoyPatchPolicy.{GROUP}", "usual", target, namespace="platform", age=3),
    ]
    analysis = analyze(added(world(), *patches))
    front = build.node("Gateway", "front", namespace="platform")
    (found,) = spec_at(analysis, f"EnvoyPatchPolicy.{GROUP}", front)
    assert [*found.items()] == [
        ("platform/early", {"priority": -1}),
        ("platform/usual", {}),
        ("platform/late", {"priority": 5}),
    ]
    assert [states(analysis)[str(patch.ref)] for patch in patches] == [("Enforced", [])] * 3


BACKEND: Final[Json] = {"name": "x", "port": 80}
OWN_BACKEND: Final[Json] = {"group": GROUP, "kind": "Backend", "name": "x"}
NAMED: Final[Json] = {"name": "x"}
TEXT: Final[Json] = {"kind": "ConfigMap", "name": "x"}


@pytest.mark.parametrize(
    ("kind", "lacking", "spec"),
    [
        ("SecurityPolicy", "Service", {"extAuth": {"http": {"backendRefs": [BACKEND]}}}),
        ("SecurityPolicy", "Service", {"extAuth": {"grpc": {"backendRef": BACKEND}}}),
        ("SecurityPolicy", "Backend", {"extAuth": {"http": {"backendRefs": [OWN_BACKEND]}}}),
        ("SecurityPolicy", "ConfigMap", {"extAuth": {"contextExtensions": [{"name": "a", "valueRef": TEXT}]}}),
        ("SecurityPolicy", "Service", {"jwt": {"providers": [{"remoteJWKS": {"backendRefs": [BACKEND]}}]}}),
        ("SecurityPolicy", "ConfigMap", {"jwt": {"providers": [{"localJWKS": {"valueRef": TEXT}}]}}),
        ("SecurityPolicy", "Service", {"oidc": {"provider": {"backendRefs": [BACKEND]}}}),
        ("SecurityPolicy", "Secret", {"oidc": {"clientSecret": NAMED}}),
        ("SecurityPolicy", "Secret", {"oidc": {"clientIDRef": NAMED}}),
        ("SecurityPolicy", "Secret", {"basicAuth": {"users": NAMED}}),
        ("SecurityPolicy", "Secret", {"apiKeyAuth": {"credentialRefs": [NAMED]}}),
        ("EnvoyExtensionPolicy", "Service", {"extProc": [{"backendRefs": [BACKEND]}]}),
        ("EnvoyExtensionPolicy", "ConfigMap", {"lua": [{"type": "ValueRef", "valueRef": TEXT}]}),
        ("EnvoyExtensionPolicy", "Secret", {"wasm": [{"code": {"image": {"pullSecretRef": NAMED}}}]}),
        ("EnvoyExtensionPolicy", "ConfigMap", {"wasm": [{"code": {"http": {"tls": {"caCertificateRef": TEXT}}}}]}),
        ("EnvoyExtensionPolicy", "Secret", {"wasm": [{"code": {"image": {"tls": {"caCertificateRef": NAMED}}}}]}),
        ("BackendTrafficPolicy", "ConfigMap", {"responseOverride": [{"response": {"body": {"valueRef": TEXT}}}]}),
    ],
    ids=str,
)  # fmt: skip
def test_what_policies_name_must_be_there(kind: str, lacking: str, spec: dict[str, Json]) -> None:
    """Else the policy is not valid, its routes answer 500, and no other policy takes its place there."""
    first = policy_on_route(kind, "first", spec, age=1)
    second = policy_on_route(kind, "second", {}, age=2)
    analysis = analyze(replace(added(world(), first, second), complete=True))
    (attachment,) = analysis.attachments[first.ref]
    assert (attachment.state, attachment.competes) == ("policy invalid", True)
    assert attachment.message.startswith(f"{lacking} festival/x, which spec.")
    assert [each.route.name for each in failing_routes(analysis)] == ["programme"]
    assert analysis.enforcement(second.ref).state == "Conflicted"
    assert [*reported(analysis, f"{kind} festival/first").values()] == [{"Accepted": ("False", "Invalid", ())}]
    # What is not in the input may be there.
    opened = replace(added(world(), first), listed=frozenset())
    assert [each.state for each in analyze(opened).attachments[first.ref]] == ["attached"]


@pytest.mark.parametrize(
    ("kind", "spec"),
    [
        ("SecurityPolicy", {"extAuth": {"failOpen": True, "http": {"backendRefs": [BACKEND]}}}),
        ("EnvoyExtensionPolicy", {"extProc": [{"failOpen": True, "backendRefs": [BACKEND]}]}),
        ("EnvoyExtensionPolicy", {"wasm": [{"failOpen": True, "code": {"image": {"pullSecretRef": NAMED}}}]}),
    ],
    ids=str,
)
def test_what_fails_open_is_done_without(kind: str, spec: dict[str, Json]) -> None:
    found = policy_on_route(kind, "open", spec)
    analysis = analyze(replace(added(world(), found), complete=True))
    assert failing_routes(analysis) == ()
    assert [
        (each.without, each.guessed)
        for each in SettingsReferences(analysis.index).of(found, analysis.registry.profile(found.ref.group_kind))
    ] == [("setting ignored", False)]


def test_a_policy_that_merges_with_one_that_is_not_valid_is_not_valid_either() -> None:
    """At each listener where it would merge with it; and the one above counts it as one that has its place."""
    page: Json = [{"response": {"body": {"valueRef": TEXT}}}]
    snapshot = edited(
        world("BackendTrafficPolicy platform/plain"), "BackendTrafficPolicy platform/house", responseOverride=page
    )
    analysis = analyze(replace(snapshot, complete=True))
    conditions = reported(analysis, "BackendTrafficPolicy tickets/booking")
    assert conditions["Gateway platform/front#https"]["Accepted"][:2] == ("False", "Invalid")
    assert "Merged" not in conditions["Gateway platform/front#https"]
    above = reported(analysis, "BackendTrafficPolicy platform/house")["Gateway platform/front"]
    assert [above[name][1] for name in ("Accepted", "Overridden")] == ["Invalid", "Overridden"]


@pytest.mark.parametrize("kind", ["SecurityPolicy", "BackendTrafficPolicy", "EnvoyExtensionPolicy"])
def test_an_invalid_policy_on_a_route_keeps_that_of_the_gateway_out(kind: str) -> None:
    """The Gateway's policy is not applied to the route, whose requests are answered with 500."""
    lacking: dict[str, dict[str, Json]] = {
        "SecurityPolicy": {"basicAuth": {"users": NAMED}},
        "BackendTrafficPolicy": {"responseOverride": [{"response": {"body": {"valueRef": TEXT}}}]},
        "EnvoyExtensionPolicy": {"lua": [{"type": "ValueRef", "valueRef": TEXT}]},
    }
    above = policy(f"{kind}.{GROUP}", "above", {"targetRefs": [build.target("front")]}, namespace="platform", age=1)
    invalid = policy_on_route(kind, "invalid", lacking[kind])
    analysis = analyze(replace(added(world(), above, invalid), complete=True))
    titles = build.node("HTTPRoute", "programme", "titles", namespace="festival")
    outcomes = analysis.effective(titles, above.ref.group_kind)
    assert [(it.resolution.spec, it.resolution.policies_in_force) for it in outcomes] == [({}, frozenset())]
    assert invalid.ref in analysis.enforcement(above.ref).by


def policy_on_route(kind: str, name: str, spec: dict[str, Json], *, age: int = 1) -> Resource:
    target = {"group": "gateway.networking.k8s.io", "kind": "HTTPRoute", "name": "programme"}
    return policy(f"{kind}.{GROUP}", name, {"targetRefs": [target], **spec}, namespace="festival", age=age)


def test_client_certificates_need_their_authority() -> None:
    """Without it, the policy is not valid, and keeps others out."""
    tls: Json = {"tls": {"clientValidation": {"caCertificateRefs": [{"name": "x"}]}}}
    snapshot = edited(world(), "ClientTrafficPolicy platform/clients", **tls)  # type: ignore[arg-type]
    analysis = analyze(replace(snapshot, complete=True))
    (attachment,) = analysis.attachments[policy_ref(analysis, "ClientTrafficPolicy platform/clients")]
    assert (attachment.state, attachment.competes) == ("policy invalid", True)
    assert attachment.message.startswith(
        "Secret platform/x, which spec.tls.clientValidation.caCertificateRefs[0] names"
    )
