"""Fields by the names that people know them by: elements of lists, policies that all apply, and their fates."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

import pytest

from kubectl_policy import MergeStrategy, PolicyKindProfile, analyze
from kubectl_policy.model import GroupKind
from kubectl_policy.questions.describe.objects import describe
from kubectl_policy.questions.describe.policies import describe_policy
from kubectl_policy.questions.shared.fields import declared_fields, named_fates, named_leaves
from kubectl_policy.resolution.traced import KeyedList, trace, with_keyed_lists
from tests import build
from tests.resolution.specs import source

if TYPE_CHECKING:
    from kubectl_policy import EffectivePolicy
    from kubectl_policy.model import Json, Resource
    from kubectl_policy.questions.describe.policies import FieldOutcome

COLOR: Final = GroupKind("example.com", "ColorPolicy")
PLAIN: Final = PolicyKindProfile(COLOR, "inherited", "profile", stanzas="none")
MERGING: Final = PolicyKindProfile(
    COLOR,
    "inherited",
    "profile",
    strategy=MergeStrategy.ATOMIC_DEFAULTS,
    stanzas="none",
    strategy_field="spec.merge",
    chooser="challenger",
    list_keys={"paints": "name", "deep.strokes": ""},
)
APART: Final = PolicyKindProfile(COLOR, "inherited", "profile", strategy=MergeStrategy.ALL_APPLY, stanzas="none")


def names(spec: dict[str, Json], profile: PolicyKindProfile = MERGING) -> list[str]:
    """The names of all leaves of a policy's spec, its lists keyed as the profile says."""
    keys = {tuple(name.split(".")): key for name, key in profile.list_keys.items()}
    return [found.name for found in named_leaves(with_keyed_lists(trace(spec, source("p")), keys), profile)]


def test_a_field_outside_of_lists_is_called_by_its_path() -> None:
    """Keys that hold other characters than names do are quoted; a list that is not merged is one field."""
    spec: dict[str, Json] = {"a": {"b": 1, "c.d/e": {"f": 2}}, "x y": 3, "list": [1, {"name": "n"}]}
    assert names(spec, PLAIN) == ["a.b", 'a["c.d/e"].f', '["x y"]', "list"]


def test_an_element_of_a_list_is_called_by_its_key_or_its_place() -> None:
    """By its place if nothing else tells it from others, at any depth."""
    spec: dict[str, Json] = {
        "paints": [{"name": "red", "opaque": True}, {"name": "a/b"}],
        "deep": {"strokes": [{"width": 1}, "dotted"]},
    }
    assert names(spec) == [
        "paints[red].name",
        "paints[red].opaque",
        "paints[a/b].name",
        "deep.strokes[0].width",
        "deep.strokes[1]",
    ]


def test_a_list_within_an_element_is_part_of_the_element() -> None:
    """Whatever its own name is."""
    assert names({"paints": [{"name": "red", "paints": [{"name": "blue"}]}]}) == [
        "paints[red].name",
        "paints[red].paints",
    ]


def test_whole_elements_have_names_as_well() -> None:
    """A kind that takes each element as it is knows them by a key too."""
    found = trace({"rules": [{"name": "a", "x": 1}]}, source("p"), [("rules[name]",)])
    assert isinstance(found["rules"], KeyedList)
    assert [(each.name, each.leaf.value) for each in named_leaves(found, PLAIN)] == [
        ("rules[a]", {"name": "a", "x": 1})
    ]


def of_kind(profile: PolicyKindProfile, *policies: Resource) -> list[EffectivePolicy]:
    """What the policies amount to at route `r`."""
    world = (build.gateway_class(), build.gateway("g"), build.route("r"), build.service())
    return list(analyze(build.snapshot(*world, *policies), profiles=[profile]).effective(build.node("HTTPRoute", "r")))


def colours(name: str, to: str, *, merge: str = "", age: int = 1, **spec: Json) -> Resource:
    """A ColorPolicy on Gateway `g` or on route `r`; `merge` is the strategy that it chooses."""
    target = build.target(to, "Gateway" if to == "g" else "HTTPRoute")
    fields: dict[str, Json] = {"targetRefs": [target], **spec, **({"merge": merge} if merge else {})}
    return build.resource("ColorPolicy", name, fields, group="example.com", age=age)


def test_where_all_apply_each_has_its_settings_under_their_own_names() -> None:
    """The name that keeps them apart is left out; a policy without settings is not named."""
    (found,) = of_kind(
        APART,
        colours("a", "g", color="red", deep={"x": 1}),
        colours("b", "r", color="blue"),
        colours("empty", "r"),
    )
    named = list(named_leaves(found.resolution.spec, APART))
    assert [(each.name, each.leaf.source.object.name) for each in named] == [
        ("color", "a"),
        ("deep.x", "a"),
        ("color", "b"),
    ]
    assert [each.field[0] for each in named] == ["default/a", "default/a", "default/b"]
    fates = [
        (each.name, fate.field, fate.state) for part in named_fates(found.resolution, APART) for each, fate in part
    ]
    assert fates == [(name, name, "effective") for name in ("color", "deep.x", "color")]
    assert [(each.field, each.value) for each in declared_fields(found.resolution, APART)] == [
        ("color", "red"),
        ("deep.x", 1),
        ("color", "blue"),
    ]


