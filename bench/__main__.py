"""Measure the installed command, and print each measurement beside its budget (`make bench`).

`python -m bench [GROUP...]` prints some of the groups only: `start` is what everybody waits for, `gateway` one Gateway
with many routes, `worlds` has much of one thing in each of its worlds, `repository` is a tree of many files.
"""

from __future__ import annotations

import compileall
import json
import math
import os
import shlex
import sys
import sysconfig
import tempfile
from dataclasses import dataclass
from itertools import chain, repeat
from pathlib import Path
from typing import TYPE_CHECKING, Final

from bench.repositories import FLUX, Repository
from bench.teams import documents, reported
from bench.worlds import GATEWAYS, WORLDS, under_one_policy, written

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

    from bench.worlds import World

PYTHON: Final = sys.executable
COMMAND: Final = str(Path(PYTHON).parent / "kubectl-policy")
SOURCES: Final = Path(__file__).parent.parent / "src"
# In a folder, what is no manifest may have tags that only its own program knows.
LOAD_EVERYTHING: Final = """
import contextlib, pathlib, sys, yaml
top = pathlib.Path(sys.argv[1])
for path in sorted(top.rglob("*.yaml")) if top.is_dir() else [top]:
    with path.open("rb") as file, contextlib.suppress(yaml.constructor.ConstructorError):
        list(yaml.load_all(file, Loader=yaml.CSafeLoader))
"""
GROUPS: Final = ("start", "gateway", "worlds", "repository")
# What takes longer is not measured: seconds of CPU.
LIMIT: Final = 30
# Answered, and answered as far as could be seen; 1 is what a difference ends with, and a crash as well.
ANSWERED: Final = (0, 4)


@dataclass(frozen=True, kw_only=True)
class Measurement:
    """One process, or the best of several runs of it: the CPU time that it took, in seconds, and its peak memory."""

    seconds: float
    mebibytes: float


@dataclass(frozen=True, kw_only=True)
class Comparison:
    """A command, what it is measured against, and the ratio of their times that it may reach."""

    title: str
    command: tuple[str, ...]
    against: str
    baseline: tuple[str, ...]
    budget: float
    runs: int


def _compile() -> None:
    """Compile what is installed and what is measured, as installing a wheel does."""
    compileall.compile_dir(sysconfig.get_path("purelib"), quiet=2)
    compileall.compile_dir(SOURCES, quiet=2)


def _run(command: tuple[str, ...]) -> Measurement | None:
    """Run once, without its output; None if it takes too long. A command that fails ends everything."""
    # Python may keep what it compiles: else every start would compile anew.
    environment = {name: value for name, value in os.environ.items() if name != "PYTHONDONTWRITEBYTECODE"}
    limited = ("/bin/sh", "-c", f'ulimit -t {LIMIT}; exec "$@"', "sh", *command)
    silence = [(os.POSIX_SPAWN_OPEN, stream, os.devnull, os.O_WRONLY, 0) for stream in (1, 2)]
    _, status, usage = os.wait4(os.posix_spawn(limited[0], limited, environment, file_actions=silence), 0)
    if os.WIFSIGNALED(status):
        return None
    if os.waitstatus_to_exitcode(status) not in (*ANSWERED, *([1] if "diff" in command else ())):
        sys.exit(f"bench: this command failed: {shlex.join(command)}")
    # macOS counts bytes where Linux counts KiB (getrusage(2)).
    mebibytes = usage.ru_maxrss / (2**20 if sys.platform == "darwin" else 2**10)
    return Measurement(seconds=usage.ru_utime + usage.ru_stime, mebibytes=mebibytes)


def _best(runs: Iterable[Measurement | None]) -> Measurement | None:
    measured = [run for run in runs if run]
    if not measured:
        return None
    return Measurement(seconds=min(run.seconds for run in measured), mebibytes=min(run.mebibytes for run in measured))


def _write_world(folder: Path, size: int, world: Callable[[int], Iterator[str]] = documents) -> str:
    path = folder / f"{size}-{world.__name__}.yaml"
    if not path.exists():
        with path.open("w", encoding="utf-8") as file:
            file.writelines(written(world(size)))
    return str(path)


def _write_profiles(folder: Path, count: int) -> str:
    """Profiles of kinds that no world has, as JSON, which is YAML as well."""
    kind = {"class": "inherited", "strategy": "Patch defaults", "evidence": ["the documentation of the kind"]}
    path = folder / "profiles.yaml"
    path.write_text(json.dumps({"group": "absent.example.io", "kinds": {f"Kind{n}": kind for n in range(count)}}))
    return str(path)


def _load(path: str) -> tuple[str, ...]:
    return (PYTHON, "-c", LOAD_EVERYTHING, path)


