"""What this project says to gwctl's questions for problems, those that a change makes or mends included."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tests.cases.claims import claims, told
from tests.cases.worlds import items

if TYPE_CHECKING:
    from collections.abc import Iterable

    from kubectl_policy.model import Json
    from tests.cases.claims import Problem
    from tests.cases.gwctl_question import Question


def errors(question: Question, _: str, expected: Json) -> tuple[object, object]:
    """The sentences that a problem says as well; of a subject, also the problems that no sentence tells of."""
    found, exhaustive = question.problems, question.subject is not None or not items(expected)
    return _said(expected, found, exhaustive=exhaustive)


def dangling(question: Question, key: str, expected: Json) -> tuple[object, object]:
    """Pairs `Kind name -> Kind name` of references to what does not exist."""
    return errors(question, key, [f"dangling {sentence}" for sentence in items(expected)])


def created(question: Question, _: str, expected: Json) -> tuple[object, object]:
    """The objects that only the changed world has."""
    return _sorted(expected), sorted(map(str, question.difference.created))


def updated(question: Question, _: str, expected: Json) -> tuple[object, object]:
    """The objects that differ in the two worlds."""
    return _sorted(expected), sorted(map(str, question.difference.updated))


def new_problems(question: Question, _: str, expected: Json) -> tuple[object, object]:
    """The problems that only the changed world has."""
    return _said(expected, told(question.difference.problems.introduced))


def fixed_problems(question: Question, _: str, expected: Json) -> tuple[object, object]:
    """The problems that only the old world has."""
    return _said(expected, told(question.difference.problems.fixed))


def unchanged_problems(question: Question, _: str, expected: Json) -> tuple[object, object]:
    """The problems that both worlds have, of the objects that the change touches: gwctl looks at no others."""
    return _said(expected, told(question.difference.problems.unchanged))


def _said(expected: Json, found: Iterable[Problem], *, exhaustive: bool = True) -> tuple[object, object]:
    """The sentences that a problem says as well, then (`exhaustive`) the problems that no sentence tells of."""
    wanted, left = [str(sentence) for sentence in items(expected)], tuple(found)
    made = {sentence: claims(sentence) for sentence in wanted}
    every = [claim for claimed in made.values() for claim in claimed]
    met = [name for name, claimed in made.items() if all(any(claim.fits(one) for one in left) for claim in claimed)]
    beyond = [one.words for one in left if exhaustive and not any(claim.fits(one) for claim in every)]
    return wanted, [*met, *beyond]


def _sorted(names: Json) -> list[str]:
    return sorted(map(str, items(names)))
