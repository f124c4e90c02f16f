"""Consequences of a change: findings about objects that it does not touch, joined at the changed line."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING, Final, TypeAlias

from msgspec.structs import replace

from kubectl_policy.lint.baseline import fingerprinted
from kubectl_policy.lint.changes.causes import Causes, CausingChange
from kubectl_policy.lint.checking import in_order
from kubectl_policy.lint.finding import SEVERITIES, Finding, Fix, Related
from kubectl_policy.lint.rules.changes import breaks_other_objects, requests_taken_over, security_setting_lost
from kubectl_policy.model.kinds import listed

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Sequence

    from kubectl_policy.lint.finding import Locate
    from kubectl_policy.lint.lint_world import LintWorld
    from kubectl_policy.lint.settings import LintSettings
    from kubectl_policy.model import ObjectRef

_GUARDING: Final = frozenset({security_setting_lost.id, requests_taken_over.id})
# The number of rules that a message names.
_MAX_RULES: Final = 4
# The changed object, and the worlds in which it has these consequences.
_Cause: TypeAlias = "tuple[ObjectRef, tuple[str, ...]]"


def join_consequences(
    findings: Iterable[Finding], worlds: Sequence[LintWorld], settings: LintSettings, locate: Locate
) -> tuple[Finding, ...]:
    """Return new findings; several with one cause become one, and a single one stands at the changed line.

    `locate` returns the line of a field of an object in the input.
    """
    joins = breaks_other_objects.is_checked(settings)
    causes_of = {world.name: Causes(world.comparison) for world in worlds if world.comparison}
    result: list[Finding] = []
    by_cause: dict[_Cause, list[tuple[Finding, CausingChange]]] = {}
    for finding in findings:
        causes = causes_of.get(finding.worlds[0]) if finding.worlds else next(iter(causes_of.values()), None)
        cause = causes.of(finding) if causes and (joins or finding.rule in _GUARDING) else None
        if causes and cause and finding.subject:
            change = causes.change(cause, finding.subject)
            by_cause.setdefault((cause, finding.worlds), []).append((finding, change))
        else:
            result.append(finding)
    joined: list[Finding] = []
    sources = {resource.origin.source for world in worlds for resource in world.resources}
    for consequences in by_cause.values():
        # What is lost of security is told by itself.
        alone = [pair for pair in consequences if len(consequences) == 1 or pair[0].rule in _GUARDING]
        result += [_moved(finding, change, locate, sources) for finding, change in alone]
        rest = [pair for pair in consequences if pair not in alone]
        if len(rest) == 1:
            result.append(_moved(*rest[0], locate, sources))
        elif rest:
            joined.append(_joined([finding for finding, _ in rest], rest[0][1], settings, locate))
    return in_order((*result, *fingerprinted(joined)))


def _moved(finding: Finding, change: CausingChange, locate: Locate, sources: Collection[str]) -> Finding:
    """Return a finding at the change that is its cause; its own line becomes a related one.

    If what is changed is no longer in any file of the input, the finding stays where it is.
    """
    origin = locate(change.resource.origin, str(change.field))
    if origin is None or origin.source not in sources:
        return finding
    return replace(
        finding,
        origin=origin,
        related=(_related(finding, ""), *finding.related),
        # The value is for another line.
        fix=replace(finding.fix, value="") if finding.fix else None,
    )


def _related(finding: Finding, words: str) -> Related:
    assert finding.subject  # noqa: S101 (a finding without an object has no cause)
    return Related(object=finding.subject, field=finding.field, words=words, origin=finding.origin)


def _joined(findings: Sequence[Finding], change: CausingChange, settings: LintSettings, locate: Locate) -> Finding:
    """Return the finding about a changed object that stands for its consequences, the worst first."""
    worst_first = sorted(findings, key=lambda finding: SEVERITIES.index(finding.severity_))
    worst = worst_first[0].severity_
    numbers = Counter(finding.name for finding in worst_first)
    rules = listed([f"{name} ({number})" for name, number in numbers.items()], _MAX_RULES, "more")
    objects = len({finding.subject for finding in findings})
    noun = "object that" if objects == 1 else "objects that"
    fixes = {finding.fix.words for finding in findings if finding.fix}
    rule = breaks_other_objects
    return Finding(
        rule=rule.id,
        name=rule.name,
        subject=change.resource.ref,
        field=str(change.field),
        message=f"{change.words}, with consequences for {objects} {noun} the change does not touch: {rules}",
        severity=rule.severity_in(settings) or worst,
        certain=any(finding.certain for finding in findings if finding.severity_ == worst),
        is_likely=True,
        origin=locate(change.resource.origin, str(change.field)),
        related=tuple(
            _related(finding, f"{finding.severity_} {finding.name}: {finding.message}") for finding in worst_first
        ),
        fix=Fix(words=f"at {'it' if objects == 1 else 'these'}: {fixes.pop()}") if len(fixes) == 1 else None,
        worlds=findings[0].worlds,
    )
