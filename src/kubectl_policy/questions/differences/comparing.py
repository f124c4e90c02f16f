"""Finding what differs in the effective policies of two states: outcomes that differ alike are one change."""

from __future__ import annotations

import json
from functools import cache, partial
from typing import TYPE_CHECKING, Final

from msgspec import Struct, field
from msgspec.structs import replace

from kubectl_policy.comparison import Pair, StateComparison, may_exist
from kubectl_policy.lazy import cached_method
from kubectl_policy.model.fields import same_json
from kubectl_policy.questions.differences.effects import (
    SCOPED,
    SORTS,
    ChangedObject,
    EffectChange,
    EffectiveValue,
    FieldChange,
    Where,
)
from kubectl_policy.questions.shared.effects import affected_on, covered_paths, from_the_root
from kubectl_policy.questions.shared.fields import FieldLocations, NamedLeaf, named_leaves, origin_of
from kubectl_policy.questions.shared.in_force import assumed_of
from kubectl_policy.resolution.protection import Protection
from kubectl_policy.resolution.uncertain_paths import path_doubt
from kubectl_policy.topology import Path, nodes_on_path

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from kubectl_policy.analysis import Analysis
    from kubectl_policy.model import Json, NodeRef, ObjectRef
    from kubectl_policy.resolution import EffectivePolicy, Leaf, Source
    from kubectl_policy.resolution.traced import Field

_TEXT: Final = json.JSONEncoder(default=str).encode
_WHERE: Final[tuple[Where, ...]] = ("kept", "gone", "new")


def effect_changes(
    comparison: StateComparison, pairs: Iterable[Pair], scoped: int = SCOPED
) -> tuple[EffectChange, ...]:
    """Return what differs in some pairs of outcomes, worst first; the first `scoped` objects with all their paths."""
    changes = _EffectChanges(comparison, scoped)
    for pair in pairs:
        changes.add(pair)
    return tuple(sorted(changes.grouped(), key=_worst_first))


def _worst_first(change: EffectChange) -> tuple[object, ...]:
    # What is lost or new with its path comes last; of all else, what is relevant to security comes first.
    return (
        _WHERE.index(change.where),
        not change.harmful,
        not change.demanding,
        SORTS.index(change.sort),
        not change.to_nothing,
        -len(change.objects),
        change.policy_kind,
        [changed.field for changed in change.fields],
        change.paths,
    )


class _Difference(Struct, frozen=True, kw_only=True):
    """The fields in which two outcomes differ, with a text that is the same wherever they do so in the same way."""

    fields: tuple[FieldChange, ...]
    text: str
    from_nothing: bool
    to_nothing: bool


class _Group(Struct, frozen=True):
    """The pairs of outcomes that differ in the same way, each with the nodes on its path that this concerns."""

    difference: _Difference
    where: Where
    pairs: list[tuple[Pair, tuple[NodeRef, ...]]] = field(default_factory=list["tuple[Pair, tuple[NodeRef, ...]]"])


