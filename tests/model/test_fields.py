"""Fields of decoded documents: their paths, and reading, replacing and comparing values of any shape."""

from __future__ import annotations

import copy
from datetime import UTC, datetime
from math import nan
from types import MappingProxyType
from typing import Final

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kubectl_policy.model import Json, fields
from kubectl_policy.model.fields import Every, FieldPath, Step, same_json

DOCUMENT: Final[Json] = {
    "spec": {"name": "x", "port": 80, "on": True, "list": [{"a": 1}, "b", None, 3], "map": {"k": 1}}
}
KEYS: Final = st.sampled_from(["metadata", "labels", "spec", "matchLabels", "matchExpressions"])


def _nested(inner: st.SearchStrategy[Json]) -> st.SearchStrategy[Json]:
    return st.one_of(st.lists(inner, max_size=3), st.dictionaries(KEYS, inner, max_size=3))


SCALARS: Final[st.SearchStrategy[Json]] = st.one_of(st.none(), st.booleans(), st.integers(), st.text(max_size=3))
ANY_JSON: Final = st.recursive(SCALARS, _nested, max_leaves=8)


@given(document=ANY_JSON)
def test_no_shape_makes_a_reader_fail(document: Json) -> None:
    """Readers are total: hostile input has any shape anywhere."""
    assert isinstance(fields.mapping_at(document, "spec.labels"), dict)
    assert list(fields.items_at(document, "spec")) is not None
    assert all(isinstance(item, dict) for item in fields.mappings_at(document, "spec.labels"))
    assert isinstance(fields.text_at(document, "spec"), str)
    assert all(isinstance(item, str) for item in fields.strings_at(document, "spec"))
    assert all(isinstance(value, str) for value in fields.labels_of(document).values())
    assert not isinstance(fields.integer_at(document, "spec"), bool)


@pytest.mark.parametrize("path", ["spec.absent", "spec.name.deeper", "spec.list.0", "absent.spec"])
def test_what_is_absent_is_nothing(path: str) -> None:
    """An absent path gives the empty value of whatever is asked for."""
    assert fields.value_at(DOCUMENT, path) is None
    assert fields.mapping_at(DOCUMENT, path) == {}
    assert fields.items_at(DOCUMENT, path) == ()
    assert fields.text_at(DOCUMENT, path, "fallback") == "fallback"
    assert fields.integer_at(DOCUMENT, path) is None


def test_what_has_another_type_is_nothing() -> None:
    assert fields.text_at(DOCUMENT, "spec.port") == ""
    assert fields.integer_at(DOCUMENT, "spec.name") is None
    assert fields.integer_at(DOCUMENT, "spec.on") is None
    assert fields.mapping_at(DOCUMENT, "spec.list") == {}
    assert fields.items_at(DOCUMENT, "spec.name") == ()


def test_what_is_there_is_read() -> None:
    assert fields.value_at(DOCUMENT, "spec.map.k") == 1
    assert fields.text_at(DOCUMENT, "spec.name") == "x"
    assert fields.integer_at(DOCUMENT, "spec.port") == 80
    assert fields.mapping_at(DOCUMENT, "spec.map") == {"k": 1}
    assert fields.items_at(DOCUMENT, "spec.list") == [{"a": 1}, "b", None, 3]
    assert fields.mappings_at(DOCUMENT, "spec.list") == [{"a": 1}]
    assert fields.strings_at(DOCUMENT, "spec.list") == ["b"]


def test_labels_that_are_no_strings_are_left_out() -> None:
    assert fields.labels_of({"metadata": {"labels": {"a": "1", "b": 2, "c": None}}}) == {"a": "1"}


@pytest.mark.parametrize(
    "written", [None, 7, "", "yesterday", "2026-01-01", "2026-01-01T00:00:00", "2026-13-01T00:00:00Z"]
)
def test_what_is_no_time_is_none(written: Json) -> None:
    assert fields.time_at({"at": written}, "at") is None


def test_times_are_read_with_their_zone() -> None:
    assert fields.time_at({"a": {"t": "2026-01-01T12:00:00Z"}}, "a.t") == datetime(2026, 1, 1, 12, tzinfo=UTC)
    found = fields.time_at({"t": "2026-01-01T12:00:00.500000+02:00"}, "t")
    assert found == datetime(2026, 1, 1, 10, 0, 0, 500_000, tzinfo=UTC)


@pytest.mark.parametrize(
    ("written", "number"),
    [
        ("7", 7),
        ("-7", -7),
        ("+7", 7),
        ("007", 7),
        ("999999999", 999_999_999),
        ("9999999999", None),
        ("", None),
        ("+", None),
        ("7.0", None),
        ("7\n", None),
        (" 7", None),
        ("seven", None),
        ("\u0667", None),
        (7, None),
        (None, None),
        (["7"], None),
    ],
    ids=repr,
)
def test_a_number_in_an_annotation(written: Json, number: int | None) -> None:
    """As text, with as many digits as an integer has."""
    assert fields.number_in_annotation({"metadata": {"annotations": {"n": written}}}, "n") == number


