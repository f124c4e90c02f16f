"""The relations between the kinds of the hierarchy, a row of `LINKS` for each."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final, Literal, TypeAlias

from msgspec import Struct

from kubectl_policy.model import GroupKind, NodeRef, ObjectRef
from kubectl_policy.model.kind_roles import (
    ABOVE_BACKENDS,
    GATEWAY,
    GATEWAY_CLASS,
    LISTENER_HOLDERS,
    LISTENER_SETS,
    NAMESPACE,
    ROUTES,
)

if TYPE_CHECKING:
    from collections.abc import Callable, Container, Iterable

    from kubectl_policy.topology.relations import Relations

# What a relation means for a path; see `Link`.
Carries: TypeAlias = Literal["traffic", "frontend", "place"]
Reference: TypeAlias = Literal["upward", "downward", "inside"]
_Lookup: TypeAlias = "Callable[[Relations, NodeRef], Iterable[NodeRef]]"


class Link(Struct, frozen=True):
    """A relation between nodes of kinds above and nodes of kinds below."""

    name: str
    # "traffic" runs down the link; a "frontend" receives traffic itself, so that paths start at the parent and
    # never go above it; "place" puts objects into a namespace without carrying anything.
    carries: Carries
    # Which end names the other one in a reference; "inside" leads from an object to its own sections.
    reference: Reference
    parent_kinds: Container[GroupKind]
    # None: nodes of any kind.
    child_kinds: Container[GroupKind] | None
    # The nodes at the other end, in an order that does not depend on that of the input.
    down: _Lookup
    up: _Lookup

    def children(self, relations: Relations, node: NodeRef) -> Iterable[NodeRef]:
        """Return the nodes directly below a node by this relation."""
        return self.down(relations, node) if node.object.group_kind in self.parent_kinds else ()

    def parents(self, relations: Relations, node: NodeRef) -> Iterable[NodeRef]:
        """Return the nodes directly above a node by this relation."""
        if self.child_kinds is not None and node.object.group_kind not in self.child_kinds:
            return ()
        return [parent for parent in self.up(relations, node) if parent.object.group_kind in self.parent_kinds]


class _Backends:
    """The kinds that routes may send requests to: all but those above the backends, as far as is known."""

    def __contains__(self, kind: object) -> bool:
        """Whether it is one."""
        return kind not in ABOVE_BACKENDS


BACKENDS: Final = _Backends()


def _nodes(*objects: ObjectRef | None) -> list[NodeRef]:
    return [NodeRef(obj) for obj in objects if obj]


def _parent_gateway(relations: Relations, node: NodeRef) -> Iterable[NodeRef]:
    gateway = None if node.section else relations.gateways.gateway_of(node.object)
    return _nodes(gateway) if gateway and relations.gateways.admits(gateway, node.object) else ()


def _sections(relations: Relations, node: NodeRef) -> Iterable[NodeRef]:
    return [] if node.section else [NodeRef(node.object, section) for section in relations.sections(node.object)]


def _whole(relations: Relations, node: NodeRef) -> Iterable[NodeRef]:
    return _nodes(node.object) if node.section and node.section in relations.sections(node.object) else ()


def _attached_routes(relations: Relations, node: NodeRef) -> Iterable[NodeRef]:
    return _nodes(*relations.attached_to(node))


def _attached_parents(relations: Relations, node: NodeRef) -> Iterable[NodeRef]:
    return () if node.section else relations.attached_parents(node.object)


def _rules(relations: Relations, node: NodeRef) -> Iterable[NodeRef]:
    return [
        NodeRef(route, section)
        for route in relations.routes_forwarding_to(node.object)
        for section in relations.sections(route)
        if node in relations.rule_backends(NodeRef(route, section))
    ]


def _namespace(_: Relations, node: NodeRef) -> Iterable[NodeRef]:
    inside = node.object.namespace and not node.section
    return _nodes(ObjectRef(NAMESPACE, "", node.object.namespace)) if inside else ()


def _without_section(lookup: Callable[[Relations, ObjectRef], Iterable[ObjectRef | None]]) -> _Lookup:
    return lambda relations, node: _nodes(*(() if node.section else lookup(relations, node.object)))


_CLASSES: Final = _without_section(lambda relations, gateway: [relations.gateways.class_of(gateway)])
_GATEWAYS: Final = _without_section(lambda relations, gateway_class: relations.gateways.of_class(gateway_class))
_LISTENER_SETS: Final = _without_section(lambda relations, gateway: relations.gateways.admitted(gateway))


def _backends(relations: Relations, node: NodeRef) -> Iterable[NodeRef]:
    return relations.rule_backends(node)


def _in_namespace(relations: Relations, node: NodeRef) -> Iterable[NodeRef]:
    return _nodes(*relations.objects_in(node.object.name))


LINKS: Final = (
    Link("gateway", "traffic", "upward", (GATEWAY_CLASS,), (GATEWAY,), _GATEWAYS, _CLASSES),
    Link("listener", "traffic", "inside", LISTENER_HOLDERS, LISTENER_HOLDERS, _sections, _whole),
    Link("listener-set", "traffic", "upward", (GATEWAY,), LISTENER_SETS, _LISTENER_SETS, _parent_gateway),
    Link("route", "traffic", "upward", LISTENER_HOLDERS, ROUTES, _attached_routes, _attached_parents),
    Link("mesh-route", "frontend", "upward", BACKENDS, ROUTES, _attached_routes, _attached_parents),
    Link("rule", "traffic", "inside", ROUTES, ROUTES, _sections, _whole),
    Link("backend", "traffic", "downward", ROUTES, None, _backends, _rules),
    Link("port", "traffic", "inside", BACKENDS, BACKENDS, _sections, _whole),
    Link("namespace", "place", "upward", (NAMESPACE,), None, _in_namespace, _namespace),
)
