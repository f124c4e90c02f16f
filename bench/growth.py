"""Growth of the time of commands with the world: at n, 2n, 4n and 8n, and the exponent that fits (`make bench`)."""

from __future__ import annotations

import math
import shlex
from dataclasses import dataclass
from itertools import groupby, repeat
from typing import TYPE_CHECKING, Final

from bench import relations, worlds
from bench.measure import COMMAND, LIMIT, best, run, write_world

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator
    from pathlib import Path

    from bench.measure import Measurement

    Documents = Callable[[int], Iterator[str]]

# What a command may take: seconds at the largest size, and as which power of the size it may grow.
SECONDS: Final = 5
EXPONENT: Final = 1.2
# What every command takes; the names that commands ask for are in worlds of this size.
_TINY: Final = 2
# Below, a time is as much of the machine as of the command, and the best of some runs counts.
_SHORT: Final = 0.5
_RUNS: Final = 2
# What is over a limit is measured again, as a machine that is busy, or slow for a while, only adds to a time.
_TRIES: Final = 3
# By how many seconds, and by which part of them, the same command takes longer or shorter another time.
_NOISE: Final = 0.01
_DRIFT: Final = 0.03
_LEAST: Final = 0.001


@dataclass(frozen=True)
class Growing:
    """A world, the largest of the four sizes at which it is measured, and what is asked of it.

    A command may name a file with the world as `{world}`, and one with what `other` makes as `{other}`; else the world
    is its input.
    """

    world: Documents
    largest: int
    commands: tuple[str, ...]
    other: Documents | None = None

    @property
    def name(self) -> str:
        """The name in the table."""
        return self.world.__name__.replace("_", " ")

    @property
    def sizes(self) -> tuple[int, ...]:
        """The sizes n, 2n, 4n and 8n."""
        return tuple(self.largest // part for part in (8, 4, 2, 1))

    def command(self, words: str, folder: Path, size: int) -> tuple[str, ...]:
        """A command about the world of a size, which is written first."""
        world = write_world(folder, size, self.world)
        other = write_world(folder, size, self.other) if self.other else ""
        asked = words if "{" in words else f"{words} --offline {{world}}"
        return (COMMAND, *(word.format(world=world, other=other) for word in shlex.split(asked)))


def _of_policy(policy: str, *others: str) -> tuple[str, ...]:
    return (f"describe {policy}", f"describe {policy} -o json", f"blast-radius {policy}", "get policies -A", *others)


_ROUTE: Final = ("describe httproute/route-0 -n team", "blast-radius httproute/route-0 -n team")
_SERVICE: Final = ("describe service/service -n team", "blast-radius service/service -n team")
_DELEGATED: Final = (
    "describe httproute/route-1 -n team",
    "blast-radius httproute/route-0 -n team",
    "get routes -A",
)

TABLE: Final = (
    Growing(
        worlds.one_gateway,
        5000,
        (
            "describe retrypolicy/edge -n infra",
            "describe retrypolicy/edge -n infra -o json",
            "describe gateway/edge -n infra",
            "describe httproute/route-0 -n team",
            "get policies -A",
            "get routes -A",
            "status -A",
            "blast-radius retrypolicy/edge -n infra",
            "blast-radius retrypolicy/edge -n infra -o json",
            "blast-radius gateway/edge -n infra",
            "blast-radius httproute/route-0 -n team",
            "why-not retrypolicy/route-0 httproute/route-1 -n team",
            "diff --delete retrypolicy/edge -n infra",
        ),
    ),
    Growing(worlds.one_gateway_envoy, 5000, _of_policy("backendtrafficpolicy/edge -n infra")),
    Growing(
        worlds.one_gateway_kgateway,
        5000,
        _of_policy("trafficpolicy/edge -n infra", "blast-radius gateway/edge -n infra"),
    ),
    Growing(worlds.one_gateway_reported, 5000, ("status routes -A", "describe gateway/edge -n infra")),
    Growing(worlds.policies_on_one_target, 4000, _of_policy("retrypolicy/policy-0 -n team", *_ROUTE)),
    Growing(worlds.envoy_policies_on_one_target, 4000, _of_policy("backendtrafficpolicy/policy-0 -n team", *_ROUTE)),
    Growing(
        worlds.policies_on_their_namespace,
        4000,
        _of_policy("retrypolicy/policy-0 -n team", "describe namespace/team", "blast-radius namespace/team"),
    ),
    Growing(worlds.many_targets, 4000, _of_policy("retrypolicy/everywhere -n team")),
    Growing(
        worlds.many_fields,
        20000,
        _of_policy(
            "retrypolicy/wide -n infra", "describe httproute/route-0 -n team", "diff --delete retrypolicy/own -n team"
        ),
    ),
    Growing(
        worlds.long_lists,
        10000,
        _of_policy("backendtrafficpolicy/wide -n infra", *_ROUTE[:1], f"{_ROUTE[0]} -o json"),
    ),
    Growing(
        worlds.long_lists_kgateway,
        10000,
        _of_policy("trafficpolicy/wide -n infra", *_ROUTE[:1], f"{_ROUTE[0]} -o json"),
    ),
    Growing(worlds.one_service, 4000, _of_policy("retrypolicy/service -n team", *_SERVICE)),
    Growing(
        worlds.one_class, 4000, _of_policy("retrypolicy/class -n infra", *_SERVICE, "blast-radius gatewayclass/public")
    ),
    Growing(worlds.grants, 4000, _of_policy("retrypolicy/edge -n infra", *_ROUTE)),
    Growing(worlds.one_selector, 4000, _of_policy("backendtrafficpolicy/everywhere -n team")),
    Growing(worlds.many_selectors, 4000, _of_policy("backendtrafficpolicy/policy-0 -n team", *_ROUTE)),
    Growing(relations.many_requirements, 4000, _of_policy("backendtrafficpolicy/policy-0 -n team", *_ROUTE)),
    Growing(worlds.listener_sets, 4000, (*_SERVICE, "get gateways -A", "status -A", "describe gateway/edge -n infra")),
    Growing(
        relations.overlapping_domains, 2000, ("blast-radius gateway/edge -n infra", "describe gateway/edge -n infra")
    ),
    Growing(
        relations.hostnames_and_listeners,
        1600,
        (
            "lint {world} --fail-on never",
            "describe httproute/route-0 -n team",
            "describe gateway/edge -n infra",
            "get routes -A",
        ),
    ),
    *(
        Growing(
            world,
            1600,
            ("lint {world} --fail-on never", *_ROUTE, "describe gateway/edge -n infra", "get routes -A"),
        )
        for world in (relations.routes_and_listeners, relations.routes_for_other_hosts)
    ),
    Growing(relations.reported_parents, 4000, ("lint {world} --fail-on never", "status -A")),
    Growing(
        worlds.listeners_and_routes,
        1000,
        _of_policy("retrypolicy/edge -n infra", *_SERVICE),
    ),
    Growing(
        relations.rules_and_listeners,
        1024,
        _of_policy("retrypolicy/edge -n infra", "describe httproute/route-0 -n team", *_SERVICE),
    ),
    Growing(
        worlds.under_one_policy,
        5000,
        (
            "blast-radius retrypolicy/everywhere -n team",
            "blast-radius retrypolicy/everywhere -n team -o json",
            "blast-radius namespace/team -o json",
        ),
    ),
    Growing(
        relations.namespaces,
        2000,
        (
            "describe namespace/team-0",
            "describe httproute/route-0 -n team-0",
            "describe gateway/edge -n infra",
            "get namespaces",
            "get policies -A",
            "blast-radius namespace/team-0",
            "blast-radius retrypolicy/edge -n infra",
        ),
    ),
    Growing(
        relations.selected_namespaces,
        2000,
        (
            "describe httproute/route-0 -n team-0",
            "describe gateway/edge -n infra",
            "get routes -A",
            "blast-radius retrypolicy/edge -n infra",
        ),
    ),
    Growing(
        relations.delegation_to_all,
        4000,
        ("describe httproute/site -n infra", "blast-radius trafficpolicy/site -n infra", *_DELEGATED),
    ),
    Growing(relations.delegation_by_name, 4000, ("blast-radius trafficpolicy/edge -n infra", *_DELEGATED)),
    Growing(relations.delegation_by_label, 4000, ("describe httproute/route-1 -n team", "get routes -A")),
    Growing(relations.delegation_in_chains, 2000, ("blast-radius trafficpolicy/edge -n infra", *_DELEGATED)),
    Growing(
        relations.policies_of_routes,
        5000,
        ("diff {world} {other}", "diff {world} {other} -o json"),
        other=relations.changed_policies_of_routes,
    ),
    Growing(
        relations.policies_of_routes, 5000, ("diff -f {other} --offline {world}",), other=relations.changes_of_policies
    ),
)


def growth(folder: Path, wanted: Iterable[str] = ()) -> Iterator[str]:
    """The table in Markdown, times in seconds, a line as soon as it is known, then how many rows are over the budget.

    `wanted` are pieces of text of which a world or a command has to have one; none for everything.
    """
    yield "| world | command | 8n | start | n | 2n | 4n | 8n | MiB at 8n | exponent | |"
    yield "|---|---|--:|--:|--:|--:|--:|--:|--:|--:|---|"
    rows = over = 0
    for name, group in groupby(TABLE, key=lambda row: row.name):
        shown = name
        for row in group:
            for command in row.commands:
                if wanted and not any(part in f"{name}: {command}" for part in wanted):
                    continue
                line, exceeds = _line(row, command, folder)
                yield f"| {shown} | {line}"
                rows, over, shown = rows + 1, over + exceeds, ""
    yield f"\n{over} of {rows} are over {SECONDS} s or {EXPONENT}."


def _line(row: Growing, command: str, folder: Path) -> tuple[str, bool]:
    tiny = best(run(row.command(command, folder, _TINY)) for _ in repeat(None, _RUNS))
    runs = _runs(row, command, folder)
    exponent, exceeds = _judged(row, tiny, runs)
    for _ in repeat(None, _TRIES - 1):
        if exceeds and exponent is not None:
            runs = [best(pair) for pair in zip(runs, _runs(row, command, folder), strict=True)]
            exponent, exceeds = _judged(row, tiny, runs)
    times = " | ".join(f"{each.seconds:.2f}" if each else f"> {LIMIT}" for each in (tiny, *runs))
    room = f"{runs[-1].mebibytes:.0f}" if runs[-1] else ""
    power = "" if exponent is None else f"{exponent:.2f}"
    return f"`{command}` | {row.largest:,} | {times} | {room} | {power} | {'OVER' if exceeds else ''} |", exceeds


def _runs(row: Growing, command: str, folder: Path) -> list[Measurement | None]:
    runs: list[Measurement | None] = []
    for size in row.sizes:
        # What takes too long at one size takes longer at the next.
        runs.append(_measured(row.command(command, folder, size)) if all(runs) else None)
    return runs


def _judged(row: Growing, tiny: Measurement | None, runs: list[Measurement | None]) -> tuple[float | None, bool]:
    """The exponent, None where a command took too long; and whether that, or the time, is over a limit."""
    known = [each for each in runs if each]
    if tiny is None or len(known) < len(runs):
        return None, True
    exponent = fitted(row.sizes, [each.seconds - tiny.seconds for each in known])
    return exponent, exponent > EXPONENT or known[-1].seconds > SECONDS


def _measured(command: tuple[str, ...]) -> Measurement | None:
    first = run(command)
    if first is None or first.seconds > _SHORT:
        return first
    return best((first, *(run(command) for _ in repeat(None, _RUNS - 1))))


def fitted(sizes: Iterable[int], seconds: Iterable[float]) -> float:
    """The power of the size that fits times above start-up best.

    A time counts by how exactly it is known: one that is no longer than what two runs differ by hardly does.
    """
    points = [(math.log(size), max(each, _LEAST)) for size, each in zip(sizes, seconds, strict=True)]
    weights = [1 / ((_NOISE / each) ** 2 + _DRIFT**2) for _, each in points]
    xs, ys = [x for x, _ in points], [math.log(each) for _, each in points]
    total = sum(weights)
    middle_x = sum(weight * x for weight, x in zip(weights, xs, strict=True)) / total
    middle_y = sum(weight * y for weight, y in zip(weights, ys, strict=True)) / total
    spread = sum(weight * (x - middle_x) ** 2 for weight, x in zip(weights, xs, strict=True))
    both = zip(weights, xs, ys, strict=True)
    return sum(weight * (x - middle_x) * (y - middle_y) for weight, x, y in both) / spread
