"""Tests of `topology/workloads/workload.py`."""

from __future__ import annotations

import pytest

from kubectl_policy.model import Json, Resource
from kubectl_policy.topology.workloads.workload import ContainerPort, from_number, parse_address, workload_of
from tests import build
from tests.topology.workloads.worlds import controller, pod

HTTP: Json = {"name": "http", "containerPort": 8080}


def container(*ports: Json, **fields: Json) -> Json:
    return {"name": "c", "ports": ports, **fields}


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("", None),
        ("localhost", None),
        ("10.0.0", None),
        ("10.0.0.01", None),
        ("10.0.0.0/8", None),
        ("10.0.0.1\x1b[31m", None),
        # A zone may hold any characters.
        ("fe80::1%eth0", None),
        ("fe80::1%\x1b[31m", None),
        ("10.0.0.1", "10.0.0.1"),
        ("FD00:0::1", "fd00::1"),
        ("::ffff:10.0.0.1", "10.0.0.1"),
    ],
)
def test_addresses_are_read_as_the_api_reads_them(text: str, expected: str | None) -> None:
    address = parse_address(text)
    assert (address and str(address)) == expected


def test_addresses_from_numbers() -> None:
    assert [str(from_number(version, 1)) for version in (4, 6)] == ["0.0.0.1", "::1"]


@pytest.mark.parametrize(
    ("status", "expected"),
    [
        ({}, []),
        ({"podIP": 7, "podIPs": "10.0.0.1"}, []),
        ({"podIPs": [None, {}, {"ip": 7}, {"ip": "x"}]}, []),
        ({"podIP": "10.0.0.1"}, ["10.0.0.1"]),
        ({"podIP": "10.0.0.1", "podIPs": [{"ip": "10.0.0.1"}, {"ip": "fd00::1"}]}, ["10.0.0.1", "fd00::1"]),
    ],
)
def test_addresses_of_a_pod(status: dict[str, Json], expected: list[str]) -> None:
    assert [str(address) for address in workload_of(pod("p", status=status)).addresses] == expected
    at_host = {key.replace("pod", "host"): value for key, value in status.items()}
    assert [str(address) for address in workload_of(pod("p", status=at_host)).host_addresses] == expected


def test_a_controller_has_neither_address_nor_node() -> None:
    deployment = controller("Deployment", "d", {"app": "a"})
    raw = {**deployment.raw, "status": {"podIP": "10.0.0.1"}, "spec": {"template": {"spec": {"nodeName": "n"}}}}
    workload = workload_of(Resource(deployment.ref, deployment.origin, raw))
    assert (workload.addresses, workload.host_addresses, workload.node, workload.is_pod) == ((), (), "", False)


@pytest.mark.parametrize(
    ("spec", "expected"),
    [
        ({}, []),
        ({"containers": "c"}, []),
        ({"containers": [None, container(None, "http", {"containerPort": "80"}, {"containerPort": True})]}, []),
        ({"containers": [container(HTTP)]}, [ContainerPort(8080, "TCP", "http")]),
        # Init containers have ended when the Pod serves, but for sidecars.
        ({"initContainers": [container(HTTP)]}, []),
        ({"initContainers": [container(HTTP, restartPolicy="OnFailure")]}, []),
        ({"initContainers": [container(HTTP, restartPolicy="Always")]}, [ContainerPort(8080, "TCP", "http")]),
        ({"ephemeralContainers": [container(HTTP)]}, []),
        (
            {"containers": [container({"containerPort": 53, "protocol": "UDP"}), container({"containerPort": 9})]},
            [ContainerPort(53, "UDP"), ContainerPort(9, "TCP")],
        ),
    ],
)
def test_ports_of_a_pod(spec: dict[str, Json], expected: list[ContainerPort]) -> None:
    assert list(workload_of(build.resource("Pod", "p", spec, group="")).ports) == expected


DNS = workload_of(
    pod(
        "p",
        containers=[
            container({"name": "dns", "containerPort": 53}, {"name": "dns", "containerPort": 53, "protocol": "UDP"}),
            container({"name": "dns", "containerPort": 5353}, {"name": "open", "containerPort": "${PORT}"}),
            container({"name": "${NAME}", "containerPort": 1, "protocol": "UDP"}, {"containerPort": 2}),
        ],
    )
)


@pytest.mark.parametrize(
    ("name", "protocol", "expected"),
    [
        ("http", None, set()),
        ("", None, {("TCP", 2)}),
        ("open", None, set()),
        ("dns", "SCTP", set()),
        ("dns", "UDP", {("UDP", 53)}),
        ("dns", None, {("TCP", 53), ("TCP", 5353), ("UDP", 53)}),
    ],
)
def test_ports_with_a_name(name: str, protocol: str | None, expected: set[tuple[str, int]]) -> None:
    assert DNS.named_ports(name, protocol) == expected


@pytest.mark.parametrize(("name", "expected"), [("dns", {"UDP"}), ("open", {"TCP", "UDP"})])
def test_ports_that_may_have_a_name(name: str, expected: set[str]) -> None:
    assert DNS.open_ports(name) == expected
    assert DNS.port_names == {"dns", "open", "${NAME}"}


def ended(kind: str, *conditions: Json, group: str = "batch") -> Resource:
    return build.resource(kind, "x", group=group, status={"conditions": conditions})


@pytest.mark.parametrize(
    ("resource", "expected"),
    [
        (pod("p"), False),
        (pod("p", status={"phase": "Running"}), False),
        (pod("p", status={"phase": "Unknown"}), False),
        (pod("p", status={"phase": ["Failed"]}), False),
        (pod("p", status={"phase": "Failed"}), True),
        (pod("p", status={"phase": "Succeeded"}), True),
        (controller("Job", "j"), False),
        (ended("Job", None, {"type": "Complete"}), False),
        (
            ended("Job", {"type": "Failed", "status": "False"}),
            False,
        ),
        (
            ended("Job", {"type": "Failed", "status": "True"}),
            True,
        ),
        (
            build.resource(
                "Deployment", "d", group="apps", status={"conditions": [{"type": "Failed", "status": "True"}]}
            ),
            False,
        ),
    ],
)
def test_what_has_ended(resource: Resource, expected: bool) -> None:  # noqa: FBT001 (a case)
    assert workload_of(resource).is_finished is expected


@pytest.mark.parametrize("value", [None, False, "true", "${HOST}", 1, []])
def test_a_pod_has_its_own_network(value: Json) -> None:
    assert not workload_of(pod("p", hostNetwork=value)).is_on_host_network


@pytest.mark.parametrize("kind", ["Deployment", "StatefulSet", "DaemonSet", "ReplicaSet", "Job", "CronJob"])
def test_the_template_of_a_controller(kind: str) -> None:
    built = controller(kind, "x", {"app": "a", "number": 1})
    assert workload_of(built).labels == {"app": "a"}
    spec: Json = {"template": {"spec": {"hostNetwork": True, "containers": [container(HTTP)]}}}
    spec = {"jobTemplate": {"spec": spec}} if kind == "CronJob" else spec
    on_node = workload_of(Resource(built.ref, built.origin, {**built.raw, "spec": spec}))
    assert on_node.is_on_host_network
    assert [port.number for port in on_node.ports] == [8080]
    # Not what the controller itself says.
    assert not workload_of(Resource(built.ref, built.origin, {"spec": {"hostNetwork": True}})).is_on_host_network


def test_a_pod_on_its_node() -> None:
    workload = workload_of(pod("p", nodeName="node-1", hostNetwork=True))
    assert (workload.is_pod, workload.node, workload.is_on_host_network) == (True, "node-1", True)
