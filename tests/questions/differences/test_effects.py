"""Changes of effective policies: fields, paths and objects."""

from __future__ import annotations

from collections.abc import Mapping
from math import nan
from typing import Final

import pytest
from msgspec.structs import replace

from kubectl_policy import MergeStrategy, PolicyKindProfile, TargetLevel
from kubectl_policy.model import GroupKind, Json, Resource
from kubectl_policy.model.kind_roles import GATEWAY_API
from kubectl_policy.questions.differences.effects import ChangeSort, EffectChange, EffectiveValue, FieldChange
from tests import build, differences
from tests.differences import between, color, concerned, enforcement, ref, told, without
from tests.questions.build import COLOR, color_kind
from tests.resolution.build import source

PROFILE: Final = color_kind("inherited", security_fields=frozenset({"jwt"}))
G: Final = build.ON_GATEWAY
ONE: Final = build.target("one", "HTTPRoute")
TWO: Final = build.target("two", "HTTPRoute")
WORLD: Final = (
    build.gateway_class(),
    build.namespace("default"),
    build.gateway(),
    build.route("one"),
    build.route("two", rules=[build.rule(build.backend("t"))]),
    build.service("s"),
    build.service("t"),
)
ON_ONE: Final = "default/g/http/one/rule[0]/s/8080"
ON_TWO: Final = "default/g/http/two/rule[0]/t/8080"


def change(*sorts: ChangeSort, security: bool = False) -> EffectChange:
    value, other = EffectiveValue(1, source("p"), removed=False), EffectiveValue(1, source("q"), removed=False)
    states = {
        "lost": (value, None),
        "gained": (None, value),
        "changed": (value, replace(other, value=2)),
        "moved": (value, other),
    }
    fields = tuple(FieldChange(sort, *states[sort], security=security) for sort in sorts)
    return EffectChange(
        profile=PolicyKindProfile(COLOR, "inherited", "profile"),
        fields=fields,
        where="kept",
        from_nothing=False,
        to_nothing=False,
        paths=(),
        objects=(),
        assumed=(),
        doubts=(),
    )


@pytest.mark.parametrize(
    ("sorts", "worst", "security"),
    [
        (("moved",), "moved", False),
        (("moved", "gained"), "gained", False),
        (("gained", "changed"), "changed", True),
        (("changed", "lost", "moved"), "lost", True),
    ],
)
def test_the_worst_of_what_happens(sorts: tuple[ChangeSort, ...], worst: ChangeSort, *, security: bool) -> None:
    assert change(*sorts).sort == worst
    assert not change(*sorts).harmful
    assert change(*sorts, security=True).harmful is security


class TestGroups:
    def test_otherwise_on_each_path(self) -> None:
        world = [*WORLD, color("g", G, a=0), color("one", ONE, a=1), color("two", TWO, a=2)]
        found = without(world, ref("one"), ref("two"), profiles=[PROFILE])
        assert [len(one.paths) for one in found.effects] == [1, 1]

    def test_in_the_same_way_on_two_paths(self) -> None:
        found = without([*WORLD, color("g", G, a=1)], ref("g"), profiles=[PROFILE])
        (only,) = found.effects
        assert told(found) == [f"kept {ON_ONE} a: 1 g -> nothing", f"kept {ON_TWO} a: 1 g -> nothing"]
        assert [(str(one.node), one.paths) for one in only.objects] == [
            ("Gateway default/g", (0, 1)),
            ("HTTPRoute default/one", (0,)),
            ("HTTPRoute default/two", (1,)),
            ("Service default/s", (0,)),
            ("Service default/t", (1,)),
        ]
        assert (only.from_nothing, only.to_nothing) == (False, True)

    def test_where_something_else_is_left(self) -> None:
        found = without([*WORLD, color("g", G, a=1), color("one", ONE, b=1)], ref("g"), profiles=[PROFILE])
        assert [(one.from_nothing, one.to_nothing, len(one.paths)) for one in found.effects] == [
            (False, True, 1),
            (False, False, 1),
        ]

    def test_where_there_was_nothing(self) -> None:
        found = between(WORLD, [*WORLD, color("g", G, a=1)], PROFILE)
        assert [(one.from_nothing, one.to_nothing) for one in found.effects] == [(True, False)]

    def test_an_object_has_other_paths_as_well(self) -> None:
        both = build.route("one", rules=[build.rule(build.backend("s"))])
        world = [*WORLD[:3], both, build.route("two"), *WORLD[5:], color("one", ONE, a=1)]
        (found,) = without(world, ref("one"), profiles=[PROFILE]).effects
        scoped = {str(one.node): (len(one.all_paths), one.affected_paths) for one in found.objects}
        assert scoped == {"HTTPRoute default/one": (0, ()), "Service default/s": (2, (0,))}

    def test_the_levels_at_which_a_kind_takes_effect(self) -> None:
        levels = replace(PROFILE, effective_targets=(TargetLevel(GroupKind(GATEWAY_API, "HTTPRoute")),))
        found = without([*WORLD, color("g", G, a=1)], ref("g"), profiles=[levels])
        assert concerned(found) == [["HTTPRoute default/one", "HTTPRoute default/two"]]

    def test_doubts(self) -> None:
        world = [*WORLD, color("a", ONE, a=1), color("b", ONE, a=2)]
        (found,) = without(world, ref("b"), profiles=[PROFILE]).effects
        assert found.doubts == ("age unknown",)


