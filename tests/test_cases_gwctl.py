"""How much of what gwctl's tests and documents say this project answers right: a floor for each type of fact."""

from __future__ import annotations

from pathlib import Path
from typing import Final

import pytest

from tests.cases.gwctl import MARKER, judge
from tests.cases.report import Score, judged, score

CASES: Final = Path(__file__).parent.parent.parent / "shared" / "cases" / "gwctl"
pytestmark = pytest.mark.skipif(not CASES.is_dir(), reason=f"the recorded cases are not there: {CASES}")

# Every fact of these types holds: attachment, references, merging, enforcement, and what a change does to them.
WHOLE: Final = (
    "accepted",
    "attached",
    "attached_gateways",
    "attached_routes",
    "backends",
    "created",
    "dangling",
    "delete_changes",
    "delete_no_change",
    "directly_attached",
    "effective on path",
    "enforced",
    "enforcement",
    "errors",
    "fixed_issues",
    "gateways",
    "inherited",
    "merged_default",
    "merged_override",
    "new_issues",
    "not_attached",
    "not_gateways",
    "parents",
    "paths",
    "provenance",
    "referenced_by",
    "unchanged_issues",
    "updated",
    "warn",
)
# Of these, the rest needs profiles of other projects' kinds, or a table of objects.
FLOORS: Final = {"effective": 8, "routes": 2}


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
