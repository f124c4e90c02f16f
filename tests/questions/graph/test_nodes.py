"""What a node of a picture says of itself."""

from __future__ import annotations

from typing import TYPE_CHECKING

from kubectl_policy import analyze
from kubectl_policy.model import NodeRef
from kubectl_policy.questions.graph.nodes import node_of, section_value
from tests import build
from tests.questions.graph.told import drawn

if TYPE_CHECKING:
    from kubectl_policy.model import Resource
    from kubectl_policy.questions.graph.picture import GraphNode

NAMED = {"path": {"type": "PathPrefix", "value": "/cart"}}


def found(node: NodeRef, *resources: Resource, complete: bool = False) -> GraphNode:
    """A node of a world."""
    return node_of(analyze(build.snapshot(*resources, complete=complete)), node)


def test_what_was_not_read() -> None:
    """Nothing is known of it, nor of a section that is said to be its own."""
    node = found(build.node("Gateway", "g"))
    assert (node.presence, node.origin, node.protocol, node.port) == ("unknown", None, "", None)
    node = found(build.node("HTTPRoute", "r", "rule[0]"), complete=True)
    assert (node.presence, node.hostnames, node.matches) == ("missing", (), ())


def test_sections_that_an_object_lacks() -> None:
    """They are missing, unless what sections of its kind are is not known."""
    assert found(build.node("Gateway", "g", "ghost"), build.gateway()).presence == "missing"
    assert found(build.node("HTTPRoute", "r", "ghost"), build.route()).presence == "missing"
    assert found(build.node("Service", "s", "ghost", group=""), build.service()).presence == "missing"
    fleet = build.resource("Fleet", "f", {}, group="example.com")
    assert found(NodeRef(fleet.ref, "ghost"), fleet).presence == "unknown"


def test_a_listener() -> None:
    """What it is."""
    node = found(build.node("Gateway", "g", "http"), build.gateway())
    assert (node.protocol, node.port) == ("HTTP", 80)
    assert (node.presence, node.origin) == ("present", build.ORIGIN)


def test_a_route_and_its_rules() -> None:
    """Hostnames are the route's, matches its rules': as they are written."""
    route = build.route(hostnames=["a.example.com"], rules=[build.rule(name="cart", matches=[NAMED]), build.rule()])
    whole, *rules = (found(build.node("HTTPRoute", "r", section), route) for section in ("", "cart", "rule[1]"))
    assert (whole.hostnames, whole.matches) == (("a.example.com",), ())
    assert [(rule.hostnames, rule.matches) for rule in rules] == [((), (NAMED,)), ((), ())]
    # A rule is filled in where there is none.
    filled = build.resource("HTTPRoute", "r", {"parentRefs": [build.parent()]})
    node = found(build.node("HTTPRoute", "r", "rule[0]"), filled)
    assert (node.presence, node.matches) == ("present", ())


def test_a_port() -> None:
    """Its number, whatever it is called."""
    service = build.service("s", ("web", 80), 81)
    assert [found(build.node("Service", "s", section, group=""), service).port for section in ("web", "81")] == [
        80,
        81,
    ]
    assert found(build.node("Service", "s", group=""), service).port is None


def test_what_sections_say() -> None:
    """As it was read; nothing where that is not in one place."""
    web, gateway, route = build.service("s", ("web", 80), 81), build.gateway(), build.route(rules=[{"name": "one"}])
    backend = build.resource(
        "Backend", "b", {"endpoints": [{"ip": {"address": "10.0.0.1", "port": 80}}]}, group="gateway.envoyproxy.io"
    )
    analysis = analyze(build.snapshot(web, gateway, route, backend))
    assert section_value(analysis, NodeRef(web.ref, "web")) == {"name": "web", "port": 80}
    assert section_value(analysis, NodeRef(gateway.ref, "http")) == build.listener()
    assert section_value(analysis, NodeRef(route.ref, "one")) == {"name": "one"}
    assert section_value(analysis, NodeRef(route.ref, "two")) is None
    assert section_value(analysis, NodeRef(backend.ref, "80")) is None
    assert section_value(analysis, build.node("Service", "ghost", "80", group="")) is None


def test_virtual_ones() -> None:
    """What policies say is there, of a kind that no API serves."""
    p = build.policy("p", build.target("f", "Fleet", group="no.example.org"), color="red")
    picture = drawn([build.gateway(), p])
    assert [(str(node.ref), node.virtual) for node in picture.nodes if node.ref.kind == "Fleet"] == [
        ("Fleet default/f", True)
    ]
    assert not any(node.virtual for node in picture.nodes if node.ref.kind == "Gateway")
