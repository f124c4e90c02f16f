"""Git, called to look something up: without a shell, a connection, a lock or a question, and writing nothing."""

from __future__ import annotations

import errno
import os
import re
import shutil
import subprocess
from typing import IO, TYPE_CHECKING, Final, NamedTuple, Self, cast

from kubectl_policy.errors import SourceError

if TYPE_CHECKING:
    from collections.abc import Iterator

# What the user's own environment says (GIT_DIR, GIT_INDEX_FILE in a hook) holds; this is what it cannot say otherwise.
_ENVIRONMENT: Final = {
    # Two locks on one door: objects that a partial clone lacks must not be fetched by whatever git there is.
    "GIT_ALLOW_PROTOCOL": "",
    "GIT_NO_LAZY_FETCH": "1",
    "GIT_LITERAL_PATHSPECS": "0",
    "GIT_OPTIONAL_LOCKS": "0",
    "GIT_TERMINAL_PROMPT": "0",
    "LC_ALL": "C",
}
# A repository may name a program that is asked which files have changed.
_SETTINGS: Final = ("--no-pager", "-c", "core.fsmonitor=false")
_ID: Final = re.compile(r"[0-9a-f]{40,64}")
# `cat-file --batch` answers with an id, a type and a size, or with an id and why there is none.
_HEADER: Final = 3


class Answer(NamedTuple):
    """What git printed, without the last line break; `complaint` is empty unless it failed."""

    out: str
    complaint: str = ""


class Staged(NamedTuple):
    """An entry of the index; those with a stage other than "0" are sides of a conflict."""

    mode: str
    object_id: str
    stage: str
    path: str


def ask(*arguments: str) -> Answer:
    """The answer of a git command. Raises SourceError if git is not installed."""
    command = (_executable(), *_SETTINGS, *arguments)
    environment = {**os.environ, **_ENVIRONMENT}
    try:
        done = subprocess.run(  # noqa: S603 (no shell, and whatever a user names stands behind --end-of-options)
            command, env=environment, stdin=subprocess.DEVNULL, capture_output=True, check=False
        )
    except (OSError, ValueError) as error:
        # An argument that no process can be given, such as one with a NUL.
        return Answer("", str(error))
    if done.returncode:
        return Answer("", _text(done.stderr).strip().partition("\n")[0].removeprefix("fatal: ") or "git failed")
    return Answer(_text(done.stdout).removesuffix("\n"))


def tree_of(revision: str) -> str:
    """The id of the tree of a revision; empty if there is no such revision, or no repository."""
    found = ask("rev-parse", "--verify", "--quiet", "--end-of-options", f"{revision}^{{tree}}").out
    # `^main` is not what anybody means, but git understands it.
    return found if _ID.fullmatch(found) else ""


def staged() -> Iterator[Staged]:
    """The entries of the index; none if there is no repository."""
    for entry in filter(None, ask("ls-files", "--stage", "-z", "--full-name", "--", ":/").out.split("\0")):
        about, _, path = entry.partition("\t")
        mode, object_id, stage = about.split(" ")
        yield Staged(mode, object_id, stage, path)


def _executable() -> str:
    found = shutil.which("git")
    if found is None:
        raise SourceError(
            "git is not installed, and a revision cannot be read without it",
            "install git, or check the revision out and name the folder",
        )
    return found


def _text(data: bytes) -> str:
    """Names may be anything; Python's file names keep what is not UTF-8 in the same way."""
    return data.decode("utf-8", "surrogateescape")


class Objects:
    """The contents of git's objects by their ids, from one process that is asked for one after the other."""

    def __init__(self) -> None:
        """Start nothing before something is asked for."""
        self._process: subprocess.Popen[bytes] | None = None

    def __enter__(self) -> Self:
        """Close it when the block is left."""
        return self

    def __exit__(self, *_: object) -> None:
        """End the process."""
        self._close()

    def read(self, object_id: str, limit: int) -> bytes:
        """The content of an object, and no more of it than the limit and one byte. Raises OSError if it is not here."""
        process = self._process = self._process or self._start()
        try:
            return self._read(process, object_id, limit)
        except BrokenPipeError:
            self._close()
            raise OSError(errno.EIO, "git gave up on it: see `git fsck`") from None

    def _read(self, process: subprocess.Popen[bytes], object_id: str, limit: int) -> bytes:
        to_git, from_git = cast("IO[bytes]", process.stdin), cast("IO[bytes]", process.stdout)
        to_git.write(f"{object_id}\n".encode())
        to_git.flush()
        header = from_git.readline().split()
        if not header:
            raise BrokenPipeError
        if len(header) != _HEADER:
            raise OSError(errno.EIO, "its content is not in this clone of the repository")
        size = int(header[2])
        # A line break follows the content.
        wanted = min(size, limit) + 1
        data = from_git.read(wanted)
        if len(data) < wanted:
            raise BrokenPipeError
        if size > limit:
            # What is left of it would stand before the next answer.
            self._close()
            return data
        return data[:size]

    @staticmethod
    def _start() -> subprocess.Popen[bytes]:
        return subprocess.Popen(  # noqa: S603 (no shell, and nothing in it that a user names)
            (_executable(), *_SETTINGS, "cat-file", "--batch"),
            env={**os.environ, **_ENVIRONMENT},
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
        )

    def _close(self) -> None:
        process, self._process = self._process, None
        if process:
            process.kill()
            process.communicate()
