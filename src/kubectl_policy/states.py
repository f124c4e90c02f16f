"""Two states of one world: what differs between them, what a deletion takes along, and how far a change reaches."""

from __future__ import annotations

from itertools import chain
from typing import TYPE_CHECKING, Final

from msgspec import Struct
from msgspec.structs import replace

from kubectl_policy.model.absence import Candidates
from kubectl_policy.model.fields import mapping_at, mappings_at, same_json, text_at, value_at
from kubectl_policy.model.index import Index
from kubectl_policy.model.kind_roles import GATEWAY_API, GATEWAY_API_EXPERIMENTAL, NAMESPACE, ROUTES
from kubectl_policy.model.kinds import CRD, names_in_crd
from kubectl_policy.model.refs import GroupKind, NodeRef, ObjectRef, names_as_in, rule_names
from kubectl_policy.model.snapshot import Resource
from kubectl_policy.model.world import MAX_SINGLE_QUESTIONS, Overlay, world_of

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Iterator

    from kubectl_policy.analysis import Analysis
    from kubectl_policy.model import Json, Snapshot
    from kubectl_policy.model.world import World

# What `kubectl apply` leaves as it is in the cluster, because no manifest states it.
_KEPT_METADATA = ("creationTimestamp", "uid")


def paired(before: Snapshot, after: Snapshot) -> tuple[Snapshot, Snapshot]:
    """Return two states that were read apart: an object that only one of them has is known to be gone in the other.

    That is unknown of objects that a gap of the other state covers, or that may have another name there.
    """
    old, new = world_of(before.resources), world_of(after.resources)
    return _earlier(before, old, new, _refs(new)), _knowing_of(after, new, old, _refs(old))


def _refs(world: World) -> Iterator[ObjectRef]:
    return (resource.ref for resource in world)


def changed(
    snapshot: Snapshot,
    applied: Iterable[Resource] = (),
    deleted: Collection[ObjectRef] = (),
    unread: Snapshot | None = None,
) -> tuple[Snapshot, Snapshot]:
    """Return a state, and the same state after some objects are deleted and then others applied.

    An applied object takes the place of the one of its name, and keeps what a manifest does not state: its status, and
    when it was created. The gaps and diagnostics of what is `unread` are those of the later state as well.
    """
    old = world_of(snapshot.resources)
    changes: dict[ObjectRef, Resource | None] = dict.fromkeys(deleted)
    for resource in applied:
        known = old.get(resource.ref)
        changes[resource.ref] = _applied_to(known, resource) if known else resource
    new = Overlay(old, changes)
    gone = {ref for ref in deleted if changes[ref] is None}
    diagnostics = tuple(problem for problem in snapshot.diagnostics if problem.subject not in gone)
    refs = snapshot.applied.union(ref for ref, resource in changes.items() if resource)
    after = replace(snapshot, resources=new, diagnostics=diagnostics, applied=refs)
    if unread:
        diagnostics = (*diagnostics, *unread.diagnostics)
        after = replace(after, gaps=(*snapshot.gaps, *unread.gaps), diagnostics=diagnostics)
    later = _knowing_of(after, new, old, changes)
    return _earlier(snapshot, old, new, changes), replace(later, gone=later.gone | gone)


def laid_over(around: Snapshot, inner: Snapshot) -> Snapshot:
    """Return a state laid over the one around it: where both have an object, that of the inner state counts.

    What could not be read of either is unknown; what is complete in either is complete.
    """
    scopes = Index(around)
    _, both = changed(around, (in_scope(resource, scopes) for resource in inner.resources), unread=inner)
    return replace(
        both,
        complete=inner.complete or around.complete,
        listed=inner.listed | around.listed,
        assumed=inner.assumed,
        ignored=inner.ignored,
        left_out=inner.left_out,
        other_state=(),
        gone=frozenset(),
        applied=frozenset(),
        source=inner.source,
    )


def in_scope(resource: Resource, index: Index) -> Resource:
    """An object that was read apart from the definition of its kind, without a namespace if its kind has none."""
    if index.namespaced(resource.ref.group_kind) or not resource.ref.namespace:
        return resource
    return replace(resource, ref=replace(resource.ref, namespace=""))


def same_object(first: Resource, second: Resource) -> bool:
    """Whether two objects of one name are the same in two states."""
    return first is second or (first.created == second.created and same_json(first.raw, second.raw))


def _earlier(snapshot: Snapshot, world: World, later: World, refs: Iterable[ObjectRef]) -> Snapshot:
    """Return the earlier of two states, whose route rules have the names of the same rules in the later state."""
    known = _knowing_of(snapshot, world, later, refs)
    rules: dict[ObjectRef, tuple[str, ...]] = {}
    for theirs in known.other_state:
        ours = world.get(theirs.ref)
        if ours and theirs.ref.kind.endswith("Route"):
            names = names_as_in(theirs.raw, ours.raw)
            rules |= {theirs.ref: names} if names != rule_names(ours.raw) else {}
    return replace(known, rules=rules)


