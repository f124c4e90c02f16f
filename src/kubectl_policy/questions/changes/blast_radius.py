"""What an object reaches, and what deleting it would change."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING, TypeVar

from kubectl_policy.comparison import what_if
from kubectl_policy.model.fields import labels_of, mapping_at
from kubectl_policy.model.kinds import NAMESPACE
from kubectl_policy.model.refs import ObjectRef
from kubectl_policy.model.states import cascade
from kubectl_policy.model.values import value
from kubectl_policy.questions.changes.diff import StateDiff, diff
from kubectl_policy.questions.shared.effects import affected, from_the_root, policy_outcomes
from kubectl_policy.topology.references import ROUTES

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterable, Iterator

    from kubectl_policy.analysis import Analysis
    from kubectl_policy.attachment import Attachment, Call
    from kubectl_policy.model import GroupKind, NodeRef, Origin
    from kubectl_policy.model.index import Index
    from kubectl_policy.resolution import Enforcement

_Item = TypeVar("_Item", "GroupKind", str)


@value(kw_only=True)
class ObjectCounts:
    """Numbers of objects, the greatest first, then by name.

    Cluster-scoped objects are in the namespace "", those that name no owner are of the owner "". `owner_key` is the
    label or annotation that names the owner; without one there are no owners.
    """

    total: int
    kinds: tuple[tuple[GroupKind, int], ...]
    namespaces: tuple[tuple[str, int], ...]
    owners: tuple[tuple[str, int], ...]
    owner_key: str


def count_objects(index: Index, objects: Collection[ObjectRef], owner_key: str = "") -> ObjectCounts:
    """The numbers of some objects, each of which is there once."""
    return ObjectCounts(
        total=len(objects),
        kinds=_counted((ref.group_kind for ref in objects), lambda kind: (kind.kind, kind.group)),
        namespaces=_counted((ref.namespace for ref in objects), str),
        owners=_counted((owner(index, ref, owner_key) for ref in objects), str) if owner_key else (),
        owner_key=owner_key,
    )


def _counted(items: Iterable[_Item], name: Callable[[_Item], object]) -> tuple[tuple[_Item, int], ...]:
    return tuple(sorted(Counter(items).items(), key=lambda counted: (-counted[1], name(counted[0]))))


def owner(index: Index, ref: ObjectRef, key: str) -> str:
    """Who owns an object: what its label or annotation of a key says, else that of its Namespace; empty if neither."""
    for obj in (ref, ObjectRef(NAMESPACE, "", ref.namespace)):
        raw = index.raw(obj)
        named = labels_of(raw).get(key) or mapping_at(raw, "metadata.annotations").get(key)
        if isinstance(named, str) and named:
            return named
    return ""


@value()
class SupersededOn:
    """Objects that a policy reaches and of which nothing is set by it, and who sets all of it instead."""

    objects: tuple[NodeRef, ...]
    by: tuple[ObjectRef, ...]


@value()
class DetachedRoute:
    """A route below the policy's targets on which it has no effect whatever it says, and why: no request gets there."""

    object: ObjectRef
    message: str
    reason: str


@value(kw_only=True)
class PolicyReach:
    """What a policy reaches below its targets.

    `affected` is where it has an effective field, `superseded` where it takes part and has none, `detached` where no
    request comes, so that nothing that it says could count. `attachments` has also the references that fail.
    """

    enforcement: Enforcement
    attachments: tuple[Attachment, ...]
    affected: tuple[NodeRef, ...]
    superseded: tuple[SupersededOn, ...]
    detached: tuple[DetachedRoute, ...]


@value(kw_only=True)
class BlastRadius:
    """The answer for an object: what it reaches, if it is a policy, and what deleting it would change.

    `deleted_with_it` are the objects that are deleted with it. `counts` is about the objects that it affects or, if it
    is no policy, those that deleting it would affect. `called_by` are the references by which policies send requests of
    their own to it, or to what is deleted with it.
    """

    subject: ObjectRef
    origin: Origin | None
    reach: PolicyReach | None
    deleted_with_it: tuple[ObjectRef, ...]
    counts: ObjectCounts
    difference: StateDiff
    called_by: tuple[Call, ...] = ()

    @property
    def changes(self) -> bool:
        """Whether deleting the object changes anything but itself and what is deleted with it."""
        deleted, difference = {self.subject, *self.deleted_with_it}, self.difference
        return (
            bool(difference.effects or difference.problems.introduced or difference.without_class)
            or any(change.route not in deleted for change in difference.parents)
            or any(change.policy not in deleted for change in difference.attachments)
            or any(change.policy not in deleted for change in difference.enforcement)
            or any(problem.subject not in deleted for problem in difference.problems.fixed)
        )


