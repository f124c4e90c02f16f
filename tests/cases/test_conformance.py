"""The recorded cases of Gateway API's conformance suite, where they are present."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Final

import pytest

from kubectl_policy.model import Json
from tests.build import gateway, listener, parent, route
from tests.cases.conformance import MARKER, judge
from tests.cases.report import judged, main
from tests.cases.sample import write_manifests
from tests.cases.worlds import CASES

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
