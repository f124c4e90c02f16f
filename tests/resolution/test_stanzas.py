"""The spec proper: what is left of a policy without its references and strategy fields, stanza by stanza."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

import pytest
from msgspec.structs import replace

from kubectl_policy import MergeStrategy, PolicyKindProfile
from kubectl_policy.model import GroupKind
from kubectl_policy.resolution.contributions import Stanza, stanzas_of

if TYPE_CHECKING:
    from collections.abc import Mapping

    from kubectl_policy.model import Json

COLOR: Final = GroupKind("example.com", "ColorPolicy")
UNSAID: Final = PolicyKindProfile(COLOR, "inherited", "label")
PLURAL: Final = PolicyKindProfile(COLOR, "inherited", "profile", stanzas="plural")
SINGULAR: Final = PolicyKindProfile(COLOR, "inherited", "profile", stanzas="singular")
BARE: Final = PolicyKindProfile(COLOR, "inherited", "profile", stanzas="none")
CHOOSING: Final = PolicyKindProfile(COLOR, "inherited", "profile", stanzas="none", strategy_field="spec.mergeType")
DEFAULTS, PATCH_DEFAULTS = MergeStrategy.ATOMIC_DEFAULTS, MergeStrategy.PATCH_DEFAULTS
OVERRIDES, PATCH_OVERRIDES = MergeStrategy.ATOMIC_OVERRIDES, MergeStrategy.PATCH_OVERRIDES


def stanzas(profile: PolicyKindProfile, spec: Json) -> tuple[Stanza, ...]:
    """The stanzas of a policy with that spec."""
    return stanzas_of({"spec": spec}, profile)


@pytest.mark.parametrize("spec", [None, 7, "text", [], [{"a": 1}]], ids=str)
def test_a_spec_of_another_shape_declares_nothing(spec: Json) -> None:
    """One empty stanza, whatever the kind's style is."""
    for profile in (UNSAID, PLURAL, SINGULAR, BARE):
        assert stanzas(profile, spec) == (Stanza("spec", DEFAULTS, {}),)


def test_a_policy_without_a_spec_declares_nothing() -> None:
    """No spec at all."""
    assert stanzas_of({}, BARE) == (Stanza("spec", DEFAULTS, {}),)


def test_references_and_strategy_fields_are_no_settings() -> None:
    """Says: "The spec proper leaves out the target references and strategy fields"."""
    spec: Json = {"targetRef": {}, "targetRefs": [], "targetSelectors": [], "mergeType": "PatchDefaults", "a": 1}
    assert stanzas(CHOOSING, spec) == (Stanza("spec", PATCH_DEFAULTS, {"a": 1}),)


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
    assert stanzas(profile, spec) == (Stanza("spec", DEFAULTS, left),)


class TestBare:
    """A spec without stanzas is one, and merges as the policy or the kind says."""

    def test_a_kind_without_stanzas_may_have_fields_of_that_name(self) -> None:
        """`defaults` is a setting like any other."""
        assert stanzas(BARE, {"defaults": {"a": 1}}) == (Stanza("spec", DEFAULTS, {"defaults": {"a": 1}}),)

    def test_where_nobody_has_said_other_settings_decide(self) -> None:
        """`defaults` beside a setting is a setting."""
        spec: Mapping[str, Json] = {"defaults": {"a": 1}, "b": 2}
        assert stanzas(UNSAID, spec) == (Stanza("spec", DEFAULTS, spec),)

    @pytest.mark.parametrize(
        ("chosen", "strategy"),
        [
            ("Sideways", DEFAULTS),
            (None, DEFAULTS),
            ("Patch", PATCH_DEFAULTS),
            ("atomic", DEFAULTS),
            ("PatchOverrides", PATCH_OVERRIDES),
            ("None", MergeStrategy.NONE),
        ],
    )
    def test_a_policy_that_chooses_by_a_field(self, chosen: Json, strategy: MergeStrategy) -> None:
        """Says: "Which strategy: the profile's field"; no direction means defaults, nonsense is ignored."""
        assert stanzas(CHOOSING, {"mergeType": chosen}) == (Stanza("spec", strategy, {}),)

    @pytest.mark.parametrize(
        ("chosen", "strategy"),
        [
            ("Merge", MergeStrategy.STRATEGIC_MERGE),
            ("Patch", MergeStrategy.ALL_APPLY),
            ("merge", DEFAULTS),
            ("Strategic merge", MergeStrategy.STRATEGIC_MERGE),
            ("PatchDefaults", PATCH_DEFAULTS),
            ({"Merge": 1}, DEFAULTS),
        ],
        ids=str,
    )
    def test_the_values_of_that_field_may_mean_something_else(self, chosen: Json, strategy: MergeStrategy) -> None:
        """What the profile says they mean comes first, then the names of the strategies."""
        values = {"Merge": MergeStrategy.STRATEGIC_MERGE, "Patch": MergeStrategy.ALL_APPLY}
        choosing = replace(CHOOSING, strategy_values=values)
        assert stanzas(choosing, {"mergeType": chosen}) == (Stanza("spec", strategy, {}),)

    def test_a_direct_kind_refuses(self) -> None:
        """Says: "Else None for a direct kind, Atomic defaults for the rest"."""
        direct = PolicyKindProfile(COLOR, "direct", "label")
        assert stanzas(direct, {"a": 1}) == (Stanza("spec", MergeStrategy.NONE, {"a": 1}),)