@pytest.mark.parametrize("raw", [None, 7, {}, {"metadata": None}, {"metadata": {"annotations": []}}], ids=repr)
def test_without_the_annotation_there_is_none(raw: Json) -> None:
    assert fields.number_in_annotation(raw, "n") == 0


@pytest.mark.parametrize(
    ("value", "path", "found"),
    [
        ({"a": 1}, "", [{"a": 1}]),
        ({"a": {"b": {"c": 1}}}, "a.b", [{"c": 1}]),
        ({"a": [{"b": {"c": 1}}, 7, {"b": {"c": 2}}]}, "a.b", [{"c": 1}, {"c": 2}]),
        ({"a": {"b": [[{"c": 1}], {"c": 2}]}}, "a.b", [{"c": 1}, {"c": 2}]),
        ([{"a": 1}, "x"], "", [{"a": 1}]),
        ({"a": 7}, "a", []),
        ({"a": {}}, "a.b", []),
        (None, "a", []),
        ("a", "", []),
    ],
    ids=repr,
)
def test_every_mapping_at_a_path(value: Json, path: str, found: list[Json]) -> None:
    """Through every list on the way; what is no mapping is left out."""
    assert list(fields.every_mapping(value, path)) == found


NAMES: Final = st.text(st.characters(exclude_characters='"', exclude_categories=["Cs"]), max_size=5)
STEPS: Final[st.SearchStrategy[Step]] = st.one_of(NAMES.filter("*".__ne__), st.integers(0, 99), st.sampled_from(Every))
ROUTE: Final[Json] = {"spec": {"parentRefs": [{"name": "a"}, {"name": "b", "port": 1}], "rules": ["x"]}}


def at(text: str) -> FieldPath:
    return FieldPath.parse(text)


@pytest.mark.parametrize(
    ("text", "steps"),
    [
        ("", ()),
        ("spec", ("spec",)),
        (".spec.targetRefs[0].name", ("spec", "targetRefs", 0, "name")),
        ("a[0][10]", ("a", 0, 10)),
        ('metadata.labels["app.example/name"]', ("metadata", "labels", "app.example/name")),
        ("metadata.labels['a.b'].c", ("metadata", "labels", "a.b", "c")),
        ('[""]["0"]', ("", "0")),
        ("metadata.labels.app/name", ("metadata", "labels", "app/name")),
        ("spec.rules[].backendRefs[]", ("spec", "rules", Every.ITEM, "backendRefs", Every.ITEM)),
        ('spec.["a.b"]', ("spec", "a.b")),
        ("limits.*.rates", ("limits", Every.KEY, "rates")),
        ('limits["*"]', ("limits", "*")),
    ],
)
def test_what_a_text_means(text: str, steps: tuple[Step, ...]) -> None:
    """With or without a dot in front, and with any key in quotes."""
    assert at(text) == FieldPath(steps)


@pytest.mark.parametrize("text", ["a..b", "a.", "..a", "a[", "a[x]", "a]", "a[0]b", "a[-1]", 'a["b]', "a[0"])
def test_what_is_no_path(text: str) -> None:
    """An error rather than another path."""
    with pytest.raises(ValueError, match="is not the path of a field"):
        at(text)


@pytest.mark.parametrize(
    "text", ["", "spec", "spec.targetRefs[0].name", 'labels["a.b/c"].d', "rules[].backendRefs[]", "limits.*"]
)
def test_a_path_is_written_as_it_is_read(text: str) -> None:
    assert str(at(text)) == text


@given(steps=st.lists(STEPS, max_size=5))
def test_every_path_can_be_read_back(steps: list[Step]) -> None:
    """Whatever its keys are made of; only a quote has to be left out."""
    path = FieldPath(tuple(steps))
    assert at(str(path)) == path


def test_steps() -> None:
    """One further, and one back."""
    assert at("spec") / "rules" / 0 == at("spec.rules[0]")
    assert at("spec.rules[0]").parent == at("spec.rules")
    assert [*map(str, at("a[0].b").around)] == ["", "a", "a[0]", "a[0].b"]


@pytest.mark.parametrize(
    ("path", "inner", "holds"),
    [
        ("a.b", ("a", "b"), True),
        ("a.b", ("a", "b", "c"), True),
        ("a.b", ("a",), False),
        ("a.b", ("a", "c"), False),
        ("a.*.c", ("a", "b", "c", "d"), True),
        ("a.*", ("a", 0), True),
        ("*", ("a",), True),
        ("*", (), False),
        ("", (), True),
    ],
)
def test_what_a_field_holds(path: str, inner: tuple[Step, ...], holds: bool) -> None:  # noqa: FBT001
    assert at(path).holds(inner) is holds


