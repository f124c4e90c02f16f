"""Jobs: programs with arguments and files, each run by a thread that limits its time, memory and output.

What is rendered comes from strangers. So a program sees copies of files and an environment of its own, and it is ended
with everything that it started.
"""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from threading import Lock, Thread
from time import monotonic
from typing import IO, TYPE_CHECKING, Final

from msgspec import Struct

from kubectl_policy.sources.files.tree import reason_of
from kubectl_policy.sources.programs.inputs import InputsError

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path
    from queue import SimpleQueue

    from kubectl_policy.sources.programs.inputs import Inputs

FOLDER: Final = "\0folder"
"""The text that stands for the folder with the inputs in the arguments of a job."""
TIME_LIMIT: Final = 60.0
# What an API server could hold of one root is far less; a template may print for ever.
MAX_OUTPUT: Final = 64 * 2**20
# A template that fills the memory would take the machine with it.
_MAX_MEMORY: Final = 4 * 2**30


class Job(Struct, frozen=True, kw_only=True):
    """Program with arguments and files."""

    command: tuple[str, ...]
    """The path of the program, and its arguments, in which `FOLDER` is replaced."""
    inputs: Inputs
    """The files that the program sees."""
    folder: str
    """The folder of the inputs in which it works."""
    helpers: tuple[str, ...] = ()
    """The paths of other programs that it may start."""
    codes: tuple[int, ...] = (0,)
    """The exit codes with which its output counts."""
    limit: float = TIME_LIMIT
    """The number of seconds that it may take."""
    context: str = ""
    """A text that changes with everything else that the output depends on, such as a cache of the program."""


class ProgramThread(Thread):
    """Thread that writes the files of a job, runs its program and puts itself into a queue.

    An interrupt reaches the main thread alone. Whenever that is, `end` ends the program or keeps it from being started.
    """

    def __init__(
        self, job: Job, folder: Path, environment: Mapping[str, str], ended: SimpleQueue[ProgramThread]
    ) -> None:
        """Prepare a job whose files are written into a folder that does not exist yet."""
        super().__init__(daemon=True)
        self.until = monotonic() + job.limit
        """The time at which the program has taken too long."""
        self.out = self.err = b""
        self.code = -1
        self.problem = ""
        """The reason for which nothing that it printed counts; empty if there is none but its exit code."""
        self.job, self.folder, self._environment, self._ended = job, folder, environment, ended
        self._lock = Lock()
        self._popen: subprocess.Popen[bytes] | None = None

    def run(self) -> None:
        """Run the program to its end."""
        try:
            self.job.inputs.write_all(self.folder)
            self._run_program()
        except InputsError as error:
            self.end(error.message)
        except (OSError, ValueError) as error:
            self.end(reason_of(error).replace("cannot be read", f"{self.job.command[0]} cannot be run"))
        finally:
            shutil.rmtree(self.folder, ignore_errors=True)
            self._ended.put(self)

    def end(self, problem: str) -> None:
        """End the program with everything that it started, or keep it from being started; the first problem counts."""
        with self._lock:
            self.problem = self.problem or problem
            if self._popen:
                _kill(self._popen)

    def _run_program(self) -> None:
        working_folder = self.folder / self.job.folder
        working_folder.mkdir(parents=True, exist_ok=True)
        with self._lock:
            if self.problem:
                return
            popen = self._popen = subprocess.Popen(  # noqa: S603 (no shell; arguments are ours, but for names after flags)
                [argument.replace(FOLDER, str(self.folder)) for argument in self.job.command],
                cwd=working_folder,
                env=self._environment,
                stdin=subprocess.DEVNULL,
                stdout=subprocess.PIPE,
                stderr=subprocess.PIPE,
                # What it starts itself is ended with it.
                start_new_session=True,
            )
        _limit_memory(popen.pid)
        with popen, ThreadPoolExecutor(2) as pool:
            out, err = (pool.submit(self._read, stream) for stream in (popen.stdout, popen.stderr))
            self.code = popen.wait()
            # Something that it started may still hold its streams.
            _kill(popen)
            self.out, self.err = out.result(), err.result()

    def _read(self, stream: IO[bytes] | None) -> bytes:
        data = stream.read(MAX_OUTPUT + 1) if stream else b""
        if len(data) > MAX_OUTPUT:
            self.end(f"it printed more than {MAX_OUTPUT >> 20} MiB")
        return data


def _kill(popen: subprocess.Popen[bytes]) -> None:
    with suppress(ProcessLookupError, PermissionError):
        if sys.platform == "win32":
            popen.kill()
        else:
            os.killpg(popen.pid, signal.SIGKILL)


def _limit_memory(process: int) -> None:
    """Refuse a program more memory than this, where the kernel can."""
    try:
        from resource import RLIMIT_AS, prlimit  # noqa: PLC0415 (not everywhere)
    except ImportError:
        return
    # It may have ended already.
    with suppress(OSError, ValueError):
        prlimit(process, RLIMIT_AS, (_MAX_MEMORY, _MAX_MEMORY))
