"""Write this project's answers about recorded worlds of Envoy Gateway, for the scorer that comes with them.

`python -m tests.cases.envoy_gateway FOLDER OUTFOLDER [--profiles FILE ...]` reads FOLDER/<case>/manifests.yaml and
writes OUTFOLDER/<case>.json. It translates this project's values into the scorer's document and knows no rule of Envoy
Gateway: those are in the profiles.
"""

from __future__ import annotations

import sys
from collections import Counter
from collections.abc import Iterable, Iterator
from typing import Final

from kubectl_policy import Analysis, EffectivePolicy, GroupKind, NodeRef, ObjectRef, Path
from kubectl_policy.model.kind_roles import GATEWAY_API
from kubectl_policy.questions.predicted_conditions import AncestorStatus, PolicyCondition, PolicyStatuses
from kubectl_policy.topology import (
    attached_hostnames,
    attached_routes,
    listener_conditions,
    listener_set_conditions,
    route_conditions,
)
from kubectl_policy.topology.references import parent_refs
from tests.cases import predictions
from tests.cases.names import (
    ROUTES,
    WITH_LISTENERS,
    WITH_RULES,
    Entry,
    dashed,
    identity,
    is_managed,
    listener_name,
    listener_on,
    objects,
    outcome,
    reference,
    scoped_name,
    sections,
)


def document(analysis: Analysis) -> dict[str, list[Entry]]:
    """Return the document about one world."""
    return {
        "policies": policies(analysis),
        "routes": routes(analysis),
        "gateways": gateways(analysis),
        "listenerSets": listener_sets(analysis),
        "listeners": listeners(analysis),
        "effective": effective(analysis),
        "backendTLS": backend_tls(analysis),
    }


_BACKEND_TLS: Final = GroupKind(GATEWAY_API, "BackendTLSPolicy")


def policies(analysis: Analysis) -> list[Entry]:
    """Return every policy with the status that its controller would write."""
    statuses = PolicyStatuses(analysis)
    return [
        {**identity(policy.ref), "ancestors": list(ancestors(policy.ref, statuses.of(policy.ref)))}
        for policy in analysis.policies
    ]


def ancestors(policy: ObjectRef, statuses: Iterable[AncestorStatus]) -> Iterator[Entry]:
    """Yield the entries of `status.ancestors`, without the conditions of the policy's own."""
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
    """Return the nodes whose policies override a policy, by the lists in which Envoy Gateway's message names them."""
    overriders: dict[str, list[str]] = {}
    for node in related:
        # The message about a ClientTrafficPolicy has one list of listeners, by their bare names.
        if policy.kind == "ClientTrafficPolicy":
            overriders.setdefault("sections", []).append(node.section)
        elif node.kind in ROUTES and node.section:
            overriders.setdefault("routeRules", []).append(node.section)
        else:
            overriders.setdefault(_list_of(node), []).append(scoped_name(node))
    return overriders


def _list_of(node: NodeRef) -> str:
    if node.kind == "ListenerSet":
        return "listenerSetListeners" if node.section else "listenerSets"
    return "gatewayListeners" if node.kind == "Gateway" else "routes"


def _merged(policy: ObjectRef, related: Iterable[NodeRef]) -> Entry:
    """Return the policy that a policy is merged with above it, or the routes whose policies are merged with it."""
    merged_into = [node.object.qualified_name for node in related if node.object.group_kind == policy.group_kind]
    if merged_into:
        return {"mergedInto": merged_into[0]}
    return {"mergedBy": {"routes": [node.object.qualified_name for node in related]}}


def effective(analysis: Analysis) -> list[Entry]:
    """Return the effective policy of each kind for each rule of a route at each listener."""
    return [
        {"listener": listener_name(*at), "route": dashed(rule.object), "rule": number, **_kinds(analysis, path)}
        for number, rule in sections(analysis, *WITH_RULES)
        for path in analysis.topology.paths(rule)
        if (at := listener_on(path))
    ]


def _kinds(analysis: Analysis, path: Path) -> Entry:
    return {policy.resolution.kind.kind: _in_force(policy) for policy in analysis.effective_on(path)}


