"""Workloads by the labels of their namespaces."""

from __future__ import annotations

from typing import Final

import pytest

from kubectl_policy.model import Gap, Json
from kubectl_policy.model.defaults import NAME_LABEL
from kubectl_policy.topology.workloads import Workloads
from kubectl_policy.topology.workloads.pod_sets import positions_in
from tests import build

NAMESPACES: Final = ("bare", "changed", "open", "shop", "unread")
WORLD: Final = (
    build.namespace("shop", {"team": "a", "tier": "front"}),
    build.namespace("bare"),
    build.namespace("changed", {"team": "a"}),
    build.namespace("open", {"team": "${TEAM}"}),
    *(build.resource("Pod", "p", {"containers": []}, group="", namespace=name) for name in NAMESPACES),
)
GAPS: Final = (Gap("Namespace", "", "it is different in b.yaml", name="changed"),)


def key(name: str, operator: str, *values: str) -> Json:
    return {"matchExpressions": [{"key": name, "operator": operator, "values": list(values)}]}


@pytest.mark.parametrize(
    ("selector", "certain", "possible"),
    [
        # Of a Namespace that was not read, or may be different, nothing but the name is known.
        ({"matchLabels": {"team": "a"}}, "shop", "changed open unread"),
        ({"matchLabels": {"team": "b"}}, "", "changed open unread"),
        ({"matchLabels": {"team": "a", "tier": "front"}}, "shop", "changed unread"),
        (key("team", "NotIn", "a"), "bare", "changed open unread"),
        (key("team", "Exists"), "open shop", "changed unread"),
        (key("team", "DoesNotExist"), "bare", "changed unread"),
        ({"matchLabels": {NAME_LABEL: "unread"}}, "unread", ""),
        (key(NAME_LABEL, "In", "shop", "changed", "absent"), "changed shop", ""),
        (key(NAME_LABEL, "NotIn", "shop"), "bare changed open unread", ""),
        ({"matchLabels": {NAME_LABEL: "shop", "team": "a"}}, "shop", ""),
        ({"matchLabels": {"tier": "${TIER}"}}, "", "changed shop unread"),
        ({"matchLabels": {NAME_LABEL: "${NAME}"}}, "", "bare changed open shop unread"),
        ({}, "bare changed open shop unread", ""),
    ],
)
def test_a_selector_selects_namespaces(selector: dict[str, Json], certain: str, possible: str) -> None:
    index = build.index(*WORLD, gaps=GAPS)
    workloads = Workloads(index)
    chosen = workloads.in_namespaces(selector)
    names = [workload.ref.namespace for workload in workloads.all]
    assert [names[at] for at in positions_in(chosen.certain)] == certain.split()
    assert [names[at] for at in positions_in(chosen.undecided)] == possible.split()
    # One by one, it is the same.
    verdicts = {name: index.selects_namespace(selector, name) for name in NAMESPACES}
    assert [name for name, verdict in verdicts.items() if verdict] == certain.split()
    assert [name for name, verdict in verdicts.items() if verdict is None] == possible.split()


def test_one_namespace_by_its_name() -> None:
    workloads = Workloads(build.index(*WORLD))
    assert [
        workload.ref.namespace for workload in workloads.at(positions_in(workloads.in_namespaces("shop").certain))
    ] == ["shop"]
    assert not workloads.in_namespaces("absent")
