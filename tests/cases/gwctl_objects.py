"""Answers to gwctl's questions for objects: lists, Events, and what is attached, above, below, or refers to one."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from itertools import pairwise
from typing import Final

from kubectl_policy import NodeRef, ObjectRef, Path
from kubectl_policy.model import Json
from kubectl_policy.model.fields import text_at
from kubectl_policy.model.selectors import parse_label_query
from kubectl_policy.questions.lists import AnyRow, list_type
from kubectl_policy.questions.object_rows import BackendRow, GatewayRow, ObjectRow, RouteRow
from kubectl_policy.questions.policy_rows import KindRow, PolicyRow
from kubectl_policy.questions.shared.reported import ReportedCondition, reported_events
from kubectl_policy.questions.shared.selection import Selection
from tests.cases.gwctl_effects import reached_by
from tests.cases.gwctl_question import Answer, Question, inherited, is_route, written
from tests.cases.names import slashed
from tests.cases.worlds import fields, items


def names(objects: Callable[[Question], Iterable[ObjectRef]], *, kinds: bool = False) -> Answer:
    """Return the answer that compares a set of objects as `namespace/name`, or with kinds where the fact gives one."""

    def answer(question: Question, _: str, expected: Json) -> tuple[object, object]:
        wanted = sorted({str(name) for name in items(expected)})
        refs = objects(question)
        with_kind = kinds or any(" " in name for name in wanted)
        bare = not with_kind and not any("/" in name for name in wanted)
        got = {str(ref) if with_kind else ref.name if bare else ref.qualified_name for ref in refs}
        return wanted, sorted(got)

    return answer


def attached_routes(question: Question) -> Iterable[ObjectRef]:
    """Return the routes attached to a Gateway's own listeners."""
    topology, subject = question.before.topology, question.subject
    listeners = topology.children(NodeRef(subject)) if subject else ()
    return [child.object for node in listeners for child in topology.children(node) if is_route(child.object)]


def backends(question: Question) -> Iterable[ObjectRef]:
    """Return the backends below a Gateway or route, or that a policy reaches."""
    if question.subject is None:
        return ()
    if question.subject in question.before.attachments:
        return [ref for policy in reached_by(question) for ref in _backends_on(policy.path)]
    topology, subject = question.before.topology, NodeRef(question.subject)
    if is_route(question.subject):
        return [backend.object for rule in topology.children(subject) for backend in topology.children(rule)]
    return [ref for path in topology.paths_through(subject) for ref in _backends_on(path)]


def routes(question: Question) -> Iterable[ObjectRef]:
    """Return the routes that a policy reaches."""
    return [node.object for policy in reached_by(question) for node in policy.path if is_route(node.object)]


def referring_routes(question: Question) -> Iterable[ObjectRef]:
    """Return the routes that refer to an object or to one of its sections, whether or not traffic reaches them."""
    if question.subject is None:
        return ()
    topology, subject = question.before.topology, question.subject
    nodes = [NodeRef(subject, section) for section in ("", *topology.sections(subject))]
    return [parent.object for node in nodes for parent in topology.parents(node) if is_route(parent.object)]


def gateways_of_class(question: Question) -> Iterable[ObjectRef]:
    """Return the Gateways of a GatewayClass."""
    children = question.before.topology.children(NodeRef(question.subject)) if question.subject else ()
    return [node.object for node in children]


def parents(question: Question) -> Iterable[ObjectRef]:
    """Return the parents that a route names."""
    bindings = question.before.topology.bindings(question.subject) if question.subject else ()
    return [binding.parent for binding in bindings]


def parent_gateways(question: Question) -> Iterable[ObjectRef]:
    """Return the parents of a route that are Gateways."""
    return [parent for parent in parents(question) if parent.kind == "Gateway"]


def not_gateways(question: Question, _: str, expected: Json) -> tuple[object, object]:
    """Compare the parents of a route that are no Gateways."""
    not_gateways = {str(parent) for parent in set(parents(question)) - set(parent_gateways(question))}
    return expected, [name for name in items(expected) if name in not_gateways]


