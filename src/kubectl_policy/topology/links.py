"""The relations between the kinds of the hierarchy: one row each, which is all that a further relation needs."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final, NamedTuple

from kubectl_policy.model import NodeRef, ObjectRef
from kubectl_policy.model.kinds import NAMESPACE
from kubectl_policy.topology.hierarchy import WITH_LISTENERS
from kubectl_policy.topology.references import GATEWAY, GATEWAY_CLASS, LISTENER_SETS, ROUTES, WITH_PORTS, gateway_of

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterable, Sequence

    from kubectl_policy.model import GroupKind
    from kubectl_policy.topology.relations import Relations


class Link(NamedTuple):
    """A relation; `children` and `parents` list its ends at a node, in an order that the input's does not change.

    `carries` tells what it means for a path: "traffic" runs down it; a "frontend" receives traffic itself, so that
    paths start at the parent and never go above it; "place" puts objects into a namespace without carrying anything.
    Only nodes of the kinds `above` have children by it, only those of the kinds `below` have parents; where none is
    named, those of any kind may.
    """

    name: str
    carries: str
    children: Callable[[Relations, NodeRef], Iterable[NodeRef]]
    parents: Callable[[Relations, NodeRef], Iterable[NodeRef]]
    above: Collection[GroupKind] = ()
    below: Collection[GroupKind] = ()


def _gateways(relations: Relations, node: NodeRef) -> Iterable[NodeRef]:
    return (NodeRef(gateway) for gateway in relations.gateways_of(node.object) if not node.section)


def _gateway_class(relations: Relations, node: NodeRef) -> Iterable[NodeRef]:
    if node.object.group_kind != GATEWAY or node.section:
        return ()
    found = relations.class_of(node.object)
    return (NodeRef(found),) if found else ()


def _sections_of(
    kinds: Sequence[GroupKind],
) -> tuple[
    Callable[[Relations, NodeRef], Iterable[NodeRef]],
    Callable[[Relations, NodeRef], Iterable[NodeRef]],
]:
    def down(relations: Relations, node: NodeRef) -> Iterable[NodeRef]:
        if node.section or node.object.group_kind not in kinds:
            return ()
        return (NodeRef(node.object, section) for section in relations.sections(node.object))

    def up(relations: Relations, node: NodeRef) -> Iterable[NodeRef]:
        known = node.object.group_kind in kinds and node.section in relations.sections(node.object)
        return (NodeRef(node.object),) if known else ()

    return down, up


def _listener_sets(relations: Relations, node: NodeRef) -> Iterable[NodeRef]:
    if node.object.group_kind != GATEWAY or node.section:
        return ()
    found = relations.listener_sets(node.object)
    return (NodeRef(listener_set) for listener_set in found if relations.admits(node.object, listener_set))


def _parent_gateway(relations: Relations, node: NodeRef) -> Iterable[NodeRef]:
    if node.object.group_kind not in LISTENER_SETS or node.section:
        return ()
    gateway = gateway_of(relations.index, node.object, relations.index.raw(node.object))
    return (NodeRef(gateway),) if gateway and relations.admits(gateway, node.object) else ()


def _attached_to(
    kinds: Sequence[GroupKind],
) -> tuple[
    Callable[[Relations, NodeRef], Iterable[NodeRef]],
    Callable[[Relations, NodeRef], Iterable[NodeRef]],
]:
    def down(relations: Relations, node: NodeRef) -> Iterable[NodeRef]:
        if node.object.group_kind not in kinds:
            return ()
        return (NodeRef(route) for route in relations.attached_to(node))

    def up(relations: Relations, node: NodeRef) -> Iterable[NodeRef]:
        if node.object.group_kind not in ROUTES or node.section:
            return ()
        return dict.fromkeys(
            binding.listener or NodeRef(binding.parent)
            for binding in relations.bindings(node.object)
            if binding.state == "attached" and binding.parent.group_kind in kinds
        )

    return down, up


def _backends(relations: Relations, node: NodeRef) -> Iterable[NodeRef]:
    if node.object.group_kind not in ROUTES or not node.section:
        return ()
    return relations.below_rule(node)


def _rules(relations: Relations, node: NodeRef) -> Iterable[NodeRef]:
    return (
        NodeRef(route, section)
        for route in relations.routes_forwarding_to(node.object)
        for section in relations.sections(route)
        if node in relations.below_rule(NodeRef(route, section))
    )


def _in_namespace(relations: Relations, node: NodeRef) -> Iterable[NodeRef]:
    if node.object.group_kind != NAMESPACE:
        return ()
    return (NodeRef(obj) for obj in relations.in_namespace(node.object.name))


def _namespace(_: Relations, node: NodeRef) -> Iterable[NodeRef]:
    if node.section or not node.object.namespace:
        return ()
    return (NodeRef(ObjectRef(NAMESPACE, "", node.object.namespace)),)


LINKS: Final[tuple[Link, ...]] = (
    Link("gateway", "traffic", _gateways, _gateway_class, (GATEWAY_CLASS,), (GATEWAY,)),
    Link("listener", "traffic", *_sections_of(WITH_LISTENERS), WITH_LISTENERS, WITH_LISTENERS),
    Link("listener-set", "traffic", _listener_sets, _parent_gateway, (GATEWAY,), LISTENER_SETS),
    Link("route", "traffic", *_attached_to(WITH_LISTENERS), WITH_LISTENERS, ROUTES),
    Link("mesh-route", "frontend", *_attached_to(WITH_PORTS), WITH_PORTS, ROUTES),
    Link("rule", "traffic", *_sections_of(ROUTES), ROUTES, ROUTES),
    Link("backend", "traffic", _backends, _rules, ROUTES),
    Link("port", "traffic", *_sections_of(WITH_PORTS), WITH_PORTS, WITH_PORTS),
    Link("namespace", "place", _in_namespace, _namespace, (NAMESPACE,)),
)
