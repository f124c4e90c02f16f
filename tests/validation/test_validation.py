"""The schema by which an object is validated, the parts of the object, and values that are too large."""

from __future__ import annotations

import sys
from datetime import date
from typing import TYPE_CHECKING, Final

import pytest

from kubectl_policy import analyze
from kubectl_policy.model.kind_roles import GATEWAY_API
from kubectl_policy.validation.expressions import library
from kubectl_policy.validation.pruning import is_sound
from tests.build import crd, gateway, policy, resource, snapshot
from tests.validation.build import doubts, problems, problems_of, verdict

if TYPE_CHECKING:
    from collections.abc import Iterator

    from kubectl_policy.model import Json, Resource

NEVER: Final[Json] = {"type": "object", "required": ["never"]}


def _messages(resource: Resource, *definitions: Resource) -> list[str]:
    return [problem.message for problem in verdict(resource, *definitions)]


def test_without_a_definition_nothing_is_refused() -> None:
    assert _messages(gateway("g", listeners=1)) == []
    assert _messages(gateway("g"), crd("Thing", schema=NEVER), crd("Gateway", schema=NEVER)) == []


def test_a_definition_without_a_schema_refuses_nothing() -> None:
    assert _messages(gateway("g"), crd("Gateway", GATEWAY_API, version="v1")) == []
    endless: dict[str, Json] = {"type": "object", "required": ["never"]}
    endless["allOf"] = [endless]
    assert _messages(gateway("g"), crd("Gateway", GATEWAY_API, version="v1", schema=endless)) == []


def test_one_of_two_definitions_counts() -> None:
    thing = resource("Thing", "t", group="example.com")
    for name, problems_found in (("a", 0), ("z", 1)):
        rival = resource("CustomResourceDefinition", name, crd("Thing").raw["spec"], group="apiextensions.k8s.io")
        assert len(_messages(thing, crd("Thing", schema=NEVER), rival)) == problems_found
        assert len(_messages(thing, rival, crd("Thing", schema=NEVER))) == problems_found


def test_the_version_of_the_object_counts() -> None:
    """An API server has no other schema for it; what it does not serve is another problem."""
    thing = resource("Thing", "t", group="example.com")
    assert len(_messages(thing, crd("Thing", schema=NEVER, version="v1alpha1"))) == 1
    assert _messages(thing, crd("Thing", schema=NEVER, version="v1")) == []
    version: Json = {"name": "v1alpha1", "served": False, "schema": {"openAPIV3Schema": NEVER}}
    spec: Json = {"group": "example.com", "names": {"kind": "Thing"}, "versions": [version]}
    unserved = resource("CustomResourceDefinition", "things", spec, group="apiextensions.k8s.io")
    assert _messages(thing, unserved) == []


def test_a_status_of_its_own_is_not_created() -> None:
    """An API server drops it, if the definition has it as a subresource."""
    schema: Json = {"type": "object", "properties": {"status": {"type": "object", "required": ["never"]}}}
    thing = resource("Thing", "t", group="example.com", status={})
    version: dict[str, Json] = {"name": "v1alpha1", "served": True, "schema": {"openAPIV3Schema": schema}}

    def definition(**more: Json) -> Resource:
        spec: Json = {"group": "example.com", "names": {"kind": "Thing"}, "versions": [{**version, **more}]}
        return resource("CustomResourceDefinition", "things", spec, group="apiextensions.k8s.io")

    assert _messages(thing, definition(subresources={"status": {}})) == []
    expected = ["Thing default/t: the API server would refuse it: status.never: Required value"]
    assert _messages(thing, definition(subresources={})) == expected


def test_an_object_that_cannot_be_worked_with() -> None:
    endless: dict[str, Json] = {}
    endless["a"] = endless
    assert doubts({"type": "object"}, endless) == ["it is too large, or too deep, to be checked"]


