"""The conditions of a route for each of its parents."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from kubectl_policy import topology
from kubectl_policy.topology import Condition, Topology, route_conditions
from tests.build import backend, gateway, index, listener, parent, resource, route, rule, service

if TYPE_CHECKING:
    from kubectl_policy.model import Json, Resource


def conditions(found: Resource, *others: Resource, position: int = 0, complete: bool = True) -> tuple[Condition, ...]:
    """The conditions of a route for one of its parents."""
    return route_conditions(Topology(index(found, *others, complete=complete)), found.ref, position)


def test_what_is_public_is_named() -> None:
    """Nothing else is looked for where conditions are."""
    with pytest.raises(AttributeError, match="nothing"):
        getattr(topology, "nothing")  # noqa: B009 (type checkers know that it is not there)


def test_the_nearest_miss_is_the_reason() -> None:
    """Of several listeners that refuse, the one whose handshake got furthest tells most."""
    world = gateway(
        "g", listener("tcp", "TCP", 90), listener("http", hostname="a.org"), listener("alt", port=81, hostname="c.org")
    )
    accepted, _ = conditions(route(hostnames=["b.org"]), world, service())
    assert (accepted.status, accepted.reason) == ("False", "NoMatchingListenerHostname")
    assert accepted.message == (
        "hostname b.org does not match a.org of listener http of Gateway default/g; "
        "hostname b.org does not match c.org of listener alt of Gateway default/g"
    )


def test_a_reference_without_a_parent_is_not_accepted() -> None:
    """Neither is one that is not there."""
    found = resource("HTTPRoute", "r", {"parentRefs": [{}]})
    expected = Condition("Accepted", "False", "NoMatchingParent", "the reference names no parent")
    assert conditions(found)[0] == expected


def test_a_doubt_beats_a_refusal() -> None:
    """As long as one listener may take the route, it is not known to be refused."""
    selector: Json = {"namespaces": {"from": "Selector", "selector": {"matchLabels": {"a": "b"}}}}
    world = gateway("g", listener("a"), listener("b", port=81, allowedRoutes=selector), namespace="infra")
    accepted, _ = conditions(route(parents=[parent(namespace="infra")]), world)
    message = "whether listener b of Gateway infra/g selects it is unknown: Namespace default is not in the input"
    assert accepted == Condition("Accepted", "Unknown", "Pending", message)


def test_one_listener_is_enough() -> None:
    """Each parentRef is judged for itself."""
    world = (gateway("g", listener("a", hostname="a.org"), listener("b", port=81)), service())
    found = route(parents=[parent("x"), parent()], hostnames=["b.org"])
    assert conditions(found, *world)[0].reason == "NoMatchingParent"
    assert conditions(found, *world, position=1) == (
        Condition("Accepted", "True", "Accepted"),
        Condition("ResolvedRefs", "True", "ResolvedRefs"),
    )


def test_a_conflicted_listener_takes_a_route_as_far_as_status_goes() -> None:
    """The conflict is in the status of the listener."""
    world = gateway("g", listener("a"), listener("b"))
    assert conditions(route(), world, service())[0] == Condition("Accepted", "True", "Accepted")


def test_the_first_broken_reference_gives_the_reason() -> None:
    """Whether or not the route is accepted; the message has all of them."""
    found = route(rules=[rule(backend("a")), rule(backend("b", namespace="x"), backend("s"))])
    resolved = conditions(found, service())[1]
    assert (resolved.status, resolved.reason) == ("False", "BackendNotFound")
    assert resolved.message == (
        "Service default/a does not exist; "
        "no ReferenceGrant in namespace x lets HTTPRoute default/r refer to Service x/b"
    )


def test_an_unread_backend_is_a_doubt() -> None:
    """In an open world it may exist."""
    resolved = conditions(route(), complete=False)[1]
    assert resolved == Condition("ResolvedRefs", "Unknown", "Pending", "Service default/s is not in the input")
