"""Scores on recorded cases of other projects do not fall: a floor for each type of fact."""

from __future__ import annotations

from typing import Final

import pytest

from tests.cases import gwctl, kuadrant, nginx_gateway_fabric
from tests.cases.report import Score, judged, rarer, score
from tests.cases.worlds import CASES

NGINX: Final = "nginx-gateway-fabric"
SUITES: Final = {"gwctl": gwctl, "kuadrant": kuadrant, NGINX: nginx_gateway_fabric}

# By suite: the number of types of facts, and the floors of types of which not every fact holds: how many facts, and how
# many of those with one of the rarer answers, which no habit of giving the common one reaches.
TYPES: Final = {"gwctl": len({*gwctl.LISTS, *gwctl.ANSWERS}), "kuadrant": 17, NGINX: 12}
FLOORS: Final[dict[str, dict[str, tuple[int, int]]]] = {
    "gwctl": {},
    # The rest is told from Kuadrant's code alone and goes by reported status, or by an ambiguous key.
    "kuadrant": {"affected": (38, 0), "enforced": (44, 0), "enforcement": (15, 0), "message": (17, 0)},
    NGINX: {
        "ancestors": (393, 105),
        "attached": (392, 154),
        "condition Accepted": (397, 81),
        "condition Programmed": (380, 75),
        "effective": (788, 728),
        "parents": (318, 167),
    },
}


@pytest.mark.parametrize("suite", SUITES)
def test_no_right_answer_is_lost(suite: str) -> None:
    folder, adapter = CASES / suite, SUITES[suite]
    if not folder.is_dir():
        pytest.skip(f"the recorded cases of {suite} are not next to this project")
    outcomes = judged(adapter.judge, folder, adapter.MARKER)
    scores, rarer_scores = score(outcomes), score(rarer(outcomes))
    assert len(scores) == TYPES[suite]
    missing = {
        type_: (right, total)
        for type_, (right, total) in scores.items()
        if right < FLOORS[suite].get(type_, (total, 0))[0]
    }
    rarer_missing = {
        type_: floor
        for type_, (_, floor) in FLOORS[suite].items()
        if rarer_scores.get(type_, Score(0, 0)).right < floor
    }
    assert (missing, rarer_missing) == ({}, {})
