"""Outcomes of resolution: effective specs, and the fates of declared fields."""

from __future__ import annotations

from types import MappingProxyType
from typing import Final

import pytest
from msgspec.structs import replace

from kubectl_policy import EffectivePolicy, Source, plain
from kubectl_policy.model import Json
from tests.build import node
from tests.resolution.build import (
    PATH,
    UNSAID,
    declares,
    fates,
    leaf_at,
    owners,
    refusing,
    resolve,
    resolved,
    set_by,
    source,
    superseders,
)

OWN_FIELDS: Final = {"retryOn": "spec.retryOn", "limits.rate": "spec.rate"}


class TestStrategicMerge:
    """Lists merge by the keys that the profile names, if the strategy that decides says so."""

    profile = replace(UNSAID, list_keys=MappingProxyType({"a.l": "type", "appended": ""}))
    above: Final[dict[str, Json]] = {"a": {"l": [{"type": "x", "n": 1}, {"type": "y"}], "m": [1]}, "appended": [1]}
    below: Final[dict[str, Json]] = {"a": {"l": [{"type": "x", "n": 2}], "m": [2]}, "appended": [2]}

    def test_not_with_another_strategy(self) -> None:
        """RFC 7386 replaces lists."""
        found = resolved(
            declares("a", self.above, "Patch defaults"),
            declares("b", self.below, "Patch defaults"),
            profile=self.profile,
        )
        assert plain(found.resolution.spec) == self.below

    def test_by_their_keys(self) -> None:
        """Elements of one key field by field, with an empty key one after the other; other lists are replaced."""
        found = resolved(
            declares("a", self.above, "Strategic merge"),
            declares("b", self.below, "Strategic merge"),
            profile=self.profile,
        )
        assert plain(found.resolution.spec) == {
            "a": {"l": [{"type": "x", "n": 2}, {"type": "y"}], "m": [2]},
            "appended": [1, 2],
        }

    def test_every_element_has_a_fate(self) -> None:
        """The contributions are taken apart as the lists are."""
        effective = resolved(
            declares("a", self.above, "Strategic merge"),
            declares("b", self.below, "Strategic merge"),
            profile=self.profile,
        )
        found = {key: fate.state for key, fate in fates(effective).items()}
        assert found == {
            ("a", "a.l.x.type"): "superseded",
            ("a", "a.l.x.n"): "superseded",
            ("a", "a.l.y.type"): "effective",
            ("a", "a.m"): "superseded",
            ("a", 'appended["default/a[0]"]'): "effective",
            ("b", "a.l.x.type"): "effective",
            ("b", "a.l.x.n"): "effective",
            ("b", "a.m"): "effective",
            ("b", 'appended["default/b[0]"]'): "effective",
        }

    def test_the_challenger_may_choose_it(self) -> None:
        """Whatever the policy above it chooses for itself; one that is refused does not choose."""
        profile = replace(self.profile, chooser="challenger", merges_with="closest")
        parts = (declares("a", self.above), declares("b", self.below, "Strategic merge"))
        assert plain(resolved(*parts, profile=profile).resolution.spec)["appended"] == [1, 2]
        third = declares("c", {"z": 1}, "Patch defaults")
        found = resolve(PATH, profile, (*parts, third), refusing(parts[0].source, third.source))
        assert plain(found.resolution.spec)["appended"] == [1, 2]
        three = (declares("a", self.above), declares("b", self.below), declares("c", {}, "Strategic merge"))
        found = resolve(PATH, profile, three, refusing(three[0].source, three[2].source))
        assert plain(found.resolution.spec) == self.below


def test_where_all_apply_none_beats_another() -> None:
    """Equal fields stand side by side, below the names of their policies; no direction matters."""
    parts = [declares(name, {f"default/{name}": {"x": name}}, "All apply") for name in "abc"]
    effective = resolved(*parts)
    assert plain(effective.resolution.spec) == {f"default/{name}": {"x": name} for name in "abc"}
    assert {fate.state for fate in effective.resolution.fates} == {"effective"}
    assert (effective.resolution.rejected, effective.resolution.doubts) == (frozenset(), frozenset())


