"""What is to be filled in of listeners and routes: undecided where it decides, and said so."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from kubectl_policy.topology import Topology, listener_conditions
from tests.build import (
    allow,
    gateway,
    gateway_class,
    index,
    listener,
    listener_set,
    namespace,
    node,
    parent,
    ref,
    route,
    service,
    service_parent,
)

if TYPE_CHECKING:
    from collections.abc import Mapping

    from kubectl_policy.model import Json, Resource

ALL: Json = {"namespaces": {"from": "All"}}


def outcomes(found: Resource, *others: Resource) -> list[tuple[str, str, str]]:
    """State, listener and message of each outcome in a world that is complete."""
    bindings = Topology(index(found, *others, complete=True)).bindings(found.ref)
    return [(each.state, each.listener.section if each.listener else "", each.message) for each in bindings]


def states(found: Resource, *others: Resource) -> list[str]:
    """The state of each outcome."""
    return [state for state, _, _ in outcomes(found, *others)]


@pytest.mark.parametrize(
    ("hostnames", "hostname", "state"),
    [
        (["${X}.example.com"], "*.example.com", "unknown"),
        (["${X}.example.com"], "*.other.org", "refused"),
        (["${X}.example.com", "a.example.com"], "*.example.com", "attached"),
        (["a.example.com"], "*.${D}", "unknown"),
        (["a.${D}"], "*.${D}", "attached"),
        (["a.${D}"], "${D}", "refused"),
        (["A.${D}"], "*.${D}", "attached"),
    ],
)
def test_hostnames(hostnames: list[str], hostname: str, state: str) -> None:
    """A route is attached if one of them certainly matches, and refused if none can."""
    assert states(route(hostnames=hostnames), gateway("g", listener(hostname=hostname))) == [state]


def test_hostnames_in_words() -> None:
    """As they are written."""
    (found,) = outcomes(route(hostnames=["a.example.com"]), gateway("g", listener(hostname="*.${Domain}")))
    assert found[2] == (
        "whether hostname a.example.com does not match *.${Domain} of listener http of Gateway default/g cannot be "
        "known yet: something is to be filled in"
    )


@pytest.mark.parametrize(
    ("reference", "states_of_both"),
    [
        (parent("g", "${S}"), [("unknown", "http"), ("unknown", "alt")]),
        (parent("g", "${S}tp"), [("unknown", "http")]),
        (parent("g", port="${P}"), [("unknown", "http"), ("unknown", "alt")]),
        (parent("g", "alt", port="${P}"), [("unknown", "alt")]),
        (parent("g", "x-${S}"), [("refused", "")]),
    ],
)
def test_what_a_reference_picks(reference: Mapping[str, Json], states_of_both: list[tuple[str, str]]) -> None:
    """A section or a port that is to be filled in may be that of any listener that fits."""
    world = gateway("g", listener("http"), listener("alt", port=8080))
    assert [(state, section) for state, section, _ in outcomes(route(parents=[reference]), world)] == states_of_both


def test_listeners_whose_names_and_ports_are_not_known() -> None:
    """They may be what is picked; equal placeholders are equal."""
    world = gateway("g", listener("${L}"), listener("alt", hostname="b.org") | {"port": "${P}"})
    assert states(route(parents=[parent("g", "http")]), world) == ["unknown"]
    assert states(route(parents=[parent("g", "${L}")]), world) == ["attached", "unknown"]
    assert states(route(parents=[parent("g", "alt", port=8080)]), world) == ["unknown"]
    assert states(route(parents=[parent("g", "alt", port="${P}")]), world) == ["unknown", "attached"]


def test_ports_of_a_parent_service() -> None:
    """By name and by number."""
    world = service("s", ("web", 80), {"name": "api", "port": "${P}"})
    assert outcomes(route(parents=[service_parent(sectionName="${S}")]), world) == [
        ("unknown", "", "which port of Service default/s ${S} is cannot be known yet")
    ]
    assert states(route(parents=[service_parent(port=81)]), world) == ["unknown"]
    assert outcomes(route(parents=[service_parent(port="${P}")]), world) == [("attached", "api", "")]
    assert states(route(parents=[service_parent(port=81)]), service("s", 80)) == ["refused"]


@pytest.mark.parametrize(
    "fields",
    [
        {"protocol": "${P}"},
        {"protocol": "TCP", "allowedRoutes": allow(kinds=["${K}"])},
        {"protocol": "TLS", "tls": {"mode": "${M}"}},
    ],
)
def test_which_kinds_a_listener_serves(fields: dict[str, Json]) -> None:
    """By its protocol, its TLS mode and the kinds that it names."""
    ((state, _, message),) = outcomes(route(kind="TCPRoute"), gateway("g", listener() | fields))
    assert state == "unknown"
    assert message.endswith("cannot be known yet: its protocol or its kinds are to be filled in")


def test_an_unknown_protocol_makes_no_condition_fail() -> None:
    """It may be one that is supported."""
    world = gateway("g", listener(protocol="${P}", allowedRoutes=allow(kinds=["TCPRoute"])))
    gateways = Topology(index(world, complete=True)).gateways
    conditions = {each.type: each.status for each in listener_conditions(gateways, node("Gateway", "g", "http"))}
    assert conditions == {"Accepted": "Unknown", "Conflicted": "False", "ResolvedRefs": "True"}


def test_namespaces_that_a_listener_takes_routes_from() -> None:
    """By a word, by their names, and by their labels."""
    found = route(namespace="app", parents=[parent(namespace="default")])
    unknown_word = gateway("g", listener(allowedRoutes={"namespaces": {"from": "${F}"}}))
    ((state, _, message),) = outcomes(found, unknown_word)
    assert state == "unknown"
    assert message.endswith(
        "Gateway default/g, in namespace default, takes routes of namespace app cannot be known yet"
    )
    homeless = route(namespace="${NS}", parents=[parent(namespace="default")])
    assert states(homeless, gateway("g")) == ["unknown"]
    assert states(homeless, gateway("g", listener(allowedRoutes=allow("None")))) == ["refused"]
    selecting = gateway("g", listener(allowedRoutes=allow("Selector", {"matchLabels": {"team": "edge"}})))
    ((state, _, message),) = outcomes(found, selecting, namespace("app", {"team": "${TEAM}"}))
    assert state == "unknown"
    assert message.endswith("a label of Namespace app, or what is selected, is to be filled in")
    assert states(found, selecting, namespace("app", {"team": "x-${TEAM}"})) == ["refused"]


def test_a_gateway_that_may_select_a_listener_set() -> None:
    """By labels that are to be filled in."""
    allowed: Json = {"namespaces": allow("Selector", {"matchLabels": {"team": "${T}"}})["namespaces"]}
    world = (
        gateway("g", allowedListeners=allowed),
        listener_set("ls", namespace="app", parent_namespace="default"),
        namespace("app", {"team": "a"}),
    )
    found = route(namespace="app", parents=[parent("ls", kind="ListenerSet")])
    ((state, _, message),) = outcomes(found, *world)
    assert state == "unknown"
    assert message.startswith("whether Gateway default/g selects ListenerSet app/ls is unknown: a label of Namespace")


@pytest.mark.parametrize(
    ("one", "other", "state"),
    [
        ({"hostname": "a.org"}, {"hostname": "${H}"}, "unknown"),
        ({"hostname": "a.org"}, {"hostname": "${H}.com"}, "attached"),
        ({"hostname": "${A}"}, {"hostname": "${B}"}, "attached"),
        ({"hostname": "${A}"}, {"hostname": "${A}"}, "refused"),
        ({"hostname": "a.org"}, {"hostname": "a.org", "port": "${P}"}, "unknown"),
        ({"hostname": "a.org"}, {"hostname": "b.org", "port": "${P}"}, "attached"),
        ({"port": "${P}"}, {"port": "${P}"}, "refused"),
        ({"port": "${P}"}, {"port": "${Q}"}, "attached"),
        ({}, {"port": 81, "hostname": "${H}"}, "attached"),
        ({}, {"protocol": "${P}"}, "unknown"),
        ({}, {"protocol": "TCP", "port": "${P}"}, "unknown"),
        ({}, {"protocol": "UDP", "port": "${P}"}, "attached"),
    ],
)
def test_conflicts(one: dict[str, Json], other: dict[str, Json], state: str) -> None:
    """Undecided if they may arise; whoever writes two variables means two values."""
    found = route(parents=[parent("g", "one")])
    assert states(found, gateway("g", listener("one") | one, listener("other") | other)) == [state]


def test_a_possible_conflict_in_words() -> None:
    """With the other listener."""
    world = gateway("g", listener("one"), listener("other", protocol="${P}"))
    (found,) = outcomes(route(parents=[parent("g", "one")]), world)
    assert found[2] == (
        "whether listener one of Gateway default/g conflicts with listener other of Gateway default/g cannot be known "
        "yet: something of them is to be filled in"
    )


def test_udp_listeners_whose_ports_may_be_the_same() -> None:
    """As for all others."""
    world = gateway("g", listener("one", "UDP"), listener("other", "UDP") | {"port": "${P}"})
    assert states(route(kind="UDPRoute", parents=[parent("g", "one")]), world) == ["unknown"]


def test_a_controller_that_is_not_known() -> None:
    """Of a GatewayClass, and of what belongs to it."""
    gateways = Topology(index(gateway(), gateway_class(controller="${C}"))).gateways
    assert gateways.controller_of(ref("Gateway", "g")) is None
