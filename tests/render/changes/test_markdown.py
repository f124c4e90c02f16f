"""Differences as a comment on a pull request: what is in it, how long it is, and that names are nothing but names."""

from __future__ import annotations

import html
import re
from typing import TYPE_CHECKING

import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec.structs import replace

from kubectl_policy.questions.blind_spots.unknowns import BlindSpot
from kubectl_policy.questions.diff import ProblemChanges
from kubectl_policy.questions.differences.relations import EnforcementChange
from kubectl_policy.render.changes.rows import LIMIT, diff_markdown, markdown
from kubectl_policy.render.output.escape import inert, visible
from tests import build
from tests.render.changes.differences import GAP, change, difference, field, hostile, routes, without

if TYPE_CHECKING:
    from syrupy.assertion import SnapshotAssertion

    from kubectl_policy.questions.diff import StateDiff

HOSTILE = [
    "a|b",
    "`code`",
    "``` fence",
    "line\nbreak\r\n\n# heading",
    "</details></summary><script>alert(1)</script>",
    "<!-- comment",
    "-->",
    "@everyone",
    "@org/team",
    "me@example.com",
    "#123",
    "owner/repo#1",
    "GH-26",
    "[a](https://example.com)",
    "![a](https://example.com/a.png)",
    "https://example.com",
    "www.example.com",
    "<https://example.com>",
    "mailto:a@example.com",
    "**bold** _it_ ~~no~~",
    ":tada:",
    "$x$",
    "&lt;b&gt;&#64;x",
    "\\|\\`\\",
    "> [!NOTE]",
    "- [ ] task",
    "\x1b[31mred\x00",
    "\u202egnp.exe\u2066",
    "größe 日本",
    "",
    " ",
]
# What may stand in a text from the input: letters, digits, spaces, the punctuation of sentences, references, and our
# own empty comments.
INERT = re.compile(r"(?:[A-Za-z0-9 ,/.();%?\"'→·-]|: |:$|[^\W\d_]|&#[0-9]+;|<!-- -->)*")
ROWS = 6


def comment(found: StateDiff, limit: int = LIMIT) -> str:
    """The comment with its own headline."""
    return diff_markdown(found, limit)


def rows(text: str) -> list[str]:
    """The rows of all tables, without their headers."""
    lines = text.splitlines()
    heads = {place for place, line in enumerate(lines) if set(line) <= set("| -") and "---" in line}
    return [line for place, line in enumerate(lines) if line[:1] == "|" and not {place, place + 1} & heads]


def test_a_comment(snapshot: SnapshotAssertion) -> None:
    """The headline, what was not seen, and the tables."""
    found = without("Gateway infra/internal").difference
    assert comment(replace(found, unseen=(GAP,))) == snapshot


def test_nothing_is_the_headline_alone() -> None:
    """Unless something was not seen."""
    title = "### Effects on traffic and policies\n\n"
    assert comment(difference()) == f"{title}**Nothing changes in what policies do.**\n"
    text = comment(difference(unseen=(GAP,)))
    assert text.splitlines()[3:5] == ["", "> [!WARNING]"]
    assert text.splitlines()[-1] == "> - file bad.yaml: broken (fix it)"


def test_what_is_relevant_to_security_stands_out() -> None:
    """As markup of ours."""
    (row,) = rows(comment(difference(effects=(change(field("a", None, security=True), nodes=routes(8)),))))
    assert row.startswith("| **lost** (security) | ")
    assert "`HTTPRoute default/r4` and 3 more |" in row
    assert "| *nothing* |" in row


@pytest.mark.parametrize("text", HOSTILE)
def test_a_hostile_text_is_text(text: str) -> None:
    """It comes out as it went in, and as nothing else."""
    found = inert(text)
    assert INERT.fullmatch(found)
    assert html.unescape(found.replace("<!-- -->", "")) == visible(text)


@pytest.mark.parametrize("text", ["@a", "#1", "a#1", "GH-1", "www.a", "http://a", ":a:", "$a$"])
def test_what_github_looks_for_afterwards_is_taken_apart(text: str) -> None:
    """References become characters before it looks; a comment does not."""
    assert text not in html.unescape(inert(text))


@pytest.mark.parametrize("text", HOSTILE)
def test_a_hostile_name_changes_no_structure(text: str) -> None:
    """A row for each thing, whatever it is called."""
    _as_expected(hostile(text))


