"""Findings as text: a line each, the worst first, with notes, and a headline at the end."""

from __future__ import annotations

from itertools import chain
from typing import TYPE_CHECKING, Final

from msgspec.structs import replace

from kubectl_policy.render.lint.wording import (
    lint_headline,
    message_text,
    notes,
    rule_label,
    subject_label,
    suppression_label,
    world_label,
    worst_first,
)
from kubectl_policy.render.output.encoding import as_yaml
from kubectl_policy.render.output.text import Document, Line, Segment, Style, View
from kubectl_policy.render.wording.names import count
from kubectl_policy.render.wording.sections import BLANK, section, unseen_section

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from kubectl_policy.lint.finding import Finding
    from kubectl_policy.lint.report import Report

# At a terminal, so many findings are shown, and so many of those that say the same of several objects.
_MAX_GROUPS: Final = 30
_MAX_OBJECTS: Final = 5
# The number of similar findings from which on they are grouped at a terminal.
_MIN_GROUP: Final = 3
_STYLES: Final[dict[str, Style]] = {"error": "error", "warning": "warning"}
_TITLED: Final = 2
_NOTE: Final = 4


def lint_text(report: Report, view: View) -> Document:
    """Return the findings; a terminal gets similar ones grouped and the first groups only, unless all are requested."""
    body = lint_body(report, view)
    style: Style = "title" if report.findings or not report.complete else ""
    last = Line((Segment(lint_headline(report, hints=not view.everything), style, prose=True),), 0, 2)
    return (*body, *([BLANK] if body else []), last)


def lint_body(report: Report, view: View) -> Document:
    """Return the text without the headline."""
    findings = worst_first(report.findings)
    manifests: set[str] = set()
    groups = _groups(findings) if view.cuts else [[finding] for finding in findings]
    shown = groups[:_MAX_GROUPS] if view.cuts else groups
    lines = [line for group in shown for line in _block(group, manifests, view)]
    number = sum(map(len, groups[len(shown) :]))
    if number:
        lines.append(_aside(f"and {count(number, 'more finding')}: --show-all shows them", 0, view))
    parts = (lines, *(_uncounted(report, view) if view.everything else ()), unseen_section(report.unseen))
    body = tuple(chain.from_iterable(parts))
    # A part that has a title begins with an empty line.
    return body[1:] if body[:1] == (BLANK,) else body


def _groups(findings: Iterable[Finding]) -> list[list[Finding]]:
    """Group findings that report the same problem of several objects; small groups are split."""
    groups: dict[object, list[Finding]] = {}
    for finding in findings:
        fix = (finding.fix.words, repr(finding.fix.manifest)) if finding.fix else ()
        key = (finding.severity_, finding.rule, message_text(finding), fix, finding.related, finding.worlds)
        groups.setdefault(key, []).append(finding)
    return [
        part
        for group in groups.values()
        for part in ([group] if len(group) >= _MIN_GROUP else [[finding] for finding in group])
    ]


def _block(group: Sequence[Finding], manifests: set[str], view: View) -> Iterator[Line]:
    first = group[0]
    if len(group) == 1:
        yield _line(first, view)
    else:
        message = Segment(message_text(first), prose=True)
        yield Line(_spaced([*_lead(first, first.severity_), message], view), 0, _NOTE)
    for note in notes(first):
        yield _aside(note, _NOTE, view)
        if note.startswith("fix: "):
            yield from _manifest(first, manifests, view)
    if len(group) > 1:
        for finding in group[:_MAX_OBJECTS]:
            spans = [*_where(finding), Segment(subject_label(finding), "subject")]
            yield Line(_spaced(spans, view), _NOTE, _NOTE + 2)
        number = len(group) - _MAX_OBJECTS
        if number > 0:
            yield _aside(f"and {count(number, 'more object')}: --show-all shows them", _NOTE, view)


def _line(finding: Finding, view: View, label: str = "", suffix: str = "") -> Line:
    """Return the line of a finding, below a title if a label replaces the severity.

    `shop.yaml:14: error GWP1001 target-not-found: BackendTLSPolicy shop/checkout: Service shop/checkot ...`
    """
    subject = subject_label(finding)
    spans = [*_where(finding), *_lead(finding, label or finding.severity_)]
    spans += [Segment(f"{subject}:", "subject")] if subject else []
    spans.append(Segment(message_text(finding), prose=True))
    spans += [Segment(suffix, "aside", prose=True)] if suffix else []
    indent = _TITLED if label else 0
    return Line(_spaced(spans, view), indent, indent + _NOTE)


def _lead(finding: Finding, label: str) -> tuple[Segment, Segment]:
    return Segment(label, _STYLES.get(label, "aside")), Segment(f"{rule_label(finding)}:", "aside")


def _where(finding: Finding) -> tuple[Segment, ...]:
    return (Segment(f"{finding.origin}:"),) if finding.origin else ()


def _spaced(spans: Sequence[Segment], view: View) -> tuple[Segment, ...]:
    """Return segments separated by spaces; lines for programs are never wrapped."""
    if view.terminal:
        return (*spans[:1], *(replace(span, text=f" {span.text}") for span in spans[1:]))
    return (*(replace(span, text=f"{span.text} ", prose=False) for span in spans[:-1]), replace(spans[-1], prose=False))


def _aside(text: str, indent: int, view: View) -> Line:
    return Line((Segment(text, "aside", prose=view.terminal),), indent, indent + 2)


def _manifest(finding: Finding, known: set[str], view: View) -> Iterator[Line]:
    """Yield the lines of a manifest to add, once for all findings that need it."""
    manifest = finding.fix.manifest if finding.fix else None
    text = as_yaml(dict(manifest), unicode=view.unicode) if manifest else ""
    if text and text not in known:
        known.add(text)
        yield from (Line((Segment(line, "value"),), _NOTE + 2, _NOTE + 4) for line in text.split("\n"))


def _uncounted(report: Report, view: View) -> Iterator[tuple[Line, ...]]:
    """Yield the sections of findings that do not count."""
    for title, label, findings in (
        ("Could not be decided", "unknown", report.unknown),
        ("Known", "known", report.known),
        ("Fixed", "fixed", report.fixed),
    ):
        yield section(
            title, (_line(finding, view, label, _in_parentheses(world_label(finding))) for finding in findings)
        )
    by = (
        (suppressed.finding, _in_parentheses(suppression_label(suppressed), world_label(suppressed.finding)))
        for suppressed in report.suppressed
    )
    yield section("Suppressed", (_line(finding, view, "suppressed", label) for finding, label in by))


def _in_parentheses(*parts: str) -> str:
    text = "; ".join(filter(None, parts))
    return f"({text})" if text else ""
