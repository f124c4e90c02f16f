"""Programs that render, as child processes in copies of files: no network, a time limit, and limited output.

What they are told to render comes from strangers. So they see an environment of their own, in which no other program is
to be found and no server can be reached, and none of them outlives this process.
"""

from __future__ import annotations

import os
import posixpath
import re
import shutil
import signal
import subprocess
import time
from contextlib import ExitStack, contextmanager, suppress
from functools import cache
from tempfile import TemporaryFile
from typing import IO, TYPE_CHECKING, Final

from msgspec import Struct

from kubectl_policy.errors import PolicyError
from kubectl_policy.sources.files.tree import reason_of

if TYPE_CHECKING:
    from collections.abc import Generator, Iterable, Iterator, Mapping
    from pathlib import Path

    from kubectl_policy.sources.files.tree import FileTree

# What is copied for one build or release.
MAX_FILES: Final = 200_000
MAX_BYTES: Final = 2**30
_MAX_DEPTH: Final = 64
# What is in there is no part of what is deployed.
_NEVER: Final = frozenset({".git", ".hg", ".svn"})
TIME_LIMIT: Final = 60.0
# What an API server could hold of one root is far less; a template may print for ever.
MAX_OUTPUT: Final = 64 * 2**20
# A template that fills the memory would take the machine with it.
_MAX_MEMORY: Final = 4 * 2**30
_MAX_PROCESSES: Final = 4
_POLL: Final = 0.004
_MAX_COMPLAINT: Final = 400
# Nothing listens there, so that whatever asks for a server is refused at once.
_SYSTEM: Final = "/usr/bin:/bin"
_NOWHERE: Final = "http://127.0.0.1:9"
# What klog writes in front of a message, and what kubectl says around it.
_PREAMBLE: Final = re.compile(r'^[EWIF]\d{4} [^\]]*\] |^"command failed" err=|^(?i:error): ')


class CopyError(PolicyError):
    """Something is too large, or too odd, to be copied."""


class Copy:
    """A folder with copies of some files of a tree, at the paths that they have there."""

    def __init__(self, tree: FileTree, folder: Path) -> None:
        """Start without any copies."""
        self._tree, self.folder = tree, folder
        self._bytes = 0
        self._taken: set[str] = set()

    def copy_file(self, path: str) -> None:
        """Copy a file, unless it is there; what cannot be read is not copied. Raises CopyError for too much."""
        if path in self._taken:
            return
        try:
            data = self._tree.read(path, MAX_BYTES - self._bytes)
        except (OSError, ValueError):
            return
        self._bytes += len(data)
        if len(self._taken) >= MAX_FILES or self._bytes > MAX_BYTES:
            raise CopyError(f"more than {MAX_FILES:,} files or {MAX_BYTES >> 20} MiB are needed to render it")
        self.write(path, data)

    def copy_folder(self, folder: str) -> None:
        """Copy everything in a folder and below it."""
        folders = [(folder, 0)]
        while folders:
            subfolder, depth = folders.pop()
            for name in self._tree.names(subfolder) if depth < _MAX_DEPTH else ():
                path = posixpath.join(subfolder, name)
                kind = self._tree.kind(path) if name not in _NEVER else ""
                if kind == "file":
                    self.copy_file(path)
                elif kind:
                    folders.append((path, depth + 1))
            if len(folders) > MAX_FILES:
                raise CopyError(f"more than {MAX_FILES:,} folders are needed to render it")

    def write(self, tree_path: str, data: bytes | str) -> None:
        """Write a file, unless it is there; then none is copied there later."""
        if tree_path in self._taken:
            return
        self._taken.add(tree_path)
        path = self.folder / tree_path
        try:
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(data.encode("utf-8", "surrogateescape") if isinstance(data, str) else data)
        except (OSError, ValueError) as error:
            raise CopyError(f"it cannot be copied: {error}") from None

    def renamed(self, message: str) -> str:
        """Replace the paths of copies in a message of a program by the names of the files."""
        path = re.escape(str(self.folder)) + r"([^\s'\":]*)"
        return re.sub(path, lambda match: self._tree.source(match[1].strip("/")) or ".", message)


class Job(Struct, frozen=True, kw_only=True):
    """A program to run in a folder: its path, and what it is told."""

    command: tuple[str, ...]
    folder: Path


class ProgramOutput(Struct, frozen=True, kw_only=True):
    """Output of a program; `complaint` is the reason for which there is none, empty if it ended well."""

    out: str = ""
    complaint: str = ""


def find_program(name: str) -> str:
    """Return the path of a program that is installed; empty if it is not."""
    return os.path.abspath(path) if (path := shutil.which(name)) else ""  # noqa: PTH100 (links may tell what to be)


def run_all(
    jobs: Iterable[Job],
    home: Path,
    *,
    limit: float = TIME_LIMIT,
    at_once: int = 0,
) -> Iterator[tuple[int, ProgramOutput]]:
    """Run programs, some at a time, with a folder to call their home; what each printed, as they end, by number.

    A job is asked for when there is room to start it. What still runs when nobody asks for more is ended.
    """
    max_processes = at_once or min(_MAX_PROCESSES, os.cpu_count() or 1)
    waiting = iter(enumerate(jobs))
    running: list[_Process] = []
    try:
        has_next = True
        while has_next or running:
            while has_next and len(running) < max_processes:
                following = next(waiting, None)
                has_next = following is not None
                if following:
                    with _uninterrupted():
                        running.append(_Process(*following, home, limit))
            ended = [process for process in running if process.has_ended()]
            for process in ended:
                running.remove(process)
                yield process.number, process.result()
            if running and not ended:
                time.sleep(_POLL)
    finally:
        for process in running:
            process.result()


