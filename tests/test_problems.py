"""Problems of policies beside their references: what they need, what they share, and whose targets they name."""

from __future__ import annotations

from typing import Final

import pytest

from kubectl_policy import PolicyKindProfile, TargetLevel, analyze
from kubectl_policy.model import Diagnostic, GroupKind, Json, Resource
from kubectl_policy.model.kind_roles import GATEWAY_API
from kubectl_policy.profiles.controllers import GatewayProfile
from kubectl_policy.profiles.needs import RequiredObject, RequiredParameter
from tests import build

KEYS: Final = GroupKind("example.com", "KeyPolicy")
P: Final = build.ref("KeyPolicy", "p", group="example.com")
ON_GATEWAY: Final = build.policy("p", build.target("g"), kind="KeyPolicy", age=1)
NEEDS_ADDRESSES: Final = PolicyKindProfile(KEYS, "direct", "profile", target_status="status.addresses")
LISTENERS: Final = (TargetLevel(GroupKind(GATEWAY_API, "Gateway"), section=True),)


def problems(profile: PolicyKindProfile, *resources: Resource) -> list[Diagnostic]:
    """The problems of policy `p` in what is given."""
    return list(analyze(build.listed(build.snapshot(*resources)), profiles=[profile]).problems_of(P))


def test_nothing_is_wrong_with_a_target_that_has_what_is_needed() -> None:
    ready = build.resource("Gateway", "g", {"listeners": []}, status={"addresses": [{"value": "192.0.2.1"}]})
    assert problems(NEEDS_ADDRESSES, ready, ON_GATEWAY) == []
    assert problems(PolicyKindProfile(KEYS, "direct", "profile"), build.gateway("g"), ON_GATEWAY) == []


EMPTY: Final[list[Json]] = [{}, {"addresses": []}, {"addresses": None}, "x", [], 1, {"address": ["a"]}]


@pytest.mark.parametrize("status", EMPTY, ids=str)
def test_a_target_whose_status_lacks_what_a_policy_needs(status: Json) -> None:
    pending = build.resource("Gateway", "g", {"listeners": []}, status=status)
    assert problems(NEEDS_ADDRESSES, pending, ON_GATEWAY) == [
        Diagnostic(
            "target-status-missing",
            "warning",
            "KeyPolicy default/p: Gateway default/g has no status.addresses; without that the policy does nothing",
            P,
            "status.addresses",
            build.ORIGIN,
            (build.ref("Gateway", "g"),),
        )
    ]


def test_a_target_without_a_status_is_in_doubt() -> None:
    """Manifests seldom have one, so it is not known what the cluster has; a missing target lacks nothing."""
    (found,) = problems(NEEDS_ADDRESSES, build.gateway("g"), ON_GATEWAY)
    assert (found.rule, found.severity) == ("target-status-missing", "info")
    assert "was read without its status" in found.message
    assert [problem.rule for problem in problems(NEEDS_ADDRESSES, build.gateway("other"), ON_GATEWAY)] == [
        "target-missing"
    ]


def test_listeners_that_share_what_each_needs_for_itself() -> None:
    profile = PolicyKindProfile(
        KEYS, "direct", "profile", effective_targets=LISTENERS, exclusive_field="tls.certificateRefs"
    )
    tls: Json = {"certificateRefs": [{"name": "key"}]}
    gateway = build.gateway("g", *(build.listener(name, "HTTPS", 443, tls=tls) for name in "ab"))
    older = build.policy("older", build.target("g", section="a"), kind="KeyPolicy", age=0)
    on_b = build.policy("p", build.target("g", section="b"), kind="KeyPolicy", age=1)
    assert problems(profile, gateway, older, on_b) == [
        Diagnostic(
            "target-contended",
            "error",
            "KeyPolicy default/p: Gateway default/g#b uses Secret default/key like Gateway default/g#a, "
            "for which KeyPolicy default/older came first; each needs its own",
            P,
            origin=build.ORIGIN,
            related=(build.ref("Gateway", "g"), build.ref("Gateway", "g")),
        )
    ]
    undated = build.policy("older", build.target("g", section="a"), kind="KeyPolicy")
    (found,) = problems(profile, gateway, undated, build.policy("p", build.target("g", section="b"), kind="KeyPolicy"))
    assert (
        "KeyPolicy default/older came first, by name because creationTimestamp is missing; each needs" in found.message
    )
    messages = [problem.message for problem in problems(profile, gateway, ON_GATEWAY)]
    assert messages == [
        f"KeyPolicy default/p: Gateway default/g#{one} uses Secret default/key like Gateway default/g#{other}; "
        "each needs its own"
        for one, other in ("ba", "ab")
    ]


