"""Names that somebody made to do harm are names, in every format."""

from __future__ import annotations

import json
import re
from typing import Any, Final
from xml.etree import ElementTree as ET

import jsonschema
import pytest
from hypothesis import given
from hypothesis import strategies as st

from kubectl_policy.render.lint import LINT
from kubectl_policy.render.lint.github import github_summary
from kubectl_policy.render.output.escape import escape_commands, has_commands
from kubectl_policy.render.output.formats import FORMATS
from kubectl_policy.render.output.text import View
from tests.render.lint.reports import EVERYTHING, HOSTILE, SARIF, hostile
from tests.render.schema import VALIDATOR
from tests.render.shown import shown

NAMES: Final = st.text(max_size=40) | st.text(alphabet="%:,\n\r#[]()|`<>!-\\&@=] a1./~*_\"'", max_size=40)
# What the runner of GitHub obeys, of which these are ours.
COMMAND: Final = re.compile(r"::(error|warning|notice|group|endgroup)( [^:]*)?::(.*)")
every_name = pytest.mark.parametrize("name", HOSTILE)


def test_every_format_is_offered() -> None:
    wanted = "text yaml json markdown summary name sarif junit github gitlab"
    assert list(LINT.formats) == wanted.split()
    for name in LINT.formats:
        assert shown(EVERYTHING, name)
    assert [name for name in FORMATS if FORMATS[name].styled] == ["text", "tree", "table", "wide", "csv"]


@every_name
def test_documents_are_what_their_schemas_say(name: str) -> None:
    _documents(name)


@given(NAMES)
def test_no_name_breaks_a_document(name: str) -> None:
    _documents(name)


def _documents(name: str) -> None:
    report = hostile(name)
    texts = {form: shown(report, form) for form in ("json", "sarif", "gitlab")}
    assert all(text.isascii() and not has_commands(text) for text in texts.values())
    found: dict[str, Any] = {form: json.loads(text) for form, text in texts.items()}
    VALIDATOR.validate(found["json"])
    SARIF.validate(found["sarif"])
    assert found["json"]["findings"][1]["message"] == name
    jsonschema.validate(found["gitlab"], GITLAB)
    # What is known is in the one and not in the other.
    assert (len(found["json"]["findings"]), len(found["gitlab"])) == (2, 3)
    for uri in _uris(found["sarif"]):
        assert re.fullmatch(r"(file:///)?([A-Za-z0-9_.~/-]|%[0-9A-F]{2})+", uri), uri


def _uris(document: Any) -> list[str]:  # noqa: ANN401 (a part of a document)
    if isinstance(document, dict):
        own = [document["uri"]] if "uri" in document else []
        return own + [uri for child in document.values() for uri in _uris(child)]
    return [uri for child in document for uri in _uris(child)] if isinstance(document, list) else []


# What of an entry GitLab takes it for none without.
GITLAB: Final = {
    "type": "array",
    "items": {
        "type": "object",
        "required": ["description", "check_name", "fingerprint", "severity", "location"],
        "properties": {
            "description": {"type": "string", "minLength": 1},
            "severity": {"enum": ["info", "minor", "major", "critical", "blocker"]},
            "location": {
                "type": "object",
                "required": ["path", "lines"],
                "properties": {
                    "path": {"type": "string", "minLength": 1},
                    "lines": {"properties": {"begin": {"type": "integer", "minimum": 1}}, "required": ["begin"]},
                },
            },
        },
    },
}


@every_name
def test_xml_is_well_formed(name: str) -> None:
    _xml(name)


@given(NAMES)
def test_no_name_breaks_xml(name: str) -> None:
    _xml(name)


def _xml(name: str) -> None:
    text = shown(hostile(name), "junit")
    assert not has_commands(text)
    tags = [element.tag for element in ET.fromstring(text).iter()]  # noqa: S314 (our own text)
    plain = [element.tag for element in ET.fromstring(shown(hostile("x"), "junit")).iter()]  # noqa: S314 (see above)
    assert sorted(tags) == sorted(plain)


@every_name
def test_a_log_obeys_nothing_else(name: str) -> None:
    _log(name)


@given(NAMES)
def test_no_name_is_a_command(name: str) -> None:
    _log(name)


def _log(name: str) -> None:
    text = shown(hostile(name), "github")
    findings = [COMMAND.fullmatch(line) for line in text.splitlines()]
    assert [finding[1] for finding in findings if finding] == ["error", "warning", "group", "endgroup"]
    for line, command in zip(text.splitlines(), findings, strict=True):
        assert command or not has_commands(line)
        properties = command[2] or "" if command else ""
        for each in filter(None, properties.strip().split(",")):
            assert re.fullmatch("(file|line|title)=[^,:]+", each)
    assert len(text.splitlines()) == len(text.split("\n")) - 1


@every_name
def test_text_is_harmless(name: str) -> None:
    """At a terminal, and to a CI that reads what comes out there."""
    for view in (View(terminal=True), View(everything=True), View(unicode=False)):
        lines = escape_commands(shown(hostile(name), "text", view)).split("\n")
        assert all(line.isprintable() for line in lines)
        assert not any(map(has_commands, lines))


@every_name
def test_markdown_is_text(name: str) -> None:
    """A name adds no row, no column, no link and no end of a mark."""
    _markdown(name)


@given(NAMES)
def test_no_name_is_markdown(name: str) -> None:
    _markdown(name)


def _markdown(name: str) -> None:
    found, usual = hostile(name), hostile("x")
    comments = (shown(found, "markdown"), shown(usual, "markdown"))
    for text, plain in (comments, (github_summary(found), github_summary(usual))):
        rows = [line for line in text.split("\n") if line.startswith("|")]
        assert [row.count("|") for row in rows] == [6] * 4
        assert len(text.split("\n")) == len(plain.split("\n")) == len(text.splitlines()) + 1
        own = r"^<!-- kubectl-policy lint[A-Za-z0-9._ -]* -->$|&#[0-9]+;|<!-- -->|</?(details|summary|code)>|<br>"
        own += r"|`[^`<>&@#$\\|]+`|\*\*|^### |> \[!WARNING\]|^> |^\|.*---.*|: |:$"
        assert not set("<>&#@`\\[]$*_~!:") & set(re.sub(own, "", text, flags=re.MULTILINE))
