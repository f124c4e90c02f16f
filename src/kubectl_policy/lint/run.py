"""Linting one world: all rules that count, and what they find, in the order in which people read it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from msgspec.structs import replace

from kubectl_policy.lint.finding import SEVERITIES, Finding
from kubectl_policy.lint.linted import Linted
from kubectl_policy.lint.rules import RULES

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

    from kubectl_policy.analysis import Analysis
    from kubectl_policy.comparison import StateComparison
    from kubectl_policy.lint.rule import Rule
    from kubectl_policy.lint.settings import LintSettings
    from kubectl_policy.model import ObjectRef, Resource, Severity


def lint(
    analysis: Analysis,
    settings: LintSettings,
    is_linted: Callable[[Resource], bool] = lambda _: True,
    comparison: StateComparison | None = None,
) -> tuple[Finding, ...]:
    """What the rules that count find of the objects that are linted; by file, line, and rule.

    With a `comparison` they also find what a change makes worse, of which this is the later state.
    """
    return findings_in(Linted(analysis, settings, is_linted, comparison))


def findings_in(world: Linted) -> tuple[Finding, ...]:
    """What they find in a world, before anything of it is suppressed."""
    world.index.expect_questions(len(world.resources))
    found = (finding for rule in RULES if world.settings.has(rule) for finding in _checked(rule, world))
    return in_order({finding.key: finding for finding in found}.values())


def in_order(findings: Iterable[Finding]) -> tuple[Finding, ...]:
    """Findings in the order in which people read them: by file and line, the worst first on each."""
    return tuple(sorted(findings, key=_place))


def _checked(rule: Rule, world: Linted) -> Iterator[Finding]:
    own = world.settings.severity_of(rule)
    for finding in rule.check(world):
        resource = world.index.get(finding.subject) if finding.subject else None
        # What is only there for others is not linted, whatever says something of it.
        if resource and not world.lints(resource):
            continue
        severity: Severity = own if own and own != "off" else finding.severity or rule.severity
        origin = finding.origin or (resource.origin if resource else None)
        found = replace(finding, rule=rule.id, name=rule.name, severity=severity, origin=origin)
        doubt = _doubt(world, finding) if finding.certain else ""
        yield replace(found, certain=False, message=f"{found.message}; {doubt}") if doubt else found


def _doubt(world: Linted, finding: Finding) -> str:
    """Why an object that a finding is about may not be as it was read, in words; empty if all of them are.

    A patch that was not applied may put right what it patches, and so what refers to that.
    """
    related = [_otherwise(world, each.object, finding.subject) for each in finding.related]
    if finding.subject is None:
        # What is said of several objects, one is enough for.
        return related[0] if related and all(related) else ""
    return next(filter(None, (_otherwise(world, finding.subject, finding.subject), *related)), "")


def _otherwise(world: Linted, ref: ObjectRef, subject: ObjectRef | None) -> str:
    resource = world.index.get(ref)
    if resource is None:
        return ""
    for gap in world.index.absence.gaps_of(ref):
        # Of a subject that is there in several versions, the one that was read is wrong all the same.
        if ref != subject or gap.origin != resource.origin:
            return f"{ref} may be otherwise: {gap.reason}"
    return ""


def _place(finding: Finding) -> tuple[str, int, int, str, str, str, str]:
    origin, severity = finding.origin, finding.severity or "info"
    return (
        origin.source if origin else "",
        origin.line if origin else 0,
        SEVERITIES.index(severity),
        finding.rule,
        str(finding.subject or ""),
        finding.field,
        finding.message,
    )
