"""From which namespaces routes and ListenerSets are let in."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from kubectl_policy.topology.gateway.listeners import lets_namespace
from tests.build import index, namespace

if TYPE_CHECKING:
    from kubectl_policy.model import Json

TEAM_A = {"matchLabels": {"team": "a"}}
BY_NAME = {"matchLabels": {"kubernetes.io/metadata.name": "baker"}}


@pytest.mark.parametrize(
    ("namespaces", "expected"),
    [
        ({"from": "None"}, False),
        ({"from": "Everywhere"}, False),
        ({"from": "Same"}, False),
        ({"from": "Selector"}, False),
        ({"from": "Selector", "selector": TEAM_A}, False),
        ({}, False),
        ({"from": "All"}, True),
        ({"from": "Selector", "selector": {}}, True),
        ({"from": "Selector", "selector": {"matchLabels": {"team": "b"}}}, True),
        ({"from": "Selector", "selector": BY_NAME}, True),
    ],
)
def test_what_is_known_of_a_namespace_decides(namespaces: dict[str, Json], *, expected: bool) -> None:
    """Same, All, Selector, and the default for an absent `from`; a missing selector selects nothing."""
    world = index(namespace("baker", {"team": "b"}))
    assert lets_namespace(world, namespaces, "Same", "infra", "baker") is expected


def test_a_namespace_lets_in_its_own() -> None:
    """Same is about namespaces, so nothing has to be read for it."""
    assert lets_namespace(index(), {}, "Same", "infra", "infra") is True


def test_labels_of_an_unread_namespace_are_unknown() -> None:
    """But for the label that follows from its name."""
    assert lets_namespace(index(), {"from": "Selector", "selector": TEAM_A}, "Same", "infra", "baker") is None
    assert lets_namespace(index(), {"from": "Selector", "selector": BY_NAME}, "Same", "infra", "baker") is True
    assert lets_namespace(index(), {"from": "Selector", "selector": BY_NAME}, "Same", "infra", "cook") is False
