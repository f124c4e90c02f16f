"""Which listeners a route attaches to, and in what words it is refused."""

from __future__ import annotations

import pytest

from kubectl_policy.model import Json, Resource
from kubectl_policy.topology import Binding, Implementation, Topology
from tests.build import (
    allow,
    gateway,
    index,
    listener,
    listener_set,
    namespace,
    node,
    parent,
    ref,
    resource,
    route,
    service,
    service_parent,
)

OPEN: Json = {"namespaces": {"from": "All"}}
TEAM_A: Json = {"matchLabels": {"team": "a"}}


def bindings(found: Resource, *others: Resource, complete: bool = False) -> tuple[Binding, ...]:
    """The outcomes of a route's handshakes in a world of the given objects."""
    return Topology(index(found, *others, complete=complete)).bindings(found.ref)


def outcome(found: Resource, *others: Resource, complete: bool = False) -> tuple[str, str, str]:
    """State, reason and message of the only outcome."""
    (only,) = bindings(found, *others, complete=complete)
    return only.state, only.reason, only.message


def test_a_parent_that_was_not_read_is_unknown() -> None:
    """In an open world nothing is known of it; in a closed one it does not exist."""
    assert outcome(route()) == ("unknown", "", "Gateway default/g is not in the input")
    refused = ("refused", "NoMatchingParent", "Gateway default/g does not exist")
    assert outcome(route(), complete=True) == refused
    assert outcome(route(), gateway("other")) == ("unknown", "", "Gateway default/g is not in the input")


def test_how_routes_attach_to_another_kind_is_unknown() -> None:
    state, _, message = outcome(route(parents=[parent("x", kind="Waypoint", group="x.io")]))
    assert (state, message) == ("unknown", "it is not known how routes attach to Waypoint.x.io")


@pytest.mark.parametrize(
    ("reference", "message"),
    [
        (parent("g", "admin"), "Gateway default/g has no listener admin; it has listeners http (80), alt (8080)"),
        (parent("g", port=81), "Gateway default/g has no listener port 81; it has listeners http (80), alt (8080)"),
        (
            parent("g", "http", port=8080),
            "Gateway default/g has no listener http with port 8080; it has listeners http (80), alt (8080)",
        ),
    ],
)
def test_a_reference_that_picks_no_listener_matches_no_parent(reference: dict[str, Json], message: str) -> None:
    world = gateway("g", listener("http"), listener("alt", port=8080))
    assert outcome(route(parents=[reference]), world) == ("refused", "NoMatchingParent", message)


def test_a_gateway_without_listeners_matches_nothing() -> None:
    message = "Gateway default/g has no listener; it has none"
    assert outcome(route(), resource("Gateway", "g", {})) == ("refused", "NoMatchingParent", message)


@pytest.mark.parametrize(
    ("entry", "message"),
    [
        (
            listener(allowedRoutes=allow(kinds=["GRPCRoute"])),
            "listener http of Gateway infra/g accepts only GRPCRoute, not HTTPRoute",
        ),
        (listener(protocol="SMTP"), "listener http of Gateway infra/g accepts no routes (protocol SMTP)"),
        (listener(protocol=""), "listener http of Gateway infra/g accepts no routes (protocol not given)"),
        (
            listener(),
            "listener http of Gateway infra/g accepts routes only from its own namespace infra, not from baker",
        ),
        (
            listener(allowedRoutes=allow("Selector", TEAM_A)),
            "namespace baker does not match the selector of listener http of Gateway infra/g",
        ),
        (listener(allowedRoutes=allow("None")), "listener http of Gateway infra/g accepts routes from no namespace"),
    ],
)
def test_a_listener_that_does_not_allow_the_route_refuses(entry: dict[str, Json], message: str) -> None:
    found = route(parents=[parent(namespace="infra")], namespace="baker")
    world = (gateway("g", entry, namespace="infra"), namespace("baker"))
    assert outcome(found, *world) == ("refused", "NotAllowedByListeners", message)


@pytest.mark.parametrize(
    ("hostnames", "message"),
    [
        (
            ["bread.example.com"],
            "hostname bread.example.com does not match *.admin.example.com of listener http of Gateway default/g",
        ),
        (
            ["a.org", "b.org"],
            "hostnames a.org, b.org do not match *.admin.example.com of listener http of Gateway default/g",
        ),
    ],
)
@pytest.mark.parametrize("kind", ["HTTPRoute", "GRPCRoute"])
def test_hostnames_have_to_intersect(kind: str, hostnames: list[str], message: str) -> None:
    world = gateway("g", listener(hostname="*.admin.example.com"))
    expected = ("refused", "NoMatchingListenerHostname", message)
    assert outcome(route(hostnames=hostnames, kind=kind), world) == expected


