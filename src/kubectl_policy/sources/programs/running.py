"""Run the programs of jobs, two at once; what a program printed for equal files before comes from the cache."""

from __future__ import annotations

import posixpath
import re
from hashlib import blake2b
from itertools import count
from queue import Empty, SimpleQueue
from time import monotonic
from typing import TYPE_CHECKING, Final, TypeVar

import msgspec
from msgspec import Struct
from msgspec.structs import replace

from kubectl_policy.sources.programs.installed import environment, identity_of, version_of
from kubectl_policy.sources.programs.jobs import FOLDER, ProgramThread
from kubectl_policy.sources.programs.secret_values import without_secret_values

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator
    from pathlib import Path

    from kubectl_policy.sources.programs.cache import Cache
    from kubectl_policy.sources.programs.jobs import Job

_Key = TypeVar("_Key")

_MAX_PROGRAMS: Final = 2
_SECONDS_TO_END: Final = 1.0
# Python notices an interrupt that comes just before it waits only when it stops to wait.
_SECONDS_TO_NOTICE: Final = 1.0
# The innermost folder that holds everything: wherever that is, results are the same.
_ROOT: Final = "\0root"
# To be changed with the form of results, or with what is removed from them.
_FORMAT: Final = "1"
_COPY: Final = re.compile(re.escape(FOLDER) + r"([^\s'\":]*)")
_MAX_COMPLAINT: Final = 400
# What klog writes in front of a message, and what kubectl says around it.
_PREAMBLE: Final = re.compile(r'^[EWIF]\d{4} [^\]]*\] |^"command failed" err=|^(?i:error): ')


class ProgramOutput(Struct, frozen=True, kw_only=True):
    """Texts that a program printed."""

    out: str = ""
    """Its standard output, in which no Secret has values."""
    complaint: str = ""
    """The reason for which there is no output; empty if it ended well."""
    err: str = ""
    """Its standard error, if it ended well."""


