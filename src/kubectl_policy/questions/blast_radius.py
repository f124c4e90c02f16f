"""What an object touches, and what deleting it would change."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple

from kubectl_policy.comparison import what_if
from kubectl_policy.model.cascade import cascade
from kubectl_policy.questions.diff import StateDiff, diff
from kubectl_policy.questions.effects import affected, from_the_root, parts_of
from kubectl_policy.questions.spread import Spread, spread
from kubectl_policy.resolution import fates_of
from kubectl_policy.topology.references import ROUTES

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from kubectl_policy.analysis import Analysis
    from kubectl_policy.attachment import Attachment
    from kubectl_policy.model import NodeRef, ObjectRef, Origin
    from kubectl_policy.resolution import Enforcement


class Beaten(NamedTuple):
    """Objects that a policy reaches and of which nothing is set by it, and who sets all of it instead."""

    objects: tuple[NodeRef, ...]
    by: tuple[ObjectRef, ...]


class Idle(NamedTuple):
    """Something below the policy's targets on which it has no effect whatever it says, and why."""

    object: ObjectRef
    message: str
    reason: str


@dataclass(frozen=True, slots=True)
class Touched:
    """What a policy touches.

    `affected` is where it has an effective field, `beaten` where it takes part and has none, `idle` where nothing that
    it says could count. `failed` are the references that attach it to nothing.
    """

    enforcement: Enforcement
    attachments: tuple[Attachment, ...]
    affected: tuple[NodeRef, ...]
    beaten: tuple[Beaten, ...]
    idle: tuple[Idle, ...]


@dataclass(frozen=True, slots=True)
class BlastRadius:
    """The answer for an object: what it touches, if it is a policy, and what deleting it would change.

    `with_it` are the objects that are deleted with it. `spread` counts the objects that it affects or, if it is no
    policy, those that deleting it would affect.
    """

    subject: ObjectRef
    origin: Origin | None
    touched: Touched | None
    with_it: tuple[ObjectRef, ...]
    spread: Spread
    difference: StateDiff

    @property
    def changes(self) -> bool:
        """Whether deleting the object changes anything but itself and what is deleted with it."""
        deleted, difference = {self.subject, *self.with_it}, self.difference
        return (
            bool(difference.effects or difference.problems.introduced or difference.without_class)
            or any(change.route not in deleted for change in difference.parents)
            or any(change.policy not in deleted for change in difference.attachments)
            or any(change.policy not in deleted for change in difference.enforcement)
            or any(found.subject not in deleted for found in difference.problems.fixed)
        )


def blast_radius(analysis: Analysis, subject: ObjectRef, owner_key: str = "") -> BlastRadius:
    """What an object touches, and what deleting it, with all that goes with it, would change.

    `owner_key` is the label or annotation by which the owners of objects are told.
    """
    resource = analysis.index.get(subject)
    deleted = cascade(analysis.index, [subject])
    difference = diff(what_if(analysis, deleted=deleted))
    touched = _touched(analysis, subject) if subject in analysis.attachments else None
    objects = {node.object for node in touched.affected} if touched else {*_concerned(difference)} - deleted
    return BlastRadius(
        subject,
        resource.origin if resource else None,
        touched,
        tuple(sorted(deleted - {subject})),
        spread(analysis.index, objects, owner_key),
        difference,
    )


def _concerned(difference: StateDiff) -> Iterator[ObjectRef]:
    """The objects for which something differs: settings, parents, or targets."""
    yield from (changed.node.object for change in difference.effects for changed in change.objects)
    yield from (change.route for change in difference.parents)
    yield from difference.without_class
    yield from (change.policy for change in difference.attachments)
    yield from (found.subject for found in difference.problems.introduced if found.subject)


def _touched(analysis: Analysis, policy: ObjectRef) -> Touched:
    enforcement = analysis.enforcement(policy)
    found = affected(enforcement, analysis.registry.known(policy.group_kind))
    return Touched(
        enforcement,
        analysis.attachments[policy],
        found,
        _beaten(analysis, enforcement, {*found}),
        tuple(dict.fromkeys(_idle(analysis, enforcement))),
    )


def _beaten(analysis: Analysis, enforcement: Enforcement, in_force: Iterable[NodeRef]) -> tuple[Beaten, ...]:
    policy = enforcement.policy
    profile = analysis.registry.known(policy.group_kind)
    nodes: dict[NodeRef, set[ObjectRef]] = {}
    for part, in_force_there in parts_of(enforcement):
        if not in_force_there:
            effective = part.effective
            beaters = {source.object for fate in fates_of(policy, effective) for source in fate.superseded_by}
            for node in part.nodes(profile):
                nodes.setdefault(node, set()).update(beaters - {policy} or effective.policies_in_force())
    groups: dict[tuple[ObjectRef, ...], list[NodeRef]] = {}
    for node in sorted({*nodes} - {*in_force}, key=from_the_root):
        groups.setdefault(tuple(sorted(nodes[node])), []).append(node)
    return tuple(Beaten(tuple(objects), by) for by, objects in groups.items())


def _idle(analysis: Analysis, enforcement: Enforcement) -> Iterator[Idle]:
    """The routes below the targets that are attached to nothing; traffic never reaches what is below them."""
    for path in enforcement.idle:
        route = next(node.object for node in path if node.object.group_kind in ROUTES)
        refused = next((found for found in analysis.topology.bindings(route) if found.message), None)
        message = refused.message if refused else "it names no parent"
        yield Idle(route, message, refused.reason if refused else "")
