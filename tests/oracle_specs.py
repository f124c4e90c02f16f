"""The oracle's specs: flat dictionaries of leaf paths, and what one of them makes of another.

A list whose elements have names is flat as well: the element named x of the list l stands at ("l", "[x]").
"""

from __future__ import annotations

from typing import TYPE_CHECKING, TypeAlias

from kubectl_policy.model import NodeRef, ObjectRef
from tests.property.world import LIST_KEYS

if TYPE_CHECKING:
    from collections.abc import Mapping

    from kubectl_policy.model import Json
    from tests.property.world import Kind

Field: TypeAlias = tuple[str, ...]
# The last is the place of a filter, of which the oracle knows nothing: always 0.
Who: TypeAlias = tuple[ObjectRef, NodeRef, bool, int]
Flat: TypeAlias = dict[Field, tuple["Json", Who]]


def flatten(spec: Mapping[str, Json], kind: Kind, policy: str, above: Field = ()) -> dict[Field, Json]:
    """The leaves of what a policy says: all that is no map, empty maps, and what its kind takes whole."""
    flat: dict[Field, Json] = {}
    for key, value in spec.items():
        field = (*above, key)
        names = _names(value, field, kind.whole)
        if names:
            flat |= {(*field, f"[{name}]"): element for name, element in names.items()}
        elif kind.style == "keyed" and (elements := _by_keys(value, field, policy)):
            for name, element in elements.items():
                inner = (*field, f"[{name}]")
                if isinstance(element, dict) and element:
                    flat |= flatten(element, kind._replace(whole=frozenset()), policy, inner)
                else:
                    flat[inner] = element
        elif isinstance(value, dict) and not any(_fits(pattern, field) for pattern in kind.whole):
            flat |= flatten(value, kind, policy, field) or {field: {}}
        else:
            flat[field] = value
    return flat


def _by_keys(value: Json, field: Field, policy: str) -> dict[str, Json]:
    """The elements of a list by its key in a strategic merge; with an empty key they are all different."""
    if isinstance(value, list) and LIST_KEYS.get(".".join(field)) == "":
        return {f"{policy}[{place}]": element for place, element in enumerate(value)}
    return _names(value, field, frozenset(f"{name}[{key}]" for name, key in LIST_KEYS.items() if key))


def without_nulls(spec: Mapping[str, Json]) -> dict[str, Json]:
    """Return a spec without the fields that are null."""
    said = {key: value for key, value in spec.items() if value is not None}
    return {key: without_nulls(value) if isinstance(value, dict) else value for key, value in said.items()}


def _fits(pattern: str, field: Field) -> bool:
    words = pattern.split(".")
    return len(words) == len(field) and all(word in {"*", key} for word, key in zip(words, field, strict=True))


def _names(value: Json, field: Field, patterns: frozenset[str]) -> dict[str, Json]:
    """The elements of a list by their names; none if the kind does not tell them apart, or nobody can."""
    for pattern in patterns:
        place, _, key = pattern.rstrip("]").partition("[")
        if key and _fits(place, field) and isinstance(value, list):
            names = [element.get(key) if isinstance(element, dict) else None for element in value]
            if all(isinstance(name, str) and name for name in names) and len(set(map(str, names))) == len(names):
                return dict(zip(map(str, names), value, strict=True))
    return {}


def covers(above: Field, below: Field) -> bool:
    """Whether one field is inside another."""
    return above != below and below[: len(above)] == above


def _excludes(one: Field, other: Field) -> bool:
    """Whether two fields cannot both be: one holds the other, or one is in a map where the other is in a list."""
    for mine, theirs in zip(one, other, strict=False):
        if mine != theirs:
            return mine.startswith("[") != theirs.startswith("[")
    return True


def adds_nothing(value: Json, field: Field, spec: Flat) -> bool:
    """Whether a value is the empty one of a map, or of a list of named elements, that is not empty in a spec."""
    below = {other[len(field)].startswith("[") for other in spec if covers(field, other)}
    return (value == {} and False in below) or (value == [] and True in below)


def patch(target: Flat, change: Flat) -> Flat:
    """RFC 7386, leaf by leaf; a removal stays, as a leaf that is None."""
    result = dict(target)
    for field, leaf in change.items():
        if not adds_nothing(leaf[0], field, target):
            result = {other: kept for other, kept in result.items() if not _excludes(field, other)}
            result[field] = leaf
    return result
