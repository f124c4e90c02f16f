"""Problems of single objects, references of Gateways and routes, and the kinds of the hierarchy."""

from __future__ import annotations

from datetime import date
from itertools import pairwise
from typing import NoReturn, cast

import pytest

from kubectl_policy.model import FieldPath, GroupKind, Json, ObjectRef, Resource
from kubectl_policy.model.kind_roles import (
    GATEWAY,
    GATEWAY_API,
    GATEWAY_CLASS,
    HIERARCHY,
    HTTP_ROUTE,
    LISTENER_SETS,
    NAMESPACE,
    ROUTES,
    SERVICE,
    depth_of,
    layer_of,
)
from kubectl_policy.topology import Topology
from kubectl_policy.topology.references import backend_refs, parent_gateway, parent_refs, port_names
from tests.build import (
    ORIGIN,
    backend,
    dangling,
    gateway,
    gateway_class,
    grant,
    index,
    listener,
    listener_set,
    names,
    parent,
    policy,
    ref,
    resource,
    route,
    rule,
    service,
    target,
    wrong_shapes,
)


def type_problems(kind: str, spec: Json, group: str = "gateway.networking.k8s.io") -> list[str]:
    """The messages about an object `x` with a spec."""
    return [problem.message for problem in wrong_shapes(index(resource(kind, "x", spec, group=group)))]


@pytest.mark.parametrize(
    ("value", "words"),
    [
        ("x", "a string"),
        (1, "an integer"),
        (1.5, "a number"),
        (True, "a boolean"),
        ({}, "a mapping"),
        (cast("Json", date(2026, 1, 1)), "something else"),
    ],
)
def test_a_value_of_another_type_is_named(value: Json, words: str) -> None:
    """The message says what it is and what it must be."""
    assert type_problems("Gateway", {"listeners": value}) == [
        f"Gateway default/x: spec.listeners is {words}, must be a list"
    ]


WRONG: list[tuple[str, Json, str]] = [
    ("HTTPRoute", {"hostnames": ["a", 1]}, "spec.hostnames[1] is an integer, must be a string"),
    ("HTTPRoute", {"parentRefs": [{}, []]}, "spec.parentRefs[1] is a list, must be a mapping"),
    (
        "HTTPRoute",
        {"rules": [{"backendRefs": [{"port": "80"}]}]},
        "spec.rules[0].backendRefs[0].port is a string, must be an integer",
    ),
    ("Gateway", {"listeners": [{"port": True}]}, "spec.listeners[0].port is a boolean, must be an integer"),
    ("ListenerSet", {"parentRef": "g"}, "spec.parentRef is a string, must be a mapping"),
    ("ReferenceGrant", {"from": {}}, "spec.from is a mapping, must be a list"),
    ("GatewayClass", {"targetRefs": {}}, "spec.targetRefs is a mapping, must be a list"),
    ("GatewayClass", "x", "spec is a string, must be a mapping"),
]


@pytest.mark.parametrize(("kind", "spec", "expected"), WRONG)
def test_a_wrong_field_is_found_wherever_it_is(kind: str, spec: Json, expected: str) -> None:
    """In lists of lists, too; what is below a wrong value is not looked at."""
    assert type_problems(kind, spec) == [
        f"{kind} default/x: {expected}".replace("GatewayClass default/x", "GatewayClass x")
    ]


def test_null_and_absence_are_no_problem() -> None:
    assert type_problems("Gateway", {"listeners": None}) == []
    assert type_problems("Gateway", {}) == []


def test_every_kind_may_be_a_policy() -> None:
    """Its target references are looked at, and an origin tells where."""
    (found,) = wrong_shapes(index(policy("p", targetRef={"name": 1})))
    assert (found.rule, found.severity, found.field) == ("wrong-type", "error", "spec.targetRef.name")
    assert (found.subject, found.origin) == (policy().ref, ORIGIN)


def test_sound_objects_have_no_problems() -> None:
    world = [gateway_class(), gateway(), listener_set(), route(), service(), grant(), policy("p", target("g"))]
    assert wrong_shapes(index(*world)) == ()


def test_no_field_of_a_sound_object_is_looked_up(monkeypatch: pytest.MonkeyPatch) -> None:
    def matches(path: FieldPath, value: Json) -> NoReturn:
        pytest.fail(f"{path} is looked up in {value}")

    monkeypatch.setattr(FieldPath, "matches", matches)
    rules: list[Json] = [{"name": "r", "backendRefs": [{"name": "s", "port": 80}, None]}, {}]
    assert type_problems("HTTPRoute", {"hostnames": ["a"], "parentRefs": [{"name": "g"}], "rules": rules}) == []
    assert type_problems("Service", {"ports": None, "other": [1]}, group="") == []


def test_what_is_in_a_value_of_another_type_is_not_looked_for() -> None:
    """A mapping has no items, and a list no fields."""
    assert type_problems("HTTPRoute", {"hostnames": {"a": 1}}) == [
        "HTTPRoute default/x: spec.hostnames is a mapping, must be a list"
    ]
    assert type_problems("Service", {"ports": [[{"name": 1}]]}, group="") == [
        "Service default/x: spec.ports[0] is a list, must be a mapping"
    ]


