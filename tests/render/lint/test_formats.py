"""Findings in the formats of GitLab, JUnit, GitHub and of comments on pull requests."""

from __future__ import annotations

import json
import re
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any
from xml.etree import ElementTree as ET

import pytest
import xmlschema
from msgspec.structs import replace

from kubectl_policy.cli import terminal
from kubectl_policy.lint.baseline import fingerprinted
from kubectl_policy.lint.report import Checkout, Report
from kubectl_policy.lint.rule import Rule
from kubectl_policy.lint.settings import LintSettings
from kubectl_policy.model import Origin, Severity
from kubectl_policy.render.lint import LINT
from kubectl_policy.render.lint.github import SUMMARY_LIMIT, github_summary, lint_github
from kubectl_policy.render.lint.markdown import LIMIT, mark, markdown
from kubectl_policy.render.output.escape import Commands
from tests.render.lint.reports import (
    CLEAN,
    EVERYTHING,
    HOSTILE,
    LIVE,
    LOST,
    MISSING,
    SCOPE,
    SMALL,
    UNREADABLE,
    UNSEEN,
    hostile,
    setting_lost,
)
from tests.render.shown import shown

if TYPE_CHECKING:
    from syrupy.assertion import SnapshotAssertion

    from kubectl_policy.lint.finding import Finding


@pytest.mark.parametrize("output", ["gitlab", "markdown", "junit", "github"])
def test_formats(output: str, snapshot: SnapshotAssertion) -> None:
    """Of all findings that count, and for GitLab of known ones, which it has to know."""
    assert shown(SMALL if output in {"junit", "github"} else EVERYTHING, output) == snapshot


def gitlab(*findings: Any, **changes: Any) -> list[dict[str, Any]]:  # noqa: ANN401 (of any type)
    found: list[dict[str, Any]] = json.loads(shown(replace(CLEAN, findings=findings, **changes), "gitlab"))
    return found


@pytest.mark.parametrize(
    ("severity", "guards", "wanted"),
    [
        ("error", False, "major"),
        ("error", True, "critical"),
        ("warning", False, "minor"),
        ("warning", True, "minor"),
        ("info", True, "info"),
    ],
)
def test_gitlab_has_severities_of_its_own(severity: Severity, *, guards: bool, wanted: str) -> None:
    rule = Rule("GWP2001", "error", setting_lost, guards=guards)
    (entry,) = gitlab(replace(LOST, severity=severity), rules=(rule,))
    assert entry["severity"] == wanted


def test_gitlab_takes_no_two_entries_with_the_same_fingerprint() -> None:
    several = (MISSING, replace(MISSING, message="another"), LOST, replace(MISSING, field="spec.x"), LIVE)
    findings = [entry["fingerprint"] for entry in gitlab(*fingerprinted(several))]
    assert len({*findings}) == len(several)
    moved = (replace(each, origin=Origin("shop.yaml", 90)) for each in several)
    assert [entry["fingerprint"] for entry in gitlab(*fingerprinted(moved))] == findings


def test_gitlab_knows_files_from_the_root_on() -> None:
    (entry,) = gitlab(replace(MISSING, origin=Origin("./a/../b.yaml", 4)))
    assert entry["location"] == {"path": "b.yaml", "lines": {"begin": 4}}
    (entry,) = gitlab(LIVE)
    assert entry["location"] == {"path": "kind-dev/infra/Gateway/public", "lines": {"begin": 1}}


def test_gitlab_gets_what_is_known_as_well() -> None:
    """It would say of what is not there any more that it is fixed."""
    assert gitlab(MISSING, known=(LOST,), scope=replace(SCOPE, since="origin/main")) == gitlab(MISSING, LOST)


def test_no_finding_is_an_empty_list_for_gitlab() -> None:
    """Write the report anyway: without one, GitLab compares nothing."""
    assert gitlab() == []


