"""Controllers that manage an object, by its GatewayClass; policy kinds that the parameters of its Gateway enable."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from typing import TYPE_CHECKING

from kubectl_policy.model import GroupKind, Json, NodeRef, ObjectRef
from kubectl_policy.model.fields import mapping_at, value_at
from kubectl_policy.model.kind_roles import ABOVE_ROUTES, GATEWAY, LISTENER_HOLDERS, PORT_HOLDERS, ROUTES
from kubectl_policy.topology.gateway.handshake import NO_PARENT
from kubectl_policy.topology.references import parameters_ref, parent_refs

if TYPE_CHECKING:
    from kubectl_policy.profiles.needs import RequiredParameter
    from kubectl_policy.topology.graph import Topology
    from kubectl_policy.topology.paths import Path


def is_managed(topology: Topology, obj: ObjectRef, controllers: Collection[str]) -> bool | None:
    """Whether one of the controllers acts on an object, by the class of its Gateway; None where that is unknown.

    A route is acted on if one of its parents is, or of those of a route that delegates to it where routes do; a parent
    that controllers ignore counts only where a listener of it is named. Objects that belong to no Gateway are not
    told apart, and without any controllers every object is acted on.
    """
    if not controllers:
        return True
    if obj.group_kind in ROUTES:
        if topology.index.is_content_unknown(obj):
            return None
        routes, delegations = topology.relations.delegating_routes(obj), topology.relations.delegations
        parents = [
            parent
            for route in routes
            for parent in parent_refs(topology.index, route)
            if route == obj or delegations.may_apply_to(parent.object)
        ]
        acting: set[bool | None] = set()
        for parent in parents:
            ignored = None if parent.section else topology.relations.why_ignored(NodeRef(parent.object))
            if parent.object.group_kind in LISTENER_HOLDERS and not (ignored and ignored.reason == NO_PARENT):
                acting.add(is_managed(topology, parent.object, controllers))
        if topology.possible.may_be_backend(obj):
            acting.add(None)
        return True if True in acting else None if None in acting else False
    if obj.group_kind not in ABOVE_ROUTES:
        return True
    controller = topology.gateways.controller_of(obj)
    return None if controller is None else controller in controllers


def is_path_managed(topology: Topology, path: Path, controllers: Collection[str]) -> bool:
    """Whether one of the controllers acts on what is on a path, as far as is known; it does not act on the mesh."""
    if not controllers:
        return True
    objects = [node.object for node in path]
    gateway = next((obj for obj in objects if obj.group_kind == GATEWAY), None)
    if gateway:
        return is_managed(topology, gateway, controllers) is not False
    kinds = [obj.group_kind for obj in objects if obj.group_kind in (*ROUTES, *PORT_HOLDERS)]
    return not kinds or kinds[0] not in PORT_HOLDERS or not any(kind in ROUTES for kind in kinds)


def parameters_of(topology: Topology, gateway: ObjectRef, kind: GroupKind) -> Mapping[str, Json]:
    """Return the spec of the parameters of a kind: those of the Gateway, merged over those of its class.

    GatewayClass.spec.parametersRef, Gateway.spec.infrastructure.parametersRef: "In the case of conflict, ... merging
    behavior is implementation specific. It is generally recommended that GatewayClass provides defaults that can be
    overridden by a Gateway."
    """
    spec: Mapping[str, Json] = {}
    for ref in _named(topology, gateway, kind):
        spec = _merge(mapping_at(topology.index.defaulted(ref), "spec"), spec)
    return spec


def unread_parameters(topology: Topology, gateway: ObjectRef, enabling: RequiredParameter) -> tuple[ObjectRef, ...]:
    """Return the unread objects that may decide whether a kind can be used on a Gateway: parameters and their holders.

    What a class says does not matter where the Gateway's own parameters say something else.
    """
    named = _named(topology, gateway, enabling.group_kind)
    direct = parameters_ref(topology.index, gateway)
    is_own = direct and direct.object.group_kind == enabling.group_kind
    if (
        direct
        and is_own
        and value_at(topology.index.defaulted(direct.object), f"spec.{enabling.field}") not in (None, {})
    ):
        return ()
    deciding = (*_holders(topology, gateway), *named)
    return tuple(filter(topology.index.is_content_unknown, deciding))


def _holders(topology: Topology, gateway: ObjectRef) -> list[ObjectRef]:
    """Return the objects that may refer to parameters of a Gateway: the Gateway itself, and its class."""
    gateway_class = topology.gateways.class_of(gateway)
    return [gateway, gateway_class] if gateway_class else [gateway]


def _named(topology: Topology, gateway: ObjectRef, kind: GroupKind) -> list[ObjectRef]:
    """Return the parameters of a kind that are referred to: by the class, then by the Gateway."""
    refs = (parameters_ref(topology.index, holder) for holder in reversed(_holders(topology, gateway)))
    return [ref.object for ref in refs if ref and ref.object.group_kind == kind]


def _merge(upper_fields: Mapping[str, Json], lower_fields: Mapping[str, Json]) -> Mapping[str, Json]:
    merged = dict(lower_fields)
    for key, upper in upper_fields.items():
        lower = merged.get(key)
        merged[key] = _merge(upper, lower) if isinstance(upper, Mapping) and isinstance(lower, Mapping) else upper
    return merged


def is_enabled(
    topology: Topology, gateway: ObjectRef, enabling: RequiredParameter, *, itself: bool = False
) -> bool | None:
    """Whether a Gateway's parameters let a policy on a route be used, or (`itself`) one on the Gateway.

    None where that is unknown. A policy on a route is let through where there are no parameters.
    """
    if unread_parameters(topology, gateway, enabling):
        return None
    parameters = parameters_of(topology, gateway, enabling.group_kind)
    if value_at(parameters, enabling.field) not in (None, False, "", {}, []):
        return True
    if any(map(topology.index.get, _named(topology, gateway, enabling.group_kind))):
        return False
    return not itself or enabling.without == "allowed"


def why_disabled(topology: Topology, gateway: ObjectRef, enabling: RequiredParameter) -> str:
    """Explain why the parameters of a Gateway do not enable a kind, with the objects and the field."""
    field = f"spec.{enabling.field}"
    named = [str(ref) for ref in _named(topology, gateway, enabling.group_kind)]
    if not named:
        return f"{gateway} has no {enabling.group_kind.kind} that sets {field}"
    value = value_at(parameters_of(topology, gateway, enabling.group_kind), enabling.field)
    return f"{field} is {'false' if value is False else 'not set'} in {' and '.join(named)} of {gateway}"
