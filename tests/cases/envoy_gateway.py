"""Writes what this project says of recorded worlds of Envoy Gateway, for the scorer that comes with them.

`python -m tests.cases.envoy_gateway FOLDER OUTFOLDER [--profiles FILE ...]` reads FOLDER/<case>/manifests.yaml and
writes OUTFOLDER/<case>.json. It translates this project's values into the scorer's document and knows no rule of Envoy
Gateway: those are in the profiles.
"""

from __future__ import annotations

import sys
from collections import Counter
from typing import TYPE_CHECKING, Final

from kubectl_policy import GroupKind, NodeRef
from kubectl_policy.model.kinds import GATEWAY_API
from kubectl_policy.questions.predicted.policies import PolicyStatuses
from kubectl_policy.topology import (
    attached_hostnames,
    attached_routes,
    listener_conditions,
    listener_set_conditions,
    route_conditions,
)
from tests.cases import predictions
from tests.cases.names import (
    ROUTES,
    WITH_LISTENERS,
    WITH_RULES,
    identity,
    is_managed,
    listener_name,
    listener_on,
    objects,
    outcome,
    parent_reference,
    reference,
    scoped_name,
    slashed,
)

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from kubectl_policy import Analysis, EffectivePolicy, ObjectRef, Path
    from kubectl_policy.questions.predicted.policies import AncestorStatus, PolicyCondition
    from tests.cases.names import Entry


def document(analysis: Analysis) -> dict[str, list[Entry]]:
    """What is said of one world."""
    return {
        "policies": policies(analysis),
        "routes": routes(analysis),
        "gateways": gateways(analysis),
        "listenerSets": listener_sets(analysis),
        "listeners": listeners(analysis),
        "effective": effective(analysis),
        "backendTLS": backend_tls(analysis),
    }


def main(arguments: Sequence[str]) -> int:
    """Write the document of each case; 2 if there is none, 1 if one could not be answered."""
    return predictions.main("envoy_gateway", document, arguments)


_BACKEND_TLS: Final = GroupKind(GATEWAY_API, "BackendTLSPolicy")


def policies(analysis: Analysis) -> list[Entry]:
    """Every policy with what its controller would write about it."""
    statuses = PolicyStatuses(analysis)
    return [
        {**identity(policy.ref), "ancestors": list(ancestors(policy.ref, statuses.of(policy.ref)))}
        for policy in analysis.policies
    ]


def ancestors(policy: ObjectRef, statuses: Iterable[AncestorStatus]) -> Iterator[Entry]:
    """The entries of `status.ancestors`; what would be written into the policy's own conditions is left out."""
    for status in statuses:
        if status.ancestor:
            name = reference(status.ancestor.object, status.ancestor.section)
            yield {"ref": name, **_conditions(policy, status.conditions)}


def _conditions(policy: ObjectRef, conditions: Iterable[PolicyCondition]) -> Entry:
    entry: Entry = {}
    for condition in conditions:
        if condition.type in {"Accepted", "ResolvedRefs"}:
            entry["accepted" if condition.type == "Accepted" else "resolvedRefs"] = outcome(condition)
        elif condition.type == "Overridden" and condition.status == "True":
            entry |= {"overridden": True, "overriddenBy": _overriders(policy, condition.related)}
        elif condition.type == "Merged" and condition.status == "True":
            entry |= _merged(policy, condition.related)
    return entry


def _overriders(policy: ObjectRef, related: Iterable[NodeRef]) -> dict[str, list[str]]:
    """The nodes whose own policies override one, by the lists in which Envoy Gateway's message names them."""
    found: dict[str, list[str]] = {}
    for node in related:
        # The message about a ClientTrafficPolicy has one list of listeners, by their bare names.
        if policy.kind == "ClientTrafficPolicy":
            found.setdefault("sections", []).append(node.section)
        elif node.kind in ROUTES and node.section:
            found.setdefault("routeRules", []).append(node.section)
        else:
            found.setdefault(_list_of(node), []).append(scoped_name(node))
    return found


def _list_of(node: NodeRef) -> str:
    if node.kind == "ListenerSet":
        return "listenerSetListeners" if node.section else "listenerSets"
    return "gatewayListeners" if node.kind == "Gateway" else "routes"


def _merged(policy: ObjectRef, related: Iterable[NodeRef]) -> Entry:
    """What a policy is merged with above it, or the routes whose policies are merged with it."""
    above = [node.object.qualified_name for node in related if node.object.group_kind == policy.group_kind]
    if above:
        return {"mergedInto": above[0]}
    return {"mergedBy": {"routes": [node.object.qualified_name for node in related]}}


def effective(analysis: Analysis) -> list[Entry]:
    """What each policy kind amounts to for each rule of a route at each listener."""
    return [
        {"listener": listener_name(*found), "route": slashed(route), "rule": number, **_kinds(analysis, path)}
        for route in objects(analysis, *WITH_RULES)
        for number, section in enumerate(analysis.topology.sections(route))
        for path in analysis.topology.paths(NodeRef(route, section))
        if (found := listener_on(path))
    ]


def _kinds(analysis: Analysis, path: Path) -> Entry:
    return {found.kind.kind: _in_force(found) for found in analysis.effective_on(path)}


def _in_force(found: EffectivePolicy) -> Entry:
    """The most specific policy with something in force, and every such policy.

    It is named, too, where the rule itself says all that it does.
    """
    resolution = found.resolution
    in_force = found.policies_in_force() or {source.object for source in resolution.members if resolution.own}
    names = [part.source.object.qualified_name for part in found.contributions if part.source.object in in_force]
    return {"policy": names[-1] if names else None, "contributors": sorted(set(names))}


def backend_tls(analysis: Analysis) -> list[Entry]:
    """The BackendTLSPolicy for each backendRef of each rule."""
    return [
        {"route": slashed(route), "rule": number, "backend": position, "policy": _tls_policy(analysis, backend)}
        for route in objects(analysis, *ROUTES)
        for number, position, backend in _backends(analysis, route)
    ]


def _backends(analysis: Analysis, route: ObjectRef) -> Iterator[tuple[int, int, NodeRef]]:
    """The backends of a route by rule and place; the rules of what is not HTTP count as one, with the number -1."""
    places: Counter[int] = Counter()
    for backend in analysis.topology.backends(route):
        if backend.ref.forwards:
            number = backend.ref.rule if route.kind in WITH_RULES else -1
            yield number, places[number], backend.node
            places[number] += 1


def _tls_policy(analysis: Analysis, backend: NodeRef) -> object:
    """The policy for a backend, on whatever path: the kind is a direct one."""
    found = (_in_force(each)["policy"] for each in analysis.effective(backend, _BACKEND_TLS))
    return next((name for name in found if name), None)


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


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
