"""Computed against reported as rows, in kubectl's column style: one for each comparison."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from kubectl_policy.render.output.columns import aligned
from kubectl_policy.render.output.text import Line, Span
from kubectl_policy.render.status.words import VERDICTS, claim_words, short_reason

if TYPE_CHECKING:
    from kubectl_policy.questions.status.comparison import Comparison, ObjectStatus
    from kubectl_policy.questions.status.report import StatusReport
    from kubectl_policy.render.output.text import Document

_NARROW: Final = ("OBJECT", "AT", "CONDITION", "REPORTED", "COMPUTED", "VERDICT", "EXPLAINED BY")
_WIDE: Final = (*_NARROW, "CONTROLLER", "SEEN", "GENERATION", "MESSAGE")


def status_table(report: StatusReport, *, wide: bool = False, everything: bool = False) -> Document:
    """A row for each comparison that disagrees; with `everything` also those that agree or cannot be decided."""
    header = _WIDE if wide else _NARROW
    rows = [_row(one, found)[: len(header)] for one, found in report.comparisons if everything or found.disagrees]
    return tuple(Line((Span(line),)) for line in aligned([header, *rows])) if rows else ()


def _row(one: ObjectStatus, found: Comparison) -> tuple[str, ...]:
    return (
        str(one.resource.ref),
        str(found.at) if found.at else "",
        found.type,
        claim_words(found.reported) if found.reported else "",
        claim_words(found.computed) if found.computed else "",
        VERDICTS[found.verdict],
        short_reason(found),
        found.controller,
        "" if found.seen is None else str(found.seen),
        "" if one.generation is None else str(one.generation),
        found.reported.message if found.reported else "",
    )


def status_names(report: StatusReport) -> Document:
    """`kind.group/name` of each object on which something disagrees, as other commands take it."""
    refs = (one.resource.ref for one in report.objects if one.disagrees)
    return tuple(Line((Span(f"{str(ref.group_kind).lower()}/{ref.name}"),)) for ref in refs)
