"""How much of what other projects' tests say this project answers right: a floor for each type of fact."""

from __future__ import annotations

from functools import cache
from pathlib import Path
from typing import Final

import pytest

from tests.cases import gwctl, kuadrant
from tests.cases.report import Score, judged, score

CASES: Final = Path(__file__).parent.parent.parent / "shared" / "cases"
SUITES: Final = {"gwctl": gwctl, "kuadrant": kuadrant}

# Every fact of these types holds. gwctl's are attachment, references, merging, enforcement, and what a change does.
GWCTL_WHOLE: Final = (
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
WHOLE: Final = [
    *(("gwctl", type_) for type_ in GWCTL_WHOLE),
    ("kuadrant", "topology"),
    ("kuadrant", "sources"),
]
# Of these, the rest needs profiles of other projects' kinds, or a table of objects.
GWCTL_FLOORS: Final = {"effective": 8, "routes": 2}
KUADRANT_FLOORS: Final = {
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
    "whatif message": 1,
}
FLOORS: Final = [
    *(("gwctl", *floor) for floor in GWCTL_FLOORS.items()),
    *(("kuadrant", *floor) for floor in KUADRANT_FLOORS.items()),
]


@cache
def scores(suite: str) -> dict[str, Score]:
    """The score of each type of fact over all cases of a suite."""
    folder, adapter = CASES / suite, SUITES[suite]
    if not folder.is_dir():
        pytest.skip(f"the recorded cases of {suite} are not next to this project")
    return score(judged(adapter.judge, folder, adapter.MARKER))


@pytest.mark.parametrize(("suite", "type_"), WHOLE)
def test_every_fact_of_a_type_holds(suite: str, type_: str) -> None:
    """Not one is lost."""
    found = scores(suite)[type_]
    assert found.total > 0
    assert found.right == found.total


@pytest.mark.parametrize(("suite", "type_", "floor"), FLOORS)
def test_no_right_answer_is_lost(suite: str, type_: str, floor: int) -> None:
    """At least as many facts hold as have held before."""
    assert scores(suite)[type_].right >= floor
