"""Whatever a server sends, it is an answer or a refusal, and it ends in time."""

import gzip
import json
from collections.abc import Iterator
from typing import Final

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kubectl_policy.sources.cluster.connection import Connection
from kubectl_policy.sources.cluster.refusals import RequestFailed
from tests.sources.cluster import faults
from tests.sources.cluster.faults import Fault
from tests.sources.cluster.faulty import FaultyServer
from tests.sources.cluster.reaching import outcome, reaching

REAL: Final = json.dumps({"kind": "Route", "metadata": {"name": "é", "a": None}, "spec": [1, 2.5, True]}).encode()
LINES: Final = (b"200 OK", b"200", b"99999 X", b"-1 X", b"abc", b"100 Continue", b"101 Switching Protocols")
HEADERS: Final = (b"Transfer-Encoding: chunked", b"Content-Length: -1", b"Content-Length: x", b":", b"a b")
CHUNKS: Final = (b"zz\r\n{}\r\n0\r\n\r\n", b"2\r\n{}\r\n0\r\n\r\n", b"-2\r\n{}\r\n")


@st.composite
def _mangled(draw: st.DrawFn) -> bytes:
    start, end = draw(st.integers(0, len(REAL))), draw(st.integers(0, len(REAL)))
    return REAL[:start] + draw(st.binary(max_size=5)) + REAL[end:]


@st.composite
def answers(draw: st.DrawFn) -> Fault:
    """Draw an answer in HTTP whose body, length or compression may be wrong."""
    body = draw(st.one_of(st.binary(max_size=200), _mangled()))
    sent = gzip.compress(body) if draw(st.booleans()) else body
    headers = {"Content-Length": str(max(len(sent) + draw(st.integers(-2, 3)), 0))}
    if encoding := draw(st.sampled_from(["", "gzip", "deflate", "identity", "br", "gzip, gzip"])):
        headers["Content-Encoding"] = encoding
    code = draw(st.sampled_from([200, 200, 200, 201, 204, 206, 304, 400, 403, 500, 503, 999]))
    return faults.raw(sent, code=code, headers=headers)


@st.composite
def nearly_http(draw: st.DrawFn) -> bytes:
    """Draw bytes that resemble an answer in HTTP."""
    header = draw(st.one_of(st.binary(max_size=40), st.sampled_from(HEADERS)))
    body = draw(st.sampled_from([b"", b"{}", *CHUNKS]))
    return b"HTTP/1.1 " + draw(st.sampled_from(LINES)) + b"\r\n" + header + b"\r\n\r\n" + body


@pytest.fixture(scope="module")
def server() -> Iterator[FaultyServer]:
    with FaultyServer() as running:
        yield running


def is_understood(server: FaultyServer, fault: Fault) -> bool:
    """Whether an answer comes of a fault, or a refusal with its reason."""
    server.fault("/*", faults.then_hang_up(fault))
    result = outcome(lambda: Connection(reaching(server), timeout=0.25).get("/api"))
    return bool(result.reason) if isinstance(result, RequestFailed) else isinstance(result, dict)


@given(answers())
def test_mangled_bodies(server: FaultyServer, fault: Fault) -> None:
    """The server speaks HTTP, but what it says is wrong."""
    assert is_understood(server, fault)


@given(st.one_of(st.binary(max_size=100), nearly_http()))
def test_mangled_http(server: FaultyServer, sent: bytes) -> None:
    assert is_understood(server, faults.wrong_bytes(sent))
