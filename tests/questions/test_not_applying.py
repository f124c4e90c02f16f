"""What does not apply to an object although one might expect it: kinds that a Gateway on a path does not enable."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Final

from kubectl_policy import PolicyKindProfile, analyze
from kubectl_policy.model import GroupKind
from kubectl_policy.profiles.profile import RequiredParameter
from kubectl_policy.questions.describe.objects import NotApplying, not_applying
from tests import build

if TYPE_CHECKING:
    from kubectl_policy.model import Json, NodeRef, Resource

SWITCHED: Final = PolicyKindProfile(
    GroupKind("example.com", "ColorPolicy"),
    "inherited",
    "profile",
    enabled_by=RequiredParameter(GroupKind("example.com", "Settings"), "colours.enable"),
    stanzas="none",
)
PARAMETERS: Final[Json] = {"parametersRef": {"group": "example.com", "kind": "Settings", "name": "s"}}
ROUTE: Final = build.node("HTTPRoute", "r")
P: Final = build.policy("p", build.target("r", "HTTPRoute"), age=1, color="red")
WORLD: Final = (
    build.gateway_class(),
    build.gateway("free"),
    build.gateway("mute", infrastructure=PARAMETERS),
    build.route("r", parents=[build.parent("free"), build.parent("mute")]),
    build.service(),
    build.namespace("default"),
)


def settings(*, enable: bool) -> Resource:
    """The parameters of one of the Gateways."""
    return build.resource("Settings", "s", {"colours": {"enable": enable}}, group="example.com")


def found(
    *objects: Resource, at: NodeRef = ROUTE, profile: PolicyKindProfile = SWITCHED, complete: bool = True
) -> tuple[NotApplying, ...]:
    """What does not apply in a world with two Gateways and these objects."""
    analysis = analyze(build.snapshot(*WORLD, *objects, complete=complete), profiles=[profile])
    return not_applying(analysis, at, analysis.topology.paths(at))


def test_a_gateway_that_does_not_let_the_kind_be_used() -> None:
    """That is said of each policy on the path, once, with the Gateway and the field."""
    why = (
        "not by way of Gateway default/mute, since spec.colours.enable is false in Settings default/s of "
        "Gateway default/mute"
    )
    assert found(P, settings(enable=False)) == (NotApplying(policy=P.ref, target=ROUTE, message=why),)
    service = build.node("Service", "s", group="")
    assert found(P, settings(enable=False), at=service) == (NotApplying(policy=P.ref, target=ROUTE, message=why),)


def test_a_gateway_that_does() -> None:
    """Or of which that is not known, or a kind that nothing has to enable."""
    assert found(P, settings(enable=True)) == ()
    assert found(P, complete=False) == ()
    assert found(P, settings(enable=False), profile=replace(SWITCHED, enabled_by=None)) == ()


def test_a_path_without_such_a_gateway() -> None:
    """Nothing is said where only the other one is above."""
    assert found(P, settings(enable=False), at=build.node("Gateway", "free")) == ()


def test_a_policy_that_is_not_enabled_anywhere() -> None:
    """Has failed, and that is said once."""
    on_gateway = build.policy("p", build.target("mute"), age=1, color="red")
    mute = build.node("Gateway", "mute")
    message = "spec.colours.enable is false in Settings default/s of Gateway default/mute"
    assert found(on_gateway, settings(enable=False), at=mute) == (
        NotApplying(policy=on_gateway.ref, target=mute, message=message),
    )
