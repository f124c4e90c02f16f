"""The adapter to gwctl's cases tells right answers from misses, on a case that is made here."""

from __future__ import annotations

from typing import TYPE_CHECKING

from kubectl_policy import analyze
from kubectl_policy.comparison import what_if
from tests.build import backend, parent, route, rule, service
from tests.cases import gwctl
from tests.cases.gwctl_question import Question
from tests.cases.report import NOT_ANSWERED, Outcome
from tests.cases.sample import case, write_manifests
from tests.cases.worlds import world

if TYPE_CHECKING:
    from pathlib import Path

    from kubectl_policy.model import Json


def gwctl_outcomes(folder: Path, facts: Json, **fields: Json) -> dict[str, Outcome]:
    """The outcome of each fact of a gwctl case."""
    return {outcome.fact: outcome for outcome in gwctl.judge(case(folder, {"facts": facts, **fields}))}


def test_gwctl_facts_about_objects_are_compared(tmp_path: Path) -> None:
    """Each key of a fact is answered for the object that the question names."""
    facts: Json = [
        {"ask": "describe gateway default/g1", "attached_routes": ["default/r1"], "backends": ["default/s1"]},
        {"ask": "policies attached to gateway default/g1", "directly_attached": ["HuePolicy.example.com default/high"]},
        {"ask": "inherited policies of httproute default/r1", "inherited": ["HuePolicy.example.com default/high"]},
        {"ask": "gateways of gatewayclass public-class", "attached_gateways": ["default/g2"]},
        {
            "ask": "parents of httproute default/r1",
            "parents": ["Gateway default/g1"],
            "not_gateways": ["Gateway default/g1"],
        },
        {"ask": "blast radius of high", "routes": ["r1"], "backends": ["default/s1"], "paths": ["g1>r1>s1"]},
        {"ask": "describe HuePolicy default/low", "attached": ["default/r1"], "events": [], "colour": "blue"},
        {"ask": "describe gateway default/nowhere", "attached_routes": []},
    ]
    outcomes = gwctl_outcomes(tmp_path, facts)
    assert {fact.rpartition(": ")[2] + "?": outcome.got for fact, outcome in outcomes.items() if not outcome.right} == {
        "attached_gateways?": ["default/g1"],
        "not_gateways?": [],
        "colour?": NOT_ANSWERED,
        "attached_routes?": "no such object",
    }
    assert len(outcomes) == 14


def test_gwctl_lists_are_compared_row_by_row(tmp_path: Path) -> None:
    """By name, or by what a fact tells of each row; a row too many is a miss, and so is one too few."""
    low = {"namespace": "default", "name": "low", "kind": "HuePolicy.example.com", "targets": ["HTTPRoute/default/r1"]}
    high = {"name": "high", "target": "Gateway g1", "type": "Inherited", "accepted": "Unknown"}
    route: dict[str, Json] = {"ns": "default", "name": "r1", "hostnames": "None", "parents": 1, "resolved": "Unknown"}
    facts: Json = [
        {"ask": "list policies (all)", "expect": [low, high]},
        {"ask": "list policycrds", "expect": [{"name": "huepolicies.example.com", "scope": "Namespaced"}]},
        {"ask": "get httproutes -A", "expect": [{**route, "hostnames": 0, "parentRefs": 1, "policies": 1}]},
        {"ask": "get gateways -o wide -n default", "expect": [{"name": "g1", "policies": 1, "httproutes": 1}]},
        {"ask": "get gateways -o wide (default/g1)", "routes": 1},
        {"ask": "get services -o wide", "expect": [{"name": "s1", "referred_by": "default/r1"}]},
        {"ask": "get services -n far", "expect": []},
        {"ask": "get gateways -l env=none", "expect": []},
        {"ask": "get httproutes -A -o wide", "expect": [{**route, "parents": "Gateway default/g1"}]},
        {"ask": "list policies -A", "expect": [low]},
        {"ask": "get policies", "expect": ["low"]},
        {"ask": "get httproutes", "expect": [{**route, "policies": 2}]},
        {"ask": "get gateways (default/g2)", "routes": 1},
    ]
    outcomes = gwctl_outcomes(tmp_path, facts)
    assert [fact.rpartition(": ")[0] for fact, outcome in outcomes.items() if not outcome.right] == [
        "list policies -A",
        "get policies",
        "get httproutes",
        "get gateways (default/g2)",
    ]


