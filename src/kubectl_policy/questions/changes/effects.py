"""What differs in the effective policies of two states, grouped where it is the same, worst first."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final, Literal, NamedTuple, TypeAlias

from kubectl_policy.comparison import may_exist
from kubectl_policy.questions.changes.fields import SORTS, FieldChanges
from kubectl_policy.questions.shared.effects import affected_on, from_the_root, paths_through
from kubectl_policy.topology import on_path

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from kubectl_policy.analysis import Analysis
    from kubectl_policy.comparison import Pair, StateComparison
    from kubectl_policy.model import GroupKind, NodeRef
    from kubectl_policy.questions.changes.fields import ChangeSort, Difference, FieldChange
    from kubectl_policy.topology import Path

# Of so many objects of a change it is known whether they have other paths than those of the change.
SCOPED: Final = 20
# Whether the path itself is in both states, or only in the earlier or the later one.
Where: TypeAlias = Literal["kept", "gone", "new"]
_WHERE: Final[tuple[Where, ...]] = ("kept", "gone", "new")


class ChangedObject(NamedTuple):
    """An object for which something differs, with the positions of the paths of the change that it does so on.

    If it has more paths than these, `through` are all of its paths, and `chosen` the positions of these among them;
    only the first objects of a change have this.
    """

    node: NodeRef
    paths: tuple[int, ...]
    through: tuple[Path, ...] = ()
    chosen: tuple[int, ...] = ()


class EffectChange(NamedTuple):
    """What differs of one kind, in the same way on all of `paths`.

    `from_nothing` and `to_nothing` say whether no policy of the kind is in force there before, or after. `objects` are
    those that it concerns, from the root downward. `doubts` are what either outcome rests on without knowing it.
    """

    kind: GroupKind
    fields: tuple[FieldChange, ...]
    where: Where
    from_nothing: bool
    to_nothing: bool
    paths: tuple[Path, ...]
    objects: tuple[ChangedObject, ...]
    doubts: tuple[str, ...]

    @property
    def sort(self) -> ChangeSort:
        """The worst of what happens to its fields."""
        found = {field.sort for field in self.fields}
        return next(sort for sort in SORTS if sort in found)

    @property
    def security(self) -> bool:
        """Whether a field that is relevant to security is lost or changed where traffic runs on."""
        return self.where == "kept" and any(
            field.security and field.sort in {"lost", "changed"} for field in self.fields
        )


def effect_changes(comparison: StateComparison, pairs: Iterable[Pair]) -> tuple[EffectChange, ...]:
    """All that differs in some pairs of outcomes, worst first.

    Worst is what is relevant to security and lost, then changed; then what else is lost, changed, gained, and only set
    by somebody else; of these first where nothing is left. What is lost with its path, because no traffic runs there
    any more, comes after all that, then what is new with its path.
    """
    differences = FieldChanges(comparison)
    groups: dict[tuple[object, ...], _Group] = {}
    for pair in pairs:
        found = differences.of(pair)
        concerned = _Concerned(pair, _nodes(comparison, pair, found.fields) if found.fields else ())
        if concerned.nodes:
            where = _where(comparison, concerned)
            key = (pair.kind, where, *found[1:])
            groups.setdefault(key, _Group(found, where, [])).pairs.append(concerned)
    return tuple(sorted((_grouped(comparison, group) for group in groups.values()), key=_worst_first))


def _worst_first(change: EffectChange) -> tuple[object, ...]:
    return (
        _WHERE.index(change.where),
        not change.security,
        SORTS.index(change.sort),
        not change.to_nothing,
        -len(change.objects),
        change.kind,
        [field.field for field in change.fields],
        change.paths,
    )


class _Concerned(NamedTuple):
    """A pair of outcomes, and the nodes on its path that are concerned by what differs."""

    pair: Pair
    nodes: tuple[NodeRef, ...]


class _Group(NamedTuple):
    """The pairs that differ in the same way."""

    difference: Difference
    where: Where
    pairs: list[_Concerned]


def _nodes(comparison: StateComparison, pair: Pair, fields: Iterable[FieldChange]) -> tuple[NodeRef, ...]:
    """The nodes below what differs: where policies stand otherwise, else where those are attached that set a field.

    Of a path that only one state has, these are the nodes to which the same way does not lead in the other one.
    """
    profile = comparison.profile_in(comparison.before, pair.kind)
    otherwise = on_path(comparison.differing(pair.kind), pair.path)
    sources = (value.source.target for field in fields for value in (field.before, field.after) if value)
    nodes = affected_on(pair.path, profile, otherwise or sources)
    if pair.in_before and pair.in_after:
        return nodes
    other = comparison.after if pair.in_before else comparison.before
    ways = {node: pair.path[: place + 1] for place, node in enumerate(pair.path)}
    return tuple(node for node in nodes if not (may_exist(other, node) and ways[node] in other.topology.paths(node)))


def _where(comparison: StateComparison, concerned: _Concerned) -> Where:
    """Whether what differs does so on a path that is there in both states, as is something that is concerned."""
    pair, nodes = concerned
    if not pair.in_after or all(node.object in comparison.deleted for node in nodes):
        return "gone"
    return "new" if not pair.in_before or all(node.object in comparison.created for node in nodes) else "kept"


def _grouped(comparison: StateComparison, group: _Group) -> EffectChange:
    objects: dict[NodeRef, list[int]] = {}
    passing = comparison.deleted | comparison.created
    for position, concerned in enumerate(group.pairs):
        lasting = [node for node in concerned.nodes if node.object not in passing]
        for node in lasting or concerned.nodes:
            objects.setdefault(node, []).append(position)
    pairs = [concerned.pair for concerned in group.pairs]
    paths = tuple(pair.path for pair in pairs)
    found = [ChangedObject(node, tuple(objects[node])) for node in sorted(objects, key=from_the_root)]
    state = comparison.after if group.where == "new" else comparison.before
    return EffectChange(
        pairs[0].kind,
        group.difference.fields,
        group.where,
        group.difference.from_nothing,
        group.difference.to_nothing,
        paths,
        (*(_with_other_paths(state, one, paths) for one in found[:SCOPED]), *found[SCOPED:]),
        tuple(sorted({doubt for pair in pairs for one in (pair.before, pair.after) if one for doubt in one.doubts})),
    )


def _with_other_paths(analysis: Analysis, changed: ChangedObject, paths: Sequence[Path]) -> ChangedObject:
    through = [path for path in paths_through(analysis, changed.node) if analysis.topology.carries_traffic(path)]
    own = {paths[position] for position in changed.paths}
    lengths = {len(path) for path in own}
    chosen = [position for position, path in enumerate(through) if any(path[:length] in own for length in lengths)]
    if len(chosen) in {0, len(through)}:
        return changed
    return changed._replace(through=tuple(through), chosen=tuple(chosen))
