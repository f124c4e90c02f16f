"""Lists that merge by keys, as in a strategic merge: their elements merge field by field."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from kubectl_policy import Leaf, plain
from kubectl_policy.resolution.traced import KeyedList, patched, trace, with_keyed_lists
from tests.resolution.specs import HOSTILE_LISTS, set_by, source

if TYPE_CHECKING:
    from collections.abc import Mapping

    from kubectl_policy.model import Json
    from kubectl_policy.resolution import Traced
    from kubectl_policy.resolution.traced import Field

OLD, NEW = source("old"), source("new")


def merged(target: Mapping[str, Json], change: Mapping[str, Json], keys: Mapping[Field, str]) -> Traced:
    """One spec patched onto another, lists by their keys."""
    return patched(with_keyed_lists(trace(target, OLD), keys), with_keyed_lists(trace(change, NEW), keys))


def test_a_list_without_a_key_is_replaced() -> None:
    """Nothing is known of it."""
    assert set_by(merged({"l": [{"name": "a"}]}, {"l": [{"name": "b"}]}, {})) == {"l": ([{"name": "b"}], "new")}


@pytest.mark.parametrize("value", HOSTILE_LISTS, ids=str)
def test_elements_without_a_key_of_their_own_are_not_told_apart(value: Json) -> None:
    """The list is a leaf, and a list of theirs replaces another one."""
    keys: dict[Field, str] = {("l",): "name"}
    assert with_keyed_lists(trace({"l": value}, NEW), keys) == {"l": Leaf(value, NEW)}
    assert set_by(merged({"l": value}, {"l": [{"name": "z"}]}, keys)) == {"l.z.name": ("z", "new")}


@pytest.mark.parametrize("value", [value for value in HOSTILE_LISTS if value != []], ids=str)
def test_they_replace_a_list_of_others(value: Json) -> None:
    """As RFC 7386 replaces lists."""
    assert set_by(merged({"l": [{"name": "z"}]}, {"l": value}, {("l",): "name"})) == {"l": (value, "new")}


def test_an_empty_list_adds_nothing() -> None:
    """It takes nothing away either."""
    assert set_by(merged({"l": [{"name": "a"}]}, {"l": []}, {("l",): "name"})) == {"l.a.name": ("a", "old")}


def test_elements_merge_field_by_field() -> None:
    """Those of one key; the others of both sides stay."""
    spec = merged(
        {"a": {"l": [{"type": "x", "n": 1, "m": {"p": 1}}, {"type": "y"}]}},
        {"a": {"l": [{"type": "x", "n": 2, "m": {"q": 2}}, {"type": "z"}]}},
        {("a", "l"): "type"},
    )
    assert plain(spec) == {"a": {"l": [{"type": "x", "n": 2, "m": {"p": 1, "q": 2}}, {"type": "y"}, {"type": "z"}]}}
    assert set_by(spec)["a.l.x.m.p"] == (1, "old")


def test_a_null_in_an_element_removes_a_field() -> None:
    """As everywhere in a patch."""
    spec = merged({"l": [{"name": "a", "x": 1}]}, {"l": [{"name": "a", "x": None}]}, {("l",): "name"})
    assert plain(spec) == {"l": [{"name": "a"}]}


def test_an_empty_key_appends() -> None:
    """Also equal elements, and such as are no maps; a policy does not append to itself."""
    keys: dict[Field, str] = {("l",): ""}
    target: dict[str, Json] = {"l": [1, {"a": 1}, None, {}]}
    assert plain(merged(target, {"l": [1, {"a": 2}]}, keys)) == {"l": [1, {"a": 1}, None, {}, 1, {"a": 2}]}
    itself = with_keyed_lists(trace(target, OLD), keys)
    assert patched(itself, itself) == itself


def test_a_list_inside_an_element() -> None:
    """Named by its path without the elements."""
    spec = merged(
        {"containers": [{"name": "a", "ports": [{"port": "1", "x": 1}]}]},
        {"containers": [{"name": "a", "ports": [{"port": "2", "x": 2}]}]},
        {("containers",): "name", ("containers", "ports"): "port"},
    )
    assert plain(spec) == {"containers": [{"name": "a", "ports": [{"port": "1", "x": 1}, {"port": "2", "x": 2}]}]}


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
