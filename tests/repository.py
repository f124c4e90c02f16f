"""A git repository for tests, made by git itself and independent of whoever runs them."""

from __future__ import annotations

import os
import subprocess
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from pathlib import Path

    import pytest

CM: Final = "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: %s}\n"
_SOMEBODY: Final = {
    f"GIT_{role}_{what}": value
    for role in ("AUTHOR", "COMMITTER")
    for what, value in (("NAME", "Somebody"), ("EMAIL", "somebody@example.com"), ("DATE", "2026-01-01T00:00:00Z"))
}


class Repository:
    """A repository on branch `main`, without any commit."""

    def __init__(self, folder: Path, *options: str) -> None:
        """Make the folder, and the repository in it."""
        folder.mkdir(parents=True)
        self.folder = folder
        self.git("init", "--quiet", "--initial-branch=main", *options)

    def git(self, *arguments: str | bytes, data: bytes = b"", fails: bool = False) -> str:
        """What a git command prints. It must not fail unless it is to."""
        done = subprocess.run(  # noqa: S603 (our own arguments)
            ["git", *arguments],  # noqa: S607 (whichever git there is)
            cwd=self.folder,
            env={**os.environ, **_SOMEBODY, "GIT_CONFIG_GLOBAL": os.devnull, "GIT_CONFIG_SYSTEM": os.devnull},
            input=data,
            capture_output=True,
            check=False,
        )
        assert (done.returncode != 0) == fails, done.stderr.decode(errors="replace")
        return done.stdout.decode(errors="surrogateescape").strip()

    def write(self, path: str, content: str | bytes) -> None:
        """Write a file, and the folders that it is in."""
        file = self.folder / path
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_bytes(content if isinstance(content, bytes) else content.encode())

    def link(self, path: str, target: str) -> None:
        """Make a symbolic link."""
        (self.folder / path).symlink_to(target)

    def commit(self) -> str:
        """Commit everything, and give the commit's id."""
        self.git("add", "--all", "--force")
        self.git("commit", "--quiet", "--allow-empty", "--message=x")
        return self.git("rev-parse", "HEAD")

    def blob(self, content: bytes) -> str:
        """Store a file's content, in no folder yet, and give its id."""
        return self.git("hash-object", "-w", "--stdin", data=content)

    def tree(self, *entries: tuple[str, str, bytes]) -> str:
        """Store a folder of entries (mode, id, name), however odd they are, and give its id."""
        data = b"".join(
            mode.lstrip("0").encode() + b" " + name + b"\0" + bytes.fromhex(key) for mode, key, name in entries
        )
        return self.git("hash-object", "-t", "tree", "--literally", "-w", "--stdin", data=data)


def alone(folder: Path, monkeypatch: pytest.MonkeyPatch) -> Repository:
    """The repository that git finds in a folder, whatever is around that and in the environment."""
    for name in [name for name in os.environ if name.startswith("GIT_")]:
        monkeypatch.delenv(name)
    monkeypatch.setenv("GIT_CEILING_DIRECTORIES", str(folder))
    return Repository(folder / "repository")
