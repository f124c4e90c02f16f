"""Laws run without coverage: examples prove which branches are tested."""

from __future__ import annotations

import pytest


@pytest.fixture(autouse=True)
def laws_are_not_measured(unmeasured: None) -> None:
    """Thousands of worlds go the same ways; a branch that only they reach wants a test of its own."""
