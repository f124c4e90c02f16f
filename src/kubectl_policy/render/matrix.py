"""`get effective` as a table: a column for each policy kind or field, with the values in force."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Final

from kubectl_policy.model.kind_roles import ROUTES
from kubectl_policy.model.kinds import listed, plural
from kubectl_policy.model.refs import shown_namespace
from kubectl_policy.questions.shared.path_phrases import PathPhrases
from kubectl_policy.render.output.columns import NOTHING, Column, Sentence, Table
from kubectl_policy.render.wording.blind_spots import missing, unread_hedge, unread_reason
from kubectl_policy.render.wording.names import count, either, flow, namespaces_phrase, node_label, self_phrase
from kubectl_policy.render.wording.sections import nothing_found
from kubectl_policy.render.wording.values import brief
from kubectl_policy.topology.references import section_words

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from kubectl_policy.model import Json
    from kubectl_policy.questions.matrix import Matrix, MatrixRow
    from kubectl_policy.questions.matrix_cells import CellPart
    from kubectl_policy.render.output.text import Style, View
    from kubectl_policy.resolution import Source

# So many cells a value has at least; where that is too many, the columns at the end are left out.
_LEAST: Final = 22
_UNKNOWN: Final = "<unknown>"
_IDLE: Final = "no traffic"


def matrix_table(matrix: Matrix, view: View) -> Table[MatrixRow]:
    """Return a row for each rule or object; at a terminal that is too narrow, the last columns are left out first."""
    kinds = {row.subject.object.group_kind for row in matrix.items}
    shown: list[Column[MatrixRow]] = (
        [Column("NAMESPACE", lambda row: shown_namespace(row.subject.object.namespace))] if view.namespaces else []
    )
    if len(kinds) > 1:
        shown.append(Column("KIND", lambda row: row.subject.kind, rank=len(matrix.columns) + 1))
    shown.append(Column("NAME", lambda row: row.subject.object.name))
    if any(kind in ROUTES for kind in matrix.type.kinds):
        shown.append(Column("RULE", lambda row: section_words(row.subject) if row.subject.section else ""))
        shown.append(Column("HOSTNAMES", lambda row: row.hostnames, narrow=False))
    for index, column in enumerate(matrix.columns):
        cell, style = partial(_cell, index=index, view=view), partial(_style, index=index)
        shown.append(Column(column.title, cell, rank=index + 1, least=_LEAST, style=style))
        shown.append(Column(f"{column.title} FROM", partial(_from, index=index), narrow=False))
    return Table(tuple(shown), matrix.items)


def _cell(row: MatrixRow, index: int, view: View) -> Sentence:
    """Return the settings in force, with their paths unless these are all; unknown ones are marked.

    Long lists are in short, but where everything is asked for.
    """
    cell = row.cells[index]
    if not row.paths:
        return Sentence(_UNKNOWN if row.unseen else _IDLE)
    if not cell.parts:
        return Sentence(_UNKNOWN if cell.unknown else NOTHING)
    which = PathPhrases(row.paths)
    rest = [f"{'unknown' if cell.unknown else 'nothing'}{_scope(which, row, cell.without)}"] if cell.without else []

    def phrase(value_phrase: Callable[[Json], str]) -> str:
        parts = (f"{_words(part, value_phrase)}{_scope(which, row, part.positions)}" for part in cell.parts)
        return "; ".join([*parts, *rest])

    return Sentence(phrase(flow), "" if view.everything else phrase(brief))


def _scope(which: PathPhrases, row: MatrixRow, positions: tuple[int, ...]) -> str:
    if len(positions) == len(row.paths):
        return ""
    return f" on {which.words(positions).removesuffix(' only')}"


def _words(part: CellPart, value_phrase: Callable[[Json], str]) -> str:
    """Return a value, or phrases; `set` for what has no words."""
    if part.summary:
        phrase = ", ".join(part.summary)
    elif len(part.settings) == 1:
        phrase = value_phrase(part.settings[0].value)
    else:
        phrase = ", ".join(f"{setting.field} {value_phrase(setting.value)}" for setting in part.settings) or "set"
    passed = " (for what is below)" if part.passes_down else ""
    if not part.certain:
        return f"{phrase}{passed} (may hold)"
    doubts = [f" (may be {'different' if is_there else 'invalid'})" for is_there in {it.is_there for it in part.unseen}]
    return f"{phrase}{passed}{''.join(sorted(doubts))}"


def _from(row: MatrixRow, index: int) -> tuple[str, ...]:
    """Return the sources of a cell: policies with their targets and lines."""
    lines: dict[tuple[Source, str], dict[int, None]] = {}
    for part in row.cells[index].parts:
        for by in part.settings or part.sources:
            origin = by.origin
            numbers = lines.setdefault((by.source, origin.source if origin else ""), {})
            if origin and origin.line:
                numbers[origin.line] = None
    return tuple(f"{_source(source)}{_lines(file, sorted(of))}" for (source, file), of in lines.items())


def _source(source: Source) -> str:
    if source.object != source.target.object:
        return f"{source.object} → {node_label(source.target)}"
    return self_phrase(source.object) if source.object.group_kind in ROUTES else f"{source.object} itself"


def _lines(file: str, lines: Sequence[int]) -> str:
    """` (shop.yaml:41,43)`."""
    if not file:
        return ""
    return f" ({file}:{','.join(map(str, lines))})" if lines else f" ({file})"


def _style(row: MatrixRow, index: int) -> Style:
    cell = row.cells[index]
    if not row.paths:
        return "aside"
    if all(part.permissive for part in cell.parts):
        return "warning"
    return "" if cell.without or not all(part.certain for part in cell.parts) else "value"


def matrix_headline(matrix: Matrix) -> str:
    """Count the rows, or those that miss something, with what they miss."""
    where, number = namespaces_phrase({matrix.namespace}), len(matrix.items)
    noun = "rule" if matrix.type.kinds[0] in ROUTES else matrix.type.noun
    if matrix.unknown:
        return f"Whether there are any {plural(noun)}{where} is unknown: {unread_reason(matrix.unseen)}."
    if not matrix.asked.missing:
        return f"{count(number, noun)}{where}{unread_hedge(matrix.unseen)}."
    # Without columns, any policy at all.
    sought = either([column.title for column in matrix.columns]) or "policy"
    idle = f"; {count(matrix.idle, 'other')} {'gets' if matrix.idle == 1 else 'get'} no traffic" if matrix.idle else ""
    rest = f"{idle}{unread_hedge(matrix.unseen)}."
    if not number:
        looked_at = f"{matrix.examined} {'was' if matrix.examined == 1 else 'were'} looked at"
        return f"No {noun}{where} lacks {sought}; {looked_at}{rest}"
    verb = "has" if number == 1 else "have"
    parts = (part for row in matrix.items for cell in row.cells for part in cell.parts)
    sought += ", or one that lets every request through," if any(part.permissive for part in parts) else ""
    return f"{number} of {count(matrix.examined, noun)}{where} {verb} no {sought} on at least one path{rest}"


def matrix_remarks(matrix: Matrix, *, empty: bool) -> list[str]:
    """Return remarks next to a table: what it lacks, and how to get another one."""
    remarks: list[str] = []
    if matrix.asked.missing or matrix.unseen:
        remarks.append(matrix_headline(matrix))
    elif empty:
        remarks += nothing_found(matrix.namespace, matrix.elsewhere, matrix.type.noun)
    if matrix.unused:
        verb = "is" if len(matrix.unused) == 1 else "are"
        remarks.append(f"{listed(matrix.unused)} {verb} not in force anywhere here{_question(matrix)}")
    if matrix.unseen:
        unknown = any(cell.unknown for row in matrix.items for cell in row.cells)
        lead = "what is <unknown> may be set by something that could not be read; " if unknown else ""
        remarks.append(f"hint: {lead}-o yaml says what {missing(matrix.place)}")
    return remarks


def _question(matrix: Matrix) -> str:
    """Ask whether fields exist that no profile and no definition knows; "" if all are known."""
    fields = matrix.unknown_fields
    if not fields:
        return ""
    subject = "" if fields == matrix.unused else f"{listed(fields)}: "
    return f"; {subject}{'is it a field' if len(fields) == 1 else 'are they fields'} of these policies?"
