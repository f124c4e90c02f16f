"""Definitions of Gateway API that come with the program: what they refuse, and for which objects they count."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

import pytest
from msgspec.structs import replace

from kubectl_policy import GroupKind, Snapshot, analyze
from kubectl_policy.lint.lint_world import LintWorld
from kubectl_policy.lint.rules.schemas import invalid_object
from kubectl_policy.lint.settings import LintSettings
from kubectl_policy.model.kind_roles import GATEWAY_API, GATEWAY_API_EXPERIMENTAL
from kubectl_policy.validation import expressions
from kubectl_policy.validation.admission import VersionSchema, escaped, on_creation, rule_tree
from kubectl_policy.validation.expressions import Evaluator
from kubectl_policy.validation.quick import quick_check
from kubectl_policy.validation.standard import combined_rule, definitions, standard_schema
from tests import build

if TYPE_CHECKING:
    from collections.abc import Mapping

    from kubectl_policy.model import Json, Resource

BY: Final = " (by Gateway API v1.6.2)"
BACKEND: Final = build.backend(port=80)
HEADERS: Final[Json] = {"type": "RequestHeaderModifier", "requestHeaderModifier": {"remove": ["a"]}}


def problems_of(obj: Resource, *others: Resource) -> list[str]:
    """The messages of the problems that an object has by itself, after its name."""
    analysis = analyze(build.snapshot(obj, *others, complete=True))
    return [problem.message.partition(f"{obj.ref}: ")[2] for problem in analysis.problems_by_gateway_api(obj.ref)]


def route(*rules: Mapping[str, Json], **spec: Json) -> Resource:
    return build.resource("HTTPRoute", "r", {"parentRefs": [build.parent()], "rules": list(rules), **spec})


def tls_policy(**spec: Json) -> Resource:
    return build.resource("BackendTLSPolicy", "p", spec)


GRANT: Final[Any] = {
    "from": [{"group": GATEWAY_API, "kind": "HTTPRoute", "namespace": "a"}],
    "to": [{"group": "", "kind": "Service"}],
}
WELL_KNOWN: Final[Any] = {"hostname": "a.example", "wellKnownCACertificates": "System"}
VALID: Final = (
    build.gateway(),
    build.gateway("g", build.listener(), addresses=[{"value": "192.0.2.1"}]),
    build.gateway_class(),
    build.listener_set(),
    route(build.rule(BACKEND, filters=[HEADERS], timeouts={"request": "10s"}), hostnames=["a.example", "*.b.example"]),
    route(build.rule(BACKEND), hostnames=["${HOST}"]),
    build.resource("GRPCRoute", "r", {"parentRefs": [build.parent()], "rules": [build.rule(BACKEND)]}),
    build.resource("ReferenceGrant", "rg", GRANT),
    tls_policy(targetRefs=[build.target("s", "Service", group="")], validation=WELL_KNOWN),
)


@pytest.mark.parametrize("obj", VALID, ids=lambda obj: obj.ref.kind)
def test_valid_objects(obj: Resource) -> None:
    assert problems_of(obj) == []


@pytest.mark.parametrize(
    ("obj", "expected"),
    [
        (
            build.gateway("g", build.listener("x", "TLS", 443)),
            "spec.listeners: Invalid value: tls mode must be set for protocol TLS",
        ),
        (
            build.listener_set("ls", build.listener("x", "HTTP", 80, tls={"options": {"example.com/a": "b"}})),
            "spec.listeners: Invalid value: tls must not be specified for protocols ['HTTP', 'TCP', 'UDP']",
        ),
        (
            route(build.rule(BACKEND, filters=[HEADERS, HEADERS])),
            "spec.rules[0].filters: Invalid value: RequestHeaderModifier filter cannot be repeated",
        ),
        (
            route(build.rule(BACKEND, filters=[{"type": "RequestMirror"}])),
            (
                "spec.rules[0].filters[0]: Invalid value: "
                "filter.requestMirror must be specified for RequestMirror filter.type"
            ),
        ),
        (
            route(build.rule(BACKEND, timeouts={"request": "1s", "backendRequest": "2s"})),
            "spec.rules[0].timeouts: Invalid value: backendRequest timeout cannot be longer than request timeout",
        ),
        (
            route(*[build.rule(BACKEND)] * 17),
            "spec.rules: Too many: 17: must have at most 16 items",
        ),
        (
            tls_policy(targetRefs=[{"kind": "Service", "name": "s"}], validation=WELL_KNOWN),
            "spec.targetRefs[0].group: Required value",
        ),
        (
            build.resource("ReferenceGrant", "rg", {"from": [], "to": GRANT["to"]}),
            "spec.from: Invalid value: 0: spec.from in body should have at least 1 items",
        ),
    ],
)
def test_invalid_objects(obj: Resource, expected: str) -> None:
    assert problems_of(obj) == [f"{expected}{BY}"]


def test_the_objects_for_which_they_do_not_count() -> None:
    """Objects that an API server has accepted, versions that are not known, and kinds with a definition."""
    wrong = route(*[build.rule(BACKEND)] * 17)
    admitted = {**wrong.raw, "metadata": {"name": "r", "namespace": "default", "uid": "1"}}
    assert problems_of(replace(wrong, raw=admitted)) == []
    assert problems_of(replace(wrong, raw={**wrong.raw, "apiVersion": f"{GATEWAY_API}/v1alpha2"})) == []
    definition = build.crd("HTTPRoute", group=GATEWAY_API, schema={"type": "object"}, version="v1")
    assert problems_of(wrong, definition) == []
    assert standard_schema(GroupKind(GATEWAY_API, "Unheard"), "v1") is None
    assert standard_schema(GroupKind(GATEWAY_API_EXPERIMENTAL, "XBackend"), "v1alpha1")


def test_without_an_evaluator(monkeypatch: pytest.MonkeyPatch) -> None:
    """Schemas are checked, and nothing is said of rules."""
    monkeypatch.setattr(expressions, "library", lambda: None)
    assert problems_of(route(build.rule(BACKEND, filters=[HEADERS, HEADERS]))) == []
    assert problems_of(route(*[build.rule(BACKEND)] * 17)) == [
        f"spec.rules: Too many: 17: must have at most 16 items{BY}"
    ]


def test_lint_leaves_problems_to_other_rules() -> None:
    def found(snapshot: Snapshot) -> list[tuple[str, str]]:
        world = LintWorld(analyze(snapshot), LintSettings(), lambda _: True)
        return [(finding.field, finding.message) for finding in invalid_object.check(world)]

    no_tls, no_port = build.gateway("g", build.listener("x", "TLS", 443)), route(build.rule(build.backend(port=None)))
    assert found(build.snapshot(no_tls, no_port, complete=True)) == []
    twice = route(build.rule(BACKEND, filters=[HEADERS, HEADERS]))
    assert found(build.snapshot(twice, complete=True)) == [
        (
            "spec.rules[0].filters",
            f"Invalid value: RequestHeaderModifier filter cannot be repeated{BY}",
        )
    ]
    nameless = tls_policy(targetRefs=[{"kind": "Service", "name": "s"}], validation=WELL_KNOWN)
    field = "spec.targetRefs[0].group"
    assert found(build.snapshot(nameless, complete=True)) == [(field, f"{field}: Required value{BY}")]
    crowded = build.gateway("g", *(build.listener(f"l{number}", port=1000 + number) for number in range(65)))
    matches: list[Json] = [{"path": {"value": f"/{number}"}} for number in range(65)]
    assert found(build.snapshot(crowded, route(build.rule(BACKEND, matches=matches)), complete=True)) == [
        ("spec.rules[0].matches", f"Too many: 65: must have at most 64 items{BY}")
    ]


TEXT: Final[Any] = {"type": "string"}


@pytest.mark.parametrize(
    ("schema", "good", "bad"),
    [
        ({**TEXT, "minLength": 1, "maxLength": 2}, "a", ["", "abc", 1, None]),
        ({**TEXT, "enum": ["a"]}, "a", ["b"]),
        ({**TEXT, "pattern": "^a+$"}, "aa", ["b", "a\n", "ä"]),
        ({**TEXT, "format": "ipv4"}, "192.0.2.1", ["x"]),
        ({"type": "integer", "format": "int32", "minimum": 1}, 2**31 - 1, [0, 2**31, True, 1.0, "1"]),
        ({"type": "integer", "maximum": 5}, -(2**63), [6]),
        ({"type": "boolean"}, True, [1, "true"]),
        ({"type": "array", "items": TEXT, "minItems": 1, "maxItems": 2}, ["a", "a"], [[], ["a"] * 3, [1], "a"]),
        ({"type": "array", "items": TEXT, "x-kubernetes-list-type": "set"}, ["a", "b"], [["a", "a"]]),
        (
            {
                "type": "array",
                "items": {"type": "object", "properties": {"k": TEXT}},
                "x-kubernetes-list-type": "map",
                "x-kubernetes-list-map-keys": ["k"],
            },
            [{"k": "a"}, {"k": "b"}],
            [[{"k": "a", "x": 1}, {"k": "a"}]],
        ),
        (
            {"type": "object", "properties": {"a": TEXT}, "required": ["a"]},
            {"a": "x", "b": 1},
            [{}, {"a": None}, {"a": 1}, []],
        ),
        (
            {"type": "object", "additionalProperties": TEXT, "maxProperties": 1},
            {"a": "x"},
            [{"a": 1}, {"a": "", "b": ""}],
        ),
    ],
)
def test_quick_checks(schema: Mapping[str, Json], good: Json, bad: list[Json]) -> None:
    check = quick_check(schema)
    assert check(good)
    assert [value for value in bad if check(value)] == []


@pytest.mark.parametrize(
    "schema",
    [{"anyOf": [TEXT]}, {"x-kubernetes-int-or-string": True}, {"type": "integer", "enum": [1]}, {"type": "number"}],
)
def test_schemas_that_take_a_closer_look(schema: Mapping[str, Json]) -> None:
    assert not quick_check(schema)(1)


def test_all_rules_in_one() -> None:
    """Of fields, items, values of mappings and `allOf`; the same as each for itself."""

    def ruled(rule: str, **schema: Json) -> dict[str, Json]:
        return {"x-kubernetes-validations": [{"rule": rule}], **schema}

    schema: dict[str, Json] = ruled(
        "size(self.names) < 3",
        type="object",
        properties={
            "names": {"type": "array", "items": ruled("self != 'x'", type="string")},
            "map": {"type": "object", "additionalProperties": ruled("self > 1", type="integer")},
            "namespace": ruled("self.startsWith('n')", type="string"),
        },
        allOf=[ruled("has(self.namespace)")],
    )
    tree = rule_tree(schema, schema)
    assert tree
    rule, evaluator = combined_rule(tree, on_creation, escaped), Evaluator()
    good: dict[str, Any] = {"names": ["a"], "map": {"k": 2}, "__namespace__": "n", "namespace": "n"}
    assert evaluator.holds(rule, good)
    wrong: tuple[dict[str, Any], ...] = (
        {"names": ["x"]},
        {"map": {"k": 1}},
        {"__namespace__": "m"},
        {"names": ["a"] * 3},
        {"names": 1},
    )
    assert not any(evaluator.holds(rule, {**good, **change}) for change in wrong)
    assert not Evaluator(budget=0).holds(rule, good)


def test_the_schema_of_a_definition_has_no_short_cut() -> None:
    schema = VersionSchema({"type": "object"}, None, drops_status=False)
    assert (schema.bundle, schema.quick, schema.combined) == ("", None, "")


def test_the_file_of_definitions() -> None:
    """It is read once, and each schema compiled once, whichever test was the first."""
    definitions.cache_clear()
    standard_schema.cache_clear()
    schema = standard_schema(GroupKind(GATEWAY_API, "HTTPRoute"), "v1")
    assert schema is not None
    assert (schema.bundle, definitions().bundle) == ("v1.6.2", "v1.6.2")
    assert standard_schema(GroupKind(GATEWAY_API, "HTTPRoute"), "v9") is None
    assert standard_schema(GroupKind(GATEWAY_API, "HTTPRoute"), "v1") is schema
