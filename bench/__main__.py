"""Measure the installed command, and print each measurement beside its budget (`make bench`).

`python -m bench [GROUP...]` prints some of the groups only: `start` is what everybody waits for, `lint` checks rules,
`gateway` has one Gateway with many routes, `repository` is a tree of many files, read and rendered, `graph` draws one
Gateway with many routes.

`python -m bench growth [TEXT...]` says how time grows with each of many things, of which it measures more than the
others together: all of them, or those of which the world or the command has one of the texts.
"""

from __future__ import annotations

import compileall
import json
import math
import shlex
import sys
import sysconfig
import tempfile
from dataclasses import dataclass
from functools import partial
from itertools import chain, repeat
from pathlib import Path
from typing import TYPE_CHECKING, Final

from bench.growth import growth
from bench.measure import COMMAND, LIMIT, PYTHON, best, run, write_world
from bench.rendering import rendering
from bench.repositories import write_flux
from bench.styles import STYLES, files, write
from bench.teams import documents, reported
from bench.worlds import (
    one_gateway,
    one_gateway_envoy,
    one_gateway_kgateway,
    one_gateway_reported,
    under_one_policy,
)

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

    from bench.measure import Measurement

SOURCES: Final = Path(__file__).parent.parent / "src"
# In a folder, what is no manifest may have tags that only its own program knows.
LOAD_EVERYTHING: Final = """
import contextlib, pathlib, sys, yaml
top = pathlib.Path(sys.argv[1])
for path in sorted(top.rglob("*.yaml")) if top.is_dir() else [top]:
    with path.open("rb") as file, contextlib.suppress(yaml.constructor.ConstructorError):
        list(yaml.load_all(file, Loader=yaml.CSafeLoader))
"""
GROUPS: Final = ("start", "lint", "gateway", "repository", "graph")


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


def _write_profiles(folder: Path, count: int) -> str:
    """Profiles of kinds that no world has, as JSON, which is YAML as well."""
    kind = {"class": "inherited", "strategy": "Patch defaults", "evidence": ["the documentation of the kind"]}
    path = folder / "profiles.yaml"
    path.write_text(json.dumps({"group": "absent.example.io", "kinds": {f"Kind{n}": kind for n in range(count)}}))
    return str(path)


def _load(path: str) -> tuple[str, ...]:
    return (PYTHON, "-c", LOAD_EVERYTHING, path)


def _comparisons(folder: Path) -> Iterator[Comparison]:
    small, large = write_world(folder, 30, documents), write_world(folder, 10_000, documents)
    seen = write_world(folder, 10_000, reported)
    together = write_world(folder, 10_000, under_one_policy)
    crowded = write_world(folder, 5_000, one_gateway)
    bare = (PYTHON, "-c", "pass")
    describe = (COMMAND, "describe", "httproute/route-0", "-n", "team-0", "--offline")
    with_profiles = (*describe, small, "--profiles", _write_profiles(folder, 10))
    names = (COMMAND, "__complete", "describe", "--offline", small, "httproute/")
    listing, checking = ((COMMAND, *words, "-A", "--offline") for words in (("get", "policies"), ("status",)))
    without = (COMMAND, "blast-radius")
    one = (*without, "httproute/route-0", "-n", "team-0", "--offline")
    spread = (*without, "retrypolicy/everywhere", "-n", "team", "--offline", together)
    gateway = (*without, "gateway/edge", "-n", "infra", "--offline", crowded)
    among = ("httproute/route-0", "-n", "team", "--offline", crowded)
    why_not = (COMMAND, "why-not", "retrypolicy/edge", "httproute/route-0", "-n", "team-0", "--offline", large)
    starting: tuple[tuple[str, tuple[str, ...], str, tuple[str, ...], float], ...] = (
        ("--help", (COMMAND, "--help"), "bare python", bare, 6),
        ("describe, 30 objects", (*describe, small), "bare python", bare, 12),
        ("TAB for options", (COMMAND, "__complete", "get", "--"), "bare python", bare, 4),
        ("TAB for names, 30 objects", names, "describe", (*describe, small), 1),
        ("with 10 absent profiles", with_profiles, "without", (*describe, small), 1.1),
    )
    for title, command, against, baseline, budget in starting:
        yield Comparison(title=title, command=command, against=against, baseline=baseline, budget=budget, runs=20)
    yield from _styles(Path(large), describe)
    one_each, huge = str(files(Path(large), 10_000)), write_world(folder, 100_000, documents)
    measured: tuple[tuple[str, tuple[str, ...], str, float, int], ...] = (
        ("describe a route, 100,000 objects", (*describe, huge), huge, 1 / 8, 2),
        ("describe a route, 10,000 files", (*describe, one_each), one_each, 1 / 4, 3),
        ("describe a route, 5,000 on its Gateway", (COMMAND, "describe", *among), crowded, 1 / 4, 3),
        ("get policies, 10,000 objects", (*listing, large), large, 0.9, 3),
        ("status, 10,000 objects", (*checking, seen), seen, 1, 3),
        ("blast-radius of a route, 10,000", (*one, large), large, 1 / 4, 3),
        ("blast-radius of a route, 5,000 beside", (*without, *among), crowded, 1 / 3, 3),
        ("blast-radius over 10,000 routes", spread, together, 1.2, 3),
        ("blast-radius of a Gateway, 5,000", gateway, crowded, 1.2, 3),
        ("why-not, 10,000 objects", why_not, large, 1 / 2, 3),
    )
    yield from (_beside_reading(*row) for row in measured)


