"""Cases of other projects and of our own: every fact holds or scores do not fall, and `lint` contradicts none."""

from __future__ import annotations

import json
import shutil
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any, Final, cast

import pytest
import yaml

from kubectl_policy import InputOptions, analyze, load_manifests
from kubectl_policy.lint.finding import Finding
from kubectl_policy.lint.settings import LintSettings
from kubectl_policy.model import Json
from tests.build import backend, gateway, listener, parent, route, rule
from tests.cases import conformance, envoy_gateway, gwctl, kgateway, kuadrant, nginx_gateway_fabric, predictions
from tests.cases.conformance import MARKER, Fact, judge
from tests.cases.report import Score, judged, main, rarer, score
from tests.cases.worlds import CASES, DATA, read, world, write_manifests
from tests.lint.rule_worlds import lint

NGINX: Final = "nginx-gateway-fabric"
SUITES: Final = {"gwctl": gwctl, "kuadrant": kuadrant, NGINX: nginx_gateway_fabric}

# By suite: the number of types of facts, and the floors of types of which not every fact holds: how many facts, and how
# many of those with one of the rarer answers, which no habit of giving the common one reaches.
TYPES: Final = {"gwctl": len({*gwctl.LISTS, *gwctl.ANSWERS}), "kuadrant": 17, NGINX: 12}
FLOORS: Final[dict[str, dict[str, tuple[int, int]]]] = {
    # A GatewayClass without merged Gateways is no target of an EnvoyPatchPolicy, says its controller.
    "gwctl": {"directly_attached": (9, 0)},
    # The rest is told from Kuadrant's code alone and goes by reported status, or by an ambiguous key.
    "kuadrant": {"affected": (38, 0), "enforced": (44, 0), "enforcement": (15, 0), "message": (17, 0)},
    NGINX: {
        "ancestors": (393, 105),
        "attached": (392, 154),
        "condition Accepted": (397, 81),
        "condition Programmed": (380, 75),
        "effective": (788, 728),
        "parents": (318, 167),
    },
}


@pytest.mark.parametrize("suite", SUITES)
def test_no_right_answer_is_lost(suite: str) -> None:
    folder, adapter = CASES / suite, SUITES[suite]
    if not folder.is_dir():
        pytest.skip(f"the recorded cases of {suite} are not next to this project")
    outcomes = judged(adapter.judge, folder, adapter.MARKER)
    scores, rarer_scores = score(outcomes), score(rarer(outcomes))
    assert len(scores) == TYPES[suite]
    missing = {
        type_: (right, total)
        for type_, (right, total) in scores.items()
        if right < FLOORS[suite].get(type_, (total, 0))[0]
    }
    rarer_missing = {
        type_: floor
        for type_, (_, floor) in FLOORS[suite].items()
        if rarer_scores.get(type_, Score(0, 0)).right < floor
    }
    assert (missing, rarer_missing) == ({}, {})


COUNTED: Final = frozenset(
    {
        "route-parent-condition",
        "route-no-accepted-parents",
        "listener-attached-routes",
        "listener-supported-kinds",
        "listenerset-condition",
        "policy-ancestor-condition",
        "listener-condition Conflicted",
        "listener-condition ResolvedRefs",
    }
)


def test_recorded_cases_come_out_right() -> None:
    """At least 97 % of what manifests can decide."""
    if not (CASES / "conformance").is_dir():
        pytest.skip("the recorded conformance cases are not next to this project")
    counted = [item.right for item in judged(judge, CASES / "conformance", MARKER) if item.type in COUNTED]
    assert len(counted) > 200
    assert sum(counted) >= 0.97 * len(counted)


def write_case(folder: Path, *facts: dict[str, Json]) -> None:
    """Write a case about one Gateway and the route that it refuses."""
    world = [gateway("g", listener(hostname="a.org")), route("r", parents=[parent()], hostnames=["b.org"])]
    (folder / "case").mkdir()
    write_manifests(folder / "case" / "manifests.yaml", world)
    flags: dict[str, Json] = {"stage": 0, "needs_data_plane": False, "readiness_only": False}
    status = [{"id": f"case!{number}", **flags, **fact} for number, fact in enumerate(facts)]
    stages = [{"stage": 0, "file": "manifests.yaml"}, {"stage": 1, "file": "unused.yaml"}]
    expected = {"case": "case", "assumptions": [], "stages": stages, "status": status}
    (folder / "case" / "expected.json").write_text(json.dumps(expected), "utf-8")


