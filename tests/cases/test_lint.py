"""Errors of `lint` contradict no test of the conformance suite, where its recorded cases are present."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import pytest

from tests.build import backend, route, rule
from tests.cases.conformance import MARKER
from tests.cases.linting import contradicted_errors
from tests.cases.sample import write_manifests
from tests.cases.worlds import CASES

if TYPE_CHECKING:
    from pathlib import Path


def test_no_error_is_about_what_conformance_tests_expect_to_be_accepted() -> None:
    """Neither in an open nor in a complete world."""
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
