"""Fields that several policies set together: taken apart, put together, and who has what of them."""

from __future__ import annotations

from collections.abc import Mapping

import pytest

from kubectl_policy import Leaf, plain
from kubectl_policy.model import Json
from kubectl_policy.profiles.merging import JointField
from kubectl_policy.resolution import Traced
from kubectl_policy.resolution.contributions import combined_fields, split_shared, unshared_fields, whole_fields
from kubectl_policy.resolution.traced import (
    CollectedValues,
    Field,
    KeyedList,
    only_field,
    trace,
    with_defaults,
    with_element_apart,
)
from tests.resolution.build import set_by, source

SHARED = JointField(field="f", within=("level",))
FIELDS = JointField(field="f", within=("level",), by="*")
PORTS = JointField(field="f", within=("level",), by="[port]")
ENTRIES = JointField(field="f", within=("level",), by="ref.name")


def by(shared: JointField, name: str, spec: Mapping[str, Json]) -> Traced:
    """A spec as the policy of that name declares it, with one shared field taken apart."""
    return split_shared(trace(spec, source(name), [tuple(shared.field.split("."))]), [shared])


class TestTakenApart:
    """A shared field is taken apart into what can come from different policies."""

    @pytest.mark.parametrize("shared", [SHARED, FIELDS, PORTS, ENTRIES])
    @pytest.mark.parametrize(
        "value",
        [
            7,
            None,
            {},
            [],
            [1, 2],
            {"a": 1, "b": {"c": 1}},
            {"ref": {"name": "x"}, "a": 1},
            {"ref": {"name": 7}},
            {"ref": "x"},
            [{"port": 80, "a": 1}, {"port": "81"}],
            [{"port": 80}, {"port": 80}],
            [{"port": 80}, {}],
            [{"port": True}],
        ],
        ids=str,
    )
    def test_of_one_policy_nothing_changes(self, shared: JointField, value: Json) -> None:
        spec: dict[str, Json] = {"f": value, "g": 1}
        assert plain(by(shared, "p", spec)) == {name: one for name, one in spec.items() if one is not None}

    def test_what_is_not_there_is_not_taken_apart(self) -> None:
        deep = JointField(field="f.g", within=("level",))
        for spec in ({}, {"g": 1}, {"f": 1}, {"f": {"h": 1}}):
            assert split_shared(trace(spec, source("p")), [deep]) == trace(spec, source("p"))

    def test_what_is_a_map_already_is_left_alone(self) -> None:
        """A field that an outer shared field has taken apart is taken apart once."""
        once = by(FIELDS, "p", {"f": {"a": 1}})
        assert split_shared(once, [FIELDS, SHARED]) == once

    def test_lists_are_known_by_policy_and_place(self) -> None:
        assert set_by(by(SHARED, "p", {"f": ["x", "y"]})) == {
            'f["default/p[0]"]': ("x", "p"),
            'f["default/p[1]"]': ("y", "p"),
        }
        found = by(SHARED, "p", {"f": {"a": 1}})["f"]
        assert isinstance(found, CollectedValues)
        assert list(found) == ["default/p"]

    def test_fields_are_whole(self) -> None:
        found = by(FIELDS, "p", {"f": {"a": {"b": 1}, "c": None}})
        assert set_by(found) == {"f.a": ({"b": 1}, "p"), "f.c": (None, "p")}
        assert plain(found) == {"f": {"a": {"b": 1}}}

    def test_elements_are_merged_field_by_field(self) -> None:
        assert set_by(by(PORTS, "p", {"f": [{"port": 80, "a": {"b": 1}}]})) == {
            "f.80.port": (80, "p"),
            "f.80.a.b": (1, "p"),
        }

    def test_entries_are_known_by_a_value_in_them(self) -> None:
        assert set_by(by(ENTRIES, "p", {"f": {"ref": {"name": "x"}}})) == {"f.x": ({"ref": {"name": "x"}}, "p")}
        assert isinstance(by(ENTRIES, "p", {"f": {"off": True}})["f"], Leaf)

    @pytest.mark.parametrize(
        ("reference", "entry"),
        [
            ({"name": "x"}, "default/x"),
            ({"name": "x", "namespace": "other"}, "other/x"),
            ({"name": "x", "namespace": ""}, "default/x"),
            ({"name": ""}, None),
            ({"namespace": "other"}, None),
            ("x", "x"),
            ("", None),
            (["x"], None),
        ],
    )
    def test_entries_are_known_by_a_reference(self, reference: Json, entry: str | None) -> None:
        """Its namespace defaults to that of the policy; what names nothing is no entry."""
        found = by(JointField(field="f", within=("level",), by="ref"), "p", {"f": {"ref": reference, "a": 1}})["f"]
        assert (None if isinstance(found, Leaf) else list(found)) == (entry and [entry])


