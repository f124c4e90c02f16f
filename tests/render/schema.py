"""The published JSON Schema of documents, made of the same shapes as these.

`python -m tests.render.schema` writes it.
"""

from __future__ import annotations

import ast
import inspect
import json
import sys
from collections.abc import Iterable, Mapping
from enum import Enum
from functools import cached_property
from pathlib import Path
from types import NoneType, UnionType
from typing import TYPE_CHECKING, Annotated, Any, Final, Literal, Union, get_args, get_origin, get_type_hints

import jsonschema
from msgspec import Meta
from msgspec.structs import replace

from kubectl_policy import model, render
from kubectl_policy.render.changes.documents import BLAST_RADIUS, POLICY_DIFF
from kubectl_policy.render.describe.documents import DESCRIPTIONS, OBJECT_DESCRIPTION, POLICY_DESCRIPTION
from kubectl_policy.render.effective.documents import MATRIX
from kubectl_policy.render.explain.documents import EXPLANATION
from kubectl_policy.render.graph.documents import GRAPH
from kubectl_policy.render.history.documents import EFFECT_HISTORY
from kubectl_policy.render.lint.documents import LINT_REPORT
from kubectl_policy.render.listing.documents import LISTS
from kubectl_policy.render.listing.several import SEVERAL
from kubectl_policy.render.output.documents import API_VERSION, Field, Shape, shape_of
from kubectl_policy.render.output.several import ANSWERS
from kubectl_policy.render.status.documents import STATUS_COMPARISON
from kubectl_policy.render.why_not.documents import EFFECT_EXPLANATION

if TYPE_CHECKING:
    from types import ModuleType

    from kubectl_policy.model import Json

FILE: Final = Path(render.__file__).parent / "schemas" / "v1alpha1.json"
DOCUMENTS: Final = (
    OBJECT_DESCRIPTION,
    POLICY_DESCRIPTION,
    DESCRIPTIONS,
    EXPLANATION,
    *LISTS.values(),
    SEVERAL,
    MATRIX,
    STATUS_COMPARISON,
    POLICY_DIFF,
    BLAST_RADIUS,
    EFFECT_EXPLANATION,
    EFFECT_HISTORY,
    GRAPH,
    LINT_REPORT,
    ANSWERS,
)
TITLE: Final = "Answers of kubectl policy describe, explain, get, graph, lint, status, blast-radius, diff and why-not"
DESCRIPTION: Final = (
    "What -o json and -o yaml print. Paths are numbered from 1; everything else refers to them by number. An empty "
    "string or list means that there is none."
)
SCHEMA: Final[Any] = json.loads(FILE.read_text("utf-8"))
VALIDATOR: Final[Any] = jsonschema.Draft202012Validator(SCHEMA)
_SCALARS: Final[Mapping[Any, str]] = {str: "string", int: "integer", bool: "boolean", float: "number", NoneType: "null"}


def schema_of(documents: Iterable[Shape], title: str, description: str) -> dict[str, Json]:
    """The JSON Schema of documents of any of some shapes."""
    definitions = _Definitions()
    any_of: list[Json] = [definitions.reference(shape) for shape in documents]
    return {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "title": f"{title}, {API_VERSION}",
        "description": description,
        "oneOf": any_of,
        "$defs": definitions.made,
    }


class _Definitions:
    """The definitions that a schema needs, each made when it is first referred to."""

    def __init__(self) -> None:
        self.made: dict[str, Json] = {}
        self._shapes: dict[str, Shape] = {}

    def reference(self, shape: Shape) -> dict[str, Json]:
        if self._shapes.setdefault(shape.name, shape) is not shape:
            raise ValueError(f"two shapes are called {shape.name}")
        if shape.name not in self.made:
            self.made[shape.name] = None  # What refers to itself finds it.
            self.made[shape.name] = self._object(shape)
        return {"$ref": f"#/$defs/{shape.name}"}

    def _object(self, shape: Shape) -> dict[str, Json]:
        properties: dict[str, Json] = {field.name: self._property(field, shape.of) for field in shape.fields}
        return {
            **({"description": shape.doc} if shape.doc else {}),
            "type": "object",
            "additionalProperties": False,
            "required": list(properties),
            "properties": properties,
        }

    def _property(self, field: Field, owner: type) -> dict[str, Json]:
        annotation = field.type
        if annotation is None:
            annotation = _attribute(owner, field.attribute) if field.attribute else _returned(field.getter)
        described = field.doc or _description(annotation, owner, field)
        return {**({"description": described} if described else {}), **self._type(annotation, field)}

    def _type(self, annotation: Any, field: Field) -> dict[str, Json]:  # noqa: ANN401 (annotations have many types)
        """The schema of values of a type; the limits of the field are those of what is innermost in it."""
        if get_origin(annotation) is Annotated:
            annotation, meta = get_args(annotation)
            return {**self._type(annotation, field), **_limits(meta)}
        if annotation is Any:
            return dict(field.limits)
        if annotation in _SCALARS:
            return {"type": _SCALARS[annotation], **field.limits}
        origin = get_origin(annotation)
        if origin is Literal:
            return {"enum": list(get_args(annotation))}
        if origin in {Union, UnionType}:
            return self._either(get_args(annotation), field)
        return self._class(origin or annotation, get_args(annotation), field)

    def _class(self, kind: type, arguments: tuple[Any, ...], field: Field) -> dict[str, Json]:
        own = field.shape if field.shape and issubclass(kind, field.shape.of) else shape_of(kind)
        if own:
            return self.reference(own)
        if issubclass(kind, Enum):
            return {"enum": [member.value for member in kind]}
        if issubclass(kind, Mapping):
            return {"type": "object"}
        if issubclass(kind, Iterable):
            own_limits = {keyword: limit for keyword, limit in field.limits.items() if keyword.endswith("Items")}
            items = self._type(arguments[0], replace(field, limits=dict(field.limits.items() - own_limits.items())))
            return {"type": "array", **own_limits, **({"items": items} if items else {})}
        raise TypeError(f"{field.name}: nothing is known of values of {kind.__name__}")

    def _either(self, options: tuple[Any, ...], field: Field) -> dict[str, Json]:
        if all(option in _SCALARS for option in options):
            return {"type": [_SCALARS[option] for option in options], **field.limits}
        named = [option for option in options if get_origin(option) is Literal or option is NoneType]
        if len(named) == len(options):
            return {"enum": [value for option in options for value in get_args(option) or (None,)]}
        choices: list[Json] = [self._type(option, field) for option in options]
        return {"anyOf": choices}


