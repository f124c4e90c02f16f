"""Answers to gwctl's questions for lists, and for the Events about an object."""

from __future__ import annotations

import re
from itertools import pairwise
from typing import TYPE_CHECKING, Final

from kubectl_policy.model.fields import text_at
from kubectl_policy.model.selectors import parse_label_query
from kubectl_policy.questions.lists import list_type
from kubectl_policy.questions.object_rows import BackendRow, GatewayRow, ObjectRow, RouteRow
from kubectl_policy.questions.policy_rows import KindRow, PolicyRow
from kubectl_policy.questions.shared.reported import reported_events
from kubectl_policy.questions.shared.selection import Selection
from tests.cases.names import slashed
from tests.cases.worlds import fields, items

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping, Sequence

    from kubectl_policy import NodeRef
    from kubectl_policy.model import Json
    from kubectl_policy.questions.lists import AnyRow
    from kubectl_policy.questions.shared.reported import ReportedCondition
    from tests.cases.gwctl_question import Question

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
        return wanted, [_name(row) for row in rows]
    by_name = {text_at(entry, "name"): fields(entry) for entry in wanted}
    got = [_entry(row, by_name.get(_name(row), {"name": ""})) for row in rows]
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


def _name(row: AnyRow) -> str:
    return row.ref.name


def _entry(row: AnyRow, wanted: Mapping[str, Json]) -> dict[str, Json]:
    """Return the cells of a row that a fact has, in the words of that fact."""
    return {key: _CELLS[key](row, value) for key, value in wanted.items()}


def _shown(entries: Sequence[str], separator: str, wanted: Json) -> Json:
    """Return the number of entries where a number is wanted, else the first ones and the number of the rest."""
    if isinstance(wanted, int):
        return len(entries)
    rest = len(entries) - _SHOWN
    return (separator.join(entries[:_SHOWN]) + (f" + {rest} more" if rest > 0 else "")) or "None"


def _hostnames(row: AnyRow, wanted: Json) -> Json:
    return _shown(row.hostnames if isinstance(row, RouteRow) else (), ",", wanted)


def _parents(row: AnyRow, wanted: Json) -> Json:
    return _shown([str(parent.object) for parent in row.parents] if isinstance(row, RouteRow) else (), ",", wanted)


def _referred_by(row: AnyRow, wanted: Json) -> Json:
    names = [ref.qualified_name for ref in row.referred_by] if isinstance(row, BackendRow) else []
    return _shown(names, ", ", wanted)


def _policies(row: AnyRow, _: Json) -> Json:
    """Return the number of policies that name the object, whether or not they may: gwctl counts these."""
    return len({attachment.policy for attachment in row.listed.targeted_by}) if isinstance(row, ObjectRow) else None


def _http_routes(row: AnyRow, _: Json) -> Json:
    return len([ref for ref in row.routes if ref.kind == "HTTPRoute"]) if isinstance(row, GatewayRow) else None


def _target(row: AnyRow, _: Json) -> Json:
    return ", ".join(f"{target.kind} {target.object.name}" for target in _targets_of(row))


def _targets(row: AnyRow, _: Json) -> Json:
    return [slashed(target.object) for target in _targets_of(row)]


def _targets_of(row: AnyRow) -> list[NodeRef]:
    attachments = row.targets if isinstance(row, PolicyRow) else ()
    return [attachment.target for attachment in attachments if attachment.target]


def _class(row: AnyRow, _: Json) -> Json:
    return row.profile.policy_class.capitalize() if isinstance(row, PolicyRow | KindRow) else None


def _scope(row: AnyRow, _: Json) -> Json:
    return ("Namespaced" if row.names.namespaced else "Cluster") if isinstance(row, KindRow) else None


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
    "hostnames": _hostnames,
    "httproutes": _http_routes,
    "kind": lambda row, _: str(row.ref.group_kind),
    "name": lambda row, _: _name(row),
    "namespace": lambda row, _: row.ref.namespace,
    "ns": lambda row, _: row.ref.namespace,
    "parentRefs": _parents,
    "parents": _parents,
    "policies": _policies,
    "referred_by": _referred_by,
    "resolved": _condition("ResolvedRefs"),
    "scope": _scope,
    "target": _target,
    "targets": _targets,
    "type": _class,
}
