"""Targets that only some policies can have, and what policies on some targets may set."""

from __future__ import annotations

from typing import Final

import pytest
from msgspec.structs import replace

from kubectl_policy import PolicyKindProfile
from kubectl_policy.analysis import analyze
from kubectl_policy.attachment.restrictions import field_restriction, target_restriction
from kubectl_policy.model import GroupKind, Json
from kubectl_policy.model.kind_roles import GATEWAY_CLASS, HTTP_ROUTE
from kubectl_policy.profiles.merging import OtherFields, Variant
from kubectl_policy.profiles.needs import RestrictedTarget
from kubectl_policy.questions.why_not.answer import why_not
from tests import build

PROFILE: Final = PolicyKindProfile(GroupKind("example.com", "ColorPolicy"), "inherited", "profile")
CLASS: Final = build.ref("GatewayClass", "mesh")


@pytest.mark.parametrize(
    ("restricted", "namespace", "expected"),
    [
        (RestrictedTarget(HTTP_ROUTE, "infra", ("x",)), "default", None),
        (RestrictedTarget(GATEWAY_CLASS), "default", None),
        (RestrictedTarget(GATEWAY_CLASS, "infra", ("mesh", "x")), "infra", None),
        (
            RestrictedTarget(GATEWAY_CLASS, "infra"),
            "default",
            ("not permitted", "a GatewayClass can be the target only of ColorPolicies in infra, not in default"),
        ),
        (
            RestrictedTarget(GATEWAY_CLASS, "infra"),
            "${HOME}",
            ("target unknown", "a GatewayClass can be the target only of ColorPolicies in infra, not in ${HOME}"),
        ),
        (
            RestrictedTarget(GATEWAY_CLASS, "", ("x", "y")),
            "default",
            ("not permitted", "of GatewayClasses, a ColorPolicy can target only x and y, not mesh"),
        ),
    ],
    ids=str,
)
def test_which_policies_may_name_a_target(
    restricted: RestrictedTarget, namespace: str, expected: tuple[str, str] | None
) -> None:
    policy = build.policy("p", build.target("mesh", "GatewayClass"), namespace=namespace)
    failure = target_restriction(policy, replace(PROFILE, restricted_targets=(restricted,)), CLASS)
    assert (failure and (failure.state, failure.message)) == expected


def test_a_name_that_is_to_be_filled_in_may_be_allowed() -> None:
    restricted = replace(PROFILE, restricted_targets=(RestrictedTarget(GATEWAY_CLASS, "", ("mesh",)),))
    failure = target_restriction(build.policy("p"), restricted, build.ref("GatewayClass", "${CLASS}"))
    assert failure
    assert failure.state == "target unknown"


@pytest.mark.parametrize(
    ("meaning", "spec", "message"),
    [
        ("ignored", {"b": 1}, ""),
        ("invalid", {"a": 1, "b": None}, ""),
        (
            "invalid",
            {"a": 1, "b": 1, "c": 1},
            "a policy on an HTTPRoute may set only a, and ColorPolicy default/p sets b and c",
        ),
    ],
    ids=str,
)
def test_what_a_policy_may_set(meaning: OtherFields, spec: dict[str, Json], message: str) -> None:
    variant = Variant(targets=frozenset({HTTP_ROUTE}), fields=frozenset({"a"}), other_fields=meaning)
    profile = replace(PROFILE, variants=(variant,))
    policy = build.policy("p", build.ON_ROUTE, **spec)  # type: ignore[arg-type]
    failure = field_restriction(policy, profile, build.ref("HTTPRoute", "r"))
    assert (failure.message if failure else "") == message
    assert field_restriction(policy, profile, build.ref("GRPCRoute", "r")) is None


def test_no_edit_names_what_the_profile_excludes() -> None:
    """The class of the waypoint is a target only of policies in the root namespace."""
    waypoint = build.gateway("g", class_name="istio-waypoint")
    base = (build.gateway_class("istio-waypoint", "istio.io/mesh-controller"), waypoint, build.route(), build.service())
    for namespace, helps in (("default", False), ("istio-system", True)):
        policy = build.policy(
            "p",
            build.target("gone"),
            kind="AuthorizationPolicy",
            group="security.istio.io",
            namespace=namespace,
            action="DENY",
        )
        analysis = analyze(build.snapshot(*base, policy, complete=True))
        edits = why_not(analysis, policy.ref, build.node("HTTPRoute", "r")).edits
        names = {str(change.added) for edit in edits for change in edit.changes}
        assert any("istio-waypoint" in name for name in names) is helps


def test_other_settings_than_authorization_make_a_policy_on_a_tcp_route_invalid() -> None:
    """Not one further up: of that one the rest is left out."""
    route = build.route("raw", kind="TCPRoute")
    gateway = build.gateway("g", build.listener("tcp", "TCP", 9000))
    ours = build.gateway_class(controller="gateway.envoyproxy.io/gatewayclass-controller")
    spec: dict[str, Json] = {"cors": {"maxAge": "1h"}, "authorization": {"defaultAction": "Deny"}}
    states = []
    for target in (build.target("raw", "TCPRoute"), build.ON_GATEWAY):
        fields: Json = {"targetRefs": [target], **spec}
        policy = build.resource("SecurityPolicy", "p", fields, group="gateway.envoyproxy.io", age=1)
        analysis = analyze(build.snapshot(ours, gateway, route, build.service(), policy, complete=True))
        states.append((analysis.attachments[policy.ref][0].state, analysis.enforcement(policy.ref).state))
    assert states == [("policy invalid", "Invalid"), ("attached", "PartiallyEnforced")]
