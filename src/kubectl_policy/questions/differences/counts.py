"""Objects in numbers: by kind, by namespace, and by who owns them."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING, TypeVar

from msgspec import Struct

from kubectl_policy.model.fields import labels_of, mapping_at
from kubectl_policy.model.kinds import NAMESPACE
from kubectl_policy.model.refs import ObjectRef

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterable

    from kubectl_policy.model import GroupKind
    from kubectl_policy.model.index import Index

_Item = TypeVar("_Item", "GroupKind", str)


class ObjectCounts(Struct, frozen=True, kw_only=True):
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
        kinds=_numbers_of((ref.group_kind for ref in objects), lambda kind: (kind.kind, kind.group)),
        namespaces=_numbers_of((ref.namespace for ref in objects), str),
        owners=_numbers_of((owner(index, ref, owner_key) for ref in objects), str) if owner_key else (),
        owner_key=owner_key,
    )


def _numbers_of(items: Iterable[_Item], name: Callable[[_Item], object]) -> tuple[tuple[_Item, int], ...]:
    return tuple(sorted(Counter(items).items(), key=lambda counted: (-counted[1], name(counted[0]))))


def owner(index: Index, ref: ObjectRef, key: str) -> str:
    """Who owns an object: what its label or annotation of a key says, else that of its Namespace; empty if neither."""
    for obj in (ref, ObjectRef(NAMESPACE, "", ref.namespace)):
        raw = index.raw(obj)
        named = labels_of(raw).get(key) or mapping_at(raw, "metadata.annotations").get(key)
        if isinstance(named, str) and named:
            return named
    return ""
