"""What linting says as a versioned document. Nothing is cut."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from msgspec import Struct

from kubectl_policy.lint.finding import Fix, Related
from kubectl_policy.lint.report import How, Report
from kubectl_policy.lint.rule import Need, Rule
from kubectl_policy.model import Severity  # noqa: TC001 (the schema is made of annotations)
from kubectl_policy.render.lint.words import Told, lint_headline, severity_of_rule, told
from kubectl_policy.render.output.documents import Field, document, shape
from kubectl_policy.render.output.parts import UNSEEN, headline_field

if TYPE_CHECKING:
    from collections.abc import Callable

    from kubectl_policy.lint.finding import Finding

shape(
    Related,
    "relatedObject",
    Field("object"),
    Field("words", doc="What it has to do with the finding."),
    Field("field", doc="The dotted path in it that matters; empty if none does."),
    Field("origin"),
)
shape(
    Fix,
    "lintFix",
    Field("words", doc="What to do, for people."),
    Field("value", doc="What to write in the place of the field; empty if that is not all there is to do."),
    Field("manifest", type=dict[str, Any] | None, doc="An object to add; null if that is not what is to be done."),
)
_FINDING: Final = (
    Field("rule", "finding.rule", doc="The id of the rule."),
    Field("name", "rule_name", doc="The name of the rule; empty if it is none of those that were checked."),
    Field("severity"),
    Field("object", "finding.subject", doc="What it is about; null for what is no object, such as a file."),
    Field("field", "finding.field", doc="The dotted path in the object; empty for the whole."),
    Field("message", "finding.message", doc="What is wrong with it, without its name."),
    Field("reason", "finding.reason", doc="The API's own word for it, if it has one."),
    Field("origin", "finding.origin"),
    Field("related", "finding.related", doc="What else it is about."),
    Field("fix", "finding.fix"),
    Field("worlds", "finding.worlds", doc="In which of several worlds it is; empty if in all."),
    Field("fingerprint", "finding.fingerprint", doc="What it is known by in other runs; no two have the same."),
)
shape(Told, "finding", *_FINDING)


class _Withheld(Struct, frozen=True):
    """A finding that was suppressed."""

    finding: Told
    how: How
    reason: str


shape(
    _Withheld,
    "suppressedFinding",
    Field("how"),
    Field("reason", doc="Why, if that was said."),
    Field("finding"),
)


class _CheckedRule(Struct, frozen=True):
    """A rule with the severity that it has in this run."""

    rule: Rule
    severity: Severity


shape(
    _CheckedRule,
    "lintRule",
    Field("id", "rule.id"),
    Field("name", "rule.name"),
    Field("severity", doc="Where a finding has another one, the finding says it."),
    Field("summary", "rule.summary"),
    Field("needs", lambda checked: checked.rule.needs, type=tuple[Need, ...], doc="What it needs to know."),
)


def _number(name: str, severity: Severity) -> Field:
    return Field(name, lambda report: report.counts[severity], type=int, limits={"minimum": 0})


def _findings(name: str, get: Callable[[Report], tuple[Finding, ...]], doc: str) -> Field:
    return Field(name, lambda report: told(get(report), report), type=tuple[Told, ...], doc=doc)


def _withheld(report: Report) -> tuple[_Withheld, ...]:
    found = told((each.finding for each in report.suppressed), report)
    return tuple(
        _Withheld(finding, each.how, each.reason) for finding, each in zip(found, report.suppressed, strict=True)
    )


def _rules(report: Report) -> tuple[_CheckedRule, ...]:
    return tuple(_CheckedRule(rule, severity_of_rule(rule, report)) for rule in report.rules)


LINT_REPORT: Final = document(
    Report,
    "LintReport",
    headline_field(lint_headline),
    Field("complete", doc="False if something could not be decided, as not all that decides it was seen."),
    Field("fails", doc="Whether a finding is so bad that the run is to fail."),
    Field("failOn", "settings.fail_on", doc="How bad that is at least."),
    Field("worlds", doc="What was looked at apart from each other, such as clusters; empty if that is one world."),
    Field("since", doc="The baseline or base that the findings are new since; empty if none was given."),
    Field("objects", doc="How many were looked at.", limits={"minimum": 0}),
    Field("files", doc="In how many files these are.", limits={"minimum": 0}),
    _number("errors", "error"),
    _number("warnings", "warning"),
    _number("infos", "info"),
    _findings("findings", lambda report: report.findings, "What counts, by file and line."),
    _findings("unknown", lambda report: report.unknowns, "What may be wrong: something that decides it was not seen."),
    _findings("known", lambda report: report.known, "What does not count, as it was there before."),
    _findings("fixed", lambda report: report.fixed, "What was there before and is no more."),
    Field("suppressed", _withheld, type=tuple[_Withheld, ...], doc="What does not count, as somebody said so."),
    Field("rules", _rules, type=tuple[_CheckedRule, ...], doc="The rules that were checked."),
    UNSEEN,
    doc="The answer of lint.",
)
