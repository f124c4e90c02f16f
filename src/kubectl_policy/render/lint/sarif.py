"""Findings as SARIF 2.1.0, within the limits and with the members of GitHub code scanning."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

import kubectl_policy
from kubectl_policy.model.refs import shown_namespace
from kubectl_policy.render.lint.locations import path_of, region_of, replaced_region, uri_of
from kubectl_policy.render.lint.wording import sentence, world_label, worst_first
from kubectl_policy.render.output.escape import escape_controls
from kubectl_policy.render.output.text import cut
from kubectl_policy.render.wording.blind_spots import remedy_phrase
from kubectl_policy.render.wording.names import count

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from kubectl_policy.lint.finding import Finding, Related
    from kubectl_policy.lint.report import Report
    from kubectl_policy.lint.rule import Rule
    from kubectl_policy.model import Json, ObjectRef, Origin, Severity

_SCHEMA: Final = "https://json.schemastore.org/sarif-2.1.0.json"
# What GitHub takes ("SARIF support for code scanning"): a file with more results is refused, more locations of a result
# are not shown, and of descriptions there is so much.
MAX_RESULTS: Final = 25_000
MAX_LOCATIONS: Final = 100
MAX_DESCRIPTION: Final = 1_024
# Names of megabytes occur; no message says more that anybody reads.
MAX_MESSAGE: Final = 4_000
_LEVELS: Final[Mapping[Severity, str]] = {"error": "error", "warning": "warning", "info": "note"}
_PROBLEMS: Final[Mapping[Severity, str]] = {"error": "error", "warning": "warning", "info": "recommendation"}
# High, medium and low to GitHub, which keeps "critical" for more than 9.
_SECURITY: Final[Mapping[Severity, str]] = {"error": "8.0", "warning": "5.5", "info": "3.0"}
# The subjects of rules, by the first digit of their IDs.
_SUBJECTS: Final = (
    "visibility",
    "policy-attachment",
    "policy-effects",
    "status",
    "routes",
    "references",
    "listeners",
    "matching",
    "definitions",
    "coverage",
)


def lint_sarif(report: Report) -> dict[str, Json]:
    """Return the findings as one run; the worst ones if there are more than GitHub accepts."""
    findings = report.findings
    if len(findings) > MAX_RESULTS:
        findings = tuple(worst_first(findings)[:MAX_RESULTS])
    positions = {rule.id: position for position, rule in enumerate(report.rules)}
    driver: dict[str, Json] = {
        "name": "kubectl-policy",
        "semanticVersion": kubectl_policy.__version__,
        "rules": [_rule(rule) for rule in report.rules],
    }
    run: dict[str, Json] = {
        "tool": {"driver": driver},
        # A category of its own for each world that is looked at alone.
        "automationDetails": {"id": "/".join(["kubectl-policy/lint", *map(escape_controls, report.scope.worlds), ""])},
        "columnKind": "unicodeCodePoints",
        "invocations": [{"executionSuccessful": True, "toolExecutionNotifications": [*_notifications(report)]}],
        "results": [_result(finding, positions, report) for finding in findings],
    }
    return {"$schema": _SCHEMA, "version": "2.1.0", "runs": [run]}


def _rule(rule: Rule) -> Json:
    explained = f"{rule.summary}\n\n{rule.explanation}"
    number = rule.id.removeprefix("GWP")[:1]
    tags: list[Json] = ["gateway-api"]
    tags += [_SUBJECTS[int(number)]] if number.isdecimal() else []
    tags += ["security"] if rule.guards else []
    properties: dict[str, Json] = {
        "tags": tags,
        # A rule with needs may be wrong if its input or knowledge is incomplete.
        "precision": "high" if rule.needs else "very-high",
        "problem.severity": _PROBLEMS[rule.severity],
        **({"security-severity": _SECURITY[rule.severity]} if rule.guards else {}),
    }
    return {
        "id": rule.id,
        "name": rule.name,
        "shortDescription": {"text": cut(rule.summary, MAX_DESCRIPTION)},
        "fullDescription": {"text": cut(" ".join(explained.split()), MAX_DESCRIPTION)},
        "help": {"text": explained, "markdown": explained},
        "defaultConfiguration": {"level": _LEVELS[rule.severity]},
        "properties": properties,
    }


def _result(finding: Finding, positions: Mapping[str, int], report: Report) -> Json:
    related = finding.related[:MAX_LOCATIONS]
    region = replaced_region(finding, report)
    return {
        "ruleId": finding.rule,
        **({"ruleIndex": positions[finding.rule]} if finding.rule in positions else {}),
        "level": _LEVELS[finding.severity_],
        "message": {"text": _message(finding)},
        "locations": [_location(finding.origin, finding.subject, finding.field, report)],
        "relatedLocations": [
            _related(number, related_object, report) for number, related_object in enumerate(related, 1)
        ],
        "partialFingerprints": _fingerprints(finding, report),
        **({"baselineState": "new"} if report.scope.since else {}),
        **({"fixes": [_fix(finding, region, report)]} if region else {}),
    }


def _fingerprints(finding: Finding, report: Report) -> Json:
    """Return the fingerprints: GitHub's own member only for findings without a file.

    For files, the action that uploads the report computes it, and warns about different ones.
    https://github.com/github/codeql-action/issues/4052
    """
    names = ["finding/v1", *([] if path_of(finding.origin, report) else ["primaryLocationLineHash"])]
    return dict.fromkeys(names, finding.fingerprint)


def _message(finding: Finding) -> str:
    """Return a sentence, which GitHub shows as the title, then the fix and links to related locations."""
    # All that can be linked is what was read.
    links = (_mention(number, related) for number, related in enumerate(finding.related[:MAX_LOCATIONS], 1))
    fix = _text(finding.fix.words) if finding.fix else ""
    parts = (_text(sentence(finding)), fix, *links, _text(world_label(finding)))
    return " ".join(_ended(part) for part in parts if part)


def _mention(number: int, related: Related) -> str:
    name = _text(str(related.object))
    # A bracket in the text of a link is not its end.
    linked = f"[{name.replace('[', chr(92) + '[').replace(']', chr(92) + ']')}]({number})" if related.origin else name
    field = f", {_text(related.field)}" if related.field else ""
    return f"See {linked}{field}{f': {_text(related.words)}' if related.words else ''}"


def _text(text: str) -> str:
    """Return text from the input in which nothing is taken for a link."""
    return cut(escape_controls(text), MAX_MESSAGE).replace("](", "] (")


def _ended(text: str) -> str:
    return f"{text[:1].upper()}{text[1:]}{'' if text.endswith(('.', '?')) else '.'}"


def _location(origin: Origin | None, subject: ObjectRef | None, field: str, report: Report) -> dict[str, Json]:
    """Return a location in a file, a made-up one if there is none, and the object and field."""
    location: dict[str, Json] = {
        "artifactLocation": {"uri": uri_of(origin, subject, report)},
        "region": region_of(origin, report),
    }
    if subject is None:
        return {"physicalLocation": location}
    return {"physicalLocation": location, "logicalLocations": [_logical(subject, field)]}


def _logical(subject: ObjectRef, field: str) -> Json:
    parts = (str(subject.group_kind), shown_namespace(subject.namespace), subject.name, field)
    return {"name": subject.name, "fullyQualifiedName": "/".join(filter(None, parts)), "kind": "resource"}


def _related(number: int, related: Related, report: Report) -> Json:
    message = {"message": {"text": _text(related.words)}} if related.words else {}
    location: dict[str, Json] = {"id": number, **message}
    if related.origin is None:
        return {**location, "logicalLocations": [_logical(related.object, related.field)]}
    return {**location, **_location(related.origin, related.object, related.field, report)}


def _fix(finding: Finding, region: dict[str, int], report: Report) -> Json:
    description, value = (finding.fix.words, finding.fix.value) if finding.fix else ("", "")
    return {
        "description": {"text": _text(description)},
        "artifactChanges": [
            {
                "artifactLocation": {"uri": uri_of(finding.origin, finding.subject, report)},
                "replacements": [{"deletedRegion": region, "insertedContent": {"text": value}}],
            }
        ],
    }


def _notifications(report: Report) -> Iterator[Json]:
    """Yield blind spots, undecided checks, and the number of findings left out."""
    left_out = len(report.findings) - MAX_RESULTS
    if left_out > 0:
        text = f"Left out, as GitHub takes {MAX_RESULTS:,} results: {count(left_out, 'finding')}"
        yield {"level": "error", "message": {"text": text}}
    for blind_spot in report.unseen:
        text = f"Could not be seen: {blind_spot.what}: {blind_spot.reason}. {remedy_phrase(blind_spot)}"
        yield {"level": "warning", "message": {"text": _text(text)}}
    for finding in report.unknown:
        yield {
            "level": "note",
            "message": {"text": f"Could not be decided: {_text(sentence(finding))}"},
            "locations": [_location(finding.origin, finding.subject, finding.field, report)],
            "associatedRule": {"id": finding.rule},
        }
