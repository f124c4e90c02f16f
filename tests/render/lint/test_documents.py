"""What linting says as a document."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, cast

from tests.render.lint.reports import CLEAN, EVERYTHING
from tests.render.schema import VALIDATOR
from tests.render.shown import document_of, shown

if TYPE_CHECKING:
    from syrupy.assertion import SnapshotAssertion


def test_everything(snapshot: SnapshotAssertion) -> None:
    VALIDATOR.validate(document_of(EVERYTHING))
    assert shown(EVERYTHING, "yaml") == snapshot


def test_nothing() -> None:
    document = cast("dict[str, Any]", document_of(CLEAN))
    VALIDATOR.validate(document)
    assert document.keys() == cast("dict[str, Any]", document_of(EVERYTHING)).keys()
    assert document["complete"]
    assert not document["fails"]
    assert document["failOn"] == "error"
    assert [document[name] for name in ("errors", "warnings", "infos")] == [0, 0, 0]


def test_a_finding_has_the_name_of_its_rule_and_the_severity_of_this_run() -> None:
    document = cast("dict[str, Any]", document_of(EVERYTHING))
    assert [(finding["rule"], finding["name"], finding["severity"]) for finding in document["findings"][:2]] == [
        ("GWP0004", "", "error"),
        ("GWP7001", "name-odd", "info"),
    ]
    assert [(rule["id"], rule["severity"]) for rule in document["rules"]] == [
        ("GWP1001", "error"),
        ("GWP2001", "warning"),
        ("GWP7001", "info"),
    ]
    assert document["rules"][0]["needs"] == ["closed world"]
