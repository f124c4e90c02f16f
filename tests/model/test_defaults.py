"""What an API server would have filled in."""

from __future__ import annotations

import copy
from typing import Final

import pytest

from kubectl_policy.model import Json, Resource
from kubectl_policy.model.defaults import BUILT_IN_DEFAULTS, Defaults, built_in_schema
from kubectl_policy.model.fields import items_at, mapping_at, value_at
from kubectl_policy.model.kind_roles import GATEWAY_API, GATEWAY_API_EXPERIMENTAL
from kubectl_policy.model.refs import GroupKind
from tests.build import crd, resource

THING = GroupKind("example.com", "Thing")


def _spec(found: Resource, *definitions: Resource) -> Json:
    """The spec with its defaults; the object itself stays as it was."""
    before = copy.deepcopy(found.raw)
    applied = Defaults(definitions).apply(found)
    assert found.raw == before
    return applied.get("spec")


def _thing(spec: Json, schema: Json) -> Json:
    """The spec of a Thing, by the schema of its spec."""
    definition = crd("Thing", schema={"properties": {"spec": schema}})
    return _spec(resource("Thing", "t", spec, group="example.com"), definition)


@pytest.mark.parametrize("kind", [*BUILT_IN_DEFAULTS, GroupKind("", "Namespace"), THING])
@pytest.mark.parametrize(
    "spec", [None, 1, "listeners", [], [1, None, "x"], {"listeners": "a", "rules": 5, "ports": {}}]
)
def test_an_odd_shape_passes_through(kind: GroupKind, spec: Json) -> None:
    """No default is worth an exception, and nothing that is there is replaced."""
    found = _spec(resource(kind.kind, "x", spec, group=kind.group))
    assert found == spec or (isinstance(found, dict) and isinstance(spec, dict) and spec.items() <= found.items())


_ODD_SPECS: Final[list[Json]] = [
    {"listeners": [None, 1, "x", []], "allowedListeners": "x", "tls": 5, "addresses": [[]]},
    {"parentRefs": 1, "rules": [{"matches": 1, "backendRefs": [1, None, {"filters": "x"}]}, "x"]},
    {"ports": [1, None, "x", {"protocol": 5}]},
    {"targetRefs": 7},
]


@pytest.mark.parametrize("spec", _ODD_SPECS)
def test_odd_shapes_further_down(spec: Json) -> None:
    for kind in BUILT_IN_DEFAULTS:
        assert isinstance(_spec(resource(kind.kind, "x", spec, group=kind.group)), dict)


@pytest.mark.parametrize(
    "schema",
    [
        None,
        1,
        [],
        {"properties": 5},
        {"properties": {"a": 5, "b": None, "c": []}},
        {"items": 5},
        {"items": [{"default": 1}]},
        {"additionalProperties": True},
        {"properties": {"a": {"default": None}}},
    ],
)
def test_an_odd_schema_has_no_defaults(schema: Json) -> None:
    spec: Json = {"a": None, "b": [None], "c": {"d": 1}}
    assert _thing(spec, schema) == spec


def test_an_object_without_anything_to_fill_in_is_itself() -> None:
    """The very same mapping: most objects are complete, and copies cost."""
    complete = resource("Thing", "t", {"a": {"b": 1}, "c": [{"b": 2}]}, group="example.com")
    inner: Json = {"properties": {"b": {"default": 3}}}
    schema: Json = {"properties": {"spec": {"properties": {"a": inner, "c": {"items": inner}}}}}
    assert Defaults([crd("Thing", schema=schema)]).apply(complete) is complete.raw
    unknown = resource("Other", "o", {"a": 1}, group="example.com")
    assert Defaults([]).apply(unknown) is unknown.raw


