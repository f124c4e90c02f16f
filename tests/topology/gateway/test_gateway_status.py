"""The conditions of GatewayClasses, Gateways and ListenerSets."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from kubectl_policy.topology import (
    Condition,
    Topology,
    attached_listener_sets,
    gateway_class_conditions,
    gateway_conditions,
    listener_set_conditions,
)
from tests.build import gateway, gateway_class, index, listener, listener_set, ref, resource

if TYPE_CHECKING:
    from kubectl_policy.model import Json, Resource

OPEN: Json = {"namespaces": {"from": "All"}}
CERTIFICATE = resource(
    "Secret", "cert", group="", stringData={"tls.crt": "-----BEGIN CERTIFICATE-----", "tls.key": "k"}
)
ACCEPTED = Condition("Accepted", "True", "Accepted")
RESOLVED = Condition("ResolvedRefs", "True", "ResolvedRefs")
SMTP = listener("smtp", "SMTP", 25)


def status(*entries: dict[str, Json], complete: bool = True, **spec: Json) -> tuple[Condition, ...]:
    """The conditions of a Gateway."""
    found = gateway("g", *entries, **spec)  # type: ignore[arg-type]  # JSON
    return gateway_conditions(Topology(index(found, CERTIFICATE, complete=complete)).gateways, found.ref)


def test_what_was_not_read_has_no_conditions() -> None:
    """Whatever it is."""
    topology = Topology(index())
    assert gateway_conditions(topology.gateways, ref("Gateway", "g")) == ()
    assert gateway_class_conditions(topology.gateways, ref("GatewayClass", "c")) == ()
    assert listener_set_conditions(topology.gateways, ref("ListenerSet", "ls")) == ()


def test_a_gateway_is_accepted_whatever_its_class_is() -> None:
    """Every Gateway is looked at as if its controller had taken it."""
    assert status() == (ACCEPTED, RESOLVED)


def test_a_gateway_needs_a_valid_listener() -> None:
    """With some that are not, it is accepted with a remark."""
    refused = Condition("Accepted", "False", "ListenersNotValid", "not valid: listener smtp")
    assert status(SMTP)[0] == refused
    partly = Condition("Accepted", "True", "ListenersNotValid", "not valid: listener smtp")
    assert status(listener(), SMTP)[0] == partly
    empty = resource("Gateway", "g", {})
    expected = Condition("Accepted", "False", "ListenersNotValid", "it has no listeners")
    assert gateway_conditions(Topology(index(empty)).gateways, empty.ref)[0] == expected


def test_unresolved_certificates_do_not_refuse_a_gateway() -> None:
    """They are a matter of the listener's ResolvedRefs."""
    assert status(listener("x", "HTTPS", tls={"certificateRefs": [{"name": "missing"}]}))[0] == ACCEPTED


def test_address_types_of_an_implementation_are_not_supported() -> None:
    """The API's own are; the type defaults to IPAddress."""
    addresses: Json = [{"value": "192.0.2.1"}, {"type": "Hostname", "value": "x"}, {"type": "x.io/y", "value": "z"}]
    expected = Condition("Accepted", "False", "UnsupportedAddress", "address type x.io/y is not supported")
    assert status(addresses=addresses)[0] == expected
    assert status(addresses=[{"value": "192.0.2.1"}])[0] == ACCEPTED


@pytest.mark.parametrize(("complete", "reason"), [(True, "InvalidParameters"), (False, "Accepted")])
def test_parameters_have_to_exist(*, complete: bool, reason: str) -> None:
    """Where they were not read, they may."""
    reference: Json = {"group": "x.io", "kind": "Parameters", "name": "p"}
    assert status(complete=complete, infrastructure={"parametersRef": reference})[0].reason == reason
    public = resource("GatewayClass", "c", {"parametersRef": reference})
    topology = Topology(index(public, complete=complete))
    assert gateway_class_conditions(topology.gateways, public.ref)[0].reason == reason


def test_a_gateway_class_is_accepted() -> None:
    """As far as can be told."""
    assert gateway_class_conditions(Topology(index(gateway_class())).gateways, gateway_class().ref) == (ACCEPTED,)


