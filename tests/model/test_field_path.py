"""Paths of fields: as people write them, and what is read, put and removed by them."""

from __future__ import annotations

import copy
from typing import TYPE_CHECKING, Final

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kubectl_policy.model.fields import Every, FieldPath, Step

if TYPE_CHECKING:
    from kubectl_policy.model import Json

KEYS: Final = st.text(st.characters(exclude_characters='"', exclude_categories=["Cs"]), max_size=5)
STEPS: Final[st.SearchStrategy[Step]] = st.one_of(KEYS.filter("*".__ne__), st.integers(0, 99), st.sampled_from(Every))
ROUTE: Final[Json] = {"spec": {"parentRefs": [{"name": "a"}, {"name": "b", "port": 1}], "rules": ["x"]}}


def at(text: str) -> FieldPath:
    """The path that a text means."""
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
    """In the spelling that all answers have."""
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
    """Itself and what is within it."""
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
    """With its own path."""
    assert {str(path): value for path, value in at(pattern).each(ROUTE)} == found


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
    """In a copy, with what is missing on the way."""
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
    """From a copy."""
    kept = copy.deepcopy(before)
    assert at(path).remove(before) == after
    assert before == kept


@pytest.mark.parametrize("path", ["x", "a.x", "b[2]", "b.x", "c.x", "d.x"])
def test_what_is_absent_cannot_be_removed(path: str) -> None:
    """The object is the very same."""
    value: Json = {"a": {"b": 1}, "b": [1], "c": None, "d": "text"}
    assert at(path).remove(value) is value


def test_what_is_left_empty_may_be_removed_too() -> None:
    """Mappings on the way, as far as they held nothing else."""
    assert at("a.b.c").remove({"a": {"b": {"c": 1}}, "d": 2}, with_empty=True) == {"d": 2}
    assert at("a.b").remove({"a": {"b": 1, "c": 2}}, with_empty=True) == {"a": {"c": 2}}
