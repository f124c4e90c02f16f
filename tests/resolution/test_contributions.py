"""Contributions: stanzas of policies, and the parts of shared fields."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

import pytest
from msgspec.structs import replace

from kubectl_policy import MergeStrategy, PolicyKindProfile, plain
from kubectl_policy.model import GroupKind, Json
from kubectl_policy.resolution import Contribution
from kubectl_policy.resolution.contributions import DeclaredStanza, contribution_of, stanzas_of
from tests.resolution.build import set_by, source

PLAIN: Final = PolicyKindProfile(GroupKind("example.com", "ColorPolicy"), "inherited", "profile")
IGNORING: Final = replace(PLAIN, nulls="ignore")


def brought(
    spec: dict[str, Json],
    profile: PolicyKindProfile = PLAIN,
    strategy: MergeStrategy = MergeStrategy.PATCH_DEFAULTS,
    field: str = "spec",
) -> Contribution:
    """What policy `p` brings with that spec."""
    return contribution_of(source("p"), DeclaredStanza(field, strategy, spec), profile)


class TestNulls:
    """A null removes a field, unless the kind ignores it."""

    spec: Final[dict[str, Json]] = {"a": None, "b": {"c": None, "d": 1}, "e": {"f": None}, "l": [None, {"g": None}]}

    def test_a_null_is_a_removal(self) -> None:
        assert set_by(brought(self.spec).spec) == {
            "a": (None, "p"),
            "b.c": (None, "p"),
            "b.d": (1, "p"),
            "e.f": (None, "p"),
            "l": ([None, {"g": None}], "p"),
        }

    def test_an_ignored_null_is_nothing(self) -> None:
        """At any depth of maps; the map that held it stays, and lists are values."""
        assert set_by(brought(self.spec, IGNORING).spec) == {
            "b.d": (1, "p"),
            "e": ({}, "p"),
            "l": ([None, {"g": None}], "p"),
        }


class TestEmpty:
    about: Final = replace(PLAIN, empty_without="rules.all")

    @pytest.mark.parametrize("spec", [{}, {"a": 1}, {"rules": 7}, {"rules": {"other": 1}}, {"rules": {"all": {}}}])
    def test_without_the_field(self, spec: dict[str, Json]) -> None:
        """Or with nothing in it; a kind that is about nothing in particular is never empty."""
        assert brought(spec, self.about).empty
        assert not brought(spec).empty

    def test_with_the_field(self) -> None:
        assert not brought({"rules": {"all": {"x": 1}}}, self.about).empty

    def test_a_null_is_no_setting(self) -> None:
        for profile in (self.about, replace(self.about, nulls="ignore")):
            assert brought({"rules": {"all": None}}, profile).empty

    def test_in_a_stanza_the_field_is_looked_for_in_the_stanza(self) -> None:
        assert not brought({"rules": {"all": 1}}, self.about, field="spec.defaults").empty


class TestWholeFields:
    def test_those_of_the_profile(self) -> None:
        profile = replace(PLAIN, whole_fields=frozenset({"limits.*", "rules[name]", "a.b"}))
        spec: dict[str, Json] = {
            "limits": {"x": {"y": 1}},
            "rules": [{"name": "n", "z": {"y": 1}}],
            "a": {"b": {"c": 1}, "d": {"c": 1}},
        }
        assert set_by(brought(spec, profile).spec) == {
            "limits.x": ({"y": 1}, "p"),
            "rules.n": ({"name": "n", "z": {"y": 1}}, "p"),
            "a.b": ({"c": 1}, "p"),
            "a.d.c": (1, "p"),
        }

    def test_those_of_the_schema_in_experimental_stanzas_alone(self) -> None:
        """Maps of scalars below this stanza; not below another one, nor in a plural stanza, nor bare."""
        fields = frozenset({"default.headers", "override.labels", "defaults.headers", "headers"})
        profile = replace(PLAIN, map_fields=fields)
        spec: dict[str, Json] = {"headers": {"x": 1}, "labels": {"x": 1}}
        assert set(set_by(brought(spec, profile, field="spec.default").spec)) == {"headers", "labels.x"}
        assert set(set_by(brought(spec, profile, field="spec.override").spec)) == {"headers.x", "labels"}
        assert set(set_by(brought(spec, profile, field="spec.defaults").spec)) == {"headers.x", "labels.x"}
        assert set(set_by(brought(spec, profile).spec)) == {"headers.x", "labels.x"}


class TestAllApply:
    def test_below_the_name_of_the_policy(self) -> None:
        """So that those of two policies never meet."""
        found = brought({"a": {"b": 1}, "c": [2]}, strategy=MergeStrategy.ALL_APPLY)
        assert plain(found.spec) == {"default/p": {"a": {"b": 1}, "c": [2]}}
        assert found.strategy is MergeStrategy.ALL_APPLY

    def test_a_policy_that_sets_nothing_is_there_all_the_same(self) -> None:
        assert plain(brought({}, strategy=MergeStrategy.ALL_APPLY).spec) == {"default/p": {}}

    def test_whole_fields_are_those_of_the_spec(self) -> None:
        profile = replace(PLAIN, whole_fields=frozenset({"m", "rules[name]"}), empty_without="m")
        found = brought({"m": {"x": 1}, "rules": [{"name": "n"}]}, profile, MergeStrategy.ALL_APPLY)
        assert set_by(found.spec) == {'["default/p"].m': ({"x": 1}, "p"), '["default/p"].rules.n': ({"name": "n"}, "p")}
        assert not found.empty


COLOR: Final = GroupKind("example.com", "ColorPolicy")
UNSAID: Final = PolicyKindProfile(COLOR, "inherited", "label")
PLURAL: Final = PolicyKindProfile(COLOR, "inherited", "profile", stanzas="plural")
SINGULAR: Final = PolicyKindProfile(COLOR, "inherited", "profile", stanzas="singular")
BARE: Final = PolicyKindProfile(COLOR, "inherited", "profile", stanzas="none")
CHOOSING: Final = PolicyKindProfile(COLOR, "inherited", "profile", stanzas="none", strategy_field="spec.mergeType")
DEFAULTS, PATCH_DEFAULTS = MergeStrategy.ATOMIC_DEFAULTS, MergeStrategy.PATCH_DEFAULTS
OVERRIDES, PATCH_OVERRIDES = MergeStrategy.ATOMIC_OVERRIDES, MergeStrategy.PATCH_OVERRIDES


def stanzas(profile: PolicyKindProfile, spec: Json) -> tuple[DeclaredStanza, ...]:
    """The stanzas of a policy with that spec."""
    return stanzas_of({"spec": spec}, profile)


@pytest.mark.parametrize("spec", [None, 7, "text", [], [{"a": 1}]], ids=str)
def test_a_spec_of_another_shape_declares_nothing(spec: Json) -> None:
    for profile in (UNSAID, PLURAL, SINGULAR, BARE):
        assert stanzas(profile, spec) == (DeclaredStanza("spec", DEFAULTS, {}),)


def test_a_policy_without_a_spec_declares_nothing() -> None:
    assert stanzas_of({}, BARE) == (DeclaredStanza("spec", DEFAULTS, {}),)


def test_references_and_strategy_fields_are_no_settings() -> None:
    """Says: "The spec proper leaves out the target references and strategy fields"."""
    spec: Json = {"targetRef": {}, "targetRefs": [], "targetSelectors": [], "mergeType": "PatchDefaults", "a": 1}
    assert stanzas(CHOOSING, spec) == (DeclaredStanza("spec", PATCH_DEFAULTS, {"a": 1}),)


@pytest.mark.parametrize(
    ("spec", "left"),
    [
        ({"place": {"to": {"kind": "X"}, "a": 1}, "b": 2}, {"place": {"a": 1}, "b": 2}),
        ({"place": {"to": {"kind": "X"}}, "b": 2}, {"b": 2}),
        ({"place": "text", "b": 2}, {"place": "text", "b": 2}),
        ({"b": 2}, {"b": 2}),
    ],
)
def test_references_that_stand_deeper_are_no_settings_either(spec: Json, left: Mapping[str, Json]) -> None:
    """A target field below another field leaves its neighbours; a reference outside the spec takes nothing away."""
    profile = PolicyKindProfile(COLOR, "inherited", "profile", reference_fields=("spec.place.to", "b"), stanzas="none")
    assert stanzas(profile, spec) == (DeclaredStanza("spec", DEFAULTS, left),)


@pytest.mark.parametrize(
    ("profile", "spec", "expected"),
    [
        # A kind without stanzas may have fields of that name.
        (BARE, {"defaults": {"a": 1}}, [DeclaredStanza("spec", DEFAULTS, {"defaults": {"a": 1}})]),
        # Where nobody has said it, `defaults` beside a setting is a setting, and stanzas alone are stanzas.
        (UNSAID, {"defaults": {"a": 1}, "b": 2}, [DeclaredStanza("spec", DEFAULTS, {"defaults": {"a": 1}, "b": 2})]),
        (UNSAID, {"overrides": {}}, [DeclaredStanza("spec.overrides", OVERRIDES, {})]),
        (UNSAID, {"default": {}}, [DeclaredStanza("spec.default", PATCH_DEFAULTS, {})]),
        # "Else None for a direct kind, Atomic defaults for the rest".
        (PolicyKindProfile(COLOR, "direct", "label"), {"a": 1}, [DeclaredStanza("spec", MergeStrategy.NONE, {"a": 1})]),
        # A text under `overrides` declares nothing; the bare rest counts instead.
        (PLURAL, {"overrides": "x"}, [DeclaredStanza("spec", DEFAULTS, {})]),
        # "`defaults` → Atomic defaults, `overrides` → Atomic overrides"; overrides come first.
        (
            PLURAL,
            {"defaults": {"a": 1}, "overrides": {"b": 2}},
            [
                DeclaredStanza("spec.overrides", OVERRIDES, {"b": 2}),
                DeclaredStanza("spec.defaults", DEFAULTS, {"a": 1}),
            ],
        ),
        # The experimental text merges field by field; `strategy` is a setting there.
        (
            SINGULAR,
            {"default": {"strategy": "x"}, "override": {"b": 2}},
            [
                DeclaredStanza("spec.override", PATCH_OVERRIDES, {"b": 2}),
                DeclaredStanza("spec.default", PATCH_DEFAULTS, {"strategy": "x"}),
            ],
        ),
        # What stands beside the stanzas counts as implicit defaults.
        (
            PLURAL,
            {"overrides": {"a": 1}, "b": 2},
            [DeclaredStanza("spec.overrides", OVERRIDES, {"a": 1}), DeclaredStanza("spec", DEFAULTS, {"b": 2})],
        ),
    ],
)
def test_the_stanzas_of_a_spec(profile: PolicyKindProfile, spec: Json, expected: list[DeclaredStanza]) -> None:
    """`defaults` and `overrides`, `default` and `override`, or the bare spec."""
    assert stanzas(profile, spec) == tuple(expected)


@pytest.mark.parametrize(
    ("chosen", "strategy", "of_values"),
    [
        ("Sideways", DEFAULTS, DEFAULTS),
        (None, DEFAULTS, DEFAULTS),
        ("Patch", PATCH_DEFAULTS, MergeStrategy.ALL_APPLY),
        ("atomic", DEFAULTS, DEFAULTS),
        ("PatchOverrides", PATCH_OVERRIDES, PATCH_OVERRIDES),
        ("PatchDefaults", PATCH_DEFAULTS, PATCH_DEFAULTS),
        ("None", MergeStrategy.NONE, MergeStrategy.NONE),
        ("Merge", DEFAULTS, MergeStrategy.STRATEGIC_MERGE),
        ("merge", DEFAULTS, DEFAULTS),
        ("Strategic merge", MergeStrategy.STRATEGIC_MERGE, MergeStrategy.STRATEGIC_MERGE),
        ({"Merge": 1}, DEFAULTS, DEFAULTS),
    ],
    ids=str,
)
def test_a_policy_that_chooses_by_a_field(chosen: Json, strategy: MergeStrategy, of_values: MergeStrategy) -> None:
    """Says: "Which strategy: the profile's field"; no direction means defaults, nonsense is ignored.

    What the profile says that its values mean comes first, then the names of the strategies.
    """
    assert stanzas(CHOOSING, {"mergeType": chosen}) == (DeclaredStanza("spec", strategy, {}),)
    values = {"Merge": MergeStrategy.STRATEGIC_MERGE, "Patch": MergeStrategy.ALL_APPLY}
    assert stanzas(replace(CHOOSING, strategy_values=values), {"mergeType": chosen}) == (
        DeclaredStanza("spec", of_values, {}),
    )


@pytest.mark.parametrize(
    ("chosen", "defaults", "overrides"),
    [
        *((phrase, PATCH_DEFAULTS, PATCH_OVERRIDES) for phrase in ("patch", "merge", "Merge")),
        *((phrase, DEFAULTS, OVERRIDES) for phrase in ("atomic", "", 7, None)),
    ],
)
def test_the_strategy_of_a_plural_stanza(chosen: Json, defaults: MergeStrategy, overrides: MergeStrategy) -> None:
    """Says: "With `strategy: patch` or `merge` → Patch"; anything else is atomic, and no setting either."""
    stanza: Json = {"strategy": chosen, "a": 1}
    assert stanzas(PLURAL, {"defaults": stanza}) == (DeclaredStanza("spec.defaults", defaults, {"a": 1}),)
    assert stanzas(PLURAL, {"overrides": stanza}) == (DeclaredStanza("spec.overrides", overrides, {"a": 1}),)


class TestUnknownKinds:
    """Of a kind without a profile, `strategy` in the spec or in a stanza is one if it is GEP-713's."""

    CHOOSING: Final = PolicyKindProfile(
        COLOR, "inherited", "shape", strategy_field="spec.strategy", strategy_values={"Patch": PATCH_DEFAULTS}
    )

    def test_a_stanza_that_says_its_strategy_is_one_whatever_stands_beside_it(self) -> None:
        """Without, a field of that name next to others is a field like any other."""
        spec: Json = {"overrides": {"strategy": "merge", "a": 1}, "when": ["x"]}
        assert stanzas(UNSAID, spec) == (
            DeclaredStanza("spec.overrides", PATCH_OVERRIDES, {"a": 1}),
            DeclaredStanza("spec", DEFAULTS, {"when": ["x"]}),
        )
        plain: dict[str, Json] = {"overrides": {"a": 1}, "when": ["x"]}
        assert stanzas(UNSAID, plain) == (DeclaredStanza("spec", DEFAULTS, plain),)

    @pytest.mark.parametrize(
        ("profile", "left"), [(UNSAID, {"strategy": "RoundRobin", "a": 1}), (PLURAL, {"a": 1})], ids=["none", "profile"]
    )
    def test_another_strategy_is_a_setting(self, profile: PolicyKindProfile, left: dict[str, Json]) -> None:
        assert stanzas(profile, {"defaults": {"strategy": "RoundRobin", "a": 1}}) == (
            DeclaredStanza("spec.defaults", DEFAULTS, left),
        )

    def test_the_strategy_of_the_policy_holds_for_its_stanzas(self) -> None:
        """Unless they say another one; it is no setting itself."""
        spec: Json = {"strategy": "Patch", "defaults": {"a": 1}, "overrides": {"strategy": "atomic", "b": 1}}
        assert stanzas(self.CHOOSING, spec) == (
            DeclaredStanza("spec.overrides", OVERRIDES, {"b": 1}),
            DeclaredStanza("spec.defaults", PATCH_DEFAULTS, {"a": 1}),
        )
        assert stanzas(self.CHOOSING, {"strategy": "Patch", "a": 1}) == (
            DeclaredStanza("spec", PATCH_DEFAULTS, {"a": 1}),
        )
