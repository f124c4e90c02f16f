"""Failures of policies at listeners: ports that other listeners share, and hostnames that can be the default."""

from __future__ import annotations

from typing import Final

import pytest
from msgspec.structs import replace

from kubectl_policy import PolicyKindProfile, Topology
from kubectl_policy.attachment import attach
from kubectl_policy.attachment.attachment import NotAttached
from kubectl_policy.attachment.listeners import listener_failure
from kubectl_policy.model import GroupKind, Json, NodeRef, Resource
from tests.build import (
    allow,
    gateway,
    gateway_class,
    index,
    listener,
    listener_set,
    node,
    parent,
    policy,
    route,
    rule,
    target,
)

KIND: Final = PolicyKindProfile(GroupKind("example.com", "ColorPolicy"), "inherited", "profile")
WHOLE_PORTS: Final = replace(KIND, ports="whole")
HOSTED: Final = replace(KIND, default_host_field="spec.useDefaultHost")
COLOUR: Final = policy("p", useDefaultHost=True)
G: Final = node("Gateway", "g")
SETS: Final[Json] = {"namespaces": {"from": "Same"}}
WEB: Final = listener("web", hostname="a.org")
API: Final = listener("api", hostname="b.org")
INVALID: Final = listener("api", hostname="b.org", allowedRoutes=allow(kinds=["HTTPRoute", "TCPRoute"]))
ADDED: Final = listener_set("more", listener("x", hostname="x.org"))
SHARED: Final = (
    "listener {} shares port 80 with listener {} of Gateway default/g, and a policy on plain HTTP needs all of a port"
)


def failure(
    profile: PolicyKindProfile, place: NodeRef, *objects: Resource, colour: Resource = COLOUR
) -> NotAttached | None:
    """Return the failure of a policy at a target."""
    return listener_failure(colour, profile, place, Topology(index(gateway_class(), *objects, complete=True)))


@pytest.mark.parametrize(
    ("objects", "section", "rival"),
    [
        ([gateway("g", WEB, API)], "web", "api of Gateway default/g"),
        ([gateway("g", WEB, allowedListeners=SETS), ADDED], "web", "x of ListenerSet default/more"),
        ([gateway("g", WEB), ADDED], "web", ""),
        ([gateway("g", WEB, API)], "", ""),
        ([gateway("g", WEB, allowedListeners=SETS), ADDED], "", ""),
        ([gateway("g", WEB, {**API, "port": 81})], "web", ""),
        ([gateway("g", WEB, INVALID)], "web", ""),
        ([gateway("g", INVALID, WEB)], "api", ""),
        ([gateway("g", WEB, {**WEB, "name": "api"})], "web", ""),
        ([gateway("g", WEB)], "absent", ""),
    ],
)
def test_a_port_that_a_listener_outside_of_the_target_shares(objects: list[Resource], section: str, rival: str) -> None:
    """Only listeners of plain HTTP that are served count; a policy that is refused keeps others out."""
    expected = NotAttached("policy invalid", SHARED.format(rival, section), competes=True) if rival else None
    assert failure(WHOLE_PORTS, replace(G, section=section), *objects) == expected
    assert failure(KIND, replace(G, section=section), *objects) is None


def test_a_listener_set_that_shares_a_port_with_its_gateway() -> None:
    found = failure(WHOLE_PORTS, node("ListenerSet", "more"), gateway("g", WEB, allowedListeners=SETS), ADDED)
    assert found
    assert found.message.startswith("listener web of Gateway default/g shares port 80 with listener x of ListenerSet")


def test_a_route_has_no_listeners() -> None:
    for profile in (WHOLE_PORTS, HOSTED):
        assert failure(profile, node("HTTPRoute", "r"), gateway("g", WEB, API), route()) is None


def to_any(name: str, *hostnames: str, rules: int = 1) -> Resource:
    """Return a route to the listener without a hostname."""
    return route(name, parents=[parent("g", "any")], hostnames=hostnames, rules=[rule() for _ in range(rules)])


@pytest.mark.parametrize(
    ("fields", "routes", "fails"),
    [
        (listener("any", hostname="a.org"), [], False),
        (listener("any", "TCP", 90), [], False),
        (listener("any"), [], True),
        (listener("any", hostname="*.org"), [], True),
        (listener("any"), [to_any("r", "r.org")], False),
        (listener("any"), [to_any("r", "r.org"), to_any("w", "*.w.org")], False),
        (listener("any"), [to_any("w", "*.w.org")], True),
        (listener("any"), [to_any("r", "r.org", "s.org")], True),
        (listener("any"), [to_any("r", "r.org"), to_any("s", "s.org")], True),
        (listener("any"), [to_any("r", "r.org", rules=2)], True),
    ],
)
def test_a_default_host(fields: dict[str, Json], routes: list[Resource], *, fails: bool) -> None:
    """It is the hostname of the listener, or else that of the only rule there which has one without a wildcard."""
    objects = (gateway("g", listener("first", port=70, hostname="first.org"), fields), *routes)
    message = "spec.useDefaultHost needs one hostname without a wildcard at listener any of Gateway default/g"
    expected = NotAttached("policy invalid", message, competes=True) if fails else None
    for place in (G, replace(G, section="any")):
        assert failure(HOSTED, place, *objects) == expected
        assert failure(HOSTED, place, *objects, colour=policy("p", useDefaultHost=False)) is None


def test_a_reference_to_such_a_listener_fails() -> None:
    colour = policy("p", target("g", section="web"), target("g", section="alone"))
    topology = Topology(index(gateway_class(), gateway("g", WEB, API, listener("alone", port=81)), complete=True))
    states = [attachment.state for attachment in attach(colour, WHOLE_PORTS, topology)]
    assert states == ["policy invalid", "attached"]
