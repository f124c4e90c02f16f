"""Linting several worlds, such as the clusters of a repository: what is found in each, and in all of them as one."""

from __future__ import annotations

from typing import TYPE_CHECKING

from msgspec import Struct
from msgspec.structs import replace

from kubectl_policy.lint.baseline import fingerprinted
from kubectl_policy.lint.finding import SEVERITIES, Finding
from kubectl_policy.lint.rules import RULES
from kubectl_policy.lint.suppressing import suppress, unused_in

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from kubectl_policy.lint.linted import Linted
    from kubectl_policy.lint.report import Suppressed
    from kubectl_policy.lint.rule import Rule
    from kubectl_policy.lint.settings import LintSettings
    from kubectl_policy.lint.suppressing import Locate
    from kubectl_policy.model import Json, ObjectRef


class Found(Struct, frozen=True, kw_only=True):
    """What is found in some worlds, however little it is: what is left, and what is suppressed; by file and line.

    Each finding has its fingerprint.
    """

    findings: tuple[Finding, ...]
    suppressed: tuple[Suppressed, ...]

    @property
    def every(self) -> tuple[Finding, ...]:
        """All findings, also what is suppressed."""
        return (*self.findings, *(each.finding for each in self.suppressed))


def found_in(worlds: Sequence[Linted], settings: LintSettings, locate: Locate) -> Found:
    """What rules find in some worlds; what is found in several of them alike is one finding.

    Where fields are written is looked up. A finding that is not in all worlds says in which it is.
    """
    judged = [suppress(world, findings_in(world), locate) for world in worlds]
    names = [world.name for world in worlds]
    left = [*_together(names, [each.findings for each in judged]), *unused_in(judged, settings)]
    hidden = _together(names, [[each.finding for each in one.suppressed] for one in judged])
    by_key = {each.finding.key: each for one in judged for each in one.suppressed}

    def raw_of(ref: ObjectRef) -> Json:
        resources = (world.index.get(ref) for world in worlds)
        return next((resource.raw for resource in resources if resource), None)

    # What is suppressed has a fingerprint as well, so that those of the others do not depend on it.
    every = fingerprinted((_located(finding, locate) for finding in (*left, *hidden)), raw_of)
    return Found(
        findings=in_order(every[: len(left)]),
        suppressed=tuple(
            replace(by_key[before.key], finding=after) for before, after in zip(hidden, every[len(left) :], strict=True)
        ),
    )


def _together(names: Sequence[str], found: Sequence[Iterable[Finding]]) -> list[Finding]:
    """What is found in each of some worlds, each finding once."""
    first: dict[tuple[object, ...], Finding] = {}
    where: dict[tuple[object, ...], list[str]] = {}
    for name, findings in zip(names, found, strict=True):
        for finding in findings:
            first.setdefault(finding.key, finding)
            where.setdefault(finding.key, []).append(name)
    return [
        replace(finding, worlds=tuple(where[key])) if len(where[key]) < len(names) else finding
        for key, finding in first.items()
    ]


def _located(finding: Finding, locate: Locate) -> Finding:
    # Of what is not certain there may be much, of which nobody looks at more than the number.
    is_certain = finding.certain
    related = tuple(
        replace(each, origin=locate(each.origin, each.field if is_certain else "")) for each in finding.related
    )
    return replace(finding, origin=locate(finding.origin, finding.field if is_certain else ""), related=related)


def findings_in(world: Linted) -> tuple[Finding, ...]:
    """What they find in a world, before anything of it is suppressed."""
    world.index.expect_questions(len(world.resources))
    found = (finding for rule in RULES if rule.is_checked(world.settings) for finding in _checked(rule, world))
    return in_order({finding.key: finding for finding in found}.values())


def in_order(findings: Iterable[Finding]) -> tuple[Finding, ...]:
    """Findings in the order in which people read them: by file and line, the worst first on each."""
    return tuple(sorted(findings, key=_place))


def _checked(rule: Rule, world: Linted) -> Iterator[Finding]:
    own = rule.severity_in(world.settings)
    for finding in rule.check(world):
        resource = world.index.get(finding.subject) if finding.subject else None
        # What is only there for others is not linted, whatever says something of it.
        if resource and not world.lints(resource):
            continue
        origin = finding.origin or (resource.origin if resource else None)
        severity = own or finding.severity or rule.severity
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