@cache
def schema() -> xmlschema.XMLSchema:
    """Read the schema of Jenkins' xUnit plugin, which is slower than all reports here; the file has its licence."""
    return xmlschema.XMLSchema(str(Path(__file__).with_name("junit-10.xsd")))


def suite(report: Report) -> ET.Element:
    """The only suite of a report that is valid."""
    text = shown(report, "junit")
    schema().validate(text)
    (finding,) = ET.fromstring(text)  # noqa: S314 (our own text)
    return finding


@pytest.mark.parametrize("report", [CLEAN, SMALL, EVERYTHING, *map(hostile, HOSTILE)])
def test_junit_is_as_its_schema_says(report: Report) -> None:
    findings = suite(report)
    tests = findings.findall("testcase")
    assert int(findings.attrib["tests"]) == len(tests)
    assert int(findings.attrib["failures"]) == len(findings.findall("testcase/failure"))
    assert int(findings.attrib["skipped"]) == len(findings.findall("testcase/skipped"))
    names = [(test.attrib["classname"], test.attrib["name"]) for test in tests]
    assert len({*names}) == len(names)
    assert all(name for _, name in names)


def test_a_rule_that_finds_nothing_is_a_test_that_passed() -> None:
    assert [test.attrib for test in suite(CLEAN)] == [
        {"classname": "GWP1001 target-not-found", "name": "nothing found"},
        {"classname": "GWP2001 setting-lost", "name": "nothing found"},
        {"classname": "GWP7001 name-odd", "name": "nothing found"},
    ]


@pytest.mark.parametrize(("fail_on", "failures"), [("never", 0), ("error", 2), ("warning", 3)])
def test_a_test_fails_of_what_lets_the_run_fail(fail_on: str, failures: int) -> None:
    findings = suite(replace(SMALL, settings=LintSettings(fail_on=fail_on)))  # type: ignore[arg-type]  # one of these
    assert len(findings.findall("testcase/failure")) == failures
    assert len(findings.findall("testcase/system-out")) == 3 - failures


def test_a_test_is_called_by_what_stays_when_lines_move() -> None:
    """Or it would be another one; the text of it says the line, and all that GitLab shows."""
    (test, *_) = suite(replace(CLEAN, findings=(MISSING,)))
    moved = suite(replace(CLEAN, findings=(replace(MISSING, origin=Origin("shop.yaml", 99)),)))[0]
    assert test.attrib == moved.attrib
    assert test.attrib["name"] == "BackendTLSPolicy shop/checkout, spec.targetRefs[0].name (shop.yaml)"
    assert (test[0].text or "").splitlines() == [
        "shop.yaml:14: BackendTLSPolicy shop/checkout: Service shop/checkot does not exist [TargetNotFound]",
        "fix: did you mean checkout?",
        "A policy targets an object that does not exist.",
    ]
    assert suite(replace(CLEAN, findings=(UNREADABLE,)))[0].attrib["name"] == "broken.yaml"
    nowhere = suite(replace(CLEAN, findings=(replace(UNREADABLE, origin=None),)))[0]
    assert nowhere.attrib["name"] == UNREADABLE.message


def test_what_does_not_count_is_skipped_for_a_reason() -> None:
    assert [each.attrib["message"] for each in suite(EVERYTHING).findall("testcase/skipped")] == [
        "could not be decided, because some of what decides it was not seen",
        "known since origin/main",
        "suppressed by annotation: on purpose",
    ]
    known = suite(replace(CLEAN, known=(LOST,)))
    assert [each.attrib["message"] for each in known.findall("testcase/skipped")] == ["known"]


def commands(report: Report) -> list[str]:
    return [line for line in lint_github(report).splitlines() if re.match("::(error|warning|notice) ", line)]


def annotation(finding: Finding, report: Report = CLEAN) -> str:
    (found,) = commands(replace(report, findings=(finding,)))
    return found


