"""What linting says, in numbers, and what findings are known by."""

from __future__ import annotations

import pytest
from msgspec.structs import replace

from kubectl_policy.lint.finding import Finding
from kubectl_policy.lint.report import Report, Scope, Suppressed
from kubectl_policy.lint.rules import RULES
from kubectl_policy.lint.settings import LintSettings, Threshold
from kubectl_policy.questions.blind_spots.unknowns import BlindSpot
from tests import build

ROUTE = build.ref("HTTPRoute", "r")
WARNING = Finding(subject=ROUTE, message="m", rule="GWP1001", severity="warning", field="spec", origin=build.ORIGIN)


def report(*findings: Finding, fail_on: Threshold = "error") -> Report:
    """A report of one object."""
    return Report(findings=findings, rules=(), scope=Scope(objects=1), settings=LintSettings(fail_on=fail_on))


def test_findings_are_counted_by_severity() -> None:
    """The worst first, also those of which there is none."""
    found = report(WARNING, replace(WARNING, field="x"), replace(WARNING, severity="info"))
    assert list(found.counts.items()) == [("error", 0), ("warning", 2), ("info", 1)]


@pytest.mark.parametrize(("fail_on", "fails"), [("error", False), ("warning", True), ("info", True), ("never", False)])
def test_a_run_fails_of_what_is_bad_enough(fail_on: Threshold, *, fails: bool) -> None:
    """And of nothing else, whatever the format."""
    assert report(WARNING, fail_on=fail_on).fails is fails
    assert not report(fail_on=fail_on).fails


def test_what_could_not_be_checked_leaves_it_incomplete() -> None:
    """Whether that is a finding that could not be decided, or something that was not seen."""
    assert report(WARNING).complete
    assert not replace(report(), unknown=(WARNING,)).complete
    assert not replace(report(), unseen=(BlindSpot(what="a", reason="b"),)).complete


def test_a_finding_that_blinds_leaves_nobody_sure_of_the_others() -> None:
    """By a rule that says so and was checked; what could not be decided is something else."""
    blinding, other = (next(rule for rule in RULES if rule.blinds is blinds) for blinds in (True, False))
    unread = replace(WARNING, rule=blinding.id)
    checked = replace(report(WARNING, unread), rules=(other, blinding))
    assert checked.is_blind
    assert not replace(checked, findings=(WARNING, replace(WARNING, rule=other.id))).is_blind
    assert not replace(
        checked, findings=(), unknown=(unread,), suppressed=(Suppressed(finding=unread, how="comment"),)
    ).is_blind