def _knowing_of(snapshot: Snapshot, world: World, other_world: World, refs: Iterable[ObjectRef]) -> Snapshot:
    """Return a state that knows which of some objects the other state has, and it lacks or has otherwise."""
    theirs = filter(None, map(other_world.get, refs))
    other_state = tuple(
        resource for resource in theirs if (ours := world.get(resource.ref)) is None or not same_object(ours, resource)
    )
    renamed = Candidates(world, snapshot)
    gone = frozenset(
        resource.ref
        for resource in other_state
        if not world.has(resource.ref)
        and not any(gap.covers(resource.ref) for gap in snapshot.gaps)
        and not renamed.of(resource.ref)
        and not (resource.ref.group_kind == NAMESPACE and resource.ref.name in world.namespaces)
    )
    return replace(snapshot, other_state=other_state, gone=gone, rules={})


def _applied_to(known: Resource, resource: Resource) -> Resource:
    kept = {key: value for key, value in mapping_at(known.raw, "metadata").items() if key in _KEPT_METADATA}
    stated = {key: value for key, value in mapping_at(resource.raw, "metadata").items() if value is not None}
    raw: dict[str, Json] = {**resource.raw, "metadata": {**kept, **stated}}
    # `kubectl create --dry-run` writes an empty one.
    if known.raw.get("status") and not raw.get("status"):
        raw["status"] = known.raw["status"]
    return Resource(ref=resource.ref, origin=resource.origin, raw=raw, created=resource.created or known.created)


def cascade(index: Index, deleted: Iterable[ObjectRef]) -> frozenset[ObjectRef]:
    """Return objects with everything that is deleted with them.

    With a Namespace goes what is in it, with a CustomResourceDefinition every object of its kind, and a dependent with
    the last owner that is there, as `kubectl delete` does it (`--cascade=background`). What finalizers do is not known.
    """
    gone = set(deleted)
    owned = [resource for resource in index.world if value_at(resource.raw, "metadata.ownerReferences")]
    while True:
        more = {*_contained(index, gone), *_orphaned(index, owned, gone)} - gone
        if not more:
            return frozenset(gone)
        gone |= more


def _contained(index: Index, deleted: Collection[ObjectRef]) -> Iterator[ObjectRef]:
    namespaces = {ref.name for ref in deleted if ref.group_kind == NAMESPACE}
    definitions = (index.get(ref) for ref in deleted if ref.group_kind == CRD)
    names = (names_in_crd(definition) for definition in definitions if definition)
    kinds = {known.group_kind for known in names if known}
    for kind in kinds:
        yield from index.world.names_of(kind)
    for namespace in namespaces:
        for kind in dict.fromkeys((*index.group_kinds, *index.kinds)):
            if index.namespaced(kind) and index.world.serves(kind):
                yield from index.world.names_of(kind, namespace)


def _orphaned(index: Index, owned: Iterable[Resource], deleted: Collection[ObjectRef]) -> Iterator[ObjectRef]:
    for resource in owned:
        owners = {owner for owner in _owners(index, resource) if index.presence(owner) != "missing"}
        if owners and all(owner in deleted for owner in owners):
            yield resource.ref


def _owners(index: Index, resource: Resource) -> list[ObjectRef]:
    """The owners of an object, in its own namespace or in none (metav1.OwnerReference)."""
    owners: list[ObjectRef] = []
    for reference in mappings_at(resource.raw, "metadata.ownerReferences"):
        kind = GroupKind(text_at(reference, "apiVersion").rpartition("/")[0], text_at(reference, "kind"))
        namespace = resource.ref.namespace if index.namespaced(kind) else ""
        owners.append(ObjectRef(kind, namespace, text_at(reference, "name")))
    return owners


# Kinds of Gateway API itself and of Kubernetes may be what the hierarchy is made of.
STANDARD: Final = frozenset({GATEWAY_API, GATEWAY_API_EXPERIMENTAL, ""})


class Surroundings(Struct, frozen=True, kw_only=True):
    """Where two states of a world can differ.

    Other `routes` than these are attached to the same, and lead to the same, and other `policies` are attached to the
    same targets. Paths that are not in both states lead through one of these routes, or end at one of the `backends`,
    to which routes led. The policies that `share` paths with the routes may be in force otherwise.
    """

    routes: frozenset[ObjectRef]
    backends: frozenset[ObjectRef]
    policies: frozenset[ObjectRef]
    reattached: frozenset[ObjectRef]
    share: frozenset[ObjectRef]


