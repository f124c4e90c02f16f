"""What a difference comes to in numbers: which objects, routes and policies something happens to, and what."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Final, NamedTuple

from kubectl_policy.attachment import MEANINGS
from kubectl_policy.questions.changes.effects import SCOPED, SORTS
from kubectl_policy.resolution import ENFORCEMENT
from kubectl_policy.topology.references import ROUTES

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Iterator, Mapping

    from kubectl_policy.model import NodeRef, ObjectRef
    from kubectl_policy.questions.changes.diff import StateDiff
    from kubectl_policy.questions.changes.effects import ChangeSort, EffectChange, Where
    from kubectl_policy.questions.changes.relations import AttachmentChange

_IN_FORCE: Final = frozenset(state for state, meaning in ENFORCEMENT.items() if meaning.in_force)


class TrafficChange(NamedTuple):
    """Objects with which something happens: on all of their paths, and at least on one."""

    on_all_paths: frozenset[ObjectRef]
    on_some_paths: frozenset[ObjectRef]


@dataclass(frozen=True, slots=True)
class ChangeSummary:
    """The objects, routes and policies that a difference concerns, by what happens to them.

    `sorts` has the worst that happens to an object on paths that both states have, `security` those for which it is
    relevant to security. For `rerouted` objects some paths are gone and others new; traffic counts where a policy was
    or will be in force, and nowhere else. Of the `unsure` it is no longer known what they are attached to. A policy
    that is gone or new is in none of these but `new_without_effect`.
    """

    sorts: Mapping[ObjectRef, ChangeSort]
    security: frozenset[ObjectRef]
    ended: TrafficChange
    begun: TrafficChange
    rerouted: frozenset[ObjectRef]
    detached: frozenset[ObjectRef]
    attached: frozenset[ObjectRef]
    unsure: frozenset[ObjectRef]
    without_target: frozenset[ObjectRef]
    losing_target: frozenset[ObjectRef]
    gaining_target: frozenset[ObjectRef]
    into_force: frozenset[ObjectRef]
    out_of_force: frozenset[ObjectRef]
    new_without_effect: frozenset[ObjectRef]
    without_class: frozenset[ObjectRef]

    def of_sort(self, *sorts: ChangeSort) -> frozenset[ObjectRef]:
        """The objects of which the worst that happens to them is one of these."""
        return frozenset(ref for ref, sort in self.sorts.items() if sort in sorts)

    @property
    def changed(self) -> frozenset[ObjectRef]:
        """The objects of which a value is not the same on a path that both states have."""
        return self.of_sort("lost", "changed", "gained")


def summarize(difference: StateDiff, besides: Collection[ObjectRef] = ()) -> ChangeSummary:
    """The tally of a difference, without the objects that somebody has counted already."""
    without = frozenset(besides)
    kept = [change for change in difference.effects if change.where == "kept"]
    ended, begun, rerouted = _traffic(difference, without)
    detached, attached, lost_routes = _routes(difference)
    losing, gaining, lost_policies = _targets(difference)
    created = {*difference.created}
    states = {change.policy: change for change in difference.enforcement}
    untargeted = {policy for policy in losing if policy in states and states[policy].after == "TargetNotFound"}
    lasting = [change for change in difference.enforcement if change.before and change.after]
    unknown = {change.policy for change in lasting if change.after == "Unknown"}
    setting = {field.after.source.object for change in difference.effects for field in change.fields if field.after}
    into = {change.policy for change in lasting if change.before not in _IN_FORCE and change.after in _IN_FORCE}
    out = {change.policy for change in lasting if change.before in _IN_FORCE and change.after not in _IN_FORCE}
    return ChangeSummary(
        {ref: sort for ref, sort in _worst(kept).items() if ref not in without},
        frozenset(ref for change in kept if change.security for ref in objects_of(change)) - without,
        ended,
        begun,
        rerouted,
        detached,
        attached,
        lost_routes | lost_policies | frozenset(unknown),
        frozenset(untargeted),
        losing - untargeted,
        gaining,
        # One that begins to count where nothing leads to any more has come into force for nobody.
        frozenset(into & setting),
        frozenset(out) - unknown - losing - lost_policies,
        frozenset(
            change.policy
            for change in difference.enforcement
            if change.policy in created and change.after not in {*_IN_FORCE, "Unknown", None}
        ),
        frozenset(difference.without_class),
    )


def objects_of(change: EffectChange) -> Iterator[ObjectRef]:
    """The objects that a change concerns, as a whole or in a section."""
    return (changed.node.object for changed in change.objects)


def on_all_paths(changes: Iterable[EffectChange]) -> frozenset[NodeRef]:
    """The objects and sections that are known to be concerned on all of their paths by these changes together."""
    whole: set[NodeRef] = set()
    chosen: dict[NodeRef, set[int]] = {}
    for change in changes:
        for place, changed in enumerate(change.objects):
            if changed.all_paths:
                found = chosen.setdefault(changed.node, set())
                found.update(changed.affected_paths)
                if len(found) == len(changed.all_paths):
                    whole.add(changed.node)
            elif place < SCOPED and _is_at_the_end(change, changed.node, changed.paths):
                whole.add(changed.node)
    return frozenset(whole)


def _is_at_the_end(change: EffectChange, node: NodeRef, positions: Iterable[int]) -> bool:
    """Whether the paths are those of the object itself, and not of what is below it, which may have others."""
    ends = {change.paths[position][-1].object for position in positions}
    return node.object.group_kind in ROUTES or ends == {node.object}


def _worst(changes: Iterable[EffectChange]) -> dict[ObjectRef, ChangeSort]:
    found: dict[ObjectRef, ChangeSort] = {}
    for change in changes:
        sort = change.sort
        for ref in objects_of(change):
            known = found.get(ref, sort)
            found[ref] = known if SORTS.index(known) <= SORTS.index(sort) else sort
    return found


def _traffic(
    difference: StateDiff, without: frozenset[ObjectRef]
) -> tuple[TrafficChange, TrafficChange, frozenset[ObjectRef]]:
    """Where traffic ends, where it begins, and what it reaches on other paths than before.

    A backend to which no route leads any more has a path of its own instead. That is no other way for the traffic.
    """
    gone, new = _routed(difference, "gone"), _routed(difference, "new")
    both = gone.keys() & new.keys() - without
    left_alone = {ref for ref in both if gone[ref] and not new[ref]}
    no_longer_alone = {ref for ref in both if new[ref] and not gone[ref]}
    rerouted = both - left_alone - no_longer_alone
    return (
        _traffic_change(difference, "gone", gone.keys() - without - rerouted - no_longer_alone),
        _traffic_change(difference, "new", new.keys() - without - rerouted - left_alone),
        frozenset(rerouted),
    )


def _routed(difference: StateDiff, where: Where) -> dict[ObjectRef, bool]:
    """The objects of the changes that are on such paths, and whether any route leads to them there."""
    found: dict[ObjectRef, bool] = {}
    for change in difference.effects:
        if change.where == where:
            routed = [any(node.object.group_kind in ROUTES for node in path) for path in change.paths]
            for changed in change.objects:
                known = found.get(changed.node.object, False)
                found[changed.node.object] = known or any(routed[position] for position in changed.paths)
    return found


def _traffic_change(difference: StateDiff, where: Where, refs: Collection[ObjectRef]) -> TrafficChange:
    changes = [change for change in difference.effects if change.where == where]
    passing = difference.deleted if where == "gone" else difference.created
    known = frozenset(refs) & {*passing, *(node.object for node in on_all_paths(changes) if not node.section)}
    rest = frozenset(refs) - known
    cut = {changed.node.object for change in changes for changed in change.objects[SCOPED:] if not changed.all_paths}
    # Two numbers would look like a distinction where it is only not known.
    return TrafficChange(frozenset(), known | rest) if rest & cut else TrafficChange(known, rest)


def _routes(difference: StateDiff) -> tuple[frozenset[ObjectRef], frozenset[ObjectRef], frozenset[ObjectRef]]:
    """The routes that lose a parent, those that gain one, and those of which that is no longer known."""
    passing = {*difference.created, *difference.deleted}
    lasting = [change for change in difference.parents if change.route not in passing]
    return (
        frozenset(one.route for one in lasting if one.before == "attached" and one.after in {None, "refused"}),
        frozenset(one.route for one in lasting if one.after == "attached"),
        frozenset(one.route for one in lasting if one.after == "unknown"),
    )


def _targets(difference: StateDiff) -> tuple[frozenset[ObjectRef], frozenset[ObjectRef], frozenset[ObjectRef]]:
    """The policies that lose a target, those that gain one, and those of which that is no longer known."""
    passing = {*difference.created, *difference.deleted}
    lasting = [change for change in difference.attachments if change.policy not in passing]
    return (
        frozenset(one.policy for one in lasting if one.before == "attached" and not _is_unknown(one)),
        frozenset(one.policy for one in lasting if one.after == "attached"),
        frozenset(one.policy for one in lasting if _is_unknown(one)),
    )


def _is_unknown(change: AttachmentChange) -> bool:
    return change.after is not None and not MEANINGS[change.after].known
