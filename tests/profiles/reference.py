"""What is made of the declarations of fields: the JSON Schema of profile files and the tables in docs/profiles.md.

`python -m tests.profiles.reference` writes both.
"""

from __future__ import annotations

import ast
import inspect
import json
import re
from functools import cache
from itertools import pairwise
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, cast

from kubectl_policy.model import GroupKind
from kubectl_policy.profiles import PolicyKindProfile
from kubectl_policy.profiles.controllers import EVENTS
from kubectl_policy.profiles.load import PROFILE, PROFILE_FILE
from kubectl_policy.profiles.merging import TargetLevel
from kubectl_policy.profiles.shapes import KIND, Boolean, Choice, Entries, Items, Record, Shape, Text, camel_case

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from kubectl_policy.profiles.shapes import Declaration

ROOT: Final = Path(__file__).parents[2]
SCHEMA_FILE: Final = ROOT / "src" / "kubectl_policy" / "profiles" / "schema.json"
DOCUMENTATION: Final = ROOT / "docs" / "profiles.md"
# What a table is between; the name says of which fields it is.
BLOCK: Final = re.compile(r"(?<=<!-- fields: )(.+?)( -->\n).*?(?=\n<!-- end of fields -->)", re.DOTALL)
# Words of JSON Schema that say nothing if they are zero or empty.
OMITTED: Final = {"minLength", "minItems", "minProperties", "pattern"}
OF_KINDS: Final = {"group": "The API group; empty for the core group.", "kind": "The name of the kind."}
HEADER: Final = ("| field | what it says | if absent |", "|---|---|---|")


def json_schema() -> dict[str, Any]:
    """The JSON Schema of a profile file."""
    definitions: dict[str, Any] = {}
    root = _record(PROFILE_FILE, definitions)
    return {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "title": "kubectl-policy profile file: the policy kinds of one API group",
        **root,
        "$defs": dict(sorted(definitions.items())),
    }


def _schema(shape: Shape, definitions: dict[str, Any]) -> dict[str, Any]:
    match shape:
        case Boolean():
            found: dict[str, Any] = {"type": "boolean"}
        case Text():
            found = {"type": "string", "minLength": shape.least, "pattern": shape.pattern}
        case Choice():
            found = {"enum": list(shape.allowed)}
        case Items():
            found = {"type": "array", "minItems": shape.least, "items": _schema(shape.item, definitions)}
        case Entries() if shape.names:
            fields = {name: _schema(shape.entry, definitions) for name in shape.names}
            found = {"type": "object", "additionalProperties": False, "properties": fields}
        case Entries():
            entry = _schema(shape.entry, definitions)
            found = {"type": "object", "minProperties": shape.least, "additionalProperties": entry}
        case Record():
            name = camel_case(re.sub(r"(?<=.)(?=[A-Z])", "_", shape.meant.__name__).lower())
            if name not in definitions:
                definitions[name] = {}
                definitions[name] = _record(shape, definitions)
            found = {"$ref": f"#/$defs/{name}"}
        case _:
            raise TypeError(shape)
    return {
        word: said
        for word, said in found.items()
        if word not in {"minLength", "minItems", "minProperties", "pattern"} or said
    }


def _record(record: Record, definitions: dict[str, Any]) -> dict[str, Any]:
    required = [name for name, each in record.fields.items() if each.required]
    fields = {
        name: {**_schema(each.shape, definitions), "description": plain(documented(record, name))}
        for name, each in record.fields.items()
    }
    needed = {"required": required} if required else {}
    return {"type": "object", **needed, "additionalProperties": False, "properties": fields}


def documented(record: Record, name: str) -> str:
    """The documentation of a field: the text below the attribute, or below that of the part that is spread here."""
    if name in OF_KINDS and record.fields[name] is KIND.fields[name]:
        return OF_KINDS[name]
    inner = [each.shape for each in record.declarations if each.spread and isinstance(each.shape, Record)]
    owner = next((shape for shape in inner if name in shape.fields), record)
    return _texts(owner.meant)[owner.fields[name].attribute]


