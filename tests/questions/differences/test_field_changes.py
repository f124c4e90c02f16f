"""The fields that differ between two outcomes: in their value, or in who sets it."""

from __future__ import annotations

from math import nan
from typing import TYPE_CHECKING, Final

import pytest

from kubectl_policy import MergeStrategy, PolicyKindProfile
from kubectl_policy.model import GroupKind
from kubectl_policy.questions.differences.effects import EffectiveValue, FieldChange
from tests import build, differences
from tests.differences import between, enforcement, ref, told
from tests.resolution.specs import source

if TYPE_CHECKING:
    from kubectl_policy.model import Json, Resource
    from kubectl_policy.questions.differences.effects import ChangeSort

COLOR: Final = GroupKind("example.com", "ColorPolicy")
PATCHING: Final = PolicyKindProfile(
    COLOR, "direct", "profile", strategy=MergeStrategy.PATCH_DEFAULTS, stanzas="none", same_level="newest-challenges"
)
APART: Final = PolicyKindProfile(
    COLOR, "direct", "profile", strategy=MergeStrategy.ALL_APPLY, stanzas="none", same_level="all-apply"
)
KEYED: Final = PolicyKindProfile(
    COLOR,
    "direct",
    "profile",
    strategy=MergeStrategy.STRATEGIC_MERGE,
    stanzas="none",
    same_level="newest-challenges",
    list_keys={"filters": "name", "rules": ""},
)
WORLD: Final = (build.gateway_class(), build.namespace("default"), build.gateway(), build.route(), build.service())


def color(name: str = "p", age: int = 1, **spec: Json) -> Resource:
    """A ColorPolicy on the Service."""
    return differences.color(name, build.target("s", "Service", group=""), age=age, **spec)


def fields(before: list[Resource], after: list[Resource], profile: PolicyKindProfile = PATCHING) -> list[str]:
    """What differs at the only port of the only Service."""
    place = "kept default/g/http/r/rule[0]/s/8080 "
    lines = told(between([*WORLD, *before], [*WORLD, *after], profile))
    assert all(line.startswith(place) for line in lines)
    return [line.removeprefix(place) for line in lines]


def valued(value: Json, who: str = "p", *, removed: bool = False) -> EffectiveValue:
    """A value by a policy."""
    return EffectiveValue(value, source(who), removed=removed)


@pytest.mark.parametrize(
    ("before", "after", "sort"),
    [
        (valued(1), None, "lost"),
        (valued(1), valued(None, "q", removed=True), "lost"),
        (None, valued(1), "gained"),
        (valued(None, removed=True), valued(1), "gained"),
        (valued(1), valued(2), "changed"),
        (valued(1), valued(value=True), "changed"),
        (valued(1), valued(1, "q"), "moved"),
        (valued(nan), valued(nan, "q"), "moved"),
        (valued(None, removed=True), None, "moved"),
        (valued(None, removed=True), valued(None, "q", removed=True), "moved"),
    ],
)
def test_what_happens_to_a_setting(
    before: EffectiveValue | None, after: EffectiveValue | None, sort: ChangeSort
) -> None:
    """What is removed is not set."""
    assert FieldChange("f", before, after, security=False).sort == sort


@pytest.mark.parametrize("value", [1, "x", True, [1, {"a": None}], {}])
def test_the_same_value_of_the_same_policy_is_no_difference(value: Json) -> None:
    """Nor is a policy written otherwise in what is no setting."""
    before, after = (
        color(a=value),
        build.resource("ColorPolicy", "p", color(a=value).raw["spec"], group="example.com", age=1, labels={"a": "b"}),
    )
    assert fields([before], [after]) == []
    assert fields([color(a=nan)], [color(a=nan)]) == []


def test_true_is_not_one() -> None:
    """Although Python says so; in the same order of fields as the policy has."""
    assert fields([color(b=1, a=0)], [color(b=True, a=False)]) == ["b: 1 p -> True p", "a: 0 p -> False p"]


