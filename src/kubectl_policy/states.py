"""Two states of one world, each of which knows what the other one has read, and what a deletion takes along."""

from __future__ import annotations

from typing import TYPE_CHECKING

from kubectl_policy.model.absence import Candidates
from kubectl_policy.model.fields import mapping_at, mappings_at, same_json, text_at, value_at
from kubectl_policy.model.index import Index
from kubectl_policy.model.kinds import CRD, NAMESPACE, names_in_crd
from kubectl_policy.model.refs import GroupKind, ObjectRef, names_as_in, rule_names
from kubectl_policy.model.snapshot import Resource
from kubectl_policy.model.values import replace
from kubectl_policy.model.world import Overlay, world_of

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Iterator

    from kubectl_policy.model import Json, Snapshot
    from kubectl_policy.model.world import World

# What `kubectl apply` leaves as it is in the cluster, because no manifest states it.
_KEPT_METADATA = ("creationTimestamp", "uid")


def paired(before: Snapshot, after: Snapshot) -> tuple[Snapshot, Snapshot]:
    """Two states that were read apart, side by side: what only one of them has is known not to be in the other.

    It is not known of what the gaps of that other one cover, or what may have another name there.
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
    """A state, and the same state after some objects are deleted and then others applied.

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


def laid_over(around: Snapshot, own: Snapshot) -> Snapshot:
    """A state with what is around it: where both have an object, its own counts.

    What could not be read of either is not known; what is known to be all there is, in either, is so.
    """
    scopes = Index(around)
    _, both = changed(around, (in_scope(resource, scopes) for resource in own.resources), unread=own)
    return replace(
        both,
        complete=own.complete or around.complete,
        listed=own.listed | around.listed,
        assumed=own.assumed,
        ignored=own.ignored,
        left_out=own.left_out,
        other_state=(),
        gone=frozenset(),
        applied=frozenset(),
        place=own.place,
    )


def in_scope(resource: Resource, index: Index) -> Resource:
    """An object that was read apart from the definition of its kind, without a namespace if its kind has none."""
    if index.namespaced(resource.ref.group_kind) or not resource.ref.namespace:
        return resource
    return replace(resource, ref=resource.ref._replace(namespace=""))


def same_object(one: Resource, other: Resource) -> bool:
    """Whether two objects of one name are the same in two states."""
    return one is other or (one.created == other.created and same_json(one.raw, other.raw))


def _earlier(snapshot: Snapshot, own: World, later: World, among: Iterable[ObjectRef]) -> Snapshot:
    """The earlier one of two states, in which rules of routes are called as the same rules are in the later one."""
    known = _knowing_of(snapshot, own, later, among)
    rules: dict[ObjectRef, tuple[str, ...]] = {}
    for theirs in known.other_state:
        ours = own.get(theirs.ref)
        if ours and theirs.ref.kind.endswith("Route"):
            names = names_as_in(theirs.raw, ours.raw)
            rules |= {theirs.ref: names} if names != rule_names(ours.raw) else {}
    return replace(known, rules=rules)


def _knowing_of(snapshot: Snapshot, own: World, other: World, among: Iterable[ObjectRef]) -> Snapshot:
    """A state with what the other one has and it has not, or has otherwise, `among` some objects."""
    theirs = filter(None, map(other.get, among))
    other_state = tuple(
        resource for resource in theirs if (ours := own.get(resource.ref)) is None or not same_object(ours, resource)
    )
    renamed = Candidates(own, snapshot)
    gone = frozenset(
        resource.ref
        for resource in other_state
        if not own.has(resource.ref)
        and not any(gap.covers(resource.ref) for gap in snapshot.gaps)
        and not renamed.of(resource.ref)
        and not (resource.ref.group_kind == NAMESPACE and resource.ref.name in own.namespaces)
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
    """Objects with everything that is deleted with them.

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
        left = {owner for owner in _owners(index, resource) if index.presence(owner) != "missing"}
        if left and all(owner in deleted for owner in left):
            yield resource.ref


def _owners(index: Index, resource: Resource) -> list[ObjectRef]:
    """The owners of an object, in its own namespace or in none (metav1.OwnerReference)."""
    owners: list[ObjectRef] = []
    for reference in mappings_at(resource.raw, "metadata.ownerReferences"):
        kind = GroupKind(text_at(reference, "apiVersion").rpartition("/")[0], text_at(reference, "kind"))
        namespace = resource.ref.namespace if index.namespaced(kind) else ""
        owners.append(ObjectRef(kind, namespace, text_at(reference, "name")))
    return owners
