"""The conditions of listeners, what they support and what is attached to them."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from kubectl_policy.topology import (
    Condition,
    Implementation,
    Topology,
    attached_routes,
    listener_conditions,
    supported_kinds,
)
from tests.build import allow, gateway, index, listener, listener_set, node, parent, ref, resource, route

if TYPE_CHECKING:
    from kubectl_policy.model import Json, Resource

LISTENER = node("Gateway", "g", "http")
PEM = "-----BEGIN CERTIFICATE-----"
CERTIFICATE = resource("Secret", "cert", group="", stringData={"tls.crt": PEM, "tls.key": "k"})
AUTHORITY = resource("ConfigMap", "ca", group="", data={"ca.crt": PEM})
OPEN: Json = {"namespaces": {"from": "All"}}


def status(entry: dict[str, Json], *others: Resource, complete: bool = True, **spec: Json) -> tuple[Condition, ...]:
    """The conditions of the only listener of a Gateway."""
    world = index(gateway("g", entry, **spec), CERTIFICATE, AUTHORITY, *others, complete=complete)  # type: ignore[arg-type]  # JSON
    return listener_conditions(Topology(world).gateways, LISTENER)


def short(conditions: tuple[Condition, ...]) -> list[str]:
    """Type, status and reason of conditions."""
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
    assert short(status(listener())) == GOOD


def test_an_unknown_protocol_is_not_supported() -> None:
    """And serves no routes."""
    assert short(status(listener(protocol="SMTP"))) == ["Accepted=False UnsupportedProtocol", *GOOD[1:]]


def test_an_unsupported_tls_mode_is_an_unsupported_value() -> None:
    """Feature TLSRouteModeTerminate."""
    world = index(gateway("g", listener(protocol="TLS", tls={"mode": "Terminate"})))
    topology = Topology(world, Implementation(frozenset({"TLSRouteModeTerminate"})))
    assert short(listener_conditions(topology.gateways, LISTENER))[0] == "Accepted=False UnsupportedValue"
    assert supported_kinds(topology.gateways, LISTENER) == ()


def test_kinds_that_the_protocol_cannot_serve_are_invalid() -> None:
    """Even next to one that it can."""
    resolved = status(listener(allowedRoutes=allow(kinds=["HTTPRoute", "UDPRoute"])))[2]
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
    accepted, _, resolved = short(status(secure({"name": "cert"}, reference)))
    assert (accepted, resolved) == ("Accepted=True Accepted", f"ResolvedRefs={expected}")


def test_only_listeners_that_terminate_tls_need_certificates() -> None:
    """What others say of certificates is ignored."""
    tls: Json = {"mode": "Passthrough", "certificateRefs": [{"name": "missing"}]}
    assert short(status(listener(protocol="TLS", tls=tls))) == GOOD
    assert short(status(listener(tls={"certificateRefs": [{"name": "missing"}]}))) == GOOD


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
    found = short(status(secure({"name": "cert"}), tls=frontend(*references, port=port)))
    assert (found[0], found[2]) == (f"Accepted={accepted}", f"ResolvedRefs={resolved}")


def test_an_unread_authority_does_not_refuse() -> None:
    """It may be valid."""
    world = index(gateway("g", listener(protocol="HTTPS", port=443), tls=frontend({"name": "ca"})))
    accepted, _, resolved = listener_conditions(Topology(world).gateways, LISTENER)
    assert (accepted.status, resolved.status) == ("True", "Unknown")


def test_authorities_are_for_https_on_their_port() -> None:
    """Other protocols and other ports do not use them."""
    assert short(status(listener(), tls=frontend({"name": "missing"}))) == GOOD
    assert short(status(secure({"name": "cert"}), tls=frontend({"name": "missing"}, port=444))) == GOOD


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
    """All that are possible, if none is named."""
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
