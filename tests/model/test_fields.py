"""Reading decoded documents of any shape: the right value, or nothing, and never an exception."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import TYPE_CHECKING, Final

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kubectl_policy.model import fields

if TYPE_CHECKING:
    from kubectl_policy.model import Json

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
    """A value of the wrong type is not converted."""
    assert fields.text_at(DOCUMENT, "spec.port") == ""
    assert fields.integer_at(DOCUMENT, "spec.name") is None
    assert fields.integer_at(DOCUMENT, "spec.on") is None
    assert fields.mapping_at(DOCUMENT, "spec.list") == {}
    assert fields.items_at(DOCUMENT, "spec.name") == ()


def test_what_is_there_is_read() -> None:
    """Each reader gives the value of its type."""
    assert fields.value_at(DOCUMENT, "spec.map.k") == 1
    assert fields.text_at(DOCUMENT, "spec.name") == "x"
    assert fields.integer_at(DOCUMENT, "spec.port") == 80
    assert fields.mapping_at(DOCUMENT, "spec.map") == {"k": 1}
    assert fields.items_at(DOCUMENT, "spec.list") == [{"a": 1}, "b", None, 3]
    assert fields.mappings_at(DOCUMENT, "spec.list") == [{"a": 1}]
    assert fields.strings_at(DOCUMENT, "spec.list") == ["b"]


def test_labels_that_are_no_strings_are_left_out() -> None:
    """A label has a string as its value."""
    assert fields.labels_of({"metadata": {"labels": {"a": "1", "b": 2, "c": None}}}) == {"a": "1"}


@pytest.mark.parametrize(
    "written", [None, 7, "", "yesterday", "2026-01-01", "2026-01-01T00:00:00", "2026-13-01T00:00:00Z"]
)
def test_what_is_no_time_is_none(written: Json) -> None:
    """A time without a zone could be any."""
    assert fields.time_at({"at": written}, "at") is None


def test_times_are_read_with_their_zone() -> None:
    """With fractions of seconds or without, as APIs write them."""
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
    """Which is 0, whatever stands in its place."""
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
