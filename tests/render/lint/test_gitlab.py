"""GitLab's Code Quality report."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import pytest
from msgspec.structs import replace

from kubectl_policy.lint.baseline import fingerprinted
from kubectl_policy.lint.rule import Rule
from kubectl_policy.model import Origin, Severity
from tests.render.lint.reports import CLEAN, EVERYTHING, LIVE, LOST, MISSING, SCOPE, setting_lost
from tests.render.shown import shown

if TYPE_CHECKING:
    from syrupy.assertion import SnapshotAssertion


def gitlab(*findings: Any, **changes: Any) -> list[dict[str, Any]]:  # noqa: ANN401 (of any type)
    found: list[dict[str, Any]] = json.loads(shown(replace(CLEAN, findings=findings, **changes), "gitlab"))
    return found


def test_everything(snapshot: SnapshotAssertion) -> None:
    """Print all findings that count, and known ones, which GitLab has to know."""
    assert shown(EVERYTHING, "gitlab") == snapshot


@pytest.mark.parametrize(
    ("severity", "guards", "wanted"),
    [
        ("error", False, "major"),
        ("error", True, "critical"),
        ("warning", False, "minor"),
        ("warning", True, "minor"),
        ("info", True, "info"),
    ],
)
def test_gitlab_has_severities_of_its_own(severity: Severity, *, guards: bool, wanted: str) -> None:
    rule = Rule("GWP2001", "error", setting_lost, guards=guards)
    (entry,) = gitlab(replace(LOST, severity=severity), rules=(rule,))
    assert entry["severity"] == wanted


def test_gitlab_takes_no_two_entries_with_the_same_fingerprint() -> None:
    several = (MISSING, replace(MISSING, message="another"), LOST, replace(MISSING, field="spec.x"), LIVE)
    findings = [entry["fingerprint"] for entry in gitlab(*fingerprinted(several))]
    assert len({*findings}) == len(several)
    moved = (replace(each, origin=Origin("shop.yaml", 90)) for each in several)
    assert [entry["fingerprint"] for entry in gitlab(*fingerprinted(moved))] == findings


def test_gitlab_knows_files_from_the_root_on() -> None:
    (entry,) = gitlab(replace(MISSING, origin=Origin("./a/../b.yaml", 4)))
    assert entry["location"] == {"path": "b.yaml", "lines": {"begin": 4}}
    (entry,) = gitlab(LIVE)
    assert entry["location"] == {"path": "kind-dev/infra/Gateway/public", "lines": {"begin": 1}}


def test_gitlab_gets_what_is_known_as_well() -> None:
    """It would say of what is not there any more that it is fixed."""
    assert gitlab(MISSING, known=(LOST,), scope=replace(SCOPE, since="origin/main")) == gitlab(MISSING, LOST)


def test_a_report_without_findings_is_an_empty_list() -> None:
    """Write the report anyway: without one, GitLab compares nothing."""
    assert gitlab() == []
