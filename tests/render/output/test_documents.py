"""Answers as documents: their members in JSON and YAML, as the published schema says."""

from __future__ import annotations

import json
from enum import Enum
from functools import cached_property
from types import MappingProxyType
from typing import TYPE_CHECKING, Annotated, Any, cast

import jsonschema
import pytest
import yaml
from hypothesis import given
from hypothesis import strategies as st
from msgspec import Meta, Struct
from msgspec.structs import replace

from kubectl_policy.cli.describing import OBJECT_DESCRIPTION
from kubectl_policy.model import Gap, GroupKind, NodeRef, ObjectRef, Origin
from kubectl_policy.render.output.encoding import document, json_pieces, members, plain
from kubectl_policy.render.output.encoding import plain as plain_of
from kubectl_policy.render.output.escape import escape_commands
from kubectl_policy.render.output.text import View
from tests import build
from tests.render.schema import SCHEMA, VALIDATOR
from tests.render.shown import document_of, shown
from tests.render.worlds import about, about_policy, colourful, defaults, world

if TYPE_CHECKING:
    from collections.abc import Iterator

    from kubectl_policy.model import Json
    from tests.render.shown import Answer

HOSTILE = "\x1b[31mred\u202e\n[bold]x[/bold] größe *a &b : -"


def _text(answer: Answer, name: str, view: View | None = None) -> str:
    return shown(answer, name, view)


def _loaded(answer: Answer) -> dict[str, Any]:
    return cast("dict[str, Any]", json.loads(_text(answer, "json")))


def _answers() -> list[Answer]:
    analysis = colourful()
    odd = world(
        build.policy("p", build.ON_ROUTE, kind="OddPolicy", group="odd.io", x=None, y=[], z={}),
        build.route(
            "lone", parents=[build.parent("unread", namespace="far")], rules=[build.rule(build.backend("gone"))]
        ),
        build.resource("ConfigMap", "c", group="", status={"conditions": [{"type": "Ready", "status": "False"}]}),
        gaps=[Gap("", "", "broken", Origin("bad.yaml", 7)), Gap("RetryPolicy", "x", "forbidden")],
    )
    return [
        about(analysis, "HTTPRoute", "r"),
        about(analysis, "Gateway", "g", "https"),
        about(analysis, "Namespace", "default"),
        *(about_policy(analysis, name) for name in ("base", "own", "strict", "lost")),
        about_policy(analysis, "second", "LimitPolicy"),
        about(odd, "HTTPRoute", "r"),
        about(odd, "HTTPRoute", "lone"),
        about(odd, "ConfigMap", "c"),
        about(
            world(
                defaults("p", build.ON_ROUTE, colors=["red", {"a": [1]}], rate=1.5),
                defaults("q", build.ON_GATEWAY, colors=["blue"], rate=2),
            ),
            "HTTPRoute",
            "r",
        ),
    ]


@pytest.mark.parametrize("answer", _answers(), ids=lambda answer: type(answer).__name__)
def test_json_is_the_document_in_one_piece(answer: Answer) -> None:
    """Byte for byte what the library writes of the plain document."""
    plain = document_of(answer)
    assert _text(answer, "json") == escape_commands(json.dumps(plain, indent=2), "\\u00") + "\n"


def test_the_schema_is_a_schema() -> None:
    assert SCHEMA["$schema"] == "https://json-schema.org/draft/2020-12/schema"
    jsonschema.Draft202012Validator.check_schema(SCHEMA)


def test_the_schema_refuses_what_it_does_not_know() -> None:
    """A schema that accepts everything proves nothing."""
    document = _loaded(_answers()[0])
    assert VALIDATOR.is_valid(document)
    assert not VALIDATOR.is_valid({**document, "more": 1})
    assert not VALIDATOR.is_valid({key: value for key, value in document.items() if key != "paths"})


@pytest.mark.parametrize("answer", _answers(), ids=lambda answer: type(answer).__name__)
def test_every_answer_is_as_the_schema_says(answer: Answer) -> None:
    document = _loaded(answer)
    VALIDATOR.validate(document)
    assert yaml.safe_load(_text(answer, "yaml")) == document


def test_a_document_refers_to_paths_by_number() -> None:
    document = _loaded(_answers()[0])
    assert [path["number"] for path in document["paths"]] == [1, 2]
    assert [(group["paths"], group["scope"]) for group in document["inForce"]] == [
        ([1], "listener http only"),
        ([2], "listener https only"),
        ([1, 2], "both paths"),
    ]
    fields = _loaded(about_policy(colourful(), "own"))["fields"]
    assert (fields[0]["effectiveOn"], fields[0]["superseded"][0]["paths"]) == ([1], [2])


