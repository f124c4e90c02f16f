"""Real processes that wait for a cluster: at a terminal, behind a pipe, and when somebody has waited long enough."""

from __future__ import annotations

import os
import re
import signal
import subprocess
import sys
import time
from typing import TYPE_CHECKING, Final

import pytest

from tests.sources.cluster import faults
from tests.sources.cluster.reaching import written
from tests.terminals import stderr_at_terminal

if TYPE_CHECKING:
    from pathlib import Path

    from tests.sources.cluster.faulty import FaultyServer

PROGRAM: Final = (sys.executable, "-m", "kubectl_policy")
DESCRIBE: Final = (*PROGRAM, "describe", "httproute/baker")
RETRIES: Final = "/apis/example.io/v1alpha1/retrypolicies"


def interrupted(arguments: tuple[str, ...], after: float, **environment: str) -> tuple[int, bytes, bytes, float]:
    """How a process ends that is interrupted after some seconds, what it wrote, and how long that took."""
    message = {**os.environ, **environment}
    pipe = subprocess.PIPE
    with subprocess.Popen(arguments, stdout=pipe, stderr=pipe, env=message) as process:  # noqa: S603 (our own)
        time.sleep(after)
        start = time.perf_counter()
        process.send_signal(signal.SIGINT)
        out, err = process.communicate(timeout=20)
        return process.returncode, out, err, time.perf_counter() - start


@pytest.mark.parametrize("path", ["/api*", RETRIES])
def test_an_interrupt_while_a_server_is_silent(bakery: FaultyServer, flags: tuple[str, ...], path: str) -> None:
    """Nobody waits for its end, and nothing is said."""
    bakery.fault(path, faults.silence)
    code, out, err, seconds = interrupted((*DESCRIBE, *flags), 1.5)
    assert (code, out, err) == (130, b"", b"")
    assert seconds < 5


def test_an_interrupt_while_a_plugin_runs(home: Path, tmp_path: Path) -> None:
    """Somebody who does not log in after all is asked nothing more."""
    assert not home.exists()
    plugin = {"apiVersion": "client.authentication.k8s.io/v1", "command": "sleep", "args": ["5"]}
    config = written(tmp_path, user={"exec": {**plugin, "interactiveMode": "Never"}})
    code, out, err, seconds = interrupted((*DESCRIBE, "--kubeconfig", config), 1)
    assert (code, out, err) == (130, b"", b"")
    assert seconds < 5


def test_a_reader_who_has_seen_enough(bakery: FaultyServer, flags: tuple[str, ...]) -> None:
    assert bakery.url
    command = subprocess.run(  # noqa: S603 (our own)
        ["/bin/sh", "-c", '"$@" | head -1', "sh", *DESCRIBE, *flags], capture_output=True, timeout=30, check=False
    )
    assert (command.returncode, command.stderr) == (0, b"")
    assert command.stdout.count(b"\n") == 1


def test_standard_output_is_closed(bakery: FaultyServer, flags: tuple[str, ...]) -> None:
    assert bakery.url
    command = subprocess.run(  # noqa: S603 (our own)
        ["/bin/sh", "-c", '"$@" >&-', "sh", *DESCRIBE, *flags], capture_output=True, timeout=30, check=False
    )
    assert (command.returncode, command.stdout) == (3, b"")
    assert command.stderr == b"error: cannot write the answer: standard output is closed\n"


@pytest.mark.parametrize("path", ["/apis", RETRIES])
def test_it_ends_in_time(bakery: FaultyServer, flags: tuple[str, ...], tmp_path: Path, path: str) -> None:
    """The whole process takes no more than the time and a second longer than with a server that answers."""

    def run() -> tuple[subprocess.CompletedProcess[bytes], float]:
        start = time.perf_counter()
        cache = "--cache-dir", str(tmp_path / f"cache-{start}")
        command = [*DESCRIBE, *flags, *cache, "--request-timeout", "2s"]
        completed = subprocess.run(command, capture_output=True, timeout=30, check=False)  # noqa: S603 (our own)
        return completed, time.perf_counter() - start

    _, seconds_of_answer = run()
    bakery.fault(path, faults.silence)
    command, seconds = run()
    assert seconds - seconds_of_answer < 3
    assert command.returncode == (3 if path == "/apis" else 0)
    assert b"no answer within --request-timeout 2s" in b" ".join((command.stdout + command.stderr).split())


@pytest.mark.parametrize(
    ("path", "message"),
    [
        ("/apis", "asking the cluster: what it serves [.]{3}"),
        (RETRIES, "asking the cluster: [0-9]+ of [0-9]+: RetryPolicy"),
    ],
)
def test_progress(bakery: FaultyServer, flags: tuple[str, ...], path: str, message: str) -> None:
    bakery.fault(path, faults.slow(1.6), 1)
    shown = stderr_at_terminal((*DESCRIBE, *flags))
    assert re.search(message, shown)
    assert shown.endswith("\r\x1b[2K")


def test_no_progress(bakery: FaultyServer, flags: tuple[str, ...]) -> None:
    assert bakery.url
    assert stderr_at_terminal((*DESCRIBE, *flags)) == ""
