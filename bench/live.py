"""Measure commands on a real API server with 10,000 HTTPRoutes, beside what kubectl takes to get these.

`make bench-live` runs this. Times are those of a clock: waiting for the server counts. The requests of each command are
those that a proxy before the server writes down, with 10,000 routes, and compared with those for 1,000.
"""

from __future__ import annotations

import shlex
import subprocess
import sys
import time
from collections import Counter
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final
from urllib.parse import urlencode

from bench import live_world
from bench.measure import COMMAND, PYTHON, Measurement, least
from tests.live.binaries import NOTHING_THERE, programs
from tests.live.proxy import recording
from tests.live.server import ADMIN, running

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping

    from bench.live_world import LargeWorld
    from tests.live.proxy import Exchange
    from tests.live.server import Server

LISTING: Final = ("get", "httproutes", "--all-namespaces", "-o", "json")
FEW: Final = 10
RUNS: Final = 3
# Started by a small process: the peak of one that is started is never less than what its parent had.
_MEASURE: Final = """
import os, sys, time
silence = [(os.POSIX_SPAWN_OPEN, 1, os.devnull, os.O_WRONLY, 0)]
start = time.perf_counter()
_, status, usage = os.wait4(os.posix_spawnp(sys.argv[1], sys.argv[1:], os.environ, file_actions=silence), 0)
print(time.perf_counter() - start, usage.ru_maxrss)
sys.exit(status != 0)
"""


@dataclass(frozen=True, kw_only=True)
class Budget:
    """A command, how much of the time of `LISTING` it may take, and how many MiB at its peak."""

    words: str
    part: float
    mebibytes: int


BUDGETS: Final[Mapping[str, tuple[LargeWorld, tuple[Budget, ...]]]] = {
    "teams with policies on Namespaces": (
        live_world.PROFILED,
        (
            Budget(words="describe httproute/route-0 -n team-0", part=1 / 10, mebibytes=60),
            Budget(words="describe gateway/edge-0 -n infra", part=1 / 3, mebibytes=200),
            Budget(words="blast-radius retrypolicy/edge-0 -n infra", part=1 / 3, mebibytes=200),
        ),
    ),
    "policies known by a label alone": (
        live_world.LABELLED,
        (Budget(words="describe httproute/route-7 -n team-7", part=0.15, mebibytes=80),),
    ),
}


@dataclass(frozen=True, kw_only=True)
class Traffic:
    """The requests of one command to a server."""

    # How often each path was asked for.
    asked: Counter[str]
    # Bytes of the answers, no more compressed.
    size: int

    @classmethod
    def of(cls, exchanges: Iterable[Exchange]) -> Traffic:
        """Count the exchanges with a server."""
        done = list(exchanges)
        paths = sorted(f"{each.path}?{urlencode(each.query, doseq=True)}".rstrip("?") for each in done)
        return cls(asked=Counter(paths), size=sum(len(each.plain) for each in done))

    def __str__(self) -> str:
        """Say how much it is."""
        return f"{self.asked.total()} requests, {self.size / 1000:.0f} kB"


class FailedError(Exception):
    """A command has no answer; the text is what it says."""


def run(command: Iterable[str], environment: Mapping[str, str]) -> Measurement:
    """Run once, without its output. Raises FailedError."""
    done = subprocess.run(  # noqa: S603 (our own arguments)
        [PYTHON, "-I", "-S", "-c", _MEASURE, *command],
        env=environment,
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        check=False,
    )
    if done.returncode:
        raise FailedError(done.stderr.strip())
    seconds, peak = map(float, done.stdout.split())
    # macOS counts bytes where Linux counts KiB (getrusage(2)).
    return Measurement(seconds=seconds, mebibytes=peak / (2**20 if sys.platform == "darwin" else 2**10))


