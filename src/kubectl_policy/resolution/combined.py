"""Fields that several policies set together: taken apart, so that a merge can put the parts together."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import TYPE_CHECKING, Final

from kubectl_policy.model.fields import text_at, value_at
from kubectl_policy.resolution.traced import CollectedValues, KeyedList, Leaf, elements, leaves, plain, sort_of

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Sequence

    from kubectl_policy.model import Json
    from kubectl_policy.profiles.merging import SharedField, Within
    from kubectl_policy.resolution.traced import Field, Traced


_NOWHERE: Final[Mapping[Field, Sequence[str]]] = MappingProxyType({})


def taken_apart(spec: Traced, joints: Sequence[SharedField]) -> Traced:
    """A spec in which every joint field is taken apart into what can come from different policies."""
    for joint in joints:
        spec = _opened(spec, field_of(joint), joint.by)
    return spec


def field_of(joint: SharedField) -> Field:
    """The path of keys of a joint field."""
    return tuple(joint.field.split("."))


def unshared_fields(spec: Traced, joints: Sequence[SharedField]) -> list[Field]:
    """The fields of a spec that another policy on the level cannot set as well, each once."""
    shared, whole = combined_fields(joints, "level"), sorted(whole_among(joints, "level"))
    found = [field for field, _ in leaves(spec) if not _around(field, shared)]
    return list(dict.fromkeys(_around(field, whole) or field for field in found))


def _around(field: Field, fields: Iterable[Field]) -> Field:
    """The first of some fields that is the given one or holds it; empty if none is."""
    return next((outer for outer in fields if field[: len(outer)] == outer), ())


def whole_among(joints: Sequence[SharedField], within: Within) -> frozenset[Field]:
    """The joint fields that come whole from one policy among those that meet here."""
    joined = {joint.field for joint in joints if within in joint.within}
    return frozenset(field_of(joint) for joint in joints if joint.field not in joined)


def combined_fields(joints: Sequence[SharedField], within: Within) -> list[Field]:
    """The joint fields that are put together here, outermost first; those inside one that comes whole are not."""
    whole = whole_among(joints, within)
    found = {field_of(joint) for joint in joints if within in joint.within}
    return sorted(field for field in found if not _around(field, whole))


def _opened(spec: Traced, field: Field, by: str) -> Traced:
    key, *rest = field
    found = spec.get(key)
    if found is None or (rest and isinstance(found, Leaf)):
        return spec
    if isinstance(found, Leaf):
        return {**spec, key: found if found.removed else _parts(found, by)}
    return {**spec, key: _opened(found, tuple(rest), by)} if rest else spec


def _parts(leaf: Leaf, by: str) -> Leaf | Traced:
    if by.startswith("["):
        return elements(leaf, by.strip("[]"), deep=True)
    if by == "*":
        if not isinstance(leaf.value, Mapping) or not leaf.value:
            return leaf
        return {key: Leaf(child, leaf.source, removed=child is None) for key, child in leaf.value.items()}
    if by:
        entry = _entry(value_at(leaf.value, by), leaf.source.object.namespace)
        return CollectedValues({entry: leaf}) if entry else leaf
    if isinstance(leaf.value, list):
        return elements(leaf, "")
    return CollectedValues({leaf.source.object.qualified_name: leaf})


def _entry(value: Json, home: str) -> str:
    """By what an entry is known: a text, or a reference, whose namespace defaults to that of the policy."""
    if isinstance(value, Mapping):
        name = text_at(value, "name")
        return f"{text_at(value, 'namespace') or home}/{name}" if name else ""
    return value if isinstance(value, str) else ""


def with_defaults(
    first: Traced,
    later: Traced,
    whole: Collection[Field] = (),
    unless: Mapping[Field, Sequence[str]] = _NOWHERE,
    field: Field = (),
) -> Traced:
    """What one spec says and, where it says nothing, another one; what the first one says comes first.

    An empty map or list says nothing of what is in a map, or a list, of the other one. Fields in `whole` come whole
    from the first one that has them, and so do those in `unless` where both disagree on one of the fields that are
    given for them.
    """
    merged: dict[str, Leaf | Traced] = sort_of(first)(first)
    for key, theirs in later.items():
        ours, here = first.get(key), (*field, key)
        if ours is None:
            merged[key] = theirs
        elif isinstance(theirs, Leaf) or here in whole:
            continue
        elif isinstance(ours, Leaf):
            merged[key] = theirs if _is_empty(ours, theirs) else ours
        elif sort_of(ours) is sort_of(theirs) and not _disagree(ours, theirs, unless.get(here, ())):
            merged[key] = with_defaults(ours, theirs, whole, unless, here)
    return merged


def _is_empty(ours: Leaf, theirs: Traced) -> bool:
    nothing: Json = [] if isinstance(theirs, KeyedList) else {}
    return ours.value == nothing


def only_field(spec: Traced, field: Field) -> Traced:
    """A spec with nothing but one of its fields, if it has that."""
    key, *rest = field
    found = spec.get(key)
    if found is None or not rest:
        return {} if found is None else {key: found}
    inner: Traced = {} if isinstance(found, Leaf) else only_field(found, tuple(rest))
    return {key: inner} if inner else {}


def _disagree(ours: Traced, theirs: Traced, fields: Sequence[str]) -> bool:
    return any(
        mine is not None and other is not None and mine != other
        for field in fields
        for mine, other in [(value_at(plain(ours), field), value_at(plain(theirs), field))]
    )
