"""Conditions of GatewayClasses, Gateways, ListenerSets and listeners."""

from __future__ import annotations

import pytest

from kubectl_policy.model import Json, Resource
from kubectl_policy.topology import (
    Condition,
    Implementation,
    Topology,
    attached_listener_sets,
    attached_routes,
    gateway_class_conditions,
    gateway_conditions,
    listener_conditions,
    listener_set_conditions,
    supported_kinds,
)
from tests.build import allow, gateway, gateway_class, index, listener, listener_set, node, parent, ref, resource, route

OPEN: Json = {"namespaces": {"from": "All"}}
CERTIFICATE = resource(
    "Secret", "cert", group="", stringData={"tls.crt": "-----BEGIN CERTIFICATE-----", "tls.key": "k"}
)
ACCEPTED = Condition("Accepted", "True", "Accepted")
RESOLVED = Condition("ResolvedRefs", "True", "ResolvedRefs")
SMTP = listener("smtp", "SMTP", 25)


def gateway_status(*entries: dict[str, Json], complete: bool = True, **spec: Json) -> tuple[Condition, ...]:
    found = gateway("g", *entries, **spec)  # type: ignore[arg-type]  # JSON
    return gateway_conditions(Topology(index(found, CERTIFICATE, complete=complete)).gateways, found.ref)


def test_what_was_not_read_has_no_conditions() -> None:
    topology = Topology(index())
    assert gateway_conditions(topology.gateways, ref("Gateway", "g")) == ()
    assert gateway_class_conditions(topology.gateways, ref("GatewayClass", "c")) == ()
    assert listener_set_conditions(topology.gateways, ref("ListenerSet", "ls")) == ()


def test_a_gateway_is_accepted_whatever_its_class_is() -> None:
    """Every Gateway is looked at as if its controller had taken it."""
    assert gateway_status() == (ACCEPTED, RESOLVED)


def test_a_gateway_needs_a_valid_listener() -> None:
    refused = Condition("Accepted", "False", "ListenersNotValid", "not valid: listener smtp")
    assert gateway_status(SMTP)[0] == refused
    partly = Condition("Accepted", "True", "ListenersNotValid", "not valid: listener smtp")
    assert gateway_status(listener(), SMTP)[0] == partly
    empty = resource("Gateway", "g", {})
    expected = Condition("Accepted", "False", "ListenersNotValid", "it has no listeners")
    assert gateway_conditions(Topology(index(empty)).gateways, empty.ref)[0] == expected


@pytest.mark.parametrize(("complete", "reason"), [(True, "InvalidParameters"), (False, "Accepted")])
def test_parameters_have_to_exist(*, complete: bool, reason: str) -> None:
    """Where they were not read, they may."""
    reference: Json = {"group": "x.io", "kind": "Parameters", "name": "p"}
    assert gateway_status(complete=complete, infrastructure={"parametersRef": reference})[0].reason == reason
    public = resource("GatewayClass", "c", {"parametersRef": reference})
    topology = Topology(index(public, complete=complete))
    assert gateway_class_conditions(topology.gateways, public.ref)[0].reason == reason


def test_a_gateway_class_is_accepted() -> None:
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
    assert gateway_status(tls={"backend": {"clientCertificateRef": reference}})[1].reason == reason


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
    selecting = gateway(
        "g", allowedListeners={"namespaces": {"from": "Selector", "selector": {"matchLabels": {"a": "b"}}}}
    )
    message = "whether Gateway default/g selects it is unknown: Namespace baker is not in the input"
    found = of_set(listener_set(namespace="baker", parent_namespace="default"), selecting)
    assert found == Condition("Accepted", "Unknown", "Pending", message)


def test_a_listener_set_has_to_name_a_gateway() -> None:
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
    missing = listener("x", "HTTPS", 443, tls={"certificateRefs": [{"name": "missing"}]})
    found = of_set(listener_set("ls", missing), gateway("g", allowedListeners=OPEN))
    assert found == Condition("Accepted", "True", "Accepted")


def test_only_accepted_listener_sets_are_attached() -> None:
    sets = [listener_set("new", listener(port=81), age=2), listener_set("old", listener(port=82), age=1)]
    lost = listener_set("lost", listener(port=80), age=0)
    topology = Topology(index(gateway("g", allowedListeners=OPEN), *sets, lost))
    assert attached_listener_sets(topology.gateways, ref("Gateway", "g")) == (sets[1].ref, sets[0].ref)


LISTENER = node("Gateway", "g", "http")
PEM = "-----BEGIN CERTIFICATE-----"
SERVER_CERTIFICATE = resource("Secret", "cert", group="", stringData={"tls.crt": PEM, "tls.key": "k"})
AUTHORITY = resource("ConfigMap", "ca", group="", data={"ca.crt": PEM})


def listener_status(
    entry: dict[str, Json], *others: Resource, complete: bool = True, **spec: Json
) -> tuple[Condition, ...]:
    """The conditions of the only listener of a Gateway."""
    world = index(gateway("g", entry, **spec), SERVER_CERTIFICATE, AUTHORITY, *others, complete=complete)  # type: ignore[arg-type]  # JSON
    return listener_conditions(Topology(world).gateways, LISTENER)


