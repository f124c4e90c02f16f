"""Hostile files end within ten seconds and 1 GiB, with a line that says what is wrong."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Final

import pytest

from tests.cli.hostile_files import FILES, Outcome, outcomes_in

if TYPE_CHECKING:
    from collections.abc import Mapping

ROOT: Final = Path(__file__).parent.parent.parent
SECONDS: Final = 10


@pytest.fixture(scope="module")
def outcomes(tmp_path_factory: pytest.TempPathFactory) -> Mapping[str, Outcome]:
    """What came of all commands, in one process of which the memory is limited."""
    completed = subprocess.run(
        [sys.executable, "-m", "tests.cli.hostile_files"],
        cwd=tmp_path_factory.mktemp("hostile"),
        env={**os.environ, "PYTHONPATH": str(ROOT), "COLUMNS": "1000"},
        capture_output=True,
        timeout=SECONDS * len(FILES),
        check=True,
        text=True,
    )
    return outcomes_in(completed.stdout)


@pytest.mark.parametrize("name", FILES)
def test_a_hostile_file(outcomes: Mapping[str, Outcome], name: str) -> None:
    outcome, file = outcomes[name], FILES[name]
    assert outcome.seconds < SECONDS
    assert outcome.code == file.code
    assert "Traceback" not in outcome.err
    assert file.says in outcome.out + outcome.err
