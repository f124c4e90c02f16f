"""Errors of `lint` contradict no test of the conformance suite, where its recorded cases are present."""

from __future__ import annotations

import json
from collections.abc import Iterable
from pathlib import Path
from typing import Final

import pytest

from kubectl_policy import InputOptions, analyze, load_manifests
from kubectl_policy.lint.finding import Finding
from kubectl_policy.lint.settings import LintSettings
from tests.build import backend, route, rule
from tests.cases.conformance import MARKER, Fact
from tests.cases.sample import write_manifests
from tests.cases.worlds import CASES
from tests.lint.rule_worlds import lint

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
