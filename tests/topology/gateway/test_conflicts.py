"""Which ListenerSets a Gateway admits, and which of the listeners cannot be told apart."""

from __future__ import annotations

from random import Random
from typing import TYPE_CHECKING

import pytest

from kubectl_policy.model import NodeRef
from kubectl_policy.model.kind_roles import GATEWAY_API_EXPERIMENTAL
from kubectl_policy.topology import Implementation, Topology
from kubectl_policy.topology.gateway.gateways import MIXED_MODES
from kubectl_policy.topology.gateway.listeners import Conflict, Listener, conflicts_among
from tests.build import gateway, index, listener, listener_set, resource

if TYPE_CHECKING:
    from kubectl_policy.model import Json

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
    """All indistinct listeners are conflicted."""
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
    """Compared with each of the others, one by one."""
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