def _description(annotation: Any, owner: type, field: Field) -> str:  # noqa: ANN401 (annotations have many types)
    """The description of a member: beside its type, or the docstring of a property."""
    meta = get_args(annotation)[1] if get_origin(annotation) is Annotated else None
    if not isinstance(meta, Meta):
        return ""
    member = inspect.getattr_static(owner, field.attribute, None)
    return meta.description or (inspect.getdoc(member) if isinstance(member, (property, cached_property)) else "") or ""


def _limits(meta: Meta) -> dict[str, Json]:
    """The keywords of JSON Schema for the limits of a type."""
    limits = {
        "minimum": meta.ge,
        "maximum": meta.le,
        "pattern": meta.pattern,
        "minItems": meta.min_length,
        "maxItems": meta.max_length,
    }
    return {
        **{keyword: limit for keyword, limit in limits.items() if limit is not None},
        **(meta.extra_json_schema or {}),
    }


def _attribute(owner: Any, path: str) -> Any:  # noqa: ANN401 (annotations have many types)
    """The annotation of an attribute, also of a property, or of an attribute of what that is."""
    for name in path.split("."):
        if get_origin(owner) is Annotated:
            owner = get_args(owner)[0]
        if get_origin(owner) in {Union, UnionType}:
            (owner,) = (option for option in get_args(owner) if option is not NoneType)
        static = inspect.getattr_static(owner, name, None)
        if isinstance(static, property):
            owner = _returned(static.fget)
        elif isinstance(static, cached_property):
            owner = _returned(static.func)
        else:
            bases: tuple[type, ...] = owner.__mro__
            home = next(base for base in bases if name in inspect.get_annotations(base))
            owner = _hints(home)[name]
    return owner


def _returned(function: Any) -> Any:  # noqa: ANN401 (annotations have many types)
    return _hints(function)["return"]


def _hints(annotated: Any) -> dict[str, Any]:  # noqa: ANN401 (a class or a function)
    owners: tuple[Any, ...] = getattr(annotated, "__mro__", (annotated,))
    own = [owner.__module__ for owner in reversed(owners) if owner.__module__.startswith(("kubectl_policy.", "tests."))]
    names: dict[str, Any] = {}
    for module in dict.fromkeys(own):
        names |= _names_in(sys.modules[module])
    return get_type_hints(annotated, names, include_extras=True)


def _names_in(module: ModuleType) -> dict[str, Any]:
    """The names of a module, with those that it imports for type checkers alone, and those that aliases consist of."""
    names = {**vars(model), **vars(module)}
    for statement in ast.parse(inspect.getsource(module)).body:
        if isinstance(statement, ast.If) and ast.unparse(statement.test) == "TYPE_CHECKING":
            exec(compile(ast.Module(statement.body, []), "<imports>", "exec"), names)  # noqa: S102 (our own imports)
    return names | {"Json": Any}


def tables() -> str:
    """The members of all documents, and of what is in them, as Markdown for docs/output.md."""
    return "".join(f"\n{_table(name, definition)}" for name, definition in SCHEMA["$defs"].items())


def _table(name: str, definition: Mapping[str, Any]) -> str:
    """The members of a document, or of a part of one."""
    lines = [
        f"## {name}",
        "",
        *_paragraph(definition.get("description", "")),
        "| member | type | meaning |",
        "|---|---|---|",
    ]
    for member, schema in definition["properties"].items():
        meaning = " ".join(schema.get("description", "").split()).replace("|", "\\|")
        lines.append(f"| `{member}` | {_type_words(schema)} | {meaning} |")
    return "\n".join(lines) + "\n"


def _paragraph(text: str) -> list[str]:
    first = " ".join(text.split("\n\n", maxsplit=1)[0].split())
    return [first, ""] if first else []


def _type_words(schema: Mapping[str, Any]) -> str:
    """A type in a few words: `string`, `list of [ObjectRef](#objectref)`, `"error" or "warning"`."""
    if "$ref" in schema:
        name = schema["$ref"].rpartition("/")[2]
        return f"[{name}](#{name.lower()})"
    if "anyOf" in schema:
        return " or ".join(map(_type_words, schema["anyOf"]))
    if "const" in schema or "enum" in schema:
        constants = schema.get("enum", [schema.get("const")])
        return " or ".join("null" if constant is None else f"`{constant}`" for constant in constants)
    if schema.get("type") == "array":
        return f"list of {_type_words(schema['items'])}" if "items" in schema else "list"
    types = schema.get("type", "any")
    return types if isinstance(types, str) else " or ".join(types)


def published() -> str:
    """The text of the file with the schema of all documents."""
    return json.dumps(schema_of(DOCUMENTS, TITLE, DESCRIPTION), indent=2) + "\n"


if __name__ == "__main__":
    FILE.write_text(published(), "utf-8")