def dangling_found(*resources: Resource, complete: bool = False) -> list[tuple[str, str, str, str]]:
    """Rule, severity, reason and message of each dangling reference."""
    missing = dangling(Topology(index(*resources, complete=complete)))
    return [(item.rule, item.severity, item.reason, item.message) for item in missing]


def test_nothing_dangles_where_everything_is_there() -> None:
    """Or where nothing is referred to."""
    assert dangling_found(gateway_class(), gateway(), route(), service(), complete=True) == []
    assert dangling_found(resource("Gateway", "g", {}), resource("ListenerSet", "l", {}), complete=True) == []


def test_what_is_missing_is_an_error() -> None:
    """With the API's reason where it has one."""
    world = (gateway(), listener_set(parent="x"), route(parents=[parent("y")]))
    assert dangling_found(*world, complete=True) == [
        (
            "missing-reference",
            "error",
            "",
            "Gateway default/g: spec.gatewayClassName: GatewayClass public does not exist",
        ),
        ("missing-reference", "error", "", "ListenerSet default/ls: spec.parentRef: Gateway default/x does not exist"),
        (
            "missing-reference",
            "error",
            "NoMatchingParent",
            "HTTPRoute default/r: spec.parentRefs[0]: Gateway default/y does not exist",
        ),
        (
            "missing-reference",
            "error",
            "BackendNotFound",
            "HTTPRoute default/r: spec.rules[0].backendRefs[0]: Service default/s does not exist",
        ),
    ]


def test_what_was_not_read_is_worth_a_remark() -> None:
    """It may well exist."""
    assert dangling_found(route()) == [
        (
            "unknown-reference",
            "info",
            "",
            "HTTPRoute default/r: spec.parentRefs[0]: Gateway default/g is not in the input",
        ),
        (
            "unknown-reference",
            "info",
            "",
            "HTTPRoute default/r: spec.rules[0].backendRefs[0]: Service default/s is not in the input",
        ),
    ]


def test_a_missing_grant_is_an_error_of_its_own() -> None:
    """The diagnostic points at the field and at the object that may not be referred to."""
    world = route(parents=[], rules=[rule(backend(namespace="x"))])
    (only,) = dangling(Topology(index(world, service(namespace="x"), complete=True)))
    assert (only.rule, only.reason) == ("reference-not-permitted", "RefNotPermitted")
    assert (only.subject, only.field, only.origin) == (world.ref, "spec.rules[0].backendRefs[0]", ORIGIN)
    assert only.related == (ref("Service", "s", "x", ""),)


def test_one_object_may_be_asked_for_what_it_refers_to() -> None:
    """The same diagnostics as of the whole, for its own references; none for what refers to nothing or was not read."""
    world = (gateway(), listener_set(parent="x"), route(), service())
    topology = Topology(index(*world, complete=True))
    assert [item for dangling_found in world for item in dangling(topology, dangling_found.ref)] == list(
        dangling(topology)
    )
    assert dangling(topology, ref("HTTPRoute", "nowhere")) == ()


def test_every_certificate_of_a_listener_is_looked_for() -> None:
    """A missing Secret and one in a namespace that grants nothing; one that was not read is no problem."""
    references: list[Json] = [{"name": "absent"}, {"name": "wild", "namespace": "certs"}, "nonsense"]
    https = listener("https", "HTTPS", 443, tls={"mode": "Terminate", "certificateRefs": references})
    prefix = "Gateway default/g: spec.listeners[0].tls.certificateRefs"
    absent = f"{prefix}[0]: Secret default/absent"
    refused = (
        "reference-not-permitted",
        "error",
        "RefNotPermitted",
        f"{prefix}[1]: no ReferenceGrant in namespace certs lets Gateway default/g refer to Secret certs/wild",
    )
    assert dangling_found(gateway_class(), gateway("g", https), complete=True) == [
        ("missing-reference", "error", "InvalidCertificateRef", f"{absent} does not exist"),
        refused,
    ]
    assert dangling_found(gateway_class(), gateway("g", https)) == []


def test_a_certificate_whose_name_is_to_be_filled_in_is_unknown() -> None:
    """It may be there."""
    tls: Json = {"certificateRefs": [{"name": "${CERT}"}]}
    dangling_found = gateway("g", listener("https", "HTTPS", 443, tls=tls))
    missing = dangling(Topology(index(dangling_found, complete=True)), dangling_found.ref)
    assert [(problem.rule, problem.field) for problem in missing if "tls" in problem.field] == [
        ("unknown-reference", "spec.listeners[0].tls.certificateRefs[0]")
    ]


def test_unreadable_parent_refs_are_left_out_but_counted() -> None:
    """The position of a parentRef is its place in the list, so that a message can point at it."""
    found = resource("HTTPRoute", "r", {"parentRefs": ["g", {"kind": "Gateway"}, {"name": "g"}]})
    assert [parent.position for parent in parent_refs(index(found), found.ref)] == [2]


