"""Suppressions in annotations and comments (GWP0007, GWP0008 and GWP0012)."""

from __future__ import annotations

from datetime import date
from typing import TYPE_CHECKING, Final

from msgspec import Struct

from kubectl_policy.lazy import pattern
from kubectl_policy.lint.finding import Finding, Fix
from kubectl_policy.lint.lint_world import LintWorld, nearest
from kubectl_policy.lint.rule import lint_rule
from kubectl_policy.model import FieldPath, ObjectRef, Origin, Resource, Severity
from kubectl_policy.model.fields import mapping_at

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from kubectl_policy.lint.report import SuppressionForm
    from kubectl_policy.model.snapshot import Comment

_OURS: Final = "policy.kubectl.dev/"
# An annotation with rules, one with the reason for that, and the beginning of those that are about one rule each.
LISTED: Final = f"{_OURS}ignore"
REASON: Final = f"{LISTED}-reason"
SINGLE: Final = f"ignore.{_OURS}"
_ANNOTATIONS: Final = FieldPath(("metadata", "annotations"))
_UNTIL: Final = pattern(r"(?:^|(?<=[\s,;]))(\()?until=([^\s,;)]*)(?(1)\)?)")
_DATE: Final = pattern(r"[0-9]{4}-[0-9]{2}-[0-9]{2}")
_IGNORE: Final = pattern(r"ignore(?![^\s:])")
_RULES: Final = pattern(r"[\s,;]+")
# A rule in a comment, and what tells that another one follows: a comma, or an id.
_RULE: Final = pattern(r"([^\s,;:]+)(?:[ \t]*[,;][ \t]*|[ \t]+(?=GWP[0-9])|(?=[\s:]|\Z))")
# What may stand around a reason, between it and the rest.
_AROUND: Final = " \t\r\n,;:-\N{EN DASH}\N{EM DASH}"
# Of what stands where a rule is expected, so much is shown.
_MAX_NAME_LENGTH: Final = 40
_DIGITS: Final = str.maketrans("OIL", "011")


class Suppression(Struct, frozen=True, kw_only=True):
    """A request not to report rules on one object, or on some lines of a file."""

    names: tuple[str, ...]
    """Rules as they are written: ids, names, or the beginnings of ids."""
    origin: Origin
    """The object with the annotation, or the comment."""
    reason: str = ""
    until: date | None = None
    """The last day on which it holds."""
    undated: str = ""
    """The text in place of the date, if it is malformed."""
    subject: ObjectRef | None = None
    """The object that it is about."""
    field: str = ""
    """The annotation of the object."""
    lines: range = range(0)

    @property
    def how(self) -> SuppressionForm:
        """The form of the suppression."""
        return "annotation" if self.subject else "comment"

    def holds(self, today: date | None) -> bool:
        """Whether it is in effect on a day; without a day, whether it can be."""
        return not self.undated and not (self.until and today and today > self.until)

    def covers(self, finding: Finding, lines: Iterable[int]) -> bool:
        """Whether a finding is on the object or the lines of the suppression, whatever its rule."""
        if self.subject:
            return finding.subject == self.subject
        origin = finding.origin
        return origin is not None and origin.source == self.origin.source and any(map(self.lines.__contains__, lines))


def suppressions_of(world: LintWorld) -> Sequence[Suppression]:
    """Return the suppressions in annotations of objects in scope, then those in comments."""
    suppressions: list[Suppression] = []
    origins = (diagnostic.origin for diagnostic in world.snapshot.diagnostics)
    sources = {origin.source for origin in origins if origin and origin.line}
    for resource in world.resources:
        if resource.origin.line:
            sources.add(resource.origin.source)
        annotations = mapping_at(resource.raw, "metadata.annotations")
        # Nearly all objects have none, or those of others.
        if annotations and any(_OURS in key for key in annotations):
            suppressions += _by_annotations(resource)
    for source in sorted(sources):
        comments = world.comments_of(source)
        suppressions += [suppression for comment in comments for suppression in _by_comment(comment, source)]
    return tuple(suppressions)


def _by_annotations(resource: Resource) -> Iterator[Suppression]:
    annotations = mapping_at(resource.raw, "metadata.annotations")
    why = annotations.get(REASON)
    for key, value in annotations.items():
        text = value if isinstance(value, str) else ""
        if key == LISTED:
            rest, until, undated = _without_date(text)
            reason, later, unclear = _without_date(why if isinstance(why, str) else "")
            names: Sequence[str] = _RULES.split(rest)
            until, undated = until or later, undated or unclear
        elif key.startswith(SINGLE):
            reason, until, undated = _without_date(text)
            names = [key.removeprefix(SINGLE)]
        else:
            continue
        yield Suppression(
            names=tuple(dict.fromkeys(filter(None, names))),
            origin=resource.origin,
            reason=reason,
            until=until,
            undated=undated,
            subject=resource.ref,
            # No path says a key with a quote in it.
            field=str(_ANNOTATIONS if '"' in key else _ANNOTATIONS / key),
        )