def _comparisons(folder: Path) -> Iterator[Comparison]:
    small, large = _write_world(folder, 30), _write_world(folder, 10_000)
    seen = _write_world(folder, 10_000, reported)
    together = _write_world(folder, 10_000, under_one_policy)
    bare = (PYTHON, "-c", "pass")
    describe = (COMMAND, "describe", "httproute/route-0", "-n", "team-0", "--offline")
    with_profiles = (*describe, small, "--profiles", _write_profiles(folder, 10))
    listing, checking = ((COMMAND, *words, "-A", "--offline") for words in (("get", "policies"), ("status",)))
    spread = (COMMAND, "blast-radius", "retrypolicy/everywhere", "-n", "team", "--offline", together)
    for title, command, against, baseline, budget, runs in (
        ("--help", (COMMAND, "--help"), "bare python", bare, 8, 20),
        ("describe, 30 objects", (*describe, small), "bare python", bare, 12, 20),
        ("with 10 absent profiles", with_profiles, "without", (*describe, small), 1.1, 20),
        ("get policies, 10,000", (*listing, large), "bare python", bare, 400, 3),
        ("status, 10,000", (*checking, seen), "get policies", (*listing, seen), 2, 3),
        ("describe, 10,000 objects", (*describe, large), "CSafeLoader", _load(large), 1.2, 3),
        ("blast-radius, 10,000", spread, "CSafeLoader", _load(together), 2, 3),
    ):
        yield Comparison(title=title, command=command, against=against, baseline=baseline, budget=budget, runs=runs)


def _compared(comparison: Comparison) -> str:
    """The line of a comparison; the two are run in turns so that a busy moment of the machine meets both."""
    pairs = [(_run(comparison.baseline), _run(comparison.command)) for _ in repeat(None, comparison.runs)]
    baseline, command = _best(pair[0] for pair in pairs), _best(pair[1] for pair in pairs)
    if baseline is None or command is None:
        return f"{comparison.title:<26}{f'> {LIMIT} s':>11}"
    ratio = command.seconds / baseline.seconds
    verdict = "ok" if ratio <= comparison.budget else "OVER"
    return (
        f"{comparison.title:<26}{command.seconds * 1000:>8.0f} ms{command.mebibytes:>8.0f} MiB"
        f"{ratio:>9.2f} x {comparison.against:<12}{comparison.budget:>8} x   {verdict}"
    )


def _growths(folder: Path, worlds: Iterable[World | Repository]) -> Iterator[str]:
    """A table for each world: what its commands take at two sizes, and how that grows."""
    for world in worlds:
        if isinstance(world, Repository):
            small, large = (str(world.write(folder / f"{size}-{world.name}", size)) for size in world.sizes)
            about = world.files.__doc__
        else:
            small, large = (_write_world(folder, size, world.documents) for size in world.sizes)
            about = world.documents.__doc__
        reading = _run(_load(large))
        yield f"\n{world.name}: {(about or '').partition('.')[0]}"
        yield f"{'':<58}{world.sizes[0]:>10,}{world.sizes[1]:>10,}{'peak':>10}{'exponent':>10}{'CSafeLoader':>13}"
        for command in world.commands:
            words = (COMMAND, *shlex.split(command), "--offline")
            first = _run((*words, small))
            second = _run((*words, large)) if first else None
            yield _growth(world, command, (first, second), reading)


def _growth(
    world: World | Repository,
    command: str,
    runs: tuple[Measurement | None, Measurement | None],
    reading: Measurement | None,
) -> str:
    first, second = runs
    times = "".join(f"{run.seconds:>8.2f} s" if run else f"{f'> {LIMIT}':>8} s" for run in (first, second))
    if not (first and second and reading):
        return f"{command:<58}{times}"
    exponent = math.log(second.seconds / first.seconds) / math.log(world.sizes[1] / world.sizes[0])
    ratio = second.seconds / reading.seconds
    budget = f" of {world.budget} x" if world.budget else ""
    verdict = ("  ok" if ratio <= world.budget else "  OVER") if world.budget else ""
    return f"{command:<58}{times}{second.mebibytes:>6.0f} MiB{exponent:>10.2f}{ratio:>11.2f} x{budget}{verdict}"


def main(groups: Iterable[str]) -> None:
    """Print the tables, a line as soon as it is known; a budget that is exceeded is shown, and is not a failure."""
    chosen = list(groups) or GROUPS
    if not set(chosen) <= set(GROUPS):
        sys.exit(f"bench: the groups are {', '.join(GROUPS)}")
    _compile()
    with tempfile.TemporaryDirectory() as folder:
        if "start" in chosen:
            print(f"{'':<26}{'time':>11}{'peak':>12}{'measured':>11} {'against':<12}{'budget':>10}")
            for comparison in _comparisons(Path(folder)):
                print(_compared(comparison), flush=True)
        tables: dict[str, tuple[World | Repository, ...]] = {
            "gateway": GATEWAYS,
            "worlds": WORLDS,
            "repository": (FLUX,),
        }
        worlds = chain.from_iterable(worlds for group, worlds in tables.items() if group in chosen)
        for line in _growths(Path(folder), worlds):
            print(line, flush=True)


if __name__ == "__main__":
    main(sys.argv[1:])