def test_a_certain_refusal_beats_a_doubt() -> None:
    """A hostname that cannot match makes the labels of an unread Namespace irrelevant."""
    entry = listener(hostname="a.example.com", allowedRoutes=allow("Selector", TEAM_A))
    found = route(parents=[parent(namespace="infra")], hostnames=["b.example.com"])
    assert outcome(found, gateway("g", entry, namespace="infra"))[1] == "NoMatchingListenerHostname"


def test_labels_of_an_unread_namespace_leave_a_doubt() -> None:
    world = gateway("g", listener(allowedRoutes=allow("Selector", TEAM_A)), namespace="infra")
    message = "whether listener http of Gateway infra/g selects it is unknown: Namespace default is not in the input"
    assert outcome(route(parents=[parent(namespace="infra")]), world) == ("unknown", "", message)


def test_a_route_attaches_to_every_listener_that_takes_it() -> None:
    """Those for other hosts are not meant, unless no listener takes the route, or may."""
    listeners = listener("a", hostname="a.org"), listener("b", hostname="*.org"), listener("c", port=81)
    found = bindings(route(hostnames=["b.org"]), gateway("g", *listeners))
    assert [(item.listener, item.state) for item in found] == [
        (node("Gateway", "g", "b"), "attached"),
        (node("Gateway", "g", "c"), "attached"),
    ]
    for_others = gateway("g", *listeners[:1], listener("d", hostname="d.org"))
    found = bindings(route(hostnames=["b.org"]), for_others)
    assert [(item.listener, item.state) for item in found] == [
        (node("Gateway", "g", "a"), "refused"),
        (node("Gateway", "g", "d"), "refused"),
    ]


def test_listeners_for_other_hosts_are_there_for_those_who_ask() -> None:
    found = route(hostnames=["b.org"])
    world = index(gateway("g", listener("a", hostname="a.org"), listener("b", hostname="*.org")), found)
    assert [(item.listener, item.state) for item in Topology(world).all_bindings(found.ref)] == [
        (node("Gateway", "g", "a"), "refused"),
        (node("Gateway", "g", "b"), "attached"),
    ]


@pytest.mark.parametrize("more", [0, 60])
@pytest.mark.parametrize(
    "hostname", ["a.org", "*.b.org", "d.b.org", "C.B.org", "*.net", "${ROUTE}", "h0.example", "none.example"]
)
def test_the_listeners_that_take_a_route_are_found_among_many(hostname: str, more: int) -> None:
    """Also for domains, placeholders, and protocols that have no hostnames."""
    names = [
        "a.org",
        "*.b.org",
        "c.b.org",
        "${HOST}.x.b.org",
        "x.c.b.org",
        "*.net",
        *(f"h{n}.example" for n in range(more)),
    ]
    for_hosts = [listener(f"l{n}", port=1000 + n, hostname=name) for n, name in enumerate(names)]
    found = route(hostnames=[hostname, "z.example"])
    topology = Topology(index(gateway("g", listener("tcp", protocol="TCP"), *for_hosts), found))
    every = topology.all_bindings(found.ref)
    taking = [item for item in every if item.state != "refused"]
    if taking:
        assert [item for item in topology.bindings(found.ref) if item.state != "refused"] == taking
        assert len(topology.bindings(found.ref)) == len(taking) + 1
    else:
        assert topology.bindings(found.ref) == every[:65]


def test_of_more_listeners_than_there_may_be_the_first_for_other_hosts_count() -> None:
    """And all that have a hostname of the route, or that it names."""
    others = [listener(f"l{n}", port=1000 + n, hostname=f"h{n}.example") for n in range(100)]
    closed = listener("closed", hostname="b.org", allowedRoutes={"namespaces": {"from": "Selector"}})
    found = bindings(route(hostnames=["b.org"]), gateway("g", *others, closed))
    assert [item.listener.section for item in found if item.listener] == [*(f"l{n}" for n in range(64)), "closed"]
    (named,) = bindings(route(hostnames=["b.org"], parents=[parent("g", "l99")]), gateway("g", *others, closed))
    assert (named.listener, named.reason) == (node("Gateway", "g", "l99"), "NoMatchingListenerHostname")


def test_an_attached_route_has_no_reason_and_no_message() -> None:
    found = route(parents=["broken", parent("g", "http", port=80)])  # type: ignore[list-item]  # hostile on purpose
    (only,) = bindings(found, gateway())
    assert (only.route, only.parent_index, only.parent) == (found.ref, 1, gateway().ref)
    assert (only.listener, only.state, only.reason, only.message) == (node("Gateway", "g", "http"), "attached", "", "")


def test_tcp_routes_have_no_hostnames() -> None:
    """Hostnames that the kind does not have, or the protocol does not look at, are ignored."""
    world = gateway("g", listener(protocol="TCP", hostname="a.org"))
    assert outcome(route(kind="TCPRoute", hostnames=["b.org"]), world)[0] == "attached"
    tls = gateway("g", listener(protocol="TLS", hostname="a.org", tls={"mode": "Terminate"}))
    assert outcome(route(kind="TCPRoute", hostnames=["b.org"]), tls)[0] == "attached"
    assert outcome(route(kind="TLSRoute", hostnames=["b.org"]), tls)[0] == "refused"


