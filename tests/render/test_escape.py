"""What a terminal would obey or hide is shown instead."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kubectl_policy.render.output.escape import visible


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
