"""Hostile kubeconfigs and answers, and servers out of reach: always an answer, a refusal or an error."""

from __future__ import annotations

import gzip
import json
import socket
import ssl
from collections.abc import Iterator
from pathlib import Path
from typing import Final, TypeAlias

import pytest
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st
from msgspec.structs import replace
from urllib3 import PoolManager, ProxyManager
from urllib3.exceptions import InvalidHeader, ProtocolError, ProxyError, ReadTimeoutError, SSLError

from kubectl_policy.errors import ClusterError
from kubectl_policy.model import Json
from kubectl_policy.sources.cluster.access import ClusterOptions, access_to, contexts
from kubectl_policy.sources.cluster.connection import Connection
from kubectl_policy.sources.cluster.request_failures import RequestFailed, refusal_of_error
from tests.sources.cluster import faults
from tests.sources.cluster.faults import Fault
from tests.sources.cluster.faulty import FaultyServer
from tests.sources.cluster.reaching import CERTIFICATES, access_of, config, outcome, reaching
from tests.sources.cluster.test_access_transport import data

pytestmark = pytest.mark.usefixtures("home")

_Steps: TypeAlias = tuple[str | int, ...]

# Everything that a kubeconfig may have, so that each of it may go wrong; no program that exists is named.
_WHOLE: Final = config(
    cluster={
        "server": "https://cluster.example:6443/prefix",
        "certificate-authority-data": data("ca.pem"),
        "tls-server-name": "name.example",
        "insecure-skip-tls-verify": False,
        "proxy-url": "http://u:p@proxy.example:3128",
        "extensions": [{"name": "client.authentication.k8s.io/exec", "extension": {"a": "b"}}],
    },
    user={
        "client-certificate-data": data("client.pem"),
        "client-key-data": data("client.key"),
        "token": "t",
        "as": "jane",
        "as-groups": ["a"],
        "as-uid": "1",
        "as-user-extra": {"a": ["b"]},
    },
    context={"namespace": "baker"},
)
_PLUGIN: Final = config(
    user={
        "exec": {
            "apiVersion": "client.authentication.k8s.io/v1",
            "command": "./no-such",
            "args": ["a"],
            "env": [{"name": "A", "value": "b"}],
            "installHint": "install it",
            "interactiveMode": "Never",
            "provideClusterInfo": True,
        }
    }
)
_PROVIDER: Final = config(user={"auth-provider": {"name": "oidc", "config": {"id-token": "e30.e30.a"}}})
_LOGIN: Final = config(user={"username": "a", "password": "b", "tokenFile": ""})

_TEXTS: Final = st.one_of(
    st.text(),
    st.sampled_from(
        [
            "https://a:b@c",
            "https://a\nb",
            "http://[",
            "https://[fe80::1%25eth0]",
            "https://\u2603",
            "http://a:0x1",
            "socks5://a",
            "https://" + "a" * 300,
            "\x1b[31m",
            "\u202e",
            "a\r\nHost: b",
            "YQ==",
            "LS0tLS1CRUdJTiBDRVJUSUZJQ0FURS0tLS0tCg==",
            "/dev/null",
            "/",
            "a" * 5000,
            "\ud800",
        ]
    ),
)
_VALUES: Final = st.recursive(
    st.one_of(st.none(), st.booleans(), st.integers(), st.floats(allow_nan=False), _TEXTS),
    lambda inner: st.one_of(st.lists(inner, max_size=3), st.dictionaries(_TEXTS, inner, max_size=3)),
    max_leaves=6,
)


def places(value: Json, at: _Steps = ()) -> list[_Steps]:
    inner: list[tuple[str | int, Json]] = []
    if isinstance(value, dict):
        inner = [*value.items()]
    elif isinstance(value, list):
        inner = [*enumerate(value)]
    return [at, *(place for key, each in inner for place in places(each, (*at, key)))]


def put(value: Json, at: _Steps, new: Json) -> Json:
    if not at:
        return new
    first, rest = at[0], at[1:]
    if isinstance(value, dict):
        return {key: put(each, rest, new) if key == first else each for key, each in value.items()}
    if isinstance(value, list):
        return [put(each, rest, new) if index == first else each for index, each in enumerate(value)]
    return value


@st.composite
def mangled(draw: st.DrawFn) -> Json:
    """A kubeconfig with something else in one or two places."""
    made: Json = draw(st.sampled_from([_WHOLE, _PLUGIN, _PROVIDER, _LOGIN]))
    for _ in range(draw(st.integers(1, 2))):
        made = put(made, draw(st.sampled_from(places(made))), draw(_VALUES))
    return made


@given(mangled(), st.sampled_from([ClusterOptions(), ClusterOptions(context="bakery", user="bakery")]))
@settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_mangled_kubeconfigs(tmp_path: Path, kubeconfig: Json, options: ClusterOptions) -> None:
    path = tmp_path / "config"
    path.write_text(json.dumps(kubeconfig))
    options = replace(options, kubeconfig=str(path))
    try:
        headers = access_to(options).headers()
        assert len(contexts(options)) > 0
    except ClusterError:
        return
    for name, each in headers.items():
        assert name.isascii()
        assert "\n" not in name + each
        assert "\r" not in name + each
        assert each.encode("latin-1")


