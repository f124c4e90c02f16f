"""Measure `lint` on a repository that is rendered, against what the programs themselves take to render it.

Of both it is the time by the clock that people wait for: programs run two at a time.
"""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import tempfile
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import TYPE_CHECKING, Final

from bench.measure import COMMAND
from bench.repositories import flux_home, write_files

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping

TEAMS: Final = 4
AT_ONCE: Final = 2
# The first run of `lint`, as a multiple of the time that the programs take.
FIRST: Final = 1.5
# The second run, of an unchanged repository: seconds.
AGAIN: Final = 2.0
RUNS: Final = 3
_PATH: Final = re.compile(r"^ +path: \./(\S+)$", re.MULTILINE)


def rendering(folder: Path) -> Iterator[str]:
    """Yield a table: the programs alone, `lint` with nothing kept, and `lint` once more."""
    if not (kubectl := shutil.which("kubectl")):
        yield "\nrendering is not measured: kubectl is not installed"
        return
    tree = write_files(folder / "rendered", flux_home(TEAMS))
    roots = sorted({Path(tree) / name for path in Path(tree).rglob("*.yaml") for name in _folders(path.read_text())})
    lint = (COMMAND, "lint", tree, "--render", "--fail-on", "never")
    programs: list[float] = []
    first: list[float] = []
    again: list[float] = []
    for _ in range(RUNS):
        with tempfile.TemporaryDirectory() as cache:
            environment = {**os.environ, "XDG_CACHE_HOME": cache}
            programs.append(_seconds(lambda: _build(kubectl, roots)))
            first.append(_seconds(lambda: _run(lint, environment)))  # noqa: B023 (called at once)
            again.append(_seconds(lambda: _run(lint, environment)))  # noqa: B023 (called at once)
    yield f"\n{f'{len(roots)} Kustomizations of Flux, rendered':<40}{'time':>11}{'measured':>14}{'budget':>10}"
    yield f"{f'kubectl kustomize, {AT_ONCE} at a time':<40}{min(programs):>9.2f} s"
    ratio = min(first) / min(programs)
    yield f"{'lint, first':<40}{min(first):>9.2f} s{ratio:>12.2f} x{FIRST:>8.2f} x   {_verdict(ratio, FIRST)}"
    yield f"{'lint, again':<40}{min(again):>9.2f} s{'':>14}{AGAIN:>8.2f} s   {_verdict(min(again), AGAIN)}"


def _folders(text: str) -> list[str]:
    """Return the folders that the Flux Kustomizations in a text apply."""
    return _PATH.findall(text) if "kustomize.toolkit.fluxcd.io" in text else []


def _verdict(measured: float, budget: float) -> str:
    return "ok" if measured <= budget else "OVER"


def _seconds(run: Callable[[], None]) -> float:
    start = time.perf_counter()
    run()
    return time.perf_counter() - start


def _build(kubectl: str, roots: list[Path]) -> None:
    with ThreadPoolExecutor(AT_ONCE) as executor:
        list(executor.map(lambda root: _run((kubectl, "kustomize", str(root)), os.environ), roots))


def _run(command: tuple[str, ...], environment: Mapping[str, str]) -> None:
    """Run a command without its output; one that fails ends everything."""
    done = subprocess.run(command, env=environment, capture_output=True, check=False)  # noqa: S603 (our own arguments)
    # `lint` ends with 4 where it sees too little, as of charts that are elsewhere.
    if done.returncode not in (0, 4):
        raise SystemExit(f"bench: {' '.join(command)} failed: {done.stderr.decode()}")
