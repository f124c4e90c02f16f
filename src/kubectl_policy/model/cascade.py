"""What an API server deletes with an object."""

from __future__ import annotations

from typing import TYPE_CHECKING

from kubectl_policy.model.fields import mappings_at, text_at
from kubectl_policy.model.kinds import CRD, NAMESPACE, names_in_crd
from kubectl_policy.model.refs import GroupKind, ObjectRef

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Iterator

    from kubectl_policy.model import Resource
    from kubectl_policy.model.index import Index


def cascade(index: Index, deleted: Iterable[ObjectRef]) -> frozenset[ObjectRef]:
    """Objects with everything that is deleted with them.

    With a Namespace goes what is in it, with a CustomResourceDefinition every object of its kind, and a dependent with
    the last owner that is there, as `kubectl delete` does it (`--cascade=background`). What finalizers do is not known.
    """
    found = set(deleted)
    owned = [resource for kind in index.group_kinds for resource in index.of_kind(kind) if _owners(index, resource)]
    while True:
        more = {*_contained(index, found), *_orphaned(index, owned, found)} - found
        if not more:
            return frozenset(found)
        found |= more


def _contained(index: Index, deleted: Collection[ObjectRef]) -> Iterator[ObjectRef]:
    namespaces = {ref.name for ref in deleted if ref.group_kind == NAMESPACE}
    definitions = (index.get(ref) for ref in deleted if ref.group_kind == CRD)
    names = (names_in_crd(definition) for definition in definitions if definition)
    kinds = {found.group_kind for found in names if found}
    if namespaces or kinds:
        for kind in index.group_kinds:
            for resource in index.of_kind(kind):
                if resource.ref.namespace in namespaces or kind in kinds:
                    yield resource.ref


def _orphaned(index: Index, owned: Iterable[Resource], deleted: Collection[ObjectRef]) -> Iterator[ObjectRef]:
    for resource in owned:
        left = {owner for owner in _owners(index, resource) if index.presence(owner) != "missing"}
        if left and all(owner in deleted for owner in left):
            yield resource.ref


def _owners(index: Index, resource: Resource) -> list[ObjectRef]:
    """The owners of an object, in its own namespace or in none (metav1.OwnerReference)."""
    found: list[ObjectRef] = []
    for reference in mappings_at(resource.raw, "metadata.ownerReferences"):
        kind = GroupKind(text_at(reference, "apiVersion").rpartition("/")[0], text_at(reference, "kind"))
        namespace = resource.ref.namespace if index.namespaced(kind) else ""
        found.append(ObjectRef(kind, namespace, text_at(reference, "name")))
    return found