class TestWithDefaults:
    """What one spec says and, where it says nothing, another one."""

    @pytest.mark.parametrize(
        ("shared", "first", "later", "expected"),
        [
            (SHARED, [1], [2], [1, 2]),
            (SHARED, {"a": 1}, {"a": 2}, [{"a": 1}, {"a": 2}]),
            (SHARED, [1], [], [1]),
            (SHARED, [], [2], [2]),
            (SHARED, [1], {"a": 2}, [1]),
            (FIELDS, {"a": 1}, {"a": 2, "b": 2}, {"a": 1, "b": 2}),
            (FIELDS, {"a": {"x": 1}}, {"a": {"y": 2}}, {"a": {"x": 1}}),
            (FIELDS, {}, {"a": 2}, {"a": 2}),
            (FIELDS, {"a": 1}, {}, {"a": 1}),
            (FIELDS, 1, {"a": 2}, 1),
            (FIELDS, {"a": 1}, 2, {"a": 1}),
            (PORTS, [{"port": 80, "a": 1}], [{"port": 80, "b": 2}, {"port": 81}], None),
            (PORTS, [], [{"port": 80}], [{"port": 80}]),
            (PORTS, {}, [{"port": 80}], {}),
            (ENTRIES, {"ref": {"name": "x"}}, {"ref": {"name": "x"}, "a": 2}, {"ref": {"name": "x"}}),
            (ENTRIES, {"ref": {"name": "x"}}, {"off": True}, {"ref": {"name": "x"}}),
            (ENTRIES, {"off": True}, {"ref": {"name": "x"}}, {"off": True}),
        ],
        ids=str,
    )
    def test_by_the_parts_of_a_field(self, shared: JointField, first: Json, later: Json, expected: Json) -> None:
        """Each part from the first policy that has it; nothing at all says nothing."""
        merged = with_defaults(by(shared, "p", {"f": first}), by(shared, "q", {"f": later}))
        both: Json = [{"port": 80, "a": 1, "b": 2}, {"port": 81}]
        assert plain(merged) == {"f": both if expected is None else expected}

    def test_entries_of_several_stand_beside_each_other(self) -> None:
        merged = with_defaults(
            by(ENTRIES, "p", {"f": {"ref": {"name": "x"}}}), by(ENTRIES, "q", {"f": {"ref": {"name": "y"}}})
        )
        assert plain(merged) == {"f": [{"ref": {"name": "x"}}, {"ref": {"name": "y"}}]}
        assert {name: who for name, (_, who) in set_by(merged).items()} == {"f.x": "p", "f.y": "q"}

    @pytest.mark.parametrize("first", [{"a": 1}, {}])
    def test_what_is_whole_comes_from_the_first_that_has_it(self, first: dict[str, Json]) -> None:
        """Also if it has nothing in it; the rest is filled."""
        later = by(FIELDS, "q", {"f": {"b": 2}, "g": 2})
        assert plain(with_defaults(by(FIELDS, "p", {"f": first}), later, {("f",)})) == {"f": first, "g": 2}

    def test_a_removed_field_stays_removed(self) -> None:
        """Nobody brings it back."""
        found = with_defaults(trace({"a": None}, source("p")), trace({"a": {"b": 1}}, source("q")))
        assert plain(found) == {}

    @pytest.mark.parametrize("theirs", [[3], {"x": 1}, {}], ids=str)
    def test_a_list_whose_elements_stand_apart_is_whole(self, theirs: Json) -> None:
        apart, field = with_element_apart(trace({"f": [1, 2]}, source("p")), ["f", 1])
        later = trace({"f": theirs, "g": 3}, source("q"))
        assert field
        assert plain(with_defaults(apart, later)) == {"f": [1, 2], "g": 3}

    @pytest.mark.parametrize(
        ("ours", "theirs", "together"),
        [
            ({"do": "x"}, {"do": "x"}, True),
            ({"do": "x"}, {"do": "y"}, False),
            ({"do": "x"}, {}, True),
            ({}, {"do": "x"}, True),
            ({"how": {"code": 1}}, {"how": {"code": 1, "text": 2}}, True),
            ({"how": {"code": 1}}, {"how": {"code": 2}}, False),
            ({"map": {"a": 1}}, {"map": {"a": 1}}, True),
            ({"map": {"a": 1}}, {"map": {"a": 2}}, False),
            ({"how": 1}, {"how": {"code": 2}}, True),
        ],
        ids=str,
    )
    def test_unless_they_disagree(self, ours: dict[str, Json], theirs: dict[str, Json], *, together: bool) -> None:
        """Then the first one has all of the field, and nothing else of the spec is touched."""
        unless: dict[Field, tuple[str, ...]] = {("f",): ("do", "how.code", "map")}
        first, later = (
            by(FIELDS, name, {"f": {name: 1, **spec}, name: 1}) for name, spec in (("p", ours), ("q", theirs))
        )
        found = plain(with_defaults(first, later, (), unless))
        inner = found["f"]
        assert isinstance(inner, dict)
        assert ("q" in inner) == together
        assert found | {"f": 0} == {"f": 0, "p": 1, "q": 1}

    def test_the_sort_of_a_list_is_kept(self) -> None:
        """So that it is a list again in the end."""
        assert type(with_defaults(KeyedList(), {})) is KeyedList
        assert type(with_defaults(CollectedValues(), {})) is CollectedValues
        assert type(with_defaults({}, KeyedList())) is dict


