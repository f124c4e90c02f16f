"""`--watch`: an answer, and again whenever it changes; what is said where that is not known."""

from __future__ import annotations

import os
import pty
import signal
import subprocess
import sys
import time
from contextlib import contextmanager
from typing import TYPE_CHECKING, Final

import pytest

from tests.cli.clusters import cluster, color, kubeconfig
from tests.sources.cluster import faults

if TYPE_CHECKING:
    from collections.abc import Callable, Generator, Iterator
    from pathlib import Path

    from tests.cli.conftest import Command
    from tests.sources.cluster.faulty import FaultyServer, Handler

POLICIES: Final = "/apis/example.com/v1/colorpolicies"
DESCRIBE: Final = ("describe", "colorpolicy/red")
LONGEST: Final = 30.0


class Watcher:
    """A command that watches a server."""

    def __init__(self, process: subprocess.Popen[bytes], out: Path, err: Path) -> None:
        self.process, self._out, self._err = process, out, err

    @property
    def out(self) -> str:
        return self._out.read_text("utf-8")

    @property
    def err(self) -> str:
        return self._err.read_text("utf-8")

    def until(self, is_so: Callable[[], bool]) -> None:
        end = time.monotonic() + LONGEST
        while not is_so():
            assert time.monotonic() < end, f"{self.out}\n{self.err}"
            assert self.process.poll() is None, self.err
            time.sleep(0.02)


@contextmanager
def watching(server: FaultyServer, folder: Path, *arguments: str) -> Generator[Watcher]:
    """A command that watches a server until the block ends."""
    config = kubeconfig(folder, namespace="app", one=server.url)
    command = [
        sys.executable,
        "-m",
        "kubectl_policy",
        *arguments,
        "-w",
        "--kubeconfig",
        config,
        "--request-timeout",
        "5s",
    ]
    out, err = folder / "out", folder / "err"
    with (
        out.open("wb") as to,
        err.open("wb") as errors,
        subprocess.Popen([*command, "--cache-dir", str(folder / "cache")], stdout=to, stderr=errors) as process,  # noqa: S603 (our own program)
    ):
        try:
            yield Watcher(process, out, err)
        finally:
            process.kill()


@pytest.fixture
def server() -> Iterator[FaultyServer]:
    with cluster() as started:
        yield started


def if_watched(fault: Callable[[Handler], None]) -> Callable[[Handler], None]:
    def answer(handler: Handler) -> None:
        (fault if handler.request_now.query.get("watch") else type(handler).answer_rightly)(handler)

    return answer


def test_manifests_and_several_clusters_are_not_watched(command: Command, manifests: Path) -> None:
    for others in (["--offline", str(manifests)], ["--context", "a", "--context", "b"], ["--all-contexts"]):
        code, out, err = command("get", "policies", "-w", *others)
        assert (code, out) == (2, "")
        assert err.startswith("error: --watch is for one cluster\n")


def test_without_an_answer_at_first_nothing_is_watched(server: FaultyServer, tmp_path: Path, command: Command) -> None:
    config = kubeconfig(tmp_path, namespace="app", one=server.url)
    code, _, err = command("describe", "colorpolicy/none", "-w", "--kubeconfig", config, "--cache-dir", tmp_path)
    assert code == 3
    assert "not found" in err


def test_each_new_answer_comes_after_the_last_one(server: FaultyServer, tmp_path: Path) -> None:
    """Only if it is another one; Ctrl-C ends it."""
    with watching(server, tmp_path, *DESCRIBE) as watcher:
        watcher.until(lambda: "red" in watcher.out)
        first = watcher.out
        server.change("MODIFIED", color("blue"))
        watcher.until(lambda: "color   blue" in watcher.out)
        assert watcher.out.startswith(f"{first}\n")
        second = watcher.out
        same = color("blue")
        same["metadata"]["labels"] = {"nobody": "cares"}
        asked = server.count(POLICIES)
        server.change("MODIFIED", same)
        watcher.until(lambda: server.count(POLICIES) > asked)
        server.change("MODIFIED", color("green"))
        watcher.until(lambda: "color   green" in watcher.out)
        assert watcher.out.startswith(f"{second}\n")
        assert watcher.out.count("color   blue") == 1
        watcher.process.send_signal(signal.SIGINT)
        assert watcher.process.wait(LONGEST) == 130
        assert watcher.err == ""


