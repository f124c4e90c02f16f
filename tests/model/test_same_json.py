"""When two values are the same in JSON."""

from __future__ import annotations

from math import nan
from types import MappingProxyType
from typing import TYPE_CHECKING

import pytest

from kubectl_policy.model.fields import same_json

if TYPE_CHECKING:
    from kubectl_policy.model import Json


@pytest.mark.parametrize(
    ("one", "other"),
    [
        (True, 1),
        (False, 0),
        ("1", 1),
        (None, ""),
        (None, {}),
        ({}, []),
        (1, 2),
        ("a", "b"),
        ([1], [1, 2]),
        ([1, 2], [2, 1]),
        ([True], [1]),
        ({"a": 1}, {"b": 1}),
        ({"a": None}, {}),
        ({"a": {"b": True}}, {"a": {"b": 1}}),
        (nan, 1.5),
    ],
)
def test_not_the_same(one: Json, other: Json) -> None:
    """Python takes some of these for equal."""
    assert not same_json(one, other)
    assert not same_json(other, one)


@pytest.mark.parametrize(
    ("one", "other"),
    [
        (None, None),
        (True, True),
        (1, 1),
        ("a", "a"),
        (nan, float("nan")),
        ([1, (2,)], (1, [2])),
        ({"a": [nan], "b": 1}, {"b": 1, "a": [nan]}),
        ({"a": 1}, MappingProxyType({"a": 1})),
    ],
)
def test_the_same(one: Json, other: Json) -> None:
    """Whatever the order of keys and the Python types of lists and maps; what is no number is the same as itself."""
    assert same_json(one, other)
    assert same_json(other, one)
