"""Specs whose leaves know their source: decoding, RFC 7386 merging, and the way back to plain values."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple, TypeAlias

if TYPE_CHECKING:
    from collections.abc import Iterator

    from kubectl_policy.model import Json, NodeRef, ObjectRef


class Source(NamedTuple):
    """Who set a value: a policy by way of one of its targets, or (`object` is the target) the target object itself.

    `overrides` is true of a value that was declared as an override.
    """

    object: ObjectRef
    target: NodeRef
    overrides: bool = False


@dataclass(frozen=True, slots=True)
class Leaf:
    """A field's value and who set it; lists are leaves, and so is an empty map.

    `removed` marks a tombstone: the source set the field to null, which removes it. The tombstone stays in merged
    specs, so that an answer can say who removed the field.
    """

    value: Json
    source: Source
    removed: bool = False


Traced: TypeAlias = "Mapping[str, Leaf | Traced]"
Field: TypeAlias = tuple[str, ...]


def trace(value: Mapping[str, Json], source: Source, whole: frozenset[str] = frozenset(), path: str = "") -> Traced:
    """A spec as its policy declared it, every leaf with its source; fields in `whole` are leaves although maps."""
    traced: dict[str, Leaf | Traced] = {}
    for key, child in value.items():
        field = f"{path}.{key}" if path else key
        if isinstance(child, Mapping) and child and field not in whole:
            traced[key] = trace(child, source, whole, field)
        else:
            traced[key] = Leaf(child, source, removed=child is None)
    return traced


def patch(target: Leaf | Traced | None, change: Leaf | Traced) -> Leaf | Traced:
    """RFC 7386, section 2, `MergePatch(Target, Patch)`, on traced values; what a patch removes becomes a tombstone.

    A whole map (see `trace`) is a leaf and replaces what it meets; an empty one changes no map that it meets.
    """
    if isinstance(change, Leaf):
        keeps = change.value == {} and isinstance(target, Mapping)
        return target if keeps and target is not None else change
    merged: dict[str, Leaf | Traced] = dict(target) if isinstance(target, Mapping) else {}
    for key, child in change.items():
        merged[key] = patch(merged.get(key), child)
    return merged


def patched(target: Traced, change: Traced) -> Traced:
    """`patch` for two whole specs, which are maps."""
    merged = patch(target, change)
    return merged if isinstance(merged, Mapping) else {}


def plain(traced: Traced) -> dict[str, Json]:
    """The values without their sources; what was removed is left out."""
    return {
        key: child.value if isinstance(child, Leaf) else plain(child)
        for key, child in traced.items()
        if not (isinstance(child, Leaf) and child.removed)
    }


def leaves(traced: Traced, field: Field = ()) -> Iterator[tuple[Field, Leaf]]:
    """Every leaf with its path of keys, tombstones included, in the order of the keys as declared."""
    for key, child in traced.items():
        if isinstance(child, Leaf):
            yield (*field, key), child
        else:
            yield from leaves(child, (*field, key))


def field_name(field: Field) -> str:
    """A path of keys as people write it: `limits.global`, with `["a.b/c"]` for keys that hold other characters."""
    name = ""
    for key in field:
        if key.replace("-", "").replace("_", "").isalnum():
            name += f".{key}" if name else key
        else:
            name += f'["{key}"]'
    return name