def short(conditions: tuple[Condition, ...]) -> list[str]:
    return [f"{found.type}={found.status} {found.reason}" for found in conditions]


GOOD = ["Accepted=True Accepted", "Conflicted=False NoConflicts", "ResolvedRefs=True ResolvedRefs"]


def secure(*references: Json) -> dict[str, Json]:
    """An HTTPS listener with certificates."""
    return listener(protocol="HTTPS", port=443, tls={"certificateRefs": list(references)})


def test_a_listener_that_does_not_exist_has_no_status() -> None:
    """Nor has its Gateway as a whole."""
    topology = Topology(index(gateway()))
    for missing in (node("Gateway", "g"), node("Gateway", "g", "x"), node("Service", "g", "http", group="")):
        assert listener_conditions(topology.gateways, missing) == ()
        assert supported_kinds(topology.gateways, missing) == ()
        assert attached_routes(topology, missing) == ()


def test_a_plain_listener_is_accepted() -> None:
    """There is nothing to resolve."""
    assert short(listener_status(listener())) == GOOD


def test_an_unknown_protocol_is_not_supported() -> None:
    assert short(listener_status(listener(protocol="SMTP"))) == ["Accepted=False UnsupportedProtocol", *GOOD[1:]]


def test_an_unsupported_tls_mode_is_an_unsupported_value() -> None:
    """Feature TLSRouteModeTerminate."""
    world = index(gateway("g", listener(protocol="TLS", tls={"mode": "Terminate"})))
    topology = Topology(world, Implementation(frozenset({"TLSRouteModeTerminate"})))
    assert short(listener_conditions(topology.gateways, LISTENER))[0] == "Accepted=False UnsupportedValue"
    assert supported_kinds(topology.gateways, LISTENER) == ()


def test_kinds_that_the_protocol_cannot_serve_are_invalid() -> None:
    """Even next to one that it can."""
    resolved = listener_status(listener(allowedRoutes=allow(kinds=["HTTPRoute", "UDPRoute"])))[2]
    message = "protocol HTTP cannot serve UDPRoute.gateway.networking.k8s.io"
    assert resolved == Condition("ResolvedRefs", "False", "InvalidRouteKinds", message)


@pytest.mark.parametrize(
    ("reference", "expected"),
    [
        ({"kind": "ConfigMap", "name": "ca"}, "False InvalidCertificateRef"),
        ({"name": "missing"}, "False InvalidCertificateRef"),
        ({"name": "cert", "namespace": "x"}, "False RefNotPermitted"),
        ({"name": "cert"}, "True ResolvedRefs"),
    ],
)
def test_certificates_have_to_resolve(reference: Json, expected: str) -> None:
    """The kind defaults to Secret; the listener is accepted all the same."""
    accepted, _, resolved = short(listener_status(secure({"name": "cert"}, reference)))
    assert (accepted, resolved) == ("Accepted=True Accepted", f"ResolvedRefs={expected}")


def test_only_listeners_that_terminate_tls_need_certificates() -> None:
    tls: Json = {"mode": "Passthrough", "certificateRefs": [{"name": "missing"}]}
    assert short(listener_status(listener(protocol="TLS", tls=tls))) == GOOD
    assert short(listener_status(listener(tls={"certificateRefs": [{"name": "missing"}]}))) == GOOD


def test_an_unread_certificate_is_a_doubt() -> None:
    """Unless something else is certainly wrong."""
    there = {"name": "c", "namespace": "default"}
    world = index(gateway("g", secure(there)))
    expected = Condition("ResolvedRefs", "Unknown", "Pending", "Secret default/c is not in the input")
    assert listener_conditions(Topology(world).gateways, LISTENER)[2] == expected
    world = index(gateway("g", secure(there, {"kind": "Service", "name": "s"})))
    assert listener_conditions(Topology(world).gateways, LISTENER)[2].reason == "InvalidCertificateRef"


def frontend(*references: Json, port: int | None = None) -> dict[str, Json]:
    """A Gateway's TLS settings with CAs to check clients with: by default, or for one port."""
    validation: Json = {"validation": {"caCertificateRefs": list(references)}}
    if port is None:
        return {"frontend": {"default": validation}}
    return {"frontend": {"default": {}, "perPort": [{"port": port, "tls": validation}]}}


@pytest.mark.parametrize(
    ("references", "accepted", "resolved"),
    [
        ([{"name": "missing"}], "False NoValidCACertificate", "False InvalidCACertificateRef"),
        (
            [{"group": "", "kind": "Service", "name": "s"}],
            "False NoValidCACertificate",
            "False InvalidCACertificateKind",
        ),
        ([{"name": "ca", "namespace": "x"}], "False NoValidCACertificate", "False RefNotPermitted"),
        ([{"name": "ca"}, {"name": "missing"}], "True Accepted", "False InvalidCACertificateRef"),
        ([{"name": "ca"}], "True Accepted", "True ResolvedRefs"),
    ],
)
@pytest.mark.parametrize("port", [None, 443])
def test_clients_are_checked_with_a_valid_authority(
    port: int | None, references: list[Json], accepted: str, resolved: str
) -> None:
    """One is enough to accept the listener, but all have to resolve (GEP-91)."""
    found = short(listener_status(secure({"name": "cert"}), tls=frontend(*references, port=port)))
    assert (found[0], found[2]) == (f"Accepted={accepted}", f"ResolvedRefs={resolved}")


