"""What questions ask of a world: what they reach, and no more where there is more of what does not bear on them."""

from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING, Final

import pytest

from kubectl_policy import analyze
from kubectl_policy.cli.options import Call
from kubectl_policy.model import NodeRef
from kubectl_policy.model.values import replace
from kubectl_policy.model.world import world_of
from kubectl_policy.questions.changes.blast_radius import blast_radius
from kubectl_policy.questions.describe.objects import describe
from kubectl_policy.questions.explain.kinds import explain
from kubectl_policy.questions.shared.selection import find
from kubectl_policy.questions.why_not.why_not import why_not
from kubectl_policy.render.changes import BLAST_RADIUS
from kubectl_policy.render.describe import OBJECT
from kubectl_policy.render.explain import EXPLANATION
from kubectl_policy.render.why_not import WHY_NOT
from tests.crowded import IMPLEMENTATIONS, TEAM, Implementation, world
from tests.fakes import RecordingWorld

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from kubectl_policy.analysis import Analysis
    from kubectl_policy.model import Snapshot
    from kubectl_policy.render.output.formats import Forms

    Question = Callable[[Analysis, Implementation], tuple[Forms, object]]

# So many objects are enough to tell what grows; two worlds are larger.
SIZES: Final = dict.fromkeys(IMPLEMENTATIONS, (400, 700)) | dict.fromkeys(("unknown", "istio"), (1_000, 10_000))


def _describe(type_name: str, name: str) -> Question:
    def ask(analysis: Analysis, _: Implementation) -> tuple[Forms, object]:
        return OBJECT, describe(analysis, NodeRef(find(analysis, type_name, name, TEAM)))

    return ask


def _explain(analysis: Analysis, implementation: Implementation) -> tuple[Forms, object]:
    return EXPLANATION, explain(analysis, implementation.kind)


def _why_not(analysis: Analysis, implementation: Implementation) -> tuple[Forms, object]:
    type_name, _, name = implementation.elsewhere.partition("/")
    policy = find(analysis, type_name, name, TEAM)
    return WHY_NOT, why_not(analysis, policy, NodeRef(find(analysis, "httproute", "web", TEAM)))


def _blast_radius(analysis: Analysis, _: Implementation) -> tuple[Forms, object]:
    return BLAST_RADIUS, blast_radius(analysis, find(analysis, "httproute", "web", TEAM))


QUESTIONS: Final[Mapping[str, Question]] = {
    "describe httproute": _describe("httproute", "web"),
    "describe gateway": _describe("gateway", "edge"),
    "describe service": _describe("service", "web"),
    "describe namespace": _describe("namespace", TEAM),
    "explain": _explain,
    "why-not": _why_not,
    "blast-radius": _blast_radius,
}
_world = cache(world)


def _asked(snapshot: Snapshot, question: str, implementation: Implementation) -> RecordingWorld:
    """A world that has been asked what it takes to answer a question, and to show the answer as text and as JSON."""
    recording = RecordingWorld(world_of(snapshot.resources))
    analysis = analyze(replace(snapshot, resources=recording))
    forms, answer = QUESTIONS[question](analysis, implementation)
    for output in ("tree", "json"):
        Call(output=output).show(forms, answer, analysis)
    return recording


@pytest.mark.usefixtures("capsys")
@pytest.mark.parametrize("name", IMPLEMENTATIONS)
@pytest.mark.parametrize("question", QUESTIONS)
def test_teams_that_have_nothing_to_do_with_it_are_not_asked_for(question: str, name: str) -> None:
    """As many objects are asked for among those of many other teams as among those of a few."""
    implementation = IMPLEMENTATIONS[name]
    few, many = (_asked(_world(name, size), question, implementation) for size in SIZES[name])
    assert few.numbers == many.numbers
