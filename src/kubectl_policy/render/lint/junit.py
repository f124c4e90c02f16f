"""Findings as a JUnit report: a test for each, and for each rule that found nothing one that passed.

It is what the schema of Jenkins' xUnit plugin allows, which is the strictest reader of what is called JUnit; `file` of
a test, which GitLab knows, is not.
"""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING, Final
from xml.etree.ElementTree import Element, SubElement, indent, tostring

from kubectl_policy.render.lint.locations import path_of
from kubectl_policy.render.lint.wording import notes, rule_label, sentence, suppression_label
from kubectl_policy.render.output.escape import escape_controls

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from kubectl_policy.lint.finding import Finding
    from kubectl_policy.lint.report import Report

_NAME: Final = "kubectl-policy lint"
_HEAD: Final = '<?xml version="1.0" encoding="UTF-8"?>\n'


def lint_junit(report: Report) -> str:
    """Return a test suite in which the findings that fail the run are failures, and others are passed or skipped."""
    suite = _element(None, "testsuite", name=_NAME)
    names, summaries = _Names(), {rule.id: rule.summary for rule in report.rules}
    for finding in report.findings:
        test = names.test(suite, finding, report)
        text = _text(finding, summaries)
        if report.settings.fails(finding.severity_):
            _element(test, "failure", message=sentence(finding), type=finding.severity_).text = text
        else:
            _element(test, "system-out").text = f"{finding.severity_}: {text}"
    for finding, reason in _skipped(report):
        test = names.test(suite, finding, report)
        _element(test, "skipped", message=reason).text = _text(finding, summaries)
    for rule in report.rules:
        if rule.id not in names.rules:
            _element(suite, "testcase", classname=f"{rule.id} {rule.name}", name="nothing found")
    root = _with_totals(suite)
    indent(root)
    text = tostring(root, encoding="unicode")
    # For a CI that reads it in a log nothing is a command; characters that are written as numbers mean the same.
    return f"{_HEAD}{text}\n".replace("::", ":&#58;").replace("##", "#&#35;")


class _Names:
    """The unique names of test cases; readers drop cases with equal names."""

    def __init__(self) -> None:
        self._times = Counter[tuple[str, str]]()
        self.rules = set[str]()

    def test(self, suite: Element, finding: Finding, report: Report) -> Element:
        """Add a test case for a finding, with a name that does not depend on lines."""
        self.rules.add(finding.rule)
        name = _name(finding, report)
        self._times[rule_label(finding), name] += 1
        times = self._times[rule_label(finding), name]
        return _element(
            suite, "testcase", classname=rule_label(finding), name=f"{name} #{times}" if times > 1 else name
        )


def _name(finding: Finding, report: Report) -> str:
    """Return the name of a test case: `HTTPRoute shop/checkout, spec.parentRefs[0] (shop.yaml)`."""
    path, subject = path_of(finding.origin, report), finding.subject
    label = ", ".join(filter(None, (str(subject), finding.field))) if subject else ""
    return f"{label} ({path})" if label and path else label or path or finding.message


def _text(finding: Finding, summaries: Mapping[str, str]) -> str:
    """Return the sentence, the notes and the summary of the rule of a finding, escaped for XML."""
    first = (f"{finding.origin}: " if finding.origin else "") + sentence(finding)
    summary = summaries.get(finding.rule, "")
    return "\n".join(map(escape_controls, (first, *notes(finding), *([summary] if summary else []))))


def _skipped(report: Report) -> Iterable[tuple[Finding, str]]:
    """Yield the findings that do not count, with the reason."""
    for finding in report.unknown:
        yield finding, "could not be decided, because some of what decides it was not seen"
    for finding in report.known:
        yield finding, f"known since {report.scope.since}" if report.scope.since else "known"
    for suppressed in report.suppressed:
        yield suppressed.finding, f"suppressed by {suppression_label(suppressed)}"


def _with_totals(suite: Element) -> Element:
    """Return the document of a suite with the numbers of test cases."""
    tests = suite.findall("testcase")
    numbers = {"tests": len(tests), "failures": len(suite.findall("testcase/failure")), "errors": 0}
    root = _element(None, "testsuites", name=_NAME, **numbers)
    for key, number in {**numbers, "skipped": len(suite.findall("testcase/skipped"))}.items():
        suite.set(key, str(number))
    root.append(suite)
    return root


def _element(parent: Element | None, tag: str, /, **attributes: object) -> Element:
    """Return a new element, a child of its parent if it has one; escape what XML cannot hold in an attribute."""
    escaped = {key: escape_controls(str(attribute)) for key, attribute in attributes.items()}
    return Element(tag, escaped) if parent is None else SubElement(parent, tag, escaped)
