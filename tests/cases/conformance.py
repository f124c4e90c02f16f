"""Compare what the topology says of recorded conformance cases with the status that their tests expect.

`python -m tests.cases.conformance FOLDER` reads FOLDER/<case>/expected.json and the manifests of each stage, prints how
many facts of each type come out right and then every miss, and exits with 1 if there is one. It knows the format of the
cases and nothing of any API: every answer comes from the public package.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Callable, Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any, Final

from kubectl_policy import GroupKind, Implementation, NodeRef, ObjectRef, Topology, analyze
from kubectl_policy.topology import (
    Condition,
    attached_listener_sets,
    attached_routes,
    backend_tls_conditions,
    gateway_class_conditions,
    gateway_conditions,
    listener_conditions,
    listener_set_conditions,
    route_conditions,
    supported_kinds,
)
from kubectl_policy.topology.gateway.gateways import Gateways
from kubectl_policy.topology.references import parent_refs
from tests.cases.report import NOT_ANSWERED, NodeInForce, main
from tests.cases.worlds import world

Fact = dict[str, Any]
"""One status fact as decoded from JSON, whose shape the format of the cases lays down."""


MARKER: Final = "expected.json"
_TOLD: Final = ("object", "listener", "parent", "ancestor", "condition", "contains", "count", "names", "stage")


def implementation_of(expected: Mapping[str, Any]) -> Implementation:
    """Return the implementation that a case assumes, by the features that it lacks."""
    lacking = (item["feature"] for item in expected.get("assumptions", ()) if not item["supported"])
    return Implementation(frozenset(lacking))


def judge(case: Path) -> Iterator[NodeInForce]:
    """Judge every fact of a case that manifests can decide, stage by stage."""
    expected = json.loads((case / MARKER).read_text(encoding="utf-8"))
    implementation = implementation_of(expected)
    facts = [fact for fact in expected["status"] if not (fact.get("needs_data_plane") or fact.get("readiness_only"))]
    for stage in expected["stages"]:
        of_stage = [fact for fact in facts if fact["stage"] == stage["stage"]]
        if of_stage:
            snapshot = world([case / stage["file"]])
            topology = analyze(snapshot, implementation=implementation).topology
            for fact in of_stage:
                expectation = {key: fact[key] for key in _TOLD if key in fact}
                got = ANSWERS[fact["type"]](topology, fact) if fact["type"] in ANSWERS else NOT_ANSWERED
                yield NodeInForce(expected["case"], type_of(fact), fact["id"], expectation, got or expectation)


def type_of(fact: Fact) -> str:
    """Return the type of a fact, which names the type of the condition for conditions of listeners."""
    name: str = fact["type"]
    return f"{name} {fact['condition']['type']}" if name == "listener-condition" else name


def _object(topology: Topology, named: Mapping[str, str]) -> ObjectRef:
    """Return the object of a kind, namespace and name; facts leave the group out."""
    kinds = [*topology.index.group_kinds, *topology.index.kinds, GroupKind("", named["kind"])]
    refs = [ObjectRef(kind, named["namespace"] or "", named["name"]) for kind in kinds if kind.kind == named["kind"]]
    known = [ref for ref in refs if topology.index.get(ref)]
    return (known or refs)[0]


def _differs(conditions: Iterable[Condition], wanted: Mapping[str, str | None]) -> str:
    """Return the condition of the wanted type, or "" if it has the wanted status and reason."""
    condition = next((condition for condition in conditions if condition.type == wanted["type"]), None)
    if condition is None:
        return f"no condition {wanted['type']}"
    same = wanted["status"] in {None, condition.status} and wanted["reason"] in {None, condition.reason}
    return "" if same else f"{condition.type}={condition.status} {condition.reason}: {condition.message}"


def _on_object(
    conditions_of: Callable[[Gateways, ObjectRef], tuple[Condition, ...]],
) -> Callable[[Topology, Fact], str]:
    return lambda topology, fact: _differs(
        conditions_of(topology.gateways, _object(topology, fact["object"])), fact["condition"]
    )


def _parents(topology: Topology, fact: Fact) -> Iterator[tuple[ObjectRef, tuple[Condition, ...]]]:
    route = _object(topology, fact["object"])
    for parent in parent_refs(topology.index, route):
        yield parent.object, route_conditions(topology, route, parent.position)


def _route_parent(topology: Topology, fact: Fact) -> str:
    wanted = _object(topology, fact["parent"])
    differences = [
        _differs(conditions, fact["condition"]) for parent, conditions in _parents(topology, fact) if parent == wanted
    ]
    return "" if "" in differences else "; ".join(differences) or "no such parent"


def _no_accepted_parents(topology: Topology, fact: Fact) -> str:
    statuses = [conditions[0].status for _, conditions in _parents(topology, fact)]
    return "" if statuses in ([], ["False"]) else f"Accepted is {statuses}"


def _policy_ancestor(topology: Topology, fact: Fact) -> str:
    ancestors = backend_tls_conditions(topology, _object(topology, fact["object"]))
    return _differs(ancestors.get(_object(topology, fact["ancestor"]), ()), fact["condition"])


def _listeners(topology: Topology, fact: Fact) -> list[NodeRef]:
    owner = _object(topology, fact["object"])
    names = topology.sections(owner) if fact["listener"] == "*" else (fact["listener"],)
    return [NodeRef(owner, name) for name in names]


def _listener(topology: Topology, fact: Fact) -> str:
    differences = [
        _differs(listener_conditions(topology.gateways, node), fact["condition"]) for node in _listeners(topology, fact)
    ]
    return "; ".join(differences) if any(differences) else ""


def _listener_routes(topology: Topology, fact: Fact) -> str:
    counts = [len(attached_routes(topology, node)) for node in _listeners(topology, fact)]
    return "" if set(counts) == {fact["count"]} else f"{counts} routes"


def _listener_kinds(topology: Topology, fact: Fact) -> str:
    wanted = {GroupKind(kind["group"], kind["kind"]) for kind in fact["contains"]}
    for node in _listeners(topology, fact):
        kinds = supported_kinds(topology.gateways, node)
        if not wanted <= set(kinds) or (fact["must_be_empty"] and kinds):
            return ", ".join(map(str, kinds)) or "no kinds"
    return ""


def _listener_names(topology: Topology, fact: Fact) -> str:
    names = topology.sections(_object(topology, fact["object"]))
    return "" if set(names) == set(fact["names"]) else ", ".join(names)


def _zero_routes(topology: Topology, fact: Fact) -> str:
    owner = _object(topology, fact["object"])
    counts = [len(attached_routes(topology, NodeRef(owner, name))) for name in topology.sections(owner)]
    return "" if not counts or 0 in counts else f"{counts} routes"


def _attached_sets(topology: Topology, fact: Fact) -> str:
    count = len(attached_listener_sets(topology.gateways, _object(topology, fact["object"])))
    return "" if count == fact["count"] else f"{count} ListenerSets"


ANSWERS: dict[str, Callable[[Topology, Fact], str]] = {
    "route-parent-condition": _route_parent,
    "route-no-accepted-parents": _no_accepted_parents,
    "listener-condition": _listener,
    "listener-attached-routes": _listener_routes,
    "listener-supported-kinds": _listener_kinds,
    "listener-names": _listener_names,
    "listenerset-condition": _on_object(listener_set_conditions),
    "gateway-condition": _on_object(gateway_conditions),
    "gatewayclass-condition": _on_object(gateway_class_conditions),
    "gateway-zero-routes": _zero_routes,
    "gateway-attached-listenersets": _attached_sets,
    "policy-ancestor-condition": _policy_ancestor,
}
"""For each type of fact, what the topology says instead of the fact; empty if it says the same."""


if __name__ == "__main__":
    sys.exit(main(judge, MARKER, sys.argv[1:]))
