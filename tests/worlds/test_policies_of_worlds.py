"""What becomes of every policy of the worlds of implementations, and what their controllers would report on it."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Final

import pytest

from kubectl_policy import analyze
from tests import fast_yaml
from tests.implementations import manifests, reported, states

if TYPE_CHECKING:
    from tests.implementations import Condition

# By world: each policy with its state, the policies that beat it, and the conditions on each ancestor.
EXPECTED: Final = {file.stem: file for file in sorted((Path(__file__).parent / "expected").glob("*.yaml"))}


def written(condition: Condition) -> str:
    """A condition as `status/reason`, with the objects that it names."""
    status, reason, related = condition
    return f"{status}/{reason}" + (f" ({', '.join(related)})" if related else "")


@pytest.mark.parametrize("world", EXPECTED)
def test_what_becomes_of_every_policy(world: str) -> None:
    """Where nothing is listed but the state, nothing is reported."""
    analysis = analyze(manifests(world))
    found: dict[str, dict[str, object]] = {}
    for policy, (state, by) in states(analysis).items():
        found[policy] = {"state": f"{state} by {', '.join(by)}" if by else state}
        for ancestor, conditions in reported(analysis, policy).items():
            found[policy][ancestor or "its own status"] = {type_: written(each) for type_, each in conditions.items()}
    assert found == fast_yaml.load(EXPECTED[world].read_text("utf-8"))
