"""Objects by what they have in common."""

from __future__ import annotations

from typing import TYPE_CHECKING, TypeVar

if TYPE_CHECKING:
    from collections.abc import Hashable, Iterable, Mapping

    from kubectl_policy.model import ObjectRef

_Key = TypeVar("_Key", bound="Hashable")


def grouped(pairs: Iterable[tuple[_Key, ObjectRef]]) -> Mapping[_Key, tuple[ObjectRef, ...]]:
    """The objects of each key, each once, in the order in which they come."""
    found: dict[_Key, dict[ObjectRef, None]] = {}
    for key, obj in pairs:
        found.setdefault(key, {})[obj] = None
    return {key: tuple(objects) for key, objects in found.items()}
