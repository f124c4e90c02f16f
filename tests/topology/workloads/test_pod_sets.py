"""Tests of `topology/workloads/pod_sets.py`."""

from __future__ import annotations

import pytest

from kubectl_policy.topology.workloads.pod_sets import NO_PODS, PodSet, bitmap, positions_in


@pytest.mark.parametrize("positions", [[], [0], [7, 8], [63, 64, 65], [1, 500, 1_000]])
def test_a_bitmap_holds_positions(positions: list[int]) -> None:
    assert bitmap(positions) == sum(1 << position for position in positions)
    assert list(positions_in(bitmap(reversed(positions)))) == positions


def test_members_are_certain_or_possible() -> None:
    first, second = PodSet(0b001, 0b011), PodSet(0b010, 0b110)
    assert [first.has(position) for position in range(3)] == [True, None, False]
    assert first.undecided == 0b010
    assert first | second == PodSet(0b011, 0b111)
    assert first & second == PodSet(0, 0b010)
    assert (bool(NO_PODS), bool(PodSet(0, 1))) == (False, True)
    assert PodSet.exactly(5) == PodSet(5, 5)
