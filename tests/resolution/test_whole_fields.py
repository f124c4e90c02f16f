"""Fields that come whole from one policy: entries of maps (`limits.*`), elements of lists (`rules[name]`)."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

import pytest

from kubectl_policy import Leaf, plain
from kubectl_policy.resolution.traced import patched, trace
from tests.resolution.specs import HOSTILE_LISTS, set_by, source

if TYPE_CHECKING:
    from collections.abc import Collection

    from kubectl_policy.model import Json
    from kubectl_policy.resolution import Traced
    from kubectl_policy.resolution.traced import Field

OLD, NEW = source("old"), source("new")


def merged(target: dict[str, Json], change: dict[str, Json], whole: Collection[Field]) -> Traced:
    """One spec patched onto another."""
    return patched(trace(target, OLD, whole), trace(change, NEW, whole))


class TestEntries:
    """Whole entries of maps: `limits.*`."""

    def test_an_entry_that_is_no_map_is_a_leaf_as_ever(self) -> None:
        """And so is what stands where the map is expected."""
        assert plain(trace({"limits": {"a": 1, "b": {}}}, OLD, [("limits", "*")])) == {"limits": {"a": 1, "b": {}}}
        assert trace({"limits": 7}, OLD, [("limits", "*")]) == {"limits": Leaf(7, OLD)}

    def test_an_entry_comes_whole_from_one_policy(self) -> None:
        """The one that sets it last; the other entries stay."""
        target: dict[str, Json] = {"limits": {"a": {"x": 1, "y": 1}, "b": {"x": 1}}, "m": {"a": {"x": 1}}}
        change: dict[str, Json] = {"limits": {"a": {"x": 2}}, "m": {"a": {"y": 2}}}
        assert set_by(merged(target, change, [("limits", "*")])) == {
            "limits.a": ({"x": 2}, "new"),
            "limits.b": ({"x": 1}, "old"),
            "m.a.x": (1, "old"),
            "m.a.y": (2, "new"),
        }

    def test_every_field_of_a_spec(self) -> None:
        """`*` alone: the top-level fields."""
        assert set_by(merged({"a": {"x": 1}, "b": {"x": 1}}, {"a": {"y": 2}}, [("*",)])) == {
            "a": ({"y": 2}, "new"),
            "b": ({"x": 1}, "old"),
        }

    def test_a_pattern_in_the_middle(self) -> None:
        """`*.rates`: a field of every map."""
        spec = merged({"a": {"rates": {"x": 1}, "m": {"x": 1}}}, {"a": {"rates": {"y": 2}}}, [("*", "rates")])
        assert set_by(spec) == {"a.m.x": (1, "old"), "a.rates": ({"y": 2}, "new")}

    def test_a_whole_map_is_not_looked_into(self) -> None:
        """`m` makes `m.x` and `m.*` meaningless."""
        assert set_by(trace({"m": {"x": {"y": 1}}}, OLD, [("m", "x"), ("m",), ("m", "*")])) == {
            "m": ({"x": {"y": 1}}, "old")
        }


class TestElements:
    """Elements of a list by name: `rules[name]`."""

    rules: Final = [("rules[name]",)]

    @pytest.mark.parametrize("value", HOSTILE_LISTS, ids=str)
    def test_elements_without_a_name_of_their_own_are_not_told_apart(self, value: Json) -> None:
        """The list is a leaf, as any other list is."""
        assert trace({"rules": value}, OLD, self.rules) == {"rules": Leaf(value, OLD)}

    def test_another_list_is_not_meant(self) -> None:
        """Nor one whose name begins alike."""
        value: Json = [{"name": "a"}]
        assert trace({"rulesets": value, "rule": value}, OLD, self.rules) == {
            "rulesets": Leaf(value, OLD),
            "rule": Leaf(value, OLD),
        }

    def test_a_map_where_a_list_is_expected(self) -> None:
        """Merges as a map does, and with maps alone."""
        target: dict[str, Json] = {"rules": [{"name": "a"}]}
        assert set_by(merged(target, {"rules": {"a": {"x": 2}}}, self.rules)) == {"rules.a.x": (2, "new")}
        assert set_by(merged({"rules": {"b": 1}}, target, self.rules)) == {"rules.a": ({"name": "a"}, "new")}

    def test_an_element_comes_whole_from_one_policy(self) -> None:
        """In the order of the older list, then that of the newer one; what comes out is a list again."""
        spec = merged(
            {"rules": [{"name": "b", "x": 1}, {"name": "a", "x": 1}]},
            {"rules": [{"name": "c", "x": 2}, {"name": "a", "y": 2}]},
            self.rules,
        )
        assert set_by(spec) == {
            "rules.b": ({"name": "b", "x": 1}, "old"),
            "rules.a": ({"name": "a", "y": 2}, "new"),
            "rules.c": ({"name": "c", "x": 2}, "new"),
        }
        assert plain(spec) == {"rules": [{"name": "b", "x": 1}, {"name": "a", "y": 2}, {"name": "c", "x": 2}]}

    def test_an_empty_list_adds_nothing(self) -> None:
        """As an empty map does; of a list whose elements have no names it is another value."""
        assert set_by(merged({"rules": [{"name": "a"}]}, {"rules": []}, self.rules)) == {
            "rules.a": ({"name": "a"}, "old")
        }
        assert set_by(merged({"rules": [1]}, {"rules": []}, self.rules)) == {"rules": ([], "new")}
        assert set_by(merged({"rules": {"a": 1}}, {"rules": []}, self.rules)) == {"rules": ([], "new")}

    def test_an_empty_map_replaces_a_list(self) -> None:
        """They are of different types."""
        assert set_by(merged({"rules": [{"name": "a"}]}, {"rules": {}}, self.rules)) == {"rules": ({}, "new")}

    def test_a_list_inside_every_entry_of_a_map(self) -> None:
        """`limits.*.rates[window]`."""
        spec = merged(
            {"limits": {"a": {"rates": [{"window": "1s", "x": 1}]}}},
            {"limits": {"a": {"rates": [{"window": "1m", "x": 2}]}}},
            [("limits", "*", "rates[window]")],
        )
        assert list(set_by(spec)) == ["limits.a.rates.1s", "limits.a.rates.1m"]

    def test_a_removed_list_is_removed(self) -> None:
        """With all of its elements."""
        assert plain(merged({"rules": [{"name": "a"}]}, {"rules": None}, self.rules)) == {}
