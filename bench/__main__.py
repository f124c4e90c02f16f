"""Measure the installed command, and print each measurement beside its budget (`make bench`)."""

from __future__ import annotations

import compileall
import json
import os
import sys
import sysconfig
import tempfile
import time
from itertools import repeat
from pathlib import Path
from typing import TYPE_CHECKING, Final, NamedTuple

from bench.teams import documents, reported
from bench.worlds import under_one_policy

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping

PYTHON: Final = sys.executable
COMMAND: Final = str(Path(PYTHON).parent / "kubectl-policy")
SOURCES: Final = Path(__file__).parent.parent / "src"
LOAD_EVERYTHING: Final = """
import sys, yaml
with open(sys.argv[1], "rb") as file:
    list(yaml.load_all(file, Loader=yaml.CSafeLoader))
"""


class Measurement(NamedTuple):
    """The best of several runs of one process: its wall time in seconds, its peak memory in MiB."""

    seconds: float
    mebibytes: float


class Comparison(NamedTuple):
    """A command, what it is measured against, and the ratio of their times that it may reach."""

    title: str
    command: tuple[str, ...]
    against: str
    baseline: tuple[str, ...]
    budget: float
    runs: int


def _environment() -> dict[str, str]:
    """The caller's environment, but Python may keep what it compiles: else every start would compile anew."""
    return {name: value for name, value in os.environ.items() if name != "PYTHONDONTWRITEBYTECODE"}


def _compile() -> None:
    """Compile what is installed and what is measured, as installing a wheel does."""
    compileall.compile_dir(sysconfig.get_path("purelib"), quiet=2)
    compileall.compile_dir(SOURCES, quiet=2)


def _run(command: tuple[str, ...], environment: Mapping[str, str]) -> Measurement:
    """Run once, without its output; a command that fails has not been measured, so that ends everything."""
    silence = [(os.POSIX_SPAWN_OPEN, stream, os.devnull, os.O_WRONLY, 0) for stream in (1, 2)]
    started = time.perf_counter()
    child = os.posix_spawn(command[0], command, environment, file_actions=silence)
    _, status, usage = os.wait4(child, 0)
    seconds = time.perf_counter() - started
    if os.waitstatus_to_exitcode(status) != 0:
        sys.exit(f"bench: this command failed: {' '.join(command)}")
    # macOS counts bytes where Linux counts KiB (getrusage(2)).
    return Measurement(seconds, usage.ru_maxrss / (2**20 if sys.platform == "darwin" else 2**10))


def _best(runs: list[Measurement]) -> Measurement:
    return Measurement(min(run.seconds for run in runs), min(run.mebibytes for run in runs))


def _measure(comparison: Comparison) -> tuple[Measurement, Measurement]:
    """The command and its baseline, run in turns so that a busy moment of the machine meets both."""
    environment = _environment()
    commands: list[Measurement] = []
    baselines: list[Measurement] = []
    for _ in repeat(None, comparison.runs):
        baselines.append(_run(comparison.baseline, environment))
        commands.append(_run(comparison.command, environment))
    return _best(commands), _best(baselines)


def _write_world(folder: Path, size: int, world: Callable[[int], Iterable[str]] = documents) -> str:
    path = folder / f"{size}-{world.__name__}.yaml"
    with path.open("w", encoding="utf-8") as file:
        for document in world(size):
            file.write(f"---\n{document}")
    return str(path)


def _write_profiles(folder: Path, count: int) -> str:
    """Profiles of kinds that no world has, as JSON, which is YAML as well."""
    kind = {"class": "inherited", "strategy": "Patch defaults", "evidence": ["the documentation of the kind"]}
    path = folder / "profiles.yaml"
    path.write_text(json.dumps({"group": "absent.example.io", "kinds": {f"Kind{n}": kind for n in range(count)}}))
    return str(path)


def _comparisons(folder: Path) -> tuple[Comparison, ...]:
    small, large = _write_world(folder, 30), _write_world(folder, 10_000)
    seen = _write_world(folder, 10_000, reported)
    together = _write_world(folder, 10_000, under_one_policy)
    bare = (PYTHON, "-c", "pass")
    describe = (COMMAND, "describe", "httproute/route-0", "-n", "team-0", "--offline")
    return (
        Comparison("--help", (COMMAND, "--help"), "bare python", bare, 8, 20),
        Comparison("describe, 30 objects", (*describe, small), "bare python", bare, 12, 20),
        Comparison(
            "with 10 absent profiles",
            (*describe, small, "--profiles", _write_profiles(folder, 10)),
            "without",
            (*describe, small),
            1.1,
            20,
        ),
        Comparison(
            "get policies, 10,000", (COMMAND, "get", "policies", "-A", "--offline", large), "bare python", bare, 400, 3
        ),
        Comparison(
            "status, 10,000",
            (COMMAND, "status", "-A", "--offline", seen),
            "get policies",
            (COMMAND, "get", "policies", "-A", "--offline", seen),
            2,
            3,
        ),
        Comparison(
            "describe, 10,000 objects",
            (*describe, large),
            "CSafeLoader",
            (PYTHON, "-c", LOAD_EVERYTHING, large),
            1.2,
            3,
        ),
        Comparison(
            "blast-radius, 10,000",
            (COMMAND, "blast-radius", "retrypolicy/everywhere", "-n", "team", "--offline", together),
            "CSafeLoader",
            (PYTHON, "-c", LOAD_EVERYTHING, together),
            2,
            3,
        ),
    )


def _line(comparison: Comparison) -> str:
    command, baseline = _measure(comparison)
    ratio = command.seconds / baseline.seconds
    verdict = "ok" if ratio <= comparison.budget else "OVER"
    return (
        f"{comparison.title:<26}{command.seconds * 1000:>8.0f} ms{command.mebibytes:>8.0f} MiB"
        f"{ratio:>9.2f} x {comparison.against:<12}{comparison.budget:>8} x   {verdict}"
    )


def main() -> None:
    """Print the table, a line as soon as it is known; a budget that is exceeded is shown, and is not a failure."""
    _compile()
    print(f"{'':<26}{'time':>11}{'peak':>12}{'measured':>11} {'against':<12}{'budget':>10}")
    with tempfile.TemporaryDirectory() as folder:
        for comparison in _comparisons(Path(folder)):
            print(_line(comparison), flush=True)


if __name__ == "__main__":
    main()
