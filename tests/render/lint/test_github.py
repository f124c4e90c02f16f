"""Annotations and the summary of a step of GitHub, within what it shows."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from msgspec.structs import replace

from kubectl_policy.cli import terminal
from kubectl_policy.lint.report import Checkout, Report
from kubectl_policy.model import Origin
from kubectl_policy.render.lint.github import SUMMARY_LIMIT, github_summary, lint_github
from kubectl_policy.render.output.escape import Commands
from tests.render.lint.reports import CLEAN, EVERYTHING, LIVE, LOST, MISSING, SMALL, UNSEEN
from tests.render.shown import shown

if TYPE_CHECKING:
    import pytest
    from syrupy.assertion import SnapshotAssertion

    from kubectl_policy.lint.finding import Finding


def commands(report: Report) -> list[str]:
    return [line for line in lint_github(report).splitlines() if re.match("::(error|warning|notice) ", line)]


def annotation(finding: Finding, report: Report = CLEAN) -> str:
    (found,) = commands(replace(report, findings=(finding,)))
    return found


def test_small(snapshot: SnapshotAssertion) -> None:
    assert shown(SMALL, "github") == snapshot


def test_an_annotation_says_where_and_what() -> None:
    """With what would fix it on a line of its own; what is in no file has no place."""
    assert annotation(MISSING) == (
        "::error file=shop.yaml,line=14,title=GWP1001 target-not-found::BackendTLSPolicy shop/checkout: "
        "Service shop/checkot does not exist [TargetNotFound]%0Afix: did you mean checkout?"
    )
    assert annotation(LIVE) == (
        "::notice title=GWP7001 name-odd::Gateway infra/public, spec.listeners[0].name: https is an odd name"
    )


def test_files_are_told_from_the_root_of_the_repository() -> None:
    report = replace(CLEAN, checkout=Checkout(root="/repo", folder="/repo/deploy"))
    assert annotation(replace(MISSING, origin=Origin("./shop,a.yaml", 1)), report).startswith(
        "::error file=deploy/shop%2Ca.yaml,line=1,"
    )
    assert annotation(replace(MISSING, origin=Origin("../50%:a.yaml", 1)), report).startswith(
        "::error file=50%25%3Aa.yaml,line=1,"
    )


def test_a_step_has_ten_annotations_of_each_severity() -> None:
    several = [replace(each, field=f"f{number}") for each in (LIVE, LOST, MISSING) for number in range(12)]
    findings = commands(replace(CLEAN, findings=tuple(several)))
    assert [line.partition(" ")[0] for line in findings] == [*["::error"] * 10, *["::warning"] * 10, *["::notice"] * 10]
    assert findings[-1] == "::notice title=kubectl policy lint::7 more findings in the log and the summary of this step"
    text = lint_github(replace(CLEAN, findings=tuple(several)))
    assert text.count("warning GWP2001") == 12
    exactly = commands(replace(CLEAN, findings=tuple(each for each in several if each.field in {"f1", "f2"})))
    assert len(exactly) == 6
    assert not any("more finding" in line for line in exactly)


def test_nothing_is_one_line() -> None:
    assert shown(CLEAN, "github") == "No problems in 14 objects of 5 files.\n"


def test_the_log_says_what_was_not_seen() -> None:
    lines = shown(EVERYTHING, "github").splitlines()
    group = lines[lines.index("::group::5 findings") : lines.index("::endgroup::")]
    assert "Could not be seen" in group
    assert lines[-1].startswith("3 errors, 1 warning and 1 info in ")
    assert lint_github(replace(CLEAN, unseen=(UNSEEN,))).splitlines()[0] == "::group::0 findings"


def test_it_is_obeyed_where_it_is_written(capsys: pytest.CaptureFixture[str]) -> None:
    made = lint_github(SMALL)
    assert isinstance(made, Commands)
    terminal.show(made, 100, coloured=False)
    assert capsys.readouterr().out == made
    terminal.show(str(made), 100, coloured=False)
    assert "\\x3a:error file=" in capsys.readouterr().out


def test_the_summary_is_markdown() -> None:
    """Without the mark of a comment, and with all findings, as far as GitHub takes it."""
    text = github_summary(EVERYTHING)
    assert text.startswith("### Gateway API policies and routes\n")
    assert "| `shop.yaml:14` |" in text
    many = tuple(replace(LOST, message="größer " * 30, field=f"f{number}") for number in range(4_000))
    long = github_summary(replace(CLEAN, findings=many))
    assert SUMMARY_LIMIT - 1_000 < len(long.encode()) <= SUMMARY_LIMIT
    assert re.search(r"\nNot shown for lack of room: \d+ findings\.\n$", long)
