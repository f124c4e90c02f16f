"""Tests of `topology/workloads/label_index.py`."""

from __future__ import annotations

from collections.abc import Mapping
from itertools import product

import pytest

from kubectl_policy.model import Json
from kubectl_policy.model.selectors import selects
from kubectl_policy.topology.workloads.label_index import LabelIndex

LABELS: tuple[Mapping[str, str], ...] = (
    {},
    {"app": "a"},
    {"app": "b", "team": "x"},
    {"app": "${APP}"},
    {"app": "a-${APP}", "team": "x"},
    {"${KEY}": "a"},
    {"x-${KEY}": "a", "team": "y"},
)


def requirement(key: Json, operator: Json, *values: Json) -> Mapping[str, Json]:
    return {"matchExpressions": [{"key": key, "operator": operator, "values": values}]}


@pytest.mark.parametrize(
    "selector",
    [
        {},
        {"matchLabels": {"app": "a"}},
        {"matchLabels": {"app": "a", "team": "x"}},
        {"matchLabels": {"app": "${APP}"}},
        {"matchLabels": {"app": 1}},
        {"matchLabels": {"${KEY}": "a"}},
        {"matchLabels": "app"},
        {"matchExpressions": {}},
        {"matchExpressions": [None, "app"]},
        {"matchLabels": {"team": "x"}, **requirement("app", "NotIn", "a")},
        *(
            requirement(key, operator, *values)
            for key, operator, values in product(
                ("app", "team", "x-app", "none", "${KEY}"),
                ("In", "NotIn", "Exists", "DoesNotExist", "in", "${OPERATOR}", None),
                ((), ("a",), ("a", "b"), ("${VALUE}",), ("b-${VALUE}", "x")),
            )
        ),
    ],
)
def test_an_index_selects_what_the_selector_selects(selector: Mapping[str, Json]) -> None:
    selected = LabelIndex(LABELS).selected(selector)
    assert [selected.has(position) for position in range(len(LABELS))] == [
        selects(selector, labels) for labels in LABELS
    ]


@pytest.mark.parametrize(
    ("selector", "verdicts"),
    [
        ({}, [True, True]),
        ({"matchLabels": {"name": "a"}}, [True, False]),
        (requirement("name", "Exists"), [True, True]),
        # A label that was not read may be there, and have any value.
        ({"matchLabels": {"team": "x"}}, [False, None]),
        (requirement("team", "NotIn", "x"), [True, None]),
        (requirement("team", "In"), [False, False]),
        (requirement("team", "DoesNotExist"), [True, None]),
        # What is known decides all the same.
        ({"matchLabels": {"name": "a", "team": "x"}}, [False, False]),
    ],
)
def test_labels_that_were_not_all_read(selector: Mapping[str, Json], verdicts: list[bool | None]) -> None:
    selected = LabelIndex([{"name": "a"}, {"name": "b"}], incomplete=0b10).selected(selector)
    assert [selected.has(position) for position in range(2)] == verdicts