class _EffectChanges:
    """Puts pairs of outcomes together that differ in the same way; what several of them need is looked up once."""

    def __init__(self, comparison: StateComparison, scoped: int) -> None:
        self._comparison = comparison
        self._scoped = scoped
        self._groups: dict[tuple[object, ...], _Group] = {}
        self._differences: dict[tuple[object, ...], _Difference] = {}
        self._profile = cache(partial(comparison.profile_in, comparison.before))
        self._before = _PathsOf(comparison.before)
        self._after = _PathsOf(comparison.after)

    def add(self, pair: Pair) -> None:
        """Put a pair to those that differ as it does, if it differs for any node on its path."""
        if pair.before and pair.after and pair.before.resolution is pair.after.resolution:
            return
        difference = self._difference(pair)
        nodes = self._nodes(pair, difference.fields) if difference.fields else ()
        if nodes:
            where = self._where(pair, nodes)
            key = (pair.kind, where, difference.text, difference.from_nothing, difference.to_nothing)
            group = self._groups.get(key)
            if group is None:
                group = self._groups[key] = _Group(difference, where)
            group.pairs.append((pair, nodes))

    def grouped(self) -> Iterator[EffectChange]:
        """A change for all pairs that differ in the same way."""
        passing = self._comparison.deleted | self._comparison.created
        for group in self._groups.values():
            positions: dict[NodeRef, list[int]] = {}
            for position, (_, nodes) in enumerate(group.pairs):
                lasting = [node for node in nodes if node.object not in passing]
                for node in lasting or nodes:
                    positions.setdefault(node, []).append(position)
            pairs = [pair for pair, _ in group.pairs]
            paths = tuple(pair.path for pair in pairs)
            outcomes = (outcome for pair in pairs for outcome in (pair.before, pair.after) if outcome)
            resolutions = dict.fromkeys(outcome.resolution for outcome in outcomes)
            profile = self._profile(pairs[0].kind)
            objects = [ChangedObject(node, tuple(positions[node])) for node in from_the_root(positions)]
            state = self._after if group.where == "new" else self._before
            yield EffectChange(
                profile=profile,
                fields=group.difference.fields,
                where=group.where,
                from_nothing=group.difference.from_nothing,
                to_nothing=group.difference.to_nothing,
                paths=paths,
                objects=(
                    *(state.among_all(changed, paths) for changed in objects[: self._scoped]),
                    *objects[self._scoped :],
                ),
                assumed=assumed_of(profile, resolutions),
                doubts=tuple(sorted({doubt for resolution in resolutions for doubt in resolution.doubts})),
            )

    def _difference(self, pair: Pair) -> _Difference:
        """Compare the outcomes of a pair; equal outcomes are compared once, on however many paths they stand."""
        before, after = (outcome and outcome.resolution for outcome in (pair.before, pair.after))
        doubts = self._is_doubtful(self._comparison.before, pair), self._is_doubtful(self._comparison.after, pair)
        key: tuple[object, ...] = (before, after, pair.path[-1].object.group_kind, doubts)
        if before is None or after is None:
            # What objects say themselves lasts, so that it does not matter.
            key = (
                before and before.comparison_key,
                after and after.comparison_key,
                pair.kind,
                pair.path[-1].object.group_kind,
                doubts,
            )
        difference = self._differences.get(key)
        if difference is None:
            fields = tuple(_field_changes(pair, self._comparison, doubts))
            difference = self._differences[key] = _Difference(
                fields=fields,
                text=_TEXT([[field.field, _plain(field.before), _plain(field.after)] for field in fields]),
                from_nothing=not (before and before.policies_in_force),
                to_nothing=not (after and after.policies_in_force),
            )
        return difference

    def _is_doubtful(self, state: Analysis, pair: Pair) -> bool:
        """Whether it is unknown in a state if policies count on the path of a pair."""
        outcome = pair.before if state is self._comparison.before else pair.after
        return bool(outcome and path_doubt(state.topology, self._profile(pair.kind), outcome.path))

    def _nodes(self, pair: Pair, fields: Iterable[FieldChange]) -> tuple[NodeRef, ...]:
        """The nodes below other policies than before, else below the targets of those that set a field."""
        profile = self._profile(pair.kind)
        otherwise = nodes_on_path(self._comparison.differing(pair.kind), pair.path)
        sources = (value.source.target for field in fields for value in (field.before, field.after) if value)
        nodes = affected_on(pair.path, profile, otherwise or sources)
        if pair.in_before and pair.in_after:
            return nodes
        # Only one state has the path: the nodes to which the same way does not lead in the other one.
        return (self._after if pair.in_before else self._before).not_led_to(pair.path, nodes)

    def _where(self, pair: Pair, nodes: Iterable[NodeRef]) -> Where:
        objects = {node.object for node in nodes}
        if not pair.in_after or objects <= self._comparison.deleted:
            return "gone"
        return "new" if not pair.in_before or objects <= self._comparison.created else "kept"


class _PathsOf:
    """The paths of one state, looked up once for each node."""

    def __init__(self, analysis: Analysis) -> None:
        self._analysis = analysis

    def not_led_to(self, path: Path, nodes: Iterable[NodeRef]) -> tuple[NodeRef, ...]:
        """Those of some nodes on a path to which the same way does not lead."""
        sections = self._analysis.topology.sections
        # Nothing is below a section that is not there: that is seen without looking for all ways to the end.
        missing_at = (
            position for position, node in enumerate(path) if node.section and node.section not in sections(node.object)
        )
        under_missing = path[next(missing_at, len(path)) + 1 :]
        last = {node: position for position, node in enumerate(path)}
        return tuple([node for node in nodes if node in under_missing or path[: last[node] + 1] not in self._to(node)])

    @cached_method
    def _to(self, node: NodeRef) -> frozenset[Path]:
        exists = may_exist(self._analysis, node)
        return frozenset(self._analysis.topology.paths(node) if exists else ())

    def among_all(self, changed: ChangedObject, paths: tuple[Path, ...]) -> ChangedObject:
        """An object with all of its paths that carry traffic, if these are more than those of its change."""
        through, beginning = self._through(changed.node)
        chosen = {number for position in changed.paths for number in beginning.get(paths[position], ())}
        if len(chosen) in {0, len(through)}:
            return changed
        return replace(changed, all_paths=through, affected_paths=tuple(sorted(chosen)))

    @cached_method
    def _through(self, node: NodeRef) -> tuple[tuple[Path, ...], dict[Path, list[int]]]:
        """The paths that carry traffic, and their positions by what they begin with, down to a node or further."""
        paths = tuple(filter(self._analysis.topology.carries_traffic, covered_paths(self._analysis, node)))
        positions: dict[Path, list[int]] = {}
        for position, path in enumerate(paths):
            first = path.index(node) if node in path else 0
            for length in range(first, len(path)):
                positions.setdefault(path[: length + 1], []).append(position)
        return paths, positions


