"""What cells of several lists have in common: what is unknown, entries that are named once, reported conditions."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from kubectl_policy.render.output.columns import Number

if TYPE_CHECKING:
    from collections.abc import Iterable

    from kubectl_policy.questions.shared.reported import ReportedCondition

UNKNOWN: Final = Number(-1, "<unknown>")


def distinct(words: Iterable[str]) -> tuple[str, ...]:
    """Each of the words once, in their order."""
    return tuple(dict.fromkeys(words))


def reported(conditions: Iterable[ReportedCondition]) -> tuple[str, ...]:
    """Each type of condition with its status; where several are reported that differ, how many are True."""
    by_type: dict[str, list[str]] = {}
    for condition in conditions:
        by_type.setdefault(condition.type, []).append(condition.status)
    return tuple(
        f"{type_} {statuses[0]}"
        if len(set(statuses)) == 1
        else f"{type_} {statuses.count('True')} of {len(statuses)} True"
        for type_, statuses in by_type.items()
    )
