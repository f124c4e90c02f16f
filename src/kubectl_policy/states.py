"""Two states of one world: what differs between them, what a deletion takes along, and how far a change reaches."""

from __future__ import annotations

from itertools import chain
from typing import TYPE_CHECKING, Final

from msgspec import Struct
from msgspec.structs import replace

from kubectl_policy.model.absence import Candidates
from kubectl_policy.model.fields import mapping_at, mappings_at, same_json, text_at, value_at
from kubectl_policy.model.index import Index
from kubectl_policy.model.kind_roles import GATEWAY_API_GROUPS, NAMESPACE, ROUTES
from kubectl_policy.model.kinds import CRD, names_in_crd
from kubectl_policy.model.refs import GroupKind, NodeRef, ObjectRef, names_as_in, rule_names
from kubectl_policy.model.snapshot import Resource
from kubectl_policy.model.world import MAX_SINGLE_QUESTIONS, Loaded, Overlay, World, world_of

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Iterator

    from kubectl_policy.analysis import Analysis
    from kubectl_policy.model import Json, Snapshot

# What `kubectl apply` leaves as it is in the cluster, because no manifest states it.
_KEPT_METADATA = ("creationTimestamp", "uid")


def pair_states(before: Snapshot, after: Snapshot) -> tuple[Snapshot, Snapshot]:
    """Return two states that were read separately, each with the objects that the other one has or that differ there.

    An object that only one state has is known to be gone in the other, unless a gap covers it there, or a placeholder
    may stand for its name.
    """
    old, new = world_of(before.resources), world_of(after.resources)
    old_refs, new_refs = ([resource.ref for resource in world] for world in (old, new))
    if old_refs and any(resource.created is None and not old.has(resource.ref) for resource in new):
        new = Loaded(resource if old.has(resource.ref) else as_added(resource) for resource in new)
        after = replace(after, resources=new)
    return _earlier_state(before, old, new, new_refs), _with_differences(after, new, old, old_refs)


def apply_changes(
    snapshot: Snapshot,
    applied: Iterable[Resource] = (),
    deleted: Collection[ObjectRef] = (),
    unread: Snapshot | None = None,
) -> tuple[Snapshot, Snapshot]:
    """Return a state, and the same state after some objects are deleted and then others applied.

    An applied object replaces the one with its name, and keeps what a manifest does not state: status and time of
    creation. The later state also has the gaps and diagnostics of `unread`.
    """
    old = world_of(snapshot.resources)
    changes: dict[ObjectRef, Resource | None] = dict.fromkeys(deleted)
    for resource in applied:
        existing = old.get(resource.ref)
        changes[resource.ref] = _apply_to(existing, resource) if existing else resource
    new = Overlay(old, changes)
    gone = {ref for ref in deleted if changes[ref] is None}
    diagnostics = tuple(problem for problem in snapshot.diagnostics if problem.subject not in gone)
    refs = snapshot.applied.union(ref for ref, resource in changes.items() if resource)
    after = replace(snapshot, resources=new, diagnostics=diagnostics, applied=refs)
    if unread:
        diagnostics = (*diagnostics, *unread.diagnostics)
        after = replace(after, gaps=(*snapshot.gaps, *unread.gaps), diagnostics=diagnostics)
    later = _with_differences(after, new, old, changes)
    return _earlier_state(snapshot, old, new, changes), replace(later, gone=later.gone | gone)


def as_added(resource: Resource) -> Resource:
    """Return an object as one that a change adds: without a date, it is younger than all that was there before."""
    return resource if resource.created else replace(resource, is_added=True)


def overlay(around: Snapshot, inner: Snapshot) -> Snapshot:
    """Lay a state over the one around it: of an object in both, that of the inner state counts.

    The result has the gaps of both, and is complete if either state is.
    """
    scopes = Index(around)
    _, both = apply_changes(around, (in_scope(resource, scopes) for resource in inner.resources), unread=inner)
    return replace(
        inner,
        resources=both.resources,
        gaps=both.gaps,
        diagnostics=both.diagnostics,
        complete=inner.complete or around.complete,
        listed=inner.listed | around.listed,
    )


def in_scope(resource: Resource, index: Index) -> Resource:
    """Return an object without its namespace if its kind, by a definition that was read elsewhere, has none."""
    if index.namespaced(resource.ref.group_kind) or not resource.ref.namespace:
        return resource
    return replace(resource, ref=replace(resource.ref, namespace=""))