def test_the_worst_first() -> None:
    """Security, then lost, changed, gained and moved; then what is lost with its path, and what is new with it."""
    targets: dict[str, Mapping[str, Json]] = {}
    routes: list[Resource] = []
    for name in ("moved", "gained", "changed", "lost", "protected"):
        routes.append(build.route(name, rules=[build.rule(build.backend(name))]))
        targets[name] = build.target(name, "HTTPRoute")
    services = [build.service(name) for name in targets]
    world = [*WORLD[:3], *routes, *services]
    before = [
        color("moved", targets["moved"], age=1, a=1),
        color("changed", targets["changed"], a=1),
        color("lost", targets["lost"], a=1),
        color("protected", targets["protected"], jwt=1),
        build.route("gone", rules=[build.rule(build.backend("moved"))]),
    ]
    after = [
        color("moved", targets["moved"], age=1, a=1),
        color("also", targets["moved"], age=2, a=1),
        color("changed", targets["changed"], a=2),
        color("gained", targets["gained"], a=1),
        build.route("new", rules=[build.rule(build.backend("moved"))]),
    ]
    everywhere = color("g", G, z=1)
    found = between([*world, everywhere, *before], [*world, everywhere, *after], PROFILE)
    assert [(one.where, one.harmful, one.sort) for one in found.effects] == [
        ("kept", True, "lost"),
        ("kept", False, "lost"),
        ("kept", False, "changed"),
        ("kept", False, "gained"),
        ("kept", False, "moved"),
        ("gone", False, "lost"),
        ("new", False, "gained"),
    ]


PATCHING: Final = color_kind(same_level="newest-challenges")
APART: Final = color_kind(strategy=MergeStrategy.ALL_APPLY, same_level="all-apply")
KEYED: Final = color_kind(
    strategy=MergeStrategy.STRATEGIC_MERGE, same_level="newest-challenges", list_keys={"filters": "name", "rules": ""}
)
ONE_SERVICE: Final = (
    build.gateway_class(),
    build.namespace("default"),
    build.gateway(),
    build.route(),
    build.service(),
)


def on_service(name: str = "p", age: int = 1, **spec: Json) -> Resource:
    return differences.color(name, build.ON_SERVICE, age=age, **spec)


def fields(before: list[Resource], after: list[Resource], profile: PolicyKindProfile = PATCHING) -> list[str]:
    place = "kept default/g/http/r/rule[0]/s/8080 "
    lines = told(between([*ONE_SERVICE, *before], [*ONE_SERVICE, *after], profile))
    assert all(line.startswith(place) for line in lines)
    return [line.removeprefix(place) for line in lines]


def valued(value: Json, who: str = "p", *, removed: bool = False) -> EffectiveValue:
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
    assert FieldChange("f", before, after, security=False).sort == sort