class TestInForce:
    def test_a_policy_that_declares_nothing_is_if_it_took_part(self) -> None:
        effective = resolved(declares("a", {"x": 1}), declares("b", {}))
        assert {found.name for found in effective.resolution.policies_in_force} == {"b"}
        assert plain(effective.resolution.spec) == {}

    def test_the_target_itself_is_no_policy(self) -> None:
        """Its own settings beat policies, and are none."""
        profile = replace(UNSAID, object_fields=OWN_FIELDS)
        effective = resolved(declares("a", {"retryOn": [1]}), profile=profile, target={"retryOn": [2]})
        assert effective.resolution.policies_in_force == frozenset()
        assert fates(effective)["a", "retryOn"].superseded_by == (Source(PATH[-1].object, PATH[-1]),)


class TestOwnFields:
    """Says: "The object's own non-empty value beats every default and loses to every override"."""

    profile = replace(UNSAID, object_fields=OWN_FIELDS)

    @pytest.mark.parametrize("empty", [None, "", [], {}], ids=repr)
    def test_an_empty_value_counts_for_nothing(self, empty: Json) -> None:
        found = resolved(declares("a", {"retryOn": [1]}), profile=self.profile, target={"retryOn": empty})
        assert set_by(found.resolution.spec) == {"retryOn": ([1], "a")}

    @pytest.mark.parametrize(
        "spec", [{"limits": {"rate": 1}}, {"limits": 1}, {"limits": {"rate": {"unit": "s"}}}], ids=str
    )
    def test_it_loses_to_an_override(self, spec: dict[str, Json]) -> None:
        """Of the field itself, of what holds it, or of something inside it."""
        found = resolved(declares("a", spec, "Patch overrides"), profile=self.profile, target={"rate": 9})
        assert plain(found.resolution.spec) == spec

    @pytest.mark.parametrize(
        "spec", [{"limits": {"rate": 1}}, {"limits": 1}, {"limits": {"rate": {"unit": "s"}}}, {}], ids=str
    )
    def test_it_beats_a_default(self, spec: dict[str, Json]) -> None:
        """Of the field itself, of what holds it, or of something inside it; and it is there without one."""
        found = resolved(declares("a", spec), profile=self.profile, target={"rate": 9})
        assert set_by(found.resolution.spec) == {"limits.rate": (9, "r")}


class TestDoubts:
    """Says: "Where the two readings would differ for an answer, a diagnostic says so"."""

    parts = (declares("gateway", {"a": 1}, "Atomic overrides"), declares("route", {"a": 2}), declares("rule", {"a": 3}))

    def test_the_directions_differ_and_nobody_chose(self) -> None:
        """Overrides at the Gateway, defaults at the route and the rule: bottom-up, and the answer says so."""
        effective = resolved(*self.parts)
        assert (set_by(effective.resolution.spec), effective.resolution.doubts) == (
            {"a": (1, "gateway")},
            frozenset({"fold direction"}),
        )

    def test_the_profile_chose_bottom_up(self) -> None:
        effective = resolved(*self.parts, profile=replace(UNSAID, fold="bottom-up"))
        assert (set_by(effective.resolution.spec), effective.resolution.doubts) == ({"a": (1, "gateway")}, frozenset())

    def test_the_profile_chose_top_down(self) -> None:
        effective = resolved(*self.parts, profile=replace(UNSAID, fold="top-down"))
        assert (set_by(effective.resolution.spec), effective.resolution.doubts) == ({"a": (3, "rule")}, frozenset())

    def test_the_directions_differ_in_what_they_refuse(self) -> None:
        """The spec is the same, but another policy is in conflict."""
        parts = (declares("a", {"x": 1}, "None"), declares("b", {}), declares("c", {}))
        assert resolved(*parts).resolution.doubts == {"fold direction"}


def test_the_same_outcome_elsewhere() -> None:
    effective = resolved(declares("a", {"x": 1}))
    elsewhere = EffectivePolicy((*PATH, node("HTTPRoute", "r", "rule[0]")), effective.resolution)
    assert effective.target == node("HTTPRoute", "r")
    assert elsewhere.target == node("HTTPRoute", "r", "rule[0]")
    assert elsewhere.resolution.spec is effective.resolution.spec
    assert [
        fate.state
        for fate in elsewhere.resolution.fates_of.get(effective.resolution.contributions[0].source.object, ())
    ] == ["effective"]
    assert elsewhere.resolution.fates_of.get(PATH[0].object, ()) == ()
    again = resolved(declares("a", {"x": 1})).resolution
    assert (again, hash(again)) == (effective.resolution, hash(effective.resolution))
    assert again != resolved(declares("b", {"x": 1})).resolution


