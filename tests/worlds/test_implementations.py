"""Settings in force, states and reported conditions of all policies in the fixture worlds of implementations."""

from __future__ import annotations

from pathlib import Path
from typing import Final

import pytest

from kubectl_policy import leaves
from kubectl_policy.resolution import field_name
from tests import fast_yaml
from tests.implementations import Condition, reported, states, words
from tests.worlds.test_fixtures import load

# By world: each policy with its state, who beats it and the conditions on each ancestor; and each setting in force.
EXPECTED: Final = {
    file.stem: fast_yaml.load(file.read_text("utf-8"))
    for file in sorted((Path(__file__).parent / "expected").glob("*.yaml"))
}


def written(condition: Condition) -> str:
    """A condition as `status/reason`, with the objects that it names."""
    status, reason, related = condition
    return f"{status}/{reason}" + (f" ({', '.join(related)})" if related else "")


@pytest.mark.parametrize("world", EXPECTED)
def test_what_becomes_of_every_policy(world: str) -> None:
    """Where nothing is listed but the state, nothing is reported."""
    analysis = load(world)
    found: dict[str, dict[str, object]] = {}
    for policy, (state, by) in states(analysis).items():
        found[policy] = {"state": f"{state} by {', '.join(by)}" if by else state}
        for ancestor, conditions in reported(analysis, policy).items():
            found[policy][ancestor or "its own status"] = {type_: written(each) for type_, each in conditions.items()}
    assert found == EXPECTED[world]["policies"]


@pytest.mark.parametrize("world", EXPECTED)
def test_what_is_in_force(world: str) -> None:
    """At every end of a path at which a policy takes effect, and nothing at any other one."""
    analysis = load(world)
    found: dict[str, dict[str, dict[str, list[object]]]] = {}
    for policy in analysis.attachments:
        for effective in analysis.enforcement(policy).outcomes:
            path, resolution = effective.path, effective.resolution
            place = words(path) if any(node.kind == "Gateway" for node in path) else str(path[-1])
            settings: dict[str, list[object]] = {
                field_name(field): [leaf.value, leaf.source.object.qualified_name]
                for field, leaf in leaves(resolution.spec)
            }
            assert found.setdefault(resolution.kind.kind, {}).setdefault(place, settings) == settings
    assert found == EXPECTED[world].get("in force", {})
