"""Adapters that write documents for a scorer, and the scores of these documents on recorded cases."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any, Final

import pytest

from tests.cases import envoy_gateway, kgateway
from tests.cases.predictions import main
from tests.cases.sample import case
from tests.cases.worlds import CASES


def test_a_world_that_cannot_be_read_is_reported(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """The documents about the other worlds are written all the same."""
    case(tmp_path / "cases", {})
    (case(tmp_path / "cases", {}, "broken") / "manifests.yaml").write_text("{", "utf-8")
    assert main(envoy_gateway, [str(tmp_path / "cases"), str(tmp_path / "out")]) == 1
    assert "broken" in capsys.readouterr().err
    assert [file.name for file in (tmp_path / "out").iterdir()] == ["made-here.json"]


def test_a_folder_without_cases_is_an_error(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(kgateway, [str(tmp_path), str(tmp_path / "out")]) == 2
    assert "holds no cases" in capsys.readouterr().err


# By suite: the adapter, the folder of the scorer, how many facts are right at least, and the balanced score.
SUITES: Final[dict[str, tuple[Any, str, int, float]]] = {
    "envoy-gateway": (envoy_gateway, "envoy-gateway", 4861, 0.999),
    "envoy-gateway-random": (envoy_gateway, "envoy-gateway", 7688, 0.998),
    "kgateway": (kgateway, "kgateway", 3326, 0.98),
}


@pytest.mark.parametrize("suite", SUITES)
def test_recorded_cases_come_out_right(suite: str, tmp_path: Path) -> None:
    """At least as many facts are right as before, and of the rarer facts about policies all."""
    if not (CASES / suite).is_dir():
        pytest.skip(f"the recorded cases of {suite} are not next to this project")
    adapter, scorer, right, balanced = SUITES[suite]
    assert main(adapter, [str(CASES / suite), str(tmp_path / "out")]) == 0
    options = ["--cases", CASES / suite, "--predictions", tmp_path / "out", "--json", tmp_path / "score.json"]
    command = [sys.executable, *map(str, [CASES / scorer / "score.py", *options])]
    subprocess.run(command, check=True, capture_output=True)  # noqa: S603 (the scorer is part of the cases)
    summary = json.loads((tmp_path / "score.json").read_text("utf-8"))["summary"]
    recalled, rare = map(int, summary["tier1_policy_rare_recall"].split("/"))
    assert recalled == rare > 100
    assert summary["correct"] >= right
    assert summary["tier1_balanced_macro"] >= balanced
