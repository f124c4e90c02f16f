"""Two states of one world, each of which knows what the other one has read, and what a deletion takes along."""

from __future__ import annotations

from typing import TYPE_CHECKING

from msgspec.structs import replace

from kubectl_policy.model.absence import Candidates
from kubectl_policy.model.fields import mapping_at, mappings_at, same_json, text_at, value_at
from kubectl_policy.model.index import Index
from kubectl_policy.model.kind_roles import NAMESPACE
from kubectl_policy.model.kinds import CRD, names_in_crd
from kubectl_policy.model.refs import GroupKind, ObjectRef, names_as_in, rule_names
from kubectl_policy.model.snapshot import Resource
from kubectl_policy.model.world import Overlay, world_of

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Iterator

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
        place=inner.place,
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
