"""Differences as rows of tables, and as comments in Markdown."""

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
from kubectl_policy.questions.differences.relations import EnforcementChange, ParentChange
from kubectl_policy.render.changes.rows import LIMIT, diff_markdown, markdown
from kubectl_policy.render.output.escape import escape_controls, escape_markup
from tests import build
from tests.render.changes.differences import (
    GAP,
    OTHER,
    POLICY,
    ROUTE,
    change,
    difference,
    field,
    hostile,
    routes,
    valued,
    without,
)
from tests.render.shown import shown

if TYPE_CHECKING:
    from syrupy.assertion import SnapshotAssertion

    from kubectl_policy.questions.diff import StateDiff


def lines(state_diff: StateDiff, *, wide: bool = False) -> list[list[str]]:
    text = shown(state_diff, "wide" if wide else "table").splitlines()
    return [[cell.strip() for cell in line.split("   ") if cell.strip()] for line in text[1:]]


def test_rows_of_the_bakery(snapshot: SnapshotAssertion) -> None:
    state_diff = without("Gateway infra/internal").difference
    assert shown(state_diff, "table") == snapshot
    assert shown(state_diff, "wide") == snapshot


def test_nothing_is_no_table() -> None:
    assert [shown(difference(), name) for name in ("table", "wide", "name")] == ["", "", ""]


def test_a_row_for_each_field() -> None:
    """With one word to search for, and who sets what is after, or else what was before."""
    other = replace(field("a", None), after=valued("b", build.ref("ColorPolicy", "q", group="example.com")))
    fields = [field("red", None, security=True), other, field(None, [1], "list", security=True)]
    state_diff = difference(effects=(change(*fields, nodes=routes(3), where="kept"),))
    rows = lines(state_diff)
    assert [row[0] for row in rows] == ["lost!", "changed", "gained!"]
    assert [row[3:5] for row in rows] == [["red", "<none>"], ["a", "b"], ["<none>", "[1]"]]
    assert [row[5].partition(" → ")[0] for row in rows] == [str(POLICY), "ColorPolicy default/q", str(POLICY)]
    assert {(row[6], row[7]) for row in rows} == {("3", "3 kept")}
    assert lines(state_diff, wide=True)[0][8] == ", ".join(str(node) for node in routes(3))


def test_a_policy_that_others_beat_than_before() -> None:
    """Its state is the same, and that is not what the row is about."""
    same = EnforcementChange(
        policy=POLICY, before="PartiallyEnforced", after="PartiallyEnforced", by=(), by_before=(OTHER,)
    )
    (row,) = lines(difference(enforcement=(same,)), wide=True)
    assert row[3:5] == ["overridden by ColorPolicy default/q", "overridden by none"]
    assert row[-1] == "PartiallyEnforced as before"


def test_a_removed_field_is_not_an_empty_one() -> None:
    """It has a value that says so."""
    gone = replace(field("red", None), after=replace(valued(None), removed=True))
    assert lines(difference(effects=(change(gone),)))[0][4] == "<removed>"


def test_one_word_for_each_relation() -> None:
    """So that `grep detached` finds it."""
    labels = [row[0] for row in lines(without("Gateway infra/internal").difference)]
    assert {*labels} == {"ended", "reduced", "lost", "detached", "enforcement", "problem"}
    assert [row[0] for row in lines(without("RetryPolicy baker/wedding").difference)] == [
        "reference",
        "enforcement",
        "fixed",
    ]


def test_what_becomes_of_a_parent_may_be_unknown() -> None:
    gateway = build.node("Gateway", "g")
    parents = (
        ParentChange(route=ROUTE.object, parent=gateway, before="attached", after="unknown", message="not read"),
        ParentChange(route=ROUTE.object, parent=gateway, before="refused", after="attached", message=""),
        ParentChange(route=ROUTE.object, parent=gateway, before=None, after="refused", message="no"),
    )
    assert [row[0] for row in lines(difference(parents=parents))] == ["unknown", "attached", "reference"]


def test_a_hostile_name_stays_in_its_row() -> None:
    state_diff = hostile("a\nb\x1b[31m\u202e")
    for wide in (False, True):
        text = shown(state_diff, "wide" if wide else "table")
        assert len(text.splitlines()) == 7
        assert all(map(str.isprintable, text.splitlines()))
    assert all(map(str.isprintable, shown(state_diff, "name").splitlines()))


def test_names_are_there_once() -> None:
    state_diff = difference(effects=(change(field(1, 2)), change(field(1, None), nodes=[ROUTE, *routes(1)])))
    assert shown(state_diff, "name").splitlines() == [
        "httproute.gateway.networking.k8s.io/r",
        "httproute.gateway.networking.k8s.io/r0",
    ]


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


