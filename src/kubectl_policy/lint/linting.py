"""Check the rules in one or several worlds, and suppress findings."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from msgspec import Struct
from msgspec.structs import replace

from kubectl_policy.lint.baseline import fingerprinted
from kubectl_policy.lint.finding import SEVERITIES, Finding
from kubectl_policy.lint.report import Suppressed
from kubectl_policy.lint.rules import RULES
from kubectl_policy.lint.rules.suppressions import said_of, suppression_unused, suppressions_of
from kubectl_policy.model import FieldPath
from kubectl_policy.model.world import grouped

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence

    from kubectl_policy.lint.linted import Linted
    from kubectl_policy.lint.rule import Rule
    from kubectl_policy.lint.rules.suppressions import Suppression
    from kubectl_policy.lint.settings import LintSettings
    from kubectl_policy.model import Json, ObjectRef, Origin

    # From where an object was read, and a field of it, to where that field is written, as far as it can be told.
    Locate = Callable[[Origin | None, str], Origin | None]

_RULES: Final = {rule.id: rule for rule in RULES}


class Use(Struct, frozen=True, gc=False):
    """A suppression, as far as it is about the rules that one of its names calls."""

    suppression: Suppression
    name: str


class Judged(Struct, frozen=True, kw_only=True):
    """What is left of the findings of a world, what is suppressed, and what was used for that.

    Of what was not used, it is told on which line the nearest finding of its rules in the same file is, 0 without one.
    """

    findings: tuple[Finding, ...]
    suppressed: tuple[Suppressed, ...]
    used: frozenset[Use]
    unused: Mapping[Use, int]


def suppress(world: Linted, findings: Iterable[Finding], locate: Locate = lambda origin, _: origin) -> Judged:
    """Judge the findings of a world, whose origins are still those of objects; `locate` has those of fields."""
    holding = [each for each in world.once(suppressions_of) if each.holds(world.settings.today)]
    # By the objects that they are about, and the files in which they are.
    places = grouped((suppression.subject or suppression.origin.source, suppression) for suppression in holding)
    left: list[Finding] = []
    suppressed: list[Suppressed] = []
    used: set[Use] = set()
    near: dict[str, list[tuple[Rule, int]]] = {}
    for finding in findings:
        rule, origin = _RULES[finding.rule], finding.origin
        about = list(places.get(finding.subject, ())) if finding.subject else []
        lines: Sequence[int] = ()
        if origin and origin.source in places:
            lines = _lines(finding, origin, locate)
            near.setdefault(origin.source, []).append((rule, lines[-1]))
            about += places[origin.source]
        covering = [suppression for suppression in about if suppression.covers(finding, lines)]
        uses = [Use(each, name) for each in covering for name in each.names if rule.is_called(name)]
        used.update(uses)
        if uses:
            by = uses[0].suppression
            suppressed.append(Suppressed(finding=finding, how=by.how, reason=by.reason))
        else:
            left.append(finding)
    unused = {use: _nearest(use, near) for use in _needed(world, holding) if use not in used}
    return Judged(findings=tuple(left), suppressed=tuple(suppressed), used=frozenset(used), unused=unused)


def _lines(finding: Finding, origin: Origin, locate: Locate) -> list[int]:
    """The lines of the object that a finding is about, of all that its field stands in, and of the field."""
    try:
        around = [str(path) for path in FieldPath.parse(finding.field).around]
    except ValueError:
        # A key may have any letters.
        around = [""]
    return [(locate(origin, field) or origin).line for field in around]


def _needed(world: Linted, holding: Sequence[Suppression]) -> Iterator[Use]:
    """What of some suppressions should have something to suppress: what is about rules that were checked."""
    names = {name for each in holding for name in each.names}
    needed = {name for name in names if _is_checked(name, world)}
    # Suppressions may be about others, too.
    sparing = [each for each in holding if any(suppression_unused.is_called(name) for name in each.names)]
    for suppression in holding:
        lines = [suppression.origin.line]
        for use in (Use(suppression, name) for name in suppression.names if name in needed):
            if not any(each.covers(_unused(use, 0), lines) for each in sparing):
                yield use


def _is_checked(name: str, world: Linted) -> bool:
    """Whether every rule that is called so would find what it is about, in this run as in others."""
    decided = {
        "status": world.snapshot.source == "the cluster",
        "base": world.comparison is not None,
        # What a config file asks for need not be what was asked for when somebody suppressed it.
        "configuration": False,
    }
    rules = [rule for rule in RULES if rule.is_called(name)]
    if not rules or suppression_unused in rules:
        return False
    return all(
        rule.is_checked(world.settings) and all(decided.get(need, True) for need in rule.needs) for rule in rules
    )


def _nearest(use: Use, found: Mapping[str, Sequence[tuple[Rule, int]]]) -> int:
    """The line of the finding that a comment may be meant for; 0 if there is none."""
    written = use.suppression.origin
    near = found.get(written.source, ()) if use.suppression.how == "comment" else ()
    lines = [line for rule, line in near if rule.is_called(use.name)]
    return min(lines, key=lambda line: (abs(line - written.line), line), default=0)


def unused_in(worlds: Sequence[Judged], settings: LintSettings) -> tuple[Finding, ...]:
    """What is said of suppressions that are needed in none of some worlds."""
    if not suppression_unused.is_checked(settings):
        return ()
    used = frozenset[Use]().union(*(world.used for world in worlds))
    lines = {use: line for world in worlds for use, line in world.unused.items() if use not in used}
    rule = suppression_unused
    severity = rule.severity_in(settings) or rule.severity
    return tuple(replace(_unused(use, line), rule=rule.id, severity=severity) for use, line in lines.items())


def _unused(use: Use, line: int) -> Finding:
    remedy = f"it is found on line {line}" if line else "remove the suppression"
    return said_of(use.suppression, f"{use.name} is not found here, so that nothing is suppressed", remedy)


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
