"""What this project says of routes, Gateways, ListenerSets and listeners, as the cases of Envoy Gateway write it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from kubectl_policy import GroupKind, NodeRef
from kubectl_policy.model.kinds import GATEWAY_API
from kubectl_policy.topology import (
    attached_hostnames,
    attached_routes,
    listener_conditions,
    listener_set_conditions,
    route_conditions,
)
from kubectl_policy.topology.controllers import managed
from tests.cases.envoy_gateway_names import identity, parent_reference, slashed

if TYPE_CHECKING:
    from collections.abc import Iterator

    from kubectl_policy import Analysis, ObjectRef
    from kubectl_policy.questions.policy_status import PolicyCondition
    from kubectl_policy.topology import Condition

Entry = dict[str, object]

# Whose controllers they are is what the profile of any kind of the implementation says.
_ANY_KIND: Final = GroupKind("gateway.envoyproxy.io", "BackendTrafficPolicy")
ROUTES: Final = ("HTTPRoute", "GRPCRoute", "TLSRoute", "TCPRoute", "UDPRoute")


def objects(analysis: Analysis, *kinds: str) -> Iterator[ObjectRef]:
    """The objects of some kinds of the Gateway API, kind by kind."""
    for kind in kinds:
        for resource in analysis.index.of_kind(GroupKind(GATEWAY_API, kind)):
            yield resource.ref


def is_managed(analysis: Analysis, parent: ObjectRef) -> bool:
    """Whether a parent is a Gateway of a controller of the profiles, or a ListenerSet that such a Gateway admits."""
    topology = analysis.topology
    above = (parent, *(node.object for node in topology.parents(NodeRef(parent))))
    found = (gateway for gateway in above if gateway.kind == "Gateway")
    controllers = analysis.registry.known(_ANY_KIND).controllers
    return any(managed(topology, gateway, controllers) for gateway in found)


def routes(analysis: Analysis) -> list[Entry]:
    """Every route with each of its parents."""
    return [{**identity(route), "parents": list(_parents(analysis, route))} for route in objects(analysis, *ROUTES)]


def _parents(analysis: Analysis, route: ObjectRef) -> Iterator[Entry]:
    bindings = analysis.topology.bindings(route)
    for position, parent in sorted({(binding.parent_index, binding.parent) for binding in bindings}):
        accepted, resolved = route_conditions(analysis.topology, route, position)
        yield {
            "parentRef": parent_reference(analysis, route, position, parent),
            "managed": is_managed(analysis, parent),
            "accepted": outcome(accepted),
            "resolvedRefs": outcome(resolved),
        }


def gateways(analysis: Analysis) -> list[Entry]:
    """Every Gateway."""
    return [{**identity(gateway), "managed": is_managed(analysis, gateway)} for gateway in objects(analysis, "Gateway")]


def listener_sets(analysis: Analysis) -> list[Entry]:
    """Every ListenerSet."""
    return [
        {**identity(found), "accepted": outcome(listener_set_conditions(analysis.topology, found)[0])}
        for found in objects(analysis, "ListenerSet")
    ]


def listeners(analysis: Analysis) -> list[Entry]:
    """Every listener of every Gateway and ListenerSet."""
    owners = objects(analysis, "Gateway", "ListenerSet")
    return [
        {**identity(owner), "listener": section, **_listener(analysis, NodeRef(owner, section))}
        for owner in owners
        for section in analysis.topology.sections(owner)
    ]


def _listener(analysis: Analysis, node: NodeRef) -> Entry:
    topology = analysis.topology
    conditions = {condition.type: condition for condition in listener_conditions(topology, node)}
    conflicted = conditions["Conflicted"].status == "True"
    attached = attached_routes(topology, node)
    return {
        "attachedRoutes": len(attached),
        "routes": [slashed(route) for route in attached],
        "hostnames": {slashed(route): list(attached_hostnames(topology, node, route)) for route in attached},
        "conflicted": {"conflicted": conflicted, "reason": conditions["Conflicted"].reason if conflicted else None},
        "resolvedRefs": outcome(conditions["ResolvedRefs"]),
    }


def outcome(condition: Condition | PolicyCondition) -> Entry:
    """The status and the reason of a condition."""
    return {"status": condition.status, "reason": condition.reason}
