"""What is in force of a kind, by the policy that sets it: each setting once, with the paths on which it is so."""

from __future__ import annotations

from typing import TYPE_CHECKING

from msgspec import Struct

from kubectl_policy.render.words.reasons import why_beaten, why_without_effect
from kubectl_policy.render.words.settings import without_keys

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from kubectl_policy.model import NodeRef, ObjectRef
    from kubectl_policy.questions.shared.in_force import InForce, Setting
    from kubectl_policy.resolution import Fate, Source


class Beaten(Struct, frozen=True, kw_only=True):
    """A declared value that another one beat, in words why, and the positions of the paths on which it did."""

    fate: Fate
    why: str
    positions: tuple[int, ...]


class Row(Struct, frozen=True, kw_only=True):
    """A setting, the positions of the paths on which it is in force, and what it beat there.

    Of several that are shown together, `together` are all.
    """

    setting: Setting
    positions: frozenset[int]
    beaten: tuple[Beaten, ...]
    together: tuple[Setting, ...] = ()


class Replaced(Struct, frozen=True, kw_only=True):
    """Fields of one source for which nothing else stands, why that is so, and where."""

    source: Source
    why: str
    fates: tuple[Fate, ...]
    positions: frozenset[int]


class OfSource(Struct, frozen=True, kw_only=True):
    """What one policy sets of a kind, by way of whichever of its targets, or what an object sets itself.

    `replaced` is what it beat without setting it.
    """

    source: Source
    targets: tuple[NodeRef, ...]
    rows: tuple[Row, ...]
    replaced: tuple[Replaced, ...]


class OfKind(Struct, frozen=True, kw_only=True):
    """All that is in force of one kind; `without` is what was beaten by something that sets nothing here itself."""

    groups: tuple[InForce, ...]
    positions: frozenset[int]
    sources: tuple[OfSource, ...]
    without: tuple[Replaced, ...]


# By what two sources are the same for a reader: the policy, and how it came there.
_Who = tuple["ObjectRef", bool, bool]
# What makes two of something the same for a reader; a value, which may be of any sort, by its text.
_Key = tuple[object, ...]


def who(source: Source) -> _Who:
    """What makes sources the same for a reader, by way of whichever targets: the policy, and how it came there."""
    return source.object, source.overrides, bool(source.filter)


class _Collected:
    """What was found of one source so far."""

    def __init__(self, source: Source) -> None:
        self.source = source
        self.targets: dict[NodeRef, None] = {}
        self.rows: dict[_Key, tuple[Setting, set[int], dict[_Key, tuple[Fate, str, set[int]]]]] = {}
        self.replaced: dict[tuple[_Who, str], tuple[Source, dict[_Key, Fate], set[int]]] = {}

    def add(self, setting: Setting, group: InForce) -> None:
        key = (setting.field, repr(setting.value), setting.removed, setting.certain, setting.defaulted)
        _, positions, beaten = self.rows.setdefault(key, (setting, set(), {}))
        positions.update(group.positions)
        for fate in setting.instead_of:
            why = why_beaten(fate, setting.source, group)
            _, _, where = beaten.setdefault((who(fate.source), repr(fate.value), why), (fate, why, set()))
            where.update(group.positions)

    def replace(self, fate: Fate, why: str, group: InForce) -> None:
        _, fates, positions = self.replaced.setdefault((who(fate.source), why), (fate.source, {}, set()))
        fates.setdefault((fate.field, repr(fate.value)), fate)
        positions.update(group.positions)

    def result(self) -> OfSource:
        rows = (
            Row(
                setting=setting,
                positions=frozenset(positions),
                beaten=tuple(
                    Beaten(fate=fate, why=why, positions=tuple(sorted(where))) for fate, why, where in beaten.values()
                ),
            )
            for setting, positions, beaten in self.rows.values()
        )
        return OfSource(
            source=self.source,
            targets=tuple(self.targets),
            rows=tuple(rows),
            replaced=_replaced(self.replaced),
        )


def _replaced(
    collected: dict[tuple[_Who, str], tuple[Source, dict[_Key, Fate], set[int]]],
) -> tuple[Replaced, ...]:
    return tuple(
        Replaced(source=source, why=why, fates=tuple(fates.values()), positions=frozenset(positions))
        for (_, why), (source, fates, positions) in collected.items()
    )


def by_policy(groups: Sequence[InForce]) -> OfKind:
    """What groups of one kind result in, by the source that sets it; the most specific source of each path first."""
    collected: dict[_Who, _Collected] = {}
    for group in groups:
        setting_something = {who(setting.source) for setting in group.settings}
        for source in reversed(group.contest.order):
            if who(source) in setting_something or source.object in group.policies:
                _of(collected, source).targets.setdefault(source.target)
        for setting in without_keys(group.settings):
            _of(collected, setting.source).targets.setdefault(setting.source.target)
            _of(collected, setting.source).add(setting, group)
    nobody = _Collected(groups[0].contest.order[0])
    for group in groups:
        for fate in without_keys(group.without_effect):
            beater = next((each for each in fate.superseded_by if who(each) in collected), None)
            if fate.state == "unheeded" and who(fate.source) in collected:
                beater = fate.source
            whose = collected[who(beater)] if beater else nobody
            whose.replace(fate, why_without_effect(fate, group), group)
    return OfKind(
        groups=tuple(groups),
        positions=frozenset(position for group in groups for position in group.positions),
        sources=tuple(each.result() for each in collected.values()),
        without=_replaced(nobody.replaced),
    )


def _of(collected: dict[_Who, _Collected], source: Source) -> _Collected:
    found = collected.get(who(source))
    if found is None:
        found = collected[who(source)] = _Collected(source)
    return found


def in_force_elsewhere(kind: OfKind, fates: Iterable[Fate]) -> bool:
    """Whether all of some declared values are shown anyway, as they are in force on other paths."""
    shown = {
        (who(row.setting.source), row.setting.field, repr(row.setting.value))
        for source in kind.sources
        for row in source.rows
    }
    return all((who(fate.source), fate.field, repr(fate.value)) in shown for fate in fates)