@given(st.text(max_size=60) | st.text(alphabet="|`\n\\<>@#[]()&;-:$*_~! a1", max_size=60))
def test_no_name_changes_the_structure(text: str) -> None:
    """Nor any other text."""
    assert INERT.fullmatch(inert(text))
    _as_expected(hostile(text))


def _as_expected(found: StateDiff) -> None:
    text = comment(found)
    plain = comment(hostile("x"))
    assert len(rows(text)) == len(rows(plain)) == ROWS
    assert [row.count("|") for row in rows(text)] == [row.count("|") for row in rows(plain)]
    assert len(text.splitlines()) == len(text.split("\n")) - 1 == len(plain.splitlines())
    assert text.count("<details>") == text.count("</details>") == ROWS
    # Without references, what is ours, and the lines that are the same in every comment, no special is left.
    own = r"&#[0-9]+;|<!-- -->|</?details>|</?summary>|</?code>|`[^`<>&@#$\\|]+`|\*nothing\*|\*\*|^### "
    own += r"|> \[!WARNING\]|^> |:$|: |^\|.*---.*"
    assert not set("<>&#@`\\[]$*_~!:") & set(re.sub(own, "", text, flags=re.MULTILINE))


@pytest.mark.parametrize("limit", [0, 2_000, 2_500, 5_000, 20_000, LIMIT])
def test_whole_rows_are_left_out(limit: int) -> None:
    """From the end of the least important tables, and the last line says how many."""
    effects = tuple(change(field("a", None, f"f{number}"), nodes=routes(3)) for number in range(90))
    policies = [build.ref("ColorPolicy", f"p{number}", group="example.com") for number in range(90)]
    force = tuple(EnforcementChange(policy=policy, before="Enforced", after="NoEffect", by=()) for policy in policies)
    found = difference(effects=effects, enforcement=force)
    text, whole = comment(found, limit), rows(comment(found, 10**9))
    assert len(text) <= max(limit, 2_000)
    shown = rows(text)
    assert shown == whole[: len(shown)]
    assert len(shown) > 1
    missing = len(whole) - len(shown)
    last = text.splitlines()[-1]
    assert last.startswith("Not shown for lack of room: ") is bool(missing)
    if missing:
        assert sum(map(int, re.findall(r"(\d+) (?:setting|polic)", last))) == missing
        assert last.endswith("The output of `-o json` has everything.")


def test_one_row_that_is_too_long_is_left_out_alone() -> None:
    """It must not take all others with it; nor must a headline."""
    huge = "x" * 70_000
    effects = (change(field(huge, None)), change(field("a", "b")))
    text = comment(difference(effects=effects))
    assert len(rows(text)) == 1
    assert text.endswith("\nNot shown for lack of room: 1 setting. The output of `-o json` has everything.\n")
    assert markdown(difference(), "x", huge, LIMIT).startswith(
        "### x\n\n**What changes cannot be said in one short sentence.**"
    )


def test_that_something_was_not_seen_is_said_in_any_case() -> None:
    """Before the tables, and even if there is no room for what it was."""
    unseen = tuple(BlindSpot(what=f"thing {number}" * 20, reason="unread", remedy="read it") for number in range(400))
    text = comment(difference(effects=(change(field(1, 2)),), unseen=unseen), 5_000)
    assert len(text) <= 5_000
    assert text.index("> [!WARNING]") < text.index("Not shown for lack of room: ")
    assert re.search(r"room: \d+ unseen things and 1 setting\.", text)
    (alone,) = (BlindSpot(what="x" * 50_000, reason="unread", remedy=""),)
    assert "> [!WARNING]" in comment(difference(unseen=(alone,)))


def test_the_order_is_stable() -> None:
    """The same difference is the same comment, with the tables in the order of their importance."""
    found = hostile("x")
    assert comment(found) == comment(found)
    assert re.findall(r"<summary>(.*) \(", comment(found)) == [
        "Settings",
        "Targets of policies",
        "Parents of routes",
        "Whether policies have an effect",
        "Problems introduced",
        "Problems fixed",
    ]
    assert "Problems" not in comment(replace(found, problems=ProblemChanges(introduced=(), fixed=(), unchanged=())))
