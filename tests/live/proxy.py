"""A proxy before an API server that writes down what a client asks for, and in which form, which no audit log says."""

import gzip
import http.client
import json
import ssl
from collections.abc import Generator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from threading import Thread
from typing import Final
from urllib.parse import parse_qs, urlsplit

from tests.live.server import Server

# What holds for one connection only (RFC 9110, section 7.6.1), and what this proxy says itself.
_NOT_PASSED_ON: Final = frozenset({"connection", "keep-alive", "transfer-encoding", "content-length", "date", "server"})
_BLOCK: Final = 2**16


@dataclass(frozen=True, kw_only=True)
class Exchange:
    """A request and its answer, of which the body may still grow; `encoding` and `content_type` are the answer's."""

    method: str
    path: str
    query: Mapping[str, list[str]]
    accept: str
    agent: str
    status: int
    content_type: str
    encoding: str
    body: bytearray = field(default_factory=bytearray)

    @property
    def plain(self) -> bytes:
        return gzip.decompress(self.body) if self.encoding == "gzip" else bytes(self.body)

    @property
    def kind(self) -> str:
        """The kind of what was answered, such as `SecretList` or `PartialObjectMetadataList`; empty if not JSON."""
        if not self.content_type.startswith("application/json"):
            return ""
        return str(json.loads(self.plain).get("kind", ""))


class Proxy:
    """A proxy at `url`; `exchanges` has all requests so far, in the order in which answers began."""

    def __init__(self, server: Server, *, tls: bool) -> None:
        """Listen on loopback with the server's own certificate, or without TLS."""
        self.exchanges: list[Exchange] = []
        handler = type("Handler", (_Handler,), {"upstream": server, "exchanges": self.exchanges})
        self.listener = ThreadingHTTPServer(("127.0.0.1", 0), handler)
        self.listener.daemon_threads = True
        if tls:
            context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
            context.load_cert_chain(server.certificate, server.key)
            # The handshake is for the thread of each client.
            self.listener.socket = context.wrap_socket(
                self.listener.socket, server_side=True, do_handshake_on_connect=False
            )
        self.url = f"{'https' if tls else 'http'}://127.0.0.1:{self.listener.server_port}"


@contextmanager
def recording(server: Server, *, tls: bool = True) -> Generator[Proxy]:
    """A proxy before a server, for the time of a block. kubectl sends no token where there is no TLS."""
    proxy = Proxy(server, tls=tls)
    thread = Thread(target=proxy.listener.serve_forever, kwargs={"poll_interval": 0.01}, daemon=True)
    thread.start()
    try:
        yield proxy
    finally:
        proxy.listener.shutdown()
        proxy.listener.server_close()
        thread.join()


class _Handler(BaseHTTPRequestHandler):
    """One client: each of its requests goes to the server on one connection, and its answer comes back as it comes."""

    protocol_version = "HTTP/1.1"
    upstream: Server
    exchanges: list[Exchange]

    def setup(self) -> None:
        super().setup()
        server = self.upstream
        self.connection_to_server = http.client.HTTPSConnection("127.0.0.1", server.port, context=server.trust)

    def handle(self) -> None:
        # A client may go in the middle of a watch, and the server before the client.
        with suppress(ConnectionError, http.client.IncompleteRead):
            super().handle()

    def finish(self) -> None:
        super().finish()
        self.connection_to_server.close()

    def pass_on(self) -> None:
        body = self.rfile.read(int(self.headers.get("Content-Length", 0)))
        self.connection_to_server.putrequest(self.command, self.path, skip_host=True, skip_accept_encoding=True)
        for name, value in self.headers.items():
            if name.lower() not in {"connection", "keep-alive"}:
                self.connection_to_server.putheader(name, value)
        self.connection_to_server.endheaders(body or None)
        answer = self.connection_to_server.getresponse()
        exchange = self._exchange(answer)
        self.exchanges.append(exchange)
        self.send_response(answer.status, answer.reason)
        for name, value in answer.getheaders():
            if name.lower() not in _NOT_PASSED_ON:
                self.send_header(name, value)
        self._send_body(answer, exchange.body)

    def _send_body(self, answer: http.client.HTTPResponse, copy: bytearray) -> None:
        length = answer.getheader("Content-Length")
        chunked = length is None and answer.status not in {204, 304}
        self.send_header(*(("Transfer-Encoding", "chunked") if chunked else ("Content-Length", length or "0")))
        self.end_headers()
        while block := answer.read1(_BLOCK):
            copy += block
            self.wfile.write(b"%x\r\n%b\r\n" % (len(block), block) if chunked else block)
        answer.close()
        if chunked:
            self.wfile.write(b"0\r\n\r\n")

    def _exchange(self, answer: http.client.HTTPResponse) -> Exchange:
        parts = urlsplit(self.path)
        return Exchange(
            method=self.command,
            path=parts.path,
            query=parse_qs(parts.query, keep_blank_values=True),
            accept=self.headers.get("Accept", ""),
            agent=self.headers.get("User-Agent", ""),
            status=answer.status,
            content_type=answer.getheader("Content-Type", ""),
            encoding=answer.getheader("Content-Encoding", ""),
        )

    def log_message(self, format: str, *args: object) -> None:  # noqa: A002 (http.server calls it so)
        """Say nothing on the terminal."""

    do_GET = do_HEAD = do_POST = do_PUT = do_PATCH = do_DELETE = pass_on  # noqa: N815 (names that http.server gives)