def test_a_target_of_another_controller_is_a_warning() -> None:
    profile = PolicyKindProfile(KEYS, "inherited", "profile", controllers=frozenset({"example.com/ours"}))
    theirs = build.gateway_class("public", "example.com/theirs")
    (problem,) = problems(profile, theirs, build.gateway("g"), ON_GATEWAY)
    assert (problem.rule, problem.severity, problem.reason) == ("target-not-managed", "warning", "")
    assert (problem.field, problem.related) == ("spec.targetRefs[0]", (build.ref("Gateway", "g"),))
    assert problems(profile, build.gateway("g"), ON_GATEWAY) == []


def test_what_a_policy_cannot_do_without() -> None:
    need = RequiredObject(field="spec.storeRef", group="example.com", kinds=("Store",))
    profile = PolicyKindProfile(KEYS, "direct", "profile", needs=(need,))
    naming = build.policy("p", build.target("g"), kind="KeyPolicy", age=1, storeRef={"name": "gone"})
    world = (build.gateway("g"), naming)
    assert problems(profile, *world) == []
    other = build.resource("Store", "other", group="example.com")
    (problem,) = problems(profile, *world, other)
    assert (problem.rule, problem.severity) == ("policy-invalid", "error")
    assert "Store default/gone" in problem.message


def test_a_kind_that_does_not_attach_by_references_lacks_none() -> None:
    nothing = build.policy("p", kind="KeyPolicy", age=1, a=1)
    assert problems(PolicyKindProfile(KEYS, "direct", "profile", attachment="none"), nothing) == []
    assert [problem.rule for problem in problems(PolicyKindProfile(KEYS, "direct", "profile"), nothing)] == [
        "no-target"
    ]


OURS: Final = "example.com/gateway"
PASSING: Final = PolicyKindProfile(
    KEYS,
    "inherited",
    "profile",
    controllers=frozenset({OURS}),
    gateways=GatewayProfile(invalid_parents="passedOver"),
    enabled_by=RequiredParameter(GroupKind("example.com", "Settings"), "keys.enable"),
    overlap="refused",
)
ON_ROUTE: Final = build.policy("p", build.target("a", "HTTPRoute"), kind="KeyPolicy", age=1)
PARAMETERS: Final[Json] = {"parametersRef": {"group": "example.com", "kind": "Settings", "name": "s"}}
OFF: Final = build.resource("Settings", "s", {"keys": {"enable": False}}, group="example.com")


def outcomes(*resources: Resource, complete: bool = True) -> list[tuple[str, str, str, str]]:
    """Rule, severity, field and message of each problem of policy `p` with two routes that share their requests."""
    world = (build.gateway_class(), build.service(), build.route("a"), *resources)
    analysis = analyze(build.snapshot(*world, complete=complete), profiles=[PASSING])
    return [(problem.rule, problem.severity, problem.field, problem.message) for problem in analysis.problems_of(P)]


class TestAttachmentsThatFail:
    field: Final = "spec.targetRefs[0]"

    def test_a_gateway_that_is_not_valid(self) -> None:
        message = (
            "KeyPolicy default/p: spec.targetRefs[0]: Gateway default/g is not valid: "
            "spec.infrastructure.parametersRef: Settings default/s does not exist"
        )
        broken = build.gateway("g", infrastructure=PARAMETERS)
        assert outcomes(broken, ON_GATEWAY) == [("target-invalid", "error", self.field, message)]
        assert outcomes(broken, ON_GATEWAY, complete=False) == []

    def test_a_kind_that_is_not_enabled(self) -> None:
        message = (
            "KeyPolicy default/p: spec.targetRefs[0]: spec.keys.enable is false in Settings default/s of Gateway "
            "default/g"
        )
        off = build.gateway("g", infrastructure=PARAMETERS)
        assert outcomes(off, OFF, ON_GATEWAY) == [("target-not-enabled", "error", self.field, message)]
        assert outcomes(off, OFF, ON_ROUTE) == [("target-not-enabled", "error", self.field, message)]

    def test_a_route_that_shares_its_requests(self) -> None:
        message = (
            "KeyPolicy default/p: spec.targetRefs[0]: HTTPRoute default/a and HTTPRoute default/b, which the policy "
            "does not target, both take requests for / on port 80 of Gateway default/g"
        )
        other = build.route("b")
        assert outcomes(build.gateway("g"), other, ON_ROUTE) == [("target-overlaps", "error", self.field, message)]
        assert outcomes(build.gateway("g"), ON_ROUTE) == []


def test_what_is_to_be_filled_in_breaks_no_schema() -> None:
    schema: Json = {
        "type": "object",
        "properties": {
            "spec": {"type": "object", "properties": {"size": {"type": "integer"}, "shape": {"type": "integer"}}}
        },
    }
    unfilled, wrong = build.policy("p", size="${SIZE}"), build.policy("q", size="large", shape="odd")
    analysis = analyze(build.snapshot(build.crd("ColorPolicy", schema=schema), unfilled, wrong))
    assert [problem.field for problem in analysis.problems_of(unfilled.ref) if problem.rule == "schema"] == []
    assert len([problem for problem in analysis.problems_of(wrong.ref) if problem.rule == "schema"]) == 2
