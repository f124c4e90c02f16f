"""Lines and tables: their layout, what is cut, and text from the input made harmless."""

from __future__ import annotations

import json
import time
from typing import TYPE_CHECKING

import pytest
import yaml
from hypothesis import given
from hypothesis import strategies as st

from kubectl_policy.render.output.columns import Column, Number, Sentence, Table, aligned, number, text_of
from kubectl_policy.render.output.encoding import as_field, as_yaml
from kubectl_policy.render.output.escape import escape_commands, escape_controls
from kubectl_policy.render.output.text import Line, Segment, View, cells, cut, lay_out, pad, to_text
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


TERMINAL = View(width=40, terminal=True)


def test_nothing_is_no_line() -> None:
    assert aligned([]) == []


def test_columns_are_three_spaces_apart() -> None:
    assert aligned([("A", "B"), ("long", ""), ("x", "y")]) == ["A      B", "long   <none>", "x      y"]


def test_wide_characters_count_twice() -> None:
    assert aligned([("A", "B"), ("パン", "x")]) == ["A      B", "パン   x"]


def test_one_absurd_cell_does_not_widen_every_line() -> None:
    """It is shown whole, and only its own line is as long."""
    assert [len(line) for line in aligned([("x" * 100_000, "a"), ("y", "b")])] == [100_004, 204]
    assert len(aligned([("パ" * 1_000, "a"), ("y", "b")])[1]) == 204


def test_no_cell_can_control_a_terminal() -> None:
    assert aligned([("\x1b[2J\n", "\u202e")]) == ["\\x1b[2J\\n   \\u202e"]


def test_a_number_that_may_be_higher_says_so() -> None:
    assert (number(0), number(0, complete=False)) == (Number(0, "0"), Number(0, "0+"))
    assert text_of(number(3, complete=False), whole=False) == "3+"


def test_of_several_entries_the_first_are_shown() -> None:
    """With the number of the rest, where not all are wanted."""
    assert text_of("a", whole=False, limit=1) == "a"
    assert text_of((), whole=False, limit=1) == ""
    assert text_of(("a", "b"), whole=False, limit=2) == "a, b"
    assert text_of(("a", "b", "c", "d"), whole=False, limit=2) == "a, b, 2 more"
    assert text_of(("a", "b", "c", "d"), whole=False) == "a, b, c, d"
    assert text_of(("a", "b", "c", "d"), whole=True, limit=1) == "a, b, c, d"


def test_a_sentence_is_shortened_between_words() -> None:
    """Never within one, and the first one stays; what is brief is enough unless everything is wanted."""
    sentence = Sentence("listener https-internal takes routes of its own namespace alone")
    assert text_of(sentence, whole=False) == sentence.text
    assert text_of(sentence, whole=True, room=3) == sentence.text
    assert text_of(sentence, whole=False, room=26) == "listener https-internal …"
    assert text_of(sentence, whole=False, room=24) == "listener …"
    assert text_of(sentence, whole=False, room=1) == "listener …"
    assert text_of(Sentence("long words", "brief"), whole=False) == "brief"
    assert text_of(Sentence("long words", "brief"), whole=True) == "long words"


def test_ten_thousand_lines_take_no_time() -> None:
    """Thirty milliseconds or so; the limit leaves room for a busy machine."""
    lines = [(f"team-{n % 300}", f"route-{n}", "RetryPolicy.example.io", "Enforced", "2") for n in range(10_000)]
    started = time.process_time()
    assert len(aligned(lines)) == 10_000
    assert time.process_time() - started < 0.5


def test_no_rows_have_no_header() -> None:
    columns: tuple[Column[str], ...] = (Column("A", str),)
    assert Table(columns, []).text(View(), wide=False) == ""
    assert Table(columns, []).document(View(), wide=False) == ()


def test_columns_are_as_wide_as_their_widest_cell() -> None:
    columns: tuple[Column[str], ...] = (Column("A", str), Column("B", lambda _: ""), Column("C", lambda _: "x"))
    assert Table(columns, ["パン"]).text(View(), wide=False) == "A      B        C\nパン   <none>   x\n"
    assert Table(columns, ["パン"]).text(View(headers=False), wide=False) == "パン   <none>   x\n"


WORDS = "nothing that it could affect is attached"
COLUMNS: tuple[Column[str], ...] = (
    Column("NAME", str, style=lambda _: "value"),
    Column("AFFECTS", lambda _: number(3), rank=3),
    Column("REASON", lambda _: Sentence(WORDS), rank=1),
    Column("TARGETS", lambda _: ("Gateway a", "Gateway b", "Gateway c"), rank=2),
    Column("MORE", lambda _: "more", narrow=False),
)
TABLE = Table(COLUMNS, ["n", "m"])


@pytest.mark.parametrize(
    ("width", "last"),
    [
        (92, f"m      3         {WORDS}   Gateway a, Gateway b, Gateway c"),
        (90, f"m      3         {WORDS}   Gateway a, Gateway b, 1 more"),
        (83, f"m      3         {WORDS}   Gateway a, 2 more"),
        (75, "m      3         nothing that it could affect is …   Gateway a, 2 more"),
        (55, "m      3         nothing that it …   Gateway a, 2 more"),
        (50, "m      nothing that it could …   Gateway a, 2 more"),
        (29, "m      nothing that it …"),
        (20, "m      3"),
        (13, "m"),
        (2, "m"),
    ],
)
def test_a_terminal_gets_what_it_has_room_for(width: int, last: str) -> None:
    """Entries are shortened first, then sentences, then columns are left out; no row is continued on the next line."""
    *rows, remark = TABLE.text(View(width=width, terminal=True), wide=False).splitlines()
    rows += [] if remark.startswith("(") else [remark]
    assert rows[-1] == last
    assert len(rows) == 3
    assert max(map(cells, rows)) <= max(width, len("NAME"))


def test_what_is_left_out_is_said() -> None:
    """With the option that shows it; nowhere else than at a terminal, and not where everything is wanted."""
    remark = "(no room for AFFECTS, REASON, TARGETS: --show-all shows everything)"
    assert TABLE.text(View(width=9, terminal=True), wide=False).splitlines()[-1] == remark
    remark = "(REASON, TARGETS shortened: --show-all shows everything)"
    assert TABLE.text(View(width=60, terminal=True), wide=False).splitlines()[-1] == remark
    for view in (View(width=9), View(width=9, terminal=True, everything=True)):
        assert TABLE.text(view, wide=False).splitlines()[-1].endswith("Gateway a, Gateway b, Gateway c")
    assert TABLE.text(TERMINAL, wide=True).splitlines()[-1].endswith("Gateway a, Gateway b, Gateway c   more")


def test_a_row_has_its_styles() -> None:
    """A span for each cell with the gap behind it, so that a row stays in one piece; the same text as without."""
    for view in (View(width=45, terminal=True), View(), View(headers=False)):
        assert to_text(TABLE.document(view, wide=False), 200) == TABLE.text(view, wide=False)
    assert TABLE.document(View(width=29, terminal=True), wide=False)[1] == Line(
        (Segment("n      ", "value"), Segment("nothing that it …   "))
    )
