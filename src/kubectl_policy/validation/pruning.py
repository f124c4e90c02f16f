"""What an API server keeps of an object before it validates: fields that the schema knows."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Final

from kubectl_policy.model.fields import mapping_at

if TYPE_CHECKING:
    from kubectl_policy.model import Json

# Of the object itself, and of an object that is embedded in it, these are never dropped.
_META: Final = frozenset({"apiVersion", "kind", "metadata"})


def pruned(raw: Mapping[str, Json], schema: Mapping[str, Json]) -> Mapping[str, Json]:
    """The object without unknown fields and without nulls that stand for nothing; `raw` is not mutated.

    As `Prune` and `PruneNonNullableNullsWithoutDefaults` in apiextensions-apiserver, pkg/apiserver/schema, have it.
    """
    return _kept_fields(raw, schema, keep_unknown=_preserves(schema), embedded=True)


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
    properties, others = mapping_at(schema, "properties"), schema.get("additionalProperties")
    kept: dict[str, Json] = {}
    for key, inner in value.items():
        about = properties.get(key, others)
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
