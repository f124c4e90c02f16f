"""What differs between two states, and what deleting an object would change, in their output formats."""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal, TypeAlias

from kubectl_policy.questions.changes.blast_radius import BlastRadius
from kubectl_policy.questions.changes.diff import StateDiff
from kubectl_policy.render.changes.words import blast_headline, diff_headline
from kubectl_policy.render.describe.formats import verbatim
from kubectl_policy.render.output.text import Line, Span

if TYPE_CHECKING:
    from kubectl_policy.model import Json
    from kubectl_policy.render.output.text import Document
    from kubectl_policy.render.output.view import View

ChangeAnswer: TypeAlias = StateDiff | BlastRadius
ChangeFormat: TypeAlias = Literal["tree", "table", "wide", "yaml", "json", "markdown", "summary", "name"]


def change_headline(answer: ChangeAnswer) -> str:
    """The sentence that an answer opens with."""
    return blast_headline(answer) if isinstance(answer, BlastRadius) else diff_headline(answer)


def render_change(answer: ChangeAnswer, name: ChangeFormat, view: View) -> Document:
    """The answer in a format; only what that needs is imported."""
    difference = answer.difference if isinstance(answer, BlastRadius) else answer
    match name:
        case "tree":
            return _tree(answer, view)
        case "json" | "yaml":
            return _document(answer, view, json=name == "json")
        case "markdown":
            from kubectl_policy.render.changes.markdown import diff_markdown  # noqa: PLC0415 (see above)

            return verbatim(diff_markdown(difference, change_headline(answer)))
        case "summary":
            # In one line, however long it is.
            return (Line((Span(change_headline(answer)),)),)
        case "name" | "table" | "wide":
            from kubectl_policy.render.changes.rows import diff_names, diff_table  # noqa: PLC0415 (see above)

            return diff_names(difference) if name == "name" else diff_table(difference, wide=name == "wide")


def _tree(answer: ChangeAnswer, view: View) -> Document:
    if isinstance(answer, BlastRadius):
        from kubectl_policy.render.changes.blast_radius import blast_radius_tree  # noqa: PLC0415 (see render_change)

        return blast_radius_tree(answer, view)
    from kubectl_policy.render.changes.diff import diff_tree  # noqa: PLC0415 (see render_change)

    return diff_tree(answer, view)


def _document(answer: ChangeAnswer, view: View, *, json: bool) -> Document:
    from kubectl_policy.render.changes.documents import blast_radius_document, diff_document  # noqa: PLC0415 (see above)
    from kubectl_policy.render.output.encode import as_json, as_yaml  # noqa: PLC0415 (see above)

    headline = change_headline(answer)
    document: dict[str, Json]
    if isinstance(answer, BlastRadius):
        document = blast_radius_document(answer, headline)
    else:
        document = diff_document(answer, headline)
    return verbatim(as_json(document) if json else as_yaml(document, unicode=view.unicode))
