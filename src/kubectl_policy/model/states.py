"""Two states of one world, each of which knows what the other one has read."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from kubectl_policy.model.fields import mapping_at, same_json
from kubectl_policy.model.kinds import NAMESPACE
from kubectl_policy.model.snapshot import Resource

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable

    from kubectl_policy.model import Json, ObjectRef, Snapshot
    from kubectl_policy.model.index import Index

# What `kubectl apply` leaves as it is in the cluster, because no manifest states it.
_KEPT_METADATA = ("creationTimestamp", "uid")


def paired(before: Snapshot, after: Snapshot) -> tuple[Snapshot, Snapshot]:
    """Two states that were read apart, side by side: what only one of them has is known not to be in the other.

    It is not known of what the gaps of that other one cover.
    """
    old, new = _by_name(before), _by_name(after)
    return _knowing_of(before, old, new), _knowing_of(after, new, old)


def changed(
    snapshot: Snapshot,
    applied: Iterable[Resource] = (),
    deleted: Collection[ObjectRef] = (),
    unread: Snapshot | None = None,
) -> tuple[Snapshot, Snapshot]:
    """A state and what becomes of it, side by side, when some objects are deleted and then others applied.

    An applied object takes the place of the one of its name, and keeps what a manifest does not state: its status, and
    when it was created. The gaps and diagnostics of what is `unread` are those of the later state as well.
    """
    old = _by_name(snapshot)
    new = {ref: resource for ref, resource in old.items() if ref not in deleted}
    for resource in applied:
        known = old.get(resource.ref)
        new[resource.ref] = _applied_to(known, resource) if known else resource
    gone = {ref for ref in deleted if ref not in new}
    diagnostics = tuple(found for found in snapshot.diagnostics if found.subject not in gone)
    after = replace(snapshot, resources=tuple(new.values()), diagnostics=diagnostics)
    if unread:
        diagnostics = (*diagnostics, *unread.diagnostics)
        after = replace(after, gaps=(*snapshot.gaps, *unread.gaps), diagnostics=diagnostics)
    later = _knowing_of(after, new, old)
    return _knowing_of(snapshot, old, new), replace(later, gone=later.gone | gone)


def in_scope(resource: Resource, index: Index) -> Resource:
    """An object that was read apart from the definition of its kind, without a namespace if its kind has none."""
    if index.namespaced(resource.ref.group_kind) or not resource.ref.namespace:
        return resource
    return replace(resource, ref=resource.ref._replace(namespace=""))


def same_object(one: Resource, other: Resource) -> bool:
    """Whether two objects of one name are the same in two states."""
    return one is other or (one.created == other.created and same_json(one.raw, other.raw))


def _by_name(snapshot: Snapshot) -> dict[ObjectRef, Resource]:
    return {resource.ref: resource for resource in snapshot.resources}


def _knowing_of(snapshot: Snapshot, own: dict[ObjectRef, Resource], other: dict[ObjectRef, Resource]) -> Snapshot:
    """A state with what the other one has and it has not, or has otherwise."""
    other_state = tuple(
        resource for ref, resource in other.items() if ref not in own or not same_object(own[ref], resource)
    )
    inhabited = {ref.namespace for ref in own}
    gone = frozenset(
        resource.ref
        for resource in other_state
        if resource.ref not in own
        and not any(gap.covers(resource.ref) for gap in snapshot.gaps)
        and not (resource.ref.group_kind == NAMESPACE and resource.ref.name in inhabited)
    )
    return replace(snapshot, other_state=other_state, gone=gone)


def _applied_to(known: Resource, resource: Resource) -> Resource:
    kept = {key: value for key, value in mapping_at(known.raw, "metadata").items() if key in _KEPT_METADATA}
    stated = {key: value for key, value in mapping_at(resource.raw, "metadata").items() if value is not None}
    raw: dict[str, Json] = {**resource.raw, "metadata": {**kept, **stated}}
    # `kubectl create --dry-run` writes an empty one.
    if known.raw.get("status") and not raw.get("status"):
        raw["status"] = known.raw["status"]
    return Resource(resource.ref, resource.origin, raw, resource.created or known.created)
