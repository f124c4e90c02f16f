"""The members of answers as JSON and YAML: what is in a document, under which name, and how it is written."""

from __future__ import annotations

import json
from enum import Enum
from functools import cached_property
from types import MappingProxyType
from typing import TYPE_CHECKING, Annotated

import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec import Meta, Struct

from kubectl_policy.model import GroupKind, NodeRef, ObjectRef
from kubectl_policy.render.output.encoding import document, json_pieces, members, plain
from kubectl_policy.render.output.escape import escape_commands

if TYPE_CHECKING:
    from collections.abc import Iterator

    from kubectl_policy.model import Json


class _Color(Enum):
    RED = "red"


class _Part(Struct, frozen=True):
    """A part with one member."""

    name: Annotated[str, Meta(description="What it is called.")]
    raw: object = None


class _Answer(Struct, frozen=True, dict=True):
    """An answer with members of each sort."""

    class_: Annotated[str, Meta()]
    many_parts: Annotated[tuple[_Part, ...], Meta()]
    color: Annotated[_Color, Meta()] = _Color.RED
    first: Annotated[_Part | None, Meta()] = None
    inner: Annotated[_Part, "inline"] = _Part("inner")
    hidden: str = "for code"

    @property
    def number(self) -> Annotated[int, Meta()]:
        """How many parts there are."""
        return len(self.many_parts)

    @cached_property
    def length(self) -> Annotated[int, Meta()]:
        """The length of the class."""
        return len(self.class_)

    @property
    def shout(self) -> str:
        """For code as well."""
        return self.class_.upper()


ANSWER = _Answer("direct", (_Part("a"), _Part("b", object())))


def test_members_are_what_is_annotated() -> None:
    """Properties before fields, in camel case, with those of inline parts; what has no `Meta` is for code."""
    assert members(_Answer) == {
        "number": "number",
        "length": "length",
        "class": "class_",
        "manyParts": "many_parts",
        "color": "color",
        "first": "first",
        "name": "inner.name",
    }


def test_a_document_begins_with_what_it_is() -> None:
    assert plain(document("Answer", "Two parts.", ANSWER)) == {
        "apiVersion": "policy.kubectl/v1alpha1",
        "kind": "Answer",
        "headline": "Two parts.",
        "number": 2,
        "length": 6,
        "class": "direct",
        "manyParts": [{"name": "a"}, {"name": "b"}],
        "color": "red",
        "first": None,
        "name": "inner",
    }
    assert list(document("Answer", "", ANSWER, "east"))[:4] == ["apiVersion", "kind", "context", "headline"]


def test_what_has_no_members_is_an_error_of_ours() -> None:
    """It must not be printed as something."""
    with pytest.raises(TypeError, match="object has no members for documents"):
        plain({"a": object()})
    with pytest.raises(TypeError, match="_Bare has no members for documents"):
        plain(_Bare())


class _Bare(Struct, frozen=True):
    """A value of which nothing is for documents."""

    name: str = ""


def _written(value: object) -> str:
    return "".join(json_pieces(value))


def _nested(inner: st.SearchStrategy[Json]) -> st.SearchStrategy[Json]:
    return st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=3), inner, max_size=3)


@given(
    value=st.dictionaries(
        st.text(max_size=3),
        st.recursive(
            st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.text(),
            _nested,
            max_leaves=12,
        ),
    )
)
def test_json_is_as_the_library_writes_it(value: dict[str, Json]) -> None:
    written = _written(value)
    assert json.loads(written) == value
    assert written.isascii()
    assert plain(value) == value


@given(value=st.dictionaries(st.text(max_size=3), st.lists(st.text() | st.integers(), max_size=600), max_size=3))
def test_long_lists_are_written_as_short_ones(value: dict[str, Json]) -> None:
    assert _written(value) == escape_commands(json.dumps(value, indent=2), "\\u00")


def test_json_is_written_as_it_is_made() -> None:
    """The items of a list are not made before those in front of them were handed on: memory holds few of them."""
    written = 0

    def items() -> Iterator[str]:
        nonlocal written
        for _ in range(1000):
            written += 1
            yield "x" * 200

    pieces = json_pieces({"items": items()})
    assert next(pieces) == '{\n  "items": '
    assert len(next(pieces)) < 100_000
    assert written < 300
    assert sum(map(len, pieces)) > 100_000


def test_a_reference_is_written_flat() -> None:
    """As references in Kubernetes are, although a node has an object, and an object a kind."""
    node = NodeRef(ObjectRef(GroupKind("g.io", "K"), "ns", "name"), "section")
    assert plain([node]) == [{"group": "g.io", "kind": "K", "namespace": "ns", "name": "name", "section": "section"}]


@pytest.mark.parametrize("text", ["\ud800", "größe", "\x7f", "\x1b[31m", "🚪", "\u202e"])
def test_json_is_in_ascii(text: str) -> None:
    """Whatever a name holds, also half of a surrogate pair, which is no text."""
    node = NodeRef(ObjectRef(GroupKind("g.io", "K"), "ns", text))
    written = _written({"a": text, "b": [node, text]})
    assert written.isascii()
    assert written.replace("\n", "").isprintable()
    assert json.loads(written)["b"] == [
        {"group": "g.io", "kind": "K", "namespace": "ns", "name": text, "section": ""},
        text,
    ]


def test_json_knows_no_infinity() -> None:
    """What is no JSON is written as text; whole numbers are as long as they are."""
    value = MappingProxyType({"a": float("inf"), "b": 10**400})
    assert plain(value) == {"a": "inf", "b": 10**400}
