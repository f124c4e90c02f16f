"""References of Gateways and routes, and the kinds of the hierarchy."""

from __future__ import annotations

from itertools import pairwise

import pytest

from kubectl_policy.model import GroupKind, Json, ObjectRef
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
from tests.build import backend, gateway, index, listener_set, names, ref, resource, route, rule, service


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