@cache
def _texts(cls: type) -> dict[str, str]:
    (defined,) = ast.parse(inspect.getsource(cls)).body
    body = cast("ast.ClassDef", defined).body
    return {
        attribute.target.id: " ".join(ast.literal_eval(text.value).split())
        for attribute, text in pairwise(body)
        if isinstance(attribute, ast.AnnAssign) and isinstance(attribute.target, ast.Name)
        if isinstance(text, ast.Expr) and isinstance(text.value, ast.Constant)
    }


def plain(markdown: str) -> str:
    """A text without its links."""
    return re.sub(r"\[([^\]]+)\]\([^)]*\)", r"\1", markdown)


def tables() -> dict[str, list[str]]:
    """The tables of the documentation, as lines, by the names of their fields."""
    topic = ""
    described: set[type] = {GroupKind, TargetLevel, PolicyKindProfile}
    found: dict[str, list[Declaration]] = {}
    for each in PROFILE.declarations:
        topic = each.topic or topic
        found.setdefault(topic, []).append(each)
    topics = {topic: _rows(PROFILE, together, described) for topic, together in found.items()}
    elsewhere = {"status", "delegation", "gateways", "backends", "routes"}
    file = [each for each in PROFILE_FILE.declarations if each.name not in elsewhere]
    apart = [each for each in PROFILE_FILE.declarations if each not in file]
    own = {each.name: list(_parts(each, described)) for each in apart if each.name != "status"}
    events = [f"| `{camel_case(event)}` | {meaning} |" for event, meaning in EVENTS.items()]
    return {
        "of a file": [
            *HEADER,
            *_rows(PROFILE_FILE, file, described),
            *(_row(each, each.name, PROFILE_FILE) for each in apart),
        ],
        **{topic: [*HEADER, *rows] for topic, rows in topics.items()},
        **{name: [*HEADER, *rows] for name, rows in own.items()},
        "events": ["| in the map | said if |", "|---|---|", *events],
    }


def _rows(of: Record, declarations: Iterable[Declaration], described: set[type]) -> list[str]:
    return [row for each in declarations for row in (_row(each, each.name, of), *_parts(each, described))]


def _row(each: Declaration, name: str, of: Record) -> str:
    text, _, otherwise = documented(of, each.name).partition(" Without it: ")
    default = f"`{str(each.default).lower()}`" if isinstance(each.default, bool) else "none"
    by_default = f"`{each.default}`" if isinstance(each.shape, Choice) and each.default else default
    absent = "required" if each.required else otherwise.removesuffix(".") or by_default
    return f"| `{name}` | {text} | {absent} |"


def _parts(whole: Declaration, described: set[type], name: str = "") -> Iterator[str]:
    """A row for each field within a field, where they are not described already."""
    shape, name = whole.shape, name or whole.name
    while isinstance(shape, Items | Entries):
        shape = shape.item if isinstance(shape, Items) else shape.entry
    if not isinstance(shape, Record) or shape.meant in described:
        return
    spread = {each.shape.meant for each in shape.declarations if each.spread and isinstance(each.shape, Record)}
    described |= {shape.meant, *spread}
    for field, each in shape.fields.items():
        yield _row(each, f"{name}.{field}", shape)
        yield from _parts(each, described, f"{name}.{field}")


def documentation(text: str) -> str:
    """The page with every table as it should be."""
    found = tables()
    return BLOCK.sub(lambda block: f"{block[1]}{block[2]}" + "\n".join(found[block[1]]), text)


def schema_text() -> str:
    """The JSON Schema as it stands in the package."""
    return json.dumps(json_schema(), indent=2, ensure_ascii=False) + "\n"


if __name__ == "__main__":
    SCHEMA_FILE.write_text(schema_text(), "utf-8")
    DOCUMENTATION.write_text(documentation(DOCUMENTATION.read_text("utf-8")), "utf-8")
