"""References that lead nowhere."""

from __future__ import annotations

from typing import TYPE_CHECKING

from kubectl_policy.topology import Topology
from tests.build import (
    ORIGIN,
    backend,
    dangling,
    gateway,
    gateway_class,
    index,
    listener,
    listener_set,
    parent,
    ref,
    resource,
    route,
    rule,
    service,
)

if TYPE_CHECKING:
    from kubectl_policy.model import Json, Resource


def found(*resources: Resource, complete: bool = False) -> list[tuple[str, str, str, str]]:
    """Rule, severity, reason and message of each dangling reference."""
    missing = dangling(Topology(index(*resources, complete=complete)))
    return [(item.rule, item.severity, item.reason, item.message) for item in missing]


def test_nothing_dangles_where_everything_is_there() -> None:
    """Or where nothing is referred to."""
    assert found(gateway_class(), gateway(), route(), service(), complete=True) == []
    assert found(resource("Gateway", "g", {}), resource("ListenerSet", "l", {}), complete=True) == []


def test_what_is_missing_is_an_error() -> None:
    """With the API's reason where it has one."""
    world = (gateway(), listener_set(parent="x"), route(parents=[parent("y")]))
    assert found(*world, complete=True) == [
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
    assert found(route()) == [
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
    assert [item for found in world for item in dangling(topology, found.ref)] == list(dangling(topology))
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
    assert found(gateway_class(), gateway("g", https), complete=True) == [
        ("missing-reference", "error", "InvalidCertificateRef", f"{absent} does not exist"),
        refused,
    ]
    assert found(gateway_class(), gateway("g", https)) == []


def test_a_certificate_whose_name_is_to_be_filled_in_is_unknown() -> None:
    """It may be there."""
    tls: Json = {"certificateRefs": [{"name": "${CERT}"}]}
    found = gateway("g", listener("https", "HTTPS", 443, tls=tls))
    missing = dangling(Topology(index(found, complete=True)), found.ref)
    assert [(problem.rule, problem.field) for problem in missing if "tls" in problem.field] == [
        ("unknown-reference", "spec.listeners[0].tls.certificateRefs[0]")
    ]
