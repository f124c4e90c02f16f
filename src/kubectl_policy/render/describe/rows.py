"""Rows of settings, grouped by the policy that sets them; neighbouring fields joined into one row."""

from __future__ import annotations

from itertools import groupby, takewhile
from typing import TYPE_CHECKING, TypeAlias

from msgspec import Struct, field
from msgspec.structs import replace

from kubectl_policy.render.wording.names import flow
from kubectl_policy.render.wording.settings import why_superseded, without_effect_phrase, without_keys

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Sequence

    from kubectl_policy.model import NodeRef, ObjectRef
    from kubectl_policy.questions.shared.in_force import InForce, Setting
    from kubectl_policy.resolution import Fate, Source

# What makes two of something the same for a reader; a value, which may be of any sort, by its text.
_Key = tuple[object, ...]
# Whether some rows have room in one.
_Fits: TypeAlias = "Callable[[Sequence[FieldRow]], bool]"


def source_key(source: Source) -> tuple[ObjectRef, bool, bool]:
    """Return the key by which sources are the same for a reader, whatever their target."""
    return source.object, source.overrides, bool(source.filter)


class SupersededValue(Struct, kw_only=True):
    """A declared value that another one supersedes, the reason, and the positions of the paths where it does."""

    fate: Fate
    why: str
    positions: set[int] = field(default_factory=set[int])


class FieldRow(Struct, kw_only=True):
    """A setting, the positions of the paths on which it is in force, and the values that it supersedes there."""

    setting: Setting
    positions: set[int] = field(default_factory=set[int])
    superseded: dict[_Key, SupersededValue] = field(default_factory=dict[_Key, SupersededValue])
    together: tuple[Setting, ...] = ()
    """Of several that are shown together, all."""


class Replaced(Struct, kw_only=True):
    """Fields of one source without a successor, the reason, and the positions of the paths."""

    source: Source
    why: str
    positions: set[int] = field(default_factory=set[int])
    by_value: dict[_Key, Fate] = field(default_factory=dict[_Key, "Fate"])

    @property
    def fates(self) -> tuple[Fate, ...]:
        """The fields, each value once."""
        return tuple(self.by_value.values())


class OfSource(Struct, kw_only=True):
    """Settings of one kind by one policy, whatever its targets, or by an object itself."""

    source: Source
    targets: dict[NodeRef, None] = field(default_factory=dict["NodeRef", None])
    rows: dict[_Key, FieldRow] = field(default_factory=dict[_Key, FieldRow])
    replaced: dict[_Key, Replaced] = field(default_factory=dict[_Key, Replaced])
    """The fields that the policy supersedes without setting them."""

    def add(self, setting: Setting, group: InForce) -> None:
        """Add a setting in force on the paths of a group."""
        key = (setting.field, repr(setting.value), setting.removed, setting.certain, setting.defaulted)
        row = self.rows.setdefault(key, FieldRow(setting=setting))
        row.positions.update(group.extent.positions)
        for fate in setting.instead_of:
            value = SupersededValue(fate=fate, why=why_superseded(fate, setting.source, group))
            value = row.superseded.setdefault((source_key(fate.source), repr(fate.value), value.why), value)
            value.positions.update(group.extent.positions)

    def replace(self, fate: Fate, group: InForce) -> None:
        """Add a field that the setting supersedes on the paths of a group."""
        why = without_effect_phrase(fate, group)
        replaced = self.replaced.setdefault((source_key(fate.source), why), Replaced(source=fate.source, why=why))
        replaced.by_value.setdefault((fate.field, repr(fate.value)), fate)
        replaced.positions.update(group.extent.positions)


class OfKind(Struct, frozen=True, kw_only=True):
    """All settings in force of one kind."""

    groups: tuple[InForce, ...]
    positions: frozenset[int]
    sources: tuple[OfSource, ...]
    without: tuple[Replaced, ...]
    """Fields that something supersedes which sets nothing here itself."""


