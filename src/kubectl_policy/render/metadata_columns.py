"""Columns that kubectl has for objects of any kind: age, labels, and whether a controller accepts them."""

from __future__ import annotations

from datetime import UTC, datetime
from functools import partial
from typing import TYPE_CHECKING, Any, Final, Protocol

from kubectl_policy.model.fields import labels_of, text_at
from kubectl_policy.render.output.columns import SPARE, Column, Number

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping

    from kubectl_policy.model import Json, Resource
    from kubectl_policy.questions.shared.reported import ReportedCondition
    from kubectl_policy.render.output.text import Style, View


class _WithRaw(Protocol):
    """A row with its object as it was read."""

    @property
    def raw(self) -> Mapping[str, Json]: ...


UNKNOWN: Final = Number(-1, "<unknown>")
# In seconds.
_MINUTE: Final = 60
_HOUR: Final = 60 * _MINUTE
_DAY: Final = 24 * _HOUR
_YEAR: Final = 365 * _DAY
# As apimachinery's `duration.HumanDuration`: below a limit, how many of a unit, and how many of the next one if any.
_UNITS: Final = (
    (2 * _MINUTE, (1, "s"), None),
    (10 * _MINUTE, (_MINUTE, "m"), (1, "s")),
    (3 * _HOUR, (_MINUTE, "m"), None),
    (8 * _HOUR, (_HOUR, "h"), (_MINUTE, "m")),
    (2 * _DAY, (_HOUR, "h"), None),
    (8 * _DAY, (_DAY, "d"), (_HOUR, "h")),
    (2 * _YEAR, (_DAY, "d"), None),
    (8 * _YEAR, (_YEAR, "y"), (_DAY, "d")),
)


def now() -> datetime:
    """Return the time from which ages are counted."""
    return datetime.now(UTC)


def age(created: datetime | None) -> Number:
    """Return the age of an object as kubectl writes it: `16m`, `3h12m`, `45d`; it sorts by seconds."""
    if created is None:
        return UNKNOWN
    seconds = max(int((now() - created).total_seconds()), 0)
    whole, rest = next(((unit, next_) for limit, unit, next_ in _UNITS if seconds < limit), ((_YEAR, "y"), None))
    text = f"{seconds // whole[0]}{whole[1]}"
    remaining = seconds % whole[0] // rest[0] if rest else 0
    return Number(seconds, f"{text}{remaining}{rest[1]}" if rest and remaining else text)


def age_column(resource: Callable[[Any], Resource]) -> Column[Any]:
    """Return the column AGE of objects that an API server gave out; a time in a manifest of a person's is no age."""

    def cell(row: object) -> Number:
        obj = resource(row)
        return age(obj.created if text_at(obj.raw, "metadata.uid") else None)

    return Column("AGE", cell, rank=SPARE)


def accepted_column(reported: Callable[[Any], Iterable[ReportedCondition]], rank: int) -> Column[Any]:
    """Return the column ACCEPTED: what controllers reported, of routes and policies for each parent or ancestor."""

    def cell(row: object) -> str | Number:
        reports = [condition for condition in reported(row) if condition.type == "Accepted"]
        texts = [f"{condition.status}{' (stale)' * condition.stale}" for condition in reports]
        if len(set(texts)) > 1:
            return f"{texts.count('True')} of {len(texts)}"
        return texts[0] if texts else UNKNOWN

    def style(row: object) -> Style:
        return status_style(text) if isinstance(text := cell(row), str) else ""

    return Column("ACCEPTED", cell, rank=rank, style=style)


def status_style(status: str) -> Style:
    """Return the style of the status of a condition that is good if it is True."""
    return "value" if status == "True" else "error" if status.startswith("False") else ""


def label_columns(view: View, titles: Iterable[str]) -> Iterator[Column[Any]]:
    """Return a column for each label that the view asks for, and one for all labels, next to columns with titles."""
    taken = {*titles}
    for name in view.label_columns:
        short = name.rpartition("/")[2].upper()
        title = f"LABEL {name.upper()}" if short in taken else short
        taken.add(title)
        yield Column(title, partial(_label, name))
    if view.labels:
        yield Column("LABELS", _labels)


def _label(name: str, row: _WithRaw) -> str:
    return labels_of(row.raw).get(name, "")


def _labels(row: _WithRaw) -> str:
    return ",".join(f"{key}={value}" for key, value in sorted(labels_of(row.raw).items()))


def distinct(texts: Iterable[str]) -> tuple[str, ...]:
    """Return texts in their order, each once."""
    return tuple(dict.fromkeys(texts))


def reported_phrases(conditions: Iterable[ReportedCondition]) -> tuple[str, ...]:
    """Return each type of condition with its status; where several differ, the number of those that are True."""
    by_type: dict[str, list[str]] = {}
    for condition in conditions:
        by_type.setdefault(condition.type, []).append(condition.status)
    return tuple(
        f"{type_} {statuses[0]}"
        if len(set(statuses)) == 1
        else f"{type_} {statuses.count('True')} of {len(statuses)} True"
        for type_, statuses in by_type.items()
    )
