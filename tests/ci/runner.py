"""A machine that runs scripts of CI systems: a repository with a change, and the programs that they start."""

from __future__ import annotations

import os
import shlex
import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Final, NamedTuple

import pytest

from tests.repository import Repository

if TYPE_CHECKING:
    from collections.abc import Sequence

# A folder, a branch and a file of whoever means no good; git takes no spaces in the name of a branch.
HOSTILE_FOLDER: Final = "my $(touch pwned); touch pwned; \"'`touch pwned` *"
HOSTILE_BRANCH: Final = "ma$(touch${IFS}pwned);touch${IFS}pwned&\"'`touch${IFS}pwned`"
COMMAND: Final = Path(sys.executable).parent / "kubectl-policy"
# What a script starts in its place, where only what it is told matters.
_ECHO: Final = "#!/bin/sh\nprintf '<%s>\\n' \"$@\"\n"

GATEWAY: Final = """\
apiVersion: gateway.networking.k8s.io/v1
kind: Gateway
metadata: {name: public, namespace: shop}
spec:
  gatewayClassName: public
  listeners: [{name: http, protocol: HTTP, port: 80}]
"""
ROUTE: Final = """\
apiVersion: gateway.networking.k8s.io/v1
kind: HTTPRoute
metadata: {name: %s, namespace: shop}
spec: {parentRefs: [{name: public, sectionName: htps}]}
"""


class Ended(NamedTuple):
    """How a script ended, and what it printed."""

    code: int
    out: str
    err: str


class Runner:
    """A machine in a repository whose branch `main` has one error; on the branch that is checked out, there is another.

    All of it is in a folder with a hostile name. `main` is known as `origin/main` as well, and by a hostile name.
    """

    def __init__(self, folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        """Lay out what a job finds."""
        for name in [name for name in os.environ if name.startswith(("CI", "GIT", "LINT_", "RUNNER"))]:
            monkeypatch.delenv(name)
        self.temp = folder / "temp $(touch pwned)"
        self.bin = self.temp / "kubectl-policy" / "bin"
        self.bin.mkdir(parents=True)
        self.repository = Repository(folder / "work $(touch pwned)")
        self.folder = self.repository.folder
        self.repository.write(f"{HOSTILE_FOLDER}/gateway.yaml", GATEWAY)
        self.repository.write(f"{HOSTILE_FOLDER}/old.yaml", ROUTE % "old")
        self.base = self.repository.commit()
        for branch in ("main", HOSTILE_BRANCH):
            self.repository.git("update-ref", f"refs/remotes/origin/{branch}", self.base)
        self.repository.write(f"{HOSTILE_FOLDER}/new.yaml", ROUTE % "new")
        self.head = self.repository.commit()
        self.repository.git("update-ref", "refs/remotes/origin/ahead", self.head)

    def install(self, *, real: bool) -> None:
        """Put the command where scripts start it, or what prints each word that it is given on a line."""
        self.write(
            self.bin / "kubectl-policy", _ECHO if not real else f'#!/bin/sh\nexec {shlex.quote(str(COMMAND))} "$@"\n'
        )

    def write(self, program: Path, text: str) -> None:
        """Write a program."""
        program.write_text(text, "utf-8")
        program.chmod(0o755)

    def run(self, shell: Sequence[str], script: str, **environment: str) -> Ended:
        """Run a script in the repository. Nothing of it but what it starts by name may run."""
        done = subprocess.run(  # noqa: S603 (our own scripts)
            [*shell, script],
            cwd=self.folder,
            env={**os.environ, "RUNNER_TEMP": str(self.temp), **environment},
            stdin=subprocess.DEVNULL,
            capture_output=True,
            check=False,
        )
        assert not [*self.folder.parent.rglob("pwned")]
        return Ended(done.returncode, done.stdout.decode(), done.stderr.decode())


@pytest.fixture
def runner(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Runner:
    """A machine of its own."""
    return Runner(tmp_path, monkeypatch)
