"""Tests of the part that a policy has in merges."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

import pytest
from msgspec.structs import replace

from kubectl_policy import Analysis, MergeStrategy, PolicyKindProfile, TargetLevel, analyze
from kubectl_policy.model import GroupKind, Json, NodeRef, Resource
from kubectl_policy.model.kind_roles import GATEWAY_API
from kubectl_policy.profiles.merging import JointField, MergeScope
from kubectl_policy.questions.predicted_conditions import least, merged_state
from tests import build
from tests.questions.build import color_kind

if TYPE_CHECKING:
    from collections.abc import Collection, Mapping

    from kubectl_policy.profiles.controllers import Event

ROUTE_KIND: Final = GroupKind(GATEWAY_API, "HTTPRoute")
RULES: Final = TargetLevel(ROUTE_KIND, section=True)
G: Final = build.node("Gateway", "g")
HTTP: Final = build.node("Gateway", "g", "http")
ALT: Final = build.node("Gateway", "g", "alt")
R: Final = build.node("HTTPRoute", "r")
PATCHING: Final = color_kind("inherited", effective_targets=(RULES,), same_level="first-wins")
WORLD: Final = (
    build.gateway_class(),
    build.gateway("g", build.listener("http"), build.listener("alt", port=81)),
    build.route("r", parents=[build.parent("g", "http")]),
    build.route("q", parents=[build.parent("g", "alt")]),
    build.service(),
    build.namespace("default"),
)
TO_G: Final = build.target("g")
TO_R: Final = build.target("r", "HTTPRoute")


def colours(name: str, target: Mapping[str, Json], age: int = 1, **spec: Json) -> Resource:
    return build.resource("ColorPolicy", name, {"targetRefs": [target], **spec}, group="example.com", age=age)


def analysis_of(*policies: Resource, profile: PolicyKindProfile = PATCHING) -> Analysis:
    return analyze(build.snapshot(*WORLD, *policies, complete=True), profiles=[profile])


def share(analysis: Analysis, name: str, place: NodeRef, target: NodeRef) -> Event:
    return merged_state(analysis, build.ref("ColorPolicy", name, group="example.com"), place, target)


@pytest.mark.parametrize(
    ("shares", "expected"),
    [
        ((), "enforced"),
        ({"enforced"}, "enforced"),
        ({"enforced", "partially enforced"}, "partially enforced"),
        ({"enforced", "overridden"}, "overridden"),
        ({"enforced", "partially enforced", "overridden"}, "overridden"),
        ({"overridden"}, "overridden"),
    ],
)
def test_the_worst_of_several(shares: Collection[Event], expected: Event) -> None:
    assert least(shares) == expected


def test_alone() -> None:
    analysis = analysis_of(colours("p", TO_G, a=1, b=1))
    assert share(analysis, "p", G, G) == "enforced"
    assert share(analysis, "p", HTTP, G) == "enforced"


def test_all_of_one_merge_and_some_of_another() -> None:
    """The least part counts at a place below which both are, and each at the listener to which it belongs."""
    analysis = analysis_of(colours("p", TO_G, a=1, b=1), colours("below", TO_R, a=2))
    assert share(analysis, "p", G, G) == "partially enforced"
    assert share(analysis, "p", HTTP, G) == "partially enforced"
    assert share(analysis, "p", ALT, G) == "enforced"
    assert share(analysis, "below", G, R) == "partially enforced"


def test_nothing_of_a_merge() -> None:
    analysis = analysis_of(colours("p", TO_G, a=1), colours("below", TO_R, a=2, b=2))
    assert share(analysis, "p", HTTP, G) == "overridden"
    assert share(analysis, "p", ALT, G) == "enforced"
    assert share(analysis, "p", G, G) == "overridden"
    assert share(analysis, "below", HTTP, R) == "enforced"


def test_a_merge_in_which_it_is_not() -> None:
    """Where a nearer one takes its place as a whole there is nothing in which it could have a part."""
    atomic = replace(PATCHING, strategy=MergeStrategy.ATOMIC_DEFAULTS)
    analysis = analysis_of(colours("p", TO_G, a=1), colours("below", TO_R, a=2), profile=atomic)
    assert share(analysis, "p", HTTP, G) == share(analysis, "below", HTTP, R) == "enforced"


def test_a_place_that_the_target_does_not_lead_through() -> None:
    analysis = analysis_of(colours("p", TO_R, a=1), colours("older", TO_R, age=0, a=2))
    assert share(analysis, "p", HTTP, R) == "overridden"
    assert share(analysis, "p", ALT, R) == "enforced"


def test_where_no_policy_of_the_kind_counts() -> None:
    theirs = replace(PATCHING, controllers=frozenset({"example.org/other"}))
    analysis = analysis_of(colours("p", TO_G, a=1), colours("below", TO_R, a=2), profile=theirs)
    assert share(analysis, "p", G, G) == "enforced"


def test_without_a_listener() -> None:
    direct = color_kind(same_level="first-wins")
    alone = build.target("alone", "Service", group="")
    place = build.node("Service", "alone", group="")
    policies = (colours("p", alone, a=1), colours("older", alone, age=0, a=2))
    analysis = analysis_of(build.service("alone"), *policies, profile=direct)
    assert share(analysis, "p", place, place) == "overridden"
    assert share(analysis, "older", place, place) == "enforced"
    assert share(analysis, "p", build.node("Service", "s", group=""), place) == "enforced"


def test_scopes_are_looked_at_one_by_one() -> None:
    scoped = replace(PATCHING, scopes=(MergeScope((RULES, TargetLevel(ROUTE_KIND, section=False))),))
    analysis = analysis_of(colours("p", TO_G, a=1, b=1), colours("below", TO_R, a=2, b=2), profile=scoped)
    assert share(analysis, "p", HTTP, G) == "enforced"
    assert share(analysis, "below", HTTP, R) == "enforced"


def test_a_field_that_is_put_together_is_one() -> None:
    joint = replace(PATCHING, joint_fields=(JointField(field="rules", within=("level", "levels"), by="*"),))
    policies = (colours("p", TO_R, rules={"x": 1}), colours("older", TO_R, age=0, rules={"y": 2}))
    for profile, expected in ((joint, "enforced"), (PATCHING, "partially enforced")):
        analysis = analysis_of(*policies, profile=profile)
        assert share(analysis, "p", HTTP, R) == share(analysis, "older", HTTP, R) == expected
