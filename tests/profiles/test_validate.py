"""What a schema allows: the words for what it does not, and the same verdict as a full implementation's."""

from __future__ import annotations

import copy
from typing import TYPE_CHECKING, Any, cast

import pytest
from hypothesis import given
from hypothesis import strategies as st
from jsonschema import Draft202012Validator

from kubectl_policy.profiles.load import schema
from kubectl_policy.profiles.validate import Flaw, flaws, shown
from tests.profiles.everything import DOCUMENT

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping

LIBRARY: Any = Draft202012Validator(dict(schema()))
# What the module reads of a schema; titles and the like are for readers.
READ = {"$ref", "type", "enum", "pattern", "minLength", "minItems", "minProperties", "items", "properties", "required"}
KNOWN = READ | {"additionalProperties", "description", "title", "$schema", "$defs"}


def verdict(value: Any) -> list[Flaw]:  # noqa: ANN401 (anything that a file can hold)
    """The flaws of a document by the schema of profile files."""
    return list(flaws(value, schema(), schema()))


@pytest.mark.parametrize(
    ("value", "wanted", "message"),
    [
        (None, {"type": "object"}, "must be a mapping, not empty"),
        (True, {"type": "string"}, "must be text, not true"),
        (1.5, {"type": "array"}, "must be a list, not 1.5"),
        ("x" * 99, {"type": "boolean"}, f"must be true or false, not '{'x' * 59}…"),
        ("", {"type": "string", "minLength": 1}, "must not be empty"),
        ("a", {"type": "string", "minLength": 8}, "must have at least 8 characters"),
        ([], {"type": "array", "minItems": 1, "items": {}}, "must not be empty"),
        ({}, {"type": "object", "minProperties": 1, "additionalProperties": False}, "must not be empty"),
        (True, {"enum": ["True", "False"]}, 'true is not allowed; use one of True, False, in quotes: "True"'),
        ("both", {"enum": ["direct", "inherited"]}, "'both' is not allowed; use one of direct, inherited"),
        ("b", {"pattern": "^a$", "description": "It begins with a."}, "'b' does not fit. It begins with a."),
        ({"a": 1}, {"additionalProperties": False, "required": ["b"]}, "there is no such field; known fields: "),
    ],
)
def test_what_is_not_allowed_is_said_in_words(value: Any, wanted: dict[str, Any], message: str) -> None:  # noqa: ANN401
    """With what is allowed instead."""
    assert next(flaws(value, wanted, wanted)).message == message


def test_a_flaw_has_its_place() -> None:
    """Each in the order of the file, a missing field after what is there."""
    document = {"kinds": {"A": {"class": "odd", "Strategyfield": "x", "declaredTargets": [{"group": 1}]}}}
    assert [(flaw.path, flaw.message) for flaw in verdict(document)] == [
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


def _schemas(part: Any) -> Iterator[dict[str, Any]]:  # noqa: ANN401 (a part of a schema)
    """Every schema within a schema."""
    yield part
    children = [*part.get("properties", {}).values(), *part.get("$defs", {}).values()]
    children += [part[name] for name in ("items", "additionalProperties") if isinstance(part.get(name), dict)]
    for child in children:
        yield from _schemas(child)


def test_the_schema_uses_no_other_word_of_json_schema() -> None:
    """A word that the module does not know would be ignored in silence."""
    for part in _schemas(schema()):
        assert part.keys() <= KNOWN
        assert "pattern" not in part or part["description"]
        assert part.get("type") != "object" or "additionalProperties" in part
        assert part.get("type") != "array" or "items" in part


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
