"""Listeners: their kinds, the namespaces that they let in, and conflicts among them."""

from __future__ import annotations

from random import Random

import pytest

from kubectl_policy.model import Json, NodeRef
from kubectl_policy.model.kind_roles import GATEWAY_API_EXPERIMENTAL
from kubectl_policy.profiles.controllers import STANDARD_GATEWAYS, GatewayProfile
from kubectl_policy.topology import Implementation, Topology
from kubectl_policy.topology.gateway.gateways import ISOLATION, MIXED_MODES, TERMINATE_MODE
from kubectl_policy.topology.gateway.listeners import Conflict, Listener, admits_namespace, conflicts_among
from tests.build import allow, gateway, gateway_class, index, listener, listener_set, namespace, ref, resource
from tests.fakes import Controllers


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
    assert kinds(listener(protocol="TLS", tls={"mode": "Passthrough"})) == ["TLSRoute"]


def test_named_kinds_are_cut_down_to_what_the_protocol_serves() -> None:
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
    world = index(gateway(), gateway_class(status=None if features is None else {"supportedFeatures": features}))
    assert Topology(world).gateways.supports(gateway().ref, MIXED_MODES) is expected


def test_nothing_is_known_against_an_unknown_gateway() -> None:
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


TEAM_A = {"matchLabels": {"team": "a"}}
BY_NAME = {"matchLabels": {"kubernetes.io/metadata.name": "baker"}}


@pytest.mark.parametrize(
    ("namespaces", "expected"),
    [
        ({"from": "None"}, False),
        ({"from": "Everywhere"}, False),
        ({"from": "Same"}, False),
        ({"from": "Selector"}, False),
        ({"from": "Selector", "selector": TEAM_A}, False),
        ({}, False),
        ({"from": "All"}, True),
        ({"from": "Selector", "selector": {}}, True),
        ({"from": "Selector", "selector": {"matchLabels": {"team": "b"}}}, True),
        ({"from": "Selector", "selector": BY_NAME}, True),
    ],
)
def test_what_is_known_of_a_namespace_decides(namespaces: dict[str, Json], *, expected: bool) -> None:
    """Same, All, Selector, and the default for an absent `from`; a missing selector selects nothing."""
    world = index(namespace("baker", {"team": "b"}))
    assert admits_namespace(world, namespaces, "Same", "infra", "baker") is expected


def test_a_namespace_lets_in_its_own() -> None:
    assert admits_namespace(index(), {}, "Same", "infra", "infra") is True


def test_labels_of_an_unread_namespace_are_unknown() -> None:
    """But for the label that follows from its name."""
    assert admits_namespace(index(), {"from": "Selector", "selector": TEAM_A}, "Same", "infra", "baker") is None
    assert admits_namespace(index(), {"from": "Selector", "selector": BY_NAME}, "Same", "infra", "baker") is True
    assert admits_namespace(index(), {"from": "Selector", "selector": BY_NAME}, "Same", "infra", "cook") is False


OPEN: Json = {"namespaces": {"from": "All"}}


def reasons(*entries: dict[str, Json], implementation: Implementation | None = None) -> list[str]:
    """The conflicts among a Gateway's own listeners, named a, b, c …, as `name reason`."""
    named = [{**entry, "name": "abcdef"[number]} for number, entry in enumerate(entries)]
    found = gateway("g", *named)
    conflicts = Topology(index(found), implementation or Implementation()).gateways.conflicts(found.ref)
    return [f"{node.section} {conflict.reason}" for node, conflict in sorted(conflicts.items())]


TLS = listener(protocol="TLS", tls={"mode": "Terminate"}, port=443, hostname="a.example.com")
PASSTHROUGH = listener(protocol="TLS", tls={"mode": "Passthrough"}, port=443, hostname="b.example.com")
HTTPS = listener(protocol="HTTPS", port=443)


@pytest.mark.parametrize(
    ("one", "other"),
    [
        (listener(), listener(port=81)),
        (listener(hostname="a.example.com"), listener(hostname="*.example.com")),
        (listener(hostname="a.example.com"), listener()),
        (listener(protocol="UDP", port=443), HTTPS),
        (listener(protocol="TCP"), listener(protocol="UDP")),
        (HTTPS, PASSTHROUGH),
        (TLS, PASSTHROUGH),
        (listener(protocol="SMTP"), listener()),
        ({**listener(), "port": "80"}, {**listener(), "port": "80"}),
    ],
)
def test_listeners_that_can_be_told_apart_do_not_conflict(one: dict[str, Json], other: dict[str, Json]) -> None:
    """By port, hostname, or UDP beside everything else; what is not supported, or has no port, takes nobody's place."""
    assert reasons(one, other) == []


@pytest.mark.parametrize(
    ("one", "other", "reason"),
    [
        (listener(), listener(), "HostnameConflict"),
        (listener(hostname="A.example.com"), listener(hostname="a.example.com"), "HostnameConflict"),
        (listener(), listener(protocol="HTTPS", hostname="a.example.com"), "ProtocolConflict"),
        (listener(), listener(protocol="TCP"), "ProtocolConflict"),
        (listener(protocol="TCP"), listener(protocol="TCP"), "ProtocolConflict"),
        (listener(protocol="UDP"), listener(protocol="UDP"), "ProtocolConflict"),
        (HTTPS, listener(protocol="TLS", port=443), "HostnameConflict"),
    ],
)
def test_of_a_gateways_own_listeners_none_wins(one: dict[str, Json], other: dict[str, Json], reason: str) -> None:
    assert reasons(one, other) == [f"a {reason}", f"b {reason}"]


