"""Findings as text: a line each, the worst first, what there is to say of each below it, and at the end how many."""

from __future__ import annotations

from itertools import chain
from typing import TYPE_CHECKING, Final

from msgspec.structs import replace

from kubectl_policy.render.lint.wording import (
    lint_headline,
    message_words,
    notes,
    rule_words,
    subject_words,
    world_words,
    worst_first,
)
from kubectl_policy.render.output.encoding import as_yaml
from kubectl_policy.render.output.text import Line, Segment
from kubectl_policy.render.wording.names import count
from kubectl_policy.render.wording.sections import BLANK, section, unseen_section

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from kubectl_policy.lint.finding import Finding
    from kubectl_policy.lint.report import Report
    from kubectl_policy.render.output.text import Document, Style, View

# At a terminal, so many findings are shown, and so many of those that say the same of several objects.
_SHOWN: Final = 30
_SHOWN_ALIKE: Final = 5
# So many that say the same are told together there.
_ALIKE: Final = 3
_STYLES: Final[dict[str, Style]] = {"error": "error", "warning": "warning"}
_TITLED: Final = 2
_NOTE: Final = 4


def lint_text(report: Report, view: View) -> Document:
    """All findings; at a terminal, those of many objects together and the first ones, unless all are asked for."""
    body = lint_body(report, view)
    style: Style = "title" if report.findings or not report.complete else ""
    last = Line((Segment(lint_headline(report, hints=not view.everything), style, prose=True),), 0, 2)
    return (*body, *([BLANK] if body else []), last)


def lint_body(report: Report, view: View) -> Document:
    """The same without the sentence at the end."""
    found = worst_first(report.findings)
    manifests: set[str] = set()
    groups = _alike(found) if view.cuts else [[finding] for finding in found]
    shown = groups[:_SHOWN] if view.cuts else groups
    lines = [line for group in shown for line in _block(group, manifests, view)]
    left = sum(map(len, groups[len(shown) :]))
    if left:
        lines.append(_aside(f"and {count(left, 'more finding')}: --show-all shows them", 0, view))
    parts = (lines, *(_withheld(report, view) if view.everything else ()), unseen_section(report.unseen))
    body = tuple(chain.from_iterable(parts))
    # A part that has a title begins with an empty line.
    return body[1:] if body[:1] == (BLANK,) else body


def _alike(found: Iterable[Finding]) -> list[list[Finding]]:
    """Findings in groups of which each says the same of several objects; of too few to be told together, alone."""
    groups: dict[object, list[Finding]] = {}
    for finding in found:
        fix = (finding.fix.words, repr(finding.fix.manifest)) if finding.fix else ()
        key = (finding.severity_, finding.rule, message_words(finding), fix, finding.related, finding.worlds)
        groups.setdefault(key, []).append(finding)
    return [
        part
        for group in groups.values()
        for part in ([group] if len(group) >= _ALIKE else [[finding] for finding in group])
    ]


def _block(group: Sequence[Finding], manifests: set[str], view: View) -> Iterator[Line]:
    first = group[0]
    if len(group) == 1:
        yield _line(first, view)
    else:
        said = Segment(message_words(first), prose=True)
        yield Line(_words([*_lead(first, first.severity_), said], view), 0, _NOTE)
    for note in notes(first):
        yield _aside(note, _NOTE, view)
        if note.startswith("fix: "):
            yield from _manifest(first, manifests, view)
    if len(group) > 1:
        for finding in group[:_SHOWN_ALIKE]:
            spans = [*_where(finding), Segment(subject_words(finding), "subject")]
            yield Line(_words(spans, view), _NOTE, _NOTE + 2)
        left = len(group) - _SHOWN_ALIKE
        if left > 0:
            yield _aside(f"and {count(left, 'more object')}: --show-all shows them", _NOTE, view)


def _line(finding: Finding, view: View, word: str = "", more: str = "") -> Line:
    """`shop.yaml:14: error GWP1001 target-not-found: BackendTLSPolicy shop/checkout: Service shop/checkot ...`.

    With another `word` than the severity it stands below a title.
    """
    subject = subject_words(finding)
    spans = [*_where(finding), *_lead(finding, word or finding.severity_)]
    spans += [Segment(f"{subject}:", "subject")] if subject else []
    spans.append(Segment(message_words(finding), prose=True))
    spans += [Segment(more, "aside", prose=True)] if more else []
    indent = _TITLED if word else 0
    return Line(_words(spans, view), indent, indent + _NOTE)


def _lead(finding: Finding, word: str) -> tuple[Segment, Segment]:
    return Segment(word, _STYLES.get(word, "aside")), Segment(f"{rule_words(finding)}:", "aside")


def _where(finding: Finding) -> tuple[Segment, ...]:
    return (Segment(f"{finding.origin}:"),) if finding.origin else ()


def _words(spans: Sequence[Segment], view: View) -> tuple[Segment, ...]:
    """Spans with spaces between them; a line for programs, which look for the beginning of each, is never continued."""
    if view.terminal:
        return (*spans[:1], *(replace(span, text=f" {span.text}") for span in spans[1:]))
    return (*(replace(span, text=f"{span.text} ", prose=False) for span in spans[:-1]), replace(spans[-1], prose=False))


def _aside(text: str, indent: int, view: View) -> Line:
    return Line((Segment(text, "aside", prose=view.terminal),), indent, indent + 2)


def _manifest(finding: Finding, known: set[str], view: View) -> Iterator[Line]:
    """What is to be added, if it is an object, once for all that need it."""
    manifest = finding.fix.manifest if finding.fix else None
    text = as_yaml(dict(manifest), unicode=view.unicode) if manifest else ""
    if text and text not in known:
        known.add(text)
        yield from (Line((Segment(line, "value"),), _NOTE + 2, _NOTE + 4) for line in text.split("\n"))


def _withheld(report: Report, view: View) -> Iterator[tuple[Line, ...]]:
    """What does not count, for those who ask for everything."""
    unknown = (_line(finding, view, "unknown", world_words(finding)) for finding in report.unknown)
    yield section("Could not be decided", unknown)
    yield section("Known", (_line(finding, view, "known") for finding in report.known))
    yield section("Fixed", (_line(finding, view, "fixed") for finding in report.fixed))
    yield section(
        "Suppressed",
        (
            _line(it.finding, view, "suppressed", f"({': '.join(filter(None, (it.how, it.reason)))})")
            for it in report.suppressed
        ),
    )
