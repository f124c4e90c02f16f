"""One process and what it takes: CPU time and peak memory."""

from __future__ import annotations

import os
import shlex
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Final

from bench.worlds import written

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterable, Iterator

PYTHON: Final = sys.executable
COMMAND: Final = str(Path(PYTHON).parent / "kubectl-policy")
# What takes longer is not measured: seconds of CPU.
LIMIT: Final = 30
# Answered, and answered as far as could be seen; 1 is what a difference ends with, and a crash as well.
_ANSWERED: Final = (0, 4)


@dataclass(frozen=True, kw_only=True)
class Measurement:
    """One process, or the best of several runs of it: its seconds, of CPU or by the clock, and its peak memory."""

    seconds: float
    mebibytes: float


def run(command: tuple[str, ...]) -> Measurement | None:
    """Run once, without its output; None if it takes too long. A command that fails ends everything."""
    # Python may keep what it compiles: else every start would compile anew.
    environment = {name: value for name, value in os.environ.items() if name != "PYTHONDONTWRITEBYTECODE"}
    limited = ("/bin/sh", "-c", f'ulimit -t {LIMIT}; exec "$@"', "sh", *command)
    silence = [(os.POSIX_SPAWN_OPEN, stream, os.devnull, os.O_WRONLY, 0) for stream in (1, 2)]
    _, status, usage = os.wait4(os.posix_spawn(limited[0], limited, environment, file_actions=silence), 0)
    if os.WIFSIGNALED(status):
        return None
    if os.waitstatus_to_exitcode(status) not in (*_ANSWERED, *([1] if "diff" in command else ())):
        sys.exit(f"bench: this command failed: {shlex.join(command)}")
    # macOS counts bytes where Linux counts KiB (getrusage(2)).
    mebibytes = usage.ru_maxrss / (2**20 if sys.platform == "darwin" else 2**10)
    return Measurement(seconds=usage.ru_utime + usage.ru_stime, mebibytes=mebibytes)


def least(runs: Collection[Measurement]) -> Measurement:
    """The least that one of several runs took."""
    return Measurement(seconds=min(run.seconds for run in runs), mebibytes=min(run.mebibytes for run in runs))


def best(runs: Iterable[Measurement | None]) -> Measurement | None:
    """The least that one of several runs took; None if each took too long."""
    measured = [run for run in runs if run]
    return least(measured) if measured else None


def write_world(folder: Path, size: int, world: Callable[[int], Iterator[str]]) -> str:
    """The file with a world of a size, written if it is not yet there."""
    path = folder / f"{size}-{world.__name__}.yaml"
    if not path.exists():
        with path.open("w", encoding="utf-8") as file:
            file.writelines(written(world(size)))
    return str(path)