def _styles(world: Path, describe: tuple[str, ...]) -> Iterator[Comparison]:
    """Describe one of 10,000 objects, in each of the styles in which they are written."""
    for style in STYLES:
        path = str(write(style, world))
        yield _beside_reading(f"describe a route, 10,000 in {style}", (*describe, path), path, 1 / 4, 5)


def _linting(folder: Path) -> Iterator[Comparison]:
    """Lint whole worlds with all rules."""
    large = write_world(folder, 10_000, documents)
    worlds = (
        ("10,000 objects", large),
        ("10,000 files", str(files(Path(large), 10_000))),
        ("10,000 objects with status", write_world(folder, 10_000, reported)),
        ("10,000 objects, one policy", write_world(folder, 10_000, under_one_policy)),
        ("5,000 routes on one Gateway", write_world(folder, 5_000, one_gateway)),
    )
    for title, world in worlds:
        yield _beside_reading(f"lint, {title}", (COMMAND, "lint", world, "--fail-on", "never"), world, 0.9, 5)


def _beside_reading(title: str, command: tuple[str, ...], world: str, budget: float, runs: int) -> Comparison:
    baseline = _load(world)
    return Comparison(title=title, command=command, against="CSafeLoader", baseline=baseline, budget=budget, runs=runs)


def _compared(comparison: Comparison) -> str:
    """The line of a comparison; the two are run in turns so that a busy moment of the machine meets both."""
    pairs = [(run(comparison.baseline), run(comparison.command)) for _ in repeat(None, comparison.runs)]
    baseline, command = best(pair[0] for pair in pairs), best(pair[1] for pair in pairs)
    if baseline is None or command is None:
        return f"{comparison.title:<40}{f'> {LIMIT} s':>11}"
    ratio = command.seconds / baseline.seconds
    verdict = "ok" if ratio <= comparison.budget else "OVER"
    return (
        f"{comparison.title:<40}{command.seconds * 1000:>8.0f} ms{command.mebibytes:>8.0f} MiB"
        f"{ratio:>9.3f} x {comparison.against:<12}{comparison.budget:>8.3f} x   {verdict}"
    )


def _pictures(folder: Path) -> Iterator[str]:
    """Draw a Gateway with its routes, their rules, Services and ports; budgets are seconds."""
    rows: tuple[tuple[str, int, tuple[str, ...], float], ...] = (
        ("-o svg, 1,000 nodes", 250, ("-o", "svg"), 2),
        ("-o svg --show-all, 2,000 nodes", 470, ("-o", "svg", "--show-all"), 5),
        ("-o svg, 20,000 nodes", 5_000, ("-o", "svg"), 3),
        ("-o mermaid, 20,000 nodes", 5_000, ("-o", "mermaid"), 3),
        ("-o tree, 20,000 nodes", 5_000, ("-o", "tree"), 5),
        ("-o json, 20,000 nodes", 5_000, ("-o", "json"), 5),
        ("-o html, 20,000 nodes", 5_000, ("-o", "html"), 3),
        ("of one route, 20,000 nodes", 5_000, ("httproute/route-0", "-n", "team"), 1),
    )
    yield f"\n{'graph':<40}{'time':>11}{'peak':>12}{'budget':>10}"
    for title, size, words, budget in rows:
        world = write_world(folder, size, one_gateway)
        found = best(run((COMMAND, "graph", *words, "--offline", world)) for _ in range(3))
        if found is None:
            yield f"{title:<40}{f'> {LIMIT} s':>11}"
            continue
        verdict = "ok" if found.seconds <= budget else "OVER"
        yield f"{title:<40}{found.seconds:>9.2f} s{found.mebibytes:>8.0f} MiB{budget:>8.2f} s   {verdict}"


@dataclass(frozen=True, kw_only=True)
class World:
    """A world that is measured at two sizes, the commands, and the budget as a factor of the time of reading it.

    Without a budget, which is a factor, it takes as long as it takes.
    """

    title: str
    write: Callable[[Path, int], str]
    sizes: tuple[int, int]
    commands: tuple[str, ...]
    budget: float | None = None


