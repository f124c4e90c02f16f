"""Fields that several policies set together: taken apart, so that a merge can put the parts together."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

from kubectl_policy.model.fields import text_at, value_at
from kubectl_policy.resolution.traced import KeyedList, Leaf, elements, leaves

if TYPE_CHECKING:
    from collections.abc import Collection, Sequence

    from kubectl_policy.model import Json
    from kubectl_policy.profiles.merging import Joint, Within
    from kubectl_policy.resolution.traced import Field, Traced


def opened(spec: Traced, joints: Sequence[Joint]) -> Traced:
    """A spec in which every joint field is taken apart into what can come from different policies."""
    for joint in joints:
        spec = _opened(spec, field_of(joint), joint.by)
    return spec


def field_of(joint: Joint) -> Field:
    """The path of keys of a joint field."""
    return tuple(joint.field.split("."))


def own_fields(spec: Traced, joints: Sequence[Joint]) -> list[Field]:
    """The fields of a spec that another policy on the level cannot set as well."""
    shared = [field_of(joint) for joint in joints if "level" in joint.within]
    return [field for field, _ in leaves(spec) if not any(field[: len(joint)] == joint for joint in shared)]


def closed(joints: Sequence[Joint], within: Within) -> frozenset[Field]:
    """The joint fields that come whole from one policy among those that meet here."""
    joined = {joint.field for joint in joints if within in joint.within}
    return frozenset(field_of(joint) for joint in joints if joint.field not in joined)


def _opened(spec: Traced, field: Field, by: str) -> Traced:
    key, *rest = field
    found = spec.get(key)
    if found is None or (rest and isinstance(found, Leaf)):
        return spec
    if isinstance(found, Leaf):
        return {**spec, key: _parts(found, by)}
    return {**spec, key: _opened(found, tuple(rest), by)} if rest else spec


def _parts(leaf: Leaf, by: str) -> Leaf | Traced:
    if by.startswith("["):
        return elements(leaf, by.strip("[]"), deep=True)
    if by == "*":
        if not isinstance(leaf.value, Mapping) or not leaf.value:
            return leaf
        return {key: Leaf(child, leaf.source) for key, child in leaf.value.items()}
    if by:
        entry = _entry(value_at(leaf.value, by), leaf.source.object.namespace)
        return KeyedList({entry: leaf}) if entry else leaf
    if isinstance(leaf.value, list):
        return elements(leaf, "")
    return KeyedList({leaf.source.object.qualified_name: leaf})


def _entry(value: Json, home: str) -> str:
    """By what an entry is known: a text, or a reference, whose namespace defaults to that of the policy."""
    if isinstance(value, Mapping):
        name = text_at(value, "name")
        return f"{text_at(value, 'namespace') or home}/{name}" if name else ""
    return value if isinstance(value, str) else ""


def filled(
    first: Traced, later: Traced, whole: Collection[Field], unless: Mapping[Field, Sequence[str]], field: Field = ()
) -> Traced:
    """What one spec says and, where it says nothing, another one; what the first one says comes first.

    Fields in `whole` come whole from the first one that has them, and so do those in `unless` where both disagree on
    one of the fields that are given for them.
    """
    merged: dict[str, Leaf | Traced] = KeyedList(first) if isinstance(first, KeyedList) else dict(first)
    for key, theirs in later.items():
        ours, here = first.get(key), (*field, key)
        if ours is None or (isinstance(ours, Leaf) and ours.value == {} and not isinstance(theirs, Leaf)):
            merged[key] = theirs
        elif isinstance(ours, Leaf) or isinstance(theirs, Leaf) or here in whole:
            continue
        elif _same_sort(ours, theirs) and not _disagree(ours, theirs, unless.get(here, ())):
            merged[key] = filled(ours, theirs, whole, unless, here)
    return merged


def _same_sort(ours: Traced, theirs: Traced) -> bool:
    return isinstance(ours, KeyedList) == isinstance(theirs, KeyedList)


def only(spec: Traced, field: Field) -> Traced:
    """A spec with nothing but one of its fields, if it has that."""
    key, *rest = field
    found = spec.get(key)
    if found is None or (rest and isinstance(found, Leaf)):
        return {}
    if isinstance(found, Leaf) or not rest:
        return {key: found}
    inner = only(found, tuple(rest))
    return {key: inner} if inner else {}


def _disagree(ours: Traced, theirs: Traced, fields: Sequence[str]) -> bool:
    return any(
        mine is not None and other is not None and mine != other
        for field in fields
        for mine, other in [(_value(ours, field), _value(theirs, field))]
    )


def _value(spec: Traced, field: str) -> Json:
    """The value at a path in a spec, wherever its leaves begin."""
    keys = tuple(field.split("."))
    for place, leaf in leaves(spec):
        if keys[: len(place)] == place:
            return value_at(leaf.value, ".".join(keys[len(place) :])) if len(keys) > len(place) else leaf.value
    return None
