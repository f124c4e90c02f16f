"""How many objects there are of each kind, in each namespace and of each owner."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple, TypeVar

from kubectl_policy.model.fields import labels_of, mapping_at
from kubectl_policy.model.kinds import NAMESPACE
from kubectl_policy.model.refs import ObjectRef

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterable

    from kubectl_policy.model import GroupKind
    from kubectl_policy.model.index import Index

_Item = TypeVar("_Item", "GroupKind", str)


class Spread(NamedTuple):
    """Numbers of objects, the greatest first, then by name.

    Cluster-scoped objects are in the namespace "", those that name no owner are of the owner "". `owner_key` is the
    label or annotation that names the owner; without one there are no owners.
    """

    total: int
    kinds: tuple[tuple[GroupKind, int], ...]
    namespaces: tuple[tuple[str, int], ...]
    owners: tuple[tuple[str, int], ...]
    owner_key: str


def spread(index: Index, objects: Collection[ObjectRef], owner_key: str = "") -> Spread:
    """The numbers of some objects, each of which is there once."""
    return Spread(
        len(objects),
        _counted((ref.group_kind for ref in objects), lambda kind: (kind.kind, kind.group)),
        _counted((ref.namespace for ref in objects), lambda name: (name,)),
        _counted((owner(index, ref, owner_key) for ref in objects), lambda name: (name,)) if owner_key else (),
        owner_key,
    )


def owner(index: Index, ref: ObjectRef, key: str) -> str:
    """Who owns an object: what its label or annotation of a key says, else that of its Namespace; empty if neither."""
    for obj in (ref, ObjectRef(NAMESPACE, "", ref.namespace)):
        raw = index.raw(obj)
        named = labels_of(raw).get(key) or mapping_at(raw, "metadata.annotations").get(key)
        if isinstance(named, str) and named:
            return named
    return ""


def _counted(items: Iterable[_Item], name: Callable[[_Item], tuple[str, ...]]) -> tuple[tuple[_Item, int], ...]:
    numbers: dict[_Item, int] = {}
    for item in items:
        numbers[item] = numbers.get(item, 0) + 1
    return tuple(sorted(numbers.items(), key=lambda found: (-found[1], name(found[0]))))
