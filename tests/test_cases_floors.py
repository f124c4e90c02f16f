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

# Every fact of these types holds. gwctl's are attachment, references, merging, enforcement, lists, and changes.
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
    "effective",
    "effective on path",
    "enforced",
    "enforcement",
    "errors",
    "events",
    "expect",
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
    "routes",
    "strategy",
    "unchanged_issues",
    "updated",
    "warn",
)
KUADRANT_WHOLE: Final = (
    "accepted",
    "lint",
    "overridden by",
    "sources",
    "topology",
    "whatif accepted",
    "whatif affected",
    "whatif effective",
    "whatif enforced",
    "whatif enforcement",
    "whatif message",
    "whatif overridden by",
)
WHOLE: Final = [
    *(("gwctl", type_) for type_ in GWCTL_WHOLE),
    *(("kuadrant", type_) for type_ in KUADRANT_WHOLE),
]
# Of these, the rest is told from Kuadrant's code alone and goes by reported status, or by an ambiguous key.
KUADRANT_FLOORS: Final = {
    "affected": 38,
    "effective": 71,
    "enforced": 44,
    "enforcement": 15,
    "message": 17,
}
FLOORS: Final = [
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