def test_what_is_kept_of_an_object() -> None:
    most: dict[str, Json] = {"maxProperties": 1}
    keep: dict[str, Json] = {"x-kubernetes-preserve-unknown-fields": True}
    inner: Json = {"type": "object", "properties": {"a": {"type": "integer"}}, **most}
    schema: Json = {
        "type": "object",
        "properties": {
            "pruned": inner,
            "kept": {"type": "object", "properties": {"x": inner}, **keep, **most},
            "list": {"type": "array", "items": inner},
            "list_kept": {"type": "array", "items": inner, **keep},
            "any": {"type": "object", "additionalProperties": True, "maxProperties": 2},
            "map": {"type": "object", "additionalProperties": {"type": "integer"}, **most},
            "pod": {"type": "object", "x-kubernetes-embedded-resource": True, "maxProperties": 3},
        },
    }
    two: Json = {"a": 1, "b": 2}
    assert problems(schema, {"pruned": two, "list": [two], "unknown": 1}) == []
    assert [problem.field for problem in problems(schema, {"kept": {"x": two, "y": 1}})] == ["spec.kept"]
    assert [problem.field for problem in problems(schema, {"list_kept": [two]})] == ["spec.list_kept[0]"]
    assert problems(schema, {"any": {"a": two, "b": [two]}, "map": {"a": None, "b": 1}}) == []
    pod: Json = {"apiVersion": "v1", "kind": "Pod", "metadata": {"name": "p"}, "spec": {}}
    assert problems(schema, {"pod": pod}) == []
    assert problems_of({"type": "object", "properties": {"spec": {}}, "maxProperties": 4}, {}) == []


@pytest.fixture
def no_library(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """A machine for which the library is not built."""
    library.cache_clear()
    monkeypatch.setitem(sys.modules, "cel_expr_python", None)
    monkeypatch.setitem(sys.modules, "cel_expr_python.cel", None)
    yield
    library.cache_clear()


@pytest.mark.usefixtures("no_library")
def test_without_the_library() -> None:
    """Rules and patterns are unchecked; the rest of the schema is not."""
    rule: Json = [{"rule": "false"}]
    schema: Json = {
        "type": "object",
        "properties": {"a": {"type": "string", "pattern": "x"}, "b": {"type": "integer"}},
        "x-kubernetes-validations": rule,
    }
    assert doubts(schema, {"a": "y"}) == [
        "spec.a: whether it matches its pattern was not checked",
        "its rules were not checked: cel-expr-python is not installed",
    ]
    assert {problem.rule for problem in problems(schema, {"b": "1"})} == {"schema", "schema-unchecked"}


def test_alternatives_that_are_not_known() -> None:
    unknown: Json = {"pattern": "("}
    text: dict[str, Json] = {"type": "string"}
    value = "ab"
    assert doubts({**text, "anyOf": [unknown, {"pattern": "^x"}]}, value) != []
    assert doubts({**text, "anyOf": [unknown, {"pattern": "^a"}]}, value) == []
    assert doubts({**text, "oneOf": [unknown, {"pattern": "^a"}]}, value) != []
    assert doubts({**text, "not": unknown}, value) != []
    both: Json = {**text, "oneOf": [unknown, {"pattern": "^a"}, {"pattern": "^a"}]}
    assert [problem.rule for problem in problems(both, value)] == ["schema"]


def test_problems_of_an_object_include_what_would_be_refused() -> None:
    color = policy("p", kind="ColorPolicy", hue="red")
    hues: Json = {"type": "object", "properties": {"hue": {"type": "string", "enum": ["blue"]}}}
    definition = crd("ColorPolicy", schema={"type": "object", "properties": {"spec": hues}})
    analysis = analyze(snapshot(color, policy("q", hue="blue"), definition))
    expected = 'spec.hue: Unsupported value: "red": supported values: "blue"'
    said = [problem.message for problem in analysis.diagnostics if problem.rule == "schema"]
    assert said == [f"ColorPolicy default/p: the API server would refuse it: {expected}"]


def _nested(depth: int) -> object:
    value: object = 1
    for _ in range(depth):
        value = [value]
    return value


@pytest.mark.parametrize("value", [{1: 2}, {"a": {None: 1}}, date(2026, 1, 1), [b"x"], _nested(101), [0] * 300_001])
def test_what_cannot_be_worked_with(value: object) -> None:
    assert not is_sound(value)


@pytest.mark.parametrize("value", [None, True, 1, 1.5, "x", [], {}, {"a": [1, ("x", {"b": None})]}, _nested(100)])
def test_what_can_be_worked_with(value: object) -> None:
    assert is_sound(value)
