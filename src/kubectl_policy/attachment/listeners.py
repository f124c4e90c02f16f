"""Failures of policies at listeners: a port that other listeners share, and no hostname that can be the default."""

from __future__ import annotations

from typing import TYPE_CHECKING

from kubectl_policy.attachment.attachment import NotAttached
from kubectl_policy.model.fields import value_at
from kubectl_policy.model.kind_roles import LISTENER_HOLDERS
from kubectl_policy.topology.attached_hostnames import attached_hostnames
from kubectl_policy.topology.gateway.conditions import is_valid_alone

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from kubectl_policy.model import NodeRef, Resource
    from kubectl_policy.profiles import PolicyKindProfile
    from kubectl_policy.topology import Topology
    from kubectl_policy.topology.gateway.gateways import Gateways
    from kubectl_policy.topology.gateway.listeners import Listener


def listener_failure(
    policy: Resource, profile: PolicyKindProfile, target: NodeRef, topology: Topology
) -> NotAttached | None:
    """Return the failure of a policy at the listeners of its target; None if there is none."""
    if target.object.group_kind not in LISTENER_HOLDERS:
        return None
    listeners = _listeners_of(topology.gateways, target)
    if profile.ports == "whole":
        shared = next(_shared_ports(topology.gateways, listeners), "")
        if shared:
            return NotAttached("policy invalid", shared, competes=True)
    if profile.default_host_field and value_at(policy.raw, profile.default_host_field) is True:
        nameless = next((listener for listener in listeners if not _has_default_host(topology, listener)), None)
        if nameless:
            message = f"{profile.default_host_field} needs one hostname without a wildcard at {nameless}"
            return NotAttached("policy invalid", message, competes=True)
    return None


def _listeners_of(gateways: Gateways, target: NodeRef) -> Sequence[Listener]:
    """Return the listeners that a target stands for; for a Gateway also those of its ListenerSets."""
    if target.section:
        listener = gateways.listener(target)
        return [listener] if listener else []
    owners = (target.object, *gateways.admitted(target.object))
    return [listener for owner in owners for listener in gateways.listeners(owner)]


def _shared_ports(gateways: Gateways, listeners: Sequence[Listener]) -> Iterator[str]:
    """Describe each port of plain HTTP that served listeners outside of a target share with one inside."""
    inside = {listener.node for listener in listeners}
    ports = {listener.port: listener for listener in reversed(listeners) if _is_plain(gateways, listener)}
    for port, listener in ports.items():
        for rival in gateways.sharing_port(listener):
            if rival.node not in inside and _is_plain(gateways, rival):
                yield f"{rival} shares port {port} with {listener}, and a policy on plain HTTP needs all of a port"


def _is_plain(gateways: Gateways, listener: Listener) -> bool:
    """Whether a listener serves plain HTTP."""
    return listener.protocol == "HTTP" and gateways.conflict(listener) is None and is_valid_alone(gateways, listener)


def _has_default_host(topology: Topology, listener: Listener) -> bool:
    """Whether a listener of HTTP, or else exactly one rule of its routes, has a hostname without a wildcard."""
    if listener.protocol not in {"HTTP", "HTTPS"} or (listener.hostname and "*" not in listener.hostname):
        return True
    node = listener.node
    names = [
        name
        for route in topology.relations.attached_to(node)
        for name in attached_hostnames(topology, node, route)
        for _ in topology.sections(route)
        if "*" not in name
    ]
    return len(names) == 1