def same_object(first: Resource, second: Resource) -> bool:
    """Whether two objects of one name are the same in two states."""
    return first is second or (first.created == second.created and same_json(first.raw, second.raw))


def _earlier_state(snapshot: Snapshot, world: World, later: World, refs: Iterable[ObjectRef]) -> Snapshot:
    """Return the earlier of two states, in which rules of routes have their names in the later state."""
    earlier = _with_differences(snapshot, world, later, refs)
    rules: dict[ObjectRef, tuple[str, ...]] = {}
    for theirs in earlier.other_state:
        ours = world.get(theirs.ref)
        if ours and theirs.ref.kind.endswith("Route"):
            names = names_as_in(theirs.raw, ours.raw)
            rules |= {theirs.ref: names} if names != rule_names(ours.raw) else {}
    return replace(earlier, rules=rules)


def _with_differences(snapshot: Snapshot, world: World, other_world: World, refs: Iterable[ObjectRef]) -> Snapshot:
    """Return a state with those of some objects that the other state has, and that are absent or differ in it."""
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


def _apply_to(existing: Resource, resource: Resource) -> Resource:
    kept = {key: value for key, value in mapping_at(existing.raw, "metadata").items() if key in _KEPT_METADATA}
    stated = {key: value for key, value in mapping_at(resource.raw, "metadata").items() if value is not None}
    raw: dict[str, Json] = {**resource.raw, "metadata": {**kept, **stated}}
    # `kubectl create --dry-run` writes an empty status.
    if existing.raw.get("status") and not raw.get("status"):
        raw["status"] = existing.raw["status"]
    created = resource.created or existing.created
    return Resource(
        ref=resource.ref, origin=resource.origin, raw=raw, created=created, is_added=existing.is_added and not created
    )


def cascade(index: Index, deleted: Iterable[ObjectRef]) -> frozenset[ObjectRef]:
    """Return objects with everything that is deleted with them, as by `kubectl delete --cascade=background`.

    A Namespace takes its objects along, a CustomResourceDefinition every object of its kind, and the last existing
    owner its dependents. Finalizers are not considered.
    """
    gone = set(deleted)
    owned = [resource for resource in index.world if value_at(resource.raw, "metadata.ownerReferences")]
    while True:
        dependents = {*_contained(index, gone), *_orphaned(index, owned, gone)} - gone
        if not dependents:
            return frozenset(gone)
        gone |= dependents


def _contained(index: Index, deleted: Collection[ObjectRef]) -> Iterator[ObjectRef]:
    namespaces = {ref.name for ref in deleted if ref.group_kind == NAMESPACE}
    definitions = (index.get(ref) for ref in deleted if ref.group_kind == CRD)
    names = (names_in_crd(definition) for definition in definitions if definition)
    for kind in {defined.group_kind for defined in names if defined}:
        yield from index.world.refs_of(kind)
    for namespace in namespaces:
        for kind in dict.fromkeys((*index.group_kinds, *index.kinds)):
            if index.namespaced(kind) and index.world.serves(kind):
                yield from index.world.refs_of(kind, namespace)


def _orphaned(index: Index, owned: Iterable[Resource], deleted: Collection[ObjectRef]) -> Iterator[ObjectRef]:
    for resource in owned:
        owners = {owner for owner in _owners(index, resource) if index.presence(owner) != "missing"}
        if owners and all(owner in deleted for owner in owners):
            yield resource.ref


def _owners(index: Index, resource: Resource) -> Iterator[ObjectRef]:
    """Yield the owners of an object, which are in its namespace or cluster-scoped (metav1.OwnerReference)."""
    for reference in mappings_at(resource.raw, "metadata.ownerReferences"):
        kind = GroupKind(text_at(reference, "apiVersion").rpartition("/")[0], text_at(reference, "kind"))
        namespace = resource.ref.namespace if index.namespaced(kind) else ""
        yield ObjectRef(kind, namespace, text_at(reference, "name"))


# Kinds of Gateway API itself and of Kubernetes may be what the hierarchy is made of.
STANDARD: Final = frozenset({*GATEWAY_API_GROUPS, ""})


