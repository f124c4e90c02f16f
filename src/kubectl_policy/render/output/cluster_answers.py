"""Answers of several clusters as one: a section, a document, or rows with a column for the cluster."""

from __future__ import annotations

from itertools import chain
from typing import TYPE_CHECKING, Annotated, Any, Final, TypeAlias, cast

from msgspec import Meta, Struct
from msgspec.structs import replace

from kubectl_policy.render.output.columns import NOTHING, Column, Table, aligned, laid_out, text_of
from kubectl_policy.render.output.encoding import as_yaml, envelope, json_pieces, plain
from kubectl_policy.render.output.escape import code
from kubectl_policy.render.output.formats import format_of
from kubectl_policy.render.output.text import Line, Segment

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from kubectl_policy.render.output.columns import Cell
    from kubectl_policy.render.output.formats import Renderers, Shown
    from kubectl_policy.render.output.text import Document, Style, View

_TITLE: Final = "CONTEXT"
# Whose it is, by its place, and the row of that table.
_Row: TypeAlias = tuple[int, Any]


class ClusterAnswer(Struct, frozen=True, kw_only=True):
    """Answer of one cluster: its view, and its text in the format that was asked for."""

    context: str
    renderers: Renderers[Any]
    answer: object
    view: View
    shown: Shown


class Unanswered(Struct, frozen=True, kw_only=True):
    """A cluster without an answer."""

    context: Annotated[str, Meta(description="The kubeconfig context of the cluster.")]
    message: Annotated[str, Meta(description="The error, for people.")]
    hint: Annotated[str, Meta(description="A remedy, for people; may be empty.")]


def render_answers(answers: Sequence[ClusterAnswer], unanswered: Sequence[Unanswered], name: str) -> Shown:
    """Show all answers in a format, each with its context. Raises `KeyError` for a format without a place for that."""
    part = format_of(name).part if "=" not in name else name.partition("=")[0]
    return _document(answers, unanswered, name) if part == "document" else _WAYS[part](answers, name)


def _document(answers: Sequence[ClusterAnswer], unanswered: Sequence[Unanswered], name: str) -> Shown:
    items = [answer.renderers.document(answer.answer, answer.context) for answer in answers]
    document = envelope("Answers", {"items": items, "unanswered": unanswered})
    if name == "yaml":
        return as_yaml(plain(document), unicode=all(answer.view.unicode for answer in answers)) + "\n"
    return chain(json_pieces(document), ("\n",))


def _trees(answers: Sequence[ClusterAnswer], _: str) -> Document:
    lines: list[Line] = []
    for answer in answers:
        shown = cast("Document", answer.shown)
        lines += (*((Line(),) if lines else ()), Line((Segment(f"Context {answer.context}", "title"),)), *shown)
    return tuple(lines)


def _lines(answers: Sequence[ClusterAnswer], _: str) -> Document:
    return tuple(
        Line((Segment(f"{answer.context}: "), *line.spans))
        for answer in answers
        for line in cast("Document", answer.shown)
    )


def _tables(answers: Sequence[ClusterAnswer], name: str) -> Shown:
    view = replace(answers[0].view, namespaces=any(answer.view.namespaces for answer in answers))
    several = [answer.renderers.table(answer.answer, answer.view) for answer in answers]
    contexts = [answer.context for answer in answers]
    # Where several types are listed, each answer has a table for each type.
    return laid_out((_together(contexts, tables) for tables in zip(*several, strict=True)), name, view)


def _together(contexts: Sequence[str], tables: Sequence[Table[Any]]) -> Table[_Row]:
    """Join the tables of several answers into one with all their columns, and one for the context."""
    titles = dict.fromkeys(column.title for table in tables for column in table.columns)
    by_title = [{column.title: column for column in table.columns} for table in tables]
    columns = [_column([titles_.get(title) for titles_ in by_title]) for title in titles]
    rows = [(index, row) for index, table in enumerate(tables) for row in table.rows]
    return Table((Column(_TITLE, lambda row: contexts[row[0]]), *columns), rows)


def _column(columns: Sequence[Column[Any] | None]) -> Column[_Row]:
    first = next(filter(None, columns))

    def cell(row: _Row) -> Cell:
        column = columns[row[0]]
        return column.cell(row[1]) if column else NOTHING

    def style(row: _Row) -> Style:
        column = columns[row[0]]
        return column.style(row[1]) if column and column.style else ""

    def tight(row: _Row) -> str:
        column = columns[row[0]]
        return column.tight(row[1]) if column and column.tight else text_of(cell(row), whole=False)

    return Column(
        first.title,
        cell,
        narrow=first.narrow,
        rank=first.rank,
        tight=tight if first.tight else None,
        least=first.least,
        style=style,
    )


def _custom_columns(answers: Sequence[ClusterAnswer], name: str) -> str:
    from kubectl_policy.render.output.templates import CustomColumns  # noqa: PLC0415 (no other format needs it)

    columns = CustomColumns(name.partition("=")[2])
    rows = [
        [answer.context, *cells]
        for answer in answers
        for cells in columns.cells(plain(answer.renderers.document(answer.answer, answer.context)))
    ]
    header = [[_TITLE, *columns.titles]] if answers[0].view.headers else []
    return "".join(f"{line}\n" for line in aligned([*header, *rows])) if rows else ""


def _texts(answers: Sequence[ClusterAnswer], _: str) -> str:
    """Join texts as kubectl prints them, without a line break at the end."""
    return "\n".join(str(answer.shown).removesuffix("\n") for answer in answers)


_WAYS: Final[dict[str, Callable[[Sequence[ClusterAnswer], str], Shown]]] = {
    "text": _trees,
    "tree": _trees,
    "table": _tables,
    "markdown": lambda answers, _: "\n".join(
        f"## Context {code(answer.context)}\n\n{answer.shown!s}" for answer in answers
    ),
    "summary": _lines,
    **dict.fromkeys(("jsonpath", "jsonpath-as-json", "go-template"), _texts),
    "custom-columns": _custom_columns,
}
