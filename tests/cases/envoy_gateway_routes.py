"""What this project says of routes, Gateways, ListenerSets and listeners, as the cases of Envoy Gateway write it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from kubectl_policy import GroupKind, NodeRef
from kubectl_policy.topology import (
    attached_hostnames,
    attached_routes,
    listener_conditions,
    listener_set_conditions,
    route_conditions,
)
from tests.cases.names import identity, parent_reference, slashed
from tests.cases.objects import ROUTES, WITH_LISTENERS, is_managed, objects, outcome

if TYPE_CHECKING:
    from collections.abc import Iterator

    from kubectl_policy import Analysis, ObjectRef
    from tests.cases.objects import Entry

# Whose controllers they are is what the profile of any kind of the implementation says.
_ANY_KIND: Final = GroupKind("gateway.envoyproxy.io", "BackendTrafficPolicy")


def _managed(analysis: Analysis, parent: ObjectRef) -> bool:
    return is_managed(analysis, parent, _ANY_KIND)


def routes(analysis: Analysis) -> list[Entry]:
    """Every route with each of its parents."""
    return [{**identity(route), "parents": list(_parents(analysis, route))} for route in objects(analysis, *ROUTES)]


def _parents(analysis: Analysis, route: ObjectRef) -> Iterator[Entry]:
    bindings = analysis.topology.bindings(route)
    for position, parent in sorted({(binding.parent_index, binding.parent) for binding in bindings}):
        accepted, resolved = route_conditions(analysis.topology, route, position)
        yield {
            "parentRef": parent_reference(analysis, route, position, parent),
            "managed": _managed(analysis, parent),
            "accepted": outcome(accepted),
            "resolvedRefs": outcome(resolved),
        }


def gateways(analysis: Analysis) -> list[Entry]:
    """Every Gateway."""
    return [{**identity(gateway), "managed": _managed(analysis, gateway)} for gateway in objects(analysis, "Gateway")]


def listener_sets(analysis: Analysis) -> list[Entry]:
    """Every ListenerSet."""
    return [
        {**identity(found), "accepted": outcome(listener_set_conditions(analysis.topology.gateways, found)[0])}
        for found in objects(analysis, "ListenerSet")
    ]


def listeners(analysis: Analysis) -> list[Entry]:
    """Every listener of every Gateway and ListenerSet."""
    owners = objects(analysis, *WITH_LISTENERS)
    return [
        {**identity(owner), "listener": section, **_listener(analysis, NodeRef(owner, section))}
        for owner in owners
        for section in analysis.topology.sections(owner)
    ]


def _listener(analysis: Analysis, node: NodeRef) -> Entry:
    topology = analysis.topology
    conditions = {condition.type: condition for condition in listener_conditions(topology.gateways, node)}
    conflicted = conditions["Conflicted"].status == "True"
    attached = attached_routes(topology, node)
    return {
        "attachedRoutes": len(attached),
        "routes": [slashed(route) for route in attached],
        "hostnames": {slashed(route): list(attached_hostnames(topology, node, route)) for route in attached},
        "conflicted": {"conflicted": conflicted, "reason": conditions["Conflicted"].reason if conflicted else None},
        "resolvedRefs": outcome(conditions["ResolvedRefs"]),
    }
