"""Why no answer came is told in words that say what to do about it."""

import socket
import ssl

import pytest
from urllib3 import PoolManager, ProxyManager
from urllib3.exceptions import InvalidHeader, ProtocolError, ProxyError, ReadTimeoutError, SSLError

from kubectl_policy.sources.cluster.connection import Connection
from kubectl_policy.sources.cluster.refusals import RequestFailed, refusal_of_error
from tests.sources.cluster.faulty import FaultyServer
from tests.sources.cluster.reaching import CERTIFICATES, access_of


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
