"""Answers as text in each of their formats."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final, TypeAlias, cast

from kubectl_policy.cli.commands.changes import BLAST_RADIUS, DIFF
from kubectl_policy.cli.commands.explain import EXPLANATION
from kubectl_policy.cli.commands.get import EFFECTIVE, LISTS
from kubectl_policy.cli.commands.graph import GRAPH
from kubectl_policy.cli.commands.status import STATUS
from kubectl_policy.cli.commands.why_not import WHY_NOT
from kubectl_policy.cli.describing import OBJECT_DESCRIPTION, POLICY_DESCRIPTION
from kubectl_policy.lint.report import Report
from kubectl_policy.questions.blast_radius import BlastRadius
from kubectl_policy.questions.describe.objects import ObjectDescription
from kubectl_policy.questions.describe.policies import PolicyDescription
from kubectl_policy.questions.diff import StateDiff
from kubectl_policy.questions.explain import Explanation
from kubectl_policy.questions.graph.picture import Picture
from kubectl_policy.questions.lists import Lists
from kubectl_policy.questions.matrix import Matrix
from kubectl_policy.questions.shared.selection import Listing
from kubectl_policy.questions.status.report import StatusReport
from kubectl_policy.questions.why_not.answer import WhyNot
from kubectl_policy.render.lint import LINT
from kubectl_policy.render.output.encoding import json_pieces, plain
from kubectl_policy.render.output.formats import render
from kubectl_policy.render.output.text import View, to_text

if TYPE_CHECKING:
    from kubectl_policy.model import Json
    from kubectl_policy.render.output.formats import Renderers

Answer: TypeAlias = ObjectDescription | PolicyDescription

FORMS: Final[dict[type, Renderers[Any]]] = {
    ObjectDescription: OBJECT_DESCRIPTION,
    PolicyDescription: POLICY_DESCRIPTION,
    Explanation: EXPLANATION,
    Lists: LISTS,
    Matrix: EFFECTIVE,
    Picture: GRAPH,
    StatusReport: STATUS,
    StateDiff: DIFF,
    BlastRadius: BLAST_RADIUS,
    Report: LINT,
    WhyNot: WHY_NOT,
}


def shown(answer: object, name: str, view: View | None = None) -> str:
    view = view or View()
    answer = _answer(answer)
    text = render(FORMS[type(answer)], answer, name, view)
    if isinstance(text, tuple):
        return to_text(text, view.width)
    assert not isinstance(text, bytes)
    return text if isinstance(text, str) else "".join(text)


def _answer(answer: object) -> object:
    """The answer that a command gives: lists, also if it is of one type."""
    return Lists((cast("Any", answer),)) if isinstance(answer, Listing) else answer


def as_json(document: object) -> str:
    return "".join(json_pieces(document))


def document_of(answer: object) -> dict[str, Json]:
    answer = _answer(answer)
    return cast("dict[str, Json]", plain(FORMS[type(answer)].document(answer)))


def headline(answer: object) -> str:
    """The sentence that the answer opens with."""
    return FORMS[type(answer)].headline(answer)
