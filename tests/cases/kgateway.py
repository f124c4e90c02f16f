"""Write this project's answers about recorded worlds of kgateway, for the scorer that comes with them.

`python -m tests.cases.kgateway FOLDER OUTFOLDER [--profiles FILE ...]` reads FOLDER/<case>/manifests.yaml, and of
FOLDER/<case>/facts.json nothing but `settings`, and writes OUTFOLDER/<case>.json. It translates this project's values
into the scorer's document and knows no rule of kgateway: those are in the profiles.
"""

from __future__ import annotations

import json
import pathlib
import sys
from collections.abc import Iterable, Iterator
from typing import Final, NamedTuple, cast

from kubectl_policy import Analysis, EffectivePolicy, GroupKind, Implementation, Leaf, NodeRef, ObjectRef, Path
from kubectl_policy.model import Json
from kubectl_policy.model.kind_roles import GATEWAY_API
from kubectl_policy.questions.differences.serving import RuleAnswers, Serving
from kubectl_policy.questions.predicted_conditions import AncestorStatus, PolicyCondition, PolicyStatuses
from kubectl_policy.questions.route_programming import RoutePrograms
from kubectl_policy.questions.shared.failing_routes import failing_routes
from kubectl_policy.resolution.traced import KeyedList, Traced
from kubectl_policy.topology import (
    Condition,
    attached_hostnames,
    attached_routes,
    listener_conditions,
    listener_set_conditions,
    route_parent_conditions,
)
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
    sections,
)
from tests.cases.worlds import fields, read, scalars

FACTS: Final = "facts.json"
_PREFIX: Final = "kgateway"


def document(analysis: Analysis) -> dict[str, list[Entry]]:
    """Return the document about one world."""
    rules = list(reached(analysis))
    return {
        "policies": policies(analysis),
        "routes": routes(analysis),
        "listenerSets": listener_sets(analysis),
        "listeners": listeners(analysis, rules),
        "effective": effective(analysis, rules),
    }


def settings_of(case: pathlib.Path) -> Implementation:
    """Return the settings of the controller under which a case was recorded, by their names in profiles."""
    file = case / FACTS
    if not file.is_file():
        return Implementation()
    values = fields(read(file).get("settings"))
    return Implementation(
        settings=dict(pair for variable, value in values.items() for pair in _named(variable, str(value)))
    )


def _named(variable: str, value: str) -> Iterator[tuple[str, str]]:
    """Yield a variable as settings, one per field of a JSON object: `KGW_POLICY_MERGE` is `kgateway.policyMerge`."""
    first, *rest = variable.removeprefix("KGW_").lower().split("_")
    name = f"{_PREFIX}.{first}{''.join(map(str.capitalize, rest))}"
    try:
        decoded = cast("Json", json.loads(value))
    except ValueError:
        decoded = value
    if isinstance(decoded, dict):
        yield from ((field, str(setting)) for field, setting in scalars(name, decoded))
    else:
        yield name, value


class Reached(NamedTuple):
    """A rule of a route on one path to it."""

    path: Path
    gateway: ObjectRef
    listener: NodeRef
    # The rules of all routes on the path, by route and number.
    rules: tuple[tuple[ObjectRef, int], ...]
    delegates: bool

    @property
    def via(self) -> list[str]:
        """The names of the rules that delegate to the rule, the first one first."""
        return [f"{dashed(route)}:{number}" for route, number in self.rules[:-1]]


def reached(analysis: Analysis) -> Iterator[Reached]:
    """Yield every rule at every listener, once per path between them."""
    for _, rule in sections(analysis, *ROUTES):
        for path in analysis.topology.paths(rule):
            at = listener_on(path)
            if at:
                yield Reached(path, *at, tuple(_rules(analysis, path)), _delegates(analysis, rule))


def _rules(analysis: Analysis, path: Path) -> Iterator[tuple[ObjectRef, int]]:
    for node in path:
        if node.kind in ROUTES and node.section:
            yield node.object, analysis.topology.sections(node.object).index(node.section)


def _delegates(analysis: Analysis, rule: NodeRef) -> bool:
    """Whether a rule leads to other routes, or names one that it does not lead to."""
    number = analysis.topology.sections(rule.object).index(rule.section)
    named = [backend.node for backend in analysis.topology.backends(rule.object) if backend.ref.rule == number]
    return any(node.kind in ROUTES for node in (*named, *analysis.topology.children(rule)))


_GROUP: Final = "gateway.kgateway.dev"
_BY_ELEMENT: Final = "perPort"
_BACKEND_TLS: Final = GroupKind(GATEWAY_API, "BackendTLSPolicy")


def policies(analysis: Analysis) -> list[Entry]:
    """Return the policies of kgateway's kinds and BackendTLSPolicies, with the status that would be written."""
    statuses = PolicyStatuses(analysis)
    return [
        {**identity(policy), "ancestors": list(_ancestors(statuses.of(policy)))}
        for policy in analysis.attachments
        if policy.group_kind.group == _GROUP or policy.group_kind == _BACKEND_TLS
    ]


def _ancestors(statuses: Iterable[AncestorStatus]) -> Iterator[Entry]:
    for status in statuses:
        if status.ancestor:
            name = reference(status.ancestor.object, status.ancestor.section)
            yield {"ref": name, "conditions": _by_type(status.conditions)}


