"""Child processes: what they are told, and what becomes of those that do not end, or say too much."""

from __future__ import annotations

import time
from pathlib import Path
from typing import TYPE_CHECKING, cast

import pytest

from kubectl_policy.sources.rendering import programs
from kubectl_policy.sources.rendering.programs import Job, ProgramOutput, complaint_in, environment, run_all

if TYPE_CHECKING:
    from collections.abc import Generator


def _run(folder: Path, *scripts: str, limit: float = 20.0, at_once: int = 0) -> list[tuple[int, ProgramOutput]]:
    jobs = [Job(command=("/bin/sh", "-c", script), folder=folder) for script in scripts]
    return sorted(run_all(jobs, folder, limit=limit, at_once=at_once), key=lambda each: each[0])


def _is_still(beat: Path) -> bool:
    """Whether nobody writes to a file any more."""
    time.sleep(0.1)
    size = beat.stat().st_size
    time.sleep(0.2)
    return 0 < size == beat.stat().st_size


def test_what_a_program_prints(tmp_path: Path) -> None:
    """By the number of the job, however many run at once."""
    ran = _run(tmp_path, *(f"echo {number}" for number in range(9)), at_once=3)
    assert ran == [(number, ProgramOutput(out=f"{number}\n")) for number in range(9)]


def test_a_program_that_fails(tmp_path: Path) -> None:
    """Says why on standard error; if it says nothing, its code is all that is known."""
    ran = _run(tmp_path, "echo 'Error: no such file' >&2; exit 1", "exit 7")
    assert [each.complaint for _, each in ran] == ["no such file", "it ended with code 7, and did not say why"]


def test_a_program_that_goes_on_for_ever(tmp_path: Path) -> None:
    """Is ended with everything that it started."""
    begun = time.monotonic()
    ((_, ran),) = _run(tmp_path, f"/bin/sh -c 'while :; do echo >> {tmp_path}/beat; done' & wait", limit=0.5)
    assert ran.complaint == "it took more than 0.5 seconds"
    assert time.monotonic() - begun < 10
    assert _is_still(tmp_path / "beat")


def test_a_program_that_prints_for_ever(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Is ended; what it printed is of no use."""
    monkeypatch.setattr(programs, "MAX_OUTPUT", 2**20)
    ((_, ran),) = _run(tmp_path, "while :; do echo 0123456789012345678901234567890123456789; done")
    assert ran == ProgramOutput(complaint="it printed more than 1 MiB")


def test_a_program_that_is_not_there(tmp_path: Path) -> None:
    """Is a complaint as any other."""
    ((_, ran),) = run_all([Job(command=("/nowhere/helm",), folder=tmp_path)], tmp_path)
    assert ran.complaint == "/nowhere/helm cannot be run: No such file or directory"


def test_nobody_asks_for_more(tmp_path: Path) -> None:
    """Then what still runs is ended, as by an interrupt."""
    scripts = [f"while :; do echo >> {tmp_path}/beat; done", f"until [ -s {tmp_path}/beat ]; do :; done"]
    jobs = [Job(command=("/bin/sh", "-c", script), folder=tmp_path) for script in scripts]
    running = run_all(jobs, tmp_path, at_once=2)
    assert next(running)[0] == 1
    cast("Generator[object]", running).close()
    assert _is_still(tmp_path / "beat")


def test_what_a_program_is_told(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Nothing of the user's environment: no PATH, no kubeconfig, no home; and every proxy leads nowhere."""
    monkeypatch.setenv("AWS_SECRET_ACCESS_KEY", "x")
    told = environment(tmp_path)
    assert "AWS_SECRET_ACCESS_KEY" not in told
    own = ("PATH", "HOME", "HELM_PLUGINS", "XDG_CONFIG_HOME", "TMPDIR")
    assert {told[name] for name in own} == {str(tmp_path)}
    assert not Path(told["KUBECONFIG"]).exists()
    assert {told[name] for name in ("HTTP_PROXY", "https_proxy", "ALL_PROXY")} == {"http://127.0.0.1:9"}


@pytest.mark.parametrize(
    ("text", "complaint"),
    [
        ("", ""),
        ("# Warning: 'bases' is deprecated\n\nerror: no such file\nmore", "no such file"),
        ('E1122 12:27:27.777968   18879 run.go:72] "command failed" err="no \\"x\\""', 'no "x"'),
        ('E1122 12:27:27.777968   18879 run.go:72] "command failed" err=<\n\tno patch:\n\tx: 1\n >', "no patch: x: 1"),
        ("WARNING: Kubernetes configuration file is group-readable\nError: chart not found", "chart not found"),
        ("2026/01/01 10:00:00 Starlark failed to allocate 4GB\nError: chart not found", "chart not found"),
        ("x" * 1000, "x" * 400 + "…"),
        ("# only\n# comments", ""),
    ],
)
def test_what_is_taken_from_complaints(text: str, complaint: str) -> None:
    """The line of an error, or the first one that says something, without what programs write around it."""
    assert complaint_in(text) == complaint
