"""Findings as a report of Checkstyle, which Jenkins, reviewdog and many others read."""

from __future__ import annotations

from typing import TYPE_CHECKING

from kubectl_policy.render.lint.places import place_of
from kubectl_policy.render.lint.words import notes, sentence, told
from kubectl_policy.render.lint.xml_text import as_xml, element

if TYPE_CHECKING:
    from xml.etree.ElementTree import Element

    from kubectl_policy.lint.report import Report
    from kubectl_policy.render.lint.words import Told


def lint_checkstyle(report: Report) -> str:
    """All findings that count, by file."""
    root = element(None, "checkstyle", version="4.3")
    files: dict[str, Element] = {}
    for each in told(report.findings, report):
        path = place_of(each.finding, report)
        if path not in files:
            files[path] = element(root, "file", name=path)
        _error(files[path], each)
    return as_xml(root)


def _error(file: Element, each: Told) -> None:
    finding = each.finding
    line = (finding.origin.line if finding.origin else 0) or 1
    message = "; ".join((sentence(finding), *notes(finding)))
    element(file, "error", line=line, severity=each.severity, message=message, source=f"kubectl-policy.{finding.rule}")
