"""Adapters that write documents for a scorer, and the scores of these documents on recorded cases."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any, Final

import pytest

from kubectl_policy import EffectivePolicy, GroupKind, Leaf, NodeRef, ObjectRef, Source, Topology, analyze
from kubectl_policy.questions.predicted_conditions import AncestorStatus, PolicyCondition
from kubectl_policy.resolution import Resolution
from kubectl_policy.resolution.traced import KeyedList, Traced
from kubectl_policy.topology import Condition
from tests.build import node, ref, resource
from tests.cases import envoy_gateway, kgateway
from tests.cases.envoy_gateway import ancestors
from tests.cases.kgateway import fields_in_force, settings_of
from tests.cases.predictions import main
from tests.cases.worlds import CASES, DATA, case, world, write_manifests


def test_a_world_that_cannot_be_read_is_reported(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """The documents about the other worlds are written all the same."""
    case(tmp_path / "cases", {})
    (case(tmp_path / "cases", {}, "broken") / "manifests.yaml").write_text("{", "utf-8")
    assert main(envoy_gateway, [str(tmp_path / "cases"), str(tmp_path / "out")]) == 1
    assert "broken" in capsys.readouterr().err
    assert [file.name for file in (tmp_path / "out").iterdir()] == ["made-here.json"]


def test_a_folder_without_cases_is_an_error(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(kgateway, [str(tmp_path), str(tmp_path / "out")]) == 2
    assert "holds no cases" in capsys.readouterr().err


# By suite: the adapter, the folder of the scorer, how many facts are right at least, and the balanced score.
SUITES: Final[dict[str, tuple[Any, str, int, float]]] = {
    "envoy-gateway": (envoy_gateway, "envoy-gateway", 4861, 0.999),
    "envoy-gateway-random": (envoy_gateway, "envoy-gateway", 7688, 0.998),
    "kgateway": (kgateway, "kgateway", 3326, 0.98),
}


@pytest.mark.parametrize("suite", SUITES)
def test_recorded_cases_come_out_right(suite: str, tmp_path: Path) -> None:
    """At least as many facts are right as before, and of the rarer facts about policies all."""
    if not (CASES / suite).is_dir():
        pytest.skip(f"the recorded cases of {suite} are not next to this project")
    adapter, scorer, right, balanced = SUITES[suite]
    assert main(adapter, [str(CASES / suite), str(tmp_path / "out")]) == 0
    options = ["--cases", CASES / suite, "--predictions", tmp_path / "out", "--json", tmp_path / "score.json"]
    command = [sys.executable, *map(str, [CASES / scorer / "score.py", *options])]
    subprocess.run(command, check=True, capture_output=True)  # noqa: S603 (the scorer is part of the cases)
    summary = json.loads((tmp_path / "score.json").read_text("utf-8"))["summary"]
    recalled, rare = map(int, summary["tier1_policy_rare_recall"].split("/"))
    assert recalled == rare > 100
    assert summary["correct"] >= right
    assert summary["tier1_balanced_macro"] >= balanced


RESOLVED: Final = {"status": "True", "reason": "ResolvedRefs"}


@pytest.mark.parametrize(
    ("kind", "overriders", "expected"),
    [
        (
            "BackendTrafficPolicy",
            [
                node("Gateway", "g", "http"),
                node("ListenerSet", "ls"),
                node("ListenerSet", "ls", "x"),
                node("HTTPRoute", "r"),
            ],
            {
                "gatewayListeners": ["default/g/http"],
                "listenerSets": ["default/ls"],
                "listenerSetListeners": ["default/ls/x"],
                "routes": ["default/r"],
            },
        ),
        ("BackendTrafficPolicy", [node("HTTPRoute", "r", "buy")], {"routeRules": ["buy"]}),
        (
            "ClientTrafficPolicy",
            [node("Gateway", "g", "http"), node("ListenerSet", "ls", "http")],
            {"sections": ["http", "http"]},
        ),
    ],
)
def test_what_overrides_a_policy_is_named_as_in_messages(
    kind: str, overriders: list[Any], expected: dict[str, list[str]]
) -> None:
    overridden = PolicyCondition(
        type="Overridden", status="True", reason="Overridden", message="", related=tuple(overriders)
    )
    entries = ancestors(ref(kind, "p"), [AncestorStatus(ancestor=node("Gateway", "g"), conditions=(overridden,))])
    assert list(entries) == [{"ref": "Gateway/default/g", "overridden": True, "overriddenBy": expected}]


def test_an_ancestor_is_named_in_full() -> None:
    """What is the policy's own condition, or does not hold, is left out."""
    resolved = PolicyCondition(type="ResolvedRefs", status="True", reason="ResolvedRefs", message="")
    quiet = tuple(
        PolicyCondition(type=kind, status="False", reason="", message="")
        for kind in ("Overridden", "Merged", "Programmed")
    )
    entries = ancestors(
        ref("BackendTLSPolicy", "p"),
        [
            AncestorStatus(ancestor=None, conditions=(resolved,)),
            AncestorStatus(ancestor=node("GatewayClass", "c"), conditions=(resolved, *quiet)),
            AncestorStatus(ancestor=node("Gateway", "g", "http"), conditions=()),
        ],
    )
    assert list(entries) == [{"ref": "GatewayClass/-/c", "resolvedRefs": RESOLVED}, {"ref": "Gateway/default/g#http"}]


