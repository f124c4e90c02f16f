"""What an object is to a rule: its values by the types of the schema, and only the fields that the schema has."""

from __future__ import annotations

import base64
import re
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Final, TypeAlias

from kubectl_policy.model.fields import mapping_at, text_at

if TYPE_CHECKING:
    from kubectl_policy.model import Json

_RESERVED: Final = frozenset(
    (
        *("true", "false", "null", "in", "as", "break", "const", "continue", "else", "for", "function", "if", "import"),
        *("let", "loop", "package", "namespace", "return", "var", "void", "while"),
    )
)
_ESCAPES: Final = {"__": "__underscores__", ".": "__dot__", "-": "__dash__", "/": "__slash__"}
_ESCAPED: Final = re.compile("__|[-./]")
_META: Final[Mapping[str, Json]] = {
    "apiVersion": {"type": "string"},
    "kind": {"type": "string"},
    "metadata": {"type": "object", "properties": {"name": {"type": "string"}, "generateName": {"type": "string"}}},
}
_TIMES: Final = ("date", "date-time", "duration")


# No integer of an API has more bits; beyond, JSON numbers are decimals to the API server.
_LARGEST: Final = 2**63


class Opaque:
    """What cannot be told to the library: a rule that is given it comes to nothing."""


_OPAQUE: Final = Opaque()
Seen: TypeAlias = "bool | int | float | str | bytes | Opaque | list[Seen] | dict[str, Seen] | None"


def value_for_rules(value: Json, schema: Mapping[str, Json], *, embedded: bool = False) -> Seen:
    """The value by the types of its schema, as `UnstructuredToVal` in k8s.io/apiserver, pkg/cel/common, has it.

    `embedded` is true of an object with a kind of its own: rules see its kind and its name. What a schema keeps without
    knowing it is shown as it is, for definitions that somebody has shortened.
    """
    if isinstance(value, Mapping):
        return _fields(value, schema, embedded=embedded or schema.get("x-kubernetes-embedded-resource") is True)
    if isinstance(value, str):
        return _text(value, schema)
    if isinstance(value, Sequence):
        items = mapping_at(schema, "items")
        return [value_for_rules(item, items) for item in value]
    if isinstance(value, int) and not isinstance(value, bool) and schema.get("type") == "number":
        return float(value) if abs(value) < _LARGEST else _OPAQUE
    return value


def _fields(value: Mapping[str, Json], schema: Mapping[str, Json], *, embedded: bool) -> dict[str, Seen]:
    """The fields under the names by which rules can call them; where fields have names, null is absence."""
    properties = {**mapping_at(schema, "properties"), **(_META if embedded else {})}
    others = mapping_at(schema, "additionalProperties")
    found: dict[str, Seen] = {}
    for key, inner in value.items():
        about = properties.get(key)
        if isinstance(about, Mapping):
            if inner is not None:
                found[escaped(key)] = value_for_rules(inner, about)
        else:
            found[key] = value_for_rules(inner, others)
    return found


def escaped(name: str) -> str:
    """The name of a field in rules, as `Escape` in k8s.io/apiserver, pkg/cel, has it."""
    if name in _RESERVED:
        return f"__{name}__"
    return _ESCAPED.sub(lambda found: _ESCAPES[found[0]], name)


def _text(value: str, schema: Mapping[str, Json]) -> Seen:
    form = text_at(schema, "format") if schema.get("type") == "string" else ""
    if form != "byte":
        return _OPAQUE if form in _TIMES else value
    try:
        return base64.b64decode(value, altchars=b"-_", validate=True)
    except ValueError:
        return _OPAQUE
