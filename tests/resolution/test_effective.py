"""Effective policies: the fate of every field, the target's own settings, and what an answer rests on."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Final

import pytest

from kubectl_policy import PolicyKindProfile, Source, plain
from kubectl_policy.model import GroupKind
from kubectl_policy.resolution.effective import resolve
from tests.build import node
from tests.resolution.specs import declares, leaf_at, names, set_by, source

if TYPE_CHECKING:
    from kubectl_policy import EffectivePolicy, Fate
    from kubectl_policy.model import Json
    from kubectl_policy.resolution import Contribution

UNSAID: Final = PolicyKindProfile(GroupKind("example.com", "ColorPolicy"), "inherited", "label")
OWN_FIELDS: Final = {"retryOn": "spec.retryOn", "limits.rate": "spec.rate"}
PATH: Final = (node("Gateway", "g"), node("HTTPRoute", "r"))


def resolved(
    *parts: Contribution, profile: PolicyKindProfile = UNSAID, target: dict[str, Json] | None = None
) -> EffectivePolicy:
    """What the contributions amount to at the route."""
    return resolve(PATH, profile, parts, {"spec": target or {}})


def fates(effective: EffectivePolicy) -> dict[tuple[str, str], Fate]:
    """The fates by policy and field."""
    return {(fate.source.object.name, fate.field): fate for fate in effective.fates()}


def superseders(fate: Fate) -> set[str]:
    """The names of those who set something else instead."""
    return {found.object.name for found in fate.superseded_by}


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
        """Superseded by everybody who set something in the map."""
        found = fates(
            resolved(
                declares("a", {"m": 1}, "Patch defaults"),
                declares("b", {"m": {"x": 1}}, "Patch defaults"),
                declares("c", {"m": {"y": 1}}, "Patch defaults"),
            )
        )
        assert superseders(found["a", "m"]) == {"b", "c"}

    def test_a_map_where_a_scalar_is_in_force(self) -> None:
        """Superseded by the scalar."""
        found = fates(resolved(declares("a", {"m": {"x": {"y": 1}}}, "Patch defaults"), declares("b", {"m": 1})))
        assert superseders(found["a", "m.x.y"]) == {"b"}

    def test_a_field_below_what_is_gone(self) -> None:
        """The whole map is absent from what is in force."""
        found = fates(resolved(declares("a", {"m": {"x": {"y": 1}}}), declares("b", {"n": 1})))
        assert superseders(found["a", "m.x.y"]) == {"b"}

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
        assert names(frozenset({leaf_at(effective.spec, "x").source})) == {"b"}

    def test_one_policy_that_sets_a_field_twice(self) -> None:
        """As a default and bare: only the value that is in force is effective."""
        parts = (declares("a", {"x": 1}), declares("a", {"x": 2}))
        found = [(fate.value, fate.state) for fate in resolved(*parts).fates()]
        assert found == [(1, "superseded"), (2, "effective")]


class TestInForce:
    """Which policies affect the end of the path."""

    def test_a_policy_without_an_effective_field_is_not(self) -> None:
        """Beaten, even where it took part."""
        effective = resolved(declares("a", {"x": 1}, "Patch defaults"), declares("b", {"x": 2}))
        assert {found.name for found in effective.policies_in_force()} == {"b"}

    def test_a_policy_that_declares_nothing_is_if_it_took_part(self) -> None:
        """An empty policy that replaces another one has an effect."""
        effective = resolved(declares("a", {"x": 1}), declares("b", {}))
        assert {found.name for found in effective.policies_in_force()} == {"b"}
        assert plain(effective.spec) == {}

    def test_an_empty_policy_that_was_beaten_is_not(self) -> None:
        """Nothing of it is left."""
        effective = resolved(declares("a", {}), declares("b", {"x": 1}))
        assert {found.name for found in effective.policies_in_force()} == {"b"}

    def test_the_target_itself_is_no_policy(self) -> None:
        """Its own settings beat policies, and are none."""
        profile = replace(UNSAID, object_fields=OWN_FIELDS)
        effective = resolved(declares("a", {"retryOn": [1]}), profile=profile, target={"retryOn": [2]})
        assert effective.policies_in_force() == frozenset()
        assert fates(effective)["a", "retryOn"].superseded_by == (Source(PATH[-1].object, PATH[-1]),)


class TestOwnFields:
    """Says: "The object's own non-empty value beats every default and loses to every override"."""

    profile = replace(UNSAID, object_fields=OWN_FIELDS)

    @pytest.mark.parametrize("empty", [None, "", [], {}], ids=repr)
    def test_an_empty_value_counts_for_nothing(self, empty: Json) -> None:
        """Absent and empty are the same here."""
        found = resolved(declares("a", {"retryOn": [1]}), profile=self.profile, target={"retryOn": empty})
        assert set_by(found.spec) == {"retryOn": ([1], "a")}

    @pytest.mark.parametrize(
        "spec", [{"limits": {"rate": 1}}, {"limits": 1}, {"limits": {"rate": {"unit": "s"}}}], ids=str
    )
    def test_it_loses_to_an_override(self, spec: dict[str, Json]) -> None:
        """Of the field itself, of what holds it, or of something inside it."""
        found = resolved(declares("a", spec, "Patch overrides"), profile=self.profile, target={"rate": 9})
        assert plain(found.spec) == spec

    @pytest.mark.parametrize(
        "spec", [{"limits": {"rate": 1}}, {"limits": 1}, {"limits": {"rate": {"unit": "s"}}}, {}], ids=str
    )
    def test_it_beats_a_default(self, spec: dict[str, Json]) -> None:
        """Of the field itself, of what holds it, or of something inside it; and it is there without one."""
        found = resolved(declares("a", spec), profile=self.profile, target={"rate": 9})
        assert set_by(found.spec) == {"limits.rate": (9, "r")}

    def test_its_neighbours_stay(self) -> None:
        """Other fields of the same map keep their values and sources."""
        found = resolved(declares("a", {"limits": {"burst": 2}}), profile=self.profile, target={"rate": 0})
        assert set_by(found.spec) == {"limits.burst": (2, "a"), "limits.rate": (0, "r")}


class TestDoubts:
    """Says: "Where the two readings would differ for an answer, a diagnostic says so"."""

    parts = (
        declares("gateway", {"a": 1}, "Atomic overrides"),
        declares("route", {"a": 2}),
        declares("rule", {"a": 3}),
    )

    def test_the_directions_differ_and_nobody_chose(self) -> None:
        """Overrides at the Gateway, defaults at the route and the rule: bottom-up, and the answer says so."""
        effective = resolved(*self.parts)
        assert (set_by(effective.spec), effective.doubts) == ({"a": (1, "gateway")}, frozenset({"fold direction"}))

    def test_the_profile_chose_bottom_up(self) -> None:
        """No doubt is left."""
        effective = resolved(*self.parts, profile=replace(UNSAID, fold="bottom-up"))
        assert (set_by(effective.spec), effective.doubts) == ({"a": (1, "gateway")}, frozenset())

    def test_the_profile_chose_top_down(self) -> None:
        """The other answer, without a doubt."""
        effective = resolved(*self.parts, profile=replace(UNSAID, fold="top-down"))
        assert (set_by(effective.spec), effective.doubts) == ({"a": (3, "rule")}, frozenset())

    def test_the_directions_agree(self) -> None:
        """Where both readings say the same there is nothing to doubt."""
        assert resolved(*self.parts[1:]).doubts == frozenset()

    def test_the_directions_differ_in_what_they_refuse(self) -> None:
        """The spec is the same, but another policy is in conflict."""
        parts = (declares("a", {"x": 1}, "None"), declares("b", {}), declares("c", {}))
        assert resolved(*parts).doubts == {"fold direction"}


def test_the_same_outcome_elsewhere() -> None:
    """Paths with the same contributions share what was computed."""
    effective = resolved(declares("a", {"x": 1}))
    elsewhere = effective.on((*PATH, node("HTTPRoute", "r", "rule[0]")))
    assert effective.target == node("HTTPRoute", "r")
    assert elsewhere.target == node("HTTPRoute", "r", "rule[0]")
    assert elsewhere.spec is effective.spec
    assert elsewhere.doubting("age unknown").doubts == {"age unknown"}


def test_contributions_are_kept_in_their_order() -> None:
    """Least specific first, as given."""
    effective = resolved(declares("b", {}), declares("a", {}))
    assert [part.source for part in effective.contributions] == [source("b"), source("a")]