@contextmanager
def _uninterrupted() -> Generator[None]:
    """Keep interrupts back while a program is started that nobody knows of yet; they count afterwards."""
    before = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)


class _Process:
    """A program that was started."""

    def __init__(self, number: int, job: Job, home: Path, limit: float) -> None:
        self.number = number
        self._until = time.monotonic() + limit
        self._limit = limit
        self._problem = ""
        self._popen: subprocess.Popen[bytes] | None = None
        with ExitStack() as stack:
            self._out: IO[bytes] = stack.enter_context(TemporaryFile(dir=home))
            self._err: IO[bytes] = stack.enter_context(TemporaryFile(dir=home))
            try:
                self._popen = subprocess.Popen(  # noqa: S603 (no shell; arguments are ours, but for names after flags)
                    job.command,
                    cwd=job.folder,
                    env=environment(home, is_script=_is_script(job.command[0])),
                    stdin=subprocess.DEVNULL,
                    stdout=self._out,
                    stderr=self._err,
                    # Whatever it starts itself is ended with it.
                    start_new_session=True,
                )
            except (OSError, ValueError) as error:
                self._problem = reason_of(error).replace("cannot be read", f"{job.command[0]} cannot be run")
            self._streams = stack.pop_all()
        if self._popen:
            _limit_memory(self._popen.pid)

    def has_ended(self) -> bool:
        """Whether it has, by itself or for having gone on too long."""
        if self._popen is None or self._popen.poll() is not None:
            return True
        if time.monotonic() > self._until:
            self._problem = f"it took more than {self._limit:g} seconds"
        elif os.fstat(self._out.fileno()).st_size > MAX_OUTPUT or os.fstat(self._err.fileno()).st_size > MAX_OUTPUT:
            self._problem = f"it printed more than {MAX_OUTPUT >> 20} MiB"
        return bool(self._problem)

    def result(self) -> ProgramOutput:
        """Return the output, or why it did not end well; the program is ended with everything that it started."""
        code = self._end()
        with self._streams:
            out, err = (_content(stream) for stream in (self._out, self._err))
        if self._problem:
            return ProgramOutput(complaint=self._problem)
        if code:
            return ProgramOutput(complaint=complaint_in(err) or f"it ended with code {code}, and did not say why")
        return ProgramOutput(out=out)

    def _end(self) -> int:
        if self._popen is None:
            return 1
        code = self._popen.poll()
        with suppress(ProcessLookupError, PermissionError):
            os.killpg(self._popen.pid, signal.SIGKILL)
        return self._popen.wait() if code is None else code


def environment(home: Path, *, is_script: bool = False) -> Mapping[str, str]:
    """Return the environment of programs: folders of their own, in which nothing is installed."""
    variables = ("HOME", "TMPDIR", "XDG_CACHE_HOME", "XDG_CONFIG_HOME", "XDG_DATA_HOME", "HELM_CACHE_HOME")
    helm = ("HELM_CONFIG_HOME", "HELM_DATA_HOME", "HELM_PLUGINS", "HELM_REPOSITORY_CACHE")
    proxies = ("HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY")
    return {
        **dict.fromkeys((*variables, *helm), str(home)),
        **dict.fromkeys((*proxies, *map(str.lower, proxies)), _NOWHERE),
        # A program that is a script itself needs those of the system; what they could fetch with git, they may not.
        "PATH": _SYSTEM if is_script else str(home),
        "KUBECONFIG": str(home / "none"),
        # Should there be a git after all, it fetches nothing.
        "GIT_ALLOW_PROTOCOL": "",
        "GIT_TERMINAL_PROMPT": "0",
        "GOMAXPROCS": "2",
        "LC_ALL": "C",
        **{name: os.environ[name] for name in ("SYSTEMROOT",) if name in os.environ},
    }


@cache
def _is_script(path: str) -> bool:
    """Whether a program is run by another one, which is looked for where programs of the system are."""
    try:
        with open(path, "rb") as file:  # noqa: PTH123 (the path is text, and no more of it is read)
            return file.read(2) == b"#!"
    except OSError:
        return False


def complaint_in(text: str) -> str:
    """Return the first meaningful line of a program's complaints, no longer than a message may be.

    A line that is called an error says it before others that only came earlier.
    """
    lines = (line.strip() for line in text.splitlines())
    complaints = [line for line in lines if line and not re.match(r"#|(?i:warning|level=warn|coalesce)", line)]
    if not complaints:
        return ""
    line = first = next((line for line in complaints if line.lower().startswith("error:")), complaints[0])
    while (shorter := _PREAMBLE.sub("", line)) != line:
        line = shorter
    if line == "<":
        # klog writes a message of several lines so, up to `>`.
        line = " ".join(complaints[complaints.index(first) + 1 :]).removesuffix(" >")
    if line.startswith('"') and line.endswith('"') and len(line) > 1:
        line = line[1:-1].replace('\\"', '"')
    return line if len(line) <= _MAX_COMPLAINT else f"{line[:_MAX_COMPLAINT]}…"


def _content(stream: IO[bytes]) -> str:
    stream.seek(0)
    return stream.read(MAX_OUTPUT).decode("utf-8", "replace")


def _limit_memory(process: int) -> None:
    """Refuse a program more memory than this, where the kernel can."""
    try:
        from resource import RLIMIT_AS, prlimit  # noqa: PLC0415 (not everywhere)
    except ImportError:
        return
    # It may have ended already.
    with suppress(OSError, ValueError):
        prlimit(process, RLIMIT_AS, (_MAX_MEMORY, _MAX_MEMORY))