_GATEWAYS: Final = (
    (one_gateway, "retrypolicy"),
    (one_gateway_envoy, "backendtrafficpolicy"),
    (one_gateway_kgateway, "trafficpolicy"),
)
_FLUX_COMMANDS: Final = (
    "get policies -A",
    "get routes -A",
    "status -A",
    "describe httproute/app-0-0 -n team-0",
    "describe retrypolicy/edge -n infra",
    "blast-radius retrypolicy/edge -n infra",
    "blast-radius backendtrafficpolicy/limits -n infra",
    "blast-radius gateway/edge -n infra",
    "why-not retrypolicy/edge httproute/app-0-0 -n infra --target-namespace team-0",
    "diff --delete retrypolicy/edge -n infra",
)


def _gateways() -> Iterator[World]:
    """Worlds with many routes on one Gateway: with policies of three kinds, and with what a controller reports."""
    describe = ("describe gateway/edge -n infra", "describe httproute/route-0 -n team", "get policies -A", "status -A")
    change = ("blast-radius gateway/edge -n infra", "blast-radius httproute/route-0 -n team")
    for world, kind in _GATEWAYS:
        of_kind = (f"{words} -n infra" for words in (f"describe {kind}/edge", f"blast-radius {kind}/edge"))
        yield _gateway(world, *of_kind, f"describe {kind}/edge -n infra -o json", *describe, *change)
    yield _gateway(one_gateway_reported, "status -A", "status routes -A", "get routes -A", *describe[:1])


def _gateway(world: Callable[[int], Iterator[str]], *commands: str) -> World:
    title = f"{world.__name__}: {(world.__doc__ or '').partition('.')[0]}"
    return World(title=title, write=partial(write_world, world=world), sizes=(500, 5000), commands=commands, budget=3)


def _repositories() -> Iterator[World]:
    yield World(
        title="a repository for Flux",
        write=lambda folder, size: write_flux(folder / f"{size}-flux", size),
        sizes=(750, 3000),
        commands=(*(f"{command} --no-render" for command in _FLUX_COMMANDS), "explain retrypolicy"),
    )


def _growths(folder: Path, worlds: Iterable[World]) -> Iterator[str]:
    """A table for each world: what its commands take at two sizes, and how that grows."""
    for world in worlds:
        small, large = (world.write(folder, size) for size in world.sizes)
        reading = run(_load(large))
        yield f"\n{world.title}"
        yield f"{'':<58}{world.sizes[0]:>10,}{world.sizes[1]:>10,}{'peak':>10}{'exponent':>10}{'CSafeLoader':>13}"
        for command in world.commands:
            words = (COMMAND, *shlex.split(command), "--offline")
            first = run((*words, small))
            second = run((*words, large)) if first else None
            yield _growth(world, command, (first, second), reading)


def _growth(
    world: World, command: str, runs: tuple[Measurement | None, Measurement | None], reading: Measurement | None
) -> str:
    first, second = runs
    times = "".join(f"{run.seconds:>8.2f} s" if run else f"{f'> {LIMIT}':>8} s" for run in runs)
    if not (first and second and reading):
        return f"{command:<58}{times}"
    exponent = math.log(second.seconds / first.seconds) / math.log(world.sizes[1] / world.sizes[0])
    ratio = second.seconds / reading.seconds
    verdict = ""
    if world.budget:
        verdict = f" of {world.budget} x  {'ok' if ratio <= world.budget else 'OVER'}"
    return f"{command:<58}{times}{second.mebibytes:>6.0f} MiB{exponent:>10.2f}{ratio:>11.2f} x{verdict}"


def main(groups: Iterable[str]) -> None:
    """Print the tables, a line as soon as it is known; a budget that is exceeded is shown, and is not a failure."""
    chosen = list(groups) or GROUPS
    is_growth = chosen[0] == "growth"
    if not (is_growth or set(chosen) <= set(GROUPS)):
        sys.exit(f"bench: the groups are {', '.join(GROUPS)}, and growth alone")
    _compile()
    with tempfile.TemporaryDirectory() as folder:
        if is_growth:
            for line in growth(Path(folder), chosen[1:]):
                print(line, flush=True)
            return
        compared = {"start": _comparisons, "lint": _linting}
        for comparisons in (compared[group] for group in GROUPS if group in chosen and group in compared):
            print(f"{'':<40}{'time':>11}{'peak':>12}{'measured':>11} {'against':<12}{'budget':>10}")
            for comparison in comparisons(Path(folder)):
                print(_compared(comparison), flush=True)
        tables = {"gateway": _gateways, "repository": _repositories}
        worlds = chain.from_iterable(worlds() for group, worlds in tables.items() if group in chosen)
        for line in _growths(Path(folder), worlds):
            print(line, flush=True)
        for line in rendering(Path(folder)) if "repository" in chosen else ():
            print(line, flush=True)
        for line in _pictures(Path(folder)) if "graph" in chosen else ():
            print(line, flush=True)


if __name__ == "__main__":
    main(sys.argv[1:])