def test_an_unread_authority_does_not_refuse() -> None:
    """It may be valid."""
    world = index(gateway("g", listener(protocol="HTTPS", port=443), tls=frontend({"name": "ca"})))
    accepted, _, resolved = listener_conditions(Topology(world).gateways, LISTENER)
    assert (accepted.status, resolved.status) == ("True", "Unknown")


def test_authorities_are_for_https_on_their_port() -> None:
    assert short(listener_status(listener(), tls=frontend({"name": "missing"}))) == GOOD
    assert short(listener_status(secure({"name": "cert"}), tls=frontend({"name": "missing"}, port=444))) == GOOD


def test_a_listener_of_a_set_without_a_gateway_has_no_frontend() -> None:
    """There is nobody to conflict with either."""
    lost = resource("ListenerSet", "lost", {"listeners": [listener("http", "HTTPS")]})
    assert short(listener_conditions(Topology(index(lost)).gateways, node("ListenerSet", "lost", "http"))) == GOOD


def conflicting(*entries: dict[str, Json], other: dict[str, Json] | None = None) -> tuple[Topology, list[str]]:
    """A Gateway whose listeners conflict, or one that conflicts with a ListenerSet, and the status of the loser."""
    loser = LISTENER if other is None else node("ListenerSet", "ls", "other")
    sets = [] if other is None else [listener_set("ls", {**other, "name": "other"})]
    topology = Topology(
        index(gateway("g", *entries, allowedListeners=OPEN), *sets), Implementation(frozenset({"TLSRouteModeMixed"}))
    )
    return topology, short(listener_conditions(topology.gateways, loser))


def test_a_conflicted_listener_says_with_which() -> None:
    """It is not accepted and serves nothing, but its references resolve."""
    topology, found = conflicting(listener(), listener("https", "HTTPS"))
    assert found == ["Accepted=False Invalid", "Conflicted=True ProtocolConflict", GOOD[2]]
    message = "it cannot be distinguished from listener https of Gateway default/g"
    assert [condition.message for condition in listener_conditions(topology.gateways, LISTENER)[:2]] == [
        message,
        message,
    ]
    assert supported_kinds(topology.gateways, LISTENER) == ()


def test_the_conflict_is_the_reason_where_protocols_agree_or_a_set_loses() -> None:
    """Only different protocols on one port make a Gateway invalid in itself."""
    assert conflicting(listener(), listener("b"))[1][0] == "Accepted=False HostnameConflict"
    assert conflicting(listener(), other=listener(protocol="TCP"))[1][:2] == [
        "Accepted=False ProtocolConflict",
        "Conflicted=True ProtocolConflict",
    ]
    passthrough = listener("b", "TLS", tls={"mode": "Passthrough"}, hostname="b.org")
    terminate = listener("http", "TLS", tls={"mode": "Terminate"}, hostname="a.org")
    assert conflicting(terminate, passthrough)[1][0] == "Accepted=False ProtocolConflict"


def test_listeners_that_could_share_their_port_conflict_by_hostname() -> None:
    """HTTPS and TLS are compatible: another hostname would do."""
    found = conflicting(listener("http", "HTTPS", 443), listener("tls", "TLS", 443))[1]
    assert found[:2] == ["Accepted=False HostnameConflict", "Conflicted=True HostnameConflict"]


def test_supported_kinds_are_those_that_are_named_and_possible() -> None:
    topology = Topology(index(gateway("g", listener(allowedRoutes=allow(kinds=["GRPCRoute", "TCPRoute"])))))
    assert [kind.kind for kind in supported_kinds(topology.gateways, LISTENER)] == ["GRPCRoute"]


def test_each_attached_route_counts_once() -> None:
    """However many of its parentRefs lead to the listener, and whether or not its references resolve."""
    twice = route("b", parents=[parent(), parent("g", "http")])
    refused = route("c", parents=[parent("g", "x")])
    topology = Topology(index(gateway("g", secure({"name": "missing"}) | {"name": "http"}), twice, route("a"), refused))
    assert attached_routes(topology, LISTENER) == (ref("HTTPRoute", "a"), ref("HTTPRoute", "b"))


def test_the_routes_of_a_conflicted_listener_count() -> None:
    """They are attached by its own choice and theirs, although no path leads through it."""
    topology = Topology(index(gateway("g", listener("http"), listener("b")), route("a")))
    assert attached_routes(topology, LISTENER) == (ref("HTTPRoute", "a"),)
    assert topology.children(LISTENER) == ()
