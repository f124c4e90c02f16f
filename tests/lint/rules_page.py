"""docs/rules.md: every rule in its own words, with a world in which it finds something and what it finds there."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from kubectl_policy.lint.rules import RULES
from tests.lint.rule_worlds import found_by, world_before, wrong_world

if TYPE_CHECKING:
    from collections.abc import Iterator

    from kubectl_policy.lint.finding import Finding
    from kubectl_policy.lint.rule import Need, Rule

_NEEDS: Final[dict[Need, str]] = {
    "closed world": "certain only if the input is complete (`--complete`), else unknown",
    "status": "needs the status that controllers reported",
    "profile": "needs a profile of the policy kind",
    "configuration": "needs an entry in the config file",
    "base": "needs `--diff-base`",
}
_GROUPS: Final = {
    "0": "Input",
    "1": "Policies and their targets",
    "11": "Network policies",
    "2": "Policies that conflict or have no effect",
    "3": "What controllers reported",
    "4": "Routes and their parents",
    "5": "References",
    "6": "Listeners and certificates",
    "7": "Matches",
    "8": "Definitions of policy kinds",
    "9": "Requirements of your own, and changes for the worse",
}
_INTRODUCTION: Final = """\
# Rules of `kubectl policy lint`

Each rule has an id and a name. Use either of them in `--select`, `--ignore` and `--severity`, and to suppress a
finding (see [Linting](linting.md)). Ids are never reused. A finding is certain, or it is *unknown* if the objects that
decide it were not read. Unknown findings are counted, but no run fails because of them.

This page is generated from the rules (`python -m tests.test_docs`). Each rule has an example from the tests, followed
by the findings of the rule.
"""


def page() -> str:
    """The page."""
    return "\n".join(_lines())


def _lines() -> Iterator[str]:
    yield _INTRODUCTION
    yield f"There are {len(RULES)} rules.\n"
    yield "| id | name | severity | what it finds |"
    yield "|---|---|---|---|"
    for rule in RULES:
        yield f"| {rule.id} | [{rule.name}](#{rule.id.lower()}-{rule.name}) | {rule.severity} | {rule.summary} |"
    for number, title in _GROUPS.items():
        yield f"\n## {title}"
        for rule in RULES:
            if _group_of(rule) == number:
                yield from _entry(rule)


def _group_of(rule: Rule) -> str:
    """The longest number of a group with which that of a rule begins."""
    return max((number for number in _GROUPS if rule.id.startswith(f"GWP{number}")), key=len)


def _entry(rule: Rule) -> Iterator[str]:
    needs = "".join(f"; {_NEEDS[need]}" for need in rule.needs)
    yield f"\n### {rule.id} {rule.name}\n"
    yield f"{rule.severity.capitalize()}{needs}{'; about security' if rule.guards else ''}.\n"
    yield f"{rule.summary}\n\n{rule.explanation}\n"
    before = world_before(rule)
    if before:
        yield f"Before the change:\n\n```yaml\n{before}```\n\nAfter it:\n"
    yield f"```yaml\n{wrong_world(rule)}```\n"
    findings = [finding for finding in found_by(rule, wrong_world(rule)) if finding.certain]
    yield "\n".join(f"- {said}" for said in dict.fromkeys(map(_said, findings)))


def _said(finding: Finding) -> str:
    field = f" `{finding.field}`" if finding.field else ""
    subject = f"{finding.subject}{field}: " if finding.subject else ""
    fix = f" *{finding.fix.words}*" if finding.fix else ""
    return f"{subject}{finding.message}.{fix}"
