"""The schema that is made of the shapes of documents."""

from __future__ import annotations

from typing import Any, Literal, NamedTuple

import pytest

from kubectl_policy.render.output.documents import Field, Shape, document, encode
from tests.render.schema import FILE, published, schema_of


class _Part(NamedTuple):
    name: str
    size: int | None


class _Answer(NamedTuple):
    word: Literal["a", "b"] | None
    parts: tuple[_Part, ...]
    first: _Part | None

    @property
    def number(self) -> int:
        """How many parts there are."""
        return len(self.parts)


PART = Shape(_Part, "part", Field("label", "name", doc="What it is called."), Field("size", limits={"minimum": 1}))
ANSWER = document(
    _Answer,
    "Answer",
    Field("word"),
    Field("parts", shape=PART),
    Field("first", shape=PART),
    Field("number"),
    Field("firstName", "first.name"),
    doc="An answer.",
)


def test_a_document_has_the_fields_of_its_shape() -> None:
    """In their order, after its version and kind."""
    part = _Part("x", 1)
    assert list(ANSWER.plain(_Answer("a", (part,), part)).items()) == [
        ("apiVersion", "policy.kubectl/v1alpha1"),
        ("kind", "Answer"),
        ("word", "a"),
        ("parts", [{"label": "x", "size": 1}]),
        ("first", {"label": "x", "size": 1}),
        ("number", 1),
        ("firstName", "x"),
    ]


def test_what_has_no_shape_is_an_error_of_ours() -> None:
    """It must not be printed as something."""
    with pytest.raises(TypeError, match="object has no shape in documents"):
        encode(object())


def test_the_schema_says_what_the_annotations_say() -> None:
    """Types, choices, what may be null, and what is said of a field."""
    schema: Any = schema_of([ANSWER], "Answers", "All of them.")
    assert schema["title"] == "Answers, policy.kubectl/v1alpha1"
    assert schema["oneOf"] == [{"$ref": "#/$defs/Answer"}]
    answer = schema["$defs"]["Answer"]
    assert answer["description"] == "An answer."
    assert answer["required"] == list(answer["properties"])
    assert answer["properties"] == {
        "apiVersion": {"const": "policy.kubectl/v1alpha1"},
        "kind": {"const": "Answer"},
        "word": {"enum": ["a", "b", None]},
        "parts": {"type": "array", "items": {"$ref": "#/$defs/part"}},
        "first": {"anyOf": [{"$ref": "#/$defs/part"}, {"type": "null"}]},
        "number": {"type": "integer"},
        "firstName": {"type": "string"},
    }
    assert schema["$defs"]["part"]["properties"] == {
        "label": {"description": "What it is called.", "type": "string"},
        "size": {"type": ["integer", "null"], "minimum": 1},
    }


def test_one_name_means_one_shape() -> None:
    """Else a schema would say something wrong of one of them."""
    other = Shape(_Part, "part", Field("name"))
    both = document(_Answer, "Both", Field("parts", shape=PART), Field("first", shape=other), doc="Both.")
    with pytest.raises(ValueError, match="two shapes are called part"):
        schema_of([both], "", "")


def test_the_published_schema_is_made_of_the_shapes() -> None:
    """`python -m tests.render.schema` writes it anew."""
    assert FILE.read_text("utf-8") == published()
