"""Specs whose leaves know their source: decoding, merging by RFC 7386 or as defaults, and the way back to values."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from functools import lru_cache
from types import MappingProxyType
from typing import TYPE_CHECKING, Annotated, Final, TypeAlias

import msgspec
from msgspec import Meta, Struct

from kubectl_policy.model.fields import FieldPath, integer_at, text_at, value_at

if TYPE_CHECKING:
    from kubectl_policy.model import Json, NodeRef, ObjectRef
    from kubectl_policy.model.fields import Step

_FILTER: Final = (
    "The position, from 1, of the filter in the target rule that names the policy; 0 if no filter names it."
)


class Source(msgspec.Struct, frozen=True, order=True, cache_hash=True):
    """The source of a value: a policy by way of one of its targets, or the target object itself (`object`)."""

    object: Annotated[ObjectRef, Meta(description="The policy, or the object with fields of its own.")]
    target: Annotated[NodeRef, Meta(description="The target through which the policy applies.")]
    overrides: Annotated[bool, Meta(description="Whether the value was declared as an override.")] = False
    filter: Annotated[int, Meta(description=_FILTER, ge=0)] = 0


class Leaf(Struct, frozen=True, gc=False):
    """A field's value and who set it; lists are leaves, and so is an empty map.

    `removed` marks a tombstone: the source set the field to null, which removes it. The tombstone stays in merged
    specs, so that an answer can say who removed the field. What the source leaves out, so that the definition of its
    kind fills it in, is `defaulted`.
    """

    value: Json
    source: Source
    removed: bool = False
    defaulted: bool = False


Traced: TypeAlias = "Mapping[str, Leaf | Traced]"
Field: TypeAlias = tuple[str, ...]
_NOWHERE: Final[Mapping[Field, Sequence[str]]] = MappingProxyType({})


class KeyedList(dict[str, "Leaf | Traced"]):
    """A list whose elements are known by a key: a merge takes each of them for itself, in the order of the list."""


class SplitList(KeyedList):
    """A list of one policy whose elements are fields of their own; a merge takes it whole."""


class CollectedValues(KeyedList):
    """Values of several policies for one field, known by whose or what they are; of one, it is that value."""


def container_type(spec: Traced) -> type[dict[str, Leaf | Traced]]:
    """Return the container type of a spec: a class of lists, or dict."""
    return type(spec) if isinstance(spec, KeyedList) else dict


def trace(
    value: Mapping[str, Json], source: Source, whole: Collection[Field] = (), written: Mapping[str, Json] | None = None
) -> Traced:
    """Return a spec as its policy declared it, every leaf with its source.

    `whole` are the fields that are leaves although maps, as paths of keys: `*` stands for every key, and `rules[name]`
    for every element of the list `rules`, known by its `name`. What is not `written`, if that is given, is defaulted.
    """
    traced: dict[str, Leaf | Traced] = {}
    for key, child in value.items():
        inner_whole = [rest for first, *rest in whole if first in {key, "*"}] if whole else []
        list_keys = [first[len(key) + 1 : -1] for first, *_ in whole if first.startswith(f"{key}[")] if whole else []
        # To ask of a text or a list whether it is a mapping takes longer than all the rest.
        if not isinstance(child, (str, int, list)) and isinstance(child, Mapping) and child and [] not in inner_whole:
            stated = None if written is None else written.get(key)
            nothing: Mapping[str, Json] | None = None if written is None else {}
            inner = stated if isinstance(stated, Mapping) else nothing
            traced[key] = trace(child, source, [tuple(rest) for rest in inner_whole], inner)
        else:
            defaulted = written is not None and child is not None and written.get(key) is None
            leaf = Leaf(child, source, removed=child is None, defaulted=defaulted)
            traced[key] = list_elements(leaf, list_keys[0]) if list_keys and list_keys[0] else leaf
    return traced


def with_keyed_lists(spec: Traced, list_keys: Mapping[Field, str], field: Field = ()) -> Traced:
    """Return a spec in which the lists at some fields are keyed lists, whose elements merge field by field.

    An empty key sets every element apart from those of other sources, so that a merge appends lists. A list inside the
    elements of another one is named without them: `rules.matches`.
    """
    is_list = isinstance(spec, KeyedList)
    with_keys: dict[str, Leaf | Traced] = container_type(spec)()
    for key, child in spec.items():
        path = field if is_list else (*field, key)
        inner = child
        if isinstance(child, Leaf) and path in list_keys and not is_list:
            inner = list_elements(child, list_keys[path], deep=True)
        with_keys[key] = inner if isinstance(inner, Leaf) else with_keyed_lists(inner, list_keys, path)
    return with_keys


def list_elements(leaf: Leaf, list_key: str, *, deep: bool = False) -> Leaf | Traced:
    """Return the elements of a list by their key; the list as it is if one of them has none, or not one of its own."""
    items = leaf.value if isinstance(leaf.value, list) else []
    if list_key:
        numbers = (integer_at(item, list_key) for item in items)
        names = [
            text_at(item, list_key) if number is None else str(number)
            for item, number in zip(items, numbers, strict=True)
        ]
    else:
        names = [f"{leaf.source.object.qualified_name}[{position}]" for position in range(len(items))]
    if not names or "" in names or len(set(names)) < len(names):
        return leaf
    listed = KeyedList()
    for name, item in zip(names, items, strict=True):
        opened = deep and isinstance(item, dict) and item
        written: Mapping[str, Json] | None = {} if leaf.defaulted else None
        listed[name] = (
            trace(opened, leaf.source, written=written) if opened else Leaf(item, leaf.source, defaulted=leaf.defaulted)
        )
    return listed


def with_element_apart(spec: Traced, steps: Sequence[Step]) -> tuple[Traced, Field]:
    """Return a spec in which the elements of lists on the way to a field stand apart, and the keys of the field.

    There are no keys if the spec has no such field.
    """
    first, *rest = steps
    key = list(spec)[first] if isinstance(first, int) and first < len(spec) else str(first)
    child = spec.get(key)
    if child is None or not rest:
        return spec, () if child is None else (key,)
    if isinstance(child, Leaf):
        elements = list_elements(child, "", deep=len(rest) > 1)
        if isinstance(elements, Leaf):
            # What is taken whole from one policy is ignored as a whole.
            return spec, (key,)
        child = SplitList(elements)
    inner, field = with_element_apart(child, rest)
    changed = container_type(spec)(spec)
    changed[key] = inner
    return (changed, (key, *field)) if field else (spec, ())


def with_lists_whole(spec: Traced) -> Traced:
    """Return a spec in which the lists whose elements stood apart are values again."""
    whole: dict[str, Leaf | Traced] = container_type(spec)()
    for key, child in spec.items():
        if isinstance(child, SplitList):
            _, first = next(leaves(child))
            whole[key] = Leaf(_plain(child), first.source, defaulted=first.defaulted)
        else:
            whole[key] = child if isinstance(child, Leaf) else with_lists_whole(child)
    return whole


def patch(target: Leaf | Traced | None, change: Leaf | Traced) -> Leaf | Traced:
    """RFC 7386, section 2, `MergePatch(Target, Patch)`, on traced values; a tombstone of the patch replaces a field.

    A whole map (see `trace`) is a leaf and replaces what it meets; an empty one changes no map that it meets. A keyed
    list merges with a keyed list alone.
    """
    if isinstance(change, Leaf):
        empty: Json = [] if isinstance(target, KeyedList) else {}
        keeps = change.value == empty and isinstance(target, Mapping)
        return target if keeps and target is not None else change
    merged: dict[str, Leaf | Traced] = container_type(change)()
    mergeable = isinstance(target, Mapping) and container_type(target) is container_type(change)
    if isinstance(target, Mapping) and mergeable and not isinstance(change, SplitList):
        merged.update(target)
    for key, child in change.items():
        merged[key] = patch(merged.get(key), child)
    return merged


def patched(target: Traced, change: Traced) -> Traced:
    """`patch` for two whole specs, which are maps."""
    merged = patch(target, change)
    return merged if isinstance(merged, Mapping) else {}


def with_defaults(
    first: Traced,
    later: Traced,
    whole: Collection[Field] = (),
    unless: Mapping[Field, Sequence[str]] = _NOWHERE,
    field: Field = (),
) -> Traced:
    """Merge two specs: the fields of the first, and those of the later one that the first does not set.

    An empty map or list says nothing of what is in a map, or a list, of the other one. Fields in `whole` come whole
    from the first one that has them, and so do those in `unless` where both disagree on one of the fields that are
    given for them.
    """
    merged: dict[str, Leaf | Traced] = container_type(first)(first)
    for key, theirs in later.items():
        ours, path = first.get(key), (*field, key)
        if ours is None:
            merged[key] = theirs
        elif isinstance(theirs, Leaf) or path in whole:
            continue
        elif isinstance(ours, Leaf):
            nothing: Json = [] if isinstance(theirs, KeyedList) else {}
            merged[key] = theirs if ours.value == nothing else ours
        elif isinstance(ours, SplitList):
            continue
        elif container_type(ours) is container_type(theirs) and not _disagree(ours, theirs, unless.get(path, ())):
            merged[key] = with_defaults(ours, theirs, whole, unless, path)
    return merged


def _disagree(ours: Traced, theirs: Traced, fields: Sequence[str]) -> bool:
    return any(
        mine is not None and their is not None and mine != their
        for field in fields
        for mine, their in [(value_at(plain(ours), field), value_at(plain(theirs), field))]
    )


def only_field(spec: Traced, field: Field) -> Traced:
    """Return a spec with nothing but one of its fields, if it has that."""
    key, *rest = field
    child = spec.get(key)
    if child is None or not rest:
        return {} if child is None else {key: child}
    inner: Traced = {} if isinstance(child, Leaf) else only_field(child, tuple(rest))
    return {key: inner} if inner else {}


def without(spec: Traced, keys: Sequence[str]) -> Traced:
    """Return a spec without one of its fields; a map that held nothing else goes with it."""
    key, *rest = keys
    current = spec.get(key)
    if current is None or (rest and isinstance(current, Leaf)):
        return spec
    remaining: Traced = without(current, rest) if rest and not isinstance(current, Leaf) else {}
    kept = container_type(spec)(spec)
    if remaining:
        kept[key] = remaining
    else:
        del kept[key]
    return kept


def plain(traced: Traced) -> dict[str, Json]:
    """Return the values without their sources; what was removed is left out."""
    return {key: _plain(child) for key, child in traced.items() if not (isinstance(child, Leaf) and child.removed)}


def _plain(child: Leaf | Traced) -> Json:
    if isinstance(child, Leaf):
        return child.value
    values = plain(child)
    if isinstance(child, CollectedValues) and len(values) == 1:
        return next(iter(values.values()))
    return list(values.values()) if isinstance(child, KeyedList) else values


def leaves(traced: Traced, field: Field = ()) -> Iterator[tuple[Field, Leaf]]:
    """Yield every leaf with its path of keys, tombstones included, in the order of the keys as declared."""
    for key, child in traced.items():
        if isinstance(child, Leaf):
            yield (*field, key), child
        else:
            yield from leaves(child, (*field, key))


@lru_cache(10_000)
def field_name(field: Field) -> str:
    """Return a path of keys as people write it: `limits.global`."""
    return str(FieldPath(field))
