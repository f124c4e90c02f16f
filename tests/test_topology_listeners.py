"""What listeners accept, by protocol and by their own choice."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from kubectl_policy.topology import Settings
from kubectl_policy.topology.listeners import MIXED_MODES, TERMINATE_MODE, listeners_of, supported_kinds_of, supports
from tests.build import allow, gateway, gateway_class, index, listener, listener_set, resource

if TYPE_CHECKING:
    from kubectl_policy.model import Json


def kinds(entry: dict[str, Json], settings: Settings | None = None, *, status: Json = None) -> list[str]:
    """The kinds that the only listener of a Gateway supports."""
    found = gateway("g", entry)
    world = index(found, gateway_class(status=status))
    (only,) = listeners_of(world, found.ref)
    return [kind.kind for kind in supported_kinds_of(world, settings or Settings(), only)]


def test_of_listeners_with_one_name_the_first_counts() -> None:
    """A listener is a section, which has to be told from others; what is none is left out."""
    found = resource("Gateway", "g", {"listeners": ["http", listener("a"), listener("a", port=81)]})
    assert [(entry.node.section, entry.port) for entry in listeners_of(index(found), found.ref)] == [("a", 80)]


def test_a_listener_without_a_name_is_called_by_its_place() -> None:
    """So that it is shown, and its routes with it."""
    found = resource("Gateway", "g", {"listeners": [listener("a"), {"protocol": "HTTP"}, {**listener(), "name": 1}]})
    names = [entry.node.section for entry in listeners_of(index(found), found.ref)]
    assert names == ["a", "listener[1]", "listener[2]"]


def test_a_listener_knows_the_gateway_that_serves_it() -> None:
    """Its own Gateway, the ListenerSet's parent, or none."""
    own, other = gateway("g"), listener_set("ls", parent="g")
    lost = resource("ListenerSet", "lost", {"listeners": [listener()]})
    world = index(own, other, lost)
    assert [listeners_of(world, item.ref)[0].gateway for item in (own, other, lost)] == [own.ref, own.ref, None]


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
    assert kinds(entry, Settings(frozenset({TERMINATE_MODE}))) == []
    assert kinds(listener(), Settings(frozenset({"GRPCRoute"}))) == ["HTTPRoute"]


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
    assert supports(world, Settings(), gateway().ref, MIXED_MODES) is expected


def test_nothing_is_known_against_an_unknown_gateway() -> None:
    """A ListenerSet may name none."""
    assert supports(index(), Settings(), None, MIXED_MODES)
