"""What a node of a picture is: whether it is there, and what it says itself."""

from __future__ import annotations

from typing import TYPE_CHECKING

from kubectl_policy.model.fields import items_at, mappings_at, strings_at
from kubectl_policy.model.kinds import NAMESPACE
from kubectl_policy.model.unknown import port_at
from kubectl_policy.questions.graph.picture import GraphNode
from kubectl_policy.topology.references import ROUTES

if TYPE_CHECKING:
    from kubectl_policy.analysis import Analysis
    from kubectl_policy.model import Json, NodeRef
    from kubectl_policy.model.unknown import Port
    from kubectl_policy.questions.graph.picture import Outcome


def node_of(
    analysis: Analysis,
    node: NodeRef,
    *,
    virtual: bool = False,
    may_differ: bool = False,
    outcome: Outcome | None = None,
) -> GraphNode:
    """Return a node as it is in one state."""
    index, obj, section = analysis.index, node.object, node.section
    resource = index.get(obj)
    presence = index.presence(obj)
    if section and resource and section not in analysis.topology.sections(obj):
        presence = "missing" if analysis.topology.relations.has_known_sections(obj.group_kind) else "unknown"
    is_route = obj.group_kind in ROUTES
    listener = analysis.topology.gateways.listener(node)
    port = listener.port if listener else _port(analysis, node) if section and not is_route else None
    return GraphNode(
        ref=node,
        presence=presence,
        origin=resource.origin if resource else None,
        virtual=virtual,
        hostnames=tuple(strings_at(resource.raw, "spec.hostnames")) if is_route and resource and not section else (),
        protocol=listener.protocol if listener else "",
        port=port,
        hostname=listener.hostname if listener else "",
        matches=tuple(items_at(said_by(analysis, node), "matches")) if is_route and section else (),
        may_differ=may_differ,
        outcome=outcome,
    )


def _port(analysis: Analysis, node: NodeRef) -> Port | None:
    ports = analysis.topology.relations.ports(node.object).items()
    return next((number for number, name in ports if name == node.section), None)


def said_by(analysis: Analysis, node: NodeRef) -> Json:
    """What a section of an object says itself: a listener, a rule, or a port as it was read; None if it says nothing.

    A rule of a route without rules is filled in, and what ports are is not known of all kinds.
    """
    obj, section = node.object, node.section
    listener = analysis.topology.gateways.listener(node)
    resource = analysis.index.get(obj)
    if listener or not resource:
        return dict(listener.raw) if listener else None
    if obj.group_kind in ROUTES:
        rules = zip(analysis.topology.sections(obj), items_at(resource.raw, "spec.rules"), strict=False)
        return next((rule for name, rule in rules if name == section), None)
    number = _port(analysis, node)
    ports = mappings_at(resource.raw, "spec.ports")
    return next((dict(port) for port in ports if number is not None and port_at(port, "port") == number), None)


def is_there(analysis: Analysis, node: NodeRef) -> bool:
    """Whether an object is there in one state, or a section of it.

    A Namespace is if anything lives in it: of two states, not if that is so in the other one alone.
    """
    obj, section = node.object, node.section
    if section:
        return section in analysis.topology.sections(obj)
    world = analysis.index.world
    if obj.group_kind == NAMESPACE:
        return world.has(obj) or obj.name in world.namespaces
    return analysis.index.presence(obj) == "present"
