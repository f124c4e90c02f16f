"""How much of what Kuadrant's and policy-machinery's tests expect this project answers right: a floor for each type."""

from __future__ import annotations

from pathlib import Path
from typing import Final

import pytest

from tests.cases.kuadrant import MARKER, judge
from tests.cases.report import Score, judged, score

CASES: Final = Path(__file__).parent.parent.parent / "shared" / "cases" / "kuadrant"
pytestmark = pytest.mark.skipif(not CASES.is_dir(), reason=f"the recorded cases are not there: {CASES}")

# Every fact of these types is answered.
WHOLE: Final = ("topology", "sources")
# Of these, what no profile of Kuadrant's kinds is needed for.
FLOORS: Final = {
    "accepted": 46,
    "affected": 32,
    "effective": 63,
    "enforced": 39,
    "enforcement": 11,
    "message": 14,
    "overridden by": 5,
    "whatif accepted": 4,
    "whatif affected": 12,
    "whatif effective": 29,
    "whatif enforced": 11,
    "whatif enforcement": 1,
    "whatif overridden by": 1,
}


@pytest.fixture(scope="module")
def scores() -> dict[str, Score]:
    """The score of each type of fact over all cases."""
    return score(judged(judge, CASES, MARKER))


@pytest.mark.parametrize("type_", WHOLE)
def test_every_fact_of_a_type_holds(scores: dict[str, Score], type_: str) -> None:
    """Not one is lost."""
    assert scores[type_].total > 0
    assert scores[type_].right == scores[type_].total


@pytest.mark.parametrize(("type_", "floor"), FLOORS.items())
def test_no_right_answer_is_lost(scores: dict[str, Score], type_: str, floor: int) -> None:
    """At least as many facts hold as have held before."""
    assert scores[type_].right >= floor