class Bench:
    """Commands that are measured on one server."""

    def __init__(self, server: Server) -> None:
        """Ask as somebody who may do everything, with what was discovered in a cache of its own."""
        self.server = server
        config = f"--kubeconfig={server.kubeconfig(ADMIN)}"
        self.listing = [str(server.programs.kubectl), config, *LISTING]
        self.options = [config]
        kept = {name: value for name, value in server.environment().items() if name != "PYTHONDONTWRITEBYTECODE"}
        self.environment = {name: value for name, value in kept.items() if name != "KUBECTL_POLICY_OFFLINE"}

    def ask(self, budget: Budget) -> Measurement:
        """Run a command of ours once. Raises FailedError."""
        return run([COMMAND, *shlex.split(budget.words), *self.options], self.environment)

    def traffic(self, budget: Budget) -> Traffic:
        """The requests and bytes of a command that knows already what is served. Raises FailedError."""
        self.ask(budget)
        with recording(self.server) as proxy:
            config = f"--kubeconfig={self.server.kubeconfig(ADMIN, url=proxy.url)}"
            # What is served is remembered for each address.
            for _ in range(2):
                proxy.exchanges.clear()
                run([COMMAND, *shlex.split(budget.words), config], self.environment)
            return Traffic.of(proxy.exchanges)

    def lines(self, budget: Budget, before: Traffic | None) -> Iterator[str]:
        """The line of a command, and its requests; `before` are those with few routes."""
        try:
            traffic = self.traffic(budget)
            # In turns, so that a busy moment of the machine meets both.
            pairs = [(run(self.listing, self.environment), self.ask(budget)) for _ in range(RUNS)]
        except FailedError as error:
            yield f"{budget.words:<44}failed: {error}"
            return
        baseline, ours = least([pair[0] for pair in pairs]), least([pair[1] for pair in pairs])
        ratio = ours.seconds / baseline.seconds
        verdict = "ok" if ratio <= budget.part and ours.mebibytes <= budget.mebibytes else "OVER"
        yield (
            f"{budget.words:<44}{ours.seconds:>7.2f} s{ours.mebibytes:>6.0f} MiB{baseline.seconds:>12.2f} s"
            f"{baseline.mebibytes:>7.0f} MiB{ratio:>10.3f} x{budget.part:>8.3f} x{budget.mebibytes:>6} MiB   {verdict}"
        )
        few = live_world.TEAMS * FEW
        then = "not known" if before is None else "the same" if before.asked == traffic.asked else str(before)
        size = "" if before is None else f", {before.size / 1000:.0f} kB"
        yield f"  {traffic} (with {few:,} routes: {then}{size})"
        yield from (f"  {count:>4} {path}" for path, count in traffic.asked.items())


def _measured(server: Server, world: LargeWorld, budgets: Iterable[Budget]) -> Iterator[str]:
    live_world.write(server, world.definitions())
    server.apply(server.programs.definitions / "experimental", *world.manifests)
    bench = Bench(server)
    start = time.perf_counter()
    live_world.write(server, world.shared())
    live_world.write(server, world.routes(range(FEW)))
    written = time.perf_counter() - start
    before = {budget: _traffic_if_any(bench, budget) for budget in budgets}
    start = time.perf_counter()
    live_world.write(server, world.routes(range(FEW, live_world.ROUTES_PER_TEAM)))
    written += time.perf_counter() - start
    yield (
        f"{live_world.TEAMS * live_world.ROUTES_PER_TEAM:,} HTTPRoutes behind {world.gateways} Gateways, "
        f"{live_world.TEAMS * live_world.SERVICES_PER_TEAM:,} Services, {live_world.TEAMS} teams, "
        f"{live_world.POLICIES} policies; written in {written:.0f} s"
    )
    against = f"kubectl {' '.join(LISTING[:2])} -A"
    yield f"{'':<44}{'time':>9}{'peak':>10}   {against}{'ratio':>10}{'budget':>20}"
    for budget in budgets:
        yield from bench.lines(budget, before[budget])


def _traffic_if_any(bench: Bench, budget: Budget) -> Traffic | None:
    try:
        return bench.traffic(budget)
    except FailedError:
        return None


def main() -> int:
    """Print the table, a line as soon as it is known; a budget that is exceeded is shown, and is not a failure."""
    found = programs()
    if not found:
        print(NOTHING_THERE)
        return 0
    for name, (world, budgets) in BUDGETS.items():
        print(f"{name}:")
        with running(found) as server:
            for line in _measured(server, world, budgets):
                print(line, flush=True)
    return 0


if __name__ == "__main__":
    sys.exit(main())
