"""What this project says of policies, as the cases of Envoy Gateway write it."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING, Final

from kubectl_policy import GroupKind, NodeRef
from kubectl_policy.model.kinds import GATEWAY_API
from kubectl_policy.questions.predicted.policies import PolicyStatuses
from tests.cases.names import identity, listener_name, reference, scoped_name, slashed
from tests.cases.objects import ROUTES, WITH_RULES, listener_on, objects, outcome

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from kubectl_policy import Analysis, EffectivePolicy, ObjectRef, Path
    from kubectl_policy.questions.predicted.policies import AncestorStatus, PolicyCondition
    from tests.cases.objects import Entry

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
    """The most specific policy with something in force, and every such policy."""
    in_force = found.policies_in_force()
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
