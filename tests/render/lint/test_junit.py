"""JUnit: what the schema of Jenkins' xUnit plugin allows, and what GitLab and others make of it.

The schema is in `junit-10.xsd` beside this file, with its licence.
"""

from __future__ import annotations

from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING
from xml.etree import ElementTree as ET

import pytest
import xmlschema
from msgspec.structs import replace

from kubectl_policy.lint.settings import LintSettings
from kubectl_policy.model import Origin
from tests.render.lint.reports import CLEAN, EVERYTHING, HOSTILE, LOST, MISSING, SMALL, UNREADABLE, hostile
from tests.render.shown import shown

if TYPE_CHECKING:
    from syrupy.assertion import SnapshotAssertion

    from kubectl_policy.lint.report import Report


@cache
def schema() -> xmlschema.XMLSchema:
    """That of JUnit reports, which takes longer to read than all reports here."""
    return xmlschema.XMLSchema(str(Path(__file__).with_name("junit-10.xsd")))


def suite(report: Report) -> ET.Element:
    """The only suite of a report that is valid."""
    text = shown(report, "junit")
    schema().validate(text)
    (finding,) = ET.fromstring(text)  # noqa: S314 (our own text)
    return finding


def test_small(snapshot: SnapshotAssertion) -> None:
    assert shown(SMALL, "junit") == snapshot


@pytest.mark.parametrize("report", [CLEAN, SMALL, EVERYTHING, *map(hostile, HOSTILE)])
def test_it_is_as_its_schema_says(report: Report) -> None:
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
