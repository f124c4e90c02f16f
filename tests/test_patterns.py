"""Patterns that are compiled late are those that are compiled at once."""

from __future__ import annotations

import re

from kubectl_policy.patterns import pattern


def test_it_is_compiled_when_it_is_used() -> None:
    """A mistake shows no sooner."""
    found = pattern("(a|b)+C", re.IGNORECASE)
    assert (bool(found.fullmatch("abc")), bool(found.match("c")), found.findall("ac bc")) == (True, False, ["a", "b"])
    assert found.match is found.match
    pattern("(")
