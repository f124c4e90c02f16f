"""Two states of the world compared by their effective policies, not by their text."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from kubectl_policy.model import NodeRef
from kubectl_policy.questions.changes.effects import EffectChange, effect_changes
from kubectl_policy.questions.changes.problems import ProblemChanges, problem_changes
from kubectl_policy.questions.changes.relations import (
    AttachmentChange,
    EnforcementChange,
    ParentChange,
    attachment_changes,
    cut_off,
    enforcement_changes,
    parent_changes,
    without_class,
)
from kubectl_policy.questions.shared.effects import paths_through
from kubectl_policy.questions.shared.unseen import (
    Unseen,
    gaps,
    unknown_parents,
    unseen_by_references,
    unseen_for,
    unseen_for_policy,
)
from kubectl_policy.topology import on_path

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator

    from kubectl_policy.analysis import Analysis
    from kubectl_policy.comparison import Pair, StateComparison
    from kubectl_policy.model import ObjectRef


@dataclass(frozen=True, slots=True)
class StateDiff:
    """What differs between two states: the objects, and what follows from that.

    `effects` are worst first, all else is sorted by name. `unseen` could not be read in either state, and might be
    concerned. `cut_off` are routes to which requests come no more, `without_class` Gateways on which no
    controller acts any more.
    """

    created: tuple[ObjectRef, ...]
    deleted: tuple[ObjectRef, ...]
    updated: tuple[ObjectRef, ...]
    effects: tuple[EffectChange, ...]
    attachments: tuple[AttachmentChange, ...]
    parents: tuple[ParentChange, ...]
    enforcement: tuple[EnforcementChange, ...]
    problems: ProblemChanges
    unseen: tuple[Unseen, ...]
    cut_off: tuple[ObjectRef, ...] = ()
    without_class: tuple[ObjectRef, ...] = ()

    @property
    def changes(self) -> bool:
        """Whether anything follows from what differs."""
        found = (self.effects, self.attachments, self.parents, self.enforcement, self.without_class)
        return any(found) or bool(self.problems.introduced or self.problems.fixed)


def diff(comparison: StateComparison) -> StateDiff:
    """What differs between the states of a comparison."""
    meeting: set[ObjectRef] = set()
    effects = effect_changes(comparison, _watched(comparison, meeting))
    attachments = attachment_changes(comparison)
    concerned = _concerned_policies(comparison, {change.policy for change in attachments} | meeting)
    parents = parent_changes(comparison)
    return StateDiff(
        tuple(sorted(comparison.created)),
        tuple(sorted(comparison.deleted)),
        tuple(sorted(comparison.updated)),
        effects,
        attachments,
        parents,
        enforcement_changes(comparison, concerned),
        problem_changes(comparison, concerned),
        tuple(dict.fromkeys((*_unseen(comparison, concerned), *_unseen_relations(comparison, attachments, parents)))),
        cut_off(comparison, parents),
        without_class(comparison),
    )


def _watched(comparison: StateComparison, meeting: set[ObjectRef]) -> Iterator[Pair]:
    """The pairs of a comparison; the policies on their paths are added to those `meeting`.

    Also those that have no part in the outcomes, because others have taken their place.
    """
    unseen = {kind: {*comparison.nodes_with(kind)} for kind in comparison.kinds}
    for pair in comparison.pairs():
        for node in on_path(unseen[pair.kind], pair.path):
            unseen[pair.kind].remove(node)
            for state in (comparison.before, comparison.after):
                meeting.update(policy.ref for policy in state.resolver.claimants(node, pair.kind))
        yield pair


def _concerned_policies(comparison: StateComparison, otherwise: Collection[ObjectRef]) -> frozenset[ObjectRef]:
    """The policies of which something may have become otherwise than before.

    Where the hierarchy is the same, these are those that are changed, or whose targets are, or that meet such a one on
    a path (`otherwise`); else all of them.
    """
    both = (comparison.before, comparison.after)
    if not comparison.shares_topology:
        return frozenset(policy for state in both for policy in state.attachments)
    found = {*otherwise, *comparison.changed}
    exclusive = {
        profile.group_kind for state in both for profile in state.registry.policy_kinds if profile.exclusive_field
    }
    kinds = exclusive & {ref.group_kind for ref in found}
    found |= {policy for state in both for policy in state.attachments if policy.group_kind in kinds}
    return frozenset(policy for policy in found if any(policy in state.attachments for state in both))


def _unseen(comparison: StateComparison, concerned: Collection[ObjectRef]) -> Iterator[Unseen]:
    for state in (comparison.before, comparison.after):
        yield from gaps(state)
        for ref in sorted(comparison.changed):
            yield from _unseen_about(state, ref)
        for policy in sorted(concerned) if comparison.shares_topology else ():
            if policy in state.attachments:
                yield from unseen_for_policy(state, state.enforcement(policy))


def _unseen_relations(
    comparison: StateComparison, attachments: Collection[AttachmentChange], parents: Collection[ParentChange]
) -> Iterator[Unseen]:
    """What else policies and routes refer to, of those that lose or get a target or a parent, and was not read."""
    policies = dict.fromkeys(change.policy for change in attachments)
    routes = dict.fromkeys(change.route for change in parents)
    for state in (comparison.before, comparison.after):
        yield from unknown_parents(state, routes)
        for policy in policies:
            if policy in state.attachments:
                yield from unseen_by_references(state, policy)


def _unseen_about(analysis: Analysis, ref: ObjectRef) -> Iterator[Unseen]:
    if ref in analysis.attachments:
        enforcement = analysis.enforcement(ref)
        unseen = unseen_for_policy(analysis, enforcement)
        yield from unseen
        if enforcement.state == "Unknown" and not unseen:
            reason = "how it attaches, and with that what it affects, is not computed"
            yield Unseen(str(ref), reason, f"read what explain {ref.kind.lower()} says", policies=(ref,))
    elif analysis.index.get(ref):
        node = NodeRef(ref)
        yield from unseen_for(analysis, node, paths_through(analysis, node))
