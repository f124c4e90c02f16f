"""The formats of answers: remarks next to them, pictures by Graphviz, the published schema, and users' templates."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest
from msgspec.structs import replace

from kubectl_policy.cli.describing import OBJECT_DESCRIPTION
from kubectl_policy.errors import PolicyError, UsageError
from kubectl_policy.render.output.formats import Renderers, drawn, remarks_on, render
from kubectl_policy.render.output.templates import CustomColumns, Template
from kubectl_policy.render.output.text import View
from tests.programs import needs_dot
from tests.render.schema import FILE, SCHEMA, published
from tests.render.worlds import about, colourful

if TYPE_CHECKING:
    from pathlib import Path

    from kubectl_policy.model import Json


def test_an_answer_is_offered_in_the_formats_of_its_parts() -> None:
    """It is not offered in others, nor shown in them."""
    without_table = Renderers[object](kind="Answer", headline=str)
    assert without_table.formats == ("yaml", "json")
    assert OBJECT_DESCRIPTION.formats == ("tree", "table", "wide", "csv", "yaml", "json", "name")
    with pytest.raises(KeyError):
        render(without_table, about(colourful(), "HTTPRoute", "r"), "wide", View())


def test_what_rows_cannot_say_is_said_next_to_them() -> None:
    """The headline, unless the rows are all there is and speak for themselves; next to other formats nothing."""
    answer = about(colourful(), "HTTPRoute", "r")
    headline = OBJECT_DESCRIPTION.headline(answer)

    def said(
        name: str, renderers: Renderers[Any] = OBJECT_DESCRIPTION, *, shown: str = "red", complete: bool = True
    ) -> list[str]:
        return remarks_on(renderers, answer, name, shown, complete=complete)

    assert said("table") == said("tree", complete=False) == said("json", shown="") == []
    assert said("table", complete=False) == said("name", shown="") == [headline]
    assert said("wide", replace(OBJECT_DESCRIPTION, rows_suffice=False)) == [headline]


@pytest.mark.parametrize("form", ["svg", "png", "pdf"])
def test_without_graphviz_it_is_said_how_to_get_it(form: str, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(PolicyError) as raised:
        drawn("digraph {}", form)
    assert raised.value.message == f"-o {form} needs the program dot of Graphviz, which is not installed"
    assert raised.value.hint == (
        "apt install graphviz, dnf install graphviz, brew install graphviz or winget install graphviz;"
        " without it there are -o html, mermaid, dot, tree and json"
    )


def test_what_graphviz_does_not_take_is_an_error(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    program = tmp_path / "dot"
    program.write_text("#!/bin/sh\necho 'no memory' >&2\nexit 1\n")
    program.chmod(0o755)
    monkeypatch.setenv("PATH", f"{tmp_path}:/bin:/usr/bin")
    with pytest.raises(PolicyError, match="Graphviz could not draw this: no memory"):
        drawn("digraph {}", "svg")


@needs_dot
def test_pictures_are_what_their_formats_begin_with() -> None:
    svg = drawn("digraph {a -> b}", "svg")
    assert isinstance(svg, str)
    assert svg.startswith("<?xml")
    assert drawn("digraph {a -> b}", "png")[:4] == b"\x89PNG"
    assert drawn("digraph {a -> b}", "pdf")[:5] == b"%PDF-"


@pytest.mark.unmeasured
def test_the_published_schema_is_made_of_the_types() -> None:
    assert FILE.read_text("utf-8") == published()


def test_the_schema_says_what_the_annotations_say() -> None:
    assert SCHEMA["$defs"]["Origin"]["properties"] == {
        "source": {"description": "The path of a file, or the kubeconfig context of a cluster.", "type": "string"},
        "line": {"description": "The line, from 1; 0 if unknown.", "type": "integer", "minimum": 0},
    }
    attachment = SCHEMA["$defs"]["Attachment"]["properties"]
    assert attachment["declaredIn"] == {
        "description": "The field with the reference, in the policy or in the object of namedBy: spec.targetRefs[0].",
        "type": "string",
    }
    assert attachment["target"]["anyOf"] == [{"$ref": "#/$defs/NodeRef"}, {"type": "null"}]
    assert SCHEMA["$defs"]["Diagnostic"]["properties"]["severity"] == {
        "description": "The severity of the problem.",
        "enum": ["error", "warning", "info"],
    }


def test_a_list_has_the_rows_of_its_kind() -> None:
    routes = SCHEMA["$defs"]["RouteList"]
    assert list(routes["properties"])[:3] == ["apiVersion", "kind", "headline"]
    assert routes["properties"]["kind"] == {"const": "RouteList"}
    assert routes["properties"]["items"]["items"] == {"$ref": "#/$defs/RouteRow"}
    assert routes["required"] == list(routes["properties"])


DOCUMENT: Json = {
    "kind": "List",
    "items": [
        {"name": "a", "state": "Enforced", "n": 1, "labels": {"a.b/c-d": "x", "plain": True}, "in": ["g", "h"]},
        {"name": "b", "state": "NoEffect", "n": 2.5, "labels": {}, "in": [], "none": None},
    ],
}


@pytest.mark.parametrize(
    ("template", "shown"),
    [
        ("{.kind}", "List"),
        ("{$.kind}", "List"),
        ("{@.kind}", "List"),
        ("{.items[*].name}", "a b"),
        ("{.items[*]['name','state']}", "a Enforced b NoEffect"),
        ("{.items[0].name}{.items[-1].name}", "ab"),
        ("{.items[0:1].name}", "a"),
        ("{.items[*].in[*]}", "g h"),
        ("{.items[0].labels.*}", "x true"),
        ("{.items[0].labels.a\\.b/c-d}", "x"),
        ("{.items[0].labels['a.b/c-d']}", "x"),
        ("{..plain}", "true"),
        ("{..labels.plain}", "true"),
        ('{.items[?(@.state=="NoEffect")].name}', "b"),
        ("{.items[?(@.n>1)].name}", "b"),
        ("{.items[?(@.in[0])].name}", "a"),
        ("{.items[*].n}", "1 2.5"),
        ("{.items[1].none}", "null"),
        ("{.items[0].in}", '["g", "h"]'),
        ("{.items[7].name}{.nope}", ""),
        ("kind {.kind}, names {.items[*].name}.", "kind List, names a b."),
        ("{range .items[*]}{.name}{'\\t'}{@.state}{\"\\n\"}{end}", "a\tEnforced\nb\tNoEffect\n"),
        ("{range .items[*]}{.name}:{range .in[*]} {.}{end};{end}!", "a: g h;b:;!"),
        ("{ .kind }{'{}'}{'it\\'s'}", "List{}it's"),
        (".kind", "List"),
        ("kind", "List"),
        ("items[*].name", "a b"),
        ("{}", '{"kind": "List", "items": '),
        ("", '{"kind": "List", "items": '),
    ],
)
def test_a_template_is_filled_in(template: str, shown: str) -> None:
    template_ = Template(template).shown(DOCUMENT, View())
    assert template_.startswith(shown) if shown.startswith('{"') else template_ == shown


@pytest.mark.parametrize(
    ("template", "problem"),
    [
        ("{.a", "a brace in -o jsonpath is not closed, or not opened"),
        (".a}{.b}", "a brace in -o jsonpath is not closed, or not opened"),
        ("{range .a}{.b}", "{range} in -o jsonpath has no {end}"),
        ("{.b}{end}", "{end} in -o jsonpath without {range}"),
        ("{.a[}", '".a[" is not a path: "[" is not understood'),
        ("{.a b}", '".a b" is not a path: " b" is not understood'),
        ("{.a[?(@.b==)]}", '".a[?(@.b==)]" is not a path: '),
        ("{.a..}", '".a.." is not a path: '),
    ],
)
def test_what_is_no_template_is_refused(template: str, problem: str) -> None:
    with pytest.raises(UsageError) as error:
        Template(template)
    assert error.value.message.startswith(problem)
    assert error.value.hint.startswith("for example: get routes -o jsonpath=")


def test_no_value_controls_a_terminal() -> None:
    """Line breaks and tabs of a text stay, as in a certificate; nothing else that a terminal would obey does."""
    assert Template("{.a}").shown({"a": "x\ty\n\x1b[2Jz\u202e"}, View()) == "x\ty\n\\x1b[2Jz\\u202e"


def test_columns_are_the_users() -> None:
    columns = CustomColumns("NAME:.name,IN:.in[*],FIRST:{.items['a','b']},X: .labels['a.b/c-d']")
    assert columns.shown(DOCUMENT, View()) == (
        "NAME   IN       FIRST    X\na      g,h      <none>   x\nb      <none>   <none>   <none>\n"
    )
    assert columns.shown(DOCUMENT, View(headers=False)).startswith("a   ")
    assert columns.shown({"items": []}, View()) == ""
    assert CustomColumns("K:kind,N:.name").shown({"kind": "One", "name": ""}, View()) == "K     N\nOne   <none>\n"


def test_values_can_be_arrays_of_json() -> None:
    """One for each path and each text, as kubectl prints them."""
    template = Template("{.items[*].name}:{range .items[*]}{.n}{end}{.nope}", as_json=True)
    assert template.shown(DOCUMENT, View()) == (
        '[\n    "a",\n    "b"\n]\n[\n    ":"\n]\n[\n    1\n]\n[\n    2.5\n]\n[]\n'
    )


def test_columns_of_several_lists_are_of_their_items() -> None:
    lists: Json = {"kind": "Lists", "items": [DOCUMENT, {"kind": "List", "items": []}, DOCUMENT]}
    columns = CustomColumns("NAME:.name")
    assert columns.shown(lists, View()) == "NAME\na\nb\na\nb\n"
    assert columns.lacking(lists, columns.shown(lists, View())) == []


@pytest.mark.parametrize(
    ("template", "expected"),
    [
        ("{.nope}", ['the document has no field "nope"; it has kind, items']),
        ("nope", ['the document has no field "nope"; it has kind, items']),
        ("{.knd}", ['the document has no field "knd"; did you mean .kind?']),
        ("{.items[*].metadata.plain}", ['.items[*] has no field "metadata"; did you mean .items[*].labels.plain?']),
        ("{.items[0].labels.nope}", ['.items[0].labels has no field "nope"; it has a.b/c-d, plain']),
        ("{.items.name}", [".items is a list; did you mean .items[*].name?"]),
        ("{range .items[*].in}{.name}{end}", [".items[*].in is a list; no item has name"]),
        ("items.name", [".items is a list; did you mean .items[*].name?"]),
        ("{..nope}{.items..nope.x}", []),
        ("{.items[*]['nope']}", []),
        ('{range .items[*]}{.nam}{" "}{.nam}{"\\n"}{end}', ['.items[*] has no field "nam"; did you mean .name?']),
        ("{range .item[*]}{.name}{end}", ['the document has no field "item"; did you mean .items?']),
        ('{.items[7].name}{.items[?(@.name=="c")].name}{.items[1].in[*]}{.items[1].in[0].x}', []),
        ("{.items[1].none.name}{.kind.name}", []),
        ("{.kind}{.nope}", ['the document has no field "nope"; it has kind, items']),
        ("{range .items[*]}{.name}{.stat}{end}", ['.items[*] has no field "stat"; did you mean .state?']),
    ],
)
def test_a_field_that_a_document_has_not_is_named(template: str, expected: list[str]) -> None:
    """Whatever else is shown; that a list is empty, or that nothing fits, is an answer."""
    template_ = Template(template)
    assert template_.lacking(DOCUMENT, template_.shown(DOCUMENT, View())) == expected


def test_a_column_that_no_item_has_is_named() -> None:
    """One that some have is right, however many of its cells are empty."""
    columns = CustomColumns("NAME:.metadata.name,LABEL:.labels.plain,NONE:.none")

    def expected(document: Json) -> list[str]:
        return columns.lacking(document, columns.shown(document, View()))

    assert expected(DOCUMENT) == ['an item has no field "metadata"; it has name, state, n, labels, in, none']
    assert expected({"items": []}) == []
    assert expected({"items": [{"metadata": {"name": "a"}, "labels": {"plain": 1}, "none": 0}]}) == []
    object_name = CustomColumns("NAME:.metadata.name")
    item_: Json = {"object": {"name": "a"}}
    shown = object_name.shown(item_, View())
    assert object_name.lacking(item_, shown) == ['an item has no field "metadata"; did you mean .object.name?']


@pytest.mark.parametrize("text", ["", "NAME", "NAME:", ":.name", "A:.a,,B:.b"])
def test_columns_need_a_header_and_a_path(text: str) -> None:
    with pytest.raises(UsageError, match="each is HEADER:PATH"):
        CustomColumns(text)
