"""Reports on recorded cases count what is right, and worlds and sentences are read as they are meant."""

from __future__ import annotations

from pathlib import Path

import pytest

from kubectl_policy import analyze
from kubectl_policy.comparison import what_if
from kubectl_policy.model import Json
from kubectl_policy.model.fields import mapping_at
from tests.cases import gwctl
from tests.cases.claims import Claim, claims, problems
from tests.cases.names import slashed
from tests.cases.report import NOTHING, NodeInForce, Score, judged, main, rarer, render, score
from tests.cases.worlds import case, objects, read, world


def test_a_miss_is_reported_and_makes_the_exit_code_one(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """The report names the case, the fact, what was expected and what was answered."""
    case(tmp_path, {"facts": [{"ask": "routes of service default/s1", "referenced_by": ["default/r2"]}]})
    assert main(gwctl.judge, gwctl.MARKER, [str(tmp_path)]) == 1
    assert capsys.readouterr().out.splitlines() == [
        "referenced_by      0 of     1",
        "all                0 of     1",
        "",
        "made-here: referenced_by: routes of service default/s1: referenced_by",
        '  expected ["default/r2"]',
        '  got      ["default/r1"]',
    ]


def test_right_answers_make_the_exit_code_zero(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Nothing but the scores is printed."""
    case(tmp_path, {"facts": [{"ask": "routes of service default/s1", "referenced_by": ["default/r1"]}]})
    assert main(gwctl.judge, gwctl.MARKER, [str(tmp_path)]) == 0
    assert capsys.readouterr().out.splitlines() == ["referenced_by      1 of     1", "all                1 of     1"]


@pytest.mark.parametrize("arguments", [[], ["."], ["a", "b"]])
def test_a_folder_without_cases_is_no_success(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, arguments: list[str], capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    assert main(gwctl.judge, gwctl.MARKER, arguments) == 2
    assert capsys.readouterr().err.startswith("name one folder")


def test_a_case_that_cannot_be_read_is_a_miss(tmp_path: Path) -> None:
    (case(tmp_path, {}) / "manifests.yaml").unlink()
    case(tmp_path, {"facts": [{"ask": "errors", "errors": []}]}, "other")
    unreadable, other = judged(gwctl.judge, tmp_path, gwctl.MARKER)
    assert (unreadable.case, unreadable.type, unreadable.right) == ("made-here", "case", False)
    assert other.case == "other"


def test_scores_are_by_type() -> None:
    """Each type has its own count, and the last line their sum."""
    outcomes = [
        NodeInForce("c", "b", "x", 1, 1),
        NodeInForce("c", "a", "y", 1, 2),
        NodeInForce("c", "b", "z", [1], [2]),
    ]
    assert score(outcomes) == {"a": Score(0, 1), "b": Score(1, 2)}
    assert render(outcomes).splitlines()[:3] == ["a        0 of     1", "b        1 of     2", "all      1 of     3"]


def test_the_rarer_answers_are_those_that_are_not_the_commonest_of_their_type() -> None:
    """Of equally common ones the first is the commonest; an answer too many was never expected."""
    common = [NodeInForce("c", "a", "x", "yes", "yes"), NodeInForce("d", "a", "x", "yes", "no")]
    rare = [
        NodeInForce("c", "a", "y", "no", "no"),
        NodeInForce("c", "a", "z", "maybe", "no"),
        NodeInForce("c", "b", "y", [1], [1]),
    ]
    surplus = [NodeInForce(name, "a", "x", NOTHING, "yes") for name in "cde"]
    first = NodeInForce("c", "b", "x", [], [])
    assert rarer([*surplus, *common, first, *rare]) == rare


def test_answers_are_told_apart_by_their_sort() -> None:
    """Where answers are full of names, it is what sort of answer they are that is common or rare."""
    outcomes = [NodeInForce("c", "a", name, [name], [], 1) for name in "xy"]
    two = NodeInForce("c", "a", "z", ["x", "z"], [], 2)
    assert rarer([*outcomes, two]) == [two]


def test_the_recall_on_the_rarer_answers_stands_beside_the_plain_share() -> None:
    """Of each type and of all; a type with one sort of answer has no rarer ones."""
    answers = [("b", 1, 1), ("b", 1, 1), ("b", 2, 1), ("b", 3, 3), ("a", 1, 1)]
    outcomes = [NodeInForce("c", type_, "x", expected, got) for type_, expected, got in answers]
    assert render(outcomes, recall=True).splitlines()[:3] == [
        "a        1 of     1   rarer     0 of     0",
        "b        3 of     4   rarer     1 of     2",
        "all      4 of     5   rarer     1 of     2",
    ]


def test_what_is_no_mapping_expects_nothing(tmp_path: Path) -> None:
    (tmp_path / "expected.yaml").write_text("[1]", "utf-8")
    assert read(tmp_path / "expected.yaml") == {}


def test_what_a_case_lists_can_be_applied_to_its_world(tmp_path: Path) -> None:
    """What is applied takes the place of what has its name, without a complaint about that."""
    manifests = case(tmp_path, {}) / "manifests.yaml"
    applied: Json = {"apiVersion": "v1", "kind": "Service", "metadata": {"name": "s1", "namespace": "default"}}
    before = analyze(world([manifests, manifests]))
    after = what_if(before, applied=objects([applied])).after
    specs = {
        slashed(resource.ref): mapping_at(after.index.defaulted(resource.ref), "spec")
        for resource in after.snapshot.resources
    }
    assert "ports" not in specs["Service/default/s1"]
    assert "listeners" in specs["Gateway/default/g1"]
    assert after.snapshot.diagnostics == ()
    assert after.snapshot.complete
    assert objects([]) == ()


@pytest.mark.parametrize(
    ("sentence", "expected"),
    [
        (
            'HTTPRoute(.gateway.networking.k8s.io) "a/r" is not permitted to reference Service "b/s"',
            [Claim(frozenset({"HTTPRoute a/r", "Service b/s"}), "not permitted", ())],
        ),
        (
            "target section `nope` does not exist on Gateway a/g",
            [Claim(frozenset({"Gateway a/g"}), "missing", ("nope",))],
        ),
        ("Gateway has no listeners", [Claim(frozenset(), "", ())]),
        (
            "dangling: two (Gateway a/g, Namespace b)",
            [Claim(frozenset({"Gateway a/g"}), "missing", ()), Claim(frozenset({"Namespace b"}), "missing", ())],
        ),
    ],
)
def test_sentences_are_read_by_their_substance(sentence: str, expected: list[Claim]) -> None:
    """The objects that they name, the nature of the problem, and words in backquotes."""
    assert list(claims(sentence)) == expected


@pytest.mark.parametrize(
    ("sentence", "fits"),
    [
        ("UDPRoute default/u1 references a non-existent Service default/absent", "fits"),
        ("UDPRoute default/u1 references a non-existent Service default/other", "does not fit"),
        ("UDPRoute default/u1 is not permitted to reference Service default/absent", "does not fit"),
        ("UDPRoute default/u1 has something to do with Service default/absent", "does not fit"),
        ("UDPRoute default/u1 references a non-existent `nowhere`", "does not fit"),
    ],
)
def test_a_sentence_fits_a_problem_of_its_objects_and_nature(tmp_path: Path, sentence: str, fits: str) -> None:
    """Another object, another nature, none at all, or a quoted word that does not occur: no fit."""
    reported = problems(analyze(world([case(tmp_path, {}) / "manifests.yaml"])))
    assert any(claim.fits(problem) for claim in claims(sentence) for problem in reported) is (fits == "fits")
