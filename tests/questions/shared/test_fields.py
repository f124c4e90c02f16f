"""Names of fields, and where they are written."""

from __future__ import annotations

from pathlib import Path
from typing import Final

import pytest
from msgspec.structs import replace

from kubectl_policy import EffectivePolicy, Fate, MergeStrategy, PolicyKindProfile, analyze, leaves, load_manifests
from kubectl_policy.model import FieldPath, Json, Origin, Resource
from kubectl_policy.model.authorship import Authorship
from kubectl_policy.model.fields import WHOLE
from kubectl_policy.profiles.merging import JointField
from kubectl_policy.questions.describe.objects import describe
from kubectl_policy.questions.describe.policies import FieldOutcome, describe_policy
from kubectl_policy.questions.shared.fields import (
    FieldLocations,
    WrittenValue,
    declared_fields,
    named_fates,
    named_leaves,
)
from kubectl_policy.questions.shared.in_force import Setting, with_lines
from kubectl_policy.resolution.traced import KeyedList, trace, with_keyed_lists
from kubectl_policy.sources import Lines
from tests import build
from tests.questions.build import COLOR, analyzed, color_kind
from tests.resolution.build import source

PLAIN: Final = color_kind("inherited", strategy=None)
MERGING: Final = color_kind(
    "inherited",
    strategy=MergeStrategy.ATOMIC_DEFAULTS,
    strategy_field="spec.merge",
    chooser="challenger",
    list_keys={"paints": "name", "deep.strokes": ""},
)
APART: Final = color_kind("inherited", strategy=MergeStrategy.ALL_APPLY)


def names(spec: dict[str, Json], profile: PolicyKindProfile = MERGING) -> list[str]:
    """The names of all leaves of a policy's spec, its lists keyed as the profile says."""
    keys = {tuple(name.split(".")): key for name, key in profile.list_keys.items()}
    return [found.name for found in named_leaves(with_keyed_lists(trace(spec, source("p")), keys), profile)]


def test_a_field_outside_of_lists_is_called_by_its_path() -> None:
    """Keys that hold other characters than names do are quoted; a list that is not merged is one field."""
    spec: dict[str, Json] = {"a": {"b": 1, "c.d/e": {"f": 2}}, "x y": 3, "list": [1, {"name": "n"}]}
    assert names(spec, PLAIN) == ["a.b", 'a["c.d/e"].f', '["x y"]', "list"]


def test_an_element_of_a_list_is_called_by_its_key_or_its_place() -> None:
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
    assert names({"paints": [{"name": "red", "paints": [{"name": "blue"}]}]}) == [
        "paints[red].name",
        "paints[red].paints",
    ]


def test_whole_elements_have_names_as_well() -> None:
    found = trace({"rules": [{"name": "a", "x": 1}]}, source("p"), [("rules[name]",)])
    assert isinstance(found["rules"], KeyedList)
    assert [(each.name, each.leaf.value) for each in named_leaves(found, PLAIN)] == [
        ("rules[a]", {"name": "a", "x": 1})
    ]


def of_kind(profile: PolicyKindProfile, *policies: Resource) -> list[EffectivePolicy]:
    """What the policies amount to at route `r`."""
    world = (build.gateway_class(), build.gateway("g"), build.route("r"), build.service())
    return list(analyzed(*world, *policies, profiles=[profile]).effective(build.node("HTTPRoute", "r")))


def colours(name: str, to: str, *, merge: str = "", age: int = 1, **spec: Json) -> Resource:
    """A ColorPolicy on Gateway `g` or on route `r`; `merge` is the strategy that it chooses."""
    target = build.target(to, "Gateway" if to == "g" else "HTTPRoute")
    fields: dict[str, Json] = {"targetRefs": [target], **spec, **({"merge": merge} if merge else {})}
    return build.resource("ColorPolicy", name, fields, group="example.com", age=age)