def test_contributions_are_kept_in_their_order() -> None:
    effective = resolved(declares("b", {}), declares("a", {}))
    assert [part.source for part in effective.resolution.contributions] == [source("b"), source("a")]


class TestFates:
    """Says: "Effective, superseded by (which policy, where), or without effect"."""

    def test_a_field_that_another_policy_sets_is_superseded_by_it(self) -> None:
        """By the policy that set this very field, not by whoever else is in force."""
        found = fates(
            resolved(
                declares("a", {"x": 1, "y": 1}, "Patch defaults"),
                declares("b", {"x": 2}, "Patch defaults"),
                declares("c", {"z": 3}),
            )
        )
        assert (found["a", "x"].state, superseders(found["a", "x"])) == ("superseded", {"b"})
        assert found["a", "x"].value == 1
        assert {found[key].state for key in (("a", "y"), ("b", "x"), ("c", "z"))} == {"effective"}

    def test_a_spec_that_is_replaced_whole_is_superseded_by_what_is_in_force(self) -> None:
        """Atomic defaults: nobody sets the field, and it is gone all the same."""
        found = fates(resolved(declares("a", {"x": 1}), declares("b", {"y": 2})))
        assert (found["a", "x"].state, superseders(found["a", "x"])) == ("superseded", {"b"})
        assert (found["b", "y"].state, found["b", "y"].superseded_by) == ("effective", ())

    def test_a_refused_policy_is_rejected_field_by_field(self) -> None:
        """Strategy None: in conflict with what is established."""
        found = fates(resolved(declares("a", {"x": 1}, "None"), declares("b", {"y": 2, "x": 1})))
        assert found["a", "x"].state == "effective"
        for field in ("x", "y"):
            assert (found["b", field].state, superseders(found["b", field])) == ("rejected", {"a"})

    def test_a_scalar_where_a_map_is_in_force(self) -> None:
        found = fates(
            resolved(
                declares("a", {"m": 1}, "Patch defaults"),
                declares("b", {"m": {"x": 1}}, "Patch defaults"),
                declares("c", {"m": {"y": 1}}, "Patch defaults"),
            )
        )
        assert superseders(found["a", "m"]) == {"b", "c"}

    def test_a_map_where_a_scalar_is_in_force(self) -> None:
        found = fates(resolved(declares("a", {"m": {"x": {"y": 1}}}, "Patch defaults"), declares("b", {"m": 1})))
        assert superseders(found["a", "m.x.y"]) == {"b"}

    def test_a_field_below_what_is_gone(self) -> None:
        found = fates(resolved(declares("a", {"m": {"x": {"y": 1}}}), declares("b", {"n": 1})))
        assert superseders(found["a", "m.x.y"]) == {"b"}

    def test_a_field_of_a_map_that_was_replaced_and_set_anew(self) -> None:
        """Superseded by those who are in the new map, not by everybody who took part, let alone by itself."""
        parts = (
            declares("a", {"m": {"x": {"y": 1}}, "n": 1}, "Patch defaults"),
            declares("b", {"m": {"x": 1}}, "Patch defaults"),
            declares("c", {"m": {"x": {"z": 1}}}, "Patch defaults"),
            declares("d", {"m": {"w": 1}}, "Patch defaults"),
        )
        found = fates(resolved(*parts))
        assert superseders(found["a", "m.x.y"]) == {"c"}
        assert superseders(found["b", "m.x"]) == {"c"}

    def test_an_empty_map_is_in_force_where_there_is_a_map(self) -> None:
        """Whoever declares `{}` has what was declared, with more in it."""
        found = fates(resolved(declares("a", {"m": {}}, "Patch defaults"), declares("b", {"m": {"x": 1}})))
        assert found["a", "m"].state == "effective"

    def test_a_removal_is_in_force(self) -> None:
        """The removal is effective, and what it removed is superseded by it."""
        effective = resolved(declares("a", {"x": 1}, "Patch defaults"), declares("b", {"x": None}))
        found = fates(effective)
        assert (found["b", "x"].state, found["b", "x"].value) == ("effective", None)
        assert superseders(found["a", "x"]) == {"b"}
        assert owners(frozenset({leaf_at(effective.resolution.spec, "x").source})) == {"b"}

    def test_one_policy_that_sets_a_field_twice(self) -> None:
        """As a default and bare: only the value that is in force is effective."""
        parts = (declares("a", {"x": 1}), declares("a", {"x": 2}))
        found = [(fate.value, fate.state) for fate in resolved(*parts).resolution.fates]
        assert found == [(1, "superseded"), (2, "effective")]