def surroundings(before: Analysis, after: Analysis, differing: Collection[ObjectRef]) -> Surroundings | None:
    """What the objects that are `differing` can reach; None where that may be anything, or takes longer to find out.

    A route decides about itself alone: what it is attached to and leads to, and which paths there are by way of it; so
    does a policy, apart from those with which it shares a target or a path. All else is looked at by kind: on a Gateway
    depend the routes of all Namespaces, on a Namespace what selects it by labels, on a ReferenceGrant or a definition
    whatever refers to something, or is of the kind.
    """
    states = (before, after)
    if len(differing) > MAX_SINGLE_QUESTIONS or not _are_read_alike(before, after):
        return None
    if any(map(_depends_on_all, states)):
        return None
    kinds = {ref.group_kind for ref in differing}
    if not all(kind in ROUTES or _is_policy_alone(kind, state) for kind in kinds for state in states):
        return None
    routes = {ref for ref in differing if ref.group_kind in ROUTES}
    for state in states:
        routes.update(route for ref in differing for route in _routes_naming(state, ref))
    backends = {node.object for state in states for route in routes for node in _backends(state, route)}
    if any(state.index.presence(backend) == "missing" for state in states for backend in backends):
        # A path leads there as long as anything refers to it.
        return None
    policies = {ref for ref in differing if ref.group_kind not in ROUTES}
    for state in states:
        policies.update(_policies_around(state, differing, (*routes, *backends)))
    reattached = frozenset(
        policy
        for policy in policies
        if policy in differing or before.attachments.get(policy) != after.attachments.get(policy)
    )
    for state in states:
        # What a filter does depends on whether it holds.
        routes.update(each.route for ref in reattached for each in state.topology.relations.filters_naming(ref))
    return Surroundings(
        routes=frozenset(routes),
        backends=frozenset(backends),
        policies=frozenset(policies),
        reattached=reattached,
        share=frozenset(policy for state in states for policy in _policies_beside(state, routes, backends)),
    )


def _are_read_alike(before: Analysis, after: Analysis) -> bool:
    """Whether as much could be read of both states, and the same is known of kinds of policies."""
    return before.snapshot.is_read_like(after.snapshot) and (
        before.registry.policy_kinds == after.registry.policy_kinds
    )


def _depends_on_all(state: Analysis) -> bool:
    """Whether there is something that may depend on any object.

    That is what has placeholders in its name, or in what it refers to; routes that lead to routes, as requests then
    come by way of others; and policies that are not attached where routes share requests.
    """
    relations = state.topology.relations
    return (
        state.topology.possible.has_any
        or state.possible_attachments.has_placeholders
        or bool(relations.delegations.refs)
        or not relations.kinds_of_other_backends.isdisjoint(ROUTES)
        or any(profile.overlap == "refused" for profile in state.registry.policy_kinds)
    )


def _is_policy_alone(kind: GroupKind, state: Analysis) -> bool:
    """Whether objects of a kind are policies, and nothing that routes send requests to or Gateways refer to."""
    profile, relations = state.registry.profile_of(kind), state.topology.relations
    return (
        kind.group not in STANDARD
        and profile is not None
        and profile.role == "policy"
        and kind not in relations.kinds_of_other_backends
        and kind not in relations.kinds_of_parameters
    )


def _routes_naming(state: Analysis, obj: ObjectRef) -> Iterator[ObjectRef]:
    relations = state.topology.relations
    yield from relations.routes_naming(obj)
    yield from (each.route for each in relations.filters_naming(obj))


def _backends(state: Analysis, route: ObjectRef) -> Iterator[NodeRef]:
    return (node for backend in state.topology.backends(route) for node in (backend.node, *backend.nodes))


def _policies_around(
    state: Analysis, differing: Iterable[ObjectRef], around: Iterable[ObjectRef]
) -> Iterator[ObjectRef]:
    """The policies that may be attached otherwise in another state: by what they name, and to what is around it."""
    for ref in differing:
        yield from state.policies_that_may_name(ref)
    for obj in dict.fromkeys((*differing, *around)):
        yield from (attachment.policy for attachment in state.attachments_to(obj))
        named = (each.object for each in state.topology.relations.filters_of(obj))
        yield from (each for each in named if each in state.attachments)


def _policies_beside(
    state: Analysis, routes: Iterable[ObjectRef], backends: Iterable[ObjectRef]
) -> Iterator[ObjectRef]:
    """The policies about anything on the paths through some routes, and on those of backends by themselves."""
    paths = (path for route in routes for path in state.topology.paths_through(NodeRef(route)))
    own = ((ObjectRef(NAMESPACE, "", obj.namespace), obj) for obj in backends)
    for obj in dict.fromkeys((*(node.object for path in paths for node in path), *chain.from_iterable(own))):
        yield from (attachment.policy for attachment in state.attachments_to(obj))
