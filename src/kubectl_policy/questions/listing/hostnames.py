"""Which routes and listeners are meant by a hostname, as Gateway API matches hostnames."""

from __future__ import annotations

from typing import TYPE_CHECKING

from kubectl_policy.model.fields import strings_at
from kubectl_policy.topology.attached_hostnames import attached_hostnames, is_left_to_others
from kubectl_policy.topology.gateway.handshake import WITH_HOSTNAMES
from kubectl_policy.topology.gateway.hostnames import intersect

if TYPE_CHECKING:
    from kubectl_policy.analysis import Analysis
    from kubectl_policy.model import Resource


def serves(name: str, hostname: str) -> bool:
    """Whether a hostname of a listener or route, of which an empty one is any, may match some host of a hostname.

    Without a hostname that is asked for, it does.
    """
    return not hostname or intersect("" if name == "*" else name, hostname) is not False


def takes_requests_for(analysis: Analysis, route: Resource, hostname: str) -> bool:
    """Whether a route is meant by a hostname.

    Where it is attached, that is by the hostnames for which requests reach it; else by those that it asks for.
    """
    if route.ref.group_kind not in WITH_HOSTNAMES:
        return False
    topology = analysis.topology
    attached = [binding.listener for binding in topology.bindings(route.ref) if binding.state == "attached"]
    listeners = [found for node in attached if node and (found := topology.gateways.listener(node))]
    if not listeners:
        return any(serves(name, hostname) for name in strings_at(route.raw, "spec.hostnames"))
    return any(
        serves(name, hostname)
        for listener in listeners
        if not is_left_to_others(topology, listener, hostname)
        for name in attached_hostnames(topology, listener.node, route.ref)
    )
