"""What differs between two states in the formats that are neither for one reader at a terminal nor documents."""

from __future__ import annotations

from typing import TYPE_CHECKING

from kubectl_policy.render.change_markdown import diff_markdown
from kubectl_policy.render.change_table import diff_names, diff_table
from kubectl_policy.render.document import Line, Span
from kubectl_policy.render.formats import verbatim

if TYPE_CHECKING:
    from kubectl_policy.questions.diff import StateDiff
    from kubectl_policy.render.document import Document


def change_format(difference: StateDiff, headline: str, output: str) -> Document:
    """The difference as `markdown`, `name`, `summary`, `wide` or, for anything else, as a table."""
    match output:
        case "markdown":
            return verbatim(diff_markdown(difference, headline))
        case "name":
            return diff_names(difference)
        case "summary":
            # In one line, however long it is.
            return (Line((Span(headline),)),)
        case _:
            return diff_table(difference, wide=output == "wide")