@pytest.mark.parametrize(
    ("reference", "expected"),
    [
        # Group and kind default to Gateway, the namespace to the route's own (ParentReference).
        ({"name": "g"}, ref("Gateway", "g", "baker")),
        # A group that is present and empty is the core group.
        ({"group": "", "kind": "Service", "name": "s"}, ref("Service", "s", "baker", group="")),
        # A cluster-scoped kind has no namespace, whatever the reference says.
        ({"kind": "GatewayClass", "name": "c", "namespace": "x"}, ref("GatewayClass", "c")),
    ],
)
def test_a_parent_ref(reference: dict[str, Json], expected: ObjectRef) -> None:
    found = resource(
        "HTTPRoute", "r", {"parentRefs": [{**reference, "sectionName": "l", "port": 80}]}, namespace="baker"
    )
    (parent,) = parent_refs(index(found), found.ref)
    assert (parent.object, parent.section, parent.port) == (expected, "l", 80)


def test_nameless_backends_are_left_out() -> None:
    """Nothing can be said of a backendRef, or of a mirror, without a name."""
    mirror: Json = {"type": "RequestMirror", "requestMirror": {"backendRef": {"port": 1}}}
    found = route(rules=[rule(backend(""), filters=[mirror])])
    assert list(backend_refs(index(found), found.ref)) == []


def test_references_of_filters_do_not_forward() -> None:
    """Mirrors and external authorizers, on a rule or on a backend, are found but carry no traffic of the hierarchy."""
    mirror: Json = {"requestMirror": {"backendRef": {"name": "m", "port": 1}}}
    auth: Json = {"externalAuth": {"backendRef": {"name": "a", "namespace": "x", "port": 2}}}
    found = route(rules=[rule(backend("s", filters=[mirror]), filters=[auth])])
    refs = list(backend_refs(index(found), found.ref))
    assert [(item.field, item.object.qualified_name, item.port, item.forwards) for item in refs] == [
        ("spec.rules[0].backendRefs[0]", "default/s", 8080, True),
        ("spec.rules[0].backendRefs[0].filters[0].requestMirror.backendRef", "default/m", 1, False),
        ("spec.rules[0].filters[0].externalAuth.backendRef", "x/a", 2, False),
    ]


def test_a_listener_set_may_name_no_gateway() -> None:
    """Its parent must be a Gateway with a name."""
    other = resource("ListenerSet", "ls", {"parentRef": {"kind": "Service", "group": "", "name": "s"}})
    nobody = resource("ListenerSet", "ls2", {"parentRef": "g"})
    assert parent_gateway(index(other), other.ref, other.raw) is None
    assert parent_gateway(index(nobody), nobody.ref, nobody.raw) is None


def test_a_listener_set_names_its_gateway() -> None:
    """In its own namespace unless it says otherwise."""
    here, there = listener_set(namespace="baker"), listener_set(parent_namespace="infra")
    assert parent_gateway(index(here), here.ref, here.raw) == gateway(namespace="baker").ref
    assert parent_gateway(index(there), there.ref, there.raw) == gateway(namespace="infra").ref


def test_ports_without_a_name_are_called_by_number() -> None:
    found = service("s", ("http", 80), 8080, {"name": "broken", "port": "81"})
    assert port_names(found.raw) == {80: "http", 8080: "8080"}


@pytest.mark.parametrize(("kind", "other"), [("HTTPRoute", "GRPCRoute"), ("GRPCRoute", "HTTPRoute"), ("TLSRoute", "")])
def test_filters_of_a_route(kind: str, other: str) -> None:
    """They are its own, whatever those of routes of other kinds are."""
    with_one = rule(filters=[names("f", "Filter")])
    found, without = route("a", rules=[with_one], kind=kind), route("b", kind=kind)
    more = [route("c", rules=[with_one], kind=other)] if other else []
    relations = Topology(index(found, without, *more)).relations
    assert [named.object.name for named in relations.filters_of(found.ref)] == (["f"] if other else [])
    assert relations.filters_of(without.ref) == ()


POOL = GroupKind("example.net", "Pool")


def test_layers_from_the_root_down() -> None:
    """A Namespace may stand above anything; what is not of the hierarchy is taken for a backend."""
    order = (NAMESPACE, GATEWAY_CLASS, GATEWAY, LISTENER_SETS[0], HTTP_ROUTE, SERVICE)
    assert all(layer_of(above) < layer_of(below) for above, below in pairwise(order))
    assert layer_of(POOL) == layer_of(SERVICE)


@pytest.mark.parametrize("kinds", [LISTENER_SETS, ROUTES], ids=["listener sets", "routes"])
def test_kinds_of_one_layer(kinds: tuple[GroupKind, ...]) -> None:
    assert len({layer_of(kind) for kind in kinds}) == 1


def test_depth_is_the_place_in_the_hierarchy() -> None:
    assert [depth_of(kind) for kind in HIERARCHY] == list(range(len(HIERARCHY)))
    assert depth_of(POOL) == depth_of(GroupKind(GATEWAY_API, "ReferenceGrant")) == len(HIERARCHY)