class TestFields:
    """Which shared fields come whole where, and which are put together."""

    joint_fields = (
        JointField(field="a", within=("levels",), by="*"),
        JointField(field="a", within=("level",), by="*"),
        JointField(field="a.b", within=("level", "levels")),
        JointField(field="c", within=("scopes",)),
        JointField(field="c.d", within=("level", "scopes")),
    )

    def test_each_place_has_its_own(self) -> None:
        """One field may be named more than once."""
        assert whole_fields(self.joint_fields, "level") == {("c",)}
        assert whole_fields(self.joint_fields, "levels") == {("c",), ("c", "d")}
        assert whole_fields(self.joint_fields, "scopes") == {("a",), ("a", "b")}

    def test_outermost_first(self) -> None:
        assert combined_fields(self.joint_fields, "level") == [("a",), ("a", "b")]
        assert combined_fields(self.joint_fields, "levels") == [("a",), ("a", "b")]
        assert combined_fields(self.joint_fields, "scopes") == [("c",), ("c", "d")]

    def test_what_another_policy_cannot_set_as_well(self) -> None:
        """JointField fields that come whole on a level are claimed whole; those that do not, not at all."""
        spec = trace({"a": {"b": [1], "x": 1}, "c": {"d": [1], "e": 1}, "f": {"g": 1}}, source("p"), [("a",), ("c",)])
        assert unshared_fields(split_shared(spec, self.joint_fields), self.joint_fields) == [("c",), ("f", "g")]
        assert unshared_fields(spec, ()) == [("a",), ("c",), ("f", "g")]


def test_only_one_field_of_a_spec() -> None:
    """Nothing where it is absent, or lies inside of what is no map."""
    spec = trace({"a": {"b": 1, "c": 2}, "d": 3}, source("p"))
    assert plain(only_field(spec, ("a", "b"))) == {"a": {"b": 1}}
    assert plain(only_field(spec, ("a",))) == {"a": {"b": 1, "c": 2}}
    assert plain(only_field(spec, ("d",))) == {"d": 3}
    for field in (("x",), ("a", "x"), ("d", "x"), ("a", "b", "x")):
        assert only_field(spec, field) == {}
