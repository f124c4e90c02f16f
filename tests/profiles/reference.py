"""What is made of the declarations of fields: the JSON Schema of profile files and the tables in docs/profiles.md.

`python -m tests.profiles.reference` writes both.
"""

import ast
import inspect
import json
import re
from collections.abc import Iterable, Iterator
from functools import cache
from itertools import pairwise
from pathlib import Path
from typing import Any, Final, cast

from msgspec import Struct

from kubectl_policy.model import GroupKind
from kubectl_policy.profiles import PolicyKindProfile
from kubectl_policy.profiles.controllers import EVENTS
from kubectl_policy.profiles.load import ProfileFile
from kubectl_policy.profiles.merging import TargetLevel
from kubectl_policy.profiles.reading import FileField, FileType, camel_case, declared_fields, file_fields, file_type

ROOT: Final = Path(__file__).parents[2]
SCHEMA_FILE: Final = ROOT / "src" / "kubectl_policy" / "profiles" / "schema.json"
DOCUMENTATION: Final = ROOT / "docs" / "profiles.md"
# What a table is between; the name says of which fields it is.
BLOCK: Final = re.compile(r"(?<=<!-- fields: )(.+?)( -->\n).*?(?=\n<!-- end of fields -->)", re.DOTALL)
# Words of JSON Schema that say nothing if they are zero or empty.
OMITTED: Final = {"minLength", "minItems", "minProperties", "pattern"}
OF_KINDS: Final = {"group": "The API group; empty for the core group.", "kind": "The name of the kind."}
HEADER: Final = ("| field | description | default |", "|---|---|---|")


def json_schema() -> dict[str, Any]:
    definitions: dict[str, Any] = {}
    root = _record(ProfileFile, definitions)
    return {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "title": "kubectl-policy profile file: the policy kinds of one API group",
        **root,
        "$defs": dict(sorted(definitions.items())),
    }


def _schema(of: FileType, definitions: dict[str, Any]) -> dict[str, Any]:
    if of.constants:
        return {"enum": list(of.constants)}
    if of.type is bool:
        return {"type": "boolean"}
    if of.type is int:
        return {"type": "integer"}
    if of.type is str:
        schema: dict[str, Any] = {"type": "string", "minLength": of.min_length, "pattern": of.extra.get("pattern", "")}
    elif of.is_list:
        schema = {"type": "array", "minItems": of.min_length, "items": _schema(file_type(of.items[0]), definitions)}
    elif of.is_struct:
        name = camel_case(re.sub(r"(?<=.)(?=[A-Z])", "_", of.type.__name__).lower())
        if name not in definitions:
            definitions[name] = {}
            definitions[name] = _record(of.type, definitions)
        return {"$ref": f"#/$defs/{name}"}
    else:
        entry = _schema(file_type(of.items[1]), definitions)
        if of.names:
            return {"type": "object", "additionalProperties": False, "properties": dict.fromkeys(of.names, entry)}
        schema = {"type": "object", "minProperties": of.min_length, "additionalProperties": entry}
    return {word: limit for word, limit in schema.items() if word not in OMITTED or limit}


def _record(cls: type[Struct], definitions: dict[str, Any]) -> dict[str, Any]:
    of_file = file_fields(cls).values()
    required = [field.name for field in of_file if field.required]
    fields = {
        field.name: {**_schema(field.type, definitions), "description": plain(documented(field))} for field in of_file
    }
    needed = {"required": required} if required else {}
    return {"type": "object", **needed, "additionalProperties": False, "properties": fields}


def documented(field: FileField) -> str:
    """The documentation of a field: the text below the attribute in its class, or in one that it extends."""
    if field.owner is GroupKind:
        return OF_KINDS[field.name]
    return next(texts[field.attribute] for texts in map(_texts, field.owner.__mro__) if field.attribute in texts)


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
    return re.sub(r"\[([^\]]+)\]\([^)]*\)", r"\1", markdown)


def tables() -> dict[str, list[str]]:
    """The tables of the documentation, as lines, by the names of their fields."""
    topic = ""
    described: set[type] = {GroupKind, TargetLevel, PolicyKindProfile}
    by_topic: dict[str, list[FileField]] = {}
    for field in declared_fields(PolicyKindProfile):
        topic = field.type.extra.get("topic", topic)
        by_topic.setdefault(topic, []).append(field)
    topics = {topic: _rows(fields, described) for topic, fields in by_topic.items()}
    elsewhere = {"status", "delegation", "gateways", "backends", "routeParents", "routes"}
    of_file = [field for field in declared_fields(ProfileFile) if field.name not in elsewhere]
    apart = [field for field in declared_fields(ProfileFile) if field not in of_file]
    own = {field.name: list(_parts(field, described)) for field in apart if field.name != "status"}
    events = [f"| `{camel_case(event)}` | {meaning} |" for event, meaning in EVENTS.items()]
    return {
        "of a file": [*HEADER, *_rows(of_file, described), *(_row(field, field.name) for field in apart)],
        **{topic: [*HEADER, *rows] for topic, rows in topics.items()},
        **{name: [*HEADER, *rows] for name, rows in own.items()},
        "events": ["| event | reported if |", "|---|---|", *events],
    }


def _rows(fields: Iterable[FileField], described: set[type]) -> list[str]:
    return [row for field in fields for row in (_row(field, field.name), *_parts(field, described))]


def _row(field: FileField, name: str) -> str:
    text, _, otherwise = documented(field).partition(" Without it: ")
    default = f"`{str(field.default).lower()}`" if isinstance(field.default, bool) else "none"
    by_default = f"`{field.default}`" if field.type.constants and field.default else default
    absent = "required" if field.required else otherwise.removesuffix(".") or by_default
    return f"| `{name}` | {text} | {absent} |"


def _parts(whole: FileField, described: set[type], name: str = "") -> Iterator[str]:
    """A row for each field within a field, where they are not described already."""
    of, name = whole.type, name or whole.name
    while not of.is_struct and not of.constants and of.items:
        of = file_type(of.items[0] if of.is_list else of.items[1])
    if not of.is_struct or of.type in described:
        return
    spread = {field.type.type for field in declared_fields(of.type) if "spread" in field.type.extra}
    described |= {*of.type.__mro__, *spread}
    for field in file_fields(of.type).values():
        yield _row(field, f"{name}.{field.name}")
        yield from _parts(field, described, f"{name}.{field.name}")


def documentation(text: str) -> str:
    found = tables()
    return BLOCK.sub(lambda block: f"{block[1]}{block[2]}" + "\n".join(found[block[1]]), text)


def schema_text() -> str:
    """The JSON Schema as it stands in the package."""
    return json.dumps(json_schema(), indent=2, ensure_ascii=False) + "\n"


if __name__ == "__main__":
    SCHEMA_FILE.write_text(schema_text(), "utf-8")
    DOCUMENTATION.write_text(documentation(DOCUMENTATION.read_text("utf-8")), "utf-8")