@pytest.mark.parametrize(
    ("spec", "schema", "filled"),
    [
        ({}, {"properties": {"a": {"default": 1}}}, {"a": 1}),
        ({"a": 2}, {"properties": {"a": {"default": 1}}}, {"a": 2}),
        ({"a": None}, {"properties": {"a": {"default": 1}}}, {"a": 1}),
        ({"a": None}, {"properties": {"a": {"default": 1, "nullable": True}}}, {"a": None}),
        ({"a": None}, {"properties": {"a": {"type": "string"}}}, {"a": None}),
        ({}, {"properties": {"a": {"properties": {"b": {"default": 1}}}}}, {}),
        ({"a": {}}, {"properties": {"a": {"properties": {"b": {"default": 1}}}}}, {"a": {"b": 1}}),
        ({}, {"properties": {"a": {"default": {}, "properties": {"b": {"default": 1}}}}}, {"a": {"b": 1}}),
        ({}, {"properties": {"a": {"default": False}, "b": {"default": ""}}}, {"a": False, "b": ""}),
        (
            {"a": [{}, {"b": 2}, 3]},
            {"properties": {"a": {"items": {"properties": {"b": {"default": 1}}}}}},
            {"a": [{"b": 1}, {"b": 2}, 3]},
        ),
        ({"a": [None]}, {"properties": {"a": {"items": {"default": 1}}}}, {"a": [1]}),
        ({"x": {}}, {"additionalProperties": {"properties": {"b": {"default": 1}}}}, {"x": {"b": 1}}),
        (
            {"x": {}, "y": {"b": 2}},
            {"additionalProperties": {"properties": {"b": {"default": 1}}}},
            {"x": {"b": 1}, "y": {"b": 2}},
        ),
        ({"x": None}, {"additionalProperties": {"default": 1}}, {"x": 1}),
        ({"a.b": {}}, {"properties": {"a.b": {"properties": {"c": {"default": 1}}}}}, {"a.b": {"c": 1}}),
    ],
)
def test_the_rules_of_structural_schemas(spec: Json, schema: Json, filled: Json) -> None:
    """Absent keys of objects that are there; a null that may not be is absent; defaults inside of defaults."""
    assert _thing(spec, schema) == filled


def test_the_schema_of_the_version_that_the_object_is_in() -> None:
    """Then that of the stored version, then of the first served one."""

    def version(name: str, *, served: bool = True, storage: bool = False) -> Json:
        schema: Json = {"properties": {"spec": {"default": name}}}
        return {"name": name, "served": served, "storage": storage, "schema": {"openAPIV3Schema": schema}}

    def defaulted(api_version: str, *versions: Json) -> Json:
        definition = crd("Thing")
        spec = {**mapping_at(definition.raw, "spec"), "versions": list(versions)}
        thing = resource("Thing", "t", group="example.com", apiVersion=api_version)
        return _spec(thing, resource("CustomResourceDefinition", "x", spec, group="apiextensions.k8s.io"))

    stored = version("v2", storage=True)
    assert defaulted("example.com/v1", version("v1"), stored) == "v1"
    assert defaulted("example.com/v3", version("v1"), stored) == "v2"
    assert defaulted("example.com/v3", version("v0", served=False), version("v1")) == "v1"
    assert defaulted("example.com/v3", version("v0", served=False)) is None
    assert defaulted("", version("v1"), stored) == "v2"


def test_the_one_schema_of_an_old_definition() -> None:
    spec = {**mapping_at(crd("Thing").raw, "spec"), "validation": {"openAPIV3Schema": {"type": "object"}}}
    old = resource("CustomResourceDefinition", "things", spec, group="apiextensions.k8s.io")
    assert Defaults([old]).schema_of(THING) == {"type": "object"}


def test_a_definition_beats_what_is_built_in() -> None:
    """Unless it has no schema."""
    gateway = GroupKind(GATEWAY_API, "Gateway")
    assert Defaults([crd("Gateway", GATEWAY_API, schema={"type": "object"})]).schema_of(gateway) == {"type": "object"}
    assert Defaults([crd("Gateway", GATEWAY_API)]).schema_of(gateway) == built_in_schema(gateway)
    assert Defaults([]).schema_of(THING) == {}


def test_a_gateway() -> None:
    """Routes from the same namespace, TLS terminated, no ListenerSets unless the Gateway says so."""
    spec: Json = {
        "listeners": [
            {"name": "a"},
            {
                "name": "b",
                "allowedRoutes": {"kinds": [{"kind": "HTTPRoute"}]},
                "tls": {"certificateRefs": [{"name": "c"}]},
            },
            {"name": "c", "allowedRoutes": {"namespaces": {"selector": {}}}},
        ],
        "allowedListeners": {},
    }
    assert _spec(resource("Gateway", "g", spec)) == {
        "listeners": [
            {"name": "a", "allowedRoutes": {"namespaces": {"from": "Same"}}},
            {
                "name": "b",
                "allowedRoutes": {
                    "kinds": [{"group": GATEWAY_API, "kind": "HTTPRoute"}],
                    "namespaces": {"from": "Same"},
                },
                "tls": {"mode": "Terminate", "certificateRefs": [{"group": "", "kind": "Secret", "name": "c"}]},
            },
            {"name": "c", "allowedRoutes": {"namespaces": {"from": "Same", "selector": {}}}},
        ],
        "allowedListeners": {"namespaces": {"from": "None"}},
    }
    assert _spec(resource("Gateway", "g", {"listeners": []})) == {"listeners": []}


@pytest.mark.parametrize(("group", "kind"), [(GATEWAY_API, "ListenerSet"), (GATEWAY_API_EXPERIMENTAL, "XListenerSet")])
def test_a_listener_set(group: str, kind: str) -> None:
    assert _spec(resource(kind, "l", {"parentRef": {"name": "g"}, "listeners": [{}]}, group=group)) == {
        "parentRef": {"group": GATEWAY_API, "kind": "Gateway", "name": "g"},
        "listeners": [{"allowedRoutes": {"namespaces": {"from": "Same"}}}],
    }


