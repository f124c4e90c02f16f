"""Values that a schema refuses, in the words of an API server, and formats of text."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

import pytest

from kubectl_policy.validation.schema import format_of, is_of_format
from tests.validation.build import problems, refusals

if TYPE_CHECKING:
    from kubectl_policy.model import Json

STRING: Final[dict[str, Json]] = {"type": "string"}
INTEGER: Final[dict[str, Json]] = {"type": "integer"}
PORT: Final[dict[str, Json]] = {"x-kubernetes-int-or-string": True, "anyOf": [INTEGER, STRING]}


def obj(required: list[Json] | None = None, **properties: Json) -> dict[str, Json]:
    return {"type": "object", "properties": properties, **({"required": required} if required else {})}


def array(items: Json, **keywords: Json) -> dict[str, Json]:
    return {"type": "array", "items": items, **keywords}


REFUSED: Final[list[tuple[Json, Json, list[str]]]] = [
    (obj(["a"]), {}, ["spec.a: Required value"]),
    (obj(a=obj(["b"])), {"a": {}}, ["spec.a.b: Required value"]),
    (STRING, 1, ['spec: Invalid value: "integer": spec in body must be of type string: "integer"']),
    (INTEGER, "1", ['spec: Invalid value: "string": spec in body must be of type integer: "string"']),
    (INTEGER, 1.5, ['spec: Invalid value: "number": spec in body must be of type integer: "number"']),
    (INTEGER, True, ['spec: Invalid value: "boolean": spec in body must be of type integer: "boolean"']),
    (obj(), [], ['spec: Invalid value: "array": spec in body must be of type object: "array"']),
    (array(STRING), {}, ['spec: Invalid value: "object": spec in body must be of type array: "object"']),
    (array(STRING), [None], ['spec[0]: Invalid value: "null": spec[0] in body must be of type string: "null"']),
    ({**INTEGER, "format": "int32"}, True, ['spec: Invalid value: "": spec in body must be of type int32: ""']),
    ({**STRING, "format": "date"}, 1, ['spec: Invalid value: "int64": spec in body must be of type date: "int64"']),
    ({**STRING, "format": "date"}, "soon", ['spec: Invalid value: "soon": spec in body must be of type date: "soon"']),
    ({**STRING, "enum": ["a", 2]}, "b", ['spec: Unsupported value: "b": supported values: "a", "2"']),
    ({**INTEGER, "enum": [1, 2]}, 3, ['spec: Unsupported value: 3: supported values: "1", "2"']),
    (
        obj(a={**STRING, "enum": ["a"], "nullable": True}),
        {"a": None},
        ['spec.a: Unsupported value: null: supported values: "a"'],
    ),
    ({**STRING, "maxLength": 1}, "ab", ["spec: Too long: may not be more than 1 byte"]),
    ({**STRING, "maxLength": 2, "pattern": "b$"}, "aaa", ["spec: Too long: may not be more than 2 bytes"]),
    ({**STRING, "minLength": 2}, "é", ['spec: Invalid value: "é": spec in body should be at least 2 chars long']),
    ({**STRING, "pattern": "^a+$"}, "ab", ["spec: Invalid value: \"ab\": spec in body should match '^a+$'"]),
    ({**STRING, "pattern": "^a$"}, "a\n", ["spec: Invalid value: \"a\\n\": spec in body should match '^a$'"]),
    ({**INTEGER, "maximum": 3}, 4, ["spec: Invalid value: 4: spec in body should be less than or equal to 3"]),
    (
        {**INTEGER, "maximum": 3, "exclusiveMaximum": True},
        3,
        ["spec: Invalid value: 3: spec in body should be less than 3"],
    ),
    ({**INTEGER, "minimum": 3}, 2, ["spec: Invalid value: 2: spec in body should be greater than or equal to 3"]),
    (
        {"type": "number", "minimum": 0.5, "exclusiveMinimum": True},
        0.5,
        ["spec: Invalid value: 0.5: spec in body should be greater than 0.5"],
    ),
    ({**INTEGER, "multipleOf": 2}, 3, ["spec: Invalid value: 3: spec in body should be a multiple of 2"]),
    (
        {**INTEGER, "format": "int32"},
        2**31,
        ["spec: Invalid value: 2147483648: spec in body must be of type integer with format int32"],
    ),
    (array(STRING, maxItems=1), ["a", "b"], ["spec: Too many: 2: must have at most 1 item"]),
    (array(STRING, minItems=2), ["a"], ["spec: Invalid value: 1: spec in body should have at least 2 items"]),
    (
        {"type": "object", "additionalProperties": STRING, "maxProperties": 2},
        {"a": "", "b": "", "c": ""},
        ["spec: Too many: 3: must have at most 2 items"],
    ),
    (
        {"type": "object", "additionalProperties": STRING, "minProperties": 1},
        {},
        ["spec: Invalid value: 0: spec in body should have at least 1 properties"],
    ),
    (
        {"type": "object", "additionalProperties": INTEGER},
        {"a.b": ""},
        ['spec.a.b: Invalid value: "string": spec.a.b in body must be of type integer: "string"'],
    ),
    (
        {"type": "object", "x-kubernetes-preserve-unknown-fields": True, "additionalProperties": False},
        {"a": 1},
        ['spec: Invalid value: "a": spec.a in body is a forbidden property'],
    ),
    (
        PORT,
        True,
        [
            'spec: Invalid value: "boolean": spec in body must be of type integer,string: "boolean"',
            "spec: Invalid value: must validate at least one schema (anyOf)",
            'spec: Invalid value: "boolean": spec in body must be of type integer: "boolean"',
        ],
    ),
]


@pytest.mark.parametrize(("schema", "spec", "expected"), REFUSED)
def test_what_is_refused(schema: Json, spec: Json, expected: list[str]) -> None:
    """In the words of an API server, which is what people look for."""
    assert refusals(schema, spec) == expected


TAKEN: Final[list[tuple[Json, Json]]] = [
    (obj(["a"], a={**INTEGER, "default": 1}), {}),
    (obj(a=STRING), {"b": 1}),
    (obj(a=STRING), {"a": None}),
    (obj(a={**STRING, "nullable": True}), {"a": None}),
    (array({**STRING, "nullable": True}), [None]),
    (INTEGER, 1.0),
    ({"type": "number"}, 1),
    ({**STRING, "format": "date"}, "2026-02-28"),
    ({**STRING, "format": "date"}, ["2026-02-28"]),
    ({**STRING, "format": "no such format"}, "x"),
    ({**STRING, "enum": ["a", "b"]}, "b"),
    ({**STRING, "pattern": "a"}, "bab"),
    ({**STRING, "maxLength": 1, "minLength": 1}, "é"),
    ({"type": "number", "maximum": 2.5, "minimum": 1.5}, 1.5),
    ({"type": "number", "maximum": 2.5, "minimum": 1.5}, 2.5),
    ({**INTEGER, "multipleOf": 2}, 4),
    (array(STRING, maxItems=1, minItems=1), ["a"]),
    ({"type": "object", "additionalProperties": True}, {"a": 1}),
    (PORT, 80),
    (PORT, "http"),
    ({}, [1, "x", None]),
]


@pytest.mark.parametrize(("schema", "spec"), TAKEN)
def test_what_is_taken(schema: Json, spec: Json) -> None:
    """Defaults count, unknown fields are dropped, and null is absence unless it may be a value."""
    assert refusals(schema, spec) == []


ODD: Final[list[Json]] = [
    1,
    "x",
    [],
    {"type": 5, "enum": "a", "required": 7, "properties": [], "items": "x", "additionalProperties": "no"},
    {"required": [1, {}], "enum": {}, "maxItems": "x", "maximum": "x", "multipleOf": 0, "pattern": 1},
    {"multipleOf": True, "maximum": False},
    {"properties": {"a": 1}, "allOf": "x", "anyOf": [1, "x"], "oneOf": {}, "not": []},
    {"anyOf": [], "oneOf": [], "allOf": [], "format": 1, "maxLength": 1.5, "minimum": None},
    {"$ref": "#", "patternProperties": {"(": {}}, "dependencies": 1, "x-kubernetes-validations": 1},
    {"x-kubernetes-list-type": "map", "x-kubernetes-list-map-keys": 1},
]


@pytest.mark.parametrize("schema", ODD)
@pytest.mark.parametrize("spec", [None, True, 1, 1.5, "x", [1, "x", None, {}], {"a": {"b": []}, "items": [1]}])
def test_an_odd_schema_demands_nothing(schema: Json, spec: Json) -> None:
    """What an API server would not have taken as a definition says nothing about objects."""
    assert [message for message in refusals(schema, spec) if "list-type map" not in message] == []


EITHER: Final[dict[str, Json]] = {
    **obj(a=STRING, b=STRING),
    "oneOf": [{"required": ["a"]}, {"required": ["b"], "properties": {"b": {"enum": ["x"]}}}],
}


def test_one_of() -> None:
    """Exactly one; what the nearest one lacks is told."""
    prefix = "spec: Invalid value: must validate one and only one schema (oneOf). "
    assert refusals(EITHER, {"a": "1"}) == []
    assert refusals(EITHER, {"a": "1", "b": "y"}) == []
    assert refusals(EITHER, {"a": "1", "b": "x"}) == [f"{prefix}Found 2 valid alternatives"]
    assert refusals(EITHER, {}) == [f"{prefix}Found none valid", "spec.a: Required value"]


def test_any_of_all_of_and_not() -> None:
    schema: Json = {
        **obj(a={**STRING, "nullable": True, "anyOf": [{"pattern": "x"}, {"pattern": "y"}]}),
        "allOf": [{"required": ["a"]}, {"maxProperties": 1}],
        "not": {"properties": {"a": {"enum": ["xx"]}}},
    }
    assert refusals(schema, {"a": "y"}) == []
    assert refusals(schema, {"a": None}) == []
    assert refusals(schema, {"a": "xx"}) == ["spec: Invalid value: must not validate the schema (not)"]
    assert refusals(schema, {}) == ["spec.a: Required value", "spec: Invalid value: must not validate the schema (not)"]
    assert refusals(schema, {"a": "z"}) == [
        "spec.a: Invalid value: must validate at least one schema (anyOf)",
        "spec.a: Invalid value: \"z\": spec.a in body should match 'x'",
    ]


def test_lists_whose_items_must_differ() -> None:
    keys: Json = ["name", "port"]
    named = array(
        {**obj(name=STRING, port=INTEGER, x=STRING), "nullable": True},
        **{"x-kubernetes-list-type": "map", "x-kubernetes-list-map-keys": keys},
    )
    spec: Json = [{"name": "a", "port": 1}, {"name": "a"}, {"name": "a", "port": 1, "x": "y"}, {"name": "a"}]
    assert refusals(named, spec) == [
        'spec[2]: Duplicate value: {"name":"a","port":1}',
        'spec[3]: Duplicate value: {"name":"a"}',
    ]
    assert refusals(named, [{"name": "a", "port": 1}, {"name": "a"}, None]) == []
    unique = array({"x-kubernetes-preserve-unknown-fields": True}, **{"x-kubernetes-list-type": "set"})
    spec = [{"a": 1, "b": 2}, {"b": 2, "a": 1}, "a", 1, "a", "a", True]
    assert refusals(unique, spec) == ['spec[1]: Duplicate value: {"b":2,"a":1}', 'spec[4]: Duplicate value: "a"']
    assert refusals(array(STRING, **{"x-kubernetes-list-type": "atomic"}), ["a", "a"]) == []


def test_a_long_value_is_cut() -> None:
    """Nobody reads a certificate in a message."""
    (problem,) = refusals({**STRING, "pattern": "^b"}, "a" * 1000)
    assert problem == f"spec: Invalid value: \"{'a' * 199}…: spec in body should match '^b'"


def test_the_fields_are_told() -> None:
    (problem,) = problems(obj(a=array(obj(["b"], b=INTEGER))), {"a": [{"b": 1}, {"c": 1}]})
    assert (problem.rule, problem.severity, problem.field) == ("schema", "error", "spec.a[1].b")
    assert problem.subject is not None
    assert problem.origin is not None
    assert problem.message == "Thing default/t: the API server would refuse it: spec.a[1].b: Required value"


WRONG = [
    ("ipv4", "1.2.3"),
    ("ipv4", "1.2.3.256"),
    ("ipv4", "::1"),
    ("ipv6", "1.2.3.4"),
    ("ipv6", "::1::"),
    ("cidr", "10.0.0.0"),
    ("cidr", "10.0.0.0/33"),
    ("byte", "a"),
    ("byte", ""),
    ("date", "2026-02-29"),
    ("date", "20260228"),
    ("date", "2026-02-28T00:00:00Z"),
    ("date-time", "2026-02-28"),
    ("date-time", "2026-02-28 10:00:00Z"),
    ("date-time", "2026-02-28T24:00:00Z"),
    ("date-time", "2026-02-28T10:00:00"),
]
RIGHT = [
    ("ipv4", "1.2.3.4"),
    ("ipv4", "010.2.3.004"),
    ("ipv4", "::ffff:1.2.3.4"),
    ("ipv6", "fe80::1"),
    ("cidr", "10.0.0.0/8"),
    ("cidr", "fe80::/64"),
    ("byte", "aGk="),
    ("date", "2024-02-29"),
    ("date-time", "2026-02-28T23:59:59Z"),
    ("date-time", "2026-02-28t10:00:00.5+01:00"),
    ("email", "nobody checks this"),
]


@pytest.mark.parametrize(("form", "text"), WRONG)
def test_a_text_that_is_not_of_a_format(form: str, text: str) -> None:
    """As an API server finds."""
    assert not is_of_format(text, form)


@pytest.mark.parametrize(("form", "text"), RIGHT)
def test_a_text_of_a_format(form: str, text: str) -> None:
    assert is_of_format(text, form)


@pytest.mark.parametrize(
    ("kind", "form", "expected"),
    [
        ("string", "date-time", "date-time"),
        ("", "ipv4", "ipv4"),
        ("integer", "int32", "int32"),
        ("number", "double", "double"),
        ("string", "int32", ""),
        ("integer", "int128", ""),
        ("object", "date", ""),
    ],
)
def test_a_format_needs_its_type(kind: str, form: str, expected: str) -> None:
    assert format_of({"type": kind, "format": form}) == expected
