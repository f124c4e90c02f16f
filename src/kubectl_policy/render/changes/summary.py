"""Summary of a difference: the objects, routes and policies concerned, by what happens to them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final, Literal, TypeAlias

from msgspec import Struct

from kubectl_policy.attachment import MEANINGS
from kubectl_policy.model.kind_roles import ROUTES
from kubectl_policy.questions.differences.effects import SCOPED, SORTS
from kubectl_policy.resolution.enforcement import ENFORCEMENT
from kubectl_policy.topology.paths import first_route

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Iterator, Mapping
    from collections.abc import Set as AbstractSet

    from kubectl_policy.model import Diagnostic, NodeRef, ObjectRef
    from kubectl_policy.questions.blast_radius import BlastRadius
    from kubectl_policy.questions.diff import StateDiff
    from kubectl_policy.questions.differences.effects import ChangeSort, EffectChange, EffectiveValue, Where

# What says that it is not known whether a policy or a route is attached.
UNKNOWN: Final = frozenset(["unknown", *(state for state, meaning in MEANINGS.items() if not meaning.known)])
_IN_FORCE: Final = frozenset(state for state, meaning in ENFORCEMENT.items() if meaning.in_force)


# What happens to routes and policies, in the order of sentences.
Relation: TypeAlias = Literal[
    "without class",
    "detached",
    "attached",
    "without target",
    "losing target",
    "gaining target",
    "unsure",
    "undecided",
    "into force",
    "out of force",
    "new without effect",
]
Relations: TypeAlias = "Mapping[Relation, AbstractSet[ObjectRef]]"
# Those that are about whether policies are in force.
FORCE: Final[frozenset[Relation]] = frozenset(["undecided", "into force", "out of force", "new without effect"])


class TrafficChange(Struct, frozen=True):
    """Objects with which something happens: on all of their paths, and at least on one."""

    on_all_paths: AbstractSet[ObjectRef]
    on_some_paths: AbstractSet[ObjectRef]


class ChangeSummary(Struct, frozen=True, kw_only=True):
    """The objects, routes and policies that a difference concerns, by what happens to them."""

    sorts: Mapping[ObjectRef, ChangeSort]
    """The worst that happens to an object on paths that both states have."""
    security: AbstractSet[ObjectRef]
    """The objects for which it is relevant to security."""
    possible: AbstractSet[ObjectRef]
    """The objects of which no value is certain that differs."""
    # Traffic counts where a policy was or will be in force, and nowhere else.
    ended: TrafficChange
    begun: TrafficChange
    rerouted: AbstractSet[ObjectRef]
    """The objects of which some paths are gone and others new."""
    relations: Relations
    """The routes and policies concerned; no policy that is gone, and a new one only if it has no effect."""
    failing: AbstractSet[ObjectRef]
    """The policies that are not valid any more, so that requests get an error response; they lose no target."""

    def of_sort(self, *sorts: ChangeSort) -> frozenset[ObjectRef]:
        """Return the objects of which the worst that happens to them is one of these."""
        return frozenset(ref for ref, sort in self.sorts.items() if sort in sorts)

    @property
    def changed(self) -> frozenset[ObjectRef]:
        """The objects of which a value is not the same on a path that both states have."""
        return self.of_sort("lost", "changed", "gained")


def summarize(difference: StateDiff, without: Collection[ObjectRef] = ()) -> ChangeSummary:
    """Summarize a difference, without the objects that are counted already."""
    kept = [change for change in difference.effects if change.where == "kept"]
    ended, begun, rerouted = _traffic(difference, without)
    failing = {route.policy for route in difference.failing}
    # The worst comes last, and stays.
    by_harm = sorted(kept, key=lambda change: -SORTS.index(change.sort))
    certain = {ref for change in kept if _has_certain_value(change) for ref in objects_of(change)}
    return ChangeSummary(
        sorts={ref: change.sort for change in by_harm for ref in objects_of(change) if ref not in without},
        security={ref for change in kept if change.security for ref in objects_of(change)}.difference(without),
        possible={ref for change in kept for ref in objects_of(change)} - certain,
        ended=ended,
        begun=begun,
        rerouted=rerouted,
        relations=_relations(difference, failing),
        failing=failing,
    )


def _has_certain_value(change: EffectChange) -> bool:
    """Whether any value that differs is certain to be in force, before or after."""
    return any(value.certain for field in change.fields for value in (field.before, field.after) if value)


def _relations(difference: StateDiff, failing: AbstractSet[ObjectRef]) -> Relations:
    passing = {*difference.created, *difference.deleted}
    parents = [change for change in difference.parents if change.route not in passing]
    targets = [change for change in difference.attachments if change.policy not in passing]
    losing = {change.policy for change in targets if change.before == "attached" and change.after not in UNKNOWN}
    states = {change.policy: change.after for change in difference.enforcement}
    untargeted = {policy for policy in losing if states.get(policy) == "TargetNotFound"}
    losing -= failing
    lasting = [change for change in difference.enforcement if change.before and change.after]
    now_unknown = {change.policy for change in lasting if change.after == "Unknown"}
    fields = [field for change in difference.effects for field in change.fields]
    undecided = now_unknown & _uncertain(field.after for field in fields)
    unsure = {change.policy for change in targets if change.after in UNKNOWN} | (now_unknown - undecided)
    setting = {field.after.source.object for field in fields if field.after}
    into = {change.policy for change in lasting if change.before not in _IN_FORCE and change.after in _IN_FORCE}
    out = {change.policy for change in lasting if change.before in _IN_FORCE and change.after not in _IN_FORCE}
    idle = {policy for policy, state in states.items() if state not in {*_IN_FORCE, "Unknown", None}}
    return {
        "without class": {*difference.without_class},
        "detached": {
            change.route for change in parents if change.before == "attached" and change.after in {None, "refused"}
        },
        "attached": {change.route for change in parents if change.after == "attached"},
        "without target": untargeted,
        "losing target": losing - untargeted,
        "gaining target": {change.policy for change in targets if change.after == "attached"},
        "unsure": {change.route for change in parents if change.after in UNKNOWN} | unsure,
        "undecided": undecided,
        # One that begins to count where no path leads any more has come into force for no request.
        "into force": (into & setting) - _uncertain(field.before for field in fields),
        "out of force": out - losing - unsure - undecided - failing,
        "new without effect": idle.intersection(difference.created),
    }


def untold_problems(answer: BlastRadius) -> list[Diagnostic]:
    """List the problems that a deletion introduces, but for those whose message stands elsewhere."""
    difference = answer.difference
    mentioned = {answer.subject, *answer.deleted_with_it, *(traffic.route for traffic in difference.traffic.routes)}
    failing = (failing.message for traffic in difference.traffic.lost.routes for failing in traffic.failing)
    parents = (change.message for change in difference.parents if change.route not in mentioned)
    messages = {*failing, *parents, *(change.message for change in difference.attachments)} - {""}
    lengths = {len(message) for message in messages}
    return [
        problem
        for problem in difference.problems.introduced
        if not any(problem.message[-length:] in messages for length in lengths)
    ]


def _uncertain(values: Iterable[EffectiveValue | None]) -> frozenset[ObjectRef]:
    """Return the policies of values that may be in force."""
    return frozenset(value.source.object for value in values if value and not value.certain)


def objects_of(change: EffectChange) -> Iterator[ObjectRef]:
    """Return the objects that a change concerns, as a whole or in a section."""
    return (changed.node.object for changed in change.objects)


def on_all_paths(changes: Iterable[EffectChange]) -> frozenset[NodeRef]:
    """Return the objects and sections that are known to be concerned on all of their paths by these changes."""
    whole: set[NodeRef] = set()
    chosen: dict[NodeRef, set[int]] = {}
    for change in changes:
        for number, changed in enumerate(change.objects):
            if changed.all_paths:
                positions = chosen.setdefault(changed.node, set())
                positions.update(changed.affected_paths)
                if len(positions) == len(changed.all_paths):
                    whole.add(changed.node)
            elif number < SCOPED and _is_at_the_end(change, changed.node, changed.paths):
                whole.add(changed.node)
    return frozenset(whole)


def _is_at_the_end(change: EffectChange, node: NodeRef, positions: Iterable[int]) -> bool:
    """Whether paths end at the object itself, and not at something below it, which may have other paths."""
    ends = {change.paths[position][-1].object for position in positions}
    return node.object.group_kind in ROUTES or ends == {node.object}


def _traffic(
    difference: StateDiff, without: Collection[ObjectRef]
) -> tuple[TrafficChange, TrafficChange, AbstractSet[ObjectRef]]:
    """Sort objects by traffic that ends, that begins, and that takes other paths."""
    gone, new = _routed(difference, "gone"), _routed(difference, "new")
    both = (gone.keys() & new.keys()).difference(without)
    # A backend to which no route leads any more has a path of its own instead: no other way for the traffic.
    left_alone = {ref for ref in both if gone[ref] and not new[ref]}
    no_longer_alone = {ref for ref in both if new[ref] and not gone[ref]}
    left_alone |= {ref for ref in difference.traffic.lost.backends if not new.get(ref, True)}
    rerouted = both - left_alone - no_longer_alone
    return (
        _traffic_change(difference, "gone", gone.keys() - rerouted - no_longer_alone - {*without}),
        _traffic_change(difference, "new", new.keys() - rerouted - left_alone - {*without}),
        rerouted,
    )


def _routed(difference: StateDiff, where: Where) -> dict[ObjectRef, bool]:
    """Map the objects of changes on such paths to whether any route leads to them there."""
    traffic = difference.traffic.lost if where == "gone" else difference.traffic.gained
    mentioned = {route.route for route in traffic.routes}
    by_object: dict[ObjectRef, bool] = {}
    for change in difference.effects:
        if change.where == where:
            # Of the paths through routes that lose or get traffic, that is said already.
            untold = {
                position: first_route(path) is not None
                for position, path in enumerate(change.paths)
                if mentioned.isdisjoint([node.object for node in path])
            }
            for changed in change.objects if untold else ():
                on = untold.keys() & changed.paths
                if on:
                    known = by_object.get(changed.node.object, False)
                    by_object[changed.node.object] = known or any(untold[position] for position in on)
    return by_object


def _traffic_change(difference: StateDiff, where: Where, refs: AbstractSet[ObjectRef]) -> TrafficChange:
    changes = [change for change in difference.effects if change.where == where]
    passing = difference.deleted if where == "gone" else difference.created
    known = refs & {*passing, *(node.object for node in on_all_paths(changes) if not node.section)}
    rest = refs - known
    unscoped = (changed for change in changes for changed in change.objects[SCOPED:] if not changed.all_paths)
    # Two numbers would look like a distinction where it is only not known.
    is_cut = bool(rest) and not rest.isdisjoint(changed.node.object for changed in unscoped)
    return TrafficChange(frozenset(), known | rest) if is_cut else TrafficChange(known, rest)
