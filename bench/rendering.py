"""Measure `lint` on a repository that is rendered, against what the programs themselves take to render it.

It is the time by the clock, for which people wait: programs run two at a time. Nothing that programs keep is there when
they run first.
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
    from collections.abc import Iterator, Mapping, Sequence

TEAMS: Final = 4
AT_ONCE: Final = 2
# The first run of `lint`, as a multiple of the time that the programs take.
FIRST: Final = 1.5
# The second run, of an unchanged repository: seconds.
AGAIN: Final = 2.0
RUNS: Final = 3
# The programs that `lint` is left with, so that it renders with these.
_PROGRAMS: Final = {"kubectl kustomize": ("kubectl", "git"), "flate": ("flate", "git")}
_PATH: Final = re.compile(r"^ +path: \./(\S+)$", re.MULTILINE)


def rendering(folder: Path) -> Iterator[str]:
    """Yield a table for each program: the program alone, `lint` with nothing kept, and `lint` once more."""
    tree = Path(write_files(folder / "rendered", flux_home(TEAMS)))
    roots = sorted({tree / name for path in tree.rglob("*.yaml") for name in _folders(path.read_text("utf-8"))})
    # flate recognises the repository by its remote.
    for words in (("init", "--quiet"), ("remote", "add", "origin", "https://git.example.com/home.git")):
        _run(("git", "-C", str(tree), *words), os.environ)
    for title, names in _PROGRAMS.items():
        if absent := [name for name in names if not shutil.which(name)]:
            yield f"\nrendering by {title} is not measured: {', '.join(absent)} is not installed"
            continue
        commands: list[tuple[str, ...]] = [("kubectl", "kustomize", str(root)) for root in roots]
        if title == "flate":
            commands = [("flate", "build", "all", "--no-progress", "--allow-missing-secrets", "--path=cluster")]
        programs = folder / title
        programs.mkdir()
        for name in names:
            (programs / name).symlink_to(str(shutil.which(name)))
        yield from _table(f"{len(roots)} Kustomizations, {title}", tree, commands, str(programs))


def _table(title: str, tree: Path, commands: Sequence[tuple[str, ...]], path: str) -> Iterator[str]:
    lint = (COMMAND, "lint", str(tree), "--render", "--fail-on", "never")
    seconds: dict[str, list[float]] = {"alone": [], "first": [], "again": []}
    for _ in range(RUNS):
        # Of some programs the first run leaves something for the next one, so that each begins with an empty folder.
        for ways in (("alone",), ("first", "again")):
            with tempfile.TemporaryDirectory() as cache:
                environment = {**os.environ, "PATH": f"{path}:/usr/bin:/bin", "XDG_CACHE_HOME": cache}
                environment["FLATE_CACHE_DIR"] = f"{cache}/flate"
                for way in ways:
                    seconds[way].append(_seconds(commands if way == "alone" else [lint], tree, environment))
    alone, first, again = (min(times) for times in seconds.values())
    yield f"\n{title:<40}{'time':>11}{'measured':>14}{'budget':>10}"
    yield f"{'the program alone':<40}{alone:>9.2f} s"
    ratio = first / alone
    yield f"{'lint, first':<40}{first:>9.2f} s{ratio:>12.2f} x{FIRST:>8.2f} x   {_verdict(ratio, FIRST)}"
    yield f"{'lint, again':<40}{again:>9.2f} s{'':>14}{AGAIN:>8.2f} s   {_verdict(again, AGAIN)}"


def _folders(text: str) -> list[str]:
    """Return the folders that the Flux Kustomizations in a text apply."""
    return _PATH.findall(text) if "kustomize.toolkit.fluxcd.io" in text else []


def _verdict(measured: float, budget: float) -> str:
    return "ok" if measured <= budget else "OVER"


def _seconds(commands: Sequence[tuple[str, ...]], folder: Path, environment: Mapping[str, str]) -> float:
    start = time.perf_counter()
    with ThreadPoolExecutor(AT_ONCE) as executor:
        list(executor.map(lambda command: _run(command, environment, folder), commands))
    return time.perf_counter() - start


def _run(command: tuple[str, ...], environment: Mapping[str, str], folder: Path | None = None) -> None:
    """Run a command without its output; one that fails ends everything."""
    program = shutil.which(command[0], path=environment.get("PATH")) or command[0]
    done = subprocess.run(  # noqa: S603 (our own arguments)
        [program, *command[1:]], cwd=folder, env=environment, capture_output=True, check=False
    )
    # `lint` ends with 4 where it sees too little, and flate fails for charts that are elsewhere.
    if done.returncode not in (0, 4) and command[0] != "flate":
        raise SystemExit(f"bench: {' '.join(command)} failed: {done.stderr.decode()}")
