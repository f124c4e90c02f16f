"""Whose objects: which controller a Gateway, and what hangs on it, belongs to, by the GatewayClass."""

from __future__ import annotations

from typing import TYPE_CHECKING

from kubectl_policy.model import NodeRef, ObjectRef
from kubectl_policy.topology.gateway.handshake import NO_PARENT
from kubectl_policy.topology.references import (
    GATEWAY,
    GATEWAY_CLASS,
    ROUTES,
    WITH_LISTENERS,
    WITH_PORTS,
    parent_refs,
)

if TYPE_CHECKING:
    from collections.abc import Collection

    from kubectl_policy.model import ObjectRef
    from kubectl_policy.topology.graph import Topology
    from kubectl_policy.topology.paths import Path


def managed(topology: Topology, obj: ObjectRef, controllers: Collection[str]) -> bool | None:
    """Whether one of the controllers acts on an object, by the class of its Gateway; None where that is unknown.

    A route is acted on if one of its parents is, or of those of a route that delegates to it where routes do; a parent
    that controllers ignore counts only where a listener of it is named. Objects that belong to no Gateway are not
    told apart, and without any controllers every object is acted on.
    """
    if not controllers:
        return True
    if obj.group_kind in ROUTES:
        routes, delegations = topology.relations.delegating_routes(obj), topology.relations.delegations
        parents = [
            parent
            for route in routes
            for parent in parent_refs(topology.index, route)
            if route == obj or delegations.may_hold_on(parent.object)
        ]
        acting: set[bool | None] = set()
        for parent in parents:
            ignored = None if parent.section else topology.relations.why_ignored(NodeRef(parent.object))
            if parent.object.group_kind in WITH_LISTENERS and not (ignored and ignored.reason == NO_PARENT):
                acting.add(managed(topology, parent.object, controllers))
        if topology.possible.leads_from_routes(obj):
            acting.add(None)
        return True if True in acting else None if None in acting else False
    if obj.group_kind not in (GATEWAY_CLASS, *WITH_LISTENERS):
        return True
    controller = topology.gateways.controller_of(obj)
    return None if controller is None else controller in controllers


def controlled(topology: Topology, path: Path, controllers: Collection[str]) -> bool:
    """Whether one of the controllers acts on what is on a path, as far as is known; it does not act on the mesh."""
    if not controllers:
        return True
    objects = [node.object for node in path]
    gateway = next((obj for obj in objects if obj.group_kind == GATEWAY), None)
    if gateway:
        return managed(topology, gateway, controllers) is not False
    kinds = [obj.group_kind for obj in objects if obj.group_kind in (*ROUTES, *WITH_PORTS)]
    return not kinds or kinds[0] not in WITH_PORTS or not any(kind in ROUTES for kind in kinds)
