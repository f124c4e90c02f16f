"""What linting says of the worlds of other projects' tests is nothing that these contradict, where they are present."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Final

import pytest
import yaml

from kubectl_policy import InputOptions, analyze, load_manifests
from kubectl_policy.lint.run import lint
from kubectl_policy.lint.settings import LintSettings

if TYPE_CHECKING:
    from collections.abc import Iterator

    from kubectl_policy.lint.finding import Finding
    from kubectl_policy.model import Json

ROOT: Final = Path(__file__).parents[2]
CASES: Final = ROOT.parent / "shared" / "cases"
# Conditions that are False where nothing is wrong.
NEGATIVE: Final = frozenset({"Conflicted", "OverlappingTLSConfig"})


def errors(manifests: Path, *, complete: bool) -> list[Finding]:
    """The errors that linting is certain of."""
    analysis = analyze(load_manifests([manifests], options=InputOptions(complete=complete)))
    return [each for each in lint(analysis, LintSettings()) if each.severity == "error" and each.certain]


def accepted(facts: Iterator[dict[str, Json]]) -> set[tuple[str, str, str]]:
    """The objects of which facts say that all is well with them, and nothing else."""
    found: dict[tuple[str, str, str], list[bool]] = {}
    for fact in facts:
        subject, condition = fact["object"], fact.get("condition")
        assert isinstance(subject, dict)
        key = (str(subject["kind"]), str(subject["namespace"]), str(subject["name"]))
        if isinstance(condition, dict):
            wanted = "False" if condition["type"] in NEGATIVE else "True"
            found.setdefault(key, []).append(condition["status"] == wanted)
        elif str(fact["type"]).endswith(("no-accepted-parents", "zero-routes")):
            found.setdefault(key, []).append(False)
    return {key for key, well in found.items() if all(well)}


def contradicted(folder: Path) -> list[str]:
    """The errors of a conformance case on objects that its test expects to be accepted, at its first stage."""
    expected = json.loads((folder / "expected.json").read_text("utf-8"))
    well = accepted(fact for fact in expected["status"] if fact["stage"] == 0)
    return [
        f"{folder.name}: {each.rule} {each.subject}: {each.message}"
        for complete in (False, True)
        for each in errors(folder / "manifests.yaml", complete=complete)
        if each.subject and (each.subject.kind, each.subject.namespace, each.subject.name) in well
    ]


def test_no_error_is_about_what_conformance_tests_expect_to_be_accepted() -> None:
    """In either an open or a closed world."""
    if not CASES.is_dir():
        pytest.skip("the recorded conformance cases are not next to this project")
    folders = [path.parent for path in sorted((CASES / "conformance").glob("*/expected.json"))]
    assert len(folders) > 50
    assert [said for folder in folders for said in contradicted(folder)] == []


def test_an_error_about_what_is_accepted_is_found(tmp_path: Path) -> None:
    """The test above can fail."""
    route = {
        "apiVersion": "gateway.networking.k8s.io/v1",
        "kind": "HTTPRoute",
        "metadata": {"name": "r", "namespace": "default"},
        "spec": {"rules": [{"backendRefs": [{"name": "s", "port": 80, "weight": 0}]}]},
    }
    (tmp_path / "manifests.yaml").write_text(yaml.safe_dump(route), "utf-8")
    subject = {"kind": "HTTPRoute", "namespace": "default", "name": "r"}
    fact = {"type": "route-parent-condition", "object": subject, "stage": 0}
    for status, expected in (("False", False), ("True", True)):
        condition = {"type": "Accepted", "status": status}
        text = json.dumps({"status": [{**fact, "condition": condition}]})
        (tmp_path / "expected.json").write_text(text, "utf-8")
        assert any("GWP5008" in said for said in contradicted(tmp_path)) is expected
