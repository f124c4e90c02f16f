"""Ends of connections, the Pods behind Services and Gateways, and answers about the fixture with three tiers."""

from __future__ import annotations

from pathlib import Path
from typing import Final

import pytest

from kubectl_policy import Analysis, PolicyError, analyze, load_manifests
from kubectl_policy.errors import NotFoundError, UsageError
from kubectl_policy.model import GroupKind, Json, NodeRef, ObjectRef, Origin, Resource
from kubectl_policy.model.kind_roles import DEPLOYMENT, GATEWAY, NAMESPACE, POD, SERVICE
from kubectl_policy.network.kinds import CLUSTER_NETWORK_POLICY
from kubectl_policy.questions.connections.backend_connections import backend_connections
from kubectl_policy.questions.connections.connection import PortQuery, describe_connection, with_rule_lines
from kubectl_policy.questions.connections.endpoints import NamedEnd, end_at_address, end_of
from kubectl_policy.questions.connections.network_policy import describe_network_policy, policy_with_lines
from kubectl_policy.questions.connections.workload import describe_workload, workload_with_lines
from kubectl_policy.questions.describe.objects import describe
from kubectl_policy.topology.workloads.services import ServicePort, service_ports, services_of
from kubectl_policy.topology.workloads.workload import parse_address
from tests import build

FIXTURE: Final = Path(__file__).parents[3] / "fixtures" / "network-policies"
ROUTE: Final = GroupKind("gateway.networking.k8s.io", "HTTPRoute")


@pytest.fixture(scope="module")
def shop() -> Analysis:
    return analyze(load_manifests(sorted(FIXTURE.glob("*.yaml"))))


def names(analysis: Analysis, end: NamedEnd) -> list[str]:
    members = (position for position in range(len(analysis.workloads.all)) if end.members >> position & 1)
    return [workload.ref.name for workload in analysis.workloads.at(members)]


def pod(name: str, address: str = "", labels: dict[str, str] | None = None, **spec: Json) -> Resource:
    status: Json = {"podIPs": [{"ip": address}]} if address else None
    content: Json = {"containers": [{"ports": [{"containerPort": 8080, "name": "http"}]}], **spec}
    return build.resource("Pod", name, content, group="", labels=labels or {"app": name}, status=status)


def service(name: str, *ports: Json, **spec: Json) -> Resource:
    return build.resource("Service", name, {"ports": list(ports), **spec}, group="")


@pytest.mark.parametrize(
    ("ref", "expected"),
    [
        (ObjectRef(DEPLOYMENT, "shop", "web"), ["web"]),
        (ObjectRef(SERVICE, "shop", "cart"), ["cart"]),
        (ObjectRef(GATEWAY, "shop", "public"), ["envoy-shop-public"]),
        (ObjectRef(NAMESPACE, "", "shop"), ["cart", "debug", "web"]),
        (ObjectRef(POD, "shop", "debug"), ["debug"]),
    ],
)
def test_an_object_is_its_pods(shop: Analysis, ref: ObjectRef, expected: list[str]) -> None:
    assert names(shop, end_of(shop, ref)) == expected


@pytest.mark.parametrize(
    ("ref", "error", "message"),
    [
        (ObjectRef(ROUTE, "shop", "storefront"), UsageError, "has no connections"),
        (ObjectRef(SERVICE, "shop", "absent"), NotFoundError, "has no Pods in the input"),
        (ObjectRef(GATEWAY, "shop", "absent"), NotFoundError, "served by no Pod"),
        (ObjectRef(POD, "shop", "absent"), NotFoundError, "has no Pods in the input"),
        (ObjectRef(DEPLOYMENT, "nowhere", "web"), NotFoundError, "has no Pods in the input"),
    ],
)
def test_an_object_without_pods_is_no_end(
    shop: Analysis, ref: ObjectRef, error: type[PolicyError], message: str
) -> None:
    with pytest.raises(error, match=message):
        end_of(shop, ref)


def test_a_finished_pod_has_no_connections() -> None:
    done = build.resource("Pod", "job", {}, group="", status={"phase": "Succeeded"})
    with pytest.raises(NotFoundError, match="has ended \\(Succeeded\\)"):
        end_of(analyze(build.snapshot(done)), done.ref)


