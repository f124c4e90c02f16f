"""Answers to gwctl's questions for problems, also those that a change introduces or fixes."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tests.cases.claims import claims, problems_in
from tests.cases.worlds import items

if TYPE_CHECKING:
    from collections.abc import Iterable

    from kubectl_policy.model import Json
    from tests.cases.claims import Problem
    from tests.cases.gwctl_question import Question


def errors(question: Question, _: str, expected: Json) -> tuple[object, object]:
    """Compare sentences with the problems of the subject or, without a subject, of the world."""
    reported, exhaustive = question.problems, question.subject is not None or not items(expected)
    return _compared(expected, reported, exhaustive=exhaustive)


def dangling(question: Question, key: str, expected: Json) -> tuple[object, object]:
    """Compare pairs `Kind name -> Kind name` of references to missing objects."""
    return errors(question, key, [f"dangling {sentence}" for sentence in items(expected)])


def created(question: Question, _: str, expected: Json) -> tuple[object, object]:
    """Compare the objects that only the changed world has."""
    return _sorted(expected), sorted(map(str, question.difference.created))


def updated(question: Question, _: str, expected: Json) -> tuple[object, object]:
    """Compare the objects that differ between the two worlds."""
    return _sorted(expected), sorted(map(str, question.difference.updated))


def new_problems(question: Question, _: str, expected: Json) -> tuple[object, object]:
    """Compare the problems that only the changed world has."""
    return _compared(expected, problems_in(question.difference.problems.introduced))


def fixed_problems(question: Question, _: str, expected: Json) -> tuple[object, object]:
    """Compare the problems that only the old world has."""
    return _compared(expected, problems_in(question.difference.problems.fixed))


def unchanged_problems(question: Question, _: str, expected: Json) -> tuple[object, object]:
    """Compare the problems of changed objects that both worlds have: gwctl looks at no other objects."""
    return _compared(expected, problems_in(question.difference.problems.unchanged))


def _compared(expected: Json, reported: Iterable[Problem], *, exhaustive: bool = True) -> tuple[object, object]:
    """Return the sentences, and those that a problem fits; with `exhaustive` also the problems that fit no sentence."""
    wanted, problems = [str(sentence) for sentence in items(expected)], tuple(reported)
    claimed_by = {sentence: claims(sentence) for sentence in wanted}
    fitted = {claim for claimed in claimed_by.values() for claim in claimed if any(map(claim.fits, problems))}
    met = [sentence for sentence, claimed in claimed_by.items() if fitted.issuperset(claimed)]
    beyond = [problem.words for problem in problems if exhaustive and not any(claim.fits(problem) for claim in fitted)]
    return wanted, [*met, *beyond]


def _sorted(names: Json) -> list[str]:
    return sorted(map(str, items(names)))
