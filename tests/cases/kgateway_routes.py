"""What this project says of routes, ListenerSets and listeners, as the cases of kgateway write it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from kubectl_policy import GroupKind, NodeRef
from kubectl_policy.topology import (
    attached_hostnames,
    attached_routes,
    listener_conditions,
    listener_set_conditions,
    route_parent_conditions,
)
from tests.cases.kgateway_policies import in_force
from tests.cases.names import identity, listener_name, reference, slashed
from tests.cases.objects import ROUTES, WITH_LISTENERS, is_managed, objects, outcome

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from kubectl_policy import Analysis, ObjectRef
    from kubectl_policy.topology import Condition
    from tests.cases.kgateway_paths import Reached
    from tests.cases.objects import Entry

# Whose controllers they are is what the profile of any kind of the implementation says.
_ANY_KIND: Final = GroupKind("gateway.kgateway.dev", "TrafficPolicy")


def routes(analysis: Analysis) -> list[Entry]:
    """Every route with each parent that it has a status for."""
    return [{**identity(route), "parents": list(_parents(analysis, route))} for route in objects(analysis, *ROUTES)]


def _parents(analysis: Analysis, route: ObjectRef) -> Iterator[Entry]:
    for parent, conditions in route_parent_conditions(analysis.topology, route):
        if _reports(analysis, parent.object, frozenset({route})):
            yield {"parentRef": reference(parent.object, parent.section), "conditions": _by_type(conditions)}


def _reports(analysis: Analysis, parent: ObjectRef, below: frozenset[ObjectRef]) -> bool:
    """Whether the controllers report on what is below a parent: a delegating route is theirs if a parent of it is."""
    if parent.kind not in ROUTES:
        return is_managed(analysis, parent, _ANY_KIND)
    above = (found.object for found, _ in route_parent_conditions(analysis.topology, parent))
    return any(_reports(analysis, found, below | {parent}) for found in above if found not in below)


def listener_sets(analysis: Analysis) -> list[Entry]:
    """Every ListenerSet."""
    return [
        {**identity(found), "conditions": _by_type(listener_set_conditions(analysis.topology.gateways, found))}
        for found in objects(analysis, "ListenerSet")
    ]


def listeners(analysis: Analysis, rules: Iterable[Reached]) -> list[Entry]:
    """Every listener of every Gateway, and of every ListenerSet that names one; with its effective policies."""
    hostnames = _hostnames(analysis, rules)
    return [
        _listener(analysis, gateway, NodeRef(owner, section), hostnames)
        for owner in objects(analysis, *WITH_LISTENERS)
        if (gateway := analysis.topology.gateways.gateway_of(owner))
        for section in analysis.topology.sections(owner)
    ]


def _listener(
    analysis: Analysis, gateway: ObjectRef, node: NodeRef, hostnames: dict[NodeRef, dict[str, list[str]]]
) -> Entry:
    entry: Entry = {
        "listener": listener_name(gateway, node),
        "attachedRoutes": len(attached_routes(analysis.topology, node)),
        "conditions": _by_type(listener_conditions(analysis.topology.gateways, node)),
        "hostnames": hostnames.get(node, {}),
    }
    for path in analysis.topology.paths(node):
        entry |= in_force(analysis, path)
    return entry


def _hostnames(analysis: Analysis, rules: Iterable[Reached]) -> dict[NodeRef, dict[str, list[str]]]:
    """By listener, the routes that answer there, with the hostnames of the first route on the way to each."""
    found: dict[NodeRef, dict[str, list[str]]] = {}
    for rule in rules:
        (first, _), (route, _) = rule.rules[0], rule.rules[-1]
        names = attached_hostnames(analysis.topology, rule.listener, first)
        if names and not rule.delegates:
            of_listener = found.setdefault(rule.listener, {})
            of_listener[slashed(route)] = sorted({*of_listener.get(slashed(route), ()), *names})
    return found


def _by_type(conditions: Iterable[Condition]) -> Entry:
    return {condition.type: outcome(condition) for condition in conditions}
