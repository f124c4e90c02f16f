"""The adapter to gwctl's cases tells right answers from misses, on a case that is made here."""

from __future__ import annotations

from pathlib import Path

from kubectl_policy import analyze
from kubectl_policy.comparison import what_if
from kubectl_policy.model import Json
from tests.build import backend, parent, route, rule, service
from tests.cases import gwctl
from tests.cases.gwctl_question import Question
from tests.cases.report import NOT_ANSWERED, NodeInForce
from tests.cases.sample import case, write_manifests
from tests.cases.worlds import world


def gwctl_outcomes(folder: Path, facts: Json, **fields: Json) -> dict[str, NodeInForce]:
    return {outcome.fact: outcome for outcome in gwctl.judge(case(folder, {"facts": facts, **fields}))}


def test_what_cannot_be_answered_is_a_miss(tmp_path: Path) -> None:
    """A fact of an unknown type, and one about an object that is not there."""
    facts: Json = [
        {"ask": "describe HuePolicy default/low", "colour": "blue"},
        {"ask": "describe gateway default/nowhere", "attached_routes": []},
        {"ask": "effective of httproute default/r1 via g2", "effective": {}},
        {"ask": "effective of service default/s1 per path", "g1>s1>r1": {}},
    ]
    got = [outcome.got for outcome in gwctl_outcomes(tmp_path, facts).values()]
    assert got == [NOT_ANSWERED, "no such object", "no such path", "no such path"]


def test_a_row_too_many_or_too_few_is_a_miss(tmp_path: Path) -> None:
    """In lists with cells, and in those of names, whose order counts."""
    low = {"name": "low", "kind": "HuePolicy.example.com"}
    facts: Json = [
        {"ask": "list policies -A", "expect": [low]},
        {"ask": "list policies", "expect": [low, {"name": "high"}, {"name": "mid"}]},
        {"ask": "get policies", "expect": ["low"]},
        {"ask": "get policies -n default", "expect": ["low", "high"]},
        {"ask": "get gateways (default/g2)", "routes": 1},
    ]
    assert not any(outcome.right for outcome in gwctl_outcomes(tmp_path, facts).values())


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


def test_a_change_that_is_not_told_is_a_miss(tmp_path: Path) -> None:
    folder = case(tmp_path, {"facts": [{"ask": "analyze change.yaml", "new_issues": [], "fixed_issues": []}]})
    changed = route("r1", parents=[parent("g1")], rules=[rule(backend("s-2", 80))])
    write_manifests(folder / "change.yaml", [service("absent", 53), changed])
    assert [outcome.right for outcome in gwctl.judge(folder)] == [False, False]


def test_a_question_without_an_object_has_no_subject(tmp_path: Path) -> None:
    """Neither an empty one, nor one about something that does not exist."""
    analysis = analyze(world([case(tmp_path, {}) / "manifests.yaml"]))
    for ask in ("", "errors", "describe gateway default/none", "describe gateway"):
        assert Question(what_if(analysis), ask).subject is None
