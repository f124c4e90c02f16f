"""Scores on recorded cases of other projects do not fall: a floor for each type of fact."""

from __future__ import annotations

from functools import cache
from typing import Final

import pytest

from tests.cases import gwctl, kuadrant, nginx_gateway_fabric
from tests.cases.report import Outcome, Score, judged, rarer, score
from tests.cases.worlds import CASES

NGINX: Final = "nginx-gateway-fabric"
SUITES: Final = {"gwctl": gwctl, "kuadrant": kuadrant, NGINX: nginx_gateway_fabric}

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
NGINX_WHOLE: Final = (
    "affected",
    "backends",
    "gateway Accepted",
    "gateway managed",
    "listeners",
    "load_balancers",
)
WHOLE: Final = [
    *(("gwctl", type_) for type_ in GWCTL_WHOLE),
    *(("kuadrant", type_) for type_ in KUADRANT_WHOLE),
    *((NGINX, type_) for type_ in NGINX_WHOLE),
]
# Of these, the rest is told from Kuadrant's code alone and goes by reported status, or by an ambiguous key.
KUADRANT_FLOORS: Final = {
    "affected": 38,
    "effective": 71,
    "enforced": 44,
    "enforcement": 15,
    "message": 17,
}
# Each with the floor for the rarer answers, which no habit of giving the common one reaches.
NGINX_FLOORS: Final = {
    "ancestors": (393, 105),
    "attached": (392, 154),
    "condition Accepted": (397, 81),
    "condition Programmed": (380, 75),
    "effective": (788, 728),
    "parents": (318, 167),
}
FLOORS: Final = [
    *(("kuadrant", *floor) for floor in KUADRANT_FLOORS.items()),
    *((NGINX, type_, floor) for type_, (floor, _) in NGINX_FLOORS.items()),
]
RARER_FLOORS: Final = [(NGINX, type_, floor) for type_, (_, floor) in NGINX_FLOORS.items() if floor]


@cache
def outcomes(suite: str) -> list[Outcome]:
    """The outcomes of all cases of a suite."""
    folder, adapter = CASES / suite, SUITES[suite]
    if not folder.is_dir():
        pytest.skip(f"the recorded cases of {suite} are not next to this project")
    return judged(adapter.judge, folder, adapter.MARKER)


def scores(suite: str) -> dict[str, Score]:
    """The score of each type of fact over all cases of a suite."""
    return score(outcomes(suite))


@pytest.mark.parametrize(("suite", "type_"), WHOLE)
def test_every_fact_of_a_type_holds(suite: str, type_: str) -> None:
    """Not one is lost."""
    score_of_type = scores(suite)[type_]
    assert score_of_type.total > 0
    assert score_of_type.right == score_of_type.total


@pytest.mark.parametrize(("suite", "type_", "floor"), FLOORS)
def test_no_right_answer_is_lost(suite: str, type_: str, floor: int) -> None:
    """At least as many facts hold as have held before."""
    assert scores(suite)[type_].right >= floor


@pytest.mark.parametrize(("suite", "type_", "floor"), RARER_FLOORS)
def test_no_right_answer_is_lost_among_the_rarer_ones(suite: str, type_: str, floor: int) -> None:
    """At least as many facts hold as have held before, of those whose answer is not the commonest."""
    assert score(rarer(outcomes(suite)))[type_].right >= floor