def test_a_document_has_every_source() -> None:
    setting = _loaded(_answers()[0])["inForce"][1]["settings"][0]
    assert (setting["field"], setting["value"], setting["source"]["object"]["name"]) == ("color", "black", "strict")
    assert setting["source"]["target"]["section"] == "https"
    assert [fate["value"] for fate in setting["insteadOf"]] == ["red", "blue"]


@pytest.mark.parametrize("name", OBJECT_DESCRIPTION.formats)
@pytest.mark.parametrize("terminal", [False, True])
def test_no_format_lets_a_name_control_a_terminal(name: str, terminal: bool) -> None:  # noqa: FBT001 (a parameter)
    analysis = world(
        defaults("p", build.ON_ROUTE, color={HOSTILE: HOSTILE}),
        defaults(HOSTILE, build.ON_ROUTE, color=1),
        defaults("q", build.target(HOSTILE, "HTTPRoute", HOSTILE), color=1),
        gaps=[Gap(HOSTILE, HOSTILE, HOSTILE, Origin(HOSTILE, 1))],
    )
    for answer in (about(analysis, "HTTPRoute", "r"), about_policy(analysis, "q"), about_policy(analysis, HOSTILE)):
        text = _text(answer, name, View(terminal=terminal))
        assert all(line.isprintable() for line in text.splitlines())
        if name in {"json", "yaml"}:
            assert yaml.safe_load(text)["unseen"][0]["reason"] == HOSTILE


def test_markup_is_shown_as_it_is() -> None:
    analysis = world(defaults("p", build.ON_ROUTE, color="[red]x[/red]"))
    assert "[red]x[/red]" in _text(about(analysis, "HTTPRoute", "r"), "tree")


def test_json_is_ascii() -> None:
    """So that it survives every encoding."""
    analysis = world(defaults("p", build.ON_ROUTE, color="größe \ud800"))
    assert _text(about(analysis, "HTTPRoute", "r"), "json").isascii()


def test_yaml_is_readable_where_it_can_be() -> None:
    """Letters are letters where the output can hold them, escapes where it cannot; nothing is an alias."""
    same = {"deep": {"list": [1, 2]}}
    answer = about(world(defaults("p", build.ON_ROUTE, color="größe", a=same, b=same)), "HTTPRoute", "r")
    assert "value: größe" in _text(answer, "yaml")
    assert "*id" not in _text(answer, "yaml")
    assert _text(answer, "yaml", View(unicode=False)).isascii()


@pytest.mark.parametrize(
    ("value", "plain"), [(float("inf"), "inf"), ([float("nan"), 1.5], ["nan", 1.5]), ({"a": (1, "b")}, {"a": [1, "b"]})]
)
def test_what_json_lacks_becomes_text(value: Any, plain: Any) -> None:  # noqa: ANN401 (any value)
    assert plain_of(value) == plain


def test_names_are_those_of_the_policies_that_affect_an_object() -> None:
    assert _text(_answers()[0], "name").splitlines() == [
        "colorpolicy.example.com/base",
        "colorpolicy.example.com/own",
        "colorpolicy.example.com/strict",
        "limitpolicy.example.com/first",
    ]
    assert _text(about_policy(colourful(), "base"), "name").splitlines() == [
        "gateway.gateway.networking.k8s.io/g",
        "httproute.gateway.networking.k8s.io/r",
        "service/s",
    ]


def test_events_are_in_the_document() -> None:
    about_both: list[dict[str, Json]] = [
        {"kind": "HTTPRoute", "name": "r", "namespace": "default"},
        {"kind": "ColorPolicy", "name": "p", "namespace": "default"},
    ]
    events = [
        build.resource("Event", f"e{number}", group="", involvedObject=obj, type="Warning", message=HOSTILE)
        for number, obj in enumerate(about_both)
    ]
    analysis = world(defaults("p", build.ON_ROUTE, color=1), *events)
    for answer in (about(analysis, "HTTPRoute", "r"), about_policy(analysis, "p")):
        document = _loaded(answer)
        VALIDATOR.validate(document)
        assert document["events"] == [
            {"type": "Warning", "reason": "", "from": "", "message": HOSTILE, "count": 1, "last": ""}
        ]


def test_a_complete_answer_says_so() -> None:
    answer = about(world(), "HTTPRoute", "r")
    assert _loaded(answer)["complete"] is True
    assert (
        _loaded(replace(answer, unseen=about(world(gaps=[Gap("", "", "x")]), "HTTPRoute", "r").unseen))["complete"]
        is False
    )


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
    assert plain(MappingProxyType({"a": float("inf"), "b": 10**400})) == {"a": "inf", "b": 10**400}