@pytest.mark.parametrize(
    ("reference", "reason"),
    [
        ({"name": "missing"}, "InvalidClientCertificateRef"),
        ({"name": "cert", "kind": "ConfigMap"}, "InvalidClientCertificateRef"),
        ({"name": "cert", "namespace": "x"}, "RefNotPermitted"),
        ({"name": "cert"}, "ResolvedRefs"),
        ({}, "ResolvedRefs"),
    ],
)
def test_the_client_certificate_has_to_resolve(reference: Json, reason: str) -> None:
    """The one that the Gateway shows to backends."""
    assert status(tls={"backend": {"clientCertificateRef": reference}})[1].reason == reason


def test_an_unread_client_certificate_is_a_doubt() -> None:
    """In an open world it may exist."""
    found = gateway("g", tls={"backend": {"clientCertificateRef": {"name": "c"}}})
    expected = Condition("ResolvedRefs", "Unknown", "Pending", "Secret default/c is not in the input")
    assert gateway_conditions(Topology(index(found)).gateways, found.ref)[1] == expected


def of_set(found: Resource, *others: Resource, complete: bool = True) -> Condition:
    """The only condition of a ListenerSet."""
    (only,) = listener_set_conditions(Topology(index(found, *others, complete=complete)).gateways, found.ref)
    return only


@pytest.mark.parametrize(
    ("others", "complete", "expected"),
    [
        ([], True, "False ParentNotAccepted: Gateway default/g does not exist"),
        ([], False, "Unknown Pending: Gateway default/g is not in the input"),
        ([gateway("g")], True, "False NotAllowed: Gateway default/g does not allow it (spec.allowedListeners)"),
        (
            [gateway("g", SMTP, allowedListeners=OPEN)],
            True,
            "False ParentNotAccepted: Gateway default/g is not accepted: not valid: listener smtp",
        ),
    ],
)
def test_a_listener_set_needs_its_gateway(others: list[Resource], *, complete: bool, expected: str) -> None:
    """The Gateway has to exist, to allow it and to be accepted itself."""
    found = of_set(listener_set("ls", listener(port=81)), *others, complete=complete)
    assert f"{found.status} {found.reason}: {found.message}" == expected


def test_whether_a_gateway_selects_a_listener_set_may_be_unknown() -> None:
    """Labels of an unread Namespace."""
    selecting = gateway(
        "g", allowedListeners={"namespaces": {"from": "Selector", "selector": {"matchLabels": {"a": "b"}}}}
    )
    message = "whether Gateway default/g selects it is unknown: Namespace baker is not in the input"
    found = of_set(listener_set(namespace="baker", parent_namespace="default"), selecting)
    assert found == Condition("Accepted", "Unknown", "Pending", message)


def test_a_listener_set_has_to_name_a_gateway() -> None:
    """Nothing else can be its parent."""
    expected = Condition("Accepted", "False", "Invalid", "spec.parentRef names no Gateway")
    assert of_set(resource("ListenerSet", "ls", {"listeners": [listener()]})) == expected


def test_a_listener_set_needs_a_listener_that_refers_to_what_it_may() -> None:
    """Other than for a Gateway, references that are not permitted count."""
    world = gateway("g", allowedListeners=OPEN)
    refused = listener("x", "HTTPS", 443, tls={"certificateRefs": [{"name": "cert", "namespace": "far"}]})
    assert of_set(listener_set("ls", refused), world).status == "False"
    partly = of_set(listener_set("ls", refused, listener("y", port=81)), world)
    assert partly == Condition("Accepted", "True", "ListenersNotValid", "not valid: listener x")


def test_a_missing_certificate_does_not_refuse_a_listener_set() -> None:
    """It is in ResolvedRefs of the listener alone."""
    missing = listener("x", "HTTPS", 443, tls={"certificateRefs": [{"name": "missing"}]})
    found = of_set(listener_set("ls", missing), gateway("g", allowedListeners=OPEN))
    assert found == Condition("Accepted", "True", "Accepted")


def test_only_accepted_listener_sets_are_attached() -> None:
    """In their order of precedence."""
    sets = [listener_set("new", listener(port=81), age=2), listener_set("old", listener(port=82), age=1)]
    lost = listener_set("lost", listener(port=80), age=0)
    topology = Topology(index(gateway("g", allowedListeners=OPEN), *sets, lost))
    assert attached_listener_sets(topology.gateways, ref("Gateway", "g")) == (sets[1].ref, sets[0].ref)