def test_a_controller_stands_for_its_pods() -> None:
    owner: Json = [{"apiVersion": "apps/v1", "kind": "StatefulSet", "name": "db", "controller": True}]
    made = build.resource("Pod", "db-0", {}, group="", labels={"app": "db"})
    raw = {**made.raw, "metadata": {**dict(made.raw["metadata"]), "ownerReferences": owner}}  # type: ignore[arg-type]
    owned = Resource(made.ref, made.origin, raw)
    analysis = analyze(build.snapshot(owned, pod("web")))
    assert names(analysis, end_of(analysis, ObjectRef(GroupKind("apps", "StatefulSet"), "default", "db"))) == ["db-0"]


def test_an_address_is_that_of_a_pod_or_service_if_one_has_it() -> None:
    web = service("web", {"port": 80}, clusterIP="10.96.0.1", selector={"app": "web"})
    analysis = analyze(build.snapshot(pod("web", "10.0.0.1"), web, service("other", clusterIP="10.96.0.2")))
    found = {}
    for text in ("10.0.0.1", "10.96.0.1", "8.8.8.8"):
        address = parse_address(text)
        assert address
        end = end_at_address(analysis, address)
        found[text] = (end.object.kind if end.object else None, end.address)
    assert found == {"10.0.0.1": ("Pod", ""), "10.96.0.1": ("Service", ""), "8.8.8.8": (None, "8.8.8.8")}


def test_ports_of_a_service() -> None:
    declared = service(
        "web", {"port": 80, "targetPort": "http"}, {"port": 81, "targetPort": 8081, "protocol": "UDP", "name": "u"},
        {"port": 82}, {"port": 83, "targetPort": True}, {"name": "no number"},
    )  # fmt: skip
    ports = service_ports(declared)
    assert ports == (
        ServicePort(80, "TCP", "", "http"),
        ServicePort(81, "UDP", "u", 8081),
        ServicePort(82, "TCP", "", 82),
        ServicePort(83, "TCP", "", 83),
    )
    analysis = analyze(build.snapshot(pod("web")))
    [workload] = analysis.workloads.all
    assert [port.numbers_at(workload) for port in ports] == [(8080,), (8081,), (82,), (83,)]


def test_a_service_without_a_selector_has_the_endpoints_of_its_slices() -> None:
    labels = {"kubernetes.io/service-name": "web"}
    endpoints: Json = [
        {"targetRef": {"name": "a"}, "addresses": ["nonsense"]},
        {"addresses": ["10.0.0.2"]},
    ]
    raw: dict[str, Json] = {
        "apiVersion": "discovery.k8s.io/v1",
        "kind": "EndpointSlice",
        "metadata": {"name": "web-1", "namespace": "default", "labels": labels},
        "endpoints": endpoints,
    }
    ref = ObjectRef(GroupKind("discovery.k8s.io", "EndpointSlice"), "default", "web-1")
    foreign = {**raw, "metadata": {"name": "x", "namespace": "default"}}
    slices = (
        Resource(ref, build.ORIGIN, raw),
        Resource(ObjectRef(ref.group_kind, "default", "x"), build.ORIGIN, foreign),
    )
    analysis = analyze(
        build.snapshot(
            pod("a", "10.0.0.1"), pod("b", "10.0.0.2"), pod("c", "10.0.0.3"), service("web", {"port": 80}), *slices
        )
    )
    assert names(analysis, end_of(analysis, ObjectRef(SERVICE, "default", "web"))) == ["a", "b"]
    assert [found.ref.name for found in services_of(analysis.workloads, 0)] == ["web"]
    assert services_of(analysis.workloads, 2) == ()


def test_a_gateway_is_served_by_pods_with_the_standard_label() -> None:
    proxy = pod("proxy", labels={"gateway.networking.k8s.io/gateway-name": "edge"})
    analysis = analyze(build.snapshot(build.gateway("edge"), proxy, pod("web")))
    assert names(analysis, end_of(analysis, build.gateway("edge").ref)) == ["proxy"]


@pytest.mark.parametrize(
    ("text", "expected"),
    [("80", (80, None)), ("53/udp", (53, "UDP")), ("http", ("http", None)), ("http/TCP", ("http", "TCP"))],
)
def test_a_port_is_parsed(text: str, expected: tuple[object, object]) -> None:
    query = PortQuery.parse(text)
    assert (query.port, query.protocol) == expected


@pytest.mark.parametrize("text", ["", "/TCP", "80/ICMP", "0", "70000", "80/"])
def test_what_is_no_port_is_refused(text: str) -> None:
    with pytest.raises(UsageError, match="is no port"):
        PortQuery.parse(text)


