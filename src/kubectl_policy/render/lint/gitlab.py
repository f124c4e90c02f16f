"""Findings as a Code Quality report of GitLab."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from kubectl_policy.render.lint.places import place_of
from kubectl_policy.render.lint.wording import notes, rule_words, sentence
from kubectl_policy.render.output.escape import visible

if TYPE_CHECKING:
    from collections.abc import Mapping

    from kubectl_policy.lint.finding import Finding
    from kubectl_policy.lint.report import Report
    from kubectl_policy.model import Json, Severity

_SEVERITIES: Final[Mapping[Severity, str]] = {"error": "major", "warning": "minor", "info": "info"}


def lint_gitlab(report: Report) -> list[Json]:
    """All findings, those that are known as well; an empty list where there is none.

    GitLab compares the reports of two branches itself: it says of what is only in that of the target that it is fixed,
    and compares nothing if one of them is missing.
    """
    guarding = {rule.id for rule in report.rules if rule.guards}
    return [_entry(finding, report, guards=finding.rule in guarding) for finding in (*report.findings, *report.known)]


def _entry(finding: Finding, report: Report, *, guards: bool) -> Json:
    words = (sentence(finding), *notes(finding))
    line = (finding.origin.line if finding.origin else 0) or 1
    return {
        "description": "; ".join(map(visible, words)),
        "check_name": rule_words(finding),
        # Of those that are the same, GitLab shows one.
        "fingerprint": finding.fingerprint,
        "severity": "critical" if guards and finding.severity_ == "error" else _SEVERITIES[finding.severity_],
        # An entry without a path and a line is not taken, and ends the list.
        "location": {
            "path": visible(place_of(finding, report)),
            "lines": {"begin": line},
        },
    }
