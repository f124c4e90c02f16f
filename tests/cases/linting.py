"""Errors of `lint` that conformance cases contradict: their tests expect the objects to be accepted."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Final

from kubectl_policy import InputOptions, analyze, load_manifests
from kubectl_policy.lint.settings import LintSettings
from tests.cases.conformance import MARKER
from tests.lint.examples import lint

if TYPE_CHECKING:
    from collections.abc import Iterable
    from pathlib import Path

    from kubectl_policy.lint.finding import Finding
    from tests.cases.conformance import Fact

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
    """Return the errors that are certain."""
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