@pytest.mark.parametrize("value", [1, "x", True, [1, {"a": None}], {}])
def test_the_same_value_of_the_same_policy_is_no_difference(value: Json) -> None:
    before, after = (
        on_service(a=value),
        build.resource(
            "ColorPolicy", "p", on_service(a=value).raw["spec"], group="example.com", age=1, labels={"a": "b"}
        ),
    )
    assert fields([before], [after]) == []
    assert fields([on_service(a=nan)], [on_service(a=nan)]) == []


def test_true_is_not_one() -> None:
    """Although Python says so; in the same order of fields as the policy has."""
    assert fields([on_service(b=1, a=0)], [on_service(b=True, a=False)]) == ["b: 1 p -> True p", "a: 0 p -> False p"]


def test_each_field_by_itself() -> None:
    before, after = (
        on_service(deep={"same": 1, "other": 2, "lost": 3}, all=[1]),
        on_service(deep={"same": 1, "other": 4}, all=[2]),
    )
    assert fields([before], [after]) == ["deep.other: 2 p -> 4 p", "deep.lost: 3 p -> nothing", "all: [1] p -> [2] p"]


def test_who_sets_it() -> None:
    older, newer = on_service("a", 1, x=1), on_service("b", 2, x=1)
    assert fields([older, newer], [older]) == ["x: 1 b -> 1 a"]
    assert fields([older, newer], [newer]) == []


def test_a_tombstone() -> None:
    older, newer = on_service("a", 1, x=1, y=2), on_service("b", 2, x=None)
    assert fields([older, newer], [older]) == ["x: removed b -> 1 a"]
    assert fields([older], [older, newer]) == ["x: 1 a -> removed b"]
    assert fields([newer], []) == ["x: removed b -> nothing"]


def test_elements_of_lists_by_their_keys() -> None:
    older = on_service("a", 1, filters=[{"name": "x", "v": 1}, {"name": "y", "v": 1}], rules=["one"])
    newer = on_service("b", 2, filters=[{"name": "y", "v": 2}, {"name": "z"}], rules=["two"])
    assert fields([older, newer], [older], KEYED) == [
        "filters[y].name: y b -> y a",
        "filters[y].v: 2 b -> 1 a",
        "filters[z].name: z b -> nothing",
        "rules[1]: two b -> nothing",
    ]


class TestWithoutFields:
    def test_one_that_is_replaced_is_told_as_its_settings(self) -> None:
        assert fields([on_service("a", 1, x=1)], [on_service("a", 1, x=2)]) == ["x: 1 a -> 2 a"]

    def test_beside_others(self) -> None:
        older, empty = on_service("a", 1, x=1), on_service("b", 2)
        assert fields([older, empty], [older]) == [": {} b -> nothing"]
        assert fields([older], [older, empty]) == [": nothing -> {} b"]
        assert fields([older, empty], [empty]) == ["x: 1 a -> nothing"]

    def test_where_each_policy_is_apart(self) -> None:
        other, empty = on_service("a", 1, x=1), on_service("b", 2)
        assert fields([other, empty], [other], APART) == [": {} b -> nothing"]
        assert fields([empty], [], APART) == [": {} b -> nothing"]
        assert fields([other], [], APART) == ["x: 1 a -> nothing"]

    def test_that_gets_settings(self) -> None:
        assert fields([on_service("a")], [on_service("a", x=1)], APART) == ["x: nothing -> 1 a", ": {} a -> nothing"]


def test_one_of_policies_that_all_apply() -> None:
    before = [*ONE_SERVICE, on_service("a", 1, x=1), on_service("b", 2, x=1)]
    found = between(before, before[:-1], APART)
    assert [line.partition(" x: ")[2] for line in told(found)] == ["1 b -> nothing"]
    assert enforcement(found) == {"b": ("Enforced", None, [])}
    assert found.deleted == (ref("b"),)


def test_whose_loss_takes_a_protection_away() -> None:
    for strategy in (MergeStrategy.PATCH_DEFAULTS, MergeStrategy.ALL_APPLY):
        profile = color_kind(strategy=strategy, security_fields=frozenset({"jwt"}))
        found = between([*ONE_SERVICE, on_service(jwt={"issuer": "me"}, x=1)], ONE_SERVICE, profile)
        (change,) = found.effects
        assert [(field.field, field.security) for field in change.fields] == [("jwt.issuer", True), ("x", False)]
        assert change.harmful
