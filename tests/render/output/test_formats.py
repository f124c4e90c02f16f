"""The formats of answers: remarks next to them, pictures by Graphviz, and the published schema."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest
from msgspec.structs import replace

from kubectl_policy.cli.commands.describe import OBJECT_DESCRIPTION
from kubectl_policy.errors import PolicyError
from kubectl_policy.render.output.formats import Forms, drawn, remarks_on, render
from kubectl_policy.render.output.text import View
from tests.programs import needs_dot
from tests.render.schema import FILE, SCHEMA, published
from tests.render.worlds import about, colourful

if TYPE_CHECKING:
    from pathlib import Path


def test_an_answer_is_offered_in_the_formats_of_its_parts() -> None:
    """It is not offered in others, nor shown in them."""
    without_table = Forms[object](kind="Answer", headline=str)
    assert without_table.formats == ("yaml", "json")
    assert OBJECT_DESCRIPTION.formats == ("tree", "table", "wide", "csv", "yaml", "json", "name")
    with pytest.raises(KeyError):
        render(without_table, about(colourful(), "HTTPRoute", "r"), "wide", View())


def test_what_rows_cannot_say_is_said_next_to_them() -> None:
    """The headline, unless the rows are all there is and speak for themselves; next to other formats nothing."""
    answer = about(colourful(), "HTTPRoute", "r")
    headline = OBJECT_DESCRIPTION.headline(answer)

    def said(
        name: str, forms: Forms[Any] = OBJECT_DESCRIPTION, *, shown: str = "red", complete: bool = True
    ) -> list[str]:
        return remarks_on(forms, answer, name, shown, complete=complete)

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
