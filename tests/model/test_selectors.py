"""Label selectors select what an API server would select."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from kubectl_policy.model.selectors import keys_of, selects

if TYPE_CHECKING:
    from collections.abc import Mapping

    from kubectl_policy.model import Json

LABELS = {"app": "baker", "tier": "web"}


def expression(key: Json, operator: Json, *values: Json) -> Mapping[str, Json]:
    """A selector with one expression."""
    return {"matchExpressions": [{"key": key, "operator": operator, "values": list(values)}]}


@pytest.mark.parametrize(
    "selector",
    [
        {"matchLabels": {"app": "till"}},
        {"matchLabels": {"app": "baker", "zone": "a"}},
        {"matchLabels": {"app": 1}},
        expression("app", "In", "till"),
        expression("zone", "In", "a"),
        expression("app", "NotIn", "baker", "till"),
        expression("zone", "Exists"),
        expression("app", "DoesNotExist"),
        expression("app", "Near", "baker"),
        expression("app", None, "baker"),
        {"matchLabels": {"app": "baker"}, **expression("tier", "In", "db")},
    ],
    ids=str,
)
def test_not_selected(selector: Mapping[str, Json]) -> None:
    """One requirement that does not hold, or that cannot be read, is enough."""
    assert not selects(selector, LABELS)


@pytest.mark.parametrize(
    "selector",
    [
        {},
        {"matchLabels": {"app": "baker", "tier": "web"}},
        expression("app", "In", "till", "baker"),
        expression("app", "NotIn", "till"),
        expression("zone", "NotIn", "a"),
        expression("app", "Exists"),
        expression("zone", "DoesNotExist"),
        {"matchLabels": {"app": "baker"}, **expression("tier", "In", "web")},
    ],
    ids=str,
)
def test_selected(selector: Mapping[str, Json]) -> None:
    """Every requirement holds; an empty selector has none; NotIn holds of an absent key."""
    assert selects(selector, LABELS)


def test_the_keys_that_a_selector_asks_about() -> None:
    """Of labels and of expressions."""
    assert keys_of({"matchLabels": {"app": "x"}, **expression("tier", "Exists")}) == {"app", "tier"}
