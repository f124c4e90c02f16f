"""Lines laid out to a width, and text from the input made harmless."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import pytest
import yaml
from hypothesis import given
from hypothesis import strategies as st

from kubectl_policy.render.output.encoding import as_field, as_yaml
from kubectl_policy.render.output.escape import escape_commands, escape_controls
from kubectl_policy.render.output.text import Line, Segment, cells, cut, lay_out, pad, to_text
from kubectl_policy.text.configuration import read_configuration
from tests.render.shown import as_json

if TYPE_CHECKING:
    from kubectl_policy.model import Json


def test_a_name_is_never_broken() -> None:
    """A piece that is wider than the width stays in one piece."""
    line = Line((Segment("HTTPRoute baker/baker"), Segment(" ▸ Service baker/oven")), 2, 4)
    assert to_text([line], 12) == "  HTTPRoute baker/baker\n    ▸ Service baker/oven\n"


def test_prose_is_broken_at_its_spaces() -> None:
    """Only prose is, and the rest of the line stands further in."""
    line = Line((Segment("note:"), Segment(" one two three four", prose=True)), 2, 4)
    assert to_text([line], 16) == "  note: one two\n    three four\n"


def test_what_does_not_begin_with_a_space_stays_with_what_is_before() -> None:
    assert to_text([Line((Segment("aaaa"), Segment(" bbbb"), Segment(",")))], 9) == "aaaa\n    bbbb,\n"


def test_no_line_ends_in_spaces() -> None:
    assert to_text([Line((Segment("a   "),), 2), Line()], 80) == "  a\n\n"


def test_styles_survive_the_layout() -> None:
    rows = list(lay_out([Line((Segment("one two", "aside", prose=True),), 0, 2)], 4))
    assert [[span.style for span in row if span.text.strip()] for row in rows] == [["aside"], ["aside"]]


def test_text_from_the_input_is_made_visible() -> None:
    """The layout is the one place through which every text goes."""
    assert to_text([Line((Segment("a\x1b[2Jb\n"),))], 80) == "a\\x1b[2Jb\\n\n"


def test_widths_are_counted_in_cells() -> None:
    """Wide characters take two cells, combining ones none, and escapes what they are shown as."""
    assert [cells(text) for text in ("abc", "パン", "e\u0301", "\x1b")] == [3, 4, 1, 4]
    assert pad("パン", 6) == "パン  "


def test_a_long_text_is_cut_with_an_ellipsis() -> None:
    """Never in the middle of a wide character, and only if it has to be."""
    assert cut("abcdef", 6) == "abcdef"
    assert cut("abcdefg", 6) == "abcde…"
    assert cut("パンパン", 6) == "パン…"


@given(st.lists(st.text(alphabet="ab c", max_size=12), max_size=6), st.integers(min_value=1, max_value=30))
def test_laying_out_loses_nothing_but_spaces(texts: list[str], width: int) -> None:
    shown = to_text([Line(tuple(Segment(text, prose=True) for text in texts), 2, 4)], width)
    assert "".join(shown.split()) == "".join("".join(texts).split())


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
    assert escape_controls(text) == shown


@pytest.mark.parametrize("text", ["baker/oven", "[red]x[/red]", "パン屋", "größe", "a b"])
def test_plain_text_stays(text: str) -> None:
    assert escape_controls(text) == text


@given(st.text())
def test_the_result_is_always_printable(text: str) -> None:
    assert escape_controls(text).isprintable()


COMMANDS = ("::add-mask::x", "  ::error file=a::b", "a ##[add-mask]b", "##vso[task.setvariable]x", "##teamcity[x]")


@pytest.mark.parametrize("text", COMMANDS)
def test_a_ci_obeys_no_text(text: str) -> None:
    """GitHub reads commands at the start of a line, spaces aside, and older ones anywhere in it."""
    shown = escape_commands(f"fine\n{text}\nfine\n")
    assert shown != f"fine\n{text}\nfine\n"
    assert not any(line.lstrip().startswith("::") for line in shown.splitlines())
    assert "##" not in shown
    assert shown.replace("\\x3a", ":").replace("\\x23", "#") == f"fine\n{text}\nfine\n"


@pytest.mark.parametrize("text", ["a::b", "x: ::y", "## heading", "#[x]", "std::string ## [x]", "a #b"])
def test_other_text_stays_as_it_is(text: str) -> None:
    assert escape_commands(text) == text


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
    document: dict[str, Json] = {text: [text, {"::debug::": text, "n": 1, "none": None}]}
    for shown, read in ((as_json(document), json.loads), (as_yaml(document, unicode=unicode), yaml.safe_load)):
        assert escape_commands(shown) == shown
        assert read(shown) == document
    assert escape_commands(as_field(text, text, unicode=unicode)) == as_field(text, text, unicode=unicode)