class TestStanzas:
    """`defaults` and `overrides`, `default` and `override`."""

    def test_a_stanza_of_another_shape_is_none(self) -> None:
        """A text under `overrides` declares nothing; the bare rest counts instead."""
        assert stanzas(PLURAL, {"overrides": "x"}) == (Stanza("spec", DEFAULTS, {}),)

    def test_plural_stanzas_are_atomic(self) -> None:
        """Says: "`defaults` → Atomic defaults, `overrides` → Atomic overrides"; overrides come first."""
        assert stanzas(PLURAL, {"defaults": {"a": 1}, "overrides": {"b": 2}}) == (
            Stanza("spec.overrides", OVERRIDES, {"b": 2}),
            Stanza("spec.defaults", DEFAULTS, {"a": 1}),
        )

    @pytest.mark.parametrize("word", ["patch", "merge", "Merge"])
    def test_a_plural_stanza_may_patch(self, word: str) -> None:
        """Says: "With `strategy: patch` or `merge` → Patch"; the word is no setting."""
        assert stanzas(PLURAL, {"defaults": {"strategy": word, "a": 1}}) == (
            Stanza("spec.defaults", PATCH_DEFAULTS, {"a": 1}),
        )
        assert stanzas(PLURAL, {"overrides": {"strategy": word, "a": 1}}) == (
            Stanza("spec.overrides", PATCH_OVERRIDES, {"a": 1}),
        )

    @pytest.mark.parametrize("word", ["atomic", "", 7, None])
    def test_any_other_word_is_atomic(self, word: Json) -> None:
        """And no setting either."""
        assert stanzas(PLURAL, {"defaults": {"strategy": word}}) == (Stanza("spec.defaults", DEFAULTS, {}),)

    def test_singular_stanzas_merge_field_by_field(self) -> None:
        """The experimental text; `strategy` is a setting there."""
        assert stanzas(SINGULAR, {"default": {"strategy": "x"}, "override": {"b": 2}}) == (
            Stanza("spec.override", PATCH_OVERRIDES, {"b": 2}),
            Stanza("spec.default", PATCH_DEFAULTS, {"strategy": "x"}),
        )

    def test_where_nobody_has_said_stanzas_alone_are_stanzas(self) -> None:
        """Of both styles."""
        assert [found.field for found in stanzas(UNSAID, {"overrides": {}})] == ["spec.overrides"]
        assert [found.field for found in stanzas(UNSAID, {"default": {}})] == ["spec.default"]

    def test_what_stands_beside_the_stanzas_counts_as_well(self) -> None:
        """As implicit defaults."""
        assert stanzas(PLURAL, {"overrides": {"a": 1}, "b": 2}) == (
            Stanza("spec.overrides", OVERRIDES, {"a": 1}),
            Stanza("spec", DEFAULTS, {"b": 2}),
        )


class TestUnknownKinds:
    """Of a kind without a profile, `strategy` in the spec or in a stanza is one if it is GEP-713's."""

    CHOOSING: Final = PolicyKindProfile(
        COLOR, "inherited", "shape", strategy_field="spec.strategy", strategy_values={"Patch": PATCH_DEFAULTS}
    )

    def test_a_stanza_that_says_its_strategy_is_one_whatever_stands_beside_it(self) -> None:
        """Without, a field of that name next to others is a field like any other."""
        spec: Json = {"overrides": {"strategy": "merge", "a": 1}, "when": ["x"]}
        assert stanzas(UNSAID, spec) == (
            Stanza("spec.overrides", PATCH_OVERRIDES, {"a": 1}),
            Stanza("spec", DEFAULTS, {"when": ["x"]}),
        )
        plain: dict[str, Json] = {"overrides": {"a": 1}, "when": ["x"]}
        assert stanzas(UNSAID, plain) == (Stanza("spec", DEFAULTS, plain),)

    @pytest.mark.parametrize(
        ("profile", "left"), [(UNSAID, {"strategy": "RoundRobin", "a": 1}), (PLURAL, {"a": 1})], ids=["none", "profile"]
    )
    def test_another_strategy_is_a_setting(self, profile: PolicyKindProfile, left: dict[str, Json]) -> None:
        """Of a kind with a profile, what stands there is no setting."""
        assert stanzas(profile, {"defaults": {"strategy": "RoundRobin", "a": 1}}) == (
            Stanza("spec.defaults", DEFAULTS, left),
        )

    def test_the_strategy_of_the_policy_holds_for_its_stanzas(self) -> None:
        """Unless they say another one; it is no setting itself."""
        spec: Json = {"strategy": "Patch", "defaults": {"a": 1}, "overrides": {"strategy": "atomic", "b": 1}}
        assert stanzas(self.CHOOSING, spec) == (
            Stanza("spec.overrides", OVERRIDES, {"b": 1}),
            Stanza("spec.defaults", PATCH_DEFAULTS, {"a": 1}),
        )
        assert stanzas(self.CHOOSING, {"strategy": "Patch", "a": 1}) == (Stanza("spec", PATCH_DEFAULTS, {"a": 1}),)
