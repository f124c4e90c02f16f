"""A cluster with the bakery on loopback with which anything may go wrong, and commands that ask it."""

from __future__ import annotations

import json
import time
from functools import cache
from typing import TYPE_CHECKING, NamedTuple, Protocol

import pytest

from kubectl_policy.cli import run
from kubectl_policy.sources import load_manifests
from kubectl_policy.sources.cluster import connection
from tests.sources.cluster.conftest import home
from tests.sources.cluster.faulty import FaultyServer
from tests.sources.cluster.reaching import written

if TYPE_CHECKING:
    from collections.abc import Generator
    from pathlib import Path

# The fixture counts here as well.
__all__ = ["home"]


class NodeInForce(NamedTuple):
    """What came out of a command, and how many seconds it took."""

    code: int
    out: str
    err: str
    seconds: float


class Ask(Protocol):
    """Asks the bakery's cluster in this process."""

    def __call__(self, *arguments: str, timeout: str = "2s") -> NodeInForce:
        """What came out of a command that the cluster may keep waiting for so long."""
        ...


@pytest.fixture(autouse=True)
def hurried(monkeypatch: pytest.MonkeyPatch) -> None:
    """What may pass is asked for again as often as it is, and sooner."""
    monkeypatch.setattr(connection, "_PAUSES", (0.02, 0.05, 0.1))


@cache
def _objects() -> str:
    """The objects of the bakery, which take longer to be read from manifests."""
    return json.dumps([dict(each.raw) for each in load_manifests(["fixtures/bakery"]).resources])


@pytest.fixture
def bakery() -> Generator[FaultyServer]:
    """A server of the bakery and of the definitions of its policy kinds, with which nothing goes wrong yet."""
    with FaultyServer(json.loads(_objects())) as server:
        yield server


@pytest.fixture
def flags(bakery: FaultyServer, home: Path, tmp_path: Path) -> tuple[str, ...]:  # noqa: ARG001 (a fixture)
    config = written(tmp_path, cluster={"server": bakery.url}, user={"token": "t"}, context={"namespace": "baker"})
    return "--kubeconfig", config, "--cache-dir", str(tmp_path / "cache")


@pytest.fixture
def ask(flags: tuple[str, ...], capsys: pytest.CaptureFixture[str]) -> Ask:
    def call(*arguments: str, timeout: str = "2s") -> NodeInForce:
        start = time.perf_counter()
        code = run([*arguments, *flags, "--request-timeout", timeout])
        seconds = time.perf_counter() - start
        out, err = capsys.readouterr()
        return NodeInForce(code, out, err, seconds)

    return call