def _in_force(policy: EffectivePolicy) -> Entry:
    """Return the most specific policy with settings in force, and all such policies.

    It is named, too, where the rule itself says all that it does.
    """
    resolution = policy.resolution
    in_force = policy.resolution.policies_in_force or {
        source.object for source in resolution.members if resolution.object_values
    }
    names = [
        part.source.object.qualified_name for part in policy.resolution.contributions if part.source.object in in_force
    ]
    return {"policy": names[-1] if names else None, "contributors": sorted(set(names))}


def backend_tls(analysis: Analysis) -> list[Entry]:
    """Return the BackendTLSPolicy for each backendRef of each rule."""
    return [
        {"route": dashed(route), "rule": number, "backend": position, "policy": _tls_policy(analysis, backend)}
        for route in objects(analysis, *ROUTES)
        for number, position, backend in _backends(analysis, route)
    ]


def _backends(analysis: Analysis, route: ObjectRef) -> Iterator[tuple[int, int, NodeRef]]:
    """Yield the backends of a route by rule and position; rules without HTTP count as one, with the number -1."""
    positions: Counter[int] = Counter()
    for backend in analysis.topology.backends(route):
        if backend.ref.forwards:
            number = backend.ref.rule if route.kind in WITH_RULES else -1
            yield number, positions[number], backend.node
            positions[number] += 1


def _tls_policy(analysis: Analysis, backend: NodeRef) -> object:
    """Return the policy for a backend, which is the same on every path: the kind is a direct one."""
    names = (_in_force(policy)["policy"] for policy in analysis.effective(backend, _BACKEND_TLS))
    return next((name for name in names if name), None)


# Whose controllers they are is what the profile of any kind of the implementation says.
_ANY_KIND: Final = GroupKind("gateway.envoyproxy.io", "BackendTrafficPolicy")


def routes(analysis: Analysis) -> list[Entry]:
    """Return every route with its parents."""
    return [{**identity(route), "parents": list(_parents(analysis, route))} for route in objects(analysis, *ROUTES)]


def _parents(analysis: Analysis, route: ObjectRef) -> Iterator[Entry]:
    for entry in parent_refs(analysis.index, route):
        accepted, resolved = route_conditions(analysis.topology, route, entry.position)
        yield {
            "parentRef": reference(entry.object, entry.section, entry.port),
            "managed": is_managed(analysis, entry.object, _ANY_KIND),
            "accepted": outcome(accepted),
            "resolvedRefs": outcome(resolved),
        }


def gateways(analysis: Analysis) -> list[Entry]:
    """Return every Gateway."""
    gateways = objects(analysis, "Gateway")
    return [{**identity(gateway), "managed": is_managed(analysis, gateway, _ANY_KIND)} for gateway in gateways]


def listener_sets(analysis: Analysis) -> list[Entry]:
    """Return every ListenerSet."""
    return [
        {**identity(ref), "accepted": outcome(listener_set_conditions(analysis.topology.gateways, ref)[0])}
        for ref in objects(analysis, "ListenerSet")
    ]


def listeners(analysis: Analysis) -> list[Entry]:
    """Return every listener of every Gateway and ListenerSet."""
    return [
        {**identity(listener.object), "listener": listener.section, **_listener(analysis, listener)}
        for _, listener in sections(analysis, *WITH_LISTENERS)
    ]


def _listener(analysis: Analysis, node: NodeRef) -> Entry:
    topology = analysis.topology
    conditions = {condition.type: condition for condition in listener_conditions(topology.gateways, node)}
    conflicted = conditions["Conflicted"].status == "True"
    attached = attached_routes(topology, node)
    return {
        "attachedRoutes": len(attached),
        "routes": [dashed(route) for route in attached],
        "hostnames": {dashed(route): list(attached_hostnames(topology, node, route)) for route in attached},
        "conflicted": {"conflicted": conflicted, "reason": conditions["Conflicted"].reason if conflicted else None},
        "resolvedRefs": outcome(conditions["ResolvedRefs"]),
    }


if __name__ == "__main__":
    sys.exit(predictions.main(sys.modules[__name__], sys.argv[1:]))