def targets(question: Question) -> Iterable[ObjectRef]:
    """Return the targets that a policy is attached to."""
    attachments = question.before.attachments.get(question.subject, ()) if question.subject else ()
    attached = [attachment.target for attachment in attachments if attachment.state == "attached"]
    return [target.object for target in attached if target]


def directly_attached(question: Question, _: str, expected: Json) -> tuple[object, object]:
    """Compare the policies attached to an object or to one of its sections."""
    attachments = question.before.attachments_to(question.subject) if question.subject else ()
    attached = {written(attachment.policy) for attachment in attachments if attachment.state == "attached"}
    return sorted(map(str, items(expected))), sorted(attached)


def inherited_policies(question: Question, _: str, expected: Json) -> tuple[object, object]:
    """Compare the inherited policies attached above an object, perhaps with their targets."""
    nodes = {node for path in question.paths for node in path if node.object != question.subject}
    policies = {
        (written(policy.ref), str(node))
        for node in nodes
        for policy in question.before.resolver.policies_at(node)
        if inherited(question.before, policy.ref.group_kind)
    }
    wanted = [(text_at(entry, "policy", str(entry)), text_at(entry, "target")) for entry in items(expected)]
    with_targets = any(target for _, target in wanted)
    return sorted(wanted), sorted({(policy, target if with_targets else "") for policy, target in policies})


def not_attached(question: Question, _: str, expected: Json) -> tuple[object, object]:
    """Compare pairs `route -> parent`, without kinds, that a reference names and that are not attached."""
    topology = question.before.topology
    routes = {node.object for node in topology.nodes if is_route(node.object)}
    bindings = [binding for route in sorted(routes) for binding in topology.bindings(route)]
    attached = {(binding.route, binding.parent) for binding in bindings if binding.state == "attached"}
    refused = {(binding.route, binding.parent) for binding in bindings if binding.state == "refused"} - attached
    pairs = {f"{route.qualified_name} -> {parent.qualified_name}" for route, parent in refused}
    return expected, [pair for pair in items(expected) if pair in pairs]


def _backends_on(path: Path) -> list[ObjectRef]:
    """Return the backends on a path: the objects below its last rule."""
    rules = [position for position, node in enumerate(path) if node.section and is_route(node.object)]
    nodes = path[rules[-1] + 1 :] if rules else ()
    return list(dict.fromkeys(node.object for node in nodes if node.kind != "Namespace"))


# gwctl's names for types, where they differ.
_TYPES: Final = {"policycrds": "policykinds"}
# An object that a question for a list names in brackets.
_NAMED: Final = re.compile(r"\((\S+/\S+)\)")
# How many entries gwctl shows in a cell.
_SHOWN: Final = 2


def listed(question: Question, _: str, expected: Json) -> tuple[object, object]:
    """Compare the rows of a list: their names, or the cells that the fact has."""
    rows = _rows(question)
    wanted = items(expected)
    if not any(isinstance(entry, dict) for entry in wanted):
        return wanted, [row.ref.name for row in rows]
    by_name = {text_at(entry, "name"): fields(entry) for entry in wanted}
    got = [_entry(row, by_name.get(row.ref.name, {"name": ""})) for row in rows]
    return sorted(by_name.values(), key=str), sorted(got, key=str)


def route_count(question: Question, _: str, expected: Json) -> tuple[object, object]:
    """Compare the number of routes attached to the Gateway that the question names in brackets."""
    named = _NAMED.findall(question.ask)
    rows = [row for row in _rows(question) if isinstance(row, GatewayRow)]
    counts = [len(row.routes) for row in rows if row.ref.qualified_name in named]
    return expected, counts[0] if counts else "no such row"


def events(question: Question, _: str, expected: Json) -> tuple[object, object]:
    """Compare the Events about an object, oldest first."""
    reported = reported_events(question.before.index, question.subject) if question.subject else ()
    got = [
        {"type": event.type, "reason": event.reason, "from": event.from_, "message": event.message}
        for event in reported
    ]
    return expected, got


