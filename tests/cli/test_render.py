"""`--render` on the command line: what is shown while it goes on, and what an interrupt leaves behind."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from typing import TYPE_CHECKING, Final

import pytest

from kubectl_policy import cli
from tests.repository import Repository
from tests.sources.rendering.trees import SERVICE, kubectl, program, write
from tests.terminals import stderr_at_terminal

if TYPE_CHECKING:
    from pathlib import Path

GET_SERVICES: Final = (sys.executable, "-m", "kubectl_policy", "get", "services")


@pytest.fixture
def tree(tmp_path: Path) -> Path:
    return write(
        tmp_path / "tree",
        {"kustomization.yaml": "resources: [a.yaml]\nnamespace: x\nnamePrefix: p-", "a.yaml": SERVICE % "a"},
    )


def test_progress(tree: Path, tmp_path: Path) -> None:
    program(tmp_path, "kubectl", f"echo '{SERVICE % 'a'}'")
    line = f"rendering 1 of 1: {tree} ..."[:99]
    command = [*GET_SERVICES, "-A", "--render", "--offline", str(tree)]
    assert stderr_at_terminal(command, PATH=str(tmp_path)).startswith(f"\r\x1b[2K{line}\r\x1b[2K")
    assert "rendering" not in stderr_at_terminal(command, PATH=str(tmp_path), TERM="dumb")


@kubectl
def test_it_is_silent_elsewhere(tree: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert cli.run(["get", "services", "-A", "--render", "--offline", str(tree)]) == 0
    out, err = capsys.readouterr()
    assert out.splitlines()[1].split()[:2] == ["x", "p-a"]
    assert "rendering" not in err
    assert "\x1b" not in err


@kubectl
def test_two_revisions(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    """Are compared as they are rendered: nothing changes if a file moves to a base."""
    made = Repository(tmp_path / "repository")
    made.write("app/kustomization.yaml", "namespace: x\nresources: [a.yaml]")
    made.write("app/a.yaml", SERVICE % "a")
    made.commit()
    made.write("base/kustomization.yaml", "resources: [a.yaml]")
    made.git("mv", "app/a.yaml", "base/a.yaml")
    made.write("app/kustomization.yaml", "namespace: x\nresources: [../base]")
    made.commit()
    monkeypatch.chdir(made.folder)
    assert cli.run(["diff", "HEAD~1:app", "HEAD:app", "--render", "--allow-incomplete"]) == 0
    assert "Nothing changes" in capsys.readouterr().out


def test_an_interrupt(tree: Path, tmp_path: Path) -> None:
    """Ends the programs, and leaves no copy behind."""
    temporary, beat, permit = tmp_path / "temporary", tmp_path / "beat", tmp_path / "permit"
    temporary.mkdir()
    permit.touch()
    program(tmp_path, "kubectl", f"while [ -e {permit} ]; do echo >> {beat}; done")
    arguments = [*GET_SERVICES, "--render", "--offline", str(tree)]
    message = {**os.environ, "PATH": str(tmp_path), "TMPDIR": str(temporary)}
    with subprocess.Popen(arguments, env=message, stderr=subprocess.PIPE, stdout=subprocess.PIPE) as process:  # noqa: S603 (our own)
        while not beat.exists() and process.poll() is None:
            time.sleep(0.02)
        assert list(temporary.iterdir())
        process.send_signal(signal.SIGINT)
        assert process.communicate() == (b"", b"")
    assert process.returncode == 130
    assert list(temporary.iterdir()) == []
    size = beat.stat().st_size
    time.sleep(0.2)
    after = beat.stat().st_size
    permit.unlink()
    assert size == after
