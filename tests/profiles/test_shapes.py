"""What the shapes of fields allow: the words for what they do not, and the verdict of the published schema."""

from __future__ import annotations

import copy
from typing import TYPE_CHECKING, Any, Final, cast

import pytest
from hypothesis import given
from hypothesis import strategies as st
from jsonschema import Draft202012Validator

from kubectl_policy.profiles.load import PROFILE_FILE
from kubectl_policy.profiles.shapes import (
    Boolean,
    Choice,
    Declaration,
    Entries,
    Items,
    Record,
    Shape,
    Text,
    WholeNumber,
    shown,
)
from tests.profiles import reference
from tests.profiles.everything import DOCUMENT

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping

    from kubectl_policy.model.snapshot import Problem

SCHEMA: Final = reference.json_schema()
LIBRARY: Any = Draft202012Validator(SCHEMA)


def verdict(value: Any) -> list[Problem]:  # noqa: ANN401 (anything that a file can hold)
    """What is wrong with a document."""
    return list(PROFILE_FILE.problems(value))


@pytest.mark.parametrize(
    ("value", "shape", "message"),
    [
        (None, Entries(Text()), "must be a mapping, not empty"),
        (True, Text(), "must be text, not true"),
        (1.5, Items(Text()), "must be a list, not 1.5"),
        ("x" * 99, Boolean(), f"must be true or false, not '{'x' * 59}…"),
        ("", Text(least=1), "must not be empty"),
        ("a", Text(least=8), "must have at least 8 characters"),
        ([], Items(Text(), least=1), "must not be empty"),
        ({}, Entries(Text(), least=1), "must not be empty"),
        (True, Choice(["True", "False"]), 'true is not allowed; use one of True, False, in quotes: "True"'),
        ("both", Choice(["direct", "inherited"]), "'both' is not allowed; use one of direct, inherited"),
        ("b", Text(pattern="^a$", hint="It begins with a."), "'b' does not fit. It begins with a."),
        ({"a": 1}, Record(dict, Declaration(Text(), name="b")), "there is no such field; known fields: b"),
        ({"a": ""}, Entries(Text(), names={"b": "c"}), "there is no such field; known fields: b"),
        ({}, Record(dict, Declaration(Text(), name="b", required=True)), "the field b is missing"),
    ],
)
def test_what_is_not_allowed_is_said_in_words(value: Any, shape: Shape, message: str) -> None:  # noqa: ANN401
    """With what is allowed instead."""
    assert next(shape.problems(value)).message == message


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
    """Whatever it is."""
    values: list[Any] = [None, False, 3, "a\nb", {"a": [1]}]
    assert [shown(value) for value in values] == [
        "empty",
        "false",
        "3",
        "'a\\nb'",
        "{'a': [1]}",
    ]


def test_a_whole_number_has_a_minimum() -> None:
    """A boolean is no number, although it is one to Python."""
    values: list[Any] = [0, 1, True, 1.0, "1"]
    assert [[problem.message for problem in WholeNumber(1).problems(value)] for value in values] == [
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
    "None",
    "a..b",
    "spec.x",
    "rule-{n}",
    "direct",
    "True",
    "long enough\n",
]
COLLECTIONS: list[Any] = [[], {}, [""], ["long enough"], [{}], {"a": "b"}, {"a": "None"}, {"group": "", "kind": "A"}]
CHANGES = st.tuples(
    st.sampled_from(PLACES), st.sampled_from(["set", "delete", "add"]), st.sampled_from([*SCALARS, *COLLECTIONS])
)


@given(st.lists(CHANGES, max_size=3))
def test_the_verdict_is_that_of_a_library(changes: list[tuple[tuple[Any, ...], str, Any]]) -> None:
    """Whatever is changed in a document, both allow it or neither does."""
    document: Any = copy.deepcopy(dict(DOCUMENT))
    for (*above, last), how, value in changes:
        holder = document
        for part in above:
            holder = dict(_children(holder)).get(part)
        if isinstance(holder, dict | list):
            _change(cast("Any", holder), last, how, copy.deepcopy(value))
    assert (verdict(document) == []) == LIBRARY.is_valid(document)
