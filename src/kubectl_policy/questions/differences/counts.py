"""Numbers of objects by kind, by namespace, and by owner."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING, Annotated, TypeVar

from msgspec import Meta, Struct

from kubectl_policy.model.fields import labels_of, mapping_at
from kubectl_policy.model.kinds import NAMESPACE
from kubectl_policy.model.refs import ObjectRef

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable

    from kubectl_policy.model.index import Index

_Item = TypeVar("_Item", str, tuple[str, str])


class KindCount(Struct, frozen=True):
    """A number of objects of a kind."""

    group: Annotated[str, Meta(description="Empty for the core group.")]
    kind: Annotated[str, Meta()]
    count: Annotated[int, Meta(ge=0)]


class NamespaceCount(Struct, frozen=True):
    """A number of objects in a namespace."""

    namespace: Annotated[str, Meta(description="Empty for cluster-scoped objects.")]
    count: Annotated[int, Meta(ge=0)]


class OwnerCount(Struct, frozen=True):
    """A number of objects with an owner."""

    owner: Annotated[str, Meta(description="Empty for objects that name none.")]
    count: Annotated[int, Meta(ge=0)]


class ObjectCounts(Struct, frozen=True, kw_only=True):
    """Numbers of objects, the greatest first, then by name."""

    total: Annotated[int, Meta(ge=0)]
    kinds: Annotated[tuple[KindCount, ...], Meta()]
    namespaces: Annotated[tuple[NamespaceCount, ...], Meta()]
    owners: Annotated[tuple[OwnerCount, ...], Meta()]
    owner_key: Annotated[
        str, Meta(description="The label or annotation that names the owner; empty if none was asked for.")
    ]


def count_objects(index: Index, objects: Collection[ObjectRef], owner_key: str = "") -> ObjectCounts:
    """Count some objects, each of which is there once."""
    kinds = _counted((ref.kind, ref.group) for ref in objects)
    owners = _counted(owner(index, ref, owner_key) for ref in objects) if owner_key else []
    return ObjectCounts(
        total=len(objects),
        kinds=tuple(KindCount(group, kind, number) for (kind, group), number in kinds),
        namespaces=tuple(NamespaceCount(*counted) for counted in _counted(ref.namespace for ref in objects)),
        owners=tuple(OwnerCount(*counted) for counted in owners),
        owner_key=owner_key,
    )


def _counted(items: Iterable[_Item]) -> list[tuple[_Item, int]]:
    return sorted(Counter(items).items(), key=lambda counted: (-counted[1], counted[0]))


def owner(index: Index, ref: ObjectRef, key: str) -> str:
    """Return the owner by the label or annotation of an object, else of its Namespace; empty if neither names one."""
    for obj in (ref, ObjectRef(NAMESPACE, "", ref.namespace)):
        raw = index.raw(obj)
        named = labels_of(raw).get(key) or mapping_at(raw, "metadata.annotations").get(key)
        if isinstance(named, str) and named:
            return named
    return ""