def _field_changes(pair: Pair, comparison: StateComparison, doubts: tuple[bool, bool]) -> Iterator[FieldChange]:
    """Yield the fields in which two outcomes differ; `doubts` say of each whether it may not count."""
    before = _EffectiveFields(pair.before, comparison.before, is_doubtful=doubts[0])
    after = _EffectiveFields(pair.after, comparison.after, is_doubtful=doubts[1])
    profile = comparison.profile_in(comparison.before, pair.kind)
    one_state = not profile.route_settings and not (pair.before and pair.after)
    for path in {**before.named, **after.named}:
        old, new = before.named.get(path), after.named.get(path)
        sources = [named.leaf.source for named in (old, new) if named]
        # What the object itself says lasts where no policy of the kind is any more, or was before, or goes with it.
        if one_state and any(source.object == source.target.object for source in sources):
            continue
        if old is None or new is None or not before.is_like(old.leaf, after, new.leaf):
            name = (old or after.named[path]).name
            security = before.is_security(path) or after.is_security(path)
            yield FieldChange(name, before.value(path), after.value(path), security=security)
    for policy in sorted(before.silent.keys() ^ after.silent.keys()):
        yield FieldChange("", before.silent.get(policy), after.silent.get(policy), security=False)


class _EffectiveFields:
    """The effective fields of an outcome by their paths in it, and the policies in it that declare none."""

    def __init__(self, effective: EffectivePolicy | None, analysis: Analysis, *, is_doubtful: bool) -> None:
        self._analysis, self._is_doubtful = analysis, is_doubtful
        self.named: dict[Field, NamedLeaf] = {}
        self.silent: dict[ObjectRef, EffectiveValue] = {}
        self._undecided: frozenset[Source] = frozenset()
        if effective is None:
            return
        self._places = FieldLocations(analysis, effective)
        profile = self._places.profile
        self._protection = Protection(effective.resolution.spec, profile)
        self._undecided = effective.resolution.undecided
        self.named = {named.field: named for named in named_leaves(effective.resolution.spec, profile)}
        for part in effective.resolution.contributions:
            source = part.source
            if source in effective.resolution.members and not any(named_leaves(part.spec, profile)):
                value = EffectiveValue({}, source, removed=False, origin=origin_of(analysis, source))
                self.silent[source.object] = value

    def is_like(self, leaf: Leaf, outcome: _EffectiveFields, other_leaf: Leaf) -> bool:
        """Whether a value of the outcome is the same as one of another, from the same source, and as certain."""
        return (
            (leaf.source, leaf.removed) == (other_leaf.source, other_leaf.removed)
            and self._is_certain(leaf) == outcome._is_certain(other_leaf)
            and same_json(leaf.value, other_leaf.value)
        )

    def _is_certain(self, leaf: Leaf) -> bool:
        return not self._is_doubtful and leaf.source not in self._undecided

    def is_security(self, field: Field) -> bool:
        """Whether a field that is there is relevant to security."""
        return field in self.named and self._protection.protects(field)

    def value(self, field: Field) -> EffectiveValue | None:
        """The value of a field, with its source and position."""
        if field not in self.named:
            return None
        leaf = self.named[field].leaf
        return EffectiveValue(
            leaf.value,
            leaf.source,
            removed=leaf.removed,
            certain=self._is_certain(leaf),
            origin=origin_of(self._analysis, leaf.source),
            declared_in=self._places.field(field, leaf),
            defaulted=leaf.defaulted,
        )


def _plain(value: EffectiveValue | None) -> Json:
    return None if value is None else [value.value, repr(value.source), value.removed, value.certain]