def blast_radius(analysis: Analysis, subject: ObjectRef, owner_key: str = "") -> BlastRadius:
    """What an object reaches, and what deleting it, with all that goes with it, would change.

    `owner_key` is the label or annotation by which the owners of objects are told.
    """
    resource = analysis.index.get(subject)
    deleted = cascade(analysis.index, [subject])
    difference = diff(what_if(analysis, deleted=deleted))
    reach = _reach(analysis, subject) if subject in analysis.attachments else None
    objects = {node.object for node in reach.affected} if reach else {*_concerned(difference)} - deleted
    return BlastRadius(
        subject=subject,
        origin=resource.origin if resource else None,
        reach=reach,
        deleted_with_it=tuple(sorted(deleted - {subject})),
        counts=count_objects(analysis.index, objects, owner_key),
        difference=difference,
        called_by=tuple(
            call for ref in sorted(deleted) for call in analysis.calls_to(ref) if call.policy not in deleted
        ),
    )


def _concerned(difference: StateDiff) -> Iterator[ObjectRef]:
    """The objects for which something differs: settings, parents, or targets."""
    yield from (changed.node.object for change in difference.effects for changed in change.objects)
    yield from (change.route for change in difference.parents)
    yield from difference.without_class
    yield from (change.policy for change in difference.attachments)
    yield from (problem.subject for problem in difference.problems.introduced if problem.subject)


def _reach(analysis: Analysis, policy: ObjectRef) -> PolicyReach:
    enforcement = analysis.enforcement(policy)
    in_force = affected(enforcement, analysis.registry.known(policy.group_kind))
    return PolicyReach(
        enforcement=enforcement,
        attachments=analysis.attachments[policy],
        affected=in_force,
        superseded=_superseded(analysis, enforcement, in_force),
        detached=tuple(dict.fromkeys(_detached_routes(analysis, enforcement))),
    )


def _superseded(analysis: Analysis, enforcement: Enforcement, in_force: Iterable[NodeRef]) -> tuple[SupersededOn, ...]:
    policy = enforcement.policy
    profile = analysis.registry.known(policy.group_kind)
    nodes: dict[NodeRef, set[ObjectRef]] = {}
    for outcome in policy_outcomes(enforcement):
        if not outcome.in_force:
            effective = outcome.effective
            winners = {source.object for fate in effective.fates_of(policy) for source in fate.superseded_by}
            for node in outcome.nodes(profile):
                nodes.setdefault(node, set()).update(winners - {policy} or effective.policies_in_force())
    groups: dict[tuple[ObjectRef, ...], list[NodeRef]] = {}
    for node in sorted(nodes.keys() - {*in_force}, key=from_the_root):
        groups.setdefault(tuple(sorted(nodes[node])), []).append(node)
    return tuple(SupersededOn(tuple(objects), by) for by, objects in groups.items())


def _detached_routes(analysis: Analysis, enforcement: Enforcement) -> Iterator[DetachedRoute]:
    """The routes below the targets that are attached to nothing, or give them no weight: traffic ends there."""
    for path in enforcement.idle:
        route = next((node.object for node in path if node.object.group_kind in ROUTES), None)
        if route is None:
            backend = path[-1].object
            for above in analysis.topology.relations.routes_referring_to(backend):
                yield DetachedRoute(above, f"it gives weight 0 to {backend}", "")
            continue
        refused = next((binding for binding in analysis.topology.bindings(route) if binding.message), None)
        if refused:
            yield DetachedRoute(route, refused.message, refused.reason)
        else:
            yield DetachedRoute(route, "it names no parent", "")