def comment(state_diff: StateDiff, limit: int = LIMIT) -> str:
    return diff_markdown(state_diff, limit)


def rows(text: str) -> list[str]:
    lines = text.splitlines()
    heads = {index for index, line in enumerate(lines) if set(line) <= set("| -") and "---" in line}
    return [line for index, line in enumerate(lines) if line[:1] == "|" and not {index, index + 1} & heads]


def test_a_comment(snapshot: SnapshotAssertion) -> None:
    assert comment(replace(without("Gateway infra/internal").difference, unseen=(GAP,))) == snapshot


def test_nothing_is_the_headline_alone() -> None:
    """Unless something was not seen."""
    title = "### Effects on traffic and policies\n\n"
    assert comment(difference()) == f"{title}**Nothing changes in what policies do.**\n"
    text = comment(difference(unseen=(GAP,)))
    assert text.splitlines()[3:5] == ["", "> [!WARNING]"]
    assert text.splitlines()[-1] == "> - file bad.yaml: broken (fix it)"


def test_what_is_relevant_to_security_stands_out() -> None:
    (row,) = rows(comment(difference(effects=(change(field("a", None, security=True), nodes=routes(8)),))))
    assert row.startswith("| **lost** (security) | ")
    assert "`HTTPRoute default/r4` and 3 more |" in row
    assert "| *nothing* |" in row


@pytest.mark.parametrize("text", HOSTILE)
def test_a_hostile_text_is_text(text: str) -> None:
    state_diff = escape_markup(text)
    assert INERT.fullmatch(state_diff)
    assert html.unescape(state_diff.replace("<!-- -->", "")) == escape_controls(text)


@pytest.mark.parametrize("text", ["@a", "#1", "a#1", "GH-1", "www.a", "http://a", ":a:", "$a$"])
def test_what_github_looks_for_afterwards_is_taken_apart(text: str) -> None:
    """References become characters before it looks; a comment does not."""
    assert text not in html.unescape(escape_markup(text))


@pytest.mark.parametrize("text", HOSTILE)
def test_a_hostile_name_changes_no_structure(text: str) -> None:
    _as_expected(hostile(text))


@given(st.text(max_size=60) | st.text(alphabet="|`\n\\<>@#[]()&;-:$*_~! a1", max_size=60))
def test_no_name_changes_the_structure(text: str) -> None:
    assert INERT.fullmatch(escape_markup(text))
    _as_expected(hostile(text))


def _as_expected(state_diff: StateDiff) -> None:
    text = comment(state_diff)
    plain = comment(hostile("x"))
    assert len(rows(text)) == len(rows(plain)) == ROWS
    assert [row.count("|") for row in rows(text)] == [row.count("|") for row in rows(plain)]
    assert len(text.splitlines()) == len(text.split("\n")) - 1 == len(plain.splitlines())
    assert text.count("<details>") == text.count("</details>") == ROWS
    # Without references, what is ours, and the lines that are the same in every comment, no special is left.
    markup = r"&#[0-9]+;|<!-- -->|</?details>|</?summary>|</?code>|`[^`<>&@#$\\|]+`|\*nothing\*|\*\*|^### "
    markup += r"|> \[!WARNING\]|^> |:$|: |^\|.*---.*"
    assert not set("<>&#@`\\[]$*_~!:") & set(re.sub(markup, "", text, flags=re.MULTILINE))


@pytest.mark.parametrize("limit", [0, 2_000, 2_500, 5_000, 20_000, LIMIT])
def test_whole_rows_are_left_out(limit: int) -> None:
    """From the end of the least important tables, and the last line says how many."""
    effects = tuple(change(field("a", None, f"f{number}"), nodes=routes(3)) for number in range(90))
    policies = [build.ref("ColorPolicy", f"p{number}", group="example.com") for number in range(90)]
    force = tuple(EnforcementChange(policy=policy, before="Enforced", after="NoEffect", by=()) for policy in policies)
    state_diff = difference(effects=effects, enforcement=force)
    text, whole = comment(state_diff, limit), rows(comment(state_diff, 10**9))
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
    assert re.search(r"room: \d+ blind spots and 1 setting\.", text)
    (alone,) = (BlindSpot(what="x" * 50_000, reason="unread", remedy=""),)
    assert "> [!WARNING]" in comment(difference(unseen=(alone,)))


def test_the_order_is_stable() -> None:
    state_diff = hostile("x")
    assert comment(state_diff) == comment(state_diff)
    assert re.findall(r"<summary>(.*) \(", comment(state_diff)) == [
        "Settings",
        "Targets of policies",
        "Parents of routes",
        "Whether policies have an effect",
        "Problems introduced",
        "Problems fixed",
    ]
    assert "Problems" not in comment(
        replace(state_diff, problems=ProblemChanges(introduced=(), fixed=(), unchanged=()))
    )
