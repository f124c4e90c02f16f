"""Reach of an object, and the changes that deleting it would make."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING, Annotated, Final, TypeVar

from msgspec import Meta, Struct
from msgspec.structs import asdict

from kubectl_policy.comparison import what_if
from kubectl_policy.model.kind_roles import ROUTES
from kubectl_policy.model.refs import shown_namespace
from kubectl_policy.model.world import grouped
from kubectl_policy.questions.diff import StateDiff, diff
from kubectl_policy.questions.differences.serving import RouteBehind, hostnames_on, owner, routes_behind
from kubectl_policy.questions.shared.effects import affected_nodes, from_the_root, policy_outcomes
from kubectl_policy.questions.shared.uncertain_effects import possibly_affected
from kubectl_policy.questions.shared.without_effect import why_without_effect
from kubectl_policy.states import cascade

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Iterator

    from kubectl_policy.analysis import Analysis
    from kubectl_policy.attachment import Attachment, Call, SettingsReference
    from kubectl_policy.model import NodeRef, ObjectRef, Origin
    from kubectl_policy.model.index import Index
    from kubectl_policy.model.snapshot import SnapshotSource
    from kubectl_policy.questions.blind_spots.unknowns import BlindSpot
    from kubectl_policy.questions.shared.reasons import Reason
    from kubectl_policy.resolution.enforcement import Enforcement

_Item = TypeVar("_Item", str, tuple[str, str])


class KindCount(Struct, frozen=True):
    """A number of objects of a kind."""

    group: Annotated[str, Meta(description="The API group; empty for the core group.")]
    kind: Annotated[str, Meta(description="The kind.")]
    count: Annotated[int, Meta(description="The number of objects.", ge=0)]


class NamespaceCount(Struct, frozen=True):
    """A number of objects in a namespace."""

    namespace: Annotated[str, Meta(description="The namespace; empty for cluster-scoped objects.")]
    count: Annotated[int, Meta(description="The number of objects.", ge=0)]


class OwnerCount(Struct, frozen=True):
    """A number of objects with an owner."""

    owner: Annotated[str, Meta(description="The owner; empty for objects without an owner.")]
    count: Annotated[int, Meta(description="The number of objects.", ge=0)]


class ObjectCounts(Struct, frozen=True, kw_only=True):
    """Numbers of objects, the greatest first, then by name."""

    total: Annotated[int, Meta(description="The number of all objects.", ge=0)]
    kinds: Annotated[tuple[KindCount, ...], Meta(description="The numbers of objects by kind.")]
    namespaces: Annotated[tuple[NamespaceCount, ...], Meta(description="The numbers of objects by namespace.")]
    owners: Annotated[
        tuple[OwnerCount, ...], Meta(description="The numbers of objects by owner; empty without --owner.")
    ]
    owner_key: Annotated[str, Meta(description="The label or annotation that names owners; empty without --owner.")]


def count_objects(index: Index, objects: Collection[ObjectRef], owner_key: str = "") -> ObjectCounts:
    """Count some objects, each of which is there once."""
    kinds = _counted((ref.kind, ref.group) for ref in objects)
    namespaces = _counted(shown_namespace(ref.namespace) for ref in objects)
    owners = _counted(owner(index, ref, owner_key) for ref in objects) if owner_key else []
    return ObjectCounts(
        total=len(objects),
        kinds=tuple(KindCount(group, kind, number) for (kind, group), number in kinds),
        namespaces=tuple(NamespaceCount(*counted) for counted in namespaces),
        owners=tuple(OwnerCount(*counted) for counted in owners),
        owner_key=owner_key,
    )


def _counted(items: Iterable[_Item]) -> list[tuple[_Item, int]]:
    return sorted(Counter(items).items(), key=lambda counted: (-counted[1], counted[0]))


class SupersededOn(Struct, frozen=True):
    """Objects on which other sources supersede all fields of a policy."""

    objects: Annotated[tuple[NodeRef, ...], Meta(description="The objects.")]
    by: Annotated[tuple[ObjectRef, ...], Meta(description="The superseding sources.")]


class DetachedRoute(Struct, frozen=True):
    """A route below the targets of the policy that receives no requests, so the policy has no effect on it."""

    object: Annotated[ObjectRef, Meta(description="The route.")]
    message: Annotated[str, Meta(description="The reason why the route receives no requests, for people.")]
    reason: Annotated[str, Meta(description="The reason as the API spells it; empty if the API defines none.")]


class PolicyReach(Struct, frozen=True, kw_only=True):
    """What a policy reaches below its targets; of any other object nothing."""

    enforcement: Annotated[Enforcement | None, Meta(description="The enforcement of the policy.")] = None
    targets: Annotated[
        tuple[Attachment, ...], Meta(description="The target references of the policy, including those that fail.")
    ] = ()
    reasons: Annotated[
        tuple[Reason, ...],
        Meta(description="The reasons why the policy has no effect; empty if it has or may have an effect."),
    ] = ()
    affected: Annotated[
        tuple[NodeRef, ...],
        Meta(description="The nodes with an effective field of the policy, as in a PolicyDescription."),
    ] = ()
    possibly_affected: Annotated[
        tuple[ObjectRef, ...],
        Meta(description="The routes that the policy affects only if they are attached, which is not known."),
    ] = ()
    superseded: Annotated[
        tuple[SupersededOn, ...],
        Meta(description="The objects on which other sources supersede all fields of the policy."),
    ] = ()
    detached: Annotated[
        tuple[DetachedRoute, ...],
        Meta(description="The routes below the targets that receive no requests, and the reasons."),
    ] = ()
    behind: Annotated[
        tuple[RouteBehind, ...],
        Meta(description="The routes behind the affected objects, if these are only Gateways and listeners."),
    ] = ()
    hostnames: Annotated[tuple[str, ...], Meta(description="The hostnames of the affected requests; `*` for any.")] = ()

    @property
    def policy(self) -> Annotated[bool, Meta()]:
        """Whether the subject is a policy; if not, enforcement is null, and targets, reasons and affected are empty."""
        return self.enforcement is not None


_COUNTS: Final = (
    "The counts of the objects that the policy affects or may affect, including `behind`; for other subjects, of the"
    " changed objects."
)


class BlastRadius(PolicyReach, frozen=True, kw_only=True):
    """The objects that a policy affects, and the consequences of deleting an object."""

    subject: Annotated[ObjectRef, Meta(description="The object that would be deleted.")]
    origin: Annotated[Origin | None, Meta(description="The location of the subject; null if it was not read.")]
    in_input: Annotated[
        bool, Meta(description="False if the subject is referenced but not contained in the input.")
    ] = True
    deleted_with_it: Annotated[
        tuple[ObjectRef, ...], Meta(description="The objects that are deleted with the subject.")
    ]
    called_by: Annotated[
        tuple[Call, ...], Meta(description="The references by which policies send their own requests to the subject.")
    ] = ()
    referred_to_by: Annotated[
        tuple[SettingsReference, ...],
        Meta(description="The settings of other policies that refer to the subject or to objects deleted with it."),
    ] = ()
    counts: Annotated[ObjectCounts, Meta(description=_COUNTS)]
    difference: Annotated[
        StateDiff, Meta(description="The difference between the current state and the state without the subject.")
    ]
    place: SnapshotSource = "the input"

    @property
    def unseen(self) -> Annotated[tuple[BlindSpot, ...], Meta()]:
        """The blind spots of the answer."""
        return self.difference.unseen

    @property
    def complete(self) -> Annotated[bool, Meta()]:
        """False if input that may change the answer could not be read."""
        return not self.unseen

    @property
    def unknown(self) -> Annotated[bool, Meta()]:
        """True if no consequence of the deletion is known, and input that could not be read may show one."""
        return not (self.changes or self.deleted_with_it or self.complete)

    @property
    def changes(self) -> Annotated[bool, Meta()]:
        """Whether the deletion changes any object other than the subject and the objects deleted with it."""
        deleted, difference = {self.subject, *self.deleted_with_it}, self.difference
        return (
            bool(difference.effects or difference.problems.introduced or difference.without_class)
            or bool(difference.failing or self.referred_to_by)
            or any(traffic.route not in deleted for traffic in difference.traffic.routes)
            or any(change.route not in deleted for change in difference.parents)
            or any(change.policy not in deleted for change in difference.attachments)
            or any(change.policy not in deleted for change in difference.enforcement)
            or any(problem.subject not in deleted for problem in difference.problems.fixed)
        )


def blast_radius(analysis: Analysis, subject: ObjectRef, owner_key: str = "") -> BlastRadius:
    """Return what an object reaches, and what deleting it would change; `owner_key` names a label or annotation."""
    resource = analysis.index.get(subject)
    deleted = cascade(analysis.index, [subject])
    difference = diff(what_if(analysis, deleted=deleted), owner_key)
    reach = _reach(analysis, subject, owner_key) if subject in analysis.attachments else PolicyReach()
    if reach.policy:
        affected = (node.object for node in reach.affected)
        objects = {*affected, *(route.route for route in reach.behind), *reach.possibly_affected}
    else:
        objects = {*_concerned(difference)} - deleted
    calls = (call for ref in sorted(deleted) for call in analysis.calls_to(ref))
    references = (reference for ref in sorted(deleted) for reference in analysis.references_to(ref))
    return BlastRadius(
        subject=subject,
        origin=resource.origin if resource else None,
        **asdict(reach),
        deleted_with_it=tuple(sorted(deleted - {subject})),
        counts=count_objects(analysis.index, objects, owner_key),
        difference=difference,
        in_input=resource is not None or analysis.index.presence(subject) == "present",
        called_by=tuple(call for call in calls if call.policy not in deleted),
        referred_to_by=tuple(reference for reference in references if reference.policy not in deleted),
        place=analysis.index.source,
    )


def _concerned(difference: StateDiff) -> Iterator[ObjectRef]:
    """The objects for which settings, traffic, parents, classes, targets or problems differ."""
    yield from (changed.node.object for change in difference.effects for changed in change.objects)
    yield from (change.route for change in difference.parents)
    yield from (traffic.route for traffic in difference.traffic.routes)
    yield from difference.without_class
    yield from (change.policy for change in difference.attachments)
    yield from (problem.subject for problem in difference.problems.introduced if problem.subject)


def _reach(analysis: Analysis, policy: ObjectRef, owner_key: str) -> PolicyReach:
    enforcement = analysis.enforcement(policy)
    profile = analysis.registry.profile(policy.group_kind)
    in_force = affected_nodes(enforcement, profile)
    behind = routes_behind(analysis, in_force, owner_key)
    outcomes = (outcome.effective for outcome in policy_outcomes(enforcement) if outcome.in_force)
    names = {name for route in behind for name in route.hostnames}
    return PolicyReach(
        enforcement=enforcement,
        reasons=why_without_effect(analysis, policy),
        targets=analysis.attachments[policy],
        affected=in_force,
        possibly_affected=possibly_affected(enforcement, profile),
        superseded=_superseded(analysis, enforcement, in_force),
        detached=tuple(dict.fromkeys(_detached_routes(analysis, enforcement))),
        behind=behind,
        hostnames=tuple(sorted(names or hostnames_on(analysis, (effective.path for effective in outcomes)))),
    )


def _superseded(analysis: Analysis, enforcement: Enforcement, in_force: Iterable[NodeRef]) -> tuple[SupersededOn, ...]:
    policy = enforcement.policy
    profile = analysis.registry.profile(policy.group_kind)
    nodes: dict[NodeRef, set[ObjectRef]] = {}
    for outcome in policy_outcomes(enforcement):
        if not outcome.in_force:
            resolution = outcome.effective.resolution
            fates = resolution.fates_of.get(policy, ())
            winners = {source.object for fate in fates for source in fate.superseded_by}
            for node in outcome.nodes(profile):
                nodes.setdefault(node, set()).update(winners - {policy} or resolution.policies_in_force)
    by_winners = grouped((tuple(sorted(nodes[node])), node) for node in from_the_root(nodes.keys() - {*in_force}))
    return tuple(SupersededOn(objects, winners) for winners, objects in by_winners.items())


def _detached_routes(analysis: Analysis, enforcement: Enforcement) -> Iterator[DetachedRoute]:
    """The routes below the targets that are attached to nothing, or give them no weight: traffic ends there."""
    for path in enforcement.idle_paths:
        route = next((node.object for node in path if node.object.group_kind in ROUTES), None)
        if route is None:
            backend = path[-1].object
            for route_above in analysis.topology.relations.routes_referring_to(backend):
                yield DetachedRoute(route_above, f"it gives weight 0 to {backend}", "")
            continue
        refused = next((binding for binding in analysis.topology.bindings(route) if binding.message), None)
        if refused:
            yield DetachedRoute(route, refused.message, refused.reason)
        else:
            yield DetachedRoute(route, "it names no parent", "")
