"""The sentence that a matrix opens with, and what is said next to it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from kubectl_policy.model.kinds import listed
from kubectl_policy.render.wording.names import count, either
from kubectl_policy.render.wording.next_commands import elsewhere_hint
from kubectl_policy.render.wording.unseen import as_far_as, missing
from kubectl_policy.topology.references import ROUTES

if TYPE_CHECKING:
    from kubectl_policy.questions.effective.matrix import Matrix


def matrix_headline(matrix: Matrix) -> str:
    """How many rows there are or, of those that are missing something, how many of how many and what."""
    where = f" in namespace {matrix.namespace}" if matrix.namespace else ""
    number = len(matrix.rows)
    if not matrix.asked.missing:
        return f"{count(number, _noun(matrix))}{where}{as_far_as(matrix.unseen)}."
    noun = _noun(matrix)
    idle = f"; {count(matrix.idle, 'other')} {'gets' if matrix.idle == 1 else 'get'} no traffic" if matrix.idle else ""
    rest = f"{idle}{as_far_as(matrix.unseen)}."
    if not number:
        looked_at = f"{matrix.examined} {'was' if matrix.examined == 1 else 'were'} looked at"
        return f"No {noun}{where} lacks {_sought(matrix)}; {looked_at}{rest}"
    verb = "has" if number == 1 else "have"
    return f"{number} of {count(matrix.examined, noun)}{where} {verb} no {_sought(matrix)} on at least one path{rest}"


def _noun(matrix: Matrix) -> str:
    return "rule" if matrix.type.kinds[0] in ROUTES else matrix.type.noun


def _sought(matrix: Matrix) -> str:
    """`jwt or basicAuth`, `SecurityPolicy`; without columns, any policy at all."""
    return either([column.title for column in matrix.columns]) or "policy"


def matrix_remarks(matrix: Matrix, *, empty: bool) -> list[str]:
    """Next to a table: what it lacks, and what may make it another one."""
    said: list[str] = []
    if matrix.asked.missing or matrix.unseen:
        said.append(matrix_headline(matrix))
    elif empty:
        where = f" in {matrix.namespace} namespace." if matrix.namespace else ""
        said += [f"No resources found{where}", *elsewhere_hint(matrix.elsewhere, matrix.type.noun)]
    if matrix.unused:
        verb = "is" if len(matrix.unused) == 1 else "are"
        said.append(f"{listed(matrix.unused)} {verb} not in force anywhere here; is it a field of these policies?")
    if matrix.unseen:
        unknown = any(cell.unknown for row in matrix.rows for cell in row.cells)
        what = "what is <unknown> may be set by something that could not be read; " if unknown else ""
        said.append(f"hint: {what}-o yaml says what {missing(matrix.place)}")
    return said