def test_a_delegating_route_is_a_parent(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """If it is below a Gateway of the controllers, at whatever distance; not if delegation goes in a circle."""
    parent_names = {"below": "shop", "shop": "g", "one": "two", "two": "one"}

    def parents(_: Topology, route: ObjectRef) -> tuple[tuple[NodeRef, tuple[Condition, ...]], ...]:
        name = parent_names.get(route.name, "")
        above_it = node("Gateway", "g", "http", "edge") if name == "g" else node("HTTPRoute", name, "", "apps")
        return ((above_it, ()),) if name else ()

    circle = [resource("HTTPRoute", name, {}, namespace="apps") for name in ("one", "two")]
    monkeypatch.setattr(kgateway, "route_parent_conditions", parents)
    write_manifests(tmp_path / "circle.yaml", circle)
    manifests = DATA / "kgateway" / "every-section" / "manifests.yaml"
    routes = kgateway.routes(analyze(world([manifests, tmp_path / "circle.yaml"])))
    assert {entry["name"]: entry["parents"] for entry in routes} == {
        "below": [{"parentRef": "HTTPRoute/apps/shop", "conditions": {}}],
        "shop": [{"parentRef": "Gateway/edge/g#http", "conditions": {}}],
        **{name: [] for name in ("loose", "one", "two")},
    }


def test_a_field_has_every_policy_that_it_comes_from() -> None:
    """Those of all elements of a list, but by port; what was removed, or is the target's own, is left out."""
    kind = GroupKind("gateway.kgateway.dev", "ListenerPolicy")
    target = node("Gateway", "g")
    first, second = (Source(ref("ListenerPolicy", name, group=kind.group), target) for name in "ab")
    spec: Traced = {
        "perPort": KeyedList({"80": {"x": Leaf(1, first), "y": Leaf(2, second)}, "81": Leaf({}, second)}),
        "acl": {"rules": KeyedList({"a/x[0]": Leaf(1, first), "a/y[0]": {"action": Leaf(1, second)}})},
        "default": {
            "x": Leaf(1, second),
            "y": Leaf(None, first, removed=True),
            "z": Leaf(1, Source(target.object, target)),
        },
    }
    nobody: frozenset[Source] = frozenset()
    resolution = Resolution(kind=kind, spec=spec, contributions=(), members=nobody, rejected=nobody)
    policy = EffectivePolicy((target,), resolution)
    assert fields_in_force(policy) == {
        "perPort[80].x": ["default/a"],
        "perPort[80].y": ["default/b"],
        "perPort[81]": ["default/b"],
        "acl.rules": ["default/a"],
        "acl.rules.action": ["default/b"],
        "default.x": ["default/b"],
    }


@pytest.mark.parametrize(
    ("facts", "expected"),
    [
        ("{}", {}),
        ('{"settings": {"KGW_REFERENCE_GRANT_MODE": "STRICT"}}', {"kgateway.referenceGrantMode": "STRICT"}),
        ('{"settings": {"KGW_LEVEL": "3"}}', {"kgateway.level": "3"}),
        (
            '{"settings": {"KGW_POLICY_MERGE": "{\\"trafficPolicy\\": {\\"acl\\": \\"DeepMerge\\"}}"}}',
            {"kgateway.policyMerge.trafficPolicy.acl": "DeepMerge"},
        ),
    ],
)
def test_settings_have_the_names_of_profiles(tmp_path: Path, facts: str, expected: dict[str, str]) -> None:
    """Made of those of the variables; an object of JSON is one setting for each of its fields."""
    (tmp_path / "facts.json").write_text(facts, "utf-8")
    assert dict(settings_of(tmp_path).settings) == expected


def test_a_case_without_facts_has_no_settings(tmp_path: Path) -> None:
    assert not settings_of(tmp_path).settings
