"""How the settings in force on an object changed over a row of states, and which state brought each change."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Final, Literal, TypeAlias

from msgspec import Struct, field
from msgspec.structs import replace

from kubectl_policy.model.refs import names_as_in
from kubectl_policy.questions.shared.effects import covered_paths
from kubectl_policy.questions.shared.in_force import effective_entries, group_entries
from kubectl_policy.questions.shared.places import at_line
from kubectl_policy.topology.references import ROUTES

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterable, Mapping

    from kubectl_policy.analysis import Analysis
    from kubectl_policy.model import GroupKind, Json, NodeRef
    from kubectl_policy.model.authorship import Commit
    from kubectl_policy.questions.shared.in_force import Setting
    from kubectl_policy.questions.shared.places import Locate
    from kubectl_policy.topology import Path

Sort: TypeAlias = Literal["appeared", "changed", "deleted"]
Traffic: TypeAlias = Literal["", "lost", "gained"]
# Where a setting is in force: at which sections of the object, as a kind and a field of it.
_Place: TypeAlias = "tuple[GroupKind, str, tuple[str, ...]]"
_NOTHING: Final[Mapping[str, Setting]] = {}


class Version(Struct, frozen=True, kw_only=True):
    """A state, by the commit that made it what it is, None if it is not committed; without analysis, there is nothing.

    Before the `first` one there is nothing; what is before one that `is_cut` off is not known.
    """

    commit: Commit | None
    analysis: Analysis | None
    is_first: bool = False
    is_cut: bool = False


class SettingChange(Struct, frozen=True, kw_only=True):
    """A setting that differs: what was in force, and what is; None where nothing was, or is.

    `sections` are those of the object at which it does so, empty if at all of them, or if it has none.
    """

    kind: GroupKind
    field: str
    before: Setting | None
    after: Setting | None
    sections: tuple[str, ...]


class Change(Struct, frozen=True, kw_only=True):
    """What a commit changed for the object; without one, what differs on disk.

    `traffic` is whether requests reach it no more, or again; `left` and `joined` are the listeners to which a route is
    not attached any more, and to which it is now.
    """

    commit: Commit | None
    sort: Sort
    traffic: Traffic
    left: tuple[NodeRef, ...]
    joined: tuple[NodeRef, ...]
    settings: tuple[SettingChange, ...]


class History(Struct, frozen=True, kw_only=True):
    """The changes of one object, newest first.

    `commits` is how many were looked at. There may be `more` changes before; `is_cut` is whether that is because the
    older commits are not in this clone of the repository.
    """

    subject: NodeRef
    changes: tuple[Change, ...]
    commits: int
    more: bool
    is_cut: bool


class _Effects(Struct, frozen=True, kw_only=True):
    """What is in force on an object in one state; there is no object if `exists` is false. A `route` is as it was."""

    exists: bool = False
    carries_traffic: bool = False
    listeners: frozenset[NodeRef] = frozenset()
    settings: Mapping[_Place, Mapping[str, Setting]]
    sections: tuple[str, ...] = ()
    route: Mapping[str, Json] = field(default_factory=dict[str, "Json"])

    def named_as_in(self, later: _Effects) -> _Effects:
        """The same with the sections of a route by the names that they have in a later state."""
        if not (self.route and later.route):
            return self
        sections = names_as_in(later.route, self.route)
        names = dict(zip(self.sections, sections, strict=True))
        settings = {
            (kind, name, tuple(names[section] for section in there)): found
            for (kind, name, there), found in self.settings.items()
        }
        return replace(self, settings=settings, sections=sections)


_ABSENT: Final = _Effects(settings={})


def history(
    versions: Iterable[Version],
    subject: NodeRef,
    *,
    limit: int,
    wanted: Callable[[GroupKind, str], bool],
    locate: Locate,
) -> History:
    """The last changes of an object over states that are given newest first; no more states are asked for than needed.

    Only settings that are `wanted`, by kind and field, count.
    """
    changes: list[Change] = []
    later: tuple[Version, _Effects] | None = None
    commits, is_cut = 0, False
    for version in versions:
        same = later is not None and later[0].analysis is version.analysis
        effects = later[1] if later and same else _effects(version.analysis, subject, wanted)
        if later:
            changes += _change(later[0], later[1], effects, locate)
        if len(changes) >= limit:
            return History(subject=subject, changes=tuple(changes), commits=commits, more=True, is_cut=False)
        commits += version.commit is not None
        if version.is_first:
            changes += _change(version, effects, _ABSENT, locate)
        is_cut = version.is_cut
        later = version, effects
    return History(subject=subject, changes=tuple(changes), commits=commits, more=is_cut, is_cut=is_cut)


def _effects(analysis: Analysis | None, subject: NodeRef, wanted: Callable[[GroupKind, str], bool]) -> _Effects:
    if analysis is None or not analysis.index.get(subject.object):
        return _ABSENT
    paths = covered_paths(analysis, subject)
    settings: dict[_Place, dict[str, Setting]] = {}
    for group in group_entries(analysis, effective_entries(analysis, subject, paths)):
        places = dict.fromkeys(_sections(paths[position], subject) for position in group.positions)
        for setting in group.settings:
            if wanted(group.kind, setting.field):
                for sections in places:
                    here = settings.setdefault((group.kind, setting.field, sections), {})
                    here.setdefault(_identity(setting), setting)
    bindings = analysis.topology.bindings(subject.object)
    return _Effects(
        exists=True,
        carries_traffic=any(map(analysis.topology.carries_traffic, paths)),
        listeners=frozenset(each.listener for each in bindings if each.state == "attached" and each.listener),
        settings=settings,
        sections=tuple(analysis.topology.sections(subject.object)),
        route=analysis.index.raw(subject.object) if subject.object.group_kind in ROUTES else {},
    )


def _sections(path: Path, subject: NodeRef) -> tuple[str, ...]:
    return tuple(node.section for node in path if node.section and node.object == subject.object)


def _identity(setting: Setting) -> str:
    """What tells settings apart: their values, and who says them."""
    said = [setting.value, str(setting.source.object), setting.removed, setting.certain]
    return json.dumps(said, sort_keys=True, default=str)


def _change(version: Version, after: _Effects, before: _Effects, locate: Locate) -> list[Change]:
    """What differs between a state and the one before it, if anything does."""
    if not (after.exists or before.exists):
        return []
    settings = _setting_changes(before.named_as_in(after), after, locate)
    joined = tuple(sorted(after.listeners - before.listeners))
    left = tuple(sorted(before.listeners - after.listeners))
    traffic: Traffic = ""
    if after.carries_traffic != before.carries_traffic:
        traffic = "gained" if after.carries_traffic else "lost"
    sort: Sort = "changed" if after.exists and before.exists else "appeared" if after.exists else "deleted"
    if sort == "changed" and not (settings or joined or left or traffic):
        return []
    found = Change(commit=version.commit, sort=sort, traffic=traffic, left=left, joined=joined, settings=settings)
    return [found]


def _setting_changes(before: _Effects, after: _Effects, locate: Locate) -> tuple[SettingChange, ...]:
    """The settings that differ, each once for all sections of the object at which it does so in the same way."""
    together: dict[tuple[GroupKind, str, str, str], tuple[Setting | None, Setting | None, list[str]]] = {}
    for place in dict.fromkeys((*before.settings, *after.settings)):
        kind, field, sections = place
        old, new = before.settings.get(place, _NOTHING), after.settings.get(place, _NOTHING)
        gone = [each for each in old if each not in new]
        come = [each for each in new if each not in old]
        for number in range(max(len(gone), len(come))):
            lost, found = (each[number] if number < len(each) else "" for each in (gone, come))
            key = (kind, field, lost, found)
            together.setdefault(key, (old.get(lost), new.get(found), []))[2].extend(sections)
    every = {*before.sections, *after.sections}
    return tuple(
        SettingChange(
            kind=kind,
            field=field,
            before=old and at_line(old, locate),
            after=new and at_line(new, locate),
            sections=_some(sections, every),
        )
        for (kind, field, _, _), (old, new, sections) in sorted(together.items(), key=lambda item: item[0])
    )


def _some(sections: Iterable[str], every: Collection[str]) -> tuple[str, ...]:
    """The sections in their order, unless these are all."""
    some = tuple(dict.fromkeys(sections))
    return () if set(some) >= set(every) else some
