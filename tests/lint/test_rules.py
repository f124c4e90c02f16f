"""Every rule has worlds in which it finds something and nothing; settings select rules; reports count findings."""

from __future__ import annotations

import re
from datetime import UTC, date, datetime
from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec.structs import replace

from kubectl_policy.lint.finding import Finding
from kubectl_policy.lint.report import Report, Scope, Suppressed
from kubectl_policy.lint.rule import Rule
from kubectl_policy.lint.rules import RULES
from kubectl_policy.lint.settings import LintSettings, Threshold
from kubectl_policy.questions.blind_spots.unknowns import BlindSpot
from tests import build
from tests.lint.rule_worlds import found_by, right_world, wrong_world

if TYPE_CHECKING:
    from kubectl_policy.model import Severity

every_rule = pytest.mark.parametrize("rule", RULES, ids=lambda rule: rule.name)


@pytest.mark.unmeasured
@every_rule
def test_finds_nothing_where_all_is_right(rule: Rule) -> None:
    assert [finding.message for finding in found_by(rule, right_world(rule))] == []


@every_rule
def test_finds_what_is_wrong(rule: Rule) -> None:
    findings = [finding for finding in found_by(rule, wrong_world(rule)) if finding.certain]
    assert findings
    for finding in findings:
        assert finding.message
        assert finding.origin


@pytest.mark.unmeasured
@every_rule
def test_is_not_certain_where_something_may_be_elsewhere(rule: Rule) -> None:
    findings = found_by(rule, wrong_world(rule), complete=False)
    if "closed world" in rule.needs:
        assert findings
        assert [finding.message for finding in findings if finding.certain] == []
    else:
        assert [finding for finding in findings if finding.certain]


@every_rule
def test_says_what_it_is_about(rule: Rule) -> None:
    assert re.fullmatch(r"GWP\d{4}", rule.id)
    assert re.fullmatch(r"[a-z0-9]+(-[a-z0-9]+)*", rule.name)
    assert rule.summary.endswith(".")
    assert len(rule.explanation) > 80
    assert "Source: " in rule.explanation


def test_ids_and_names_are_each_given_once() -> None:
    assert len({rule.id for rule in RULES}) == len({rule.name for rule in RULES}) == len(RULES)
    assert [rule.id for rule in RULES] == sorted(rule.id for rule in RULES)


BY_ID = {rule.id: rule for rule in RULES}
FIRST, UNKNOWN = BY_ID["GWP1001"], BY_ID["GWP0008"]
BLINDING = {rule.id for rule in RULES if rule.blinds}
ALWAYS = {UNKNOWN.id, *BLINDING}


def checked(**settings: Any) -> set[str]:  # noqa: ANN401 (of any type)
    """The ids of rules that are checked."""
    return {rule.id for rule in RULES if rule.is_checked(LintSettings(**settings))}


@pytest.mark.parametrize("name", ["GWP1001", "target-not-found", "GWP1", "GWP", "GWP100"])
def test_names_of_a_rule(name: str) -> None:
    assert FIRST.is_called(name)


@pytest.mark.parametrize("name", ["", "GWP2", "GWP10011", "target", "gwp1001", "G", "target_not_found"])
def test_what_is_no_name_of_it(name: str) -> None:
    assert not FIRST.is_called(name)


class TestSelection:
    def test_all_of_them(self) -> None:
        assert checked() == set(BY_ID)

    def test_what_is_ignored(self) -> None:
        """Is not checked, nor what is off."""
        assert checked(ignored=("target-not-found",)) == set(BY_ID) - {"GWP1001"}
        assert checked(ignored=("GWP",)) == set()
        assert checked(severities={"GWP1001": "off"}) == set(BY_ID) - {"GWP1001"}

    def test_what_is_selected(self) -> None:
        """It alone is checked, and whether there are such rules, and all was linted."""
        assert checked(selected=("GWP1001",)) == {*ALWAYS, "GWP1001"}
        assert checked(selected=("GWP1O01",)) == ALWAYS
        assert checked(selected=("GWP1001",), ignored=("unknown-rule-id",)) == {*BLINDING, "GWP1001"}
        assert checked(selected=("GWP1001",), severities={"GWP0008": "off"}) == {*BLINDING, "GWP1001"}
        assert checked(selected=("GWP1001",), ignored=("GWP0",)) == {"GWP1001"}

    def test_the_more_exact_name_counts(self) -> None:
        assert checked(selected=("GWP1001", "GWP4"), ignored=("GWP1",)) >= {"GWP1001", "GWP4001"}
        assert "GWP1001" not in checked(selected=("GWP1",), ignored=("GWP1001",))
        assert "GWP1001" not in checked(selected=("GWP1001",), ignored=("target-not-found",))

    @given(st.lists(st.sampled_from(["GWP1", "GWP4", "GWP1001", "target-not-found", "no-rule", "GWP"]), min_size=1))
    def test_what_is_ignored_is_not_checked_unless_it_is_selected(self, names: list[str]) -> None:
        selected, left = checked(selected=tuple(names)), checked(ignored=tuple(names))
        assert selected | left == set(BY_ID)
        assert selected & left <= ALWAYS


