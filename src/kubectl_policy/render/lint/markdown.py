"""Findings as a comment on a pull request, in GitHub Flavored Markdown, which GitLab understands."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Final

from kubectl_policy.model.kinds import listed
from kubectl_policy.render.lint.locations import path_of
from kubectl_policy.render.lint.wording import (
    lint_headline,
    message_text,
    notes,
    rule_label,
    subject_label,
    worst_first,
)
from kubectl_policy.render.output.escape import code, escape_markup
from kubectl_policy.render.output.text import cut
from kubectl_policy.render.wording.blind_spots import remedy_phrase
from kubectl_policy.render.wording.names import count

if TYPE_CHECKING:
    from collections.abc import Iterable

    from kubectl_policy.lint.finding import Finding
    from kubectl_policy.lint.report import Report
    from kubectl_policy.questions.blind_spots.unknowns import BlindSpot

# A comment holds 65,536 characters; what is around it needs some.
LIMIT: Final = 60_000
# The sentence about what was left out, at its longest.
_NOTE: Final = 300
_MAX_HEADLINE: Final = 600
# A line that takes more than this part of all is left out, so that others are not.
_SHARE: Final = 10
_WARNING: Final = "\n> [!WARNING]\n> Not everything could be seen, so there may be more:\n"
_HEAD: Final = "\n| Severity | Where | Object | Problem | Rule |\n| --- | --- | --- | --- | --- |\n"
_FIXED: Final = "\n<details><summary>Fixed</summary>\n\n"
_END: Final = "\n</details>\n"


def mark(report: Report) -> str:
    """Return the invisible first line of comments about the same worlds."""
    worlds = "".join(f" {re.sub('[^A-Za-z0-9._]+', '-', world)}" for world in report.scope.worlds)
    return f"<!-- kubectl-policy lint{cut(worlds, _NOTE)} -->\n"


def markdown(report: Report, limit: int, *, marked: bool) -> str:
    """Return a title, the headline, blind spots and the findings, the worst first, in at most `limit` bytes.

    A `marked` text begins with a mark by which a later run finds the comment to replace. Lines without room are left
    out, and the last line says how many. Input is escaped: no markup, links, mentions or references.
    """
    headline = escape_markup(cut(lint_headline(report), _MAX_HEADLINE))
    text = _LimitedText(
        f"{mark(report) if marked else ''}### Gateway API policies and routes\n\n**{headline}**\n", limit
    )
    fixed = (f"- {_object(finding)} {escape_markup(message_text(finding))}\n" for finding in report.fixed)
    if report.unseen:
        text.add("blind spot", map(_unseen, report.unseen), _WARNING)
    text.add("finding", (_row(finding, report) for finding in worst_first(report.findings)), _HEAD)
    text.add("fixed finding", fixed, _FIXED, _END)
    return text.ended()


class _LimitedText:
    """Markdown text of limited size."""

    def __init__(self, opening: str, limit: int) -> None:
        """Begin with an opening."""
        self._pieces, self._left_out = [opening], list[str]()
        self._longest = limit // _SHARE
        self._room = limit - _size(opening) - _NOTE

    def add(self, noun: str, lines: Iterable[str], head: str, end: str = "") -> None:
        """Add lines between a head and an end, as many as there is room for."""
        room, shown, left_out = self._room - _size(head + end), list[str](), 0
        for line in lines:
            size = _size(line)
            if size <= min(room, self._longest):
                shown.append(line)
                room -= size
                continue
            left_out += 1
            # One that is too long for any room does not take the place of others.
            room = room if size > self._longest else 0
        if shown or left_out:
            self._pieces += [head, *shown, end]
            self._room = room
        self._left_out += [count(left_out, noun)] if left_out else []

    def ended(self) -> str:
        """Return the text, with a note on what was left out."""
        note = f"\nNot shown for lack of room: {listed(self._left_out)}.\n" if self._left_out else ""
        return "".join((*self._pieces, note))


def _size(text: str) -> int:
    return len(text.encode("utf-8", "surrogatepass"))


def _unseen(blind_spot: BlindSpot) -> str:
    return f"> - {escape_markup(f'{blind_spot.what}: {blind_spot.reason}. {remedy_phrase(blind_spot)}')}\n"


def _row(finding: Finding, report: Report) -> str:
    origin = finding.origin
    path = path_of(origin, report)
    where = code(f"{path}:{origin.line}") if origin and path else code(str(origin)) if origin else ""
    problem = "<br>".join(map(escape_markup, (message_text(finding), *notes(finding))))
    severity = f"**{finding.severity_}**" if report.settings.fails(finding.severity_) else finding.severity_
    return f"| {severity} | {where} | {_object(finding)} | {problem} | {escape_markup(rule_label(finding))} |\n"


def _object(finding: Finding) -> str:
    subject = subject_label(finding)
    return code(subject) if subject else ""