def _rows(question: Question) -> Sequence[AnyRow]:
    arguments = question.ask.split()
    options = dict(pairwise(arguments))
    everywhere = bool({"-A", "(all)"}.intersection(arguments)) or bool(_NAMED.search(question.ask))
    namespace = "" if everywhere else options.get("-n", "default")
    selection = Selection(namespace, (), parse_label_query(options.get("-l", "")))
    return list_type(question.before, _TYPES.get(arguments[1], arguments[1]), selection).rows


def _entry(row: AnyRow, wanted: Mapping[str, Json]) -> dict[str, Json]:
    """Return the cells of a row that a fact has, in the words of that fact."""
    return {key: _CELLS[key](row, value) for key, value in wanted.items()}


def _shown(entries: Sequence[str], separator: str, wanted: Json) -> Json:
    """Return the number of entries where a number is wanted, else the first ones and the number of the rest."""
    if isinstance(wanted, int):
        return len(entries)
    rest = len(entries) - _SHOWN
    return (separator.join(entries[:_SHOWN]) + (f" + {rest} more" if rest > 0 else "")) or "None"


def _policies(row: AnyRow) -> Json:
    """Return the number of policies that name the object, whether or not they may: gwctl counts these."""
    return len({attachment.policy for attachment in row.listed.targeted_by}) if isinstance(row, ObjectRow) else None


def _routes_of(row: AnyRow) -> tuple[Sequence[str], Sequence[str]]:
    """Return the hostnames and the parents of a route."""
    return (row.hostnames, [str(parent.object) for parent in row.parents]) if isinstance(row, RouteRow) else ((), ())


def _referring(row: AnyRow) -> Sequence[str]:
    return [ref.qualified_name for ref in row.referred_by] if isinstance(row, BackendRow) else ()


def _targets_of(row: AnyRow) -> list[NodeRef]:
    attachments = row.targets if isinstance(row, PolicyRow) else ()
    return [attachment.target for attachment in attachments if attachment.target]


def _condition(type_: str) -> Callable[[AnyRow, Json], Json]:
    """Return the cell for a condition type: its status, or Partial where several are reported that differ."""

    def cell(row: AnyRow, _: Json) -> Json:
        statuses = {condition.status for condition in _reported(row) if condition.type == type_} or {"Unknown"}
        return statuses.pop() if len(statuses) == 1 else "Partial"

    return cell


def _reported(row: AnyRow) -> Iterable[ReportedCondition]:
    if isinstance(row, ObjectRow):
        return row.listed.reported
    return row.reported if isinstance(row, PolicyRow) else ()


_CELLS: Final[Mapping[str, Callable[[AnyRow, Json], Json]]] = {
    "accepted": _condition("Accepted"),
    "hostnames": lambda row, wanted: _shown(_routes_of(row)[0], ",", wanted),
    "httproutes": lambda row, _: (
        sum(ref.kind == "HTTPRoute" for ref in row.routes) if isinstance(row, GatewayRow) else None
    ),
    "kind": lambda row, _: str(row.ref.group_kind),
    "name": lambda row, _: row.ref.name,
    "namespace": lambda row, _: row.ref.namespace,
    "ns": lambda row, _: row.ref.namespace,
    "parentRefs": lambda row, wanted: _shown(_routes_of(row)[1], ",", wanted),
    "parents": lambda row, wanted: _shown(_routes_of(row)[1], ",", wanted),
    "policies": lambda row, _: _policies(row),
    "referred_by": lambda row, wanted: _shown(_referring(row), ", ", wanted),
    "resolved": _condition("ResolvedRefs"),
    "scope": lambda row, _: ("Namespaced" if row.names.namespaced else "Cluster") if isinstance(row, KindRow) else None,
    "target": lambda row, _: ", ".join(f"{target.kind} {target.object.name}" for target in _targets_of(row)),
    "targets": lambda row, _: [slashed(target.object) for target in _targets_of(row)],
    "type": lambda row, _: row.profile.policy_class.capitalize() if isinstance(row, PolicyRow | KindRow) else None,
}