@pytest.mark.parametrize(("form", "between"), [("yaml", "\n---\napiVersion:"), ("json", '\n}\n{\n  "apiVersion"')])
def test_documents_can_be_told_apart(server: FaultyServer, tmp_path: Path, form: str, between: str) -> None:
    with watching(server, tmp_path, "get", "policies", "-o", form) as watcher:
        watcher.until(lambda: "PolicyList" in watcher.out)
        server.change("ADDED", color("blue", "blue"))
        watcher.until(lambda: between in watcher.out)


def test_what_is_gone_may_come_back(server: FaultyServer, tmp_path: Path) -> None:
    """An object that is deleted is said to be not found, and nothing ends."""
    with watching(server, tmp_path, *DESCRIBE) as watcher:
        watcher.until(lambda: "red" in watcher.out)
        server.change("DELETED", color("red"))
        watcher.until(lambda: 'error: colorpolicy "red" not found' in watcher.err)
        server.change("ADDED", color("blue"))
        watcher.until(lambda: "color   blue" in watcher.out)


def test_what_may_not_be_watched_is_asked_for_again(server: FaultyServer, tmp_path: Path) -> None:
    server.fault("/api*", if_watched(faults.status(403, "no")))
    with watching(server, tmp_path, *DESCRIBE) as watcher:
        watcher.until(lambda: "red" in watcher.out)
        server.change("MODIFIED", color("blue"))
        watcher.until(lambda: "color   blue" in watcher.out)
        assert server.count(POLICIES) < 10


def test_a_server_that_forgot_is_asked_anew(server: FaultyServer, tmp_path: Path) -> None:
    """What changed since then it does not know: 410."""
    server.oldest = 1_500
    with watching(server, tmp_path, *DESCRIBE) as watcher:
        watcher.until(lambda: "red" in watcher.out)
        server.change("MODIFIED", color("blue"))
        watcher.until(lambda: "color   blue" in watcher.out)


def test_an_answer_that_may_be_old_is_said_to_be(server: FaultyServer, tmp_path: Path) -> None:
    """Once, with the time, and when it is not any more."""
    with watching(server, tmp_path, *DESCRIBE) as watcher:
        watcher.until(lambda: "red" in watcher.out)
        server.fault("/api*", faults.cut)
        server.change("MODIFIED", color("blue"))
        watcher.until(lambda: ": the answer may be old, it is as of " in watcher.err)
        assert "blue" not in watcher.out
        server.fault("/api*", faults.cut, times=0)
        watcher.until(lambda: ": the cluster answers again" in watcher.err)
        watcher.until(lambda: "color   blue" in watcher.out)
        assert watcher.err.count("may be old") == 1


def test_it_ends_when_nobody_reads_any_more(server: FaultyServer, tmp_path: Path) -> None:
    config = kubeconfig(tmp_path, namespace="app", one=server.url)
    command = [sys.executable, "-m", "kubectl_policy", *DESCRIBE, "-w", "--kubeconfig", config]
    with subprocess.Popen(  # noqa: S603 (our own program)
        [*command, "--cache-dir", str(tmp_path)], stdout=subprocess.PIPE, stderr=subprocess.PIPE
    ) as process:
        assert process.stdout
        assert process.stderr
        process.stdout.readline()
        process.stdout.close()
        server.change("MODIFIED", color("blue"))
        assert process.wait(LONGEST) == 0
        assert process.stderr.read() == b""


def test_at_a_terminal_it_is_shown_in_place(server: FaultyServer, tmp_path: Path) -> None:
    config = kubeconfig(tmp_path, namespace="app", one=server.url)
    command = [sys.executable, "-m", "kubectl_policy", *DESCRIBE, "-w", "--kubeconfig", config]
    ours, theirs = pty.openpty()
    with subprocess.Popen(  # noqa: S603 (our own program)
        [*command, "--cache-dir", str(tmp_path)],
        stdout=theirs,
        stderr=subprocess.PIPE,
        env={**os.environ, "TERM": "xterm", "NO_COLOR": "1"},
    ) as process:
        os.close(theirs)
        first = _read(ours, b"Ctrl-C ends")
        assert first.startswith(b"\x1b[?1049h")
        assert b"color   red" in first
        server.change("MODIFIED", color("blue"))
        second = _read(ours, b"Ctrl-C ends")
        assert b"color   blue" in second
        # Over what was there, and not after it was taken away.
        assert b"\x1b[H" in second
        assert b"\x1b[2J" not in second
        process.send_signal(signal.SIGINT)
        _read(ours, b"\x1b[?1049l")
        assert process.wait(LONGEST) == 130
    os.close(ours)


def _read(descriptor: int, until: bytes) -> bytes:
    seen = b""
    while until not in seen:
        seen += os.read(descriptor, 65_536)
    return seen
