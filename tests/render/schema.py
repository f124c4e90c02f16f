"""The published JSON Schema of documents, made of the types of answers.

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
from typing import TYPE_CHECKING, Annotated, Any, Final, Literal, TypeVar, Union, get_args, get_origin, get_type_hints

import jsonschema
from msgspec import Meta, Struct

from kubectl_policy import model, render
from kubectl_policy.lint.report import Report
from kubectl_policy.questions import object_rows
from kubectl_policy.questions.blast_radius import BlastRadius
from kubectl_policy.questions.describe.objects import ObjectDescription
from kubectl_policy.questions.describe.policies import PolicyDescription
from kubectl_policy.questions.diff import StateDiff
from kubectl_policy.questions.explain import Explanation
from kubectl_policy.questions.graph.picture import Picture
from kubectl_policy.questions.history import History
from kubectl_policy.questions.matrix import Matrix
from kubectl_policy.questions.network_policy_rows import NetworkPolicyRow
from kubectl_policy.questions.policy_rows import KindRow, PolicyRow
from kubectl_policy.questions.shared.selection import Listing
from kubectl_policy.questions.status.report import StatusReport
from kubectl_policy.questions.why_not.answer import WhyNot
from kubectl_policy.questions.workload_rows import PodRow, WorkloadRow
from kubectl_policy.render.explain.statements import Statement
from kubectl_policy.render.lists import KINDS
from kubectl_policy.render.output.cluster_answers import Unanswered
from kubectl_policy.render.output.encoding import API_VERSION, members

if TYPE_CHECKING:
    from types import ModuleType

    from kubectl_policy.model import Json
    from kubectl_policy.questions.shared.selection import RowSort

FILE: Final = Path(render.__file__).parent / "schemas" / "v1alpha1.json"
TITLE: Final = "Answers of kubectl policy describe, explain, get, graph, lint, status, blast-radius, diff and why-not"
DESCRIPTION: Final = (
    "What -o json and -o yaml print. Paths are numbered from 1; everything else refers to them by number. An empty "
    "string or list means that there is none."
)
SCHEMA: Final[Any] = json.loads(FILE.read_text("utf-8"))
VALIDATOR: Final[Any] = jsonschema.Draft202012Validator(SCHEMA)
_SCALARS: Final[Mapping[Any, str]] = {str: "string", int: "integer", bool: "boolean", float: "number", NoneType: "null"}

ANSWERS: Final[Mapping[str, type]] = {
    "ObjectDescription": ObjectDescription,
    "PolicyDescription": PolicyDescription,
    "PolicyKindExplanation": Explanation,
    "EffectiveList": Matrix,
    "StatusComparison": StatusReport,
    "PolicyDiff": StateDiff,
    "BlastRadius": BlastRadius,
    "EffectExplanation": WhyNot,
    "EffectHistory": History,
    "Graph": Picture,
    "LintReport": Report,
}
ROWS: Final[Mapping[RowSort, type]] = {
    "policies": PolicyRow,
    "network policies": NetworkPolicyRow,
    "policy kinds": KindRow,
    "gateway classes": object_rows.GatewayClassRow,
    "gateways": object_rows.GatewayRow,
    "listener sets": object_rows.GatewayRow,
    "listeners": object_rows.ListenerRow,
    "routes": object_rows.RouteRow,
    "backends": object_rows.BackendRow,
    "namespaces": object_rows.NamespaceRow,
    "pods": PodRow,
    "workloads": WorkloadRow,
}
_HEADLINE: Final[dict[str, Json]] = {"description": "The answer in one sentence, for people.", "type": "string"}
_COMPLETE: Final[dict[str, Json]] = {
    "description": "False if something that could matter could not be seen.",
    "type": "boolean",
}


def schema() -> dict[str, Json]:
    """The JSON Schema of all documents."""
    definitions = _Definitions()
    documents: list[Json] = []
    for name, kind in ANSWERS.items():
        members = {"headline": _HEADLINE, **definitions.properties(kind)}
        if kind is Explanation:
            members["statements"] = _list("The known and assumed properties as text.", definitions.reference(Statement))
        documents.append(definitions.document(name, kind.__doc__ or "", members))
    for sort, row in ROWS.items():
        items = _list("A row for each object.", definitions.reference(row))
        members = {"headline": _HEADLINE, **definitions.properties(Listing), "items": items}
        documents.append(definitions.document(KINDS[sort], f"The answer of get for {sort}.", members))
    of_types = _list("The lists, one for each type, in the order of the arguments.", {"type": "object"})
    several: tuple[tuple[str, str, dict[str, Json]], ...] = (
        (
            "DescriptionList",
            "The answers about several objects.",
            {"items": _list("An ObjectDescription or a PolicyDescription for each object.", {"type": "object"})},
        ),
        (
            "Lists",
            "The answer of get for several types.",
            {"headline": _HEADLINE, "complete": _COMPLETE, "items": of_types},
        ),
        (
            "Answers",
            "The answers of several clusters (several --context, or --all-contexts).",
            {
                "items": _list("The documents, one for each cluster, with the member context.", {"type": "object"}),
                "unanswered": _list("The clusters without an answer.", definitions.reference(Unanswered)),
            },
        ),
    )
    documents += [definitions.document(*document) for document in several]
    return {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "title": f"{TITLE}, {API_VERSION}",
        "description": DESCRIPTION,
        "oneOf": documents,
        "$defs": definitions.made,
    }


def _list(description: str, items: dict[str, Json]) -> dict[str, Json]:
    return {"description": description, "type": "array", "items": items}


class _Definitions:
    """The definitions that a schema needs, each made when it is first referred to."""

    def __init__(self) -> None:
        self.made: dict[str, Json] = {}
        self._types: dict[str, type] = {}

    def reference(self, kind: type) -> dict[str, Json]:
        """Refer to the definition of a type."""
        name = kind.__name__
        if self._types.setdefault(name, kind) is not kind:
            raise ValueError(f"two types are called {name}")
        if name not in self.made:
            self.made[name] = None  # What refers to itself finds it.
            self.made[name] = _object(kind.__doc__ or "", self.properties(kind))
        return {"$ref": f"#/$defs/{name}"}

    def document(self, name: str, about: str, properties: dict[str, Json]) -> dict[str, Json]:
        """Define a document, which begins with what says which document it is, and refer to it."""
        head: dict[str, Json] = {"apiVersion": {"const": API_VERSION}, "kind": {"const": name}}
        self.made[name] = _object(about, {**head, **properties})
        return {"$ref": f"#/$defs/{name}"}

    def properties(self, kind: type) -> dict[str, Json]:
        """The members of a type."""
        return {name: self._member(kind, attribute) for name, attribute in members(kind).items()}

    def _member(self, owner: type, attribute: str) -> dict[str, Json]:
        *parts, attribute = attribute.split(".")
        for part in parts:
            owner = get_args(_annotation(owner, part)[0])[0]
        annotation, docstring = _annotation(owner, attribute)
        description = get_args(annotation)[1].description or docstring
        return {**({"description": description} if description else {}), **self.schema(annotation)}

    def schema(self, annotation: Any) -> dict[str, Json]:  # noqa: ANN401 (annotations have many types)
        """The schema of values of a type."""
        origin, arguments = get_origin(annotation), get_args(annotation)
        if origin is Annotated:
            return {**self.schema(arguments[0]), **_limits(arguments[1])}
        if annotation is Any or isinstance(annotation, TypeVar):
            return {}
        if annotation in _SCALARS:
            return {"type": _SCALARS[annotation]}
        if origin is Literal:
            return {"enum": list(arguments)}
        if origin in {Union, UnionType}:
            return self._either(arguments)
        return self._of_class(origin or annotation, arguments)

    def _of_class(self, kind: type, arguments: tuple[Any, ...]) -> dict[str, Json]:
        if issubclass(kind, Struct):
            return self.reference(kind)
        if issubclass(kind, Enum):
            return {"enum": [member.value for member in kind]}
        if issubclass(kind, Mapping):
            return {"type": "object"}
        if issubclass(kind, Iterable):
            items = self.schema(arguments[0])
            return {"type": "array", **({"items": items} if items else {})}
        raise TypeError(f"nothing is known of values of {kind.__name__}")

    def _either(self, options: tuple[Any, ...]) -> dict[str, Json]:
        if all(option in _SCALARS for option in options):
            return {"type": [_SCALARS[option] for option in options]}
        if all(get_origin(option) is Literal or option is NoneType for option in options):
            return {"enum": [value for option in options for value in get_args(option) or (None,)]}
        return {"anyOf": [self.schema(option) for option in options]}


def _object(about: str, properties: dict[str, Json]) -> dict[str, Json]:
    paragraph = inspect.cleandoc(about).partition("\n\n")[0]
    return {
        **({"description": " ".join(paragraph.split())} if paragraph else {}),
        "type": "object",
        "additionalProperties": False,
        "required": [*properties],
        "properties": properties,
    }


def _limits(meta: Meta) -> dict[str, Json]:
    """The keywords of JSON Schema for the limits of a type."""
    limits = {
        "minimum": meta.ge,
        "maximum": meta.le,
        "pattern": meta.pattern,
        "minItems": meta.min_length,
        "maxItems": meta.max_length,
    }
    present = {keyword: limit for keyword, limit in limits.items() if limit is not None}
    return {**present, **(meta.extra_json_schema or {})}


def _annotation(owner: type, attribute: str) -> tuple[Any, str]:
    """The annotation of a member, and the docstring of a property."""
    static = inspect.getattr_static(owner, attribute, None)
    getter = static.func if isinstance(static, cached_property) else getattr(static, "fget", None)
    if getter:
        return _hints(getter)["return"], inspect.getdoc(getter) or ""
    home = next(base for base in owner.__mro__ if attribute in inspect.get_annotations(base))
    return _hints(home)[attribute], ""


def _hints(annotated: Any) -> dict[str, Any]:  # noqa: ANN401 (a class or a function)
    owners: tuple[Any, ...] = getattr(annotated, "__mro__", (annotated,))
    modules = [
        owner.__module__ for owner in reversed(owners) if owner.__module__.startswith(("kubectl_policy.", "tests."))
    ]
    names: dict[str, Any] = {}
    for module in dict.fromkeys(modules):
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
    return json.dumps(schema(), indent=2) + "\n"


if __name__ == "__main__":
    FILE.write_text(published(), "utf-8")
