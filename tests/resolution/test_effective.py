"""Effective policies: what comes out, who is in force, the target's own settings, and what an answer rests on."""

from __future__ import annotations

from types import MappingProxyType
from typing import TYPE_CHECKING, Final

import pytest
from msgspec.structs import replace

from kubectl_policy import EffectivePolicy, Source, plain
from tests.build import node
from tests.resolution.outcomes import PATH, UNSAID, fates, refusing, resolve, resolved
from tests.resolution.specs import declares, set_by, source

if TYPE_CHECKING:
    from kubectl_policy.model import Json

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
    """Which policies affect the end of the path."""

    def test_a_policy_without_an_effective_field_is_not(self) -> None:
        """Beaten, even where it took part."""
        effective = resolved(declares("a", {"x": 1}, "Patch defaults"), declares("b", {"x": 2}))
        assert {found.name for found in effective.resolution.policies_in_force} == {"b"}

    def test_a_policy_that_declares_nothing_is_if_it_took_part(self) -> None:
        """An empty policy that replaces another one has an effect."""
        effective = resolved(declares("a", {"x": 1}), declares("b", {}))
        assert {found.name for found in effective.resolution.policies_in_force} == {"b"}
        assert plain(effective.resolution.spec) == {}

    def test_an_empty_policy_that_was_beaten_is_not(self) -> None:
        """Nothing of it is left."""
        effective = resolved(declares("a", {}), declares("b", {"x": 1}))
        assert {found.name for found in effective.resolution.policies_in_force} == {"b"}

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
        """Absent and empty are the same here."""
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

    def test_its_neighbours_stay(self) -> None:
        """Other fields of the same map keep their values and sources."""
        found = resolved(declares("a", {"limits": {"burst": 2}}), profile=self.profile, target={"rate": 0})
        assert set_by(found.resolution.spec) == {"limits.burst": (2, "a"), "limits.rate": (0, "r")}


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
        assert (set_by(effective.resolution.spec), effective.resolution.doubts) == (
            {"a": (1, "gateway")},
            frozenset({"fold direction"}),
        )

    def test_the_profile_chose_bottom_up(self) -> None:
        """No doubt is left."""
        effective = resolved(*self.parts, profile=replace(UNSAID, fold="bottom-up"))
        assert (set_by(effective.resolution.spec), effective.resolution.doubts) == ({"a": (1, "gateway")}, frozenset())

    def test_the_profile_chose_top_down(self) -> None:
        """The other answer, without a doubt."""
        effective = resolved(*self.parts, profile=replace(UNSAID, fold="top-down"))
        assert (set_by(effective.resolution.spec), effective.resolution.doubts) == ({"a": (3, "rule")}, frozenset())

    def test_the_directions_agree(self) -> None:
        """Where both readings say the same there is nothing to doubt."""
        assert resolved(*self.parts[1:]).resolution.doubts == frozenset()

    def test_the_directions_differ_in_what_they_refuse(self) -> None:
        """The spec is the same, but another policy is in conflict."""
        parts = (declares("a", {"x": 1}, "None"), declares("b", {}), declares("c", {}))
        assert resolved(*parts).resolution.doubts == {"fold direction"}


def test_the_same_outcome_elsewhere() -> None:
    """Paths with the same contributions share what was computed."""
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
    """Least specific first, as given."""
    effective = resolved(declares("b", {}), declares("a", {}))
    assert [part.source for part in effective.resolution.contributions] == [source("b"), source("a")]
