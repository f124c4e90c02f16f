"""The hostnames for which requests at a listener reach a route that is attached to it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from kubectl_policy.model import NodeRef, ObjectRef
from kubectl_policy.model.kind_roles import ROUTES_WITH_HOSTNAMES
from kubectl_policy.topology.gateway.hostnames import hostnames_in, may_cover
from kubectl_policy.topology.references import hostnames_of

if TYPE_CHECKING:
    from collections.abc import Collection

    from kubectl_policy.topology.graph import Topology
    from kubectl_policy.topology.paths import Path


def attached_hostnames(
    topology: Topology, listener: NodeRef, route: ObjectRef, *, counted: bool = False
) -> tuple[str, ...]:
    """Return the hostnames of a route at a listener, `*` for every host; sorted, and none if the route is not attached.

    With `counted`, a listener that is not served and would take the route has them as well.

    They are what the route's hostnames and the listener's have in common: names "that do not match the Listener
    hostname MUST be ignored" (HTTPRouteSpec.Hostnames). What another listener on the same port is more specific about
    is left to that one: "a request to "foo.example.com" SHOULD only be routed using routes attached to the
    "foo.example.com" Listener (and not the "*.example.com" Listener)" (GatewaySpec.Listeners, "Listener Isolation").
    Where that feature is not supported, only another listener's very hostname is left to it. A route that others
    delegate to has the hostnames of those from which requests reach it.
    """
    at = topology.gateways.listener(listener)
    if at is None:
        return ()
    firsts: Collection[ObjectRef] = (route,)
    if topology.relations.delegations_to(route):
        paths = (path for path in topology.paths(NodeRef(route)) if listener in path)
        firsts = {path[path.index(listener) + 1].object for path in paths}
    names: set[str] = set()
    for first in firsts:
        bindings = topology.relations.bindings_at(first, listener)
        if not [
            binding for binding in bindings if (binding.counts_as_attached if counted else binding.state == "attached")
        ]:
            continue
        hostnames = hostnames_of(topology.index, first) if first.group_kind in ROUTES_WITH_HOSTNAMES else ()
        for _, name in hostnames_in(hostnames or ("",)).intersections(at.hostname):
            if not topology.gateways.has_closer_listener(at, name):
                names.add(name or "*")
    return tuple(sorted(names))


def why_too_wide(topology: Topology, path: Path) -> str:
    """Explain why no hostname of a path's route is inside the listener's; return "" if one is.

    Without hostnames a route takes those of the listener, and without a hostname a listener has every one inside.
    """
    position = next(
        (position for position, node in enumerate(path) if node.object.group_kind in ROUTES_WITH_HOSTNAMES), 0
    )
    section = next((node for node in reversed(path[:position]) if node.section), None)
    listener = topology.gateways.listener(section) if section else None
    route = path[position].object
    hostnames = hostnames_of(topology.index, route)
    if listener is None or not hostnames:
        return ""
    common = hostnames_in(hostnames).intersections(listener.hostname)
    if any(may_cover(listener.hostname, hostname) for hostname, _ in common):
        return ""
    verb = "is" if len(hostnames) == 1 else "are"
    return f"{', '.join(hostnames)} of {route} {verb} wider than {listener.hostname} of {listener}"