def test_what_stands_beside_policies_that_all_apply_has_its_own_name() -> None:
    """As a field of the target object does."""
    profile = PolicyKindProfile(
        COLOR,
        "inherited",
        "profile",
        strategy=MergeStrategy.ALL_APPLY,
        stanzas="none",
        object_fields={"color": "spec.color"},
    )
    route = build.resource("HTTPRoute", "r", {"parentRefs": [build.parent()], "color": "green"})
    analysis = analyze(build.snapshot(build.gateway("g"), route, colours("a", "r", color="red")), profiles=[profile])
    (found,) = analysis.effective(build.node("HTTPRoute", "r"))
    assert [each.name for each in named_leaves(found.resolution.spec, profile)] == ["color", "color"]


def outcomes(profile: PolicyKindProfile, policy: Resource, *others: Resource) -> dict[str, FieldOutcome]:
    """What became of each field of a policy."""
    world = (build.gateway_class(), build.gateway("g"), build.route("r"), build.route("q"), build.service())
    analysis = analyze(build.snapshot(*world, policy, *others), profiles=[profile])
    return {found.field: found for found in describe_policy(analysis, policy.ref).fields}


RED: Final[Json] = {"name": "red", "opaque": True}
BLUE: Final[Json] = {"name": "blue"}
ABOVE: Final = colours("above", "g", paints=[RED, BLUE], deep={"strokes": [1]}, size=1)


def test_a_list_is_one_field_whether_or_not_it_is_merged() -> None:
    """On the route that merges it is in force in part, on the other one as a whole."""
    found = outcomes(MERGING, ABOVE, colours("own", "r", merge="StrategicMerge", paints=[{"name": "red"}]))
    assert list(found) == ["paints", "deep.strokes", "size"]
    assert [field.value for field in found.values()] == [[RED, BLUE], [1], 1]
    assert found["paints"].effective_on == (0, 1)
    assert [(beater.by.object.name, beater.positions) for beater in found["paints"].superseded] == [("own", (1,))]
    assert (found["deep.strokes"].effective_on, found["deep.strokes"].superseded) == ((0, 1), ())


def test_a_list_of_which_nothing_is_left_is_beaten_once() -> None:
    """By each policy that beats an element of it, however many elements these are."""
    own = colours("own", "r", merge="StrategicMerge", paints=[{"name": "red", "opaque": False}, BLUE])
    field = outcomes(MERGING, ABOVE, own)["paints"]
    assert field.effective_on == (0,)
    assert [(beater.by.object.name, beater.positions) for beater in field.superseded] == [("own", (1,))]


def test_a_list_that_is_replaced_is_one_field_as_well() -> None:
    """RFC 7386 knows no elements."""
    own = colours("own", "r", merge="Patch defaults", paints=[BLUE])
    field = outcomes(MERGING, ABOVE, own)["paints"]
    assert (field.value, field.effective_on) == ([RED, BLUE], (0,))


def test_two_policies_may_declare_one_list() -> None:
    """Each is told of its own, next to each other or not."""
    own = colours("own", "r", merge="StrategicMerge", paints=[BLUE], age=2)
    assert outcomes(MERGING, own, ABOVE)["paints"].value == [BLUE]
    assert list(outcomes(MERGING, own, ABOVE)) == ["paints"]


def test_settings_are_named_in_what_policies_amount_to() -> None:
    """Appended elements by their place in the merged list, each with the policy that has it."""
    own = colours("own", "r", merge="StrategicMerge", deep={"strokes": [2, 3]}, paints=[BLUE])
    world = (build.gateway_class(), build.gateway("g"), build.route("r"), build.service())
    answer = describe(analyze(build.snapshot(*world, ABOVE, own), profiles=[MERGING]), build.node("HTTPRoute", "r"))
    (group,) = answer.in_force
    assert [(setting.field, setting.source.object.name) for setting in group.settings] == [
        ("paints[red].name", "above"),
        ("paints[red].opaque", "above"),
        ("paints[blue].name", "own"),
        ("deep.strokes[0]", "above"),
        ("deep.strokes[1]", "own"),
        ("deep.strokes[2]", "own"),
        ("size", "above"),
    ]
    assert [fate.field for setting in group.settings for fate in setting.instead_of] == ["paints[blue].name"]
    assert group.combination.strategies == (MergeStrategy.STRATEGIC_MERGE,)


def test_of_policies_that_choose_the_nearest_one_decides() -> None:
    """What the others would have chosen does not matter; one that is refused chooses nothing."""
    profile = PolicyKindProfile(
        COLOR,
        "inherited",
        "profile",
        stanzas="none",
        strategy_field="spec.merge",
        chooser="challenger",
        same_level="one-applies",
    )
    world = (build.gateway_class(), build.gateway("g"), build.route("r"), build.service())
    policies = [
        colours("above", "g", merge="Patch defaults", color="red"),
        colours("own", "r", age=1, color="blue"),
        colours("late", "r", age=2, merge="StrategicMerge", color="green"),
    ]
    answer = describe(analyze(build.snapshot(*world, *policies), profiles=[profile]), build.node("HTTPRoute", "r"))
    assert [group.combination.strategies for group in answer.in_force] == [(MergeStrategy.ATOMIC_DEFAULTS,)]


HOSTILE: Final[list[Json]] = [
    None,
    1,
    "x",
    [],
    {},
    [None],
    [1, "x"],
    [{}],
    [{"name": None}],
    [{"name": []}],
    {"red": 1},
]


@pytest.mark.parametrize("value", HOSTILE, ids=str)
def test_a_list_may_be_anything(value: Json) -> None:
    """Whatever stands there has a name and an outcome."""
    own = colours("own", "r", merge="StrategicMerge", paints=value, deep={"strokes": value})
    found = outcomes(MERGING, own, ABOVE)
    assert all(field.effective_on or field.superseded for field in found.values())
    assert all(name.startswith(("paints", "deep.strokes")) for name in found)