def effective(analysis: Analysis, rules: Iterable[Reached]) -> list[Entry]:
    """Return the effective policies for each rule of a route at each listener, by the way to the rule.

    Of the rules that delegate, those are left out that are delegated to themselves: the format has none of them.
    """
    serving = Serving(analysis, failing_routes(analysis))
    return [
        {
            "listener": listener_name(rule.gateway, rule.listener),
            "route": dashed(rule.path[-1].object),
            "rule": rule.rules[-1][1],
            "via": rule.via,
            "replaced": _is_replaced(serving.rules(rule.path[-1].object)[rule.rules[-1][1]]),
            **in_force(analysis, rule.path),
        }
        for rule in rules
        if rule.path[-1].kind in WITH_RULES and not (rule.delegates and rule.via)
    ]


def _is_replaced(rule: RuleAnswers) -> bool:
    """Whether a rule answers with an error for an invalid policy or filter, or since it delegates to no route."""
    return bool(rule.invalid) or (not rule.answered and any(backend.routes is not None for backend in rule.broken))


def in_force(analysis: Analysis, path: Path) -> Entry:
    """Return, by kind, who set the fields in force at the end of a path."""
    kinds = [kind for kind in analysis.resolver.kinds_at(path) if kind.group == _GROUP]
    policies = (analysis.resolver.effective_of(kind, path) for kind in kinds)
    return {policy.resolution.kind.kind: {"fields": fields_in_force(policy)} for policy in policies if policy}


def fields_in_force(policy: EffectivePolicy) -> dict[str, list[str]]:
    """Return, by field, the names of the policies that set it, without those of another kind."""
    sources: dict[str, set[str]] = {}
    for field, leaf in _leaves(policy.resolution.spec):
        if leaf.source.object.group_kind == policy.resolution.kind and not leaf.removed:
            sources.setdefault(field, set()).add(leaf.source.object.qualified_name)
    return {field: sorted(names) for field, names in sources.items()}


def _leaves(spec: Traced, prefix: str = "") -> Iterator[tuple[str, Leaf]]:
    """Yield every leaf by its field; the format has separate elements for one keyed list only."""
    for key, child in spec.items():
        name = f"{prefix}.{key}" if prefix else key
        if isinstance(spec, KeyedList):
            name = f"{prefix}[{key}]" if prefix == _BY_ELEMENT else prefix
        if isinstance(child, Leaf):
            yield name, child
        else:
            yield from _leaves(child, name)


# Whose controllers they are is what the profile of any kind of the implementation says.
_ANY_KIND: Final = GroupKind("gateway.kgateway.dev", "TrafficPolicy")


def routes(analysis: Analysis) -> list[Entry]:
    """Return every route with each parent that has a status for it."""
    programs = RoutePrograms(analysis)
    return [
        {**identity(route), "parents": list(_parents(analysis, route, programs))}
        for route in objects(analysis, *ROUTES)
    ]


def _parents(analysis: Analysis, route: ObjectRef, programs: RoutePrograms) -> Iterator[Entry]:
    for parent, conditions in route_parent_conditions(analysis.topology, route):
        if _reports(analysis, parent.object, frozenset({route})):
            programmed = programs.conditions(route, parent.object) if conditions else ()
            reported: list[Condition | PolicyCondition] = [*conditions, *programmed]
            yield {"parentRef": reference(parent.object, parent.section), "conditions": _by_type(reported)}


def _reports(analysis: Analysis, parent: ObjectRef, seen: frozenset[ObjectRef]) -> bool:
    """Whether the controllers report on what is below a parent: a delegating route is theirs if a parent of it is."""
    if parent.kind not in ROUTES:
        return is_managed(analysis, parent, _ANY_KIND)
    parents = (node.object for node, _ in route_parent_conditions(analysis.topology, parent))
    return any(_reports(analysis, node, seen | {parent}) for node in parents if node not in seen)


def listener_sets(analysis: Analysis) -> list[Entry]:
    """Return every ListenerSet."""
    return [
        {**identity(ref), "conditions": _by_type(listener_set_conditions(analysis.topology.gateways, ref))}
        for ref in objects(analysis, "ListenerSet")
    ]


def listeners(analysis: Analysis, rules: Iterable[Reached]) -> list[Entry]:
    """Return every listener of every Gateway, and of every ListenerSet that names one, with its effective policies."""
    hostnames = _hostnames(analysis, rules)
    return [
        _listener(analysis, gateway, listener, hostnames)
        for _, listener in sections(analysis, *WITH_LISTENERS)
        if (gateway := analysis.topology.gateways.gateway_of(listener.object))
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
    """Return, by listener, the routes that answer there with the hostnames of the first route on the way to each."""
    hostnames: dict[NodeRef, dict[str, list[str]]] = {}
    for rule in rules:
        (first, _), (route, _) = rule.rules[0], rule.rules[-1]
        names = attached_hostnames(analysis.topology, rule.listener, first)
        if names and not rule.delegates:
            of_listener = hostnames.setdefault(rule.listener, {})
            of_listener[dashed(route)] = sorted({*of_listener.get(dashed(route), ()), *names})
    return hostnames


def _by_type(conditions: Iterable[Condition | PolicyCondition]) -> Entry:
    return {condition.type: outcome(condition) for condition in conditions}


if __name__ == "__main__":
    sys.exit(predictions.main(sys.modules[__name__], sys.argv[1:]))
