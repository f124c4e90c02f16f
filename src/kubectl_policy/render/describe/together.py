"""Fields that stand side by side in one thing and share a row: `backOff   baseInterval 100ms, maxInterval 1s`."""

from __future__ import annotations

from itertools import groupby, takewhile
from typing import TYPE_CHECKING, TypeAlias

from msgspec.structs import replace

from kubectl_policy.render.wording.names import flow

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from kubectl_policy.questions.shared.in_force import Setting
    from kubectl_policy.render.describe.by_policy import Row

    # Whether some rows have room in one.
    _Fits: TypeAlias = Callable[[Sequence[Row]], bool]


def together(rows: Sequence[Row], fits: _Fits) -> Iterator[Row]:
    """Rows, those side by side that are in one thing as one: `backOff   baseInterval 100ms, maxInterval 1s`."""
    for alone, run in groupby(rows, lambda row: _alone(row.setting, row)):
        if alone:
            yield from run
            continue
        waiting: list[Row] = []
        for unit in _units(list(run), fits):
            if waiting and not fits([*waiting, *unit]):
                yield _one(waiting)
                waiting = []
            waiting += unit
        yield _one(waiting)


def _units(rows: Sequence[Row], fits: _Fits, depth: int = 1) -> Iterator[list[Row]]:
    """Rows by what they are in; what does not fit into a row as a whole by what it holds, and so on."""
    for _, group in groupby(rows, lambda row: row.setting.field.split(".")[:depth]):
        unit = list(group)
        if len(unit) == 1 or fits(unit):
            yield unit
        elif len({row.setting.field for row in unit}) > 1:
            yield from _units(unit, fits, depth + 1)
        else:
            yield from ([row] for row in unit)


def parent_of(rows: Sequence[Row]) -> str:
    """What all of some fields are in: `retry.perRetry`; empty if there is nothing."""
    steps = (row.setting.field.split(".")[:-1] for row in rows)
    common = takewhile(lambda names: len(set(names)) == 1, zip(*steps, strict=False))
    return ".".join(names[0] for names in common)


def words_of(rows: Sequence[Row]) -> str:
    """`baseInterval 100ms, maxInterval 1s`: the fields by their names in what they are in, with their values."""
    parent = parent_of(rows)
    return ", ".join(f"{row.setting.field.removeprefix(f'{parent}.')} {flow(row.setting.value)}" for row in rows)


def _one(rows: Sequence[Row]) -> Row:
    first = rows[0]
    if len(rows) == 1:
        return first
    setting = replace(first.setting, field=parent_of(rows), value=words_of(rows))
    return replace(first, setting=setting, together=tuple(row.setting for row in rows))


def _alone(setting: Setting, row: Row) -> bool:
    """Whether a field needs a row of its own: something is to be said of it, or its value is no plain one."""
    values = setting.value if isinstance(setting.value, list) else [setting.value]
    plain = all(isinstance(value, str | int | float) for value in values)
    said = row.beaten or setting.defaulted or setting.removed or not setting.certain or setting.blame
    return bool(said or not plain)
