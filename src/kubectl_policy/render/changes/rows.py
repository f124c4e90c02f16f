"""What differs between two states as rows: the same cells in tables and in Markdown."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final, NamedTuple

from kubectl_policy.attachment import MEANINGS
from kubectl_policy.render.output.columns import Column, Table
from kubectl_policy.render.words.names import flow, node_words, source_words
from kubectl_policy.resolution import ENFORCEMENT

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from kubectl_policy.model import Diagnostic, NodeRef, ObjectRef
    from kubectl_policy.questions.changes.blast_radius import BlastRadius
    from kubectl_policy.questions.changes.diff import StateDiff
    from kubectl_policy.questions.changes.effects import EffectChange, EffectiveValue, FieldChange
    from kubectl_policy.questions.changes.relations import AttachmentChange, EnforcementChange, ParentChange
    from kubectl_policy.render.output.text import View

_UNKNOWN = frozenset(
    ["unknown", *(state for one in (MEANINGS, ENFORCEMENT) for state, meaning in one.items() if not meaning.known)]
)


class Row(NamedTuple):
    """One thing that differs. A cell is empty where there is nothing to say.

    `change` is one word to search for, `before` and `after` are values or states, `source` is who sets the value or is
    concerned, `objects` are those for which it differs.
    """

    change: str
    kind: str
    field: str
    before: str
    after: str
    source: str
    objects: Sequence[NodeRef] = ()
    paths: str = ""
    message: str = ""


def setting_rows(change: EffectChange) -> Iterator[Row]:
    """A row for each field that differs; its change ends with `!` if that is relevant to security."""
    nodes = [changed.node for changed in change.objects]
    for field in change.fields:
        alarm = "!" if change.security and field.security and field.sort in {"lost", "changed"} else ""
        yield Row(
            f"{field.sort}{alarm}",
            str(change.kind),
            field.field,
            _value(field.before),
            _value(field.after),
            _source(field),
            nodes,
            f"{len(change.paths)} {change.where}",
            "; ".join(change.doubts),
        )


def attachment_row(change: AttachmentChange) -> Row:
    """What becomes of a policy's reference to a target."""
    return _relation_row(change.policy, change.target, change)


def parent_row(change: ParentChange) -> Row:
    """What becomes of a route at a parent."""
    return _relation_row(change.route, change.parent, change)


def _relation_row(ref: ObjectRef, to: NodeRef, change: AttachmentChange | ParentChange) -> Row:
    return Row(
        _relation(change.before, change.after),
        str(ref.group_kind),
        "",
        change.before or "",
        change.after or "",
        f"{ref} → {node_words(to)}",
        message=change.message,
    )


def enforcement_row(change: EnforcementChange) -> Row:
    """What becomes of a policy."""
    by = f"beaten by {', '.join(map(str, change.by))}" if change.by else ""
    return Row(
        "enforcement",
        str(change.policy.group_kind),
        "",
        change.before or "",
        change.after or "",
        str(change.policy),
        message=by,
    )


def problem_row(problem: Diagnostic, *, fixed: bool) -> Row:
    """A problem that is introduced or fixed, with its rule for a field."""
    subject, message = problem.subject, problem.message
    return Row(
        "fixed" if fixed else "problem",
        str(subject.group_kind) if subject else "",
        problem.rule,
        problem.severity if fixed else "",
        "" if fixed else problem.severity,
        str(subject or ""),
        # The columns beside it name the subject already.
        message=message.removeprefix(f"{subject}: ") if subject else message,
    )


def all_rows(difference: StateDiff) -> Iterator[Row]:
    """Every row: settings worst first, then targets, parents, policies and problems."""
    for change in difference.effects:
        yield from setting_rows(change)
    yield from map(attachment_row, difference.attachments)
    yield from map(parent_row, difference.parents)
    yield from map(enforcement_row, difference.enforcement)
    for problem in difference.problems.introduced:
        yield problem_row(problem, fixed=False)
    for problem in difference.problems.fixed:
        yield problem_row(problem, fixed=True)


def _relation(before: str | None, after: str | None) -> str:
    """`attached`, `detached`, `unknown`, or `reference` for one that is attached neither before nor after."""
    if after == "attached":
        return after
    if after in _UNKNOWN:
        return "unknown"
    return "detached" if before == "attached" else "reference"


def _value(valued: EffectiveValue | None) -> str:
    """The value in one line; empty where nothing sets the field."""
    if valued is None:
        return ""
    return "<removed>" if valued.removed else flow(valued.value)


def _source(field: FieldChange) -> str:
    """Who sets what is after or, if nothing does, who set what was before."""
    valued = field.after or field.before
    return source_words(valued.source) if valued else ""


_COLUMNS: Final[tuple[Column[Row], ...]] = (
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


def diff_table(difference: StateDiff, _: View) -> Table[Row]:
    """A row for each setting that differs, worst first, then for each target, parent, policy and problem that does.

    `wide` also has the names of the objects, and why something is as it is.
    """
    return Table(_COLUMNS, tuple(all_rows(difference)))


def blast_radius_table(answer: BlastRadius, view: View) -> Table[Row]:
    """`diff_table` of what deleting an object would change."""
    return diff_table(answer.difference, view)


def diff_names(difference: StateDiff) -> Iterable[ObjectRef]:
    """The objects for which something differs, each once: of settings, then of relations."""
    refs = [
        *(changed.node.object for change in difference.effects for changed in change.objects),
        *(change.route for change in difference.parents),
        *(change.policy for change in difference.attachments),
        *(change.policy for change in difference.enforcement),
    ]
    return dict.fromkeys(refs)


def blast_radius_names(answer: BlastRadius) -> Iterable[ObjectRef]:
    """`diff_names` of what deleting an object would change."""
    return diff_names(answer.difference)
