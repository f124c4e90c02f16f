"""Completion as a function from words to lines, and a kubectl that answers as one does."""

from __future__ import annotations

import shutil
import time
from pathlib import Path
from typing import TYPE_CHECKING, Final, Protocol

import pytest

from kubectl_policy.cli.completion.candidates import complete

if TYPE_CHECKING:
    from collections.abc import Callable

ROOT: Final = Path(__file__).parents[3]
BAKERY: Final = str(ROOT / "fixtures" / "bakery")


class Offered(Protocol):
    """What is offered to words of which the last one is under the cursor."""

    def __call__(self, *arguments: str) -> list[str]:
        """The candidates without what is said of them, and the directive."""
        ...


@pytest.fixture
def offered() -> Offered:
    """`offered("describe", "")`, with as much time as it takes."""

    def call(*arguments: str) -> list[str]:
        lines = complete(arguments, time.monotonic() + 60).text().splitlines()
        return [line.partition("\t")[0] for line in lines]

    return call


@pytest.fixture
def kubectl(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[[str], Path]:
    """Puts a kubectl on the PATH that is a shell script and, by its first lines, notes what it is called with."""

    def install(script: str) -> Path:
        folder, notes = tmp_path / "bin", tmp_path / "called"
        folder.mkdir()
        program = folder / "kubectl"
        program.write_text(f'#!/bin/sh\nprintf "%s\\n" "$*" >>{notes}\n{script}\n', "utf-8")
        program.chmod(0o755)
        programs = {str(Path(found).parent) for name in ("sh", "sleep") if (found := shutil.which(name))}
        monkeypatch.setenv("PATH", ":".join([str(folder), *sorted(programs)]))
        return notes

    return install