@given(st.one_of(st.binary(max_size=200), st.text(max_size=200).map(lambda text: text.encode(errors="replace"))))
@example(b"\xef\xbb\xbfkind: Config")
@example(b"[" * 100_000)
@example(b"{a: " * 10_000)
@example(b"!!python/object/apply:os.system [id]")
@example(b"a: &a [*a]")
@example(b"clusters: &c [{name: a, cluster: {server: x}}]\ncontexts: *c")
@example(b"? [a]\n: b")
@example(b"kind: Config\n---\n}")
@settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_files_of_anything(tmp_path: Path, content: bytes) -> None:
    path = tmp_path / "config"
    path.write_bytes(content)
    with pytest.raises(ClusterError):
        access_to(ClusterOptions(kubeconfig=str(path)))


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


def certificate_error(code: int) -> SSLError:
    """What urllib3 raises for a certificate that OpenSSL does not verify, with its number for why not."""
    error = ssl.SSLCertVerificationError(1, "certificate verify failed")
    error.verify_code, error.verify_message = code, "as OpenSSL has it"
    return SSLError(error)


@pytest.mark.parametrize(
    ("code", "reason"),
    [
        (9, "the server's certificate is not valid yet (or the clock of this machine is wrong)"),
        (10, "the server's certificate has expired"),
        (18, "the server's certificate is self-signed and not trusted"),
        (19, "the server's certificate is signed by an authority of its own that is not trusted"),
        (20, "the server's certificate is signed by an unknown authority"),
        (62, "the server's certificate is for another name"),
        (64, "the server's certificate is for another address"),
        (99, "the server's certificate is not trusted"),
    ],
)
def test_certificates(code: int, reason: str) -> None:
    """Each is put right elsewhere: the clock, the server, the authority, the name."""
    refusal = refusal_of_error(certificate_error(code), "late")
    assert (refusal.status, refusal.reason, refusal.message) == (0, reason, "as OpenSSL has it")
    assert not refusal.retry


@pytest.mark.parametrize(
    ("error", "reason", "retry"),
    [
        (InvalidHeader("x"), "the address of the server, or a header, is malformed", False),
        (ReadTimeoutError(PoolManager().connection_from_url("http://a"), "/", "x"), "late", False),
        (ProtocolError("aborted", ConnectionResetError(104, "reset")), "the connection was cut", True),
        (ProxyError("x", OSError(111, "refused")), "no connection through the proxy: connection refused", False),
        (SSLError(ssl.SSLEOFError(8, "EOF")), "the connection was cut", True),
        (SSLError("hostname 'a' doesn't match 'b'"), "the server's certificate is not for this name", False),
        (OSError(113, "no route"), "there is no route to the server", False),
    ],
)
def test_other_errors(error: Exception, reason: str, retry: bool) -> None:  # noqa: FBT001 (a parameter of a test)
    refusal = refusal_of_error(error, "late")
    assert (refusal.reason, refusal.retry) == (reason, retry)


def reason_of(server: str, pool: PoolManager) -> str:
    with pytest.raises(RequestFailed) as caught:
        Connection(access_of(server, pool=pool), timeout=5).get("/api")
    return caught.value.reason


def test_a_real_handshake() -> None:
    """A certificate that nobody trusts, one that is not for the address, and one that is right."""
    authority = str(CERTIFICATES / "ca.pem")
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(CERTIFICATES / "server.pem", CERTIFICATES / "server.key")
    with FaultyServer(tls=context) as server:
        assert reason_of(server.url, PoolManager()) == "the server's certificate is signed by an unknown authority"
        trusting = PoolManager(ca_certs=authority)
        assert reason_of(server.url, trusting) == "the server's certificate is for another address"
        right = PoolManager(ca_certs=authority, server_hostname="cluster.example", assert_hostname="cluster.example")
        assert Connection(access_of(server.url, pool=right)).get("/api")["kind"]


def test_a_certificate_that_has_expired() -> None:
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(CERTIFICATES / "expired.pem", CERTIFICATES / "server.key")
    with FaultyServer(tls=context) as server:
        right = PoolManager(ca_certs=str(CERTIFICATES / "ca.pem"), server_hostname="cluster.example")
        assert reason_of(server.url, right) == "the server's certificate has expired"


def test_a_proxy_that_is_not_there() -> None:
    """It is told that it is the proxy, and not the server."""
    with socket.create_server(("127.0.0.1", 0)) as gone:
        port = gone.getsockname()[1]
    pool = ProxyManager(f"http://127.0.0.1:{port}")
    assert reason_of("https://a.example", pool) == "no connection through the proxy: connection refused"
