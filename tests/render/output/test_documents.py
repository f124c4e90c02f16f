"""Machine formats: complete, versioned, described by a schema, and harmless."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any, cast

import jsonschema
import pytest
import yaml
from msgspec.structs import replace

from kubectl_policy.cli.commands.describe import OBJECT_DESCRIPTION
from kubectl_policy.model import Gap, Origin
from kubectl_policy.render.output.encoding import plain as plain_of
from kubectl_policy.render.output.escape import escape_commands
from kubectl_policy.render.output.text import View
from tests import build
from tests.render.schema import SCHEMA, VALIDATOR
from tests.render.shown import document_of, shown
from tests.render.worlds import about, about_policy, colourful, defaults, world

if TYPE_CHECKING:
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
    analysis = world(defaults("p", build.ON_ROUTE, color="größe", a=same, b=same))
    answer = about(analysis, "HTTPRoute", "r")
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
