"""What is in force of a kind, by the policy that sets it: each setting once, with the paths on which it is so."""

from __future__ import annotations

from typing import TYPE_CHECKING

from msgspec import Struct, field

from kubectl_policy.render.wording.reasons import why_beaten, why_without_effect
from kubectl_policy.render.wording.settings import without_keys

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from kubectl_policy.model import NodeRef, ObjectRef
    from kubectl_policy.questions.shared.in_force import InForce, Setting
    from kubectl_policy.resolution import Fate, Source


# What makes two of something the same for a reader; a value, which may be of any sort, by its text.
_Key = tuple[object, ...]


def who(source: Source) -> tuple[ObjectRef, bool, bool]:
    """What makes sources the same for a reader, by way of whichever targets: the policy, and how it came there."""
    return source.object, source.overrides, bool(source.filter)


class Beaten(Struct, kw_only=True):
    """A declared value that another one beat, in words why, and the positions of the paths on which it did."""

    fate: Fate
    why: str
    positions: set[int] = field(default_factory=set[int])


class Row(Struct, kw_only=True):
    """A setting, the positions of the paths on which it is in force, and what it beat there."""

    setting: Setting
    positions: set[int] = field(default_factory=set[int])
    beaten: dict[_Key, Beaten] = field(default_factory=dict[_Key, Beaten])
    together: tuple[Setting, ...] = ()
    """Of several that are shown together, all."""


class Replaced(Struct, kw_only=True):
    """Fields of one source for which nothing else stands, why that is so, and where."""

    source: Source
    why: str
    positions: set[int] = field(default_factory=set[int])
    by_value: dict[_Key, Fate] = field(default_factory=dict[_Key, "Fate"])

    @property
    def fates(self) -> tuple[Fate, ...]:
        """The fields, each value once."""
        return tuple(self.by_value.values())


class OfSource(Struct, kw_only=True):
    """What one policy sets of a kind, by way of whichever of its targets, or what an object sets itself."""

    source: Source
    targets: dict[NodeRef, None] = field(default_factory=dict["NodeRef", None])
    rows: dict[_Key, Row] = field(default_factory=dict[_Key, Row])
    replaced: dict[_Key, Replaced] = field(default_factory=dict[_Key, Replaced])
    """What it beat without setting it."""

    def add(self, setting: Setting, group: InForce) -> None:
        """Add a setting in force on the paths of a group."""
        key = (setting.field, repr(setting.value), setting.removed, setting.certain, setting.defaulted)
        row = self.rows.setdefault(key, Row(setting=setting))
        row.positions.update(group.extent.positions)
        for fate in setting.instead_of:
            why = why_beaten(fate, setting.source, group)
            beaten = row.beaten.setdefault((who(fate.source), repr(fate.value), why), Beaten(fate=fate, why=why))
            beaten.positions.update(group.extent.positions)

    def replace(self, fate: Fate, group: InForce) -> None:
        """Add a field that it beat on the paths of a group."""
        why = why_without_effect(fate, group)
        replaced = self.replaced.setdefault((who(fate.source), why), Replaced(source=fate.source, why=why))
        replaced.by_value.setdefault((fate.field, repr(fate.value)), fate)
        replaced.positions.update(group.extent.positions)


class OfKind(Struct, frozen=True, kw_only=True):
    """All that is in force of one kind."""

    groups: tuple[InForce, ...]
    positions: frozenset[int]
    sources: tuple[OfSource, ...]
    without: tuple[Replaced, ...]
    """What was beaten by something that sets nothing here itself."""


def by_policy(groups: Sequence[InForce]) -> OfKind:
    """What groups of one kind result in, by the source that sets it; the most specific source of each path first."""
    sources: dict[_Key, OfSource] = {}

    def of(source: Source) -> OfSource:
        return sources.setdefault(who(source), OfSource(source=source))

    for group in groups:
        setters = {who(setting.source) for setting in group.settings}
        for source in reversed(group.contest.order):
            if who(source) in setters or source.object in group.policies:
                of(source).targets.setdefault(source.target)
        for setting in without_keys(group.settings):
            of(setting.source).targets.setdefault(setting.source.target)
            of(setting.source).add(setting, group)
    nobody = OfSource(source=groups[0].contest.order[0])
    for group in groups:
        for fate in without_keys(group.without_effect):
            beater = next((source for source in fate.superseded_by if who(source) in sources), None)
            if fate.state == "unheeded" and who(fate.source) in sources:
                beater = fate.source
            (of(beater) if beater else nobody).replace(fate, group)
    return OfKind(
        groups=tuple(groups),
        positions=frozenset(position for group in groups for position in group.extent.positions),
        sources=tuple(sources.values()),
        without=tuple(nobody.replaced.values()),
    )


def in_force_elsewhere(kind: OfKind, fates: Iterable[Fate]) -> bool:
    """Whether all of some declared values are shown anyway, as they are in force on other paths."""
    shown = {
        (who(row.setting.source), row.setting.field, repr(row.setting.value))
        for source in kind.sources
        for row in source.rows.values()
    }
    return all((who(fate.source), fate.field, repr(fate.value)) in shown for fate in fates)
