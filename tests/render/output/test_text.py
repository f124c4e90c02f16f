"""Lines are laid out to a width, without tearing names apart."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from kubectl_policy.render.output.text import Line, Segment, cells, cut, lay_out, pad, to_text


def test_a_name_is_never_broken() -> None:
    """A piece that is wider than the width stays in one piece."""
    line = Line((Segment("HTTPRoute baker/baker"), Segment(" ▸ Service baker/oven")), 2, 4)
    assert to_text([line], 12) == "  HTTPRoute baker/baker\n    ▸ Service baker/oven\n"


def test_prose_is_broken_at_its_spaces() -> None:
    """Only prose is, and the rest of the line stands further in."""
    line = Line((Segment("note:"), Segment(" one two three four", prose=True)), 2, 4)
    assert to_text([line], 16) == "  note: one two\n    three four\n"


def test_what_does_not_begin_with_a_space_stays_with_what_is_before() -> None:
    """Punctuation after a name is not torn off."""
    assert to_text([Line((Segment("aaaa"), Segment(" bbbb"), Segment(",")))], 9) == "aaaa\n    bbbb,\n"


def test_no_line_ends_in_spaces() -> None:
    """Columns are filled up, line ends are not."""
    assert to_text([Line((Segment("a   "),), 2), Line()], 80) == "  a\n\n"


def test_styles_survive_the_layout() -> None:
    """A broken span keeps its style on every line."""
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
    """Whatever the width, every letter is there, in its order."""
    shown = to_text([Line(tuple(Segment(text, prose=True) for text in texts), 2, 4)], width)
    assert "".join(shown.split()) == "".join("".join(texts).split())