def test_an_annotation_says_where_and_what() -> None:
    """With what would fix it on a line of its own; what is in no file has no place."""
    assert annotation(MISSING) == (
        "::error file=shop.yaml,line=14,title=GWP1001 target-not-found::BackendTLSPolicy shop/checkout: "
        "Service shop/checkot does not exist [TargetNotFound]%0Afix: did you mean checkout?"
    )
    assert annotation(LIVE) == (
        "::notice title=GWP7001 name-odd::Gateway infra/public, spec.listeners[0].name: https is an odd name"
    )


def test_an_annotation_names_files_from_the_root_of_the_repository() -> None:
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
    assert lint_github(replace(CLEAN, findings=tuple(several))).count("warning GWP2001") == 12
    exactly = commands(replace(CLEAN, findings=tuple(each for each in several if each.field in {"f1", "f2"})))
    assert len(exactly) == 6
    assert not any("more finding" in line for line in exactly)


def test_a_log_without_findings_is_one_line() -> None:
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


def test_a_comment_without_findings_is_the_headline_alone() -> None:
    assert LINT.markdown(CLEAN) == (
        "<!-- kubectl-policy lint -->\n"
        "### Gateway API policies and routes\n\n"
        "**No problems in 14 objects of 5 files.**\n"
    )


@pytest.mark.parametrize(
    ("worlds", "wanted"),
    [
        ((), "<!-- kubectl-policy lint -->\n"),
        (("dev", "eu.prod"), "<!-- kubectl-policy lint dev eu.prod -->\n"),
        (("a--> b", "ü"), "<!-- kubectl-policy lint a-b - -->\n"),
    ],
)
def test_the_mark_tells_worlds_apart(worlds: tuple[str, ...], wanted: str) -> None:
    assert mark(replace(CLEAN, scope=replace(SCOPE, worlds=worlds))) == wanted


def test_what_lets_the_run_fail_stands_out() -> None:
    assert "| warning |" in LINT.markdown(SMALL)
    assert "| **warning** |" in LINT.markdown(replace(SMALL, settings=LintSettings(fail_on="warning")))


def test_a_comment_names_files_from_the_root_of_the_repository() -> None:
    report = replace(CLEAN, findings=(MISSING,), checkout=Checkout(root="/repo", folder="/repo/deploy"))
    assert "| `deploy/shop.yaml:14` |" in LINT.markdown(report)
    assert "|  | `BackendTLSPolicy" in LINT.markdown(replace(CLEAN, findings=(replace(MISSING, origin=None),)))


@pytest.mark.parametrize("limit", [1_000, 2_500, 20_000, LIMIT])
def test_whole_rows_are_left_out(limit: int) -> None:
    many = tuple(replace(LOST, message=f"m{number}", related=()) for number in range(1_000))
    text = markdown(replace(CLEAN, findings=(*many, MISSING)), limit, marked=True)
    assert len(text.encode()) <= limit
    rows = [line for line in text.split("\n") if line.startswith("| ")][2:]
    if limit > 1_000:
        assert rows[0].startswith("| **error** |")
    assert all(row.endswith(" |") for row in rows)
    assert text.endswith(f"\nNot shown for lack of room: {1_001 - len(rows)} findings.\n")


def test_one_row_does_not_take_the_place_of_all() -> None:
    """That nobody could read anyway; that something was not seen is said even if it is too long to say what."""
    long = replace(MISSING, message="m" * LIMIT, origin=Origin("a.yaml", 1))
    text = LINT.markdown(replace(SMALL, findings=(long, *SMALL.findings), unseen=(replace(UNSEEN, what="w" * LIMIT),)))
    assert text.count("| **error** |") == 2
    assert "Not everything could be seen" in text
    assert text.endswith("\nNot shown for lack of room: 1 blind spot and 1 finding.\n")
    assert len(LINT.markdown(replace(CLEAN, scope=replace(SCOPE, since="@" * LIMIT)))) < LIMIT
