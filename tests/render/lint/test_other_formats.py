"""GitLab's Code Quality, Checkstyle and reviewdog."""

from __future__ import annotations

import json
from dataclasses import replace
from typing import TYPE_CHECKING, Any
from xml.etree import ElementTree as ET

import pytest

from kubectl_policy.lint.baseline import fingerprinted
from kubectl_policy.lint.rule import Rule
from kubectl_policy.model import Origin
from tests.render.lint.reports import CLEAN, EVERYTHING, LIVE, LOST, MISSING, SMALL, setting_lost
from tests.render.shown import shown

if TYPE_CHECKING:
    from syrupy.assertion import SnapshotAssertion

    from kubectl_policy.model import Severity


def gitlab(*findings: Any, **changes: Any) -> list[dict[str, Any]]:  # noqa: ANN401 (of any type)
    """The entries of some findings."""
    found: list[dict[str, Any]] = json.loads(shown(replace(CLEAN, findings=findings, **changes), "gitlab"))
    return found


@pytest.mark.parametrize("name", ["gitlab", "checkstyle", "rdjson"])
def test_everything(name: str, snapshot: SnapshotAssertion) -> None:
    """All of it, and nothing of what does not count but for what GitLab is to know."""
    assert shown(EVERYTHING, name) == snapshot


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
    """What is about security is worse."""
    rule = Rule("GWP2001", "error", setting_lost, guards=guards)
    (entry,) = gitlab(replace(LOST, severity=severity), rules=(rule,))
    assert entry["severity"] == wanted


def test_gitlab_takes_no_two_entries_with_the_same_fingerprint() -> None:
    """Each has its own, and keeps it where lines move."""
    several = (MISSING, replace(MISSING, message="another"), LOST, replace(MISSING, field="spec.x"), LIVE)
    found = [entry["fingerprint"] for entry in gitlab(*fingerprinted(several))]
    assert len({*found}) == len(several)
    moved = (replace(each, origin=Origin("shop.yaml", 90)) for each in several)
    assert [entry["fingerprint"] for entry in gitlab(*fingerprinted(moved))] == found


def test_gitlab_knows_files_from_the_root_on() -> None:
    """Without a dot before them; what is in no file has a path and a line all the same."""
    (entry,) = gitlab(replace(MISSING, origin=Origin("./a/../b.yaml", 4)))
    assert entry["location"] == {"path": "b.yaml", "lines": {"begin": 4}}
    (entry,) = gitlab(LIVE)
    assert entry["location"] == {"path": "kind-dev/infra/Gateway/public", "lines": {"begin": 1}}


def test_gitlab_gets_what_is_known_as_well() -> None:
    """It would say of what is not there any more that it is fixed."""
    assert gitlab(MISSING, known=(LOST,), since="origin/main") == gitlab(MISSING, LOST)


def test_nothing_is_something() -> None:
    """Without a report GitLab compares nothing, and other readers take it for a mistake."""
    assert gitlab() == []
    assert ET.fromstring(shown(CLEAN, "checkstyle")).tag == "checkstyle"  # noqa: S314 (our own text)
    assert json.loads(shown(CLEAN, "rdjson")) == {"source": {"name": "kubectl-policy"}, "diagnostics": []}


def test_checkstyle_has_a_part_for_each_file() -> None:
    """In their order."""
    root = ET.fromstring(shown(replace(SMALL, findings=(*SMALL.findings, LIVE)), "checkstyle"))  # noqa: S314 (see above)
    assert [(file.attrib["name"], len(file)) for file in root] == [
        ("shop.yaml", 3),
        ("kind-dev/infra/Gateway/public", 1),
    ]


def test_reviewdog_can_suggest_what_to_write() -> None:
    """In columns of bytes; where the text is not known, nothing."""
    line = Origin("shop.yaml", 14)
    report = replace(CLEAN, findings=(MISSING,), texts={line: '{größe: 1, name: "checkot"}'})
    (found,) = json.loads(shown(report, "rdjson"))["diagnostics"]
    assert found["suggestions"] == [
        {"range": {"start": {"line": 14, "column": 21}, "end": {"line": 14, "column": 28}}, "text": "checkout"}
    ]
    (found,) = json.loads(shown(replace(report, texts={}), "rdjson"))["diagnostics"]
    assert "suggestions" not in found
