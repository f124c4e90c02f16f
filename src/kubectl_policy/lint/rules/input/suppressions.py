"""GWP0007, GWP0008 and GWP0012: what is not to be reported, and what has to be said so that it is not."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from kubectl_policy.lint.finding import Finding, Fix
from kubectl_policy.lint.linted import nearest
from kubectl_policy.lint.rule import lint_rule
from kubectl_policy.lint.suppression import LISTED, REASON, suppressions_of

if TYPE_CHECKING:
    from collections.abc import Iterator

    from kubectl_policy.lint.linted import Linted
    from kubectl_policy.lint.suppression import Suppression
    from kubectl_policy.model import Severity

# Of what stands where a rule is expected, so much is shown.
_LONGEST: Final = 40
_DIGITS: Final = str.maketrans("OIL", "011")


@lint_rule("GWP0007", "info")
def suppression_unused(world: Linted) -> Iterator[Finding]:
    """A suppression has nothing to suppress, or has ended.

    What it was for is put right, or is on another line now. If it stays, it hides the next mistake of that sort. One
    that has ended (`until=2026-12-31` is over) suppresses nothing any more, nor does one whose date is none. It is not
    reported for rules that are not checked, nor in manifests for those that need what controllers report.

    Source: ruff's RUF100 and mypy's `unused-ignore`, which report the same of comments in Python.
    """
    # What has nothing to suppress is known once all other rules were checked: see `suppressing`.
    for suppression in world.once(suppressions_of):
        if suppression.names and not suppression.holds(world.settings.today):
            dated = f"was until {suppression.until}" if suppression.until else f"has no date in {suppression.undated}"
            remedy = "remove it, or give it a later date" if suppression.until else "write until=YYYY-MM-DD"
            yield said_of(suppression, f"the suppression of {_names(suppression)} {dated}, and counts no more", remedy)


@lint_rule("GWP0008", "warning")
def unknown_rule_id(world: Linted) -> Iterator[Finding]:
    """A suppression, or the config file, names a rule that does not exist.

    What is meant is reported all the same or, if it was to be selected, is not checked: then this is an error. It is
    found whichever rules are selected, as a name that is misspelt selects nothing.

    Source: istioctl analyze, which warns of the codes of messages that it does not know.
    """
    settings = world.settings
    for name in dict.fromkeys((*settings.selected, *settings.ignored, *settings.severities)):
        if instead := misspelt(name):
            severity: Severity | None = "error" if name in settings.selected else None
            origin = settings.written.get(name)
            fix = Fix(words=instead)
            yield Finding(subject=None, message=_no_rule(name), fix=fix, severity=severity, origin=origin)
    for suppression in world.once(suppressions_of):
        for name in suppression.names:
            if instead := misspelt(name):
                yield said_of(suppression, _no_rule(name), instead)
        if not suppression.names:
            yield said_of(suppression, "the suppression names no rule", "write the id of a rule, such as GWP1001")


@lint_rule("GWP0012", "error", "configuration")
def suppression_without_reason(world: Linted) -> Iterator[Finding]:
    """A suppression gives no reason, although each has to give one.

    Nobody can tell whether it is still needed. It is found if the config file says `require-reason: true`, or with
    `--require-reason`; what is suppressed stays so.

    Source: `require-description` of eslint-comments, which asks the same of comments in JavaScript.
    """
    for suppression in world.once(suppressions_of) if world.settings.require_reason else ():
        if suppression.names and not suppression.reason:
            listed = suppression.how == "annotation" and LISTED in suppression.field
            where = f"in the annotation {REASON}" if listed else "behind it"
            yield said_of(suppression, f"{_names(suppression)} is suppressed without a reason", f"write it {where}")


def said_of(suppression: Suppression, message: str, remedy: str) -> Finding:
    """What is wrong with a suppression, where it is written."""
    return Finding(
        subject=suppression.subject,
        message=message,
        field=suppression.field,
        fix=Fix(words=remedy),
        origin=suppression.origin,
    )


def misspelt(name: str) -> str:
    """Which rule may be meant by a name that no rule has, or where to look; empty if one is called so."""
    from kubectl_policy.lint.rules import RULES  # noqa: PLC0415 (the rule above is one of them)

    if any(rule.is_called(name) for rule in RULES):
        return ""
    names = [rule.name for rule in RULES]
    # Of letters that look like digits, an id has none; of two ids, neither is more like a third one.
    written = (name.upper().translate(_DIGITS), name.lower().replace("_", "-"))
    near = next((each for each in written if each in {*names, *(rule.id for rule in RULES)}), "")
    near = near or nearest(name, names)
    return f"did you mean {near}?" if near else "docs/rules.md lists all rules"


def _no_rule(name: str) -> str:
    return f'there is no rule "{name if len(name) <= _LONGEST else f"{name[:_LONGEST]}…"}"'


def _names(suppression: Suppression) -> str:
    return ", ".join(name[:_LONGEST] for name in suppression.names)
