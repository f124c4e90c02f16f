"""Findings in the Reviewdog Diagnostic Format, of which reviewdog makes comments and suggestions in a review."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from kubectl_policy.render.lint.places import place_of, replaced
from kubectl_policy.render.lint.words import notes, sentence, told
from kubectl_policy.render.output.escape import visible

if TYPE_CHECKING:
    from collections.abc import Mapping

    from kubectl_policy.lint.report import Report
    from kubectl_policy.model import Json, Origin, Severity
    from kubectl_policy.render.lint.places import Region
    from kubectl_policy.render.lint.words import Told

_SEVERITIES: Final[Mapping[Severity, str]] = {"error": "ERROR", "warning": "WARNING", "info": "INFO"}


def lint_rdjson(report: Report) -> dict[str, Json]:
    """All findings that count."""
    found: list[Json] = [_diagnostic(each, report) for each in told(report.findings, report)]
    return {"source": {"name": "kubectl-policy"}, "diagnostics": found}


def _diagnostic(each: Told, report: Report) -> Json:
    finding, origin = each.finding, each.finding.origin
    location: dict[str, Json] = {"path": visible(place_of(finding, report))}
    if origin and origin.line:
        location["range"] = {"start": {"line": origin.line}}
    region = replaced(finding, report)
    value = finding.fix.value if finding.fix else ""
    suggestion: Json = {"range": _range(region, origin, report), "text": value} if region and origin else None
    return {
        "message": "\n".join(map(visible, (sentence(finding), *notes(finding)))),
        "location": location,
        "severity": _SEVERITIES[each.severity],
        "code": {"value": each.rule_words},
        **({"suggestions": [suggestion]} if suggestion else {}),
    }


def _range(region: Region, origin: Origin, report: Report) -> Json:
    """A region in columns of bytes, as reviewdog has them."""
    text = report.texts[origin]
    start, end = (len(text[: column - 1].encode("utf-8", "surrogatepass")) + 1 for column in (region.start, region.end))
    return {"start": {"line": region.line, "column": start}, "end": {"line": region.line, "column": end}}
