"""Listeners on one port where controllers depart from Gateway API: which conflict, and which hostnames are claimed."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

import pytest

from kubectl_policy.model import Json, NodeRef, Resource
from kubectl_policy.profiles.controllers import GatewayProfile
from kubectl_policy.topology import Topology, attached_hostnames, attached_routes, route_conditions
from kubectl_policy.topology.gateway.contradictions import contradictions
from tests.build import allow, gateway, gateway_class, index, listener, listener_set, node, parent, resource, route
from tests.fakes import Controllers

SERVING_FIRST: Final = GatewayProfile(conflicting="valid", shared_ports="first", claimed_hostnames="refused")
BY_API: Final = GatewayProfile()
CERTIFICATE: Final = resource(
    "Secret", "cert", group="", stringData={"tls.crt": "-----BEGIN CERTIFICATE-----", "tls.key": "k"}
)
NO_CERTIFICATE: Final = resource("Secret", "broken", group="", stringData={"tls.crt": "none", "tls.key": "k"})
LISTENER_SETS: Final[Json] = {"namespaces": {"from": "Same"}}


def topology(*objects: Resource, profile: GatewayProfile = SERVING_FIRST) -> Topology:
    """The hierarchy of these objects, under a controller with a profile."""
    world = index(gateway_class(), CERTIFICATE, NO_CERTIFICATE, *objects, complete=True)
    features = frozenset({"GatewayHTTPListenerIsolation"})
    own = GatewayProfile(
        unsupported_features=features,
        conflicting=profile.conflicting,
        shared_ports=profile.shared_ports,
        claimed_hostnames=profile.claimed_hostnames,
    )
    return Topology(world, profiles=Controllers(others=own))


def conflicts(found: Topology) -> dict[str, str]:
    """The conflicted listeners of Gateway `g` and its ListenerSets, with the listener that each conflicts with."""
    named = found.gateways.conflicts(node("Gateway", "g").object)
    return {str(listener): str(conflict.rival) for listener, conflict in named.items()}


def https(name: str, secret: str, **fields: Json) -> dict[str, Json]:
    """A listener for `a.org` with a certificate."""
    return listener(name, "HTTPS", 443, hostname="a.org", tls={"certificateRefs": [{"name": secret}]}, **fields)


INVALID: Final[list[Mapping[str, Json]]] = [
    https("bad", "broken"),
    https("bad", "absent"),
    https("bad", "cert", allowedRoutes=allow(kinds=["HTTPRoute", "TCPRoute"])),
    listener("bad", "HTTPS", 443, hostname="a.org"),
]


@pytest.mark.parametrize("bad", INVALID)
def test_a_listener_that_is_invalid_by_itself_conflicts_with_no_other(bad: Mapping[str, Json]) -> None:
    world = gateway("g", https("good", "cert"), bad)
    both = {"Gateway default/g#good": "Gateway default/g#bad", "Gateway default/g#bad": "Gateway default/g#good"}
    assert conflicts(topology(world, profile=BY_API)) == both
    assert conflicts(topology(world)) == {}


def test_valid_listeners_conflict_all_the_same() -> None:
    found = topology(gateway("g", https("good", "cert"), https("bad", "broken"), https("too", "cert"), listener()))
    assert conflicts(found) == {
        "Gateway default/g#good": "Gateway default/g#too",
        "Gateway default/g#too": "Gateway default/g#good",
    }


def test_the_place_of_an_invalid_listener_is_free_for_a_listener_set() -> None:
    bad = listener("http", allowedRoutes=allow(kinds=["HTTPRoute", "UDPRoute"]))
    extra = listener_set("more", listener("x"))
    objects = (gateway("g", bad, allowedListeners=LISTENER_SETS), extra)
    assert conflicts(topology(*objects)) == {}
    assert conflicts(topology(*objects, profile=BY_API)) == {"ListenerSet default/more#x": "Gateway default/g#http"}


@pytest.mark.parametrize("protocol", ["TCP", "UDP"])
def test_the_first_of_the_listeners_that_share_a_port_is_served(protocol: str) -> None:
    listeners = [listener(name, protocol, 53) for name in ("one", "two", "three")]
    world = gateway("g", *listeners, listener("apart", protocol, 54))
    assert conflicts(topology(world)) == {
        "Gateway default/g#two": "Gateway default/g#one",
        "Gateway default/g#three": "Gateway default/g#one",
    }
    every = {f"Gateway default/g#{name}" for name in ("one", "two", "three")}
    assert set(conflicts(topology(world, profile=BY_API))) == every


def test_another_protocol_on_the_port_leaves_none() -> None:
    found = topology(gateway("g", listener("tcp", "TCP", 90), listener("more", "TCP", 90), listener("http", port=90)))
    assert set(conflicts(found)) == {f"Gateway default/g#{name}" for name in ("tcp", "more", "http")}


CONTRADICTIONS: Final[list[tuple[Mapping[str, Json], str]]] = [
    (listener("x", "HTTPS"), "protocol HTTPS needs tls"),
    (listener("x", "TLS"), "protocol TLS needs tls"),
    (listener("x", "HTTPS", tls={"mode": "Passthrough"}), "protocol HTTPS needs tls.mode Terminate, not Passthrough"),
    (
        listener("x", "TLS", tls={"mode": "Passthrough", "certificateRefs": [{"name": "cert"}]}),
        "tls.mode Passthrough takes no tls.certificateRefs",
    ),
    (listener("x", "TLS", tls={}), "tls.mode Terminate needs tls.certificateRefs or tls.options"),
    (listener("x", "HTTPS", tls={"options": {"example.com/certificate": "own"}}), ""),
    (listener("x", "TLS", tls={"mode": "Passthrough"}), ""),
    (listener("x", "TLS", tls={"mode": "${MODE}"}), ""),
    (listener("x", "TCP", hostname="a.org"), "protocol TCP takes no hostname"),
    (
        listener("x", allowedRoutes={"namespaces": {"from": "Selector"}}),
        "allowedRoutes.namespaces.from Selector needs a selector",
    ),
    (listener("x", tls={"certificateRefs": [{"name": "cert"}]}), "protocol HTTP takes no tls"),
    (listener("x", hostname="a.org"), ""),
]


@pytest.mark.parametrize(("fields", "message"), CONTRADICTIONS)
def test_contradictions_in_a_listener(fields: Mapping[str, Json], message: str) -> None:
    (found,) = topology(gateway("g", fields)).gateways.listeners(node("Gateway", "g").object)
    assert [contradiction.message for contradiction in contradictions(found)] == ([message] if message else [])


WILD: Final = node("Gateway", "g", "wild")
NAMED: Final = gateway("g", listener("wild"), listener("named", hostname="a.org"), listener("host", hostname="b.org"))


def at_wild(*hostnames: str, profile: GatewayProfile = SERVING_FIRST) -> tuple[str, tuple[str, ...], int]:
    """The condition of a route that names the listener without a hostname, its names there, and the routes there."""
    attached = route("r", parents=[parent("g", "wild")], hostnames=list(hostnames))
    found = topology(NAMED, attached, profile=profile)
    accepted = route_conditions(found, attached.ref, 0)[0]
    return accepted.reason, attached_hostnames(found, WILD, attached.ref), len(attached_routes(found, WILD))


def test_a_route_with_hostnames_of_other_listeners_alone_is_refused() -> None:
    assert at_wild("a.org", "b.org") == ("NoMatchingListenerHostname", (), 0)
    assert at_wild("a.org", profile=BY_API) == ("Accepted", (), 1)
    assert at_wild("a.org", "c.org") == ("Accepted", ("c.org",), 1)
    assert at_wild("x.a.org") == ("Accepted", ("x.a.org",), 1)
    assert at_wild("${HOST}") == ("Accepted", ("${HOST}",), 1)
    assert at_wild() == ("Accepted", ("*",), 1)


def test_the_refusal_names_the_hostnames() -> None:
    attached = route("r", parents=[parent("g", "wild")], hostnames=["a.org", "b.org"])
    (binding,) = topology(NAMED, attached).bindings(attached.ref)
    assert binding.listener == WILD
    assert binding.message == (
        "other listeners on the port of listener wild of Gateway default/g have its hostnames a.org, b.org"
    )


def test_a_route_without_hostnames_of_its_kind_is_not_refused() -> None:
    attached = route("r", kind="TCPRoute", parents=[parent("g", "tcp")], hostnames=["a.org"])
    found = topology(gateway("g", listener("tcp", "TCP", 90)), attached)
    assert [binding.state for binding in found.bindings(attached.ref)] == ["attached"]
    assert NodeRef(attached.ref) in {end for path in found.paths(NodeRef(attached.ref)) for end in path}
