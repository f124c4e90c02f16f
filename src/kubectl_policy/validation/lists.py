"""Items of a list that must differ and do not: lists that are sets, and lists that are maps by some keys."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import TYPE_CHECKING

from kubectl_policy.model.fields import strings_at
from kubectl_policy.validation.finding import Finding, invalid, shown

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from kubectl_policy.model import Json


def duplicates(value: Sequence[Json], schema: Mapping[str, Json], field: str) -> Iterator[Finding]:
    """The first repetition of each item, as `ValidateListSetsAndMaps` in apiextensions-apiserver finds them."""
    kind = schema.get("x-kubernetes-list-type")
    if kind == "set":
        yield from _repeated(value, field)
    elif kind == "map":
        for position, item in enumerate(value):
            if item is not None and not isinstance(item, Mapping):
                yield invalid(f"{field}[{position}]", item, "must be an object for an array of list-type map")
                return
        keys = strings_at(schema, "x-kubernetes-list-map-keys")
        yield from _repeated([_key(item, keys) for item in value], field)


def _key(item: Json, keys: Sequence[str]) -> Json:
    return {key: item[key] for key in keys if key in item} if isinstance(item, Mapping) else {}


def _repeated(values: Sequence[Json], field: str) -> Iterator[Finding]:
    seen: dict[str, int] = {}
    for position, value in enumerate(values):
        text = json.dumps(value, sort_keys=True, default=str)
        seen[text] = seen.get(text, 0) + 1
        if seen[text] == 2:  # noqa: PLR2004 - the second of two
            yield Finding(f"{field}[{position}]", f"Duplicate value: {shown(value)}")
