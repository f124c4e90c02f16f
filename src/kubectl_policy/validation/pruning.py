"""Prune objects as an API server does: drop unknown fields, and nulls that mean nothing."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Final, cast

from kubectl_policy.model.fields import WHOLE, mapping_at

if TYPE_CHECKING:
    from kubectl_policy.model import FieldPath, Json

# Validation recurses on values; real definitions are 50 levels deep.
_MAX_DEPTH: Final = 100
# In values: etcd takes 1.5 MiB, and a value that is repeated by an alias counts each time.
_MAX_SIZE: Final = 300_000


def is_sound(value: object) -> bool:
    """Whether a value is made of the types of JSON, with text as keys, and is neither endless nor enormous."""
    waiting: list[tuple[object, int]] = [(value, 0)]
    seen = 0
    while waiting:
        part, depth = waiting.pop()
        seen += 1
        if seen > _MAX_SIZE or depth > _MAX_DEPTH:
            return False
        if isinstance(part, Mapping):
            fields = cast("Mapping[object, object]", part)
            if not all(isinstance(key, str) for key in fields):
                return False
            waiting += [(inner, depth + 1) for inner in fields.values()]
        elif isinstance(part, list | tuple):
            waiting += [(inner, depth + 1) for inner in cast("Sequence[object]", part)]
        elif part is not None and not isinstance(part, bool | int | float | str):
            return False
    return True


# Fields that are never dropped from an object or from an embedded object.
_META: Final = frozenset({"apiVersion", "kind", "metadata"})


def prune(raw: Mapping[str, Json], schema: Mapping[str, Json]) -> Mapping[str, Json]:
    """Return the object without unknown fields and without nulls that mean nothing; `raw` is not mutated.

    As `Prune` and `PruneNonNullableNullsWithoutDefaults` in apiextensions-apiserver, pkg/apiserver/schema, have it.
    """
    return _kept_fields(raw, schema, keep_unknown=_preserves(schema), embedded=True)


def dropped_fields(value: Json, kept: Json, field: FieldPath = WHOLE) -> Iterator[FieldPath]:
    """Yield the outermost fields of a value that its pruned form lacks."""
    if isinstance(value, Mapping) and isinstance(kept, Mapping):
        for key, inner in value.items():
            if key in kept:
                yield from dropped_fields(inner, kept[key], field / key)
            elif inner is not None:
                yield field / key
    elif isinstance(value, list) and isinstance(kept, list):
        for position, (item, kept_item) in enumerate(zip(value, kept, strict=True)):
            yield from dropped_fields(item, kept_item, field / position)


def _kept(value: Json, schema: Json, *, keep_unknown: bool = False) -> Json:
    about: Mapping[str, Json] = schema if isinstance(schema, Mapping) else {}
    keep_unknown = keep_unknown or _preserves(about)
    if isinstance(value, Mapping):
        embedded = about.get("x-kubernetes-embedded-resource") is True
        return _kept_fields(value, about, keep_unknown=keep_unknown, embedded=embedded)
    if isinstance(value, list):
        # Inside of a list, unknown fields are kept wherever the list itself keeps them.
        return [_kept(item, about.get("items"), keep_unknown=keep_unknown) for item in value]
    return value


def _kept_fields(
    value: Mapping[str, Json], schema: Mapping[str, Json], *, keep_unknown: bool, embedded: bool
) -> Mapping[str, Json]:
    properties, additional = mapping_at(schema, "properties"), schema.get("additionalProperties")
    kept: dict[str, Json] = {}
    for key, inner in value.items():
        about = properties.get(key, additional)
        if embedded and key in _META:
            kept[key] = inner
        elif isinstance(about, Mapping):
            if inner is not None or about.get("nullable") is True or about.get("default") is not None:
                kept[key] = _kept(inner, about)
        elif keep_unknown:
            kept[key] = inner
        elif about is True:
            kept[key] = _kept(inner, None)
    return kept


def _preserves(schema: Mapping[str, Json]) -> bool:
    return schema.get("x-kubernetes-preserve-unknown-fields") is True
