"""Findings as a Code Quality report of GitLab."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from kubectl_policy.render.lint.locations import path_or_name
from kubectl_policy.render.lint.wording import notes, rule_label, sentence
from kubectl_policy.render.output.escape import escape_controls

if TYPE_CHECKING:
    from collections.abc import Mapping

    from kubectl_policy.lint.finding import Finding
    from kubectl_policy.lint.report import Report
    from kubectl_policy.model import Json, Severity

_SEVERITIES: Final[Mapping[Severity, str]] = {"error": "major", "warning": "minor", "info": "info"}


def lint_gitlab(report: Report) -> list[Json]:
    """Return all findings, including known ones; an empty list is a report as well.

    GitLab itself compares the reports of two branches, and compares nothing if one is missing.
    """
    guarding = {rule.id for rule in report.rules if rule.guards}
    return [_entry(finding, report, guards=finding.rule in guarding) for finding in (*report.findings, *report.known)]


def _entry(finding: Finding, report: Report, *, guards: bool) -> Json:
    sentences = (sentence(finding), *notes(finding))
    line = (finding.origin.line if finding.origin else 0) or 1
    return {
        "description": "; ".join(map(escape_controls, sentences)),
        "check_name": rule_label(finding),
        # GitLab shows one of several entries with the same fingerprint.
        "fingerprint": finding.fingerprint,
        "severity": "critical" if guards and finding.severity_ == "error" else _SEVERITIES[finding.severity_],
        # An entry without a path and a line is not taken, and ends the list.
        "location": {
            "path": escape_controls(path_or_name(finding, report)),
            "lines": {"begin": line},
        },
    }
