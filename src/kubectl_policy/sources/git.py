"""Git, asked through its plumbing commands: without a shell, a connection, a lock or a question; nothing is written."""

from __future__ import annotations

import errno
import os
import re
import shutil
import subprocess
from datetime import datetime, timedelta, timezone
from itertools import accumulate
from typing import IO, TYPE_CHECKING, Final, Self, cast

from kubectl_policy.errors import SourceError
from kubectl_policy.model.values import compact, value

if TYPE_CHECKING:
    from collections.abc import Iterator

# What the user's own environment says (GIT_DIR, GIT_INDEX_FILE in a hook) holds; this is what it cannot say otherwise.
_ENVIRONMENT: Final = {
    # Two locks on one door: objects that a partial clone lacks must not be fetched by whatever git there is.
    "GIT_ALLOW_PROTOCOL": "",
    "GIT_NO_LAZY_FETCH": "1",
    "GIT_LITERAL_PATHSPECS": "0",
    # A revision is what it was when it was committed, whatever `git replace` put in its place here.
    "GIT_NO_REPLACE_OBJECTS": "1",
    "GIT_OPTIONAL_LOCKS": "0",
    "GIT_TERMINAL_PROMPT": "0",
    "LC_ALL": "C",
}
# A repository may name a program that is asked which files have changed.
_SETTINGS: Final = ("--no-pager", "-c", "core.fsmonitor=false")
_ID: Final = r"[0-9a-f]{40,64}"
_ZONE: Final = re.compile(r"([+-])([0-9]{2})([0-9]{2})")
FOLDER: Final = "040000"
UNMERGED: Final = "unmerged"
# `cat-file --batch` answers with an id, a type and a size, or with an id and why there is none.
_HEADER: Final = 3


@value()
class Answer:
    """What git printed, without the last line break; `complaint` is empty unless it failed."""

    out: str
    complaint: str = ""


@compact
class Entry:
    """What is at a path in a tree or in the index: its mode, and its id; that of a folder in the index is its path."""

    mode: str
    object_id: str


def ask(*arguments: str) -> Answer:
    """The answer of a git command. Raises SourceError if git is not installed."""
    try:
        done = subprocess.run(  # noqa: S603 (no shell, and whatever a user names stands behind --end-of-options)
            _command(*arguments), env=_environment(), stdin=subprocess.DEVNULL, capture_output=True, check=False
        )
    except (OSError, ValueError) as error:
        # An argument that no process can be given, such as one with a NUL.
        return Answer("", str(error))
    if done.returncode:
        return Answer("", _text(done.stderr).strip().partition("\n")[0].removeprefix("fatal: ") or "git failed")
    return Answer(_text(done.stdout).removesuffix("\n"))


def tree_of(revision: str) -> str:
    """The id of the tree of a revision; empty if there is no such revision, or no repository."""
    tree = ask("rev-parse", "--verify", "--quiet", "--end-of-options", f"{revision}^{{tree}}").out
    # `^main` is not what anybody means, but git understands it.
    return tree if re.fullmatch(_ID, tree) else ""


def listed(tree: str, *options: str, limit: int) -> list[tuple[str, Entry]] | None:
    """What is in a tree by its path there, no more than a limit and one; None where git gives up on it."""
    lines: list[bytes] = [b""]
    with _started("ls-tree", "-z", "--full-tree", *options, tree) as process:
        while len(lines) <= limit + 1 and (data := cast("IO[bytes]", process.stdout).read(2**16)):
            first, *further = data.split(b"\0")
            lines[-1] += first
            lines += further
        too_many = len(lines) > limit + 1
        process.kill() if too_many else process.wait()
    if process.returncode and not too_many:
        return None
    fields = (_text(line).partition("\t") for line in lines[:-1])
    return [(path, Entry(about.split(" ")[0], about.split(" ")[2])) for about, _, path in fields]


def staged() -> Iterator[tuple[str, Entry]]:
    """What is in the index by its path, each folder before what is in it; there is none without a repository."""
    folders: set[str] = set()
    for line in filter(None, ask("ls-files", "--stage", "-z", "--full-name", "--", ":/").out.split("\0")):
        about, _, path = line.partition("\t")
        mode, object_id, stage = about.split(" ")
        for folder in accumulate(path.split("/")[:-1], "{}/{}".format):
            if folder not in folders:
                folders.add(folder)
                yield folder, Entry(FOLDER, folder)
        # Those of other stages are sides of a conflict.
        yield path, Entry(mode if stage == "0" else UNMERGED, object_id)


def time_of(seconds: str, zone: str) -> str:
    """A time in a commit (`1767225600 +0100`) as ISO 8601 has it; empty for what is no time."""
    parts = _ZONE.fullmatch(zone)
    try:
        offset = timedelta(hours=int(parts[2]), minutes=int(parts[3])) if parts else timedelta()
        in_zone = timezone(-offset if parts and parts[1] == "-" else offset)
        return datetime.fromtimestamp(int(seconds), in_zone).isoformat()
    except (ValueError, OverflowError, OSError):
        return ""


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
        process = self._process = self._process or _started("cat-file", "--batch")
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

    def _close(self) -> None:
        process, self._process = self._process, None
        if process:
            process.kill()
            process.communicate()


def _started(*arguments: str) -> subprocess.Popen[bytes]:
    """A git command that is talked with."""
    return subprocess.Popen(  # noqa: S603 (no shell, and nothing in it that a user names)
        _command(*arguments),
        env=_environment(),
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
    )


def _command(*arguments: str) -> tuple[str, ...]:
    git = shutil.which("git")
    if git is None:
        raise SourceError(
            "git is not installed, and a revision cannot be read without it",
            "install git, or check the revision out and name the folder",
        )
    return (git, *_SETTINGS, *arguments)


def _environment() -> dict[str, str]:
    return {**os.environ, **_ENVIRONMENT}


def _text(data: bytes) -> str:
    """Names may be anything; Python's file names keep what is not UTF-8 in the same way."""
    return data.decode("utf-8", "surrogateescape")
