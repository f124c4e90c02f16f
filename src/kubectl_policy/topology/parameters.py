"""The parameters of Gateways: an object of an implementation's own that a Gateway, or its class, refers to."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, NamedTuple

from kubectl_policy.model import GroupKind, ObjectRef
from kubectl_policy.model.fields import mapping_at, text_at, value_at

if TYPE_CHECKING:
    from kubectl_policy.model import Json
    from kubectl_policy.profiles.requirements import Switch
    from kubectl_policy.topology.graph import Topology


class Parameters(NamedTuple):
    """What is in force of the parameters of a Gateway.

    `present` is whether there is such an object; None if one that is referred to was not read, or the class was not.
    """

    spec: Mapping[str, Json]
    present: bool | None


def parameters_of(topology: Topology, gateway: ObjectRef, kind: GroupKind) -> Parameters:
    """The parameters of a kind: those of the Gateway, laid over those of its class.

    GatewayClass.spec.parametersRef, Gateway.spec.infrastructure.parametersRef: "In the case of conflict, ... merging
    behavior is implementation specific. It is generally recommended that GatewayClass provides defaults that can be
    overridden by a Gateway."
    """
    index, gateway_class = topology.index, topology.relations.class_of(gateway)
    of_class = mapping_at(index.raw(gateway_class) if gateway_class else None, "spec.parametersRef")
    of_gateway = mapping_at(index.raw(gateway), "spec.infrastructure.parametersRef")
    spec: Mapping[str, Json] = {}
    unread = gateway_class is not None and index.presence(gateway_class) == "unknown"
    present = False
    for reference in (of_class, of_gateway):
        if (text_at(reference, "group"), text_at(reference, "kind")) != kind:
            continue
        ref = ObjectRef(kind, text_at(reference, "namespace") or gateway.namespace, text_at(reference, "name"))
        found = index.get(ref)
        unread = unread or (found is None and index.presence(ref) == "unknown")
        present = present or found is not None
        spec = _laid_over(mapping_at(found.raw, "spec") if found else {}, spec)
    return Parameters(spec, True if present and not unread else None if unread else present)


def _laid_over(above: Mapping[str, Json], below: Mapping[str, Json]) -> Mapping[str, Json]:
    merged = dict(below)
    for key, value in above.items():
        other = merged.get(key)
        merged[key] = _laid_over(value, other) if isinstance(value, Mapping) and isinstance(other, Mapping) else value
    return merged


def switched_on(topology: Topology, gateway: ObjectRef, switch: Switch, *, itself: bool = False) -> bool | None:
    """Whether a Gateway's parameters let a policy on a route be used, or (`itself`) one on the Gateway.

    None where that is unknown. A policy on a route is let through where there are no parameters.
    """
    found = parameters_of(topology, gateway, switch.group_kind)
    if value_at(found.spec, switch.field) not in (None, False, "", {}, []):
        return True
    if found.present is None:
        return None
    return not found.present and (not itself or switch.without == "allowed")
