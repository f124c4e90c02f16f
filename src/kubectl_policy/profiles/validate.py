"""Whether a value is as a schema says, in the few words of JSON Schema that our schemas use; else what is allowed.

Loading a library for it takes longer than most commands run. The tests hold it to the verdicts of one.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any, Final, NamedTuple, TypeAlias

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from kubectl_policy.model import Json

Schema: TypeAlias = "Mapping[str, Any]"

_TYPES: Final[Mapping[str, tuple[type, str]]] = {
    "object": (dict, "a mapping"),
    "array": (list, "a list"),
    "string": (str, "text"),
    "boolean": (bool, "true or false"),
}
_LONGEST: Final = 60


class Flaw(NamedTuple):
    """Something that is not allowed: where, and what is wrong with it in words."""

    path: tuple[str | int, ...]
    message: str


def flaws(value: Json, schema: Schema, root: Schema, path: tuple[str | int, ...] = ()) -> Iterator[Flaw]:
    """What is wrong with a value, in the order of the file; `root` is the schema that references are looked up in."""
    if "$ref" in schema:
        schema = root["$defs"][schema["$ref"].rpartition("/")[2]]
    wanted = schema.get("type", "")
    if wanted and not isinstance(value, _TYPES[wanted][0]):
        yield Flaw(path, f"must be {_TYPES[wanted][1]}, not {shown(value)}")
    elif "enum" in schema and value not in schema["enum"]:
        quoted = f', in quotes: "{value}"' if str(value) in schema["enum"] else ""
        yield Flaw(path, f"{shown(value)} is not allowed; use one of {', '.join(schema['enum'])}{quoted}")
    elif isinstance(value, str):
        yield from _of_text(value, schema, path)
    elif isinstance(value, list):
        yield from _of_list(value, schema, root, path)
    elif isinstance(value, dict):
        yield from _of_mapping(value, schema, root, path)


def shown(value: Json) -> str:
    """A value as a message quotes it: in one line that is not too long."""
    if value is None:
        return "empty"
    if isinstance(value, bool):
        return str(value).lower()
    text = repr(value)
    return text if len(text) <= _LONGEST else text[:_LONGEST] + "…"


def _of_text(value: str, schema: Schema, path: tuple[str | int, ...]) -> Iterator[Flaw]:
    if len(value) < schema.get("minLength", 0):
        least = schema["minLength"]
        yield Flaw(path, "must not be empty" if least == 1 else f"must have at least {least} characters")
    if "pattern" in schema and not re.search(schema["pattern"], value):
        yield Flaw(path, f"{shown(value)} does not fit. {schema['description']}")


def _of_list(value: Sequence[Json], schema: Schema, root: Schema, path: tuple[str | int, ...]) -> Iterator[Flaw]:
    if len(value) < schema.get("minItems", 0):
        yield Flaw(path, "must not be empty")
    for position, item in enumerate(value):
        yield from flaws(item, schema["items"], root, (*path, position))


def _of_mapping(value: Mapping[str, Json], schema: Schema, root: Schema, path: tuple[str | int, ...]) -> Iterator[Flaw]:
    if len(value) < schema.get("minProperties", 0):
        yield Flaw(path, "must not be empty")
    known, rest = schema.get("properties", {}), schema["additionalProperties"]
    for name, child in value.items():
        if name in known or rest:
            yield from flaws(child, known.get(name, rest), root, (*path, name))
        else:
            yield Flaw((*path, name), f"there is no such field; {_near(name, known)}")
    for name in schema.get("required", ()):
        if name not in value:
            yield Flaw(path, f"the field {name} is missing")


def _near(name: str, known: Mapping[str, Schema]) -> str:
    import difflib  # noqa: PLC0415 (only a mistake needs it)

    folded = {field.lower(): field for field in known}
    near = difflib.get_close_matches(name.lower(), folded, n=1, cutoff=0.75)
    return f"did you mean {folded[near[0]]}?" if near else f"known fields: {', '.join(sorted(known))}"
