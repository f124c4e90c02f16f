"""Reading decoded YAML or JSON without trusting its shape."""

import re
from collections.abc import Iterator, Mapping, Sequence
from datetime import datetime
from typing import TypeAlias, cast

Json: TypeAlias = "bool | int | float | str | Sequence[Json] | Mapping[str, Json] | None"

# As far as a 32-bit integer reaches, or nearly so.
_WHOLE_NUMBER = re.compile(r"[+-]?[0-9]{1,9}")
_NO_MAPPING: Mapping[str, Json] = {}


def value_at(value: Json, path: str) -> Json:
    """The value at a dotted path of mapping keys (`spec.targetRef`); None where anything on the way is absent."""
    for key in path.split(".") if "." in path else (path,):
        # Nearly all of them are dicts, and to ask whether something is any other mapping takes several times as long.
        if not isinstance(value, (dict, Mapping)):
            return None
        value = value.get(key)
    return value


def mapping_at(value: Json, path: str) -> Mapping[str, Json]:
    """The mapping at a dotted path; an empty one where it is absent or is something else."""
    found = value_at(value, path)
    return found if isinstance(found, (dict, Mapping)) else _NO_MAPPING


def items_at(value: Json, path: str) -> Sequence[Json]:
    """The list at a dotted path; an empty one where it is absent or is something else."""
    found = value_at(value, path)
    return cast("Sequence[Json]", found) if isinstance(found, list | tuple) else ()


def mappings_at(value: Json, path: str) -> list[Mapping[str, Json]]:
    """The mappings in the list at a dotted path; what is not a mapping is left out."""
    return [item for item in items_at(value, path) if isinstance(item, Mapping)]


def every_mapping(value: Json, keys: Sequence[str]) -> Iterator[Mapping[str, Json]]:
    """The mappings at a path of keys, through every list on the way."""
    if isinstance(value, list | tuple):
        for item in value:
            yield from every_mapping(item, keys)
    elif isinstance(value, Mapping):
        if keys:
            yield from every_mapping(value.get(keys[0]), keys[1:])
        else:
            yield value


def text_at(value: Json, path: str, default: str = "") -> str:
    """The string at a dotted path; `default` where it is absent or is something else."""
    found = value_at(value, path)
    return found if isinstance(found, str) else default


def integer_at(value: Json, path: str) -> int | None:
    """The integer at a dotted path; None where it is absent or is something else (a boolean is something else)."""
    found = value_at(value, path)
    return found if isinstance(found, int) and not isinstance(found, bool) else None


def number_in_annotation(raw: Json, name: str) -> int | None:
    """The whole number that an annotation holds; 0 without the annotation, None where it holds something else."""
    written = mapping_at(raw, "metadata.annotations").get(name, "0")
    return int(written) if isinstance(written, str) and _WHOLE_NUMBER.fullmatch(written) else None


def time_at(value: Json, path: str) -> datetime | None:
    """The time at a dotted path, which has to have a zone; None where it is absent or is something else."""
    written = text_at(value, path)
    try:
        found = datetime.fromisoformat(written) if written else None
    except ValueError:
        return None
    return found if found and found.tzinfo else None


def strings_at(value: Json, path: str) -> list[str]:
    """The strings in the list at a dotted path; what is not a string is left out."""
    return [item for item in items_at(value, path) if isinstance(item, str)]


def alike(one: Json, other: Json) -> bool:
    """Whether two values are the same in JSON, where `true` is not 1, and what is no number is like itself."""
    if isinstance(one, Mapping) and isinstance(other, Mapping):
        return one.keys() == other.keys() and all(alike(value, other[key]) for key, value in one.items())
    if isinstance(one, list | tuple) and isinstance(other, list | tuple):
        return len(one) == len(other) and all(map(alike, one, other))
    return type(one) is type(other) and (one == other or str(one) == str(other))


def labels_of(raw: Json) -> dict[str, str]:
    """The labels of an object; entries that are not strings are left out."""
    return {key: value for key, value in mapping_at(raw, "metadata.labels").items() if isinstance(value, str)}