ROUTE: Json = {"kind": "HTTPRoute", "namespace": "default", "name": "r"}
GATEWAY: Json = {"kind": "Gateway", "namespace": "default", "name": "g"}


def accepted(status: str, reason: str) -> dict[str, Json]:
    """Return a fact about the only parent of the route."""
    condition: Json = {"type": "Accepted", "status": status, "reason": reason}
    return {"type": "route-parent-condition", "object": ROUTE, "parent": GATEWAY, "condition": condition}


def test_a_miss_is_shown_and_fails(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """With the case, the fact and what was said instead; what cannot be answered is a miss."""
    write_case(tmp_path, accepted("True", "Accepted"), {"type": "weather"})
    assert main(judge, MARKER, [str(tmp_path)]) == 1
    printed = capsys.readouterr().out
    assert "route-parent-condition      0 of     1" in printed
    assert "got      Accepted=False NoMatchingListenerHostname: hostname b.org does not match a.org" in printed
    assert printed.endswith('case: weather: case!1\n  expected {"stage": 0}\n  got      not answered yet\n')


# Conditions that are False where nothing is wrong.
_NEGATIVE: Final = frozenset({"Conflicted", "OverlappingTLSConfig"})


def contradicted_errors(folder: Path) -> list[str]:
    """Return the errors, in an open or a complete world, about objects that a case expects to be accepted at first."""
    facts = json.loads((folder / MARKER).read_text("utf-8"))["status"]
    accepted = _accepted(fact for fact in facts if fact["stage"] == 0)
    return [
        f"{folder.name}: {finding.rule} {finding.subject}: {finding.message}"
        for complete in (False, True)
        for finding in _errors(folder / "manifests.yaml", complete=complete)
        if finding.subject and (finding.subject.kind, finding.subject.namespace, finding.subject.name) in accepted
    ]


def _errors(manifests: Path, *, complete: bool) -> list[Finding]:
    analysis = analyze(load_manifests([manifests], options=InputOptions(complete=complete)))
    findings = lint(analysis, LintSettings())
    return [finding for finding in findings if finding.severity == "error" and finding.certain]


def _accepted(facts: Iterable[Fact]) -> set[tuple[str, str, str]]:
    """Return the objects about which all facts are good, as kind, namespace and name."""
    good: dict[tuple[str, str, str], list[bool]] = {}
    for fact in facts:
        subject, condition = fact["object"], fact.get("condition")
        key = (subject["kind"], subject["namespace"], subject["name"])
        if condition:
            wanted = "False" if condition["type"] in _NEGATIVE else "True"
            good.setdefault(key, []).append(condition["status"] == wanted)
        elif fact["type"].endswith(("no-accepted-parents", "zero-routes")):
            good.setdefault(key, []).append(False)
    return {key for key, verdicts in good.items() if all(verdicts)}


def test_no_error_is_about_what_conformance_tests_expect_to_be_accepted() -> None:
    if not CASES.is_dir():
        pytest.skip("the recorded conformance cases are not next to this project")
    folders = [path.parent for path in sorted((CASES / "conformance").glob(f"*/{MARKER}"))]
    assert len(folders) > 50
    assert [error for folder in folders for error in contradicted_errors(folder)] == []


@pytest.mark.parametrize(("status", "contradicted"), [("False", False), ("True", True)])
def test_an_error_about_an_accepted_object_is_found(tmp_path: Path, status: str, *, contradicted: bool) -> None:
    """The test above can fail: the route sends no requests to its only backend."""
    write_manifests(tmp_path / "manifests.yaml", [route("r", parents=[], rules=[rule(backend("s", 80, weight=0))])])
    subject = {"kind": "HTTPRoute", "namespace": "default", "name": "r"}
    condition = {"type": "Accepted", "status": status}
    fact = {"type": "route-parent-condition", "object": subject, "stage": 0, "condition": condition}
    (tmp_path / MARKER).write_text(json.dumps({"status": [fact]}), "utf-8")
    assert any("GWP5008" in error for error in contradicted_errors(tmp_path)) is contradicted


# Each with how many facts its cases have, so that none is lost by a fact that nobody understands.
JUDGES: Final[dict[str, tuple[Any, int]]] = {
    "conformance": (conformance, 4),
    "gwctl": (gwctl, 47),
    "kuadrant": (kuadrant, 33),
    "nginx-gateway-fabric": (nginx_gateway_fabric, 71),
}
WRITERS: Final = {"envoy-gateway": envoy_gateway, "kgateway": kgateway}
WRITTEN: Final = [
    (suite, case.parent.name) for suite in WRITERS for case in sorted(DATA.glob(f"{suite}/*/expected.yaml"))
]


@pytest.mark.parametrize("suite", JUDGES)
def test_every_fact_holds(suite: str) -> None:
    adapter, count = JUDGES[suite]
    outcomes = judged(adapter.judge, DATA / suite, adapter.MARKER)
    assert [outcome for outcome in outcomes if not outcome.right] == []
    assert len(outcomes) == count


# What is asked, and how; all else is an answer.
QUESTIONS: Final = frozenset({"absent", "ask", "case", "condition", "exact", "expand"})


def spoiled(value: Json) -> Iterator[Json]:
    """Yield a document with each of its answers replaced, one at a time."""
    if isinstance(value, dict):
        for key in value.keys() - QUESTIONS:
            yield from ({**value, key: other} for other in spoiled(value[key]))
    elif isinstance(value, list):
        for position, element in enumerate(value):
            yield from ([*value[:position], other, *value[position + 1 :]] for other in spoiled(element))
    elif isinstance(value, bool):
        yield not value
    elif isinstance(value, int):
        yield value + 1
    else:
        yield "spoiled"


@pytest.mark.parametrize(
    ("suite", "case"),
    [
        (suite, file.parent.name)
        for suite in ("gwctl", "kuadrant", "nginx-gateway-fabric")
        for file in sorted(DATA.glob(f"{suite}/*/expected.yaml"))
    ],
)
def test_every_fact_can_fail(suite: str, case: str, tmp_path: Path) -> None:
    """Each answer that a case expects, however it is written, makes a miss if it is another one."""
    adapter, _ = JUDGES[suite]
    folder = tmp_path / case
    shutil.copytree(DATA / suite / case, folder)
    for expected in spoiled(dict(read(folder / adapter.MARKER))):
        (folder / adapter.MARKER).write_text(json.dumps(expected), "utf-8")
        assert not all(outcome.right for outcome in adapter.judge(folder)), expected


@pytest.mark.parametrize("suite", WRITERS)
def test_the_document_for_a_scorer_has_nothing_else(suite: str, tmp_path: Path) -> None:
    """One document as a whole, as the command writes it."""
    assert predictions.main(WRITERS[suite], [str(DATA / suite), str(tmp_path)]) == 0
    (case,) = DATA.glob(f"{suite}/*/document.yaml")
    assert json.loads((tmp_path / f"{case.parent.name}.json").read_text("utf-8")) == read(case)


@pytest.mark.parametrize(("suite", "case"), WRITTEN)
def test_the_document_for_a_scorer_has_every_fact(suite: str, case: str) -> None:
    """An entry has all that is expected of it, and may say more."""
    document: Any = WRITERS[suite].document(analyze(world([DATA / suite / case / "manifests.yaml"])))
    expected = read(DATA / suite / case / "expected.yaml")
    assert expected
    for section, entries in expected.items():
        for entry in cast("list[Json]", entries):
            assert any(_has(written, entry) for written in document[section]), yaml.safe_dump(entry)


def _has(written: Json, expected: Json) -> bool:
    """Whether a mapping has all fields that are expected of it; lists and what is in them have to be the same."""
    if isinstance(written, dict) and isinstance(expected, dict):
        return all(key in written and _has(written[key], value) for key, value in expected.items())
    return written == expected
