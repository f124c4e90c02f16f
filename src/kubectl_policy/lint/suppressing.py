"""Which findings are suppressed, and by what; and which suppressions have nothing left to suppress."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from msgspec import Struct
from msgspec.structs import replace

from kubectl_policy.lint.report import Suppressed
from kubectl_policy.lint.rules import RULES
from kubectl_policy.lint.rules.input.suppressions import said_of, suppression_unused
from kubectl_policy.lint.suppression import suppressions_of
from kubectl_policy.model import FieldPath
from kubectl_policy.model.world import grouped

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence

    from kubectl_policy.lint.finding import Finding
    from kubectl_policy.lint.linted import Linted
    from kubectl_policy.lint.rule import Rule
    from kubectl_policy.lint.settings import LintSettings
    from kubectl_policy.lint.suppression import Suppression
    from kubectl_policy.model import Origin

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
        "status": world.snapshot.place == "the cluster",
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
