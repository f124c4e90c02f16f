"""What differs between two states as rows: the columns of tables, and the cells of Markdown."""

from __future__ import annotations

from itertools import chain
from typing import TYPE_CHECKING, Final, Literal, TypeAlias

from msgspec import Struct

from kubectl_policy.render.changes.settings import value_words
from kubectl_policy.render.changes.summary import UNKNOWN
from kubectl_policy.render.changes.traffic import details
from kubectl_policy.render.output.columns import Column, Table
from kubectl_policy.render.wording.names import mark, node_words, source_words

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Iterator, Sequence

    from kubectl_policy.model import Diagnostic, NodeRef, ObjectRef
    from kubectl_policy.questions.diff import StateDiff
    from kubectl_policy.questions.differences.effects import EffectChange
    from kubectl_policy.questions.differences.relations import AttachmentChange, EnforcementChange, ParentChange
    from kubectl_policy.questions.differences.traffic import TrafficChanges
    from kubectl_policy.render.output.text import View


class ChangeRow(Struct, frozen=True, kw_only=True):
    """One difference. A cell is empty where there is nothing to say."""

    change: str
    """One word to search for."""
    kind: str
    field: str = ""
    before: str
    after: str
    source: str
    """The object that sets the value, or is concerned."""
    objects: Sequence[NodeRef] = ()
    """Those for which it differs."""
    paths: str = ""
    owner: str = ""
    message: str = ""


_COLUMNS: Final[tuple[Column[ChangeRow], ...]] = (
    Column("CHANGE", lambda row: row.change),
    Column("KIND", lambda row: row.kind),
    Column("FIELD", lambda row: row.field),
    Column("BEFORE", lambda row: row.before),
    Column("AFTER", lambda row: row.after),
    Column("SOURCE", lambda row: row.source),
    Column("OBJECTS", lambda row: str(len(row.objects) or "")),
    Column("PATHS", lambda row: row.paths),
    Column("NAMES", lambda row: ", ".join(map(node_words, row.objects)), narrow=False),
    Column("MESSAGE", lambda row: row.message, narrow=False),
)


RowGroup: TypeAlias = Literal["traffic", "settings", "targets", "parents", "policies", "introduced", "fixed"]


def rows_of(difference: StateDiff) -> dict[RowGroup, list[ChangeRow]]:
    """Return the rows of a difference: routes that lose traffic first, then settings, worst first."""
    return {
        "traffic": list(_traffic_rows(difference.traffic)),
        "settings": list(chain.from_iterable(map(_setting_rows, difference.effects))),
        "targets": [_relation_row(change, change.policy, change.target) for change in difference.attachments],
        "parents": [_relation_row(change, change.route, change.parent) for change in difference.parents],
        "policies": list(map(_enforcement_row, difference.enforcement)),
        "introduced": [_problem_row(problem, "problem") for problem in difference.problems.introduced],
        "fixed": [_problem_row(problem, "fixed") for problem in difference.problems.fixed],
    }


def diff_table(difference: StateDiff, _: View) -> Table[ChangeRow]:
    """Return a row for each route with other traffic, then for each setting, target, parent, policy and problem."""
    return Table(_COLUMNS, tuple(chain.from_iterable(rows_of(difference).values())))


def diff_names(difference: StateDiff) -> Iterable[ObjectRef]:
    """The objects for which something differs, each once: of traffic, of settings, then of relations."""
    refs = [
        *(traffic.route for traffic in difference.traffic.routes),
        *(changed.node.object for change in difference.effects for changed in change.objects),
        *(change.route for change in difference.parents),
        *(change.policy for change in difference.attachments),
        *(change.policy for change in difference.enforcement),
    ]
    return dict.fromkeys(refs)


def _traffic_rows(traffic: TrafficChanges) -> Iterator[ChangeRow]:
    """A row for each route, with its hostnames for a field."""
    parts = (
        ("ended", traffic.lost.all),
        ("reduced", traffic.lost.some),
        ("uncontrolled", traffic.uncontrolled),
        ("begun", traffic.gained.all),
        ("increased", traffic.gained.some),
    )
    for change, routes in parts:
        for entry in routes:
            yield ChangeRow(
                change=change,
                kind=str(entry.route.group_kind),
                field=", ".join(entry.hostnames),
                before="",
                after="",
                source=str(entry.route),
                owner=entry.owner,
                message="; ".join(details(entry, gained=change in {"begun", "increased"})),
            )


def _setting_rows(change: EffectChange) -> Iterator[ChangeRow]:
    """A row for each field that differs; its change ends with `!` if that is relevant to security."""
    nodes = [changed.node for changed in change.objects]
    for field in change.fields:
        setter = field.after or field.before
        yield ChangeRow(
            change=f"{field.sort}{'!' if change.where == 'kept' and (field.harmful or field.demanding) else ''}",
            kind=f"{change.policy_kind}{mark(change.profile, 'being a policy')}",
            field=field.field,
            before=value_words(field.before, "", "<removed>"),
            after=value_words(field.after, "", "<removed>"),
            source=source_words(setter.source) if setter else "",
            objects=nodes,
            paths=f"{len(change.paths)} {change.where}",
            message="; ".join(change.doubts),
        )


def _relation_row(change: AttachmentChange | ParentChange, ref: ObjectRef, to: NodeRef) -> ChangeRow:
    """How the state of a policy's reference to a target, or of a route at a parent, changes."""
    if change.after in UNKNOWN:
        sort = "unknown"
    elif change.after == "attached":
        sort = "attached"
    else:
        # What is attached neither before nor after is a reference.
        sort = "detached" if change.before == "attached" else "reference"
    return ChangeRow(
        change=sort,
        kind=str(ref.group_kind),
        before=change.before or "",
        after=change.after or "",
        source=f"{ref} → {node_words(to)}",
        message=change.message,
    )


def _enforcement_row(change: EnforcementChange) -> ChangeRow:
    same = change.before == change.after
    return ChangeRow(
        change="enforcement",
        kind=str(change.policy.group_kind),
        before=_beaten(change.by_before) if same else change.before or "",
        after=_beaten(change.by) if same else change.after or "",
        source=str(change.policy),
        message=f"{change.after} as before" if same else _beaten(change.by) if change.by else "",
    )


def _beaten(by: Collection[ObjectRef]) -> str:
    return f"beaten by {', '.join(map(str, by))}" if by else "beaten by none"


def _problem_row(problem: Diagnostic, change: str) -> ChangeRow:
    """A problem that is introduced or fixed, with its rule for a field."""
    subject, message = problem.subject, problem.message
    return ChangeRow(
        change=change,
        kind=str(subject.group_kind) if subject else "",
        field=problem.rule,
        before=problem.severity if change == "fixed" else "",
        after="" if change == "fixed" else problem.severity,
        source=str(subject or ""),
        # The columns next to it name the subject already.
        message=message.removeprefix(f"{subject}: ") if subject else message,
    )
