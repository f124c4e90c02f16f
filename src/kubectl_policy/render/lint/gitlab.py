"""Findings as a Code Quality report of GitLab."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from kubectl_policy.render.lint.places import place_of
from kubectl_policy.render.lint.words import notes, sentence, told
from kubectl_policy.render.output.escape import visible

if TYPE_CHECKING:
    from collections.abc import Mapping

    from kubectl_policy.lint.report import Report
    from kubectl_policy.model import Json, Severity
    from kubectl_policy.render.lint.words import Told

_SEVERITIES: Final[Mapping[Severity, str]] = {"error": "major", "warning": "minor", "info": "info"}


def lint_gitlab(report: Report) -> list[Json]:
    """All findings, those that are known as well; an empty list where there is none.

    GitLab compares the reports of two branches itself: it says of what is only in that of the target that it is fixed,
    and compares nothing if one of them is missing.
    """
    return [_entry(each, report) for each in told((*report.findings, *report.known), report)]


def _entry(each: Told, report: Report) -> Json:
    finding = each.finding
    guards = each.rule is not None and each.rule.guards
    said = (sentence(finding), *notes(finding))
    return {
        "description": "; ".join(map(visible, said)),
        "check_name": each.rule_words,
        # Of those that are the same, GitLab shows one.
        "fingerprint": finding.fingerprint,
        "severity": "critical" if guards and each.severity == "error" else _SEVERITIES[each.severity],
        # An entry without a path and a line is not taken, and ends the list.
        "location": {"path": visible(place_of(finding, report)), "lines": {"begin": _line(each)}},
    }


def _line(each: Told) -> int:
    origin = each.finding.origin
    return (origin.line if origin else 0) or 1
