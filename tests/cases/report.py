"""What a run over recorded cases says: the score of each type of fact, then every miss."""

from __future__ import annotations

import json
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Final, NamedTuple

from kubectl_policy import PolicyError

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

NOT_ANSWERED: Final = "not answered yet"


@dataclass(frozen=True, slots=True)
class Outcome:
    """One fact of a case and what this project says instead; `got` equals `expected` in a right answer."""

    case: str
    type: str
    fact: str
    expected: object
    got: object

    @property
    def right(self) -> bool:
        """Whether the answer is the expected one."""
        return self.got == self.expected


class Score(NamedTuple):
    """How many facts are answered right, of how many."""

    right: int
    total: int


def score(outcomes: Iterable[Outcome]) -> dict[str, Score]:
    """The score of each type of fact, sorted by type."""
    found: dict[str, Score] = {}
    for outcome in outcomes:
        before = found.get(outcome.type, Score(0, 0))
        found[outcome.type] = Score(before.right + outcome.right, before.total + 1)
    return dict(sorted(found.items()))


def render(outcomes: Sequence[Outcome]) -> str:
    """The scores as a table with their sum, then each miss with what was expected and what was answered."""
    scores = score(outcomes)
    width = max(map(len, (*scores, "all")))
    whole = Score(sum(right for right, _ in scores.values()), len(outcomes))
    lines = [f"{name:{width}}  {right:5} of {total:5}" for name, (right, total) in (*scores.items(), ("all", whole))]
    for miss in (outcome for outcome in outcomes if not outcome.right):
        lines += ["", f"{miss.case}: {miss.type}: {miss.fact}"]
        lines += [f"  expected {_shown(miss.expected)}", f"  got      {_shown(miss.got)}"]
    return "\n".join(lines) + "\n"


def judged(judge: Callable[[Path], Iterable[Outcome]], folder: Path, marker: str) -> list[Outcome]:
    """The outcomes of every case below a folder; a case is a folder that holds a file named `marker`."""
    found: list[Outcome] = []
    for path in sorted(folder.glob(f"*/{marker}")):
        try:
            found += judge(path.parent)
        except PolicyError as error:
            found.append(Outcome(path.parent.name, "case", "its world is read", "an answer", str(error)))
    return found


def main(judge: Callable[[Path], Iterable[Outcome]], marker: str, arguments: Sequence[str]) -> int:
    """Print the report on the folder that is named; 0 if every fact is right, 1 if not, 2 if there is none."""
    outcomes = judged(judge, Path(arguments[0]), marker) if len(arguments) == 1 else []
    if not outcomes:
        sys.stderr.write(f"name one folder that holds cases (folders with {marker})\n")
        return 2
    sys.stdout.write(render(outcomes))
    return 0 if all(outcome.right for outcome in outcomes) else 1


def _shown(value: object) -> str:
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False, default=str)
