"""Whatever the shape of the input, the topology answers, and the same in every order."""

from __future__ import annotations

from collections.abc import Sequence
from random import Random

from hypothesis import given
from hypothesis import strategies as st

from kubectl_policy.model import Json, ObjectRef, Resource
from kubectl_policy.topology import (
    Topology,
    backend_tls_conditions,
    gateway_class_conditions,
    gateway_conditions,
    listener_conditions,
    listener_set_conditions,
    route_conditions,
)
from tests.build import dangling, index, resource, wrong_shapes

KINDS = (
    "GatewayClass",
    "Gateway",
    "ListenerSet",
    "HTTPRoute",
    "TLSRoute",
    "Service",
    "ReferenceGrant",
    "BackendTLSPolicy",
)
# The names of fields that the topology reads, so that what is generated is not thrown away at the first look.
FIELDS = (
    *("name", "kind", "group", "namespace", "sectionName", "port", "parentRef", "parentRefs", "targetRefs"),
    *("listeners", "protocol", "hostname", "hostnames", "tls", "mode", "certificateRefs", "frontend", "addresses"),
    *("allowedRoutes", "allowedListeners", "namespaces", "from", "to", "selector", "kinds", "gatewayClassName"),
    *("rules", "backendRefs", "filters", "requestMirror", "backendRef", "ports", "validation", "caCertificateRefs"),
)
TEXTS = ("g", "Gateway", "Service", "", "All", "Selector", "HTTP", "TLS", "*.a.org")
VALUES: st.SearchStrategy[Json] = st.sampled_from((*TEXTS, 80, -1, 1.5, True, None))


def _nested(inner: st.SearchStrategy[Json]) -> st.SearchStrategy[Json]:
    return st.one_of(st.lists(inner, max_size=3), st.dictionaries(st.sampled_from(FIELDS), inner, max_size=5))


SPECS: st.SearchStrategy[Json] = st.recursive(VALUES, _nested, max_leaves=25)


def _object(kind: str, name: str, spec: Json) -> Resource:
    return resource(kind, name, spec, group=_group(kind))


def _ref(found: Resource) -> ObjectRef:
    return found.ref


OBJECTS: st.SearchStrategy[Resource] = st.builds(_object, st.sampled_from(KINDS), st.sampled_from(("g", "h")), SPECS)
WORLDS: st.SearchStrategy[list[Resource]] = st.lists(OBJECTS, max_size=5, unique_by=_ref)


def _group(kind: str) -> str:
    return "" if kind == "Service" else "gateway.networking.k8s.io"


def everything(world: Sequence[Resource], *, complete: bool) -> object:
    topology = Topology(index(*world, complete=complete))
    refs = sorted(found.ref for found in world)
    return (
        topology.nodes,
        topology.edges,
        dangling(topology),
        topology.cycles(),
        wrong_shapes(topology.index),
        [
            (topology.paths(node), topology.paths_through(node), listener_conditions(topology.gateways, node))
            for node in topology.nodes
        ],
        [
            (
                gateway_class_conditions(topology.gateways, ref),
                gateway_conditions(topology.gateways, ref),
                listener_set_conditions(topology.gateways, ref),
                route_conditions(topology, ref, 0),
                backend_tls_conditions(topology, ref),
                topology.bindings(ref),
            )
            for ref in refs
        ],
    )


@given(world=WORLDS, complete=st.booleans(), random=st.randoms(use_true_random=False))
def test_any_input_is_answered_in_any_order(world: list[Resource], *, complete: bool, random: Random) -> None:
    """No shape raises, and shuffled documents give the same answers."""
    shuffled = list(world)
    random.shuffle(shuffled)
    assert everything(world, complete=complete) == everything(shuffled, complete=complete)
