"""Phrases for findings that all formats share: subject, message, notes and headline."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from kubectl_policy.lint.finding import SEVERITIES, Finding, Related
from kubectl_policy.model.kinds import listed
from kubectl_policy.render.wording.blind_spots import unread_hedge
from kubectl_policy.render.wording.names import at_origin, count

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from kubectl_policy.lint.report import Report, Suppressed

# The number of related objects that are named.
_MAX_RELATED: Final = 10
# The number of worlds that are named.
_MAX_WORLDS: Final = 4
# --complete does not help where a cluster withholds objects, or where it was given.
_OPEN: Final = " (--complete if there is nothing else; --show-all shows them)"
_DECLARED: Final = " (--complete if there is nothing else)"
_HIDDEN: Final = " (--show-all shows them)"


def rule_label(finding: Finding) -> str:
    """Return the ID and name of the rule: `GWP1001 target-not-found`."""
    return f"{finding.rule} {finding.name}".strip()


def worst_first(findings: Iterable[Finding]) -> list[Finding]:
    """Sort findings by severity."""
    return sorted(findings, key=lambda finding: SEVERITIES.index(finding.severity_))


def subject_label(finding: Finding) -> str:
    """Return `HTTPRoute shop/checkout`, with the field if there is no line, or "" without an object."""
    if finding.subject is None:
        return ""
    by_line = finding.origin and finding.origin.line
    return str(finding.subject) + (f", {finding.field}" if finding.field and not by_line else "")


def message_text(finding: Finding) -> str:
    """Return the message with the API's reason."""
    return finding.message + (f" [{finding.reason}]" if finding.reason else "")


def sentence(finding: Finding) -> str:
    """Return `HTTPRoute shop/checkout: Gateway infra/publik does not exist [NoMatchingParent]`."""
    return ": ".join(filter(None, (subject_label(finding), message_text(finding))))


def related_label(related: Related) -> str:
    """Return `Gateway infra/public, spec.listeners[0] (platform.yaml:8): the listener`."""
    field = f", {related.field}" if related.field else ""
    return f"{related.object}{field}{at_origin(related.origin, ' ({})')}{f': {related.words}' if related.words else ''}"


def world_label(finding: Finding) -> str:
    """Return `only in dev and prod`, or "" for a finding in all worlds."""
    return f"only in {listed(finding.worlds, _MAX_WORLDS, 'others')}" if finding.worlds else ""


def suppression_label(suppressed: Suppressed) -> str:
    """Return `annotation: known until release 2`, or the form alone without a reason."""
    return ": ".join(filter(None, (suppressed.how, suppressed.reason)))


def notes(finding: Finding, limit: int = _MAX_RELATED) -> Iterator[str]:
    """Yield the fix, the first related objects and the worlds of a finding, a line each."""
    if finding.fix:
        yield f"fix: {finding.fix.words}"
    for related in finding.related[:limit]:
        yield f"see {related_label(related)}"
    rest = len(finding.related) - limit
    if rest > 0:
        yield f"see {rest:,} more: -o json has all of them"
    if finding.worlds:
        yield world_label(finding)


def lint_headline(report: Report, *, hints: bool = False) -> str:
    """Return the numbers of findings and objects, and of undecided checks, with `hints` on these."""
    files = f" of {count(report.scope.files, 'file')}" if report.scope.files else ""
    where = f" in {count(report.scope.objects, 'object')}{files}"
    worlds = f" for {listed(report.scope.worlds, _MAX_WORLDS, 'others')}" if report.scope.worlds else ""
    if report.findings:
        since = f", new since {report.scope.since}" if report.scope.since else ""
        counts = [count(number, severity) for severity, number in report.counts.items() if number]
        first = f"{listed(counts)}{where}{worlds}{since}"
    else:
        new, since = ("new ", f" since {report.scope.since}") if report.scope.since else ("", "")
        first = f"No {new}problems{since}{where}{worlds}"
    remedy = (_OPEN if report.scope.is_open else _HIDDEN) if hints else ""
    undecided = sum(not finding.certain for finding in report.findings)
    hint = _DECLARED if remedy == _OPEN and not report.unknown else ""
    clauses = [
        f"{undecided} of these {'is' if undecided == 1 else 'are'} undecided{hint}" if undecided else "",
        f"{len(report.known)} known" if report.known else "",
        f"{len(report.fixed)} fixed" if report.fixed else "",
        f"{count(len(report.unknown), 'check')} could not be made{remedy}" if report.unknown else "",
        f"{len(report.suppressed)} suppressed" if report.suppressed else "",
    ]
    return f"{'; '.join(filter(None, (f'{first}{unread_hedge(report.unseen)}', ', '.join(filter(None, clauses)))))}."