def test_a_conflicted_listener_serves_nothing() -> None:
    """It is not known to which of two the traffic belongs, so none reaches the route; status counts it all the same."""
    first, second = bindings(route(), gateway("g", listener("a"), listener("b")))
    assert first.message == "listener a of Gateway default/g conflicts with listener b of Gateway default/g"
    assert [(item.state, item.reason, item.counts_as_attached) for item in (first, second)] == [
        ("refused", "HostnameConflict", True)
    ] * 2


def test_what_a_conflicted_listener_would_not_take_is_refused_for_that() -> None:
    world = gateway("g", listener("a", hostname="a.org"), listener("b", hostname="a.org"))
    found = bindings(route(hostnames=["b.org"]), world)
    assert [(item.reason, item.counts_as_attached) for item in found] == [("NoMatchingListenerHostname", False)] * 2


def set_parent() -> list[dict[str, Json]]:
    """A parentRef to the ListenerSet `ls`."""
    return [parent("ls", kind="ListenerSet")]


@pytest.mark.parametrize(
    ("others", "message"),
    [
        (
            [resource("ListenerSet", "ls", {"listeners": [listener()]})],
            "ListenerSet default/ls names no Gateway as its parent",
        ),
        (
            [listener_set("ls"), gateway("other")],
            "Gateway default/g, the parent of ListenerSet default/ls, does not exist",
        ),
        (
            [listener_set("ls"), gateway("g")],
            "Gateway default/g does not allow ListenerSet default/ls to attach (spec.allowedListeners)",
        ),
    ],
)
def test_a_listener_set_without_its_gateway_takes_nothing(others: list[Resource], message: str) -> None:
    assert outcome(route(parents=set_parent()), *others, complete=True) == ("refused", "NotAllowedByListeners", message)


@pytest.mark.parametrize(
    ("others", "message"),
    [
        ([], "Gateway infra/g, the parent of ListenerSet default/ls, is not in the input"),
        (
            [
                gateway(
                    "g", namespace="infra", allowedListeners={"namespaces": {"from": "Selector", "selector": TEAM_A}}
                )
            ],
            "whether Gateway infra/g selects ListenerSet default/ls is unknown: Namespace default is not in the input",
        ),
    ],
)
def test_a_listener_set_whose_attachment_is_unknown_leaves_a_doubt(others: list[Resource], message: str) -> None:
    """The Gateway, or the labels that it selects by, were not read."""
    world = (listener_set("ls", parent_namespace="infra"), *others)
    assert outcome(route(parents=set_parent()), *world) == ("unknown", "", message)


def test_a_route_attaches_to_an_admitted_listener_set_and_not_to_its_gateway() -> None:
    """Each parent is asked for itself; allowedRoutes Same means the namespace of the ListenerSet."""
    world = (
        gateway("g", namespace="infra", allowedListeners=OPEN),
        listener_set("ls", listener("ls", port=81), parent_namespace="infra"),
    )
    found = bindings(route(parents=[*set_parent(), parent("g", "ls", namespace="infra")]), *world)
    assert [(item.listener, item.reason) for item in found] == [
        (node("ListenerSet", "ls", "ls"), ""),
        (None, "NoMatchingParent"),
    ]


@pytest.mark.parametrize(
    ("reference", "message"),
    [
        (service_parent(port=81), "Service default/s has no port 81; it has ports http, 8080"),
        (service_parent(sectionName="grpc"), "Service default/s has no grpc; it has ports http, 8080"),
        (
            service_parent(sectionName="http", port=8080),
            "Service default/s has no http with port 8080; it has ports http, 8080",
        ),
    ],
)
def test_a_parent_service_needs_the_port(reference: dict[str, Json], message: str) -> None:
    world = service("s", ("http", 80), 8080)
    assert outcome(route(parents=[reference]), world) == ("refused", "NoMatchingParent", message)


def test_a_route_attaches_to_a_parent_service() -> None:
    """From any namespace; a port is a section of the Service."""
    found = route(parents=[service_parent(namespace="x"), service_parent(namespace="x", port=80)])
    whole, port = bindings(found, service("s", ("http", 80), namespace="x"))
    assert (whole.listener, whole.state) == (None, "attached")
    assert (port.listener, port.state) == (node("Service", "s", "http", "x", ""), "attached")


def test_settings_reach_the_handshake() -> None:
    world = gateway("g", listener(protocol="TLS", tls={"mode": "Terminate"}))
    found = route(kind="TLSRoute")
    topology = Topology(index(found, world), Implementation(frozenset({"TLSRouteModeTerminate"})))
    assert (
        topology.bindings(found.ref)[0].message == "listener http of Gateway default/g accepts no routes (protocol TLS)"
    )


def test_an_unread_route_has_no_bindings() -> None:
    assert Topology(index()).bindings(ref("HTTPRoute", "r")) == ()
