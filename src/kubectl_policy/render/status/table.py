"""Computed against reported as rows, one for each comparison, and as names of objects."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final, TypeAlias

from kubectl_policy.questions.status.comparison import Comparison, ObjectStatus
from kubectl_policy.render.output.columns import Column, Table
from kubectl_policy.render.status.words import VERDICTS, claim_words, short_reason

if TYPE_CHECKING:
    from collections.abc import Iterable

    from kubectl_policy.model import ObjectRef
    from kubectl_policy.questions.status.comparison import Claim
    from kubectl_policy.questions.status.report import StatusReport
    from kubectl_policy.render.output.text import View

_Row: TypeAlias = tuple[ObjectStatus, Comparison]


def _claimed(side: Claim | None) -> str:
    return claim_words(side) if side else ""


def _number(value: int | None) -> str:
    return "" if value is None else str(value)


_COLUMNS: Final[tuple[Column[_Row], ...]] = (
    Column("OBJECT", lambda row: str(row[0].resource.ref)),
    Column("AT", lambda row: str(row[1].at or "")),
    Column("CONDITION", lambda row: row[1].type),
    Column("REPORTED", lambda row: _claimed(row[1].reported)),
    Column("COMPUTED", lambda row: _claimed(row[1].computed)),
    Column("VERDICT", lambda row: VERDICTS[row[1].verdict]),
    Column("EXPLAINED BY", lambda row: short_reason(row[1])),
    Column("CONTROLLER", lambda row: row[1].controller, narrow=False),
    Column("SEEN", lambda row: _number(row[1].seen), narrow=False),
    Column("GENERATION", lambda row: _number(row[0].generation), narrow=False),
    Column("MESSAGE", lambda row: row[1].reported.message if row[1].reported else "", narrow=False),
)


def status_table(report: StatusReport, view: View) -> Table[_Row]:
    """A row for each comparison that disagrees; if everything is asked for, also those that agree or are undecided."""
    return Table(_COLUMNS, [row for row in report.comparisons if view.everything or row[1].disagrees])


def disagreeing_objects(report: StatusReport) -> Iterable[ObjectRef]:
    """The objects on which something disagrees."""
    return (one.resource.ref for one in report.objects if one.disagrees)
