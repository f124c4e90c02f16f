"""Judge of two ways to read one repository: contradictions between raw and rendered answers, and hedges."""

from __future__ import annotations

from typing import TYPE_CHECKING

from msgspec import Struct

from kubectl_policy.attachment import MEANINGS
from kubectl_policy.model.kind_roles import ROUTES
from kubectl_policy.model.unknown import may_equal
from tests.answers import answers
from tests.certainty import is_asked_about, is_sure, lies, missing

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Iterator

    from kubectl_policy import Analysis
    from kubectl_policy.model import ObjectRef
    from tests.answers import Answer, Fact


def contradictions(raw: Analysis, rendered: Analysis) -> list[str]:
    """Return what raw says with certainty and rendered does not say, and what rendered says and raw excludes."""
    return [*lies(raw, rendered), *exclusions(raw, rendered)]


def exclusions(raw: Analysis, rendered: Analysis) -> list[str]:
    """Return what one analysis has, while the other neither has it nor doubts that it is absent."""
    return [
        *_excluded_objects(raw, rendered),
        *_excluded_attachments(raw, rendered),
        *_excluded_facts(raw, rendered),
    ]


def _excluded_objects(raw: Analysis, rendered: Analysis) -> Iterator[str]:
    for resource in rendered.snapshot.resources:
        ref = resource.ref
        if is_asked_about(rendered, ref) and not (_may_be_there(raw, ref) or may_have_more(raw, ref)):
            yield f"{ref} is excluded"


def _may_be_there(analysis: Analysis, ref: ObjectRef) -> bool:
    return any(
        may_equal(resource.ref.namespace, ref.namespace) and may_equal(resource.ref.name, ref.name)
        for resource in analysis.index.of_kind(ref.group_kind)
    )


def may_have_more(analysis: Analysis, ref: ObjectRef) -> bool:
    """Whether an object may be among those that an analysis could not read, or may differ from the one it has."""
    return any(gap.covers(ref) for gap in analysis.snapshot.gaps)


def _excluded_attachments(raw: Analysis, rendered: Analysis) -> Iterator[str]:
    for policy, attachments in rendered.attachments.items():
        if policy not in raw.attachments or not is_sure(raw, policy):
            continue
        states = {attachment.target: attachment.state for attachment in raw.attachments[policy] if attachment.target}
        is_open = any(
            not MEANINGS[attachment.state].known or not attachment.target for attachment in raw.attachments[policy]
        )
        for attachment in attachments:
            target = attachment.target
            if attachment.state != "attached" or target is None or states.get(target) == "attached" or is_open:
                continue
            if not may_have_more(raw, target.object) and is_sure(raw, target.object):
                yield f"{policy} → {target} is excluded: {states.get(target, 'no target')}"


def _excluded_facts(raw: Analysis, rendered: Analysis) -> Iterator[str]:
    hedged = {question: answer for question, answer in answers(raw, raw.index).items() if not answer.is_certain}
    # Certain answers are held against the others by `lies`.
    for question, answer in sorted(answers(rendered, raw.index).items()):
        if question not in hedged:
            continue
        doubtful = hedged[question]
        # A doubt about what stands in the place of a fact is one about the fact.
        in_place = {ref for fact in missing(doubtful.facts, answer) for ref in fact.refs}
        for fact in missing(answer.facts, doubtful):
            if not _is_doubted(raw, {question.subject, *fact.refs, *in_place}, doubtful):
                yield f"{question}: {fact.text} is excluded by an answer that doubts {'; '.join(doubtful.doubts)}"


def _is_doubted(raw: Analysis, refs: Collection[ObjectRef], answer: Answer) -> bool:
    """Whether an answer doubts something about one of some objects, or about a policy of the kind of one of them."""
    if any(may_have_more(raw, ref) for ref in refs):
        return True
    kinds = {ref.group_kind for ref in refs}
    named = {*refs, *(policy for policy in raw.attachments if policy.group_kind in kinds)}
    # A variable may stand for anything.
    return any("${" in doubt or any(str(ref) in doubt for ref in named) for doubt in answer.doubts)


def wrong_everywhere(mixed: Analysis, worlds: Collection[Analysis]) -> list[str]:
    """Return the questions that an analysis of several clusters answers with certainty, as in none of the clusters."""
    by_world = [answers(world, mixed.index) for world in worlds]
    return [
        str(question)
        for question, answer in sorted(answers(mixed, mixed.index).items())
        if answer.is_certain
        and all(question not in right or _differences(answer, right[question]) for right in by_world)
    ]


class Hedges(Struct, frozen=True):
    """Raw answers about routes that are right, and those of them that are given with a doubt."""

    right: int = 0
    hedged: int = 0

    def __add__(self, hedges: Hedges) -> Hedges:
        """Add the numbers of two worlds."""
        return Hedges(self.right + hedges.right, self.hedged + hedges.hedged)


def hedges(raw: Analysis, rendered: Analysis) -> Hedges:
    """Count the raw answers about routes that are right, and the hedged ones among them."""
    right = answers(rendered, raw.index)
    answers_that_are_right = [
        answer
        for question, answer in answers(raw, raw.index).items()
        if question.subject.group_kind in ROUTES and question in right and not _differences(answer, right[question])
    ]
    return Hedges(len(answers_that_are_right), sum(not answer.is_certain for answer in answers_that_are_right))


def unsure(raw: Analysis, rendered: Analysis) -> list[str]:
    """Return the questions that raw answers with certainty, and rendered with doubts."""
    right = answers(rendered, raw.index)
    return [
        f"{question}: rendered doubts {'; '.join(right[question].doubts)}"
        for question, answer in sorted(answers(raw, raw.index).items())
        if answer.is_certain and question in right and not right[question].is_certain
    ]


def _differences(first: Answer, second: Answer) -> list[Fact]:
    return [*missing(first.facts, second), *missing(second.facts, first)]


def total(every: Iterable[Hedges]) -> Hedges:
    """Add up the hedges of several worlds."""
    return sum(every, Hedges())
