"""Check the rules in one or several worlds, and suppress findings."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from msgspec import Struct
from msgspec.structs import replace

from kubectl_policy.lint.baseline import fingerprinted
from kubectl_policy.lint.finding import SEVERITIES, Finding, Related
from kubectl_policy.lint.report import Suppressed
from kubectl_policy.lint.rules import RULES
from kubectl_policy.lint.rules.suppressions import Suppression, suppression_finding, suppression_unused, suppressions_of
from kubectl_policy.model import FieldPath, Json, ObjectRef, Origin
from kubectl_policy.model.world import grouped

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

    from kubectl_policy.lint.finding import Locate
    from kubectl_policy.lint.lint_world import LintWorld
    from kubectl_policy.lint.rule import Rule
    from kubectl_policy.lint.settings import LintSettings

_RULES: Final = {rule.id: rule for rule in RULES}


class SuppressionName(Struct, frozen=True, gc=False):
    """One of the names in a suppression, with the suppression."""

    suppression: Suppression
    name: str


class JudgedFindings(Struct, frozen=True, kw_only=True):
    """The findings of a world, divided by suppressions.

    `unused` has the line of the nearest matching finding in the same file, or 0.
    """

    findings: tuple[Finding, ...]
    suppressed: tuple[Suppressed, ...]
    used: frozenset[SuppressionName]
    unused: Mapping[SuppressionName, int]


def suppress(
    world: LintWorld, findings: Iterable[Finding], locate: Locate = lambda origin, _: origin
) -> JudgedFindings:
    """Apply suppressions to findings whose origins are those of objects; `locate` returns those of fields."""
    holding = [suppression for suppression in world.once(suppressions_of) if suppression.holds(world.settings.today)]
    # By object for annotations, by file for comments.
    by_location = grouped((suppression.subject or suppression.origin.source, suppression) for suppression in holding)
    remaining: list[Finding] = []
    suppressed: list[Suppressed] = []
    used: set[SuppressionName] = set()
    near: dict[str, list[tuple[Rule, int]]] = {}
    for finding in findings:
        rule, origin = _RULES[finding.rule], finding.origin
        about = list(by_location.get(finding.subject, ())) if finding.subject else []
        lines: Sequence[int] = ()
        if origin and origin.source in by_location:
            lines = _lines(finding, origin, locate)
            near.setdefault(origin.source, []).append((rule, lines[-1]))
            about += by_location[origin.source]
        covering = (suppression for suppression in about if suppression.covers(finding, lines))
        names = (SuppressionName(suppression, name) for suppression in covering for name in suppression.names)
        uses = [use for use in names if rule.is_called(use.name)]
        used.update(uses)
        if uses:
            by = uses[0].suppression
            suppressed.append(Suppressed(finding=finding, how=by.how, reason=by.reason))
        else:
            remaining.append(finding)
    unused = {use: _nearest(use, near) for use in _needed(world, holding) if use not in used}
    return JudgedFindings(findings=tuple(remaining), suppressed=tuple(suppressed), used=frozenset(used), unused=unused)


def _lines(finding: Finding, origin: Origin, locate: Locate) -> list[int]:
    """Return the lines of the object of a finding, of the parents of its field, and of the field."""
    try:
        around = [str(path) for path in FieldPath.parse(finding.field).around]
    except ValueError:
        # A key may have any letters.
        around = [""]
    return [(locate(origin, field) or origin).line for field in around]


def _needed(world: LintWorld, holding: Sequence[Suppression]) -> Iterator[SuppressionName]:
    """Yield the names in suppressions that should suppress something because their rules were checked."""
    names = {name for suppression in holding for name in suppression.names}
    needed = {name for name in names if _is_checked(name, world)}
    # Suppressions may be about others, too.
    exempting = [suppression for suppression in holding if any(map(suppression_unused.is_called, suppression.names))]
    for suppression in holding:
        lines = [suppression.origin.line]
        for use in (SuppressionName(suppression, name) for name in suppression.names if name in needed):
            if not any(exemption.covers(_unused(use, 0), lines) for exemption in exempting):
                yield use


def _is_checked(name: str, world: LintWorld) -> bool:
    """Whether every rule of a name was checked, and with all that it needs."""
    decided = {
        "status": world.snapshot.source == "the cluster",
        "base": world.comparison is not None,
        # The config file may have been another one when the suppression was written.
        "configuration": False,
    }
    rules = [rule for rule in RULES if rule.is_called(name)]
    if not rules or suppression_unused in rules:
        return False
    checked = (rule.is_checked(world.settings) for rule in rules)
    return all(checked) and all(decided.get(need, True) for rule in rules for need in rule.needs)


def _nearest(use: SuppressionName, located: Mapping[str, Sequence[tuple[Rule, int]]]) -> int:
    """Return the line of the finding that a comment is probably meant for, or 0."""
    written = use.suppression.origin
    near = located.get(written.source, ()) if use.suppression.how == "comment" else ()
    lines = [line for rule, line in near if rule.is_called(use.name)]
    return min(lines, key=lambda line: (abs(line - written.line), line), default=0)


def unused_in(worlds: Sequence[JudgedFindings], settings: LintSettings) -> tuple[Finding, ...]:
    """Return the findings about suppressions that are used in none of the worlds."""
    if not suppression_unused.is_checked(settings):
        return ()
    used = frozenset[SuppressionName]().union(*(world.used for world in worlds))
    lines = {use: line for world in worlds for use, line in world.unused.items() if use not in used}
    rule = suppression_unused
    severity = rule.severity_in(settings) or rule.severity
    return tuple(replace(_unused(use, line), rule=rule.id, severity=severity) for use, line in lines.items())


def _unused(use: SuppressionName, line: int) -> Finding:
    remedy = f"it is found on line {line}" if line else "remove the suppression"
    return suppression_finding(use.suppression, f"{use.name} is not found here, so nothing is suppressed", remedy)


class LintFindings(Struct, frozen=True, kw_only=True):
    """The findings in several worlds, by file and line, each with its fingerprint."""

    findings: tuple[Finding, ...]
    suppressed: tuple[Suppressed, ...]

    @property
    def every(self) -> tuple[Finding, ...]:
        """All findings, including those that are suppressed."""
        return (*self.findings, *(suppressed.finding for suppressed in self.suppressed))


def lint_worlds(worlds: Sequence[LintWorld], settings: LintSettings, locate: Locate) -> LintFindings:
    """Return the findings in several worlds, merged and located; a finding names its worlds unless it is in all."""
    judged = [suppress(world, findings_in(world), locate) for world in worlds]
    names = [world.name for world in worlds]
    remaining = [*_merge_worlds(names, [world.findings for world in judged]), *unused_in(judged, settings)]
    suppressed_of = [world.suppressed for world in judged]
    hidden = _merge_worlds(names, [[suppressed.finding for suppressed in world] for world in suppressed_of])
    by_key = {suppressed.finding.key: suppressed for world in suppressed_of for suppressed in world}

    def raw_of(ref: ObjectRef) -> Json:
        resources = (world.index.get(ref) for world in worlds)
        return next((resource.raw for resource in resources if resource), None)

    # Suppressed findings get fingerprints as well, so that the other ones do not depend on suppressions.
    every = fingerprinted((_located(finding, locate) for finding in (*remaining, *hidden)), raw_of)
    return LintFindings(
        findings=in_order(every[: len(remaining)]),
        suppressed=tuple(
            replace(by_key[before.key], finding=after)
            for before, after in zip(hidden, every[len(remaining) :], strict=True)
        ),
    )


def _merge_worlds(names: Sequence[str], findings_by_world: Sequence[Iterable[Finding]]) -> list[Finding]:
    """Merge the findings of several worlds."""
    first: dict[tuple[object, ...], Finding] = {}
    where: dict[tuple[object, ...], list[str]] = {}
    for name, findings in zip(names, findings_by_world, strict=True):
        for finding in findings:
            first.setdefault(finding.key, finding)
            where.setdefault(finding.key, []).append(name)
    return [
        replace(finding, worlds=tuple(where[key])) if len(where[key]) < len(names) else finding
        for key, finding in first.items()
    ]


def _located(finding: Finding, locate: Locate) -> Finding:
    # There may be many uncertain findings, and nobody looks at more than their number.
    def origin(part: Finding | Related) -> Origin | None:
        return locate(part.origin, part.field if finding.counts else "")

    related = tuple(replace(related, origin=origin(related)) for related in finding.related)
    return replace(finding, origin=origin(finding), related=related)


def findings_in(world: LintWorld) -> tuple[Finding, ...]:
    """Return the findings of all selected rules in a world, before suppressions."""
    world.index.expect_questions(len(world.resources))
    reported = (finding for rule in RULES if rule.is_checked(world.settings) for finding in _findings_of(rule, world))
    return in_order({finding.key: finding for finding in reported}.values())


def in_order(findings: Iterable[Finding]) -> tuple[Finding, ...]:
    """Sort findings by file, line and severity."""
    return tuple(sorted(findings, key=_sort_key))


def _findings_of(rule: Rule, world: LintWorld) -> Iterator[Finding]:
    configured = rule.severity_in(world.settings)
    for finding in rule.check(world):
        resource = world.index.get(finding.subject) if finding.subject else None
        # Objects that only provide context have no findings.
        if resource and not world.in_scope(resource):
            continue
        origin = finding.origin or (resource.origin if resource else None)
        severity = configured or finding.severity or rule.severity
        reported = replace(finding, rule=rule.id, name=rule.name, severity=severity, origin=origin)
        doubt = _doubt(world, finding) if finding.certain else ""
        yield replace(reported, certain=False, message=f"{reported.message}; {doubt}") if doubt else reported


def _doubt(world: LintWorld, finding: Finding) -> str:
    """Return why an object of a finding may differ from what was read, or "".

    A patch that was not applied may solve the problem, in the object itself or in a related one.
    """
    related = [_why_uncertain(world, related_object.object, finding.subject) for related_object in finding.related]
    if finding.subject is None:
        # A finding about several objects holds if one of them is certain.
        return related[0] if related and all(related) else ""
    return next(filter(None, (_why_uncertain(world, finding.subject, finding.subject), *related)), "")


def _why_uncertain(world: LintWorld, ref: ObjectRef, subject: ObjectRef | None) -> str:
    resource = world.index.get(ref)
    if resource is None:
        return ""
    for gap in world.index.absence.gaps_of(ref):
        # If there are several versions of a subject, the one that was read is wrong in any case.
        if ref != subject or gap.origin != resource.origin:
            return f"{ref} may be different: {gap.reason}"
    return ""


def _sort_key(finding: Finding) -> tuple[str, int, int, str, str, str, str]:
    origin = finding.origin
    return (
        origin.source if origin else "",
        origin.line if origin else 0,
        SEVERITIES.index(finding.severity_),
        finding.rule,
        str(finding.subject or ""),
        finding.field,
        finding.message,
    )
