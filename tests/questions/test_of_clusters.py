"""What questions ask of a cluster, of which nothing is known before: as little as answers need."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

import pytest

from kubectl_policy import load_manifests
from kubectl_policy.analysis import Analysis
from kubectl_policy.errors import NotFoundError
from kubectl_policy.model import NodeRef, ObjectRef, Snapshot
from kubectl_policy.model.kind_roles import GRPC_ROUTE, HTTP_ROUTE, SERVICE
from kubectl_policy.model.kinds import POLICY_LABEL
from kubectl_policy.questions.blast_radius import blast_radius
from kubectl_policy.questions.describe.objects import ObjectDescription, describe
from kubectl_policy.questions.describe.policies import describe_policy
from kubectl_policy.questions.shared.selection import find
from kubectl_policy.sources.cluster.world import Query
from tests import build
from tests.asking import Asked, everything


def describing(type_name: str, name: str, namespace: str) -> Callable[[Analysis], ObjectDescription]:
    """The question what affects an object, by the name that a person gives it."""
    return lambda analysis: describe(analysis, NodeRef(find(analysis, type_name, name, namespace)))


def asks(snapshot: Snapshot, namespace: str, question: Callable[[Analysis], object]) -> list[Query]:
    """What is asked of a cluster for an answer, which is the one that everything in it would give."""
    cluster = Asked(snapshot, namespace)
    assert cluster.answer(question) == question(everything(snapshot))
    return cluster.asks


def test_one_route_takes_no_list_of_routes() -> None:
    asked = asks(load_manifests("fixtures/bakery"), "baker", describing("httproute", "baker", "baker"))
    assert not [ask for ask in asked if ask.kind in {HTTP_ROUTE, GRPC_ROUTE} and not ask.name]


def test_a_service_takes_all_routes() -> None:
    asked = asks(load_manifests("fixtures/bakery"), "baker", describing("service", "oven", "baker"))
    assert {HTTP_ROUTE, GRPC_ROUTE} <= {ask.kind for ask in asked if not ask.name}


@pytest.mark.parametrize("name", ["menu", "ghost"])
def test_what_is_not_there_is_looked_for_once(name: str) -> None:
    snapshot = load_manifests("fixtures/bakery")
    cluster, question = Asked(snapshot, "pastry"), describing("httproute", name, "pastry")
    found = cluster.answer(question)
    assert isinstance(found, NotFoundError)
    with pytest.raises(NotFoundError) as expected:
        question(everything(snapshot))
    assert (found.message, found.hint) == (expected.value.message, expected.value.hint)


def test_an_object_by_its_reference_is_waited_for() -> None:
    oven = NodeRef(ObjectRef(SERVICE, "baker", "oven"))
    asks(load_manifests("fixtures/bakery"), "baker", lambda analysis: describe(analysis, oven))


def test_a_route_without_parents_may_be_delegated_to() -> None:
    snapshot = load_manifests("fixtures/kgateway")
    routes = (each for each in snapshot.resources if each.ref.group_kind == HTTP_ROUTE)
    route = next(each.ref for each in routes if "parentRefs" not in str(each.raw["spec"]))
    asked = asks(snapshot, route.namespace, lambda analysis: describe(analysis, NodeRef(route)))
    assert HTTP_ROUTE in {ask.kind for ask in asked if not ask.name}


def test_what_a_gateway_names_as_its_parameters_may_be_a_policy() -> None:
    asks(load_manifests("fixtures/nginx-gateway-fabric"), "platform", describing("gateway", "press", "platform"))


def test_filters_of_other_routes_have_no_part_in_the_answer() -> None:
    snapshot = load_manifests("fixtures/kgateway")
    for route in [each.ref for each in snapshot.resources if each.ref.group_kind == HTTP_ROUTE]:
        asks(snapshot, route.namespace, partial(describe, subject=NodeRef(route)))


@pytest.mark.parametrize(
    ("type_name", "name"), [("retrypolicy", "resilience"), ("httproute", "menu"), ("service", "till")]
)
def test_a_deletion_is_worked_out_on_what_was_read(type_name: str, name: str) -> None:
    def question(analysis: Analysis) -> object:
        return blast_radius(analysis, find(analysis, type_name, name, "baker"))

    asks(load_manifests("fixtures/bakery"), "baker", question)


def coloured() -> Snapshot:
    """Routes with a policy each, which says the names of a Namespace and of a Service in fields of the same names."""
    numbers = range(4)
    return build.snapshot(
        build.crd("ColorPolicy", labels={POLICY_LABEL: "inherited"}),
        build.namespace("default"),
        build.gateway(),
        build.service("backend"),
        *(build.route(f"r{number}", rules=[build.rule(build.backend("backend"))]) for number in numbers),
        *(
            build.policy(f"p{number}", build.target(f"r{number}", "HTTPRoute"), default={"backend": number})
            for number in numbers
        ),
        complete=True,
    )


def test_targets_of_policies_on_other_objects_are_not_asked_for() -> None:
    policy = build.ref("ColorPolicy", "p1", group="example.com")
    asked = asks(coloured(), "default", describing("httproute", "r1", "default"))
    assert {ask.name for ask in asked if ask.kind == HTTP_ROUTE} == {"r1"}
    asked = asks(coloured(), "default", lambda analysis: describe_policy(analysis, policy))
    assert {ask.name for ask in asked if ask.kind == HTTP_ROUTE} == {"r1"}
