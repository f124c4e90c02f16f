"""Whatever a server sends, it is an answer or a refusal, and it ends in time."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kubectl_policy.sources.cluster.connection import Connection
from kubectl_policy.sources.cluster.refusals import RequestRefused
from tests.sources.cluster import faults
from tests.sources.cluster.faulty import FaultyServer
from tests.sources.cluster.mangling import answers, nearly_http
from tests.sources.cluster.reaching import outcome, reaching

if TYPE_CHECKING:
    from collections.abc import Iterator

    from tests.sources.cluster.faults import Fault


@pytest.fixture(scope="module")
def server() -> Iterator[FaultyServer]:
    """A server for many examples."""
    with FaultyServer() as running:
        yield running


def is_understood(server: FaultyServer, fault: Fault) -> bool:
    """Whether an answer comes of a fault, or a refusal with its reason."""
    server.fault("/*", faults.then_hang_up(fault))
    result = outcome(lambda: Connection(reaching(server), timeout=0.25).get("/api"))
    return bool(result.reason) if isinstance(result, RequestRefused) else isinstance(result, dict)


@given(answers())
def test_mangled_bodies(server: FaultyServer, fault: Fault) -> None:
    """The server speaks HTTP, but what it says is wrong."""
    assert is_understood(server, fault)


@given(st.one_of(st.binary(max_size=100), nearly_http()))
def test_mangled_http(server: FaultyServer, sent: bytes) -> None:
    """The server need not even speak HTTP."""
    assert is_understood(server, faults.wrong_bytes(sent))