def test_each_field_by_itself() -> None:
    """What is equal is not told, lists are told whole."""
    before, after = (
        color(deep={"same": 1, "other": 2, "lost": 3}, all=[1]),
        color(deep={"same": 1, "other": 4}, all=[2]),
    )
    assert fields([before], [after]) == [
        "deep.other: 2 p -> 4 p",
        "deep.lost: 3 p -> nothing",
        "all: [1] p -> [2] p",
    ]


def test_who_sets_it() -> None:
    """The same value by another policy is told as well."""
    older, newer = color("a", 1, x=1), color("b", 2, x=1)
    assert fields([older, newer], [older]) == ["x: 1 b -> 1 a"]
    assert fields([older, newer], [newer]) == []


def test_a_tombstone() -> None:
    """A null removes a field; without it the field is there."""
    older, newer = color("a", 1, x=1, y=2), color("b", 2, x=None)
    assert fields([older, newer], [older]) == ["x: removed b -> 1 a"]
    assert fields([older], [older, newer]) == ["x: 1 a -> removed b"]
    assert fields([newer], []) == ["x: removed b -> nothing"]


def test_elements_of_lists_by_their_keys() -> None:
    """One element is lost and one is otherwise; what has no key is known by its place."""
    older = color("a", 1, filters=[{"name": "x", "v": 1}, {"name": "y", "v": 1}], rules=["one"])
    newer = color("b", 2, filters=[{"name": "y", "v": 2}, {"name": "z"}], rules=["two"])
    assert fields([older, newer], [older], KEYED) == [
        "filters[y].name: y b -> y a",
        "filters[y].v: 2 b -> 1 a",
        "filters[z].name: z b -> nothing",
        "rules[1]: two b -> nothing",
    ]


class TestWithoutFields:
    """A policy that takes part although it declares nothing."""

    def test_one_that_is_replaced_is_told_as_its_settings(self) -> None:
        """There is nothing without a name."""
        assert fields([color("a", 1, x=1)], [color("a", 1, x=2)]) == ["x: 1 a -> 2 a"]

    def test_beside_others(self) -> None:
        """It comes and goes."""
        older, empty = color("a", 1, x=1), color("b", 2)
        assert fields([older, empty], [older]) == [": {} b -> nothing"]
        assert fields([older], [older, empty]) == [": nothing -> {} b"]
        assert fields([older, empty], [empty]) == ["x: 1 a -> nothing"]

    def test_where_each_policy_is_apart(self) -> None:
        """As one that allows nothing at all by saying nothing."""
        other, empty = color("a", 1, x=1), color("b", 2)
        assert fields([other, empty], [other], APART) == [": {} b -> nothing"]
        assert fields([empty], [], APART) == [": {} b -> nothing"]
        assert fields([other], [], APART) == ["x: 1 a -> nothing"]

    def test_that_gets_settings(self) -> None:
        """It has been there, but without them."""
        assert fields([color("a")], [color("a", x=1)], APART) == ["x: nothing -> 1 a", ": {} a -> nothing"]


def test_one_of_policies_that_all_apply() -> None:
    """The settings of the others are what they were, and so is what has become of them."""
    before = [*WORLD, color("a", 1, x=1), color("b", 2, x=1)]
    found = between(before, before[:-1], APART)
    assert [line.partition(" x: ")[2] for line in told(found)] == ["1 b -> nothing"]
    assert enforcement(found) == {"b": ("Enforced", None, [])}
    assert found.deleted == (ref("b"),)


def test_whose_loss_takes_a_protection_away() -> None:
    """As the profile says of the field in the spec proper, also where each policy is apart."""
    for strategy in (MergeStrategy.PATCH_DEFAULTS, MergeStrategy.ALL_APPLY):
        profile = PolicyKindProfile(
            COLOR, "direct", "profile", strategy=strategy, stanzas="none", security_fields=frozenset({"jwt"})
        )
        found = between([*WORLD, color(jwt={"issuer": "me"}, x=1)], WORLD, profile)
        (change,) = found.effects
        assert [(field.field, field.security) for field in change.fields] == [("jwt.issuer", True), ("x", False)]
        assert change.harmful