def test_where_all_apply_each_has_its_settings_under_their_own_names() -> None:
    (found,) = of_kind(
        APART, colours("a", "g", color="red", deep={"x": 1}), colours("b", "r", color="blue"), colours("empty", "r")
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
    profile = color_kind("inherited", strategy=MergeStrategy.ALL_APPLY, object_fields={"color": "spec.color"})
    route = build.resource("HTTPRoute", "r", {"parentRefs": [build.parent()], "color": "green"})
    analysis = analyzed(build.gateway("g"), route, colours("a", "r", color="red"), profiles=[profile])
    (found,) = analysis.effective(build.node("HTTPRoute", "r"))
    assert [each.name for each in named_leaves(found.resolution.spec, profile)] == ["color", "color"]


def outcomes(profile: PolicyKindProfile, policy: Resource, *others: Resource) -> dict[str, FieldOutcome]:
    world = (build.gateway_class(), build.gateway("g"), build.route("r"), build.route("q"), build.service())
    analysis = analyzed(*world, policy, *others, profiles=[profile])
    return {found.field: found for found in describe_policy(analysis, policy.ref).fields}


RED: Final[Json] = {"name": "red", "opaque": True}
BLUE: Final[Json] = {"name": "blue"}
ABOVE: Final = colours("above", "g", paints=[RED, BLUE], deep={"strokes": [1]}, size=1)


def test_a_list_is_one_field_whether_or_not_it_is_merged() -> None:
    found = outcomes(MERGING, ABOVE, colours("own", "r", merge="StrategicMerge", paints=[{"name": "red"}]))
    assert list(found) == ["paints", "deep.strokes", "size"]
    assert [field.value for field in found.values()] == [[RED, BLUE], [1], 1]
    assert found["paints"].effective_on == (0, 1)
    assert [(winner.by.object.name, winner.positions) for winner in found["paints"].superseded] == [("own", (1,))]
    assert (found["deep.strokes"].effective_on, found["deep.strokes"].superseded) == ((0, 1), ())


def test_a_list_of_which_nothing_is_left_is_beaten_once() -> None:
    own = colours("own", "r", merge="StrategicMerge", paints=[{"name": "red", "opaque": False}, BLUE])
    field = outcomes(MERGING, ABOVE, own)["paints"]
    assert field.effective_on == (0,)
    assert [(winner.by.object.name, winner.positions) for winner in field.superseded] == [("own", (1,))]


def test_a_list_that_is_replaced_is_one_field_as_well() -> None:
    """RFC 7386 knows no elements."""
    own = colours("own", "r", merge="Patch defaults", paints=[BLUE])
    field = outcomes(MERGING, ABOVE, own)["paints"]
    assert (field.value, field.effective_on) == ([RED, BLUE], (0,))


def test_two_policies_may_declare_one_list() -> None:
    own = colours("own", "r", merge="StrategicMerge", paints=[BLUE], age=2)
    assert outcomes(MERGING, own, ABOVE)["paints"].value == [BLUE]
    assert list(outcomes(MERGING, own, ABOVE)) == ["paints"]


def test_settings_are_named_in_what_policies_amount_to() -> None:
    """Appended elements by their place in the merged list, each with the policy that has it."""
    own = colours("own", "r", merge="StrategicMerge", deep={"strokes": [2, 3]}, paints=[BLUE])
    world = (build.gateway_class(), build.gateway("g"), build.route("r"), build.service())
    answer = describe(analyzed(*world, ABOVE, own, profiles=[MERGING]), build.node("HTTPRoute", "r"))
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
    profile = color_kind(
        "inherited", strategy=None, strategy_field="spec.merge", chooser="challenger", same_level="one-applies"
    )
    world = (build.gateway_class(), build.gateway("g"), build.route("r"), build.service())
    policies = [
        colours("above", "g", merge="Patch defaults", color="red"),
        colours("own", "r", age=1, color="blue"),
        colours("late", "r", age=2, merge="StrategicMerge", color="green"),
    ]
    answer = describe(analyzed(*world, *policies, profiles=[profile]), build.node("HTTPRoute", "r"))
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
    own = colours("own", "r", merge="StrategicMerge", paints=value, deep={"strokes": value})
    found = outcomes(MERGING, own, ABOVE)
    assert all(field.effective_on or field.superseded for field in found.values())
    assert all(name.startswith(("paints", "deep.strokes")) for name in found)


ROUTE: Final = build.node("HTTPRoute", "r")
WORLD: Final = (build.gateway("g"), build.route("r", rules=[build.rule(build.backend("s"))]), build.service("s"))


def kind(**fields: object) -> PolicyKindProfile:
    return PolicyKindProfile(COLOR, "inherited", "profile", **fields)  # type: ignore[arg-type]


def written(profile: PolicyKindProfile, *policies: Resource) -> dict[str, str]:
    """The place of every effective field at the route, and of what each beat, by its name and policy."""
    answer = describe(analyzed(*WORLD, *policies, profiles=[profile]), ROUTE)
    settings = [setting for group in answer.in_force for setting in group.settings]
    places: list[Setting | Fate] = [*settings, *(fate for setting in settings for fate in setting.instead_of)]
    return {f"{each.source.object.name} {each.field}": str(each.declared_in) for each in places}


def on_route(**fields: Json) -> Resource:
    reference = build.ON_ROUTE
    return build.resource("ColorPolicy", "p", {"targetRefs": [reference], **fields}, group="example.com")


def on_gateway(**fields: Json) -> Resource:
    return build.resource("ColorPolicy", "above", {"targetRefs": [build.ON_GATEWAY], **fields}, group="example.com")


def test_a_field_stands_in_the_spec_or_in_a_stanza() -> None:
    found = written(
        kind(stanzas="plural", strategy=MergeStrategy.PATCH_DEFAULTS),
        on_gateway(overrides={"strategy": "merge", "red": {"dark": 1}}, defaults={"strategy": "merge", "blue": 2}),
        on_route(red={"dark": 3}, green=None),
    )
    assert found == {
        "above red.dark": "spec.overrides.red.dark",
        "p red.dark": "spec.red.dark",
        "above blue": "spec.defaults.blue",
        "p green": "spec.green",
    }


def test_what_one_policy_says_twice_stands_where_it_says_that_value() -> None:
    policy = on_route(color="red", defaults={"color": "blue", "strategy": "merge"})
    found = written(kind(stanzas="plural", strategy=MergeStrategy.PATCH_DEFAULTS), policy)
    assert found["p color"] in {"spec.color", "spec.defaults.color"}
    answer = describe(analyzed(*WORLD, policy), ROUTE)
    for setting in (setting for group in answer.in_force for setting in group.settings):
        assert setting.declared_in.get(policy.raw) == setting.value


def test_an_element_of_a_keyed_list_stands_at_its_position() -> None:
    found = written(
        kind(strategy=MergeStrategy.STRATEGIC_MERGE, list_keys={"paints": "name", "paints.coats": "nr", "strokes": ""}),
        on_gateway(paints=[{"name": "a", "x": 1}, {"name": "b", "y": 2}], strokes=[1, 2]),
        on_route(paints=[{"name": "b", "x": 3, "coats": [{"nr": 7}, {"nr": 8, "of": "oil"}]}], strokes=[3]),
    )
    assert found["p paints[b].x"] == "spec.paints[0].x"
    assert found["above paints[b].y"] == "spec.paints[1].y"
    assert found["p paints[b].coats[8].of"] == "spec.paints[0].coats[1].of"
    assert {found[name] for name in found if "strokes" in name} >= {"spec.strokes[0]", "spec.strokes[1]"}


@pytest.mark.parametrize(
    ("by", "value", "places"),
    [
        ("", ["red", "blue"], {"spec.paints[0]", "spec.paints[1]"}),
        ("[name]", [{"name": "a", "x": 1}], {"spec.paints[0].name", "spec.paints[0].x"}),
        ("*", {"a": 1, "b": 2}, {"spec.paints.a", "spec.paints.b"}),
        ("name", {"name": "a"}, {"spec.paints"}),
        ("", {"name": "a"}, {"spec.paints"}),
    ],
)
def test_what_is_shared_stands_where_it_was_taken_apart(by: str, value: Json, places: set[str]) -> None:
    """By the elements of a list, by the keys of a map, or as one of several values for one field."""
    shared = (JointField(field="paints", within=("level",), by=by),)
    assert set(written(kind(joint_fields=shared), on_route(paints=value)).values()) == places


def test_the_name_of_a_policy_stands_nowhere_in_it() -> None:
    found = written(kind(strategy=MergeStrategy.ALL_APPLY), on_route(color={"dark": 1}), on_gateway(color="x"))
    assert found == {"p color.dark": "spec.color.dark", "above color": "spec.color"}


def test_the_fields_of_the_target_count_as_a_policys() -> None:
    profile = kind(
        strategy=MergeStrategy.PATCH_DEFAULTS,
        object_fields={"time.request": "rule.timeouts.request", "parents": "spec.parentRefs"},
    )
    rules = [build.rule(build.backend("s")), build.rule(name="slow", timeouts={"request": "9s"})]
    world = (build.gateway("g"), build.route("r", rules=rules), build.service("s"))
    answer = describe(analyzed(*world, on_route(a=1), profiles=[profile]), ROUTE)
    own = {
        str(setting.declared_in)
        for group in answer.in_force
        for setting in group.settings
        if setting.source.object == ROUTE.object
    }
    assert own <= {"spec.rules[1].timeouts.request", "spec.parentRefs"}
    assert own


def test_the_fields_of_a_gateway_count_as_a_policys() -> None:
    profile = kind(strategy=MergeStrategy.PATCH_DEFAULTS, object_fields={"of": "spec.gatewayClassName"})
    answer = describe(analyzed(*WORLD, on_gateway(a=1), profiles=[profile]), build.node("Gateway", "g"))
    settings = [setting for group in answer.in_force for setting in group.settings]
    assert {str(setting.declared_in) for setting in settings} == {"spec.a", "spec.gatewayClassName"}


def test_a_field_of_the_target_that_is_beaten_has_its_place_as_well() -> None:
    for strategy, own in ((MergeStrategy.PATCH_OVERRIDES, [("c", "spec.gatewayClassName")]), (None, [])):
        profile = kind(strategy=strategy, object_fields={"of": "spec.gatewayClassName"})
        world = [build.gateway("g", class_name="c"), on_gateway(of="x", a=1)]
        answer = describe(analyzed(*world, profiles=[profile]), build.node("Gateway", "g"))
        superseded = {setting.field: setting.instead_of for group in answer.in_force for setting in group.settings}
        found = [
            (fate.value, str(fate.declared_in)) for fate in superseded["of"] if fate.source.object.kind == "Gateway"
        ]
        assert found == own
        assert all(fate.origin == build.ORIGIN for fate in superseded["of"])
        assert not superseded.get("a")


def test_what_nobody_writes_is_in_the_whole_object() -> None:
    analysis = analyzed(*WORLD, on_route(a=1))
    (effective, *_) = analysis.effective(ROUTE, COLOR)
    places = FieldLocations(analysis, effective)
    ((_, leaf),) = leaves(effective.resolution.spec)
    assert str(places.field(("a",), leaf)) == "spec.a"
    assert places.field(("b",), leaf) == WHOLE
    assert places.field(("a",), replace(leaf, defaulted=True)) == WHOLE


def test_a_policys_own_fields_have_their_places() -> None:
    policy = on_route(paints=[{"name": "a"}], color=1)
    profile = kind(strategy=MergeStrategy.STRATEGIC_MERGE, list_keys={"paints": "name"})
    fields = describe_policy(analyzed(*WORLD, policy, profiles=[profile]), policy.ref).fields
    assert {str(field.declared_in) for field in fields} == {"spec.paints", "spec.color"}
    assert {field.origin for field in fields} == {build.ORIGIN}


def nowhere(origin: Origin, field: FieldPath, value: Json) -> None:
    del origin, field, value


def test_lines_are_those_of_fields(tmp_path: Path) -> None:
    """A field that cannot be found, and one that the definition of its kind fills in, keep the line of the object."""
    (tmp_path / "world.yaml").write_text(
        """\
apiVersion: gateway.networking.k8s.io/v1
kind: Gateway
metadata: {name: g, namespace: default}
spec: {gatewayClassName: c, listeners: [{name: http, port: 80, protocol: HTTP}]}
---
apiVersion: example.com/v1
kind: ColorPolicy
metadata: {name: p, namespace: default}
spec:
  targetRefs:
  - {group: gateway.networking.k8s.io, kind: Gateway, name: g}
  red:
    dark: 1
  blue: [1,
    2]
---
apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata: {name: colorpolicies.example.com, labels: {gateway.networking.k8s.io/policy: Inherited}}
spec:
  group: example.com
  names: {kind: ColorPolicy, plural: colorpolicies}
  scope: Namespaced
  versions:
  - name: v1
    served: true
    storage: true
    schema:
      openAPIV3Schema:
        type: object
        properties:
          spec:
            type: object
            x-kubernetes-preserve-unknown-fields: true
            properties:
              green: {type: string, default: light}
              targetRefs: {type: array, items: {type: object, x-kubernetes-preserve-unknown-fields: true}}
""",
        encoding="utf-8",
    )
    answer = describe(analyze(load_manifests([tmp_path])), build.node("Gateway", "g"))
    source = str(tmp_path / "world.yaml")
    groups = with_lines(answer.in_force, Lines().locate)
    found = {setting.field: (setting.origin, setting.defaulted) for group in groups for setting in group.settings}
    assert found == {
        "red.dark": (Origin(source, 13), False),
        "blue": (Origin(source, 14), False),
        "green": (Origin(source, 6), True),
    }
    assert with_lines(answer.in_force, nowhere) == answer.in_force


def test_authors_are_those_of_fields() -> None:
    """Of what a policy sets and of what it beats; what the definition of its kind fills in, nobody wrote."""
    asked: list[tuple[str, str, Origin | None]] = []

    def who(placed: WrittenValue, origin: Origin | None) -> Authorship:
        asked.append((placed.source.object.name, str(placed.declared_in), origin))
        return Authorship(who=placed.source.object.name, when="")

    def locate(origin: Origin, field: FieldPath, value: Json) -> int | None:
        del origin, value
        return 7 if str(field) == "spec.a" else None

    properties: Json = {"green": {"type": "string", "default": "light"}}
    spec: Json = {"type": "object", "properties": properties, "x-kubernetes-preserve-unknown-fields": True}
    definition = build.crd("ColorPolicy", schema={"type": "object", "properties": {"spec": spec}})
    world = build.snapshot(*WORLD, definition, on_gateway(a=2), on_route(a=1, b=3))
    in_force = describe(analyze(world, profiles=[kind(strategy=MergeStrategy.PATCH_DEFAULTS)]), ROUTE).in_force
    settings = {each.field: each for group in with_lines(in_force, locate, who) for each in group.settings}
    assert {
        name: (each.blame and each.blame.who, [fate.blame and fate.blame.who for fate in each.instead_of])
        for name, each in settings.items()
    } == {"a": ("p", ["above"]), "b": ("p", []), "green": (None, [None])}
    line = Origin(build.ORIGIN.source, 7)
    assert asked == [("above", "spec.a", line), ("p", "spec.a", line), ("p", "spec.b", None)]
    unasked = [each.blame for group in with_lines(in_force, locate) for each in group.settings]
    assert unasked == [None, None, None]
