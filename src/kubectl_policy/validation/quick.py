"""Quick checks of valid values: predicates, compiled from a schema of Gateway API."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, TypeAlias

from kubectl_policy.model.fields import integer_at, items_at, mapping_at, strings_at, text_at
from kubectl_policy.validation.schema import format_of, is_of_format

if TYPE_CHECKING:
    from kubectl_policy.model import Json

# Whether a value is known to satisfy a schema; false for all that takes a closer look.
Check: TypeAlias = "Callable[[Json], bool]"

_COMBINING = frozenset({"allOf", "anyOf", "oneOf", "not"})


def quick_check(schema: Mapping[str, Json]) -> Check:
    """Compile a predicate that is true only of values without a problem by a schema, apart from its rules."""
    if not _COMBINING.isdisjoint(schema):
        return _never
    checks = {"string": _text_check, "integer": _integer_check, "array": _list_check, "object": _mapping_check}
    kind = text_at(schema, "type")
    if kind == "boolean":
        return lambda value: isinstance(value, bool)
    return checks[kind](schema) if kind in checks else _never


def _never(_: Json) -> bool:
    return False


def _text_check(schema: Mapping[str, Json]) -> Check:
    shortest, longest = integer_at(schema, "minLength") or 0, _limit(schema, "maxLength")
    pattern, allowed = text_at(schema, "pattern"), frozenset(strings_at(schema, "enum"))
    form = format_of(schema)
    matches = re.compile(pattern, re.ASCII).search if pattern else None

    def check(value: Json) -> bool:
        return (
            isinstance(value, str)
            and shortest <= len(value) <= longest
            and not (allowed and value not in allowed)
            and (not form or is_of_format(value, form))
            # Of such texts, both syntaxes of patterns mean the same.
            and (not matches or (value.isascii() and value.isprintable() and bool(matches(value))))
        )

    return check


def _integer_check(schema: Mapping[str, Json]) -> Check:
    bits = 31 if format_of(schema) == "int32" else 63
    least, greatest = integer_at(schema, "minimum"), integer_at(schema, "maximum")
    lower = -(2**bits) if least is None else least
    upper = 2**bits - 1 if greatest is None else greatest
    if not items_at(schema, "enum"):
        return lambda value: type(value) is int and lower <= value <= upper
    return _never


def _list_check(schema: Mapping[str, Json]) -> Check:
    fewest, most = integer_at(schema, "minItems") or 0, _limit(schema, "maxItems")
    check_item = quick_check(mapping_at(schema, "items"))
    keys = strings_at(schema, "x-kubernetes-list-map-keys")
    is_set = text_at(schema, "x-kubernetes-list-type") == "set"

    def check(value: Json) -> bool:
        if not isinstance(value, list) or not fewest <= len(value) <= most or not all(map(check_item, value)):
            return False
        if len(value) < 2 or not (keys or is_set):  # noqa: PLR2004 (nothing repeats itself alone)
            return True
        return len({_identity(item, keys) for item in value}) == len(value)

    return check


def _identity(item: Json, keys: list[str]) -> str:
    return repr([item.get(key) for key in keys] if isinstance(item, Mapping) and keys else item)


def _mapping_check(schema: Mapping[str, Json]) -> Check:
    properties = {
        key: quick_check(about) for key, about in mapping_at(schema, "properties").items() if isinstance(about, Mapping)
    }
    additional = mapping_at(schema, "additionalProperties")
    check_other = quick_check(additional) if additional else None
    required, fewest = strings_at(schema, "required"), integer_at(schema, "minProperties") or 0
    most = _limit(schema, "maxProperties")

    def check(value: Json) -> bool:
        if not isinstance(value, dict | Mapping) or not fewest <= len(value) <= most:
            return False
        for key, inner in value.items():
            check_inner = properties.get(key, check_other)
            # Of unknown fields, and of nulls, an API server may drop some.
            if inner is None or (check_inner and not check_inner(inner)):
                return False
        return all(key in value for key in required)

    return check


def _limit(schema: Mapping[str, Json], key: str) -> float:
    limit = integer_at(schema, key)
    return float("inf") if limit is None else limit
