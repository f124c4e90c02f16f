"""Which Gateways and listeners are not valid, so that controllers ignore them; see `GatewayProfile`."""

from __future__ import annotations

from typing import TYPE_CHECKING

from kubectl_policy.topology.conditions.gateways import gateway_conditions
from kubectl_policy.topology.conditions.listeners import listener_conditions
from kubectl_policy.topology.gateway.ignored import INVALID_LISTENER, Ignored
from kubectl_policy.topology.gateway.listeners import gateway_profile
from kubectl_policy.topology.references import GATEWAY, LISTENER_SETS, gateway_of

if TYPE_CHECKING:
    from kubectl_policy.model import NodeRef, ObjectRef
    from kubectl_policy.topology.graph import Topology


def why_ignored(topology: Topology, node: NodeRef) -> Ignored | None:
    """Why a Gateway, or a listener of it or of a ListenerSet, serves nothing; None if it does, or may."""
    gateway = _gateway(topology, node.object)
    if gateway is None or not gateway_profile(topology.index, topology.implementation, gateway).ignores_invalid:
        return None
    refused = next((found for found in gateway_conditions(topology, gateway) if found.type == "Accepted"), None)
    if refused and refused.status == "False" and refused.reason != "ListenersNotValid":
        return Ignored("NoMatchingParent", f"{gateway} is not valid: {refused.message}")
    faults = [found for found in listener_conditions(topology, node) if _is_fault(found.type, found.status)]
    if node.section and faults:
        where = f"listener {node.section} of {node.object}"
        return Ignored(INVALID_LISTENER, f"{where} is not valid: {faults[0].message}")
    return None


def _gateway(topology: Topology, owner: ObjectRef) -> ObjectRef | None:
    if owner.group_kind in LISTENER_SETS:
        return gateway_of(topology.index, owner, topology.index.raw(owner))
    return owner if owner.group_kind == GATEWAY else None


def _is_fault(kind: str, status: str) -> bool:
    return kind in {"Accepted", "ResolvedRefs"} and status == "False"
