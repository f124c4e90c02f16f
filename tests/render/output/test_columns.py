"""Columns: aligned, harmless, and counts that say what they do not know."""

from __future__ import annotations

import time

from kubectl_policy.render.output.columns import Column, Number, Table, aligned, number, text_of


def test_nothing_is_no_line() -> None:
    """Not even an empty one."""
    assert aligned([]) == []


def test_columns_are_three_spaces_apart() -> None:
    """As wide as their widest cell; empty cells are named, and nothing stands behind the last one."""
    assert aligned([("A", "B"), ("long", ""), ("x", "y")]) == ["A      B", "long   <none>", "x      y"]


def test_wide_characters_count_twice() -> None:
    """As a terminal shows them."""
    assert aligned([("A", "B"), ("パン", "x")]) == ["A      B", "パン   x"]


def test_one_absurd_cell_does_not_widen_every_line() -> None:
    """It is shown whole, and only its own line is as long."""
    lines = aligned([("x" * 100_000, "a"), ("y", "b")])
    assert [len(line) for line in lines] == [100_004, 204]
    assert len(aligned([("パ" * 1_000, "a"), ("y", "b")])[1]) == 204


def test_no_cell_can_control_a_terminal() -> None:
    """Nor break its line."""
    assert aligned([("\x1b[2J\n", "\u202e")]) == ["\\x1b[2J\\n   \\u202e"]


def test_a_number_that_may_be_higher_says_so() -> None:
    """Unknown is not none."""
    assert (number(0), number(0, complete=False)) == (Number(0, "0"), Number(0, "0+"))
    assert text_of(number(3, complete=False), whole=False) == "3+"


def test_of_several_entries_the_first_are_shown() -> None:
    """With the number of the rest, unless all are wanted."""
    assert text_of("a", whole=False) == "a"
    assert text_of((), whole=False) == ""
    assert text_of(("a", "b"), whole=False) == "a, b"
    assert text_of(("a", "b", "c", "d"), whole=False) == "a, b + 2 more"
    assert text_of(("a", "b", "c", "d"), whole=True) == "a, b, c, d"


def test_ten_thousand_lines_take_no_time() -> None:
    """Thirty milliseconds or so; the limit leaves room for a busy machine."""
    lines = [(f"team-{n % 300}", f"route-{n}", "RetryPolicy.example.io", "Enforced", "2") for n in range(10_000)]
    started = time.process_time()
    assert len(aligned(lines)) == 10_000
    assert time.process_time() - started < 0.5


def test_no_rows_have_no_header() -> None:
    """An empty table is empty, as kubectl prints it."""
    columns: tuple[Column[str], ...] = (Column("A", str),)
    assert Table(columns, []).text(wide=False) == ""


def test_columns_are_as_wide_as_their_widest_cell() -> None:
    """Three spaces apart, wide characters counted twice, empty cells named."""
    columns: tuple[Column[str], ...] = (Column("A", str), Column("B", lambda _: ""), Column("C", lambda _: "x"))
    assert Table(columns, ["パン"]).text(wide=False) == "A      B        C\nパン   <none>   x\n"
    assert Table(columns, ["パン"]).text(wide=False, headers=False) == "パン   <none>   x\n"