@pytest.mark.parametrize(
    ("path", "value"),
    [
        ("", ROUTE),
        ("spec.rules", ["x"]),
        ("spec.parentRefs[1].port", 1),
        ("spec.parentRefs[2].port", None),
        ("spec.parentRefs.name", None),
        ("spec[0]", None),
        ("spec.rules[0].name", None),
        ("spec.rules[]", None),
    ],
)
def test_get(path: str, value: Json) -> None:
    """Nothing where anything on the way is absent or is something else."""
    assert at(path).get(ROUTE) == value


@pytest.mark.parametrize(
    ("pattern", "found"),
    [
        ("spec.parentRefs[].name", {"spec.parentRefs[0].name": "a", "spec.parentRefs[1].name": "b"}),
        ("spec.parentRefs[].port", {"spec.parentRefs[1].port": 1}),
        ("spec.parentRefs[0].*", {"spec.parentRefs[0].name": "a"}),
        ("spec.rules[]", {"spec.rules[0]": "x"}),
        ("spec.rules[].name", {}),
        ("spec[]", {}),
        ("*.rules", {"spec.rules": ["x"]}),
        ("spec.parentRefs.*", {}),
    ],
)
def test_each(pattern: str, found: dict[str, Json]) -> None:
    assert {str(path): value for path, value in at(pattern).matches(ROUTE)} == found


@pytest.mark.parametrize(
    ("path", "before", "after"),
    [
        ("", {"a": 1}, 7),
        ("a", {}, {"a": 7}),
        ("a", None, {"a": 7}),
        ("a.b", {"a": {"c": 1}}, {"a": {"c": 1, "b": 7}}),
        ("a[0]", {}, {"a": [7]}),
        ("a[0].b", {"a": [{"b": 1, "c": 2}, 3]}, {"a": [{"b": 7, "c": 2}, 3]}),
        ("a[2]", {"a": (1, 2)}, {"a": [1, 2, 7]}),
    ],
)
def test_put(path: str, before: Json, after: Json) -> None:
    kept = copy.deepcopy(before)
    assert at(path).put(before, 7) == after
    assert before == kept


@pytest.mark.parametrize(("path", "before"), [("a.b", {"a": 1}), ("a[0]", {"a": {}}), ("a[2]", {"a": [1]}), ("*", {})])
def test_what_cannot_be_put(path: str, before: Json) -> None:
    """Something else on the way is never replaced."""
    with pytest.raises(LookupError):
        at(path).put(before, 7)


@pytest.mark.parametrize(
    ("path", "before", "after"),
    [
        ("a", {"a": 1, "b": 2}, {"b": 2}),
        ("a.b", {"a": {"b": 1}}, {"a": {}}),
        ("a[0].b", {"a": [{"b": 1, "c": 2}, 3]}, {"a": [{"c": 2}, 3]}),
        ("a[1]", {"a": [1, 2, 3]}, {"a": [1, 3]}),
    ],
)
def test_remove(path: str, before: Json, after: Json) -> None:
    kept = copy.deepcopy(before)
    assert at(path).remove(before) == after
    assert before == kept


@pytest.mark.parametrize("path", ["x", "a.x", "b[2]", "b.x", "c.x", "d.x"])
def test_what_is_absent_cannot_be_removed(path: str) -> None:
    value: Json = {"a": {"b": 1}, "b": [1], "c": None, "d": "text"}
    assert at(path).remove(value) is value


def test_what_is_left_empty_may_be_removed_too() -> None:
    assert at("a.b.c").remove({"a": {"b": {"c": 1}}, "d": 2}, with_empty=True) == {"d": 2}
    assert at("a.b").remove({"a": {"b": 1, "c": 2}}, with_empty=True) == {"a": {"c": 2}}


@pytest.mark.parametrize(
    ("one", "other"),
    [
        (True, 1),
        (False, 0),
        ("1", 1),
        (None, ""),
        (None, {}),
        ({}, []),
        (1, 2),
        ("a", "b"),
        ([1], [1, 2]),
        ([1, 2], [2, 1]),
        ([True], [1]),
        ({"a": 1}, {"b": 1}),
        ({"a": None}, {}),
        ({"a": {"b": True}}, {"a": {"b": 1}}),
        (nan, 1.5),
    ],
)
def test_not_the_same(one: Json, other: Json) -> None:
    """Python takes some of these for equal."""
    assert not same_json(one, other)
    assert not same_json(other, one)


@pytest.mark.parametrize(
    ("one", "other"),
    [
        (None, None),
        (True, True),
        (1, 1),
        ("a", "a"),
        (nan, float("nan")),
        ([1, (2,)], (1, [2])),
        ({"a": [nan], "b": 1}, {"b": 1, "a": [nan]}),
        ({"a": 1}, MappingProxyType({"a": 1})),
    ],
)
def test_the_same(one: Json, other: Json) -> None:
    """Whatever the order of keys and the Python types of lists and maps; what is no number is the same as itself."""
    assert same_json(one, other)
    assert same_json(other, one)
