"""The page: its data is data, what it says is what other answers say, and it asks nobody anything."""

from __future__ import annotations

import json
import re
from base64 import b64encode
from hashlib import sha256
from typing import TYPE_CHECKING, Any

import pytest
from msgspec.structs import replace

from kubectl_policy import analyze, load_manifests
from kubectl_policy.questions.blast_radius import blast_radius
from kubectl_policy.questions.describe.objects import describe
from kubectl_policy.questions.graph.details import details
from kubectl_policy.questions.graph.drawing import graph
from kubectl_policy.render.graph.page import assembled, embedded, graph_page, page_data
from kubectl_policy.render.wording.names import source_phrase
from tests import build
from tests.render.graph.pictures import FIXTURES, HOSTILE, hostile_world
from tests.render.shown import shown as shown_as

if TYPE_CHECKING:
    from collections.abc import Container

    from kubectl_policy.analysis import Analysis
    from kubectl_policy.questions.describe.objects import ObjectDescription
    from kubectl_policy.questions.shared.in_force import Setting

ROUTES = ("bakery", "envoy-gateway", "kuadrant", "kgateway")


def nowhere(*_: object) -> None:
    """No line is known."""


def data_of(analysis: Analysis) -> dict[str, Any]:
    drawn_picture = graph(analysis)
    facts = details(analysis, drawn_picture, nowhere)
    data: dict[str, Any] = json.loads(json.dumps(page_data(replace(drawn_picture, details=facts))))
    return data


def fixture(world: str) -> Analysis:
    return analyze(load_manifests([str(FIXTURES / world)]))


def described(answer: ObjectDescription, drawn: Container[str]) -> set[tuple[object, ...]]:
    """What `describe` says is in force: the path, as far as it is drawn, the kind, a field, its value, who set it."""
    return {
        (tuple(name for name in map(str, answer.paths[path]) if name in drawn), group.kind.kind, *_setting(setting))
        for group in answer.in_force
        for path in group.extent.positions
        for setting in group.settings
    }


def _setting(setting: Setting) -> tuple[str, str, str]:
    return setting.field, json.dumps(setting.value, sort_keys=True), source_phrase(setting.source)


def on_page(data: dict[str, Any], index: int, names: list[str]) -> set[tuple[object, ...]]:
    """The same, as the page says it of an object."""
    paths: list[list[int]] = data["paths"]
    outcomes: list[dict[str, Any]] = data["outcomes"]
    effects: dict[str, Any] = data["effects"].get(str(index), {"paths": [], "inForce": []})
    path_numbers: list[int] = effects["paths"]
    in_force: list[tuple[int, list[int]]] = effects["inForce"]
    return {
        (
            tuple(names[node] for node in paths[path_numbers[position]]),
            outcomes[outcome]["kind"].partition(".")[0],
            setting["field"],
            json.dumps(setting["value"], sort_keys=True),
            setting["source"],
        )
        for outcome, positions in in_force
        for position in positions
        for setting in outcomes[outcome]["settings"]
    }


@pytest.mark.parametrize("world", ROUTES)
def test_what_is_in_force_is_what_describe_says(world: str) -> None:
    """On every object, on each path, with its source."""
    analysis = fixture(world)
    data, drawn_picture = data_of(analysis), graph(analysis)
    names = [str(node.ref) for node in drawn_picture.nodes]
    compared = 0
    for index, node in enumerate(drawn_picture.nodes):
        # What is in force in a Namespace is told at what is in it.
        if not node.ref.section and node.ref.kind != "Namespace":
            outcomes = described(describe(analysis, node.ref), names)
            assert on_page(data, data["nodes"][index]["object"], names) == outcomes
            compared += len(outcomes)
    assert compared > 10


@pytest.mark.parametrize("world", ROUTES)
def test_what_a_policy_affects_is_its_blast_radius(world: str) -> None:
    """All of it, and what deleting it would change, as many objects as there."""
    analysis = fixture(world)
    data = data_of(analysis)
    names = [str(node.ref) for node in graph(analysis).nodes]
    assert data["reach"]
    for index, reach in data["reach"].items():
        subject = data["objects"][int(index)]
        policy = next(
            ref
            for ref in analysis.attachments
            if (ref.namespace, ref.name) == (subject["namespace"], subject["name"])
            and data["kinds"][subject["kind"]].split(".")[0] == ref.kind
        )
        answer = blast_radius(analysis, policy)
        assert [names[node] for node in reach["affected"]] == [str(node) for node in answer.affected]
        changes = [
            (field.sort, field.field, len(it.objects)) for it in answer.difference.effects for field in it.fields
        ]
        assert [(it["sort"], it["field"], it["number"]) for it in reach["deletion"]["changes"]] == changes
        assert reach["deletion"]["headline"] == shown_as(answer, "summary").strip()


def test_data_ends_no_element() -> None:
    text = embedded(data_of(analyze(build.snapshot(*hostile_world()))))
    assert text.isascii()
    assert not set("<>&") & set(text)
    assert {entry["name"] for entry in json.loads(text)["objects"]} >= {name for name in HOSTILE if name.isprintable()}


def test_only_its_own_scripts_run() -> None:
    """The policy of the page names the hash of each, and lets nothing be asked of anybody."""
    page = graph_page(graph(fixture("bakery")))
    policy = re.search(r'http-equiv="Content-Security-Policy" content="([^"]*)"', page)
    assert policy
    rules = {rule.split()[0]: rule.split()[1:] for rule in policy[1].split(";") if rule.strip()}
    assert rules["default-src"] == ["'none'"]
    assert "connect-src" not in rules
    assert "'unsafe-inline'" not in rules["script-src"]
    # What has a type is data; of the library, a worker is made.
    scripts = re.findall(r"<script>(.*?)</script>", page, re.DOTALL)
    assert len(scripts) > 1
    for script in scripts:
        assert f"'sha256-{b64encode(sha256(script.encode()).digest()).decode()}'" in rules["script-src"]
    assert not re.search(r"<(script|link|img|iframe)[^>]+(src|href)=\"(?!data:)", page)


def test_a_page_says_what_it_is_about() -> None:
    assert "<title>&lt;/title&gt;&lt;script&gt;</title>" in assembled({"title": "</title><script>"})


def test_what_takes_too_long_is_left_to_a_command() -> None:
    """What deleting each of many policies in a crowd would change; those that affect most are told all the same."""
    routes = [build.route(f"r{index}") for index in range(1_100)]
    policies = [build.policy(f"p{index}", build.target(f"r{index}", "HTTPRoute"), color="red") for index in range(40)]
    wide = build.policy("wide", build.ON_GATEWAY, color="blue")
    crd = build.crd("ColorPolicy", labels={"gateway.networking.k8s.io/policy": "inherited"})
    data = data_of(analyze(build.snapshot(build.gateway(), build.service(), crd, wide, *routes, *policies)))
    consequences = {data["objects"][int(index)]["name"]: reach["deletion"] for index, reach in data["reach"].items()}
    assert "headline" in consequences["wide"]
    commands = [entry["command"] for entry in consequences.values() if "command" in entry]
    assert "kubectl policy blast-radius colorpolicy.example.com/default/p39" in commands
    (problem,) = data["problems"]
    assert problem["message"].startswith("There are too many objects to check each of them")
