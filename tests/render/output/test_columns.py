"""Columns: aligned, harmless, and counts that say what they do not know."""

from __future__ import annotations

import time

import pytest

from kubectl_policy.render.output.columns import Column, Number, Sentence, Table, aligned, number, text_of
from kubectl_policy.render.output.text import Line, Segment, View, cells, to_text

TERMINAL = View(width=40, terminal=True)


def test_nothing_is_no_line() -> None:
    assert aligned([]) == []


def test_columns_are_three_spaces_apart() -> None:
    assert aligned([("A", "B"), ("long", ""), ("x", "y")]) == ["A      B", "long   <none>", "x      y"]


def test_wide_characters_count_twice() -> None:
    assert aligned([("A", "B"), ("パン", "x")]) == ["A      B", "パン   x"]


def test_one_absurd_cell_does_not_widen_every_line() -> None:
    """It is shown whole, and only its own line is as long."""
    lines = aligned([("x" * 100_000, "a"), ("y", "b")])
    assert [len(line) for line in lines] == [100_004, 204]
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
        lines = TABLE.document(view, wide=False)
        assert to_text(lines, 200) == TABLE.text(view, wide=False)
    assert TABLE.document(View(width=29, terminal=True), wide=False)[1] == Line(
        (Segment("n      ", "value"), Segment("nothing that it …   "))
    )
