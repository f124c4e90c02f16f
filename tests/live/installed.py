"""The wheel of this project in a clean environment, where kubectl finds it."""

from __future__ import annotations

import os
import subprocess
import sys
import sysconfig
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Final, NamedTuple

from tests.live.server import ADMIN, BAKER

if TYPE_CHECKING:
    from tests.live.server import Server

ROOT: Final = Path(__file__).parents[2]


class Result(NamedTuple):
    """What came out of a command; whitespace in the texts is no more than a blank, wherever lines are broken."""

    code: int
    out: str
    err: str


@dataclass(frozen=True)
class Installed:
    """An environment with the wheel, and nothing else on the PATH but kubectl and what every system has."""

    folder: Path
    server: Server

    @property
    def programs(self) -> Path:
        """Where the programs of the wheel are."""
        return self.folder / "environment" / "bin"

    def variables(self, *users: str) -> dict[str, str]:
        """The environment of a user with a kubeconfig for each of some users, of which the first is current."""
        kept = {name: value for name, value in self.server.environment().items() if not name.startswith("PYTHON")}
        files = [str(self.server.kubeconfig(user)) for user in users]
        path = [str(self.programs), str(self.folder / "kubectl"), os.defpath]
        return {**kept, "HOME": str(self.folder), "KUBECONFIG": ":".join(files), "PATH": ":".join(path)}

    def run(self, *command: str, users: tuple[str, ...] = (BAKER, ADMIN)) -> Result:
        """What a command does for whom these users are."""
        done = subprocess.run(  # noqa: S603 (our own arguments)
            command,
            env=self.variables(*users),
            cwd=self.folder,
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            timeout=120,
            check=False,
        )
        return Result(done.returncode, " ".join(done.stdout.split()), " ".join(done.stderr.split()))


def installed(folder: Path, server: Server) -> Installed:
    """Build the wheel, and install it into a new environment in a folder.

    No registry is asked: what the wheel depends on is that of the interpreter that runs the tests, from the lock, which
    the new environment also looks into (a `.pth`). Of this project, it has the wheel alone.
    """
    _python("-m", "hatchling", "build", "--target", "wheel", "--directory", str(folder))
    (wheel,) = folder.glob("*.whl")
    _python("-m", "venv", "--without-pip", str(folder / "environment"))
    python = folder / "environment" / "bin" / "python"
    _python("-m", "pip", f"--python={python}", "install", "--quiet", "--no-index", "--no-deps", str(wheel))
    places = sysconfig.get_paths()
    libraries = subprocess.run(  # noqa: S603 (our own arguments)
        [python, "-c", "import sysconfig; print(sysconfig.get_path('purelib'))"],
        capture_output=True,
        text=True,
        check=True,
    )
    (Path(libraries.stdout.strip()) / "dependencies.pth").write_text(f"{places['purelib']}\n{places['platlib']}\n")
    (folder / "kubectl").mkdir()
    (folder / "kubectl" / "kubectl").symlink_to(server.programs.kubectl)
    return Installed(folder, server)


def _python(*arguments: str) -> None:
    done = subprocess.run(  # noqa: S603 (our own arguments)
        [sys.executable, *arguments], cwd=ROOT, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stdout + done.stderr
