"""Tables: a row for each effective setting, or for each target of a policy."""

from __future__ import annotations

from kubectl_policy.model.kind_roles import GATEWAY_API
from kubectl_policy.render.output.text import View
from tests import build
from tests.render.shown import shown
from tests.render.worlds import about, about_policy, colourful, defaults, world


def _cells(text: str) -> list[list[str]]:
    return [[cell.strip() for cell in line.split("   ") if cell.strip()] for line in text.splitlines()]


def test_an_object_has_a_row_for_each_setting() -> None:
    """With its source and the paths that it holds for."""
    text = shown(about(colourful(), "HTTPRoute", "r"), "table", View())
    assert _cells(text) == [
        ["KIND", "FIELD", "VALUE", "SOURCE", "TARGET", "PATHS"],
        ["ColorPolicy.example.com", "color", "blue", "default/own", "HTTPRoute default/r", "listener http"],
        ["ColorPolicy.example.com", "shade.dark", "true", "default/base", "Namespace default", "listener http"],
        ["ColorPolicy.example.com", "shade.list", "[1, 2]", "default/base", "Namespace default", "listener http"],
        [
            "ColorPolicy.example.com",
            "color",
            "black",
            "default/strict",
            "Gateway default/g, listener https",
            "listener https",
        ],
        ["ColorPolicy.example.com", "shade.dark", "true", "default/base", "Namespace default", "listener https"],
        ["ColorPolicy.example.com", "shade.list", "[1, 2]", "default/base", "Namespace default", "listener https"],
        ["LimitPolicy.example.com", "limit", "1", "default/first", "Service default/s", "all 2"],
    ]


def test_a_wide_row_says_what_a_setting_beats() -> None:
    """And how its kind merges."""
    text = shown(about(colourful(), "Service", "s"), "wide", View())
    assert _cells(text)[0][-3:] == ["BEATS", "ORIGIN", "STRATEGY"]
    assert _cells(text)[1][-3:] == [
        "red of ColorPolicy default/base → Namespace default",
        "test.yaml:1",
        "Patch defaults",
    ]


def test_one_path_is_counted_and_removal_is_shown() -> None:
    """The row of the only path of a listener."""
    analysis = world(defaults("p", build.target("g", "Gateway", "http"), color=None))
    text = shown(about(analysis, "Gateway", "g", "http"), "table", View())
    assert _cells(text)[1][2:] == ["<removed>", "default/p", "Gateway default/g, listener http", "1"]


def test_a_policy_has_a_row_for_each_target() -> None:
    """With the state of the reference and what is enforced of it."""
    text = shown(about_policy(colourful(), "own"), "table", View())
    assert _cells(text) == [
        ["POLICY", "TARGET", "STATE", "ENFORCEMENT", "PATHS"],
        ["default/own", "HTTPRoute default/r", "attached", "PartiallyEnforced", "1/2"],
    ]


def test_a_wide_row_of_a_policy_says_why() -> None:
    """Who beats it, what it affects, and what is wrong with its target; a selector may select nothing."""
    analysis = world(
        build.policy("p", targetSelectors=[{"group": GATEWAY_API, "kind": "HTTPRoute", "matchLabels": {"a": "b"}}])
    )
    text = shown(about_policy(analysis, "p"), "wide", View())
    assert _cells(text)[1] == [
        "default/p",
        "spec.targetSelectors[0]",
        "target missing",
        "TargetNotFound",
        "0/0",
        "0",
        "<none>",
        "spec.targetSelectors[0] selects no HTTPRoute in namespace default",
    ]
