"""What questions ask of a world or a cluster, and which objects they decode: no more than has a part in the answer."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Mapping
from functools import cache, partial
from io import StringIO
from pathlib import Path
from typing import Any, Final

import pytest
from msgspec.structs import replace

from bench.worlds import one_gateway
from kubectl_policy import analyze, load_manifests
from kubectl_policy.analysis import Analysis
from kubectl_policy.cli.call import CommandCall
from kubectl_policy.cli.commands.changes import BLAST_RADIUS
from kubectl_policy.cli.commands.explain import EXPLANATION
from kubectl_policy.cli.commands.why_not import WHY_NOT
from kubectl_policy.cli.describing import OBJECT_DESCRIPTION
from kubectl_policy.errors import NotFoundError
from kubectl_policy.model import GroupKind, NodeRef, ObjectRef, Snapshot
from kubectl_policy.model.kind_roles import GRPC_ROUTE, HTTP_ROUTE, SERVICE
from kubectl_policy.model.kinds import POLICY_LABEL
from kubectl_policy.model.world import world_of
from kubectl_policy.questions.blast_radius import blast_radius
from kubectl_policy.questions.describe.objects import ObjectDescription, describe
from kubectl_policy.questions.describe.policies import describe_policy
from kubectl_policy.questions.explain import explain
from kubectl_policy.questions.shared.selection import find
from kubectl_policy.questions.why_not.answer import why_not
from kubectl_policy.render.output.formats import Renderers
from kubectl_policy.sources.cluster.world import Query
from tests import build
from tests.asking import Asked, everything
from tests.crowded import IMPLEMENTATIONS, TEAM, Implementation, world
from tests.fakes import RecordingWorld, decoded, deferred

Question = Callable[[Analysis, Implementation], tuple[Renderers[Any], object]]


# So many objects are enough to tell what grows; two worlds are larger.
SIZES: Final = dict.fromkeys(IMPLEMENTATIONS, (400, 700)) | dict.fromkeys(("unknown", "istio"), (1_000, 10_000))


def _describe(type_name: str, name: str) -> Question:
    def ask(analysis: Analysis, _: Implementation) -> tuple[Renderers[Any], object]:
        return OBJECT_DESCRIPTION, describe(analysis, NodeRef(find(analysis, type_name, name, TEAM)))

    return ask


def _explain(analysis: Analysis, implementation: Implementation) -> tuple[Renderers[Any], object]:
    return EXPLANATION, explain(analysis, implementation.kind)


def _why_not(analysis: Analysis, implementation: Implementation) -> tuple[Renderers[Any], object]:
    type_name, _, name = implementation.elsewhere.partition("/")
    policy = find(analysis, type_name, name, TEAM)
    return WHY_NOT, why_not(analysis, policy, NodeRef(find(analysis, "httproute", "web", TEAM)))


def _blast_radius(analysis: Analysis, _: Implementation) -> tuple[Renderers[Any], object]:
    return BLAST_RADIUS, blast_radius(analysis, find(analysis, "httproute", "web", TEAM))


QUESTIONS: Final[Mapping[str, Question]] = {
    "describe httproute": _describe("httproute", "web"),
    "describe gateway": _describe("gateway", "edge"),
    "describe service": _describe("service", "web"),
    "describe namespace": _describe("namespace", TEAM),
    "explain": _explain,
    "why-not": _why_not,
    "blast-radius": _blast_radius,
}
# Whether routes fail for a policy, or are refused for what they share with others, is known of all of them; and what
# policies of a kind target is told of all of these.
WIDE: Final = {
    *(("blast-radius", name) for name in ("envoy-gateway", "kgateway", "nginx-gateway-fabric")),
    *(("explain", name) for name in IMPLEMENTATIONS),
}
CASES: Final = [(question, name) for question in QUESTIONS for name in IMPLEMENTATIONS if (question, name) not in WIDE]
_world = cache(world)
ROOT: Final = Path(__file__).parent.parent.parent
QUOTED: Final = re.compile("`([^`]*)`")


def _decoded(snapshot: Snapshot, question: str, implementation: Implementation) -> Counter[GroupKind]:
    """How many objects of each kind are decoded to answer a question, and to show the answer as text and as JSON."""
    resources = deferred(snapshot.resources)
    _answer(replace(snapshot, resources=resources), question, implementation)
    return decoded(resources)


def _answer(snapshot: Snapshot, question: str, implementation: Implementation) -> None:
    analysis = analyze(snapshot)
    renderers, answer = QUESTIONS[question](analysis, implementation)
    for output in ("tree", "json"):
        CommandCall(output=output).show(renderers, answer, analysis)


@pytest.mark.unmeasured
@pytest.mark.usefixtures("capsys")
@pytest.mark.parametrize(("question", "name"), CASES)
def test_objects_of_teams_that_have_nothing_to_do_with_it_are_not_decoded(question: str, name: str) -> None:
    implementation = IMPLEMENTATIONS[name]
    few, many = (_decoded(_world(name, size), question, implementation) for size in SIZES[name])
    assert few == many


@pytest.mark.usefixtures("capsys")
@pytest.mark.parametrize("name", ["unknown", "envoy-gateway", "kgateway", "kuadrant"])
@pytest.mark.parametrize("question", ["describe httproute", "describe service"])
def test_other_routes_on_the_same_gateway_are_not_decoded(question: str, name: str) -> None:
    """Nor are their backends and their policies, where these take part in nothing by all that they are.

    NGINX Gateway Fabric refuses policies of routes that share requests with others, and whether some of Istio's
    policies are attached is not computed: there, such routes and policies do bear on the answer.
    """
    implementation = IMPLEMENTATIONS[name]
    snapshots = (_world(name, size, neighbours=True) for size in (500, 800))
    few, many = (_decoded(snapshot, question, implementation) for snapshot in snapshots)
    assert few == many


@pytest.mark.usefixtures("capsys")
def test_of_other_routes_few_are_read_to_delete_one() -> None:
    """Which of them are there, and what else may answer for its hostname, is known by what is written in them.

    Of those without a policy of their own, one is read. Only where the route had one that beat the Gateway's, all that
    beat it are told, and the routes that have them are read.
    """
    snapshots = [load_manifests("-", stdin=StringIO("---\n".join(one_gateway(size)))) for size in (1_000, 2_000)]

    def read(name: str) -> list[int]:
        numbers: list[int] = []
        for snapshot in snapshots:
            resources = deferred(snapshot.resources)
            analysis = analyze(replace(snapshot, resources=resources))
            CommandCall(output="tree").show(
                BLAST_RADIUS, blast_radius(analysis, find(analysis, "httproute", name, "team")), analysis
            )
            numbers.append(decoded(resources)[HTTP_ROUTE])
        return numbers

    few, many = read("route-1")
    assert few == many
    few, many = read("route-0")
    assert many - few == (2_000 - 1_000) / 10


def test_what_is_asked_for_to_describe_a_route_is_in_the_documentation(capsys: pytest.CaptureFixture[str]) -> None:
    snapshot = _world("unknown", 500)
    asked = RecordingWorld(world_of(snapshot.resources))
    _answer(replace(snapshot, resources=asked), "describe httproute", IMPLEMENTATIONS["unknown"])
    assert "HTTPRoute shop/web" in capsys.readouterr().out
    found: dict[str, set[str]] = {}
    for question, kind in (*asked.given, *asked.named):
        found.setdefault(kind.kind if kind else "", set()).add(question)
    table = (ROOT / "docs" / "architecture.md").read_text("utf-8").partition("<!-- asked -->")[2]
    rows = [row.strip("| ").split(" | ") for row in table.partition("<!-- end of what is asked -->")[0].splitlines()]
    documented = {
        kind: {*QUOTED.findall(row[1])} for row in rows if len(row) > 1 for kind in QUOTED.findall(row[0]) or [""]
    }
    assert {kind: questions for kind, questions in documented.items() if questions} == found


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