def _by_comment(comment: Comment, source: str) -> Iterator[Suppression]:
    command = _IGNORE.match(comment.says)
    if command is None:
        return
    rest, until, undated = _without_date(comment.says[command.end() :].strip(_AROUND))
    names: list[str] = []
    at = 0
    while rule := _RULE.match(rest, at):
        names.append(rule[1])
        at = rule.end()
        # Without anything that tells of another rule, this was the last one.
        if rule.end() == rule.end(1):
            break
    yield Suppression(
        names=tuple(dict.fromkeys(names)),
        origin=Origin(source, comment.line),
        reason=rest[at:].strip(_AROUND),
        until=until,
        undated=undated,
        lines=comment.lines,
    )


def _without_date(text: str) -> tuple[str, date | None, str]:
    """Return a text without `until=DATE`, the date, and the text of an invalid date."""
    match = _UNTIL.search(text)
    if match is None:
        return text.strip(_AROUND), None, ""
    rest = f"{text[: match.start()].rstrip(_AROUND)} {text[match.end() :].lstrip(_AROUND)}".strip(_AROUND)
    try:
        until = date.fromisoformat(match[2]) if _DATE.fullmatch(match[2]) else None
    except ValueError:
        until = None
    return rest, until, "" if until else f"until={match[2]}"


@lint_rule("GWP0007", "info")
def suppression_unused(world: LintWorld) -> Iterator[Finding]:
    """A suppression has nothing to suppress, or has expired.

    The problem is fixed or has moved to another line. A suppression that stays hides the next such problem. An expired
    suppression (for example `until=2026-12-31` after that day), or one with an invalid date, suppresses nothing.
    Suppressions of rules that were not checked are not reported, nor, in manifests, suppressions of rules that need the
    status of controllers.

    Source: ruff's RUF100 and mypy's `unused-ignore`, which report the same of comments in Python.
    """
    # What has nothing to suppress is known once all other rules were checked: see `unused_in`.
    for suppression in world.once(suppressions_of):
        if suppression.names and not suppression.holds(world.settings.today):
            dated = f"was until {suppression.until}" if suppression.until else f"has no date in {suppression.undated}"
            remedy = "remove it, or give it a later date" if suppression.until else "write until=YYYY-MM-DD"
            message = f"the suppression of {_names(suppression)} {dated}, and no longer counts"
            yield suppression_finding(suppression, message, remedy)


@lint_rule("GWP0008", "warning")
def unknown_rule_id(world: LintWorld) -> Iterator[Finding]:
    """A suppression or the config file names a rule that does not exist.

    The intended rule still reports its findings or, if it should be selected, is not checked: then the finding is an
    error. The rule applies whichever rules are selected, because a misspelled name selects nothing.

    Source: istioctl analyze, which warns of the codes of messages that it does not know.
    """
    settings = world.settings
    for name in dict.fromkeys((*settings.selected, *settings.ignored, *settings.severities)):
        if instead := rule_hint(name):
            severity: Severity | None = "error" if name in settings.selected else None
            origin = settings.written.get(name)
            fix = Fix(words=instead)
            yield Finding(subject=None, message=_no_rule(name), fix=fix, severity=severity, origin=origin)
    for suppression in world.once(suppressions_of):
        for name in suppression.names:
            if instead := rule_hint(name):
                yield suppression_finding(suppression, _no_rule(name), instead)
        if not suppression.names:
            remedy = "write the id of a rule, such as GWP1001"
            yield suppression_finding(suppression, "the suppression names no rule", remedy)


@lint_rule("GWP0012", "error", "configuration")
def suppression_without_reason(world: LintWorld) -> Iterator[Finding]:
    """A suppression lacks the required reason.

    Without a reason, nobody can tell whether the suppression is still needed. The rule applies if the config file sets
    `require-reason: true`, or with `--require-reason`; the suppression stays in effect.

    Source: `require-description` of eslint-comments, which asks the same of comments in JavaScript.
    """
    for suppression in world.once(suppressions_of) if world.settings.require_reason else ():
        if suppression.names and not suppression.reason:
            listed = suppression.how == "annotation" and LISTED in suppression.field
            where = f"in the annotation {REASON}" if listed else "behind it"
            message = f"{_names(suppression)} is suppressed without a reason"
            yield suppression_finding(suppression, message, f"write it {where}")


def suppression_finding(suppression: Suppression, message: str, remedy: str) -> Finding:
    """Return a finding about a suppression."""
    return Finding(
        subject=suppression.subject,
        message=message,
        field=suppression.field,
        fix=Fix(words=remedy),
        origin=suppression.origin,
    )


def rule_hint(name: str) -> str:
    """Return a hint for the name of a rule that does not exist, or "" if it exists."""
    from kubectl_policy.lint.rules import RULES  # noqa: PLC0415 (the rule above is one of them)

    if any(rule.is_called(name) for rule in RULES):
        return ""
    names = [rule.name for rule in RULES]
    # Of letters that look like digits, an id has none; of two ids, neither is more like a third one.
    written = (name.upper().translate(_DIGITS), name.lower().replace("_", "-"))
    near = next((spelling for spelling in written if spelling in {*names, *(rule.id for rule in RULES)}), "")
    near = near or nearest(name, names)
    return f"did you mean {near}?" if near else "docs/rules.md lists all rules"


def _no_rule(name: str) -> str:
    return f'there is no rule "{name if len(name) <= _MAX_NAME_LENGTH else f"{name[:_MAX_NAME_LENGTH]}…"}"'


def _names(suppression: Suppression) -> str:
    return ", ".join(name[:_MAX_NAME_LENGTH] for name in suppression.names)
