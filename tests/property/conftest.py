"""Laws run without coverage: examples prove which branches are tested, and measured, laws take three times as long."""

from __future__ import annotations

import pytest


@pytest.fixture(autouse=True)
def laws_are_not_measured(no_cover: None) -> None:
    """Thousands of worlds go the same ways; a branch that only they reach wants a test of its own."""
