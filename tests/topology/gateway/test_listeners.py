"""What listeners accept, by protocol and by their own choice."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from kubectl_policy.profiles.controllers import STANDARD_GATEWAYS, GatewayProfile
from kubectl_policy.topology import Implementation, Topology
from kubectl_policy.topology.gateway.gateways import ISOLATION, MIXED_MODES, TERMINATE_MODE
from tests.build import allow, gateway, gateway_class, index, listener, listener_set, ref, resource
from tests.fakes import Controllers

if TYPE_CHECKING:
    from kubectl_policy.model import Json


def kinds(entry: dict[str, Json], implementation: Implementation | None = None, *, status: Json = None) -> list[str]:
    """The kinds that the only listener of a Gateway supports."""
    found = gateway("g", entry)
    world = index(found, gateway_class(status=status))
    gateways = Topology(world, implementation or Implementation()).gateways
    (only,) = gateways.listeners(found.ref)
    return [kind.kind for kind in gateways.kinds_served(only)]


def test_of_listeners_with_one_name_the_first_counts() -> None:
    """A listener is a section, which has to be told from others; what is none is left out."""
    found = resource("Gateway", "g", {"listeners": ["http", listener("a"), listener("a", port=81)]})
    assert [(entry.node.section, entry.port) for entry in Topology(index(found)).gateways.listeners(found.ref)] == [
        ("a", 80)
    ]


def test_a_listener_without_a_name_is_called_by_its_place() -> None:
    """So that it is shown, and its routes with it."""
    found = resource("Gateway", "g", {"listeners": [listener("a"), {"protocol": "HTTP"}, {**listener(), "name": 1}]})
    names = [entry.node.section for entry in Topology(index(found)).gateways.listeners(found.ref)]
    assert names == ["a", "listener[1]", "listener[2]"]


def test_a_listener_knows_the_gateway_that_serves_it() -> None:
    """Its own Gateway, the ListenerSet's parent, or none."""
    own, other = gateway("g"), listener_set("ls", parent="g")
    lost = resource("ListenerSet", "lost", {"listeners": [listener()]})
    world = index(own, other, lost)
    assert [Topology(world).gateways.listeners(item.ref)[0].gateway for item in (own, other, lost)] == [
        own.ref,
        own.ref,
        None,
    ]


@pytest.mark.parametrize(
    ("protocol", "expected"),
    [
        ("SMTP", []),
        ("HTTP", ["HTTPRoute", "GRPCRoute"]),
        ("https", ["HTTPRoute", "GRPCRoute"]),
        ("TLS", ["TLSRoute", "TCPRoute"]),
        ("TCP", ["TCPRoute"]),
        ("UDP", ["UDPRoute"]),
    ],
)
def test_the_protocol_decides_the_route_kinds(protocol: str, expected: list[str]) -> None:
    """In any case of letters; an unknown protocol serves nothing."""
    assert kinds(listener(protocol=protocol)) == expected


def test_passthrough_serves_tls_routes_alone() -> None:
    """A TCPRoute needs the TLS to be terminated."""
    assert kinds(listener(protocol="TLS", tls={"mode": "Passthrough"})) == ["TLSRoute"]


def test_named_kinds_are_cut_down_to_what_the_protocol_serves() -> None:
    """And named once."""
    entry = listener(allowedRoutes=allow(kinds=["UDPRoute", "HTTPRoute", "HTTPRoute", ("x.io", "HTTPRoute")]))
    assert kinds(entry) == ["HTTPRoute"]
    assert kinds(listener(allowedRoutes={"kinds": [{"kind": "GRPCRoute"}]})) == ["GRPCRoute"]


def test_an_unsupported_mode_or_kind_serves_nothing() -> None:
    """Features that the settings name are missing."""
    entry = listener(protocol="TLS", tls={"mode": "Terminate"})
    assert kinds(entry, Implementation(frozenset({TERMINATE_MODE}))) == []
    assert kinds(listener(), Implementation(frozenset({"GRPCRoute"}))) == ["HTTPRoute"]


@pytest.mark.parametrize(
    ("features", "expected"),
    [
        (None, True),
        ([], True),
        ([{"name": "HTTPRoute"}], True),
        ([{"name": "TLSRoute"}], False),
        (["TLSRoute"], False),
        ([{"name": "TLSRoute"}, {"name": MIXED_MODES}], True),
        (["TLSRoute", MIXED_MODES], True),
    ],
)
def test_a_gateway_class_that_lists_tls_route_lists_its_modes(features: Json, *, expected: bool) -> None:
    """Without a list, everything is taken to be supported."""
    world = index(gateway(), gateway_class(status=None if features is None else {"supportedFeatures": features}))
    assert Topology(world).gateways.supports(gateway().ref, MIXED_MODES) is expected


def test_nothing_is_known_against_an_unknown_gateway() -> None:
    """A ListenerSet may name none."""
    assert Topology(index()).gateways.supports(None, MIXED_MODES)


def test_what_a_controller_lacks_is_lacking_on_its_gateways_alone() -> None:
    """Whatever its classes list; of others, and where the class was not read, nothing is known against it."""
    features: Json = [{"name": "TLSRoute"}, {"name": TERMINATE_MODE}]
    classes = (
        gateway_class("public", "example.com/gateway", {"supportedFeatures": features}),
        gateway_class("theirs", "example.org/gateway"),
    )
    found = (gateway("g"), gateway("far", class_name="theirs"), gateway("lost", class_name="unread"))
    lacking = GatewayProfile(unsupported_features=frozenset({TERMINATE_MODE}))
    world = index(*classes, *found)
    gateways = Topology(world, profiles=Controllers({"example.com/gateway": lacking})).gateways
    assert [gateways.supports(each.ref, TERMINATE_MODE) for each in found] == [False, True, True]
    assert gateways.supports(None, TERMINATE_MODE)
    assert gateways.supports(found[0].ref, ISOLATION)
    assert Topology(world).gateways.supports(found[0].ref, TERMINATE_MODE)


def test_how_a_gateway_is_treated() -> None:
    """By the name of its controller; by an empty one where there is no Gateway, or no class of it was read."""
    named, nameless = GatewayProfile(evidence=("named",)), GatewayProfile(evidence=("nameless",))
    world = index(gateway_class("public", "example.com/gateway"), gateway("g"), gateway("lost", class_name="unread"))
    gateways = Topology(world, profiles=Controllers({"example.com/gateway": named, "": nameless})).gateways
    places = (ref("Gateway", "g"), ref("Gateway", "lost"), ref("Gateway", "unread"), None)
    assert [gateways.profile_of(place) for place in places] == [named, nameless, nameless, nameless]
    assert Topology(world).gateways.profile_of(ref("Gateway", "g")) is STANDARD_GATEWAYS