class Surroundings(Struct, frozen=True, kw_only=True):
    """The objects around a change, beyond which two states of a world are equal."""

    # All other routes have the same parents and backends in both states.
    routes: frozenset[ObjectRef]
    # Paths that only one state has lead through one of the routes, or end at one of these backends.
    backends: frozenset[ObjectRef]
    # All other policies are attached to the same targets in both states.
    policies: frozenset[ObjectRef]
    # Those of the policies that differ, or are attached to different targets.
    reattached: frozenset[ObjectRef]
    # Policies on paths of the routes and backends, whose enforcement may differ.
    share: frozenset[ObjectRef]


def surroundings(before: Analysis, after: Analysis, differing: Collection[ObjectRef]) -> Surroundings | None:
    """Return the surroundings of `differing` objects; None if these may be anything, or are too many to find.

    A route affects only its own paths; a policy only itself and the policies with which it shares a target or a path.
    Any other object may affect all of a kind: the routes of a Gateway, the selectors of a Namespace, the references
    that a ReferenceGrant permits, the objects of a definition.
    """
    states = (before, after)
    are_read_alike = before.snapshot.is_read_like(after.snapshot)
    have_same_profiles = are_read_alike and before.registry.policy_kinds == after.registry.policy_kinds
    if len(differing) > MAX_SINGLE_QUESTIONS or not have_same_profiles or any(map(_depends_on_all, states)):
        return None
    kinds = {ref.group_kind for ref in differing}
    if not all(kind in ROUTES or _is_policy_alone(kind, state) for kind in kinds for state in states):
        return None
    routes = {ref for ref in differing if ref.group_kind in ROUTES}
    for state in states:
        relations = state.topology.relations
        routes.update(route for ref in differing for route in relations.routes_naming(ref))
        routes.update(named.route for ref in differing for named in relations.filters_naming(ref))
    backends = {node.object for state in states for route in routes for node in _backends(state, route)}
    if any(state.index.presence(backend) == "missing" for state in states for backend in backends):
        # Such a path exists only as long as something refers to the backend.
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
        # A filter depends on the policy that it names.
        routes.update(named.route for ref in reattached for named in state.topology.relations.filters_naming(ref))
    return Surroundings(
        routes=frozenset(routes),
        backends=frozenset(backends),
        policies=frozenset(policies),
        reattached=reattached,
        share=frozenset(policy for state in states for policy in _policies_on_paths(state, routes, backends)),
    )


def _depends_on_all(state: Analysis) -> bool:
    """Whether a state has objects that may depend on any other object.

    These are objects with placeholders in names or references, routes that delegate to routes, and policies that are
    refused where routes share requests.
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
    """Whether objects of a kind are policies, and neither backends of routes nor parameters of Gateways."""
    profile, relations = state.registry.profile_of(kind), state.topology.relations
    return (
        kind.group not in STANDARD
        and profile is not None
        and profile.role == "policy"
        and kind not in relations.kinds_of_other_backends
        and kind not in relations.kinds_of_parameters
    )


def _backends(state: Analysis, route: ObjectRef) -> Iterator[NodeRef]:
    return (node for backend in state.topology.backends(route) for node in (backend.node, *backend.nodes))


def _policies_around(
    state: Analysis, differing: Iterable[ObjectRef], around: Iterable[ObjectRef]
) -> Iterator[ObjectRef]:
    """Yield the policies that may have different attachments in another state: by their names or by their targets."""
    for ref in differing:
        yield from state.policies_that_may_name(ref)
    for obj in dict.fromkeys((*differing, *around)):
        yield from (attachment.policy for attachment in state.attachments_to(obj))
        named = (route_filter.object for route_filter in state.topology.relations.filters_of(obj))
        yield from (ref for ref in named if ref in state.attachments)


def _policies_on_paths(
    state: Analysis, routes: Iterable[ObjectRef], backends: Iterable[ObjectRef]
) -> Iterator[ObjectRef]:
    """Yield the policies on the paths through some routes, and on the Namespaces and objects of backends."""
    paths = (path for route in routes for path in state.topology.paths_through(NodeRef(route)))
    of_backends = ((ObjectRef(NAMESPACE, "", obj.namespace), obj) for obj in backends)
    for obj in dict.fromkeys((*(node.object for path in paths for node in path), *chain.from_iterable(of_backends))):
        yield from (attachment.policy for attachment in state.attachments_to(obj))
