"""History of the settings in force on an object over a row of states, with the state that brought each change."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Annotated, Final, Literal, TypeAlias

from msgspec import Meta, Struct, field
from msgspec.structs import replace

from kubectl_policy.model.kind_roles import ROUTES
from kubectl_policy.model.refs import names_as_in
from kubectl_policy.questions.shared.effects import covered_paths
from kubectl_policy.questions.shared.fields import LocateLine, with_line
from kubectl_policy.questions.shared.in_force import Setting, effective_entries, group_entries

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping

    from kubectl_policy.analysis import Analysis
    from kubectl_policy.model import GroupKind, Json, NodeRef
    from kubectl_policy.model.authorship import Commit

Sort: TypeAlias = Literal["appeared", "changed", "deleted"]
Traffic: TypeAlias = Literal["", "lost", "gained"]
# Where a setting is in force: at which sections of the object, as a kind and a field of it.
_SettingAt: TypeAlias = "tuple[GroupKind, str, tuple[str, ...]]"
_NOTHING: Final[Mapping[str, Setting]] = {}


class Version(Struct, frozen=True, kw_only=True):
    """A state, by the commit that made it what it is."""

    commit: Commit | None
    """None if it is not committed."""
    analysis: Analysis | None
    """None if there is nothing."""
    is_first: bool = False
    is_cut: bool = False
    """Whether it is not known what is before."""


class SettingChange(Struct, frozen=True, kw_only=True):
    """A setting that differs."""

    policy_kind: Annotated[GroupKind, Meta(description="The policy kind.")]
    field: Annotated[str, Meta(description="The path of the field.")]
    before: Annotated[Setting | None, Meta(description="The setting before the change; null if none was in force.")]
    after: Annotated[Setting | None, Meta(description="The setting after the change; null if none is in force.")]
    sections: Annotated[
        tuple[str, ...],
        Meta(description="The sections of the object at which the setting differs; empty for all sections."),
    ]


_TRAFFIC: Final = "lost: requests no longer reach the object; gained: requests reach it again; otherwise empty."


class Change(Struct, frozen=True, kw_only=True):
    """The changes of the object in a commit."""

    commit: Annotated[Commit | None, Meta(description="The commit; null for uncommitted changes on disk.")]
    sort: Annotated[
        Sort,
        Meta(description="The type of the change; appeared: the object is new; deleted: the object no longer exists."),
    ]
    traffic: Annotated[Traffic, Meta(description=_TRAFFIC)]
    left: Annotated[tuple[NodeRef, ...], Meta(description="The listeners to which the object is no longer attached.")]
    joined: Annotated[tuple[NodeRef, ...], Meta(description="The listeners to which the object is newly attached.")]
    settings: Annotated[tuple[SettingChange, ...], Meta(description="The changed settings.")]


class History(Struct, frozen=True, kw_only=True):
    """The changes of the effective settings of an object over the commits of a git repository."""

    subject: Annotated[NodeRef, Meta(description="The object or section.")]
    commits: Annotated[int, Meta(description="The number of examined commits that change manifests.", ge=0)]
    more: Annotated[bool, Meta(description="Whether there may be earlier changes than those listed.")]
    shallow: Annotated[bool, Meta(description="Whether earlier changes may be missing because the clone is shallow.")]
    changes: Annotated[tuple[Change, ...], Meta(description="The changes, newest first.")]


class _Effects(Struct, frozen=True, kw_only=True):
    """Settings in force on an object in one state; there is no object if `exists` is false."""

    exists: bool = False
    carries_traffic: bool = False
    listeners: frozenset[NodeRef] = frozenset()
    settings: Mapping[_SettingAt, Mapping[str, Setting]]
    sections: tuple[str, ...] = ()
    route: Mapping[str, Json] = field(default_factory=dict[str, "Json"])

    def named_as_in(self, later: _Effects) -> _Effects:
        """Return the effects with the sections of a route by the names that they have in a later state."""
        if not (self.route and later.route):
            return self
        sections = names_as_in(later.route, self.route)
        names = dict(zip(self.sections, sections, strict=True))
        settings = {
            (kind, name, tuple(names[section] for section in names_there)): settings_there
            for (kind, name, names_there), settings_there in self.settings.items()
        }
        return replace(self, settings=settings, sections=sections)


_ABSENT: Final = _Effects(settings={})


def history(
    versions: Iterable[Version],
    subject: NodeRef,
    *,
    limit: int,
    wanted: Callable[[GroupKind, str], bool],
    locate: LocateLine,
) -> History:
    """Return the last changes of an object, of settings that are `wanted`; newer versions come first, as needed."""
    changes: list[Change] = []
    later: tuple[Version, _Effects] | None = None
    commits, is_cut = 0, False
    for version in versions:
        same = later is not None and later[0].analysis is version.analysis
        effects = later[1] if later and same else _effects(version.analysis, subject, wanted)
        if later:
            changes += _change(later[0], later[1], effects, locate)
        if len(changes) >= limit:
            return History(subject=subject, changes=tuple(changes), commits=commits, more=True, shallow=False)
        commits += version.commit is not None
        if version.is_first:
            changes += _change(version, effects, _ABSENT, locate)
        is_cut = version.is_cut
        later = version, effects
    return History(subject=subject, changes=tuple(changes), commits=commits, more=is_cut, shallow=is_cut)


def _effects(analysis: Analysis | None, subject: NodeRef, wanted: Callable[[GroupKind, str], bool]) -> _Effects:
    if analysis is None or not analysis.index.get(subject.object):
        return _ABSENT
    paths = covered_paths(analysis, subject)
    settings: dict[_SettingAt, dict[str, Setting]] = {}
    for group in group_entries(analysis, effective_entries(analysis, subject, paths)):
        of_paths = (
            (node for node in paths[position] if node.object == subject.object) for position in group.extent.positions
        )
        section_sets = dict.fromkeys(tuple(node.section for node in nodes if node.section) for nodes in of_paths)
        for setting in group.settings:
            if wanted(group.kind, setting.field):
                for sections in section_sets:
                    at_sections = settings.setdefault((group.kind, setting.field, sections), {})
                    identity = [setting.value, str(setting.source.object), setting.removed, setting.certain]
                    at_sections.setdefault(json.dumps(identity, sort_keys=True, default=str), setting)
    bindings = analysis.topology.bindings(subject.object)
    return _Effects(
        exists=True,
        carries_traffic=any(map(analysis.topology.carries_traffic, paths)),
        listeners=frozenset(
            binding.listener for binding in bindings if binding.state == "attached" and binding.listener
        ),
        settings=settings,
        sections=tuple(analysis.topology.sections(subject.object)),
        route=analysis.index.defaulted(subject.object) if subject.object.group_kind in ROUTES else {},
    )


def _change(version: Version, after: _Effects, before: _Effects, locate: LocateLine) -> list[Change]:
    """Compare a state with the one before it; empty if nothing differs."""
    if not (after.exists or before.exists):
        return []
    settings = _setting_changes(before.named_as_in(after), after, locate)
    joined = tuple(sorted(after.listeners - before.listeners))
    lost_listeners = tuple(sorted(before.listeners - after.listeners))
    traffic: Traffic = ""
    if after.carries_traffic != before.carries_traffic:
        traffic = "gained" if after.carries_traffic else "lost"
    sort: Sort = "changed" if after.exists and before.exists else "appeared" if after.exists else "deleted"
    if sort == "changed" and not (settings or joined or lost_listeners or traffic):
        return []
    change = Change(
        commit=version.commit, sort=sort, traffic=traffic, left=lost_listeners, joined=joined, settings=settings
    )
    return [change]


def _setting_changes(before: _Effects, after: _Effects, locate: LocateLine) -> tuple[SettingChange, ...]:
    """The settings that differ, each once for all sections of the object at which it does so in the same way."""
    together: dict[tuple[GroupKind, str, str, str], tuple[Setting | None, Setting | None, list[str]]] = {}
    for position in dict.fromkeys((*before.settings, *after.settings)):
        kind, field, sections = position
        old, new = before.settings.get(position, _NOTHING), after.settings.get(position, _NOTHING)
        gone = [identity for identity in old if identity not in new]
        come = [identity for identity in new if identity not in old]
        for number in range(max(len(gone), len(come))):
            old_identity, new_identity = (part[number] if number < len(part) else "" for part in (gone, come))
            key = (kind, field, old_identity, new_identity)
            together.setdefault(key, (old.get(old_identity), new.get(new_identity), []))[2].extend(sections)
    every = {*before.sections, *after.sections}
    return tuple(
        SettingChange(
            policy_kind=kind,
            field=field,
            before=old and with_line(old, locate),
            after=new and with_line(new, locate),
            sections=() if every.issubset(sections) else tuple(dict.fromkeys(sections)),
        )
        for (kind, field, _, _), (old, new, sections) in sorted(together.items(), key=lambda item: item[0])
    )
