"""What the backendRefs of a route resolve to."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from kubectl_policy.model import Gap
from kubectl_policy.topology import Implementation, Topology
from tests.build import backend, crd, grant, index, node, resource, route, rule, service

if TYPE_CHECKING:
    from kubectl_policy.model import Json, Resource
    from kubectl_policy.topology.backends import Backend


def resolve(
    reference: dict[str, Json], *others: Resource, complete: bool = True, gaps: tuple[Gap, ...] = ()
) -> Backend:
    """What the only backendRef of a route comes to."""
    found = route(rules=[rule(reference)])
    world = index(found, *others, complete=complete, gaps=gaps)
    (only,) = Topology(world).backends(found.ref)
    return only


@pytest.mark.parametrize(
    ("reference", "reason", "message"),
    [
        (backend(kind="Deployment", group="apps"), "InvalidKind", "a Deployment.apps cannot be a backend"),
        (backend(kind="Nothing"), "InvalidKind", "a Nothing cannot be a backend"),
        (backend(kind="Bucket", group="x.io"), "InvalidKind", "a Bucket.x.io cannot be a backend"),
        (
            backend(namespace="x"),
            "RefNotPermitted",
            "no ReferenceGrant in namespace x lets HTTPRoute default/r refer to Service x/s",
        ),
        (backend("t"), "BackendNotFound", "Service default/t does not exist"),
        (backend("s", 81), "BackendNotFound", "Service default/s has no port 81"),
        (backend("s", None), "BackendNotFound", "it names no port of Service default/s"),
    ],
)
def test_a_broken_reference_says_why(reference: dict[str, Json], reason: str, message: str) -> None:
    """The kind is looked at first, then the grant, then the object, then its port."""
    found = resolve(reference, service("s"))
    assert (found.state, found.reason, found.message) == ("broken", reason, message)


def test_what_was_not_read_is_unknown() -> None:
    """In an open world neither a Service nor a kind can be said to be missing."""
    found = resolve(backend(), complete=False)
    assert (found.state, found.reason, found.message) == ("unknown", "", "Service default/s is not in the input")
    assert resolve(backend(kind="Bucket", group="x.io"), complete=False).state == "unknown"


def test_unseen_grants_are_a_doubt() -> None:
    """They may permit the reference."""
    found = resolve(backend(namespace="x"), gaps=(Gap("ReferenceGrant", "", "forbidden"),))
    message = "whether Service x/s may be referred to is unknown: no ReferenceGrant in the input says so"
    assert (found.state, found.message) == ("unknown", message)


def test_a_backend_with_a_port_is_that_port() -> None:
    """Without one that it has, the node is the whole object."""
    assert resolve(backend("s", 80), service("s", ("http", 80))).node == node("Service", "s", "http", group="")
    assert resolve(backend("s", 81), service("s", ("http", 80))).node == node("Service", "s", group="")


def test_a_grant_lets_a_reference_leave_its_namespace() -> None:
    """Then the Service is looked up where it is."""
    found = resolve(backend(namespace="x"), service("s", namespace="x"), grant(namespace="x"))
    assert (found.state, found.node) == ("resolved", node("Service", "s", "8080", "x", ""))


@pytest.mark.parametrize("definition", [True, False])
def test_other_kinds_need_no_port(*, definition: bool) -> None:
    """A kind that an API serves, or of which an object was read, may be a backend of an implementation."""
    bucket = resource("Bucket", "b", group="x.io")
    found = resolve(
        backend("b", None, kind="Bucket", group="x.io"), bucket, *([crd("Bucket", "x.io")] if definition else [])
    )
    assert (found.state, found.node) == ("resolved", node("Bucket", "b", group="x.io"))


@pytest.mark.parametrize(
    ("protocol", "state"), [("kubernetes.io/h2c", "broken"), ("http", "resolved"), (None, "resolved")]
)
def test_an_app_protocol_may_not_be_supported(protocol: str | None, state: str) -> None:
    """By the features that the settings leave out (RouteReasonUnsupportedProtocol)."""
    found = route()
    world = index(found, service("s", {"port": 8080, "appProtocol": protocol}))
    implementation = Implementation(frozenset({"HTTPRouteBackendProtocolH2C"}))
    (only,) = Topology(world, implementation).backends(found.ref)
    assert only.state == state
    assert only.reason == ("UnsupportedProtocol" if state == "broken" else "")


@pytest.mark.parametrize(
    ("reference", "port", "message"),
    [
        (backend() | {"port": "${P}"}, 8080, "which port of Service default/s ${P} is cannot be known yet"),
        (backend(), "${P}", "which port of Service default/s 8080 is cannot be known yet"),
        (backend(kind="${K}"), 8080, "what kind of object ${K} default/s is cannot be known yet"),
        (backend(group="{{ .G }}"), 8080, "what kind of object Service default/s is cannot be known yet"),
    ],
)
def test_what_is_to_be_filled_in_is_unknown(reference: dict[str, Json], port: Json, message: str) -> None:
    """Whatever decides: the kind, or the port on either side."""
    found = resolve(reference, service("s", {"port": port}))
    assert (found.state, found.reason, found.message) == ("unknown", "", message)


def test_equal_placeholders_are_equal() -> None:
    """As for names."""
    found = resolve(backend() | {"port": "${P}"}, service("s", {"name": "web", "port": "${P}"}))
    assert (found.state, found.node.section) == ("resolved", "web")