def test_tls_modes_mix_only_where_that_is_supported() -> None:
    """Even with different hostnames (feature TLSRouteModeMixed)."""
    without = Implementation(frozenset({MIXED_MODES}))
    assert reasons(TLS, PASSTHROUGH, implementation=without) == ["a ProtocolConflict", "b ProtocolConflict"]
    assert reasons(TLS, {**TLS, "hostname": "c.example.com"}, implementation=without) == []


def test_a_gateway_admits_no_listener_sets_by_default() -> None:
    """`allowedListeners` has to be there and to let the namespace in."""
    closed = gateway("closed")
    silent = gateway("silent", allowedListeners={"namespaces": {}})
    found = gateway("open", allowedListeners={"namespaces": {"from": "Same"}})
    unknown = gateway(
        "unknown", allowedListeners={"namespaces": {"from": "Selector", "selector": {"matchLabels": {"a": "b"}}}}
    )
    world = index(closed, silent, found, unknown)
    ours, theirs = listener_set().ref, listener_set(namespace="baker").ref
    gateways = Topology(world).gateways
    assert [gateways.admits(item.ref, ours) for item in (closed, silent, found)] == [False, False, True]
    assert [gateways.admits(item.ref, theirs) for item in (found, unknown)] == [False, None]


def test_listener_sets_precede_each_other_by_age_then_by_name() -> None:
    """The name is compared as `{namespace}/{name}`; those of unknown age come last."""
    found = [
        resource("ListenerSet", "lost", {}),
        listener_set("a", age=2),
        listener_set("z", age=1),
        listener_set("b", age=1),
        listener_set("b", age=1, group=GATEWAY_API_EXPERIMENTAL),
        listener_set("a", namespace="aa", parent_namespace="default"),
        listener_set("b-b", namespace="a-a", parent_namespace="default"),
    ]
    expected = [found[position].ref for position in (3, 4, 2, 1, 6, 5)]
    assert Topology(index(*found)).gateways.listener_sets(gateway().ref) == tuple(expected)
    assert Topology(index(*reversed(found))).gateways.listener_sets(gateway().ref) == tuple(expected)


def test_the_gateway_precedes_its_listener_sets() -> None:
    """A listener that loses leaves room for those of its own set, and one that loses takes no place from later sets."""
    own = gateway("g", listener("own"), allowedListeners=OPEN)
    first = listener_set("first", listener("tcp", "TCP"), listener("http", hostname="a.example.com"), age=1)
    second = listener_set("second", listener("http", hostname="a.example.com"), listener("udp", "UDP"), age=2)
    world = index(own, first, second)
    conflicts = Topology(world).gateways.conflicts(own.ref)
    assert {f"{node.object.name}#{node.section}": conflict for node, conflict in conflicts.items()} == {
        "first#tcp": Conflict(reason="ProtocolConflict", rival=NodeRef(own.ref, "own")),
        "second#http": Conflict(reason="HostnameConflict", rival=NodeRef(first.ref, "http")),
    }


def test_listeners_of_one_set_that_rule_each_other_out_take_no_place() -> None:
    """A later set may have it; but nothing takes the place of a Gateway's own listeners."""
    own = gateway("g", listener("a"), listener("b"), allowedListeners=OPEN)
    late = listener_set("late", listener("a"), age=3)
    first = listener_set("first", listener("x", port=81), listener("y", port=81), age=1)
    second = listener_set("second", listener("z", port=81), age=2)
    conflicts = Topology(index(own, first, second, late)).gateways.conflicts(own.ref)
    assert sorted(f"{node.object.name}#{node.section}" for node in conflicts) == [
        "first#x",
        "first#y",
        "g#a",
        "g#b",
        "late#a",
    ]


def _rival(one: Listener, other: Listener, *, mixed_modes: bool) -> str:
    """Why two listeners are not distinct, as the API says it of each two ("Distinct Listeners")."""
    protocols = {one.protocol, other.protocol}
    if one.port != other.port or (len(protocols) > 1 and "UDP" in protocols):
        return ""
    if protocols & {"TCP", "UDP"} or ("HTTP" in protocols and len(protocols) > 1):
        return "ProtocolConflict"
    if protocols == {"TLS"} and one.terminates != other.terminates and not mixed_modes:
        return "ProtocolConflict"
    return "HostnameConflict" if one.hostname == other.hostname else ""


@pytest.mark.parametrize("mixed_modes", [True, False])
def test_each_conflicts_with_the_first_that_it_cannot_be_told_from(*, mixed_modes: bool) -> None:
    chance = Random(1)  # noqa: S311 - the same in every run
    for _ in range(200):
        listeners = [
            Listener(
                node=NodeRef(gateway().ref, str(position)),
                field="",
                gateway=gateway().ref,
                protocol=chance.choice(["HTTP", "HTTPS", "TLS", "TCP", "UDP"]),
                port=chance.choice([80, 443, 8080]),
                hostname=chance.choice(["", "a.example.com", "*.example.com"]),
                terminates=chance.choice([True, False]),
                raw={},
            )
            for position in range(chance.randint(2, 6))
        ]
        expected: dict[NodeRef, Conflict] = {}
        for one in listeners:
            for other in listeners:
                reason = "" if one is other else _rival(one, other, mixed_modes=mixed_modes)
                if reason:
                    expected.setdefault(one.node, Conflict(reason=reason, rival=other.node))
        assert conflicts_among([listeners], mixed_modes=mixed_modes) == expected