def by_policy(groups: Sequence[InForce]) -> OfKind:
    """Group the settings of one kind by the source that sets them; the most specific source of each path first."""
    sources: dict[_Key, OfSource] = {}

    def of(source: Source) -> OfSource:
        return sources.setdefault(source_key(source), OfSource(source=source))

    for group in groups:
        setters = {source_key(setting.source) for setting in group.settings}
        for source in reversed(group.contest.order):
            if source_key(source) in setters or source.object in group.policies:
                of(source).targets.setdefault(source.target)
        for setting in without_keys(group.settings):
            of(setting.source).targets.setdefault(setting.source.target)
            of(setting.source).add(setting, group)
    nobody = OfSource(source=groups[0].contest.order[0])
    for group in groups:
        for fate in without_keys(group.without_effect):
            winner = next((source for source in fate.superseded_by if source_key(source) in sources), None)
            if fate.state == "unheeded" and source_key(fate.source) in sources:
                winner = fate.source
            (of(winner) if winner else nobody).replace(fate, group)
    return OfKind(
        groups=tuple(groups),
        positions=frozenset(position for group in groups for position in group.extent.positions),
        sources=tuple(sources.values()),
        without=tuple(nobody.replaced.values()),
    )


def in_force_elsewhere(kind: OfKind, fates: Iterable[Fate]) -> bool:
    """Whether all of these declared values are shown anyway, as they are in force on other paths."""
    shown = {
        (source_key(row.setting.source), row.setting.field, repr(row.setting.value))
        for source in kind.sources
        for row in source.rows.values()
    }
    return all((source_key(fate.source), fate.field, repr(fate.value)) in shown for fate in fates)


def together(rows: Sequence[FieldRow], fits: _Fits) -> Iterator[FieldRow]:
    """Join neighbouring rows of one parent field: `backOff   baseInterval 100ms, maxInterval 1s`."""
    for is_apart, run in groupby(rows, lambda row: _alone(row.setting, row)):
        if is_apart:
            yield from run
            continue
        waiting: list[FieldRow] = []
        for unit in _units(list(run), fits):
            if waiting and not fits([*waiting, *unit]):
                yield _one(waiting)
                waiting = []
            waiting += unit
        yield _one(waiting)


def _units(rows: Sequence[FieldRow], fits: _Fits, depth: int = 1) -> Iterator[list[FieldRow]]:
    """Group rows by their parent field; a group that does not fit into a row is split by the next level."""
    for _, group in groupby(rows, lambda row: row.setting.field.split(".")[:depth]):
        unit = list(group)
        if len(unit) == 1 or fits(unit):
            yield unit
        elif len({row.setting.field for row in unit}) > 1:
            yield from _units(unit, fits, depth + 1)
        else:
            yield from ([row] for row in unit)


def parent_of(rows: Sequence[FieldRow]) -> str:
    """Return the field that all these fields are in: `retry.perRetry`; empty if there is none."""
    steps = (row.setting.field.split(".")[:-1] for row in rows)
    common = takewhile(lambda names: len(set(names)) == 1, zip(*steps, strict=False))
    return ".".join(names[0] for names in common)


def words_of(rows: Sequence[FieldRow]) -> str:
    """`baseInterval 100ms, maxInterval 1s`: fields by their names below their parent, with their values."""
    parent = parent_of(rows)
    return ", ".join(f"{row.setting.field.removeprefix(f'{parent}.')} {flow(row.setting.value)}" for row in rows)


def _one(rows: Sequence[FieldRow]) -> FieldRow:
    first = rows[0]
    if len(rows) == 1:
        return first
    setting = replace(first.setting, field=parent_of(rows), value=words_of(rows))
    return replace(first, setting=setting, together=tuple(row.setting for row in rows))


def _alone(setting: Setting, row: FieldRow) -> bool:
    """Whether a field needs a row of its own: it has a remark, or its value is not plain."""
    values = setting.value if isinstance(setting.value, list) else [setting.value]
    plain = all(isinstance(value, str | int | float) for value in values)
    remarked = row.superseded or setting.defaulted or setting.removed or not setting.certain or setting.blame
    return bool(remarked or not plain)