class Programs:
    """Runs programs in folders below the one that they take for their home, and keeps their output in a cache.

    Only what ended well is kept: a program may fail for want of time, memory or disk, which its message need not say,
    and would then fail for ever. With network nothing is kept, since servers may answer differently each time.
    """

    def __init__(self, home: Path, *, cache: Cache | None = None, network: bool = False) -> None:
        """Use a folder for everything that programs read or write."""
        self._home, self._network = home, network
        self._cache = cache
        self._versions: dict[str, str] = {}
        self._numbers = count()

    def version_of(self, program: str) -> str:
        """Return the name and version of a program, as in `kustomize 5.7.1`; the name alone if it does not say."""
        if program not in self._versions:
            self._versions[program] = version_of(program, self._home, self._cache)
        return self._versions[program]

    def run(self, jobs: Iterable[tuple[_Key, Job]]) -> Iterator[tuple[_Key, ProgramOutput]]:
        """Yield the output of jobs as they end; a job is asked for when there is room to start it.

        Programs that still run when nobody asks for more are ended, as by an interrupt.
        """
        waiting = iter(jobs)
        running: dict[ProgramThread, tuple[_Key, Job, str]] = {}
        ended: SimpleQueue[ProgramThread] = SimpleQueue()
        try:
            while True:
                while len(running) < _MAX_PROGRAMS and (following := next(waiting, None)):
                    key, job = following
                    digest = self._digest(job)
                    if kept := self._kept(digest):
                        yield key, _renamed(kept, job)
                        continue
                    programs = (job.command[0], *job.helpers)
                    folder = self._home / str(next(self._numbers))
                    thread = ProgramThread(job, folder, environment(self._home, programs, network=self._network), ended)
                    # Before it starts: an interrupt may come at any time.
                    running[thread] = key, job, digest
                    thread.start()
                if not running:
                    return
                thread = _next_ended(running, ended)
                key, job, digest = running.pop(thread)
                yield key, _renamed(self._finish(thread, job, digest), job)
        finally:
            for thread in running:
                thread.end("it was interrupted")
            for thread in filter(ProgramThread.is_alive, running):
                thread.join(_SECONDS_TO_END)

    def _digest(self, job: Job) -> str:
        """Return a digest of everything that makes the output; empty if nothing is to be kept."""
        if self._network or not self._cache:
            return ""
        root = job.inputs.root(job.folder)
        arguments = [argument.replace(_path_of(root), _ROOT) for argument in job.command[1:]]
        parts = [
            _FORMAT,
            [self._identity(program) for program in (job.command[0], *job.helpers)],
            arguments,
            # A path that is not below the root depends on where that is.
            root if any(FOLDER in argument for argument in arguments) else "",
            posixpath.relpath(f"/{job.folder}", f"/{root}"),
            job.codes,
            job.context,
        ]
        return blake2b(msgspec.json.encode(parts) + job.inputs.digest(root), digest_size=20).hexdigest()

    def _identity(self, program: str) -> str:
        version = self.version_of(program)
        return version if " " in version else identity_of(program)

    def _kept(self, digest: str) -> ProgramOutput | None:
        data = self._cache.get(digest) if self._cache and digest else None
        try:
            return msgspec.json.decode(data, type=ProgramOutput) if data else None
        except (msgspec.DecodeError, UnicodeDecodeError):
            return None

    def _finish(self, thread: ProgramThread, job: Job, digest: str) -> ProgramOutput:
        """Return what a program printed, without values of Secrets, and keep it; or why it did not end well."""
        root = job.inputs.root(job.folder)
        out, err = (text.decode("utf-8", "replace") for text in (thread.out, thread.err))
        err = err.replace(str(thread.folder), FOLDER).replace(_path_of(root), _ROOT)
        if thread.problem:
            return ProgramOutput(complaint=thread.problem)
        if thread.code not in job.codes:
            reason = complaint_in(err) or f"it ended with code {thread.code}, and did not say why"
            return ProgramOutput(complaint=reason)
        shortened = without_secret_values(out)
        output = ProgramOutput(out=out if shortened is None else shortened, err=err)
        # Where a Secret cannot be told from its surroundings, all of it stays here.
        if self._cache and digest and shortened is not None:
            self._cache.put(digest, msgspec.json.encode(output))
        return output


def complaint_in(text: str) -> str:
    """Return the first meaningful line of a program's complaints, no longer than a message may be.

    A line that is called an error precedes others that only came earlier.
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
    # Programs that call others say at the beginning what was done, and at the end what is wrong.
    return (
        line if len(line) <= _MAX_COMPLAINT else f"{line[: _MAX_COMPLAINT // 4]} … {line[-_MAX_COMPLAINT * 3 // 4 :]}"
    )


def _next_ended(running: Iterable[ProgramThread], ended: SimpleQueue[ProgramThread]) -> ProgramThread:
    """Wait for the next of some programs, and end the one that takes too long."""
    while True:
        first = min(running, key=lambda thread: thread.until)
        remaining = max(0.0, first.until - monotonic())
        try:
            thread = ended.get(timeout=min(remaining, _SECONDS_TO_NOTICE))
        except Empty:
            if remaining > _SECONDS_TO_NOTICE:
                continue
            thread = first
            thread.end(f"it took more than {thread.job.limit:g} seconds")
        # One that took too long ends a second time.
        if thread in running:
            return thread


def _path_of(root: str) -> str:
    return f"{FOLDER}/{root}" if root else FOLDER


def _renamed(output: ProgramOutput, job: Job) -> ProgramOutput:
    """Replace the paths of copies in messages by the names of the files."""
    path_of_root = _path_of(job.inputs.root(job.folder))

    def renamed(text: str) -> str:
        text = text.replace(_ROOT, path_of_root)
        return _COPY.sub(lambda match: job.inputs.tree.source(match[1].strip("/")) or ".", text)

    return replace(output, complaint=renamed(output.complaint), err=renamed(output.err))
