"""What a terminal would obey or hide is shown instead."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import pytest
import yaml
from hypothesis import given
from hypothesis import strategies as st

from kubectl_policy.render.output.encoding import as_field, as_yaml
from kubectl_policy.render.output.escape import uncommanding, visible
from kubectl_policy.text.configuration import read_configuration
from tests.render.shown import as_json

if TYPE_CHECKING:
    from kubectl_policy.model import Json


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("\x1b[31mred", "\\x1b[31mred"),
        ("a\nb\tc\rd", "a\\nb\\tc\\rd"),
        ("\x9b31m", "\\x9b31m"),
        ("abc\u202ecba", "abc\\u202ecba"),
        ("zero\u200bwidth", "zero\\u200bwidth"),
        ("\ud800", "\\ud800"),
        ("\U000e0001", "\\U000e0001"),
        ("no\xa0break", "no\\xa0break"),
    ],
)
def test_what_is_not_plain_text_is_written_out(text: str, shown: str) -> None:
    """Control characters, bidirectional controls, invisible and unpaired characters."""
    assert visible(text) == shown


@pytest.mark.parametrize("text", ["baker/oven", "[red]x[/red]", "パン屋", "größe", "a b"])
def test_plain_text_stays(text: str) -> None:
    """Letters of every script, spaces and what Rich would take for markup."""
    assert visible(text) == text


@given(st.text())
def test_the_result_is_always_printable(text: str) -> None:
    """Whatever goes in, nothing comes out that a terminal would act on."""
    assert visible(text).isprintable()


COMMANDS = ("::add-mask::x", "  ::error file=a::b", "a ##[add-mask]b", "##vso[task.setvariable]x", "##teamcity[x]")


@pytest.mark.parametrize("text", COMMANDS)
def test_a_ci_obeys_no_text(text: str) -> None:
    """GitHub reads commands at the start of a line, spaces aside, and older ones anywhere in it."""
    shown = uncommanding(f"fine\n{text}\nfine\n")
    assert shown != f"fine\n{text}\nfine\n"
    assert not any(line.lstrip().startswith("::") for line in shown.splitlines())
    assert "##" not in shown
    assert shown.replace("\\x3a", ":").replace("\\x23", "#") == f"fine\n{text}\nfine\n"


@pytest.mark.parametrize("text", ["a::b", "x: ::y", "## heading", "#[x]", "std::string ## [x]", "a #b"])
def test_other_text_stays_as_it_is(text: str) -> None:
    """Only what would be obeyed is written out."""
    assert uncommanding(text) == text


@pytest.mark.parametrize(
    "text", ["n", "Y", "on", "1e3", "0o7", "+1", ".5", "1_0", "~", "null", "", "1.0", "2020-01-01"]
)
def test_text_stays_text_for_kubectl(text: str) -> None:
    """It takes more for truth values and numbers than PyYAML does."""
    written = as_yaml({text or "empty": [text]}, unicode=True)
    assert read_configuration(written, "f.yaml", "").value == {text or "empty": [text]}


@pytest.mark.parametrize("text", [*COMMANDS, "one\n::add-mask::x\nthree", "größe\u202e\n\n::stop-commands::x"])
@pytest.mark.parametrize("unicode", [False, True])
def test_a_ci_obeys_no_document(text: str, unicode: bool) -> None:  # noqa: FBT001 (a parameter)
    """And it is the same document for all others."""
    document: dict[str, Json] = {text: [text, {"::debug::": text, "n": 1, "none": None}]}
    for shown, read in ((as_json(document), json.loads), (as_yaml(document, unicode=unicode), yaml.safe_load)):
        assert uncommanding(shown) == shown
        assert read(shown) == document
    assert uncommanding(as_field(text, text, unicode=unicode)) == as_field(text, text, unicode=unicode)