class TestSeverities:
    @pytest.mark.parametrize(
        ("severities", "expected"),
        [
            ({}, None),
            ({"GWP2": "info"}, None),
            ({"GWP1": "info"}, "info"),
            ({"GWP1001": "info", "GWP1": "warning"}, "info"),
            ({"GWP10": "info", "GWP1": "warning"}, "info"),
            ({"target-not-found": "info", "GWP100": "off"}, "info"),
            ({"target-not-found": "info", "GWP1001": "off"}, None),
        ],
    )
    def test_the_most_exact_name_counts(self, severities: dict[str, Any], expected: str | None) -> None:
        assert FIRST.severity_in(LintSettings(severities=severities)) == expected

    @pytest.mark.parametrize(
        ("severity", "least", "fail_on", "shown", "fails"),
        [
            ("error", "error", "error", True, True),
            ("error", "info", "never", True, False),
            ("warning", "error", "warning", False, True),
            ("info", "info", "warning", True, False),
            ("info", "warning", "info", False, True),
        ],
    )
    def test_thresholds(self, severity: Severity, least: Any, fail_on: Any, *, shown: bool, fails: bool) -> None:  # noqa: ANN401 (words)
        """What is shown, and what fails, are two things."""
        settings = LintSettings(min_severity=least, fail_on=fail_on)
        assert (settings.shows(severity), settings.fails(severity)) == (shown, fails)


def test_the_day() -> None:
    """Is only known if somebody says it."""
    assert LintSettings().today is None
    assert LintSettings(now=datetime(2026, 12, 31, 23, 59, tzinfo=UTC)).today == date(2026, 12, 31)


ROUTE = build.ref("HTTPRoute", "r")
WARNING = Finding(subject=ROUTE, message="m", rule="GWP1001", severity="warning", field="spec", origin=build.ORIGIN)


def report(*findings: Finding, fail_on: Threshold = "error") -> Report:
    return Report(findings=findings, rules=(), scope=Scope(objects=1), settings=LintSettings(fail_on=fail_on))


def test_findings_are_counted_by_severity() -> None:
    findings = report(WARNING, replace(WARNING, field="x"), replace(WARNING, severity="info"))
    assert list(findings.counts.items()) == [("error", 0), ("warning", 2), ("info", 1)]


@pytest.mark.parametrize(("fail_on", "fails"), [("error", False), ("warning", True), ("info", True), ("never", False)])
def test_a_run_fails_of_what_is_bad_enough(fail_on: Threshold, *, fails: bool) -> None:
    assert report(WARNING, fail_on=fail_on).fails is fails
    assert not report(fail_on=fail_on).fails


def test_what_could_not_be_checked_leaves_it_incomplete() -> None:
    assert report(WARNING).complete
    assert not replace(report(), unknown=(WARNING,)).complete
    assert not replace(report(), unseen=(BlindSpot(what="a", reason="b"),)).complete


def test_a_finding_that_blinds_leaves_nobody_sure_of_the_others() -> None:
    blinding, other = (next(rule for rule in RULES if rule.blinds is blinds) for blinds in (True, False))
    unread = replace(WARNING, rule=blinding.id)
    checked = replace(report(WARNING, unread), rules=(other, blinding))
    assert checked.is_blind
    assert not replace(checked, findings=(WARNING, replace(WARNING, rule=other.id))).is_blind
    assert not replace(
        checked, findings=(), unknown=(unread,), suppressed=(Suppressed(finding=unread, how="comment"),)
    ).is_blind
