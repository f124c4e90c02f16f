"""Traced specs: patches by RFC 7386, whole fields and keyed lists."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from typing import Final

import pytest

from kubectl_policy import Leaf, leaves, plain
from kubectl_policy.model import Json
from kubectl_policy.resolution import Traced, field_name
from kubectl_policy.resolution.traced import Field, KeyedList, patch, patched, trace, with_keyed_lists
from tests.resolution.build import HOSTILE_LISTS, set_by, source

OLD, NEW = source("old"), source("new")


def merged(target: dict[str, Json], change: dict[str, Json], whole: Collection[Field] = ()) -> Traced:
    return patched(trace(target, OLD, whole), trace(change, NEW, whole))


@pytest.mark.parametrize(
    ("target", "change", "whole", "expected"),
    [
        # The tombstone remembers who removed a field, or a map with everything in it.
        ({"a": 1}, {"a": None}, [], {"a": (None, "new")}),
        ({"m": {"x": 1, "y": 2}}, {"m": None}, [], {"m": (None, "new")}),
        # Lists are leaves: RFC 7386 replaces them whole, and a null in them is a value.
        ({"a": [1]}, {"a": [None, {"b": None}]}, [], {"a": ([None, {"b": None}], "new")}),
        ({"m": [1, 2]}, {"m": [3]}, [], {"m": ([3], "new")}),
        # An empty map leaves a map as it is, and replaces a scalar: "If Target is not an Object, Target = {}".
        ({"m": {"x": 1}}, {"m": {}}, [], {"m.x": (1, "old")}),
        ({"m": 1}, {"m": {}}, [], {"m": ({}, "new")}),
        # The last one decides on the type.
        ({"m": 1}, {"m": {"x": 1}}, [], {"m.x": (1, "new")}),
        ({"m": {"x": 1}}, {"m": 1}, [], {"m": (1, "new")}),
        # Maps merge key by key, at any depth, unless they are whole.
        (
            {"m": {"x": {"a": 1}, "y": 1}},
            {"m": {"x": {"b": 2}}},
            [],
            {"m.x.a": (1, "old"), "m.x.b": (2, "new"), "m.y": (1, "old")},
        ),
        ({"m": {"x": 1}}, {"m": {"y": 2}}, [("m",)], {"m": ({"y": 2}, "new")}),
        ({"m": {"x": {"a": 1}}}, {"m": {"x": {"b": 2}}}, [("m", "x")], {"m.x": ({"b": 2}, "new")}),
    ],
)
def test_a_patch(
    target: dict[str, Json], change: dict[str, Json], whole: Collection[Field], expected: dict[str, tuple[Json, str]]
) -> None:
    """By RFC 7386, with the source of each field."""
    spec = merged(target, change, whole)
    assert set_by(spec) == expected
    assert all(leaf.removed == (leaf.value is None) for _, leaf in leaves(spec))


def test_merging_in_pairs_is_not_associative() -> None:
    """Which is why specs are merged one after the other: in pairs, what is removed first could come back."""
    above, middle, below = (trace(spec, OLD) for spec in ({"m": {"x": 1}}, {"m": None}, {"m": {"y": 2}}))
    assert plain(patched(patched(above, middle), below)) == {"m": {"y": 2}}
    assert plain(patched(above, patched(middle, below))) == {"m": {"x": 1, "y": 2}}


def test_merging_changes_neither_spec() -> None:
    """Values are shared, never mutated."""
    target, change = trace({"m": {"x": 1}}, OLD), trace({"m": {"y": 2}}, NEW)
    patched(target, change)
    assert (plain(target), plain(change)) == ({"m": {"x": 1}}, {"m": {"y": 2}})


def test_patching_nothing_gives_the_change() -> None:
    assert patch(None, Leaf({}, NEW)) == Leaf({}, NEW)


def test_a_spec_is_a_map_whatever_is_patched_onto_it() -> None:
    assert patched({}, {}) == {}


def test_leaves_come_in_the_order_in_which_they_are_declared() -> None:
    """With their paths; empty maps are leaves."""
    spec = trace({"b": 1, "a": {"z": {}, "y": [1]}}, OLD)
    assert [(field, leaf.value) for field, leaf in leaves(spec)] == [(("b",), 1), (("a", "z"), {}), (("a", "y"), [1])]


@pytest.mark.parametrize(
    ("field", "name"),
    [
        ((), ""),
        (("a",), "a"),
        (("limits", "global"), "limits.global"),
        (("limits", "per-route_x"), "limits.per-route_x"),
        (("labels", "a.b/c"), 'labels["a.b/c"]'),
        (("a.b", "c"), '["a.b"].c'),
        (("a", "", "b"), 'a[""].b'),
    ],
)
def test_the_name_of_a_field(field: tuple[str, ...], name: str) -> None:
    assert field_name(field) == name


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
        assert trace({"rules": value}, OLD, self.rules) == {"rules": Leaf(value, OLD)}

    def test_another_list_is_not_meant(self) -> None:
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
        assert plain(merged({"rules": [{"name": "a"}]}, {"rules": None}, self.rules)) == {}


def merged_by_key(target: Mapping[str, Json], change: Mapping[str, Json], keys: Mapping[Field, str]) -> Traced:
    return patched(with_keyed_lists(trace(target, OLD), keys), with_keyed_lists(trace(change, NEW), keys))


@pytest.mark.parametrize("value", HOSTILE_LISTS, ids=str)
def test_elements_without_a_key_of_their_own_are_not_told_apart(value: Json) -> None:
    """The list is a leaf, and a list of theirs replaces another one."""
    keys: dict[Field, str] = {("l",): "name"}
    assert with_keyed_lists(trace({"l": value}, NEW), keys) == {"l": Leaf(value, NEW)}
    assert set_by(merged_by_key({"l": value}, {"l": [{"name": "z"}]}, keys)) == {"l.z.name": ("z", "new")}


def test_an_empty_list_adds_nothing() -> None:
    assert set_by(merged_by_key({"l": [{"name": "a"}]}, {"l": []}, {("l",): "name"})) == {"l.a.name": ("a", "old")}


def test_elements_merge_field_by_field() -> None:
    """Those of one key; the others of both sides stay."""
    spec = merged_by_key(
        {"a": {"l": [{"type": "x", "n": 1, "m": {"p": 1}}, {"type": "y"}]}},
        {"a": {"l": [{"type": "x", "n": 2, "m": {"q": 2}}, {"type": "z"}]}},
        {("a", "l"): "type"},
    )
    assert plain(spec) == {"a": {"l": [{"type": "x", "n": 2, "m": {"p": 1, "q": 2}}, {"type": "y"}, {"type": "z"}]}}
    assert set_by(spec)["a.l.x.m.p"] == (1, "old")


def test_an_empty_key_appends() -> None:
    """Also equal elements, and such as are no maps; a policy does not append to itself."""
    keys: dict[Field, str] = {("l",): ""}
    target: dict[str, Json] = {"l": [1, {"a": 1}, None, {}]}
    assert plain(merged_by_key(target, {"l": [1, {"a": 2}]}, keys)) == {"l": [1, {"a": 1}, None, {}, 1, {"a": 2}]}
    itself = with_keyed_lists(trace(target, OLD), keys)
    assert patched(itself, itself) == itself


def test_an_element_that_is_a_list_is_a_value() -> None:
    """A list of lists is appended list by list; the key of the outer one says nothing of the inner ones."""
    value: Json = [[{"a": 1}], [{"a": 2}]]
    spec = with_keyed_lists(trace({"l": value}, OLD), {("l",): ""})
    assert plain(spec) == {"l": value}
    assert list(set_by(spec).values()) == [([{"a": 1}], "old"), ([{"a": 2}], "old")]


def test_whole_elements_stay_whole() -> None:
    """A list that is keyed already (`rules[name]`) stays a list with its elements."""
    spec = trace({"rules": [{"name": "a", "x": {"y": 1}}]}, OLD, [("rules[name]",)])
    again = with_keyed_lists(spec, {("rules",): "name", ("other",): "name"})
    assert again == spec
    assert isinstance(again["rules"], KeyedList)
    assert plain(again) == {"rules": [{"name": "a", "x": {"y": 1}}]}
