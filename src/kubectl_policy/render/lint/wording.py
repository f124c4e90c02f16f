"""Findings in words, the same in every format: what is wrong, where, what else it is about, and what would fix it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from kubectl_policy.lint.finding import SEVERITIES
from kubectl_policy.model.kinds import listed
from kubectl_policy.render.wording.blind_spots import as_far_as
from kubectl_policy.render.wording.names import count, in_file

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from kubectl_policy.lint.finding import Finding, Related
    from kubectl_policy.lint.report import Report

# So many worlds are named.
_NAMED: Final = 4
# What --complete says is no cure for what a cluster does not give out, nor where it was said already.
_OPEN: Final = " (--complete if there is nothing else; --show-all shows them)"
_HIDDEN: Final = " (--show-all shows them)"


def rule_words(finding: Finding) -> str:
    """`GWP1001 target-not-found`."""
    return f"{finding.rule} {finding.name}".strip()


def worst_first(findings: Iterable[Finding]) -> list[Finding]:
    """Findings by severity, and those of the same in their order."""
    return sorted(findings, key=lambda finding: SEVERITIES.index(finding.severity_))


def subject_words(finding: Finding) -> str:
    """`HTTPRoute shop/checkout`, with the field where no line says it; empty for what is about no object."""
    if finding.subject is None:
        return ""
    by_line = finding.origin and finding.origin.line
    return str(finding.subject) + (f", {finding.field}" if finding.field and not by_line else "")


def message_words(finding: Finding) -> str:
    """What is wrong, with the API's own word for it."""
    return finding.message + (f" [{finding.reason}]" if finding.reason else "")


def sentence(finding: Finding) -> str:
    """`HTTPRoute shop/checkout: Gateway infra/publik does not exist [NoMatchingParent]`."""
    return ": ".join(filter(None, (subject_words(finding), message_words(finding))))


def related_words(related: Related) -> str:
    """`Gateway infra/public, spec.listeners[0] (platform.yaml:8): the listener`."""
    field = f", {related.field}" if related.field else ""
    return f"{related.object}{field}{in_file(related.origin, ' ({})')}{f': {related.words}' if related.words else ''}"


def world_words(finding: Finding) -> str:
    """`only in dev and prod`; empty for what is found in all worlds."""
    return f"only in {listed(finding.worlds, _NAMED, 'others')}" if finding.worlds else ""


def notes(finding: Finding) -> Iterator[str]:
    """What there is to say beside what is wrong, a line each: what would fix it, what it is about, in which worlds."""
    if finding.fix:
        yield f"fix: {finding.fix.words}"
    for related in finding.related:
        yield f"see {related_words(related)}"
    if finding.worlds:
        yield world_words(finding)


def lint_headline(report: Report, *, hints: bool = False) -> str:
    """How much is wrong, of how much; if not all could be checked, the same sentence says so, and with `hints` why."""
    files = f" of {count(report.scope.files, 'file')}" if report.scope.files else ""
    where = f" in {count(report.scope.objects, 'object')}{files}"
    among = f" for {listed(report.scope.worlds, _NAMED, 'others')}" if report.scope.worlds else ""
    if report.findings:
        since = f", new since {report.scope.since}" if report.scope.since else ""
        counts = [count(number, severity) for severity, number in report.counts.items() if number]
        first = f"{listed(counts)}{where}{among}{since}"
    else:
        new, since = ("new ", f" since {report.scope.since}") if report.scope.since else ("", "")
        first = f"No {new}problems{since}{where}{among}"
    remedy = (_OPEN if report.scope.is_open else _HIDDEN) if hints else ""
    more = [
        f"{len(report.known)} known" if report.known else "",
        f"{len(report.fixed)} fixed" if report.fixed else "",
        f"{count(len(report.unknown), 'check')} could not be made{remedy}" if report.unknown else "",
        f"{len(report.suppressed)} suppressed" if report.suppressed else "",
    ]
    return f"{'; '.join(filter(None, (f'{first}{as_far_as(report.unseen)}', ', '.join(filter(None, more)))))}."