def test_a_connection_to_a_service_is_one_to_the_port_of_its_pods(shop: Analysis) -> None:
    ends = end_of(shop, ObjectRef(DEPLOYMENT, "shop", "cart")), end_of(shop, ObjectRef(SERVICE, "data", "orders"))
    answer = describe_connection(shop, *ends, None)
    [checked] = answer.connections
    assert (answer.allowed, answer.found_nothing, checked.verdict.port) == (True, False, 5432)
    located = with_rule_lines(answer, lambda _, field: Origin(field, 7))
    ingress = located.connections[0].verdict.ingress
    assert ingress
    assert [str(rule.origin) for rule in ingress.deciding] == ["spec.ingress[0]:7"]
    assert [rule.policy.policy.name for rule in ingress.passing] == ["restricted"]
    assert [rule.policy.policy.name for rule in ingress.others] == ["between-namespaces"]
    with pytest.raises(UsageError, match="Service data/orders has no port 81"):
        describe_connection(shop, *ends, PortQuery(81))


def test_without_declared_ports_the_open_ones_are_the_answer(shop: Analysis) -> None:
    ends = end_of(shop, ObjectRef(DEPLOYMENT, "shop", "web")), end_of(shop, ObjectRef(POD, "shop", "debug"))
    answer = describe_connection(shop, *ends, None)
    assert (answer.connections, answer.allowed, answer.found_nothing) == ((), False, False)


def test_a_pod_reaches_itself(shop: Analysis) -> None:
    debug = end_of(shop, ObjectRef(POD, "shop", "debug"))
    [checked] = describe_connection(shop, debug, debug, PortQuery(80)).connections
    assert (checked.verdict.allowed, checked.verdict.ingress and checked.verdict.ingress.deciding) == (True, ())


def test_what_lets_requests_of_a_gateway_through(shop: Analysis) -> None:
    answer = describe(shop, NodeRef(ObjectRef(ROUTE, "shop", "storefront")))
    assert [(str(found.backend.object), found.allowed) for found in answer.backend_connections] == [
        ("Service shop/web", True),
        ("Service shop/cart", False),
    ]


def test_nothing_is_said_of_gateways_without_pods_or_policies(shop: Analysis) -> None:
    node = NodeRef(ObjectRef(SERVICE, "shop", "web"))
    paths = shop.topology.paths_through(node)
    gateway = NodeRef(ObjectRef(GATEWAY, "shop", "public"))
    assert tuple(backend_connections(shop, gateway, paths)) == ()
    assert tuple(backend_connections(analyze(build.snapshot()), node, paths)) == ()
    # A backend that is no Service, and one that was not read.
    assert (
        tuple(backend_connections(shop, node, [(gateway,), (gateway, NodeRef(ObjectRef(SERVICE, "shop", "x")))])) == ()
    )


def test_a_workload_by_the_lines_of_its_rules(shop: Analysis) -> None:
    cart = ObjectRef(DEPLOYMENT, "shop", "cart")
    answer = describe_workload(shop, cart, end_of(shop, cart).members)
    assert [policy.name for policy in answer.policies] == ["monitoring", "cart", "isolate", "between-namespaces"]
    assert (answer.host_network, [str(ref) for ref in answer.services]) == (False, ["Service shop/cart"])
    located = workload_with_lines(answer, lambda _, field: Origin(field, 7))
    rules = [opened.rule for part in located.directions for opened in part.opens]
    assert [str(rule.origin) for rule in rules if rule] == [
        "spec.ingress[0]:7", "spec.ingress[0]:7", "spec.egress[0]:7", "spec.egress[0]:7",
    ]  # fmt: skip


def test_a_policy_by_the_lines_of_its_rules(shop: Analysis) -> None:
    answer = describe_network_policy(shop, ObjectRef(CLUSTER_NETWORK_POLICY, "", "restricted"))
    assert ([str(ref) for ref in answer.selects], answer.found_nothing) == (["StatefulSet data/orders"], False)
    assert [entry.decides_for for entry in answer.rules] == [1, 1]
    located = policy_with_lines(answer, lambda _, field: Origin(field, 7))
    assert [str(entry.rule.origin) for entry in located.rules] == ["spec.ingress[0]:7", "spec.ingress[1]:7"]
    with pytest.raises(NotFoundError):
        describe_network_policy(shop, ObjectRef(CLUSTER_NETWORK_POLICY, "", "absent"))