def test_gwctl_facts_about_merging_are_compared(tmp_path: Path) -> None:
    """Values, sources, strategy, and the difference that a deletion makes, path by path."""
    kind = "HuePolicy.example.com"
    facts: Json = [
        {"ask": "effective of httproute default/r1 via g1", "effective": {kind: {"hue": {"shade": 2}}}},
        {"ask": "effective of httproute default/r1 via g2", "effective": {}},
        {"ask": "merged HuePolicy of gateway default/g1", "effective": {"hue": {"shade": 1, "tint": 1}}},
        {
            "ask": "provenance of HuePolicy at gateway default/g1",
            "provenance": {"hue.shade": "high", "hue.tint": "low"},
        },
        {"ask": "strategy at gateway default/g1", "strategy": "Patch defaults (somebody says)"},
        {"ask": "effective of service default/s1 per path", "g1>r1>s1": {"hue": {"shade": 2}}, "g1>s1>r1": {}},
        {"ask": "enforcement", "low": "Enforced", "high": "Overridden by low", "mid": "Enforced"},
        {"ask": "blast radius of low", "delete_changes": {"g1>r1>s1": "hue.shade 2 -> 1, hue.tint none -> 1"}},
        {"ask": "radius of high", "delete_no_change": ["g1>r1>s1"]},
    ]
    outcomes = gwctl_outcomes(tmp_path, facts)
    assert [fact for fact, outcome in outcomes.items() if not outcome.right] == [
        "effective of httproute default/r1 via g2: effective",
        "provenance of HuePolicy at gateway default/g1: provenance",
        "strategy at gateway default/g1: strategy",
        "effective of service default/s1 per path: g1>s1>r1",
        "enforcement: mid",
    ]


def test_gwctl_errors_are_compared_both_ways(tmp_path: Path) -> None:
    """A sentence without a problem is a miss, and so is a problem of the object that no sentence tells of."""
    facts: Json = [
        {"ask": "errors of httproute default/r1", "errors": []},
        {"ask": "errors of udproute default/u1", "errors": []},
        {"ask": "errors", "errors": ['UDPRoute "default/u1" references a non-existent Service "default/absent"']},
        {
            "ask": "errors of gateway default/g1",
            "errors": ["Gateway default/g1 references a non-existent GatewayClass x-1"],
        },
    ]
    outcomes = gwctl_outcomes(tmp_path, facts)
    assert [outcome.right for outcome in outcomes.values()] == [True, False, True, False]


def test_gwctl_corrections_take_the_place_of_facts(tmp_path: Path) -> None:
    """What the case says is the correct answer counts instead of what it corrects, and beside what it does not."""
    facts: Json = [{"ask": "describe gateway default/g1", "attached_routes": ["default/r1", "default/u1"]}]
    correct: Json = {
        "attached_routes": ["default/r1"],
        "not_attached": ["default/u1 -> default/g1"],
        "dangling": ["UDPRoute default/u1 -> Service default/absent"],
        "why": "an HTTP listener takes no UDPRoutes",
    }
    outcomes = gwctl_outcomes(tmp_path, facts, correct_answer=correct)
    assert [(outcome.type, outcome.right) for outcome in outcomes.values()] == [
        ("attached_routes", True),
        ("not_attached", True),
        ("dangling", True),
    ]


def test_a_gwctl_change_is_compared_with_the_world_before(tmp_path: Path) -> None:
    """New, mended and remaining problems are told apart."""
    ask = "analyze change.yaml against manifests.yaml"
    mended = 'UDPRoute "default/u1" references a non-existent Service "default/absent"'
    fact: Json = {
        "ask": ask,
        "created": ["Service default/absent"],
        "updated": ["HTTPRoute default/r1"],
        "new_issues": ['HTTPRoute "default/r1" references a non-existent Service "default/s-2"'],
        "fixed_issues": [mended],
        "unchanged_issues": [],
    }
    folder = case(tmp_path, {"facts": [fact, {"ask": ask, "new_issues": [], "fixed_issues": []}]})
    changed = route("r1", parents=[parent("g1")], rules=[rule(backend("s-2", 80))])
    write_manifests(folder / "change.yaml", [service("absent", 53), changed])
    assert [outcome.right for outcome in gwctl.judge(folder)] == [True, True, True, True, True, False, False]


def test_a_question_without_an_object_has_no_subject(tmp_path: Path) -> None:
    """Neither an empty one, nor one about something that does not exist."""
    analysis = analyze(world([case(tmp_path, {}) / "manifests.yaml"]))
    for ask in ("", "errors", "describe gateway default/none", "describe gateway"):
        assert Question(what_if(analysis), ask).subject is None
