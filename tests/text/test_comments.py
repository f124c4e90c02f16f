"""Comments that are meant for this program, and what only looks like one."""

from __future__ import annotations

import pytest

from kubectl_policy.text.lines import comments_in

COMMENT = "# kubectl-policy: "


def said(text: str) -> list[tuple[int, str, range]]:
    """The comments in a text; each `#!` there stands for the beginning of one."""
    return [(each.line, each.says, each.lines) for each in comments_in(text.replace("#!", COMMENT))]


@pytest.mark.parametrize(
    "text",
    [
        "a: 1 # another comment\n",
        "a: 'x #! no'\n",
        'a: "x\n  #! no\n  "\n',
        "a: |\n  x\n  #! no\n\n  #! no\n",
        "a: >-\n  #! no",
        "- x#! no\n",
        "a: x\n#kubectl: no\n",
        '{"a": "#! no"}',
    ],
)
def test_what_is_none(text: str) -> None:
    """Is in a value, or is for somebody else."""
    assert said(text) == []


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("a: 1 #! x\n", [(1, "x", range(1, 2))]),
        ("é: 1\na: b #! x  \r\nc: d\n", [(2, "x", range(2, 3))]),
        ("a: 1\nb: | #! x\n  y\n", [(2, "x", range(2, 3))]),
        ("a: 1\nb: | #! x", [(2, "x", range(2, 3))]),
        ("a: 1\nb:\n  &b !!str #! x\n  y\n", [(3, "x", range(3, 4))]),
        ("a: 1\nb: 'y\n  #! no' #! x\n", [(3, "x", range(3, 4))]),
        ("a: 1\nb: [c, #! x\n  d] #! y\n", [(2, "x", range(2, 3)), (3, "y", range(3, 4))]),
        ("a: |\n  y\n#! x\nb: 1\n", [(3, "x", range(4, 5))]),
        ("a: 1 # http #! x\n", [(1, "x", range(1, 2))]),
        ("a: 1\n#kubectl-policy:x\nb: 2\n", [(2, "x", range(3, 4))]),
        ("a: 1 #!\n", [(1, "", range(1, 2))]),
    ],
)
def test_where_it_stands(text: str, expected: list[tuple[int, str, range]]) -> None:
    """Behind something, it is about that line; alone on a line, about the next one."""
    assert said(text) == expected


class TestAlone:
    """A comment on a line of its own."""

    def test_is_about_the_next_line_that_says_something(self) -> None:
        """Others, and empty lines, may be between."""
        text = "a: 1\n#! x\n\n  # why\n#! y\nb: 2\nc: 3\n"
        assert said(text) == [(2, "x", range(6, 7)), (5, "y", range(6, 7))]

    def test_above_an_item(self) -> None:
        """It is about the first line of the item, also behind its dash."""
        assert said("a:\n#! x\n- b: 1\n  c: 2\n- #! y\n  b: 1\n") == [(2, "x", range(3, 4)), (5, "y", range(6, 7))]

    def test_above_a_document(self) -> None:
        """It is about all of that, whether it stands in it, beside its marker, or above that."""
        first, second = "#! x\n\n# why\na: 1\nb: 2\n", "---\nc: 3\n"
        assert said(first + second) == [(1, "x", range(1, 6))]
        assert said(f"#! x\n---\n{first}{second}") == [(1, "x", range(1, 8)), (3, "x", range(2, 8))]
        assert said(f"a: 1\n#! x\n---\nb: 2\nc: 3\n{second}") == [(2, "x", range(2, 6))]
        assert said("a: 1\n--- #! x\nb: 2\n") == [(2, "x", range(2, 5))]
        assert said("a: 1\n...\n%YAML 1.1\n#! x\n---\nb: 2\n") == [(4, "x", range(3, 8))]

    def test_above_nothing(self) -> None:
        """It is about nothing."""
        assert said("a: 1\n#! x\n") == [(2, "x", range(0))]
        assert said("#! x") == [(1, "x", range(0))]


class TestWhatIsNoYaml:
    """A template, or a mistake."""

    def test_before_the_mistake(self) -> None:
        """All is as elsewhere, if the mistake is in another document anyway."""
        text = "a: '#! no' #! x\n---\nb: @ #! no\n"
        assert said(text) == [(1, "x", range(1, 2))]

    def test_behind_the_mistake(self) -> None:
        """What has a line of its own is one."""
        text = "#! top\nkind: A\nname: @x '#! no'\nspec: #! no\n  #! x\n  c: 1\n"
        assert said(text) == [(1, "top", range(1, 8)), (5, "x", range(6, 7))]

    def test_a_template(self) -> None:
        """It may look like YAML to its end."""
        text = "#! top\nkind: A\nname: {{ .y }} #! x\nspec: {}\n"
        assert said(text) == [(1, "top", range(1, 6)), (3, "x", range(3, 4))]


@pytest.mark.parametrize(
    "text",
    [f"{COMMENT}x\n" * 20_000 + "a: 1\n", f"a: x{f' {COMMENT}x' * 20_000}", f"a: 'x{f' {COMMENT}x' * 20_000}'"],
)
def test_a_great_many(text: str) -> None:
    """Are found in no time; it took minutes to count the lines above each."""
    assert sum(1 for _ in comments_in(text)) in {0, 20_000}
