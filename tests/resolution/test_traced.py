"""Traced specs: every leaf knows who set it, through any merge."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from kubectl_policy import Leaf, leaves, plain
from kubectl_policy.resolution import field_name
from kubectl_policy.resolution.traced import patch, patched, trace
from tests.resolution.specs import set_by, source

if TYPE_CHECKING:
    from collections.abc import Collection

    from kubectl_policy.model import Json
    from kubectl_policy.resolution import Traced
    from kubectl_policy.resolution.traced import Field

OLD, NEW = source("old"), source("new")


def merged(target: dict[str, Json], change: dict[str, Json], whole: Collection[Field] = ()) -> Traced:
    """One spec patched onto another."""
    return patched(trace(target, OLD, whole), trace(change, NEW, whole))


class TestRemoved:
    """A null removes a field, and the removal is remembered."""

    def test_a_removed_field_is_not_in_the_plain_spec(self) -> None:
        """The tombstone is no value."""
        assert plain(merged({"a": 1, "b": {"c": 1, "d": 2}}, {"a": None, "b": {"c": None}})) == {"b": {"d": 2}}

    def test_a_removed_field_keeps_the_source_of_its_removal(self) -> None:
        """So that an answer can say who removed it."""
        assert merged({"a": 1}, {"a": None}) == {"a": Leaf(None, NEW, removed=True)}

    def test_merging_in_pairs_is_not_associative(self) -> None:
        """Which is why specs are merged one after the other: in pairs, what is removed first could come back."""
        above, middle, below = (trace(spec, OLD) for spec in ({"m": {"x": 1}}, {"m": None}, {"m": {"y": 2}}))
        assert plain(patched(patched(above, middle), below)) == {"m": {"y": 2}}
        assert plain(patched(above, patched(middle, below))) == {"m": {"x": 1, "y": 2}}

    def test_a_whole_map_is_removed(self) -> None:
        """With everything in it."""
        assert set_by(merged({"m": {"x": 1, "y": 2}}, {"m": None})) == {"m": (None, "new")}

    def test_a_null_inside_a_list_is_a_value(self) -> None:
        """Lists are leaves: RFC 7386 replaces them whole and does not look into them."""
        assert plain(merged({"a": [1]}, {"a": [None, {"b": None}]})) == {"a": [None, {"b": None}]}


class TestMaps:
    """Maps merge key by key, unless they are whole."""

    def test_an_empty_map_changes_no_map(self) -> None:
        """`MergePatch` with an empty patch leaves the target as it is."""
        assert set_by(merged({"m": {"x": 1}}, {"m": {}})) == {"m.x": (1, "old")}

    def test_an_empty_map_replaces_a_scalar(self) -> None:
        """Says: "If Target is not an Object, Target = {}"."""
        assert set_by(merged({"m": 1}, {"m": {}})) == {"m": ({}, "new")}

    def test_a_map_replaces_a_scalar(self) -> None:
        """Likewise, with what the map holds."""
        assert set_by(merged({"m": 1}, {"m": {"x": 1}})) == {"m.x": (1, "new")}

    def test_a_scalar_replaces_a_map(self) -> None:
        """The last one decides on the type."""
        assert set_by(merged({"m": {"x": 1}}, {"m": 1})) == {"m": (1, "new")}

    def test_a_list_replaces_a_list(self) -> None:
        """Items are not matched."""
        assert set_by(merged({"m": [1, 2]}, {"m": [3]})) == {"m": ([3], "new")}

    def test_maps_merge_key_by_key(self) -> None:
        """At any depth."""
        assert set_by(merged({"m": {"x": {"a": 1}, "y": 1}}, {"m": {"x": {"b": 2}}})) == {
            "m.x.a": (1, "old"),
            "m.x.b": (2, "new"),
            "m.y": (1, "old"),
        }

    def test_a_whole_map_is_replaced(self) -> None:
        """A field that the profile names, at the top or deeper."""
        assert set_by(merged({"m": {"x": 1}}, {"m": {"y": 2}}, [("m",)])) == {"m": ({"y": 2}, "new")}
        deep = merged({"m": {"x": {"a": 1}}}, {"m": {"x": {"b": 2}}}, [("m", "x")])
        assert set_by(deep) == {"m.x": ({"b": 2}, "new")}

    def test_merging_changes_neither_spec(self) -> None:
        """Values are shared, never mutated."""
        target, change = trace({"m": {"x": 1}}, OLD), trace({"m": {"y": 2}}, NEW)
        patched(target, change)
        assert (plain(target), plain(change)) == ({"m": {"x": 1}}, {"m": {"y": 2}})


def test_patching_nothing_gives_the_change() -> None:
    """An empty map onto nothing is an empty map."""
    assert patch(None, Leaf({}, NEW)) == Leaf({}, NEW)


def test_a_spec_is_a_map_whatever_is_patched_onto_it() -> None:
    """Empty specs on both sides."""
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
    """Dots between plain keys, brackets around the others."""
    assert field_name(field) == name