def test_an_http_route_without_rules() -> None:
    everything = [{"path": {"type": "PathPrefix", "value": "/"}}]
    assert _spec(resource("HTTPRoute", "r", {"parentRefs": [{"name": "g"}]})) == {
        "parentRefs": [{"group": GATEWAY_API, "kind": "Gateway", "name": "g"}],
        "rules": [{"matches": everything}],
    }
    assert _spec(resource("HTTPRoute", "r", {"rules": [{}, {"matches": [{}, {"headers": [{}]}]}]})) == {
        "rules": [
            {"matches": everything},
            {"matches": [*everything, {**everything[0], "headers": [{"type": "Exact"}]}]},
        ]
    }


@pytest.mark.parametrize("kind", ["HTTPRoute", "GRPCRoute", "TLSRoute", "TCPRoute", "UDPRoute"])
def test_the_backends_of_a_route(kind: str) -> None:
    """A Service with weight 1; what is written stays."""
    rules: Json = [{"backendRefs": [{"name": "a"}, {"name": "b", "kind": "X", "group": "y", "weight": 0}]}]
    applied = Defaults([]).apply(resource(kind, "r", {"rules": rules}))
    (rule,) = items_at(applied, "spec.rules")
    assert value_at(rule, "backendRefs") == [
        {"group": "", "kind": "Service", "name": "a", "weight": 1},
        {"group": "y", "kind": "X", "name": "b", "weight": 0},
    ]


def test_a_route_that_is_not_http_gets_no_rule() -> None:
    """Only HTTPRoute has a default for its rules."""
    assert _spec(resource("GRPCRoute", "r", {})) == {}


def test_a_filter_that_a_kind_has_not() -> None:
    """A GRPCRoute redirects nothing, so that nothing is filled in there; both kinds of routes mirror."""
    filters: Json = [{"requestRedirect": {}}, {"requestMirror": {"backendRef": {"name": "s"}}}]
    mirrored: Json = {"requestMirror": {"backendRef": {"group": "", "kind": "Service", "name": "s"}}}
    route = resource("GRPCRoute", "r", {"rules": [{"filters": filters}]})
    assert _spec(route) == {"rules": [{"filters": [{"requestRedirect": {}}, mirrored]}]}


def test_the_client_certificate_of_a_backend() -> None:
    backend = resource(
        "XBackend", "b", {"tls": {"clientCertificateRef": {"name": "c"}}}, group=GATEWAY_API_EXPERIMENTAL
    )
    assert _spec(backend) == {"tls": {"clientCertificateRef": {"group": "", "kind": "Secret", "name": "c"}}}


def test_target_references_are_never_invented() -> None:
    spec: Json = {"targetRefs": [{"name": "s"}]}
    for kind in BUILT_IN_DEFAULTS:
        if "Policy" in kind.kind:
            assert _spec(resource(kind.kind, "p", spec, group=kind.group)) == spec
    assert _spec(resource("BackendTLSPolicy", "p", spec)) == spec


@pytest.mark.parametrize(
    ("port", "filled"),
    [
        ({"port": 80}, {"port": 80, "protocol": "TCP", "targetPort": 80}),
        ({"port": 80, "targetPort": 0}, {"port": 80, "protocol": "TCP", "targetPort": 80}),
        ({"port": 80, "targetPort": "web"}, {"port": 80, "protocol": "TCP", "targetPort": "web"}),
        ({"protocol": "UDP"}, {"protocol": "UDP"}),
    ],
)
def test_the_ports_of_a_service(port: Json, filled: Json) -> None:
    """The target is the port itself unless it is named."""
    assert _spec(resource("Service", "s", {"ports": [port]}, group="")) == {"type": "ClusterIP", "ports": [filled]}


def test_a_service_without_ports() -> None:
    assert _spec(resource("Service", "s", {"clusterIP": "None"}, group="")) == {
        "type": "ClusterIP",
        "clusterIP": "None",
    }


def test_a_namespace_is_labelled_with_its_name() -> None:
    """Whatever the manifest says; a label that is right leaves the object as it is."""
    label = "kubernetes.io/metadata.name"
    defaults = Defaults([])
    for labels in (None, {}, {"a": "b"}, {label: "wrong"}):
        applied = defaults.apply(resource("Namespace", "n", group="", labels=labels))
        kept = {key: value for key, value in (labels or {}).items() if key != label}
        assert mapping_at(applied, "metadata")["labels"] == {**kept, label: "n"}
    complete = resource("Namespace", "n", group="", labels={label: "n"})
    assert defaults.apply(complete) is complete.raw
