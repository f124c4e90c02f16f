"""What can be worked with."""

from __future__ import annotations

from datetime import date

import pytest

from kubectl_policy.validation.pruning import is_sound


def _nested(depth: int) -> object:
    value: object = 1
    for _ in range(depth):
        value = [value]
    return value


@pytest.mark.parametrize("value", [{1: 2}, {"a": {None: 1}}, date(2026, 1, 1), [b"x"], _nested(101), [0] * 300_001])
def test_what_cannot_be_worked_with(value: object) -> None:
    """Keys that are no text, types that JSON lacks, and what has no end."""
    assert not is_sound(value)


@pytest.mark.parametrize("value", [None, True, 1, 1.5, "x", [], {}, {"a": [1, ("x", {"b": None})]}, _nested(100)])
def test_what_can_be_worked_with(value: object) -> None:
    """JSON."""
    assert is_sound(value)
