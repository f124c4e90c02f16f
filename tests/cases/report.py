"""The report on recorded cases: the score of each type of fact, then every miss."""

from __future__ import annotations

import json
import sys
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final, NamedTuple

from kubectl_policy import PolicyError

NOT_ANSWERED: Final = "not answered yet"
# Expected where an answer says more than a case does: a miss, but nothing that could have been recalled.
NOTHING: Final = "nothing"


@dataclass(frozen=True, slots=True)
class NodeInForce:
    """One fact of a case, and this project's answer; `got` equals `expected` if it is right.

    `sort` is what tells the expected answer from others of its type where that is less than the whole answer, which may
    hold names that no two cases share; see `rarer`.
    """

    case: str
    type: str
    fact: str
    expected: object
    got: object
    sort: object = None

    @property
    def right(self) -> bool:
        """Whether the answer is the expected one."""
        return self.got == self.expected


class Score(NamedTuple):
    """The number of facts answered right, and of all facts."""

    right: int
    total: int


def score(outcomes: Iterable[NodeInForce]) -> dict[str, Score]:
    """Return the score of each type of fact, sorted by type."""
    scores: dict[str, Score] = {}
    for outcome in outcomes:
        before = scores.get(outcome.type, Score(0, 0))
        scores[outcome.type] = Score(before.right + outcome.right, before.total + 1)
    return dict(sorted(scores.items()))


def rarer(outcomes: Iterable[NodeInForce]) -> list[NodeInForce]:
    """Return the facts whose expected answer is not the commonest of its type (the first of equally common ones).

    Where most answers of a type are the same, it is these that tell knowing from guessing.
    """
    expected = [outcome for outcome in outcomes if outcome.expected != NOTHING]
    sorts: dict[str, Counter[str]] = {}
    for outcome in expected:
        sorts.setdefault(outcome.type, Counter())[_sort(outcome)] += 1
    commonest = {type_: counts.most_common(1)[0][0] for type_, counts in sorts.items()}
    return [outcome for outcome in expected if _sort(outcome) != commonest[outcome.type]]


def render(outcomes: Sequence[NodeInForce], *, recall: bool = False) -> str:
    """Return the scores as a table with their sum, then each miss with the expected answer and the actual one.

    With `recall`, each line also says how many of the rarer answers are right.
    """
    width = max(map(len, (*score(outcomes), "all")))
    lines = [f"{name:{width}}  {right:5} of {total:5}" for name, (right, total) in _with_sum(score(outcomes))]
    if recall:
        of_rarer = dict(_with_sum(score(rarer(outcomes))))
        names = [name for name, _ in _with_sum(score(outcomes))]
        counts = [of_rarer.get(name, Score(0, 0)) for name in names]
        lines = [f"{line}   rarer {right:5} of {total:5}" for line, (right, total) in zip(lines, counts, strict=True)]
    for miss in (outcome for outcome in outcomes if not outcome.right):
        lines += ["", f"{miss.case}: {miss.type}: {miss.fact}"]
        lines += [f"  expected {_shown(miss.expected)}", f"  got      {_shown(miss.got)}"]
    return "\n".join(lines) + "\n"


def judged(judge: Callable[[Path], Iterable[NodeInForce]], folder: Path, marker: str) -> list[NodeInForce]:
    """Judge every case below a folder; a case is a folder that holds a file named `marker`."""
    outcomes: list[NodeInForce] = []
    for path in sorted(folder.glob(f"*/{marker}")):
        try:
            outcomes += judge(path.parent)
        except PolicyError as error:
            outcomes.append(NodeInForce(path.parent.name, "case", "its world is read", "an answer", str(error)))
    return outcomes


def main(
    judge: Callable[[Path], Iterable[NodeInForce]], marker: str, arguments: Sequence[str], *, recall: bool = False
) -> int:
    """Print the report on a folder; return 0 if every fact is right, 1 if not, 2 if there is no case."""
    outcomes = judged(judge, Path(arguments[0]), marker) if len(arguments) == 1 else []
    if not outcomes:
        sys.stderr.write(f"name one folder that holds cases (folders with {marker})\n")
        return 2
    sys.stdout.write(render(outcomes, recall=recall))
    return 0 if all(outcome.right for outcome in outcomes) else 1


def _with_sum(scores: Mapping[str, Score]) -> list[tuple[str, Score]]:
    rights, totals = (right for right, _ in scores.values()), (total for _, total in scores.values())
    return [*scores.items(), ("all", Score(sum(rights), sum(totals)))]


def _sort(outcome: NodeInForce) -> str:
    return _shown(outcome.expected if outcome.sort is None else outcome.sort)


def _shown(value: object) -> str:
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False, default=str)
