"""What types of fields allow in files: messages for the rest, and the same verdict as the published schema."""

import copy
from collections.abc import Iterable, Iterator, Mapping
from typing import Annotated, Any, Final, Literal, cast

import pytest
from hypothesis import given
from hypothesis import strategies as st
from jsonschema import Draft202012Validator
from msgspec import Meta, Struct

from kubectl_policy.model import Origin
from kubectl_policy.model.snapshot import Problem
from kubectl_policy.profiles.load import ProfileFile, profiles_in
from kubectl_policy.profiles.reading import problems, shown, text_like
from tests.profiles import reference
from tests.profiles.everything import DOCUMENT

SCHEMA: Final = reference.json_schema()
LIBRARY: Any = Draft202012Validator(SCHEMA)


class Having(Struct):
    b: str = ""


class Needing(Struct):
    b: str


def verdict(value: Any) -> list[Problem]:  # noqa: ANN401 (anything that a file can hold)
    return list(problems(value, ProfileFile))


@pytest.mark.parametrize(
    ("value", "wanted", "message"),
    [
        (None, Mapping[str, str], "must be a mapping, not empty"),
        (True, str, "must be text, not true"),
        (1.5, tuple[str, ...], "must be a list, not 1.5"),
        ("x" * 99, bool, f"must be true or false, not '{'x' * 59}…"),
        ("", Annotated[str, Meta(min_length=1)], "must not be empty"),
        ("a", Annotated[str, Meta(min_length=8)], "must have at least 8 characters"),
        ([], Annotated[tuple[str, ...], Meta(min_length=1)], "must not be empty"),
        ({}, Annotated[Mapping[str, str], Meta(min_length=1)], "must not be empty"),
        (True, Literal["True", "False"], 'true is not allowed; use one of True, False, in quotes: "True"'),
        ("both", Literal["direct", "inherited"], "'both' is not allowed; use one of direct, inherited"),
        ("b", Annotated[str, text_like("^a$", "It begins with a.")], "'b' does not fit. It begins with a."),
        ({"a": 1}, Having, "there is no such field; known fields: b"),
        ({"a": ""}, Mapping[Literal["b"], str], "there is no such field; known fields: b"),
        ({}, Needing, "the field b is missing"),
    ],
)
def test_what_is_not_allowed_is_said_in_words(value: Any, wanted: Any, message: str) -> None:  # noqa: ANN401
    assert next(problems(value, wanted)).message == message


def test_a_problem_has_its_place() -> None:
    """Each in the order of the file, a missing field after what is there."""
    document = {"kinds": {"A": {"class": "odd", "Strategyfield": "x", "declaredTargets": [{"group": 1}]}}}
    assert [(problem.field.steps, problem.message) for problem in verdict(document)] == [
        (("kinds", "A", "class"), "'odd' is not allowed; use one of direct, inherited"),
        (("kinds", "A", "Strategyfield"), "there is no such field; did you mean strategyField?"),
        (("kinds", "A", "declaredTargets", 0, "group"), "must be text, not 1"),
        (("kinds", "A", "declaredTargets", 0), "the field kind is missing"),
        (("kinds", "A"), "the field evidence is missing"),
        ((), "the field group is missing"),
    ]


def test_a_value_is_quoted_in_one_line() -> None:
    values: list[Any] = [None, False, 3, "a\nb", {"a": [1]}]
    assert [shown(value) for value in values] == ["empty", "false", "3", "'a\\nb'", "{'a': [1]}"]


def test_a_whole_number_has_a_minimum() -> None:
    """A boolean is no number, although it is one to Python."""
    values: list[Any] = [0, 1, True, 1.0, "1"]
    assert [[problem.message for problem in problems(value, Annotated[int, Meta(ge=1)])] for value in values] == [
        ["must be at least 1"],
        [],
        ["must be a whole number, not true"],
        ["must be a whole number, not 1.0"],
        ["must be a whole number, not '1'"],
    ]


def test_the_published_schema_is_made_of_the_declarations() -> None:
    """`python -m tests.profiles.reference` writes it."""
    assert reference.SCHEMA_FILE.read_text("utf-8") == reference.schema_text()
    Draft202012Validator.check_schema(SCHEMA)


def test_everything_is_allowed() -> None:
    """The document that says all there is to say."""
    assert verdict(copy.deepcopy(dict(DOCUMENT))) == []


def _children(value: Any) -> list[tuple[Any, Any]]:  # noqa: ANN401 (a part of a document)
    if isinstance(value, dict):
        return list(cast("Mapping[Any, Any]", value).items())
    return list(enumerate(cast("Iterable[Any]", value))) if isinstance(value, list) else []


def _places(value: Any, path: tuple[str | int, ...] = ()) -> Iterator[tuple[str | int, ...]]:  # noqa: ANN401 (a part)
    yield path
    for key, child in _children(value):
        yield from _places(child, (*path, key))


def _change(holder: Any, key: Any, how: str, value: Any) -> None:  # noqa: ANN401 (any part, any value)
    """Set or delete something in a mapping, or add something to a list or put it in place of all that is there."""
    if isinstance(holder, list):
        holder[:] = [*cast("Iterable[Any]", holder), value] if how == "add" else [value]
    elif how == "delete":
        holder.pop(key, None)
    else:
        holder[key if how == "set" else "more"] = value


PLACES = [place for place in _places(DOCUMENT) if place]
SCALARS: list[Any] = [
    None,
    True,
    False,
    0,
    7,
    "",
    *["None", "a..b", "spec.x", "rule-{n}", "direct", "True"],
    "long enough\n",
]
COLLECTIONS: list[Any] = [[], {}, [""], ["long enough"], [{}], {"a": "b"}, {"a": "None"}, {"group": "", "kind": "A"}]
CHANGES = st.tuples(
    st.sampled_from(PLACES), st.sampled_from(["set", "delete", "add"]), st.sampled_from([*SCALARS, *COLLECTIONS])
)


@given(st.lists(CHANGES, max_size=3))
def test_the_verdict_is_that_of_a_library(changes: list[tuple[tuple[Any, ...], str, Any]]) -> None:
    """Whatever is changed in a document, both allow it or neither does; and what they allow is read."""
    document: Any = copy.deepcopy(dict(DOCUMENT))
    for (*above, last), how, value in changes:
        holder = document
        for part in above:
            holder = dict(_children(holder)).get(part)
        if isinstance(holder, dict | list):
            _change(cast("Any", holder), last, how, copy.deepcopy(value))
    allowed = verdict(document) == []
    assert allowed == LIBRARY.is_valid(document)
    if allowed:
        assert profiles_in(document, Origin("f.yaml"))


def test_a_number_without_a_minimum_may_be_any() -> None:
    assert [[problem.message for problem in problems(value, int)] for value in (-5, 0)] == [[], []]
    assert [problem.message for problem in problems("1", int)] == ["must be a whole number, not '1'"]