class TestElements:
    whole: Final = (("rules[name]",),)

    def test_each_element_has_its_own(self) -> None:
        found = fates(
            resolved(
                declares("a", {"rules": [{"name": "x"}, {"name": "y"}]}, "Patch defaults", whole=self.whole),
                declares("b", {"rules": [{"name": "x", "n": 1}]}, whole=self.whole),
            )
        )
        assert superseders(found["a", "rules.x"]) == {"b"}
        assert found["a", "rules.y"].state == found["b", "rules.x"].state == "effective"

    def test_an_empty_list_is_in_force_where_there_is_such_a_list(self) -> None:
        """Whoever declares `[]` has what was declared, with more in it."""
        found = fates(
            resolved(
                declares("a", {"rules": []}, "Patch defaults", whole=self.whole),
                declares("b", {"rules": [{"name": "x"}]}, whole=self.whole),
            )
        )
        assert found["a", "rules"].state == "effective"

    def test_another_list_is_superseded_by_everybody_who_has_an_element(self) -> None:
        """Elements without names are not told apart; an empty map is no empty list."""
        values: list[Json] = [[1], {}]
        for value in values:
            found = fates(
                resolved(
                    declares("a", {"rules": value}, "Patch defaults", whole=self.whole),
                    declares("b", {"rules": [{"name": "x"}]}, "Patch defaults", whole=self.whole),
                    declares("c", {"rules": [{"name": "y"}]}, whole=self.whole),
                )
            )
            assert superseders(found["a", "rules"]) == {"b", "c"}

    def test_an_element_where_another_list_is_in_force(self) -> None:
        found = fates(
            resolved(
                declares("a", {"rules": [{"name": "x"}]}, "Patch defaults", whole=self.whole),
                declares("b", {"rules": [1]}, whole=self.whole),
            )
        )
        assert superseders(found["a", "rules.x"]) == {"b"}


class TestRefused:
    """Where only one policy applies to a target, the others are kept out of the merge."""

    parts = (
        declares("a", {"x": 1, "y": 1}, "Patch defaults", at="g"),
        declares("b", {"x": 2}, "Patch defaults", at="h"),
        declares("c", {"x": 3, "z": 3}, "Patch overrides", at="h"),
    )
    out: Final = source("c", overrides=True, at="h")
    context: Final = refusing(source("b", at="h"), out)

    def test_nothing_of_them_is_in_force(self) -> None:
        """Not even their overrides; the others merge as if they were not there."""
        found = resolve(PATH, UNSAID, self.parts, self.context)
        assert set_by(found.resolution.spec) == {"x": (2, "b"), "y": (1, "a")}
        assert (owners(found.resolution.members), found.resolution.rejected, found.resolution.refusals) == (
            {"a", "b"},
            frozenset({self.out}),
            self.context.refused,
        )
        assert {one.name for one in found.resolution.policies_in_force} == {"a", "b"}

    def test_every_field_of_theirs_is_rejected_for_the_one_that_applies_there(self) -> None:
        """It is the policy on the same target, not what else is in force on the path."""
        found = fates(resolve(PATH, UNSAID, self.parts, self.context))
        for field in ("x", "z"):
            assert (found["c", field].state, superseders(found["c", field])) == ("rejected", {"b"})

    def test_a_conflict_in_the_merge_is_another_matter(self) -> None:
        parts = (declares("n", {"x": 0}, "None", at="f"), *self.parts[1:])
        found = fates(resolve(PATH, UNSAID, parts, self.context))
        assert (found["b", "x"].state, superseders(found["b", "x"])) == ("rejected", {"n"})
        assert (found["c", "x"].state, superseders(found["c", "x"])) == ("rejected", {"b"})
