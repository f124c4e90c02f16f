"""Servers on loopback that answer every GET, and remember what they were asked."""

from __future__ import annotations

import ssl
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from threading import Thread
from typing import TYPE_CHECKING, Final, cast

if TYPE_CHECKING:
    from collections.abc import Generator
    from email.message import Message

CERTIFICATES: Final = Path(__file__).parent / "certificates"


class Server(ThreadingHTTPServer):
    """One that remembers the headers of requests, and of which certificates they came."""

    daemon_threads = True

    def __init__(self, context: ssl.SSLContext | None = None) -> None:
        """With TLS, if there is a context for it."""
        super().__init__(("127.0.0.1", 0), _Handler)
        self.context = context
        self.paths: list[str] = []
        self.headers: list[Message] = []
        self.clients: list[object] = []

    @property
    def authority(self) -> str:
        """The host and the port."""
        return f"127.0.0.1:{self.server_address[1]}"


class _Handler(BaseHTTPRequestHandler):
    def setup(self) -> None:
        context = cast("Server", self.server).context
        if context:
            self.request = context.wrap_socket(self.request, server_side=True)
        super().setup()

    def finish(self) -> None:
        super().finish()
        self.request.close()

    def do_GET(self) -> None:
        server = cast("Server", self.server)
        server.paths.append(self.path)
        server.headers.append(self.headers)
        server.clients.append(self.request.getpeercert() if server.context else None)
        self.send_response(200)
        self.send_header("Content-Length", "2")
        self.end_headers()
        self.wfile.write(b"{}")

    def log_message(self, format: str, *_: object) -> None:  # noqa: A002 (it is called so there)
        """Say nothing, in whatever format."""


@contextmanager
def served(*, tls: bool = True, asks_for_certificate: bool = False) -> Generator[Server]:
    """A server while it is needed, with the certificate of `cluster.example`."""
    context = None
    if tls:
        context = ssl.create_default_context(ssl.Purpose.CLIENT_AUTH)
        context.load_cert_chain(CERTIFICATES / "server.pem", CERTIFICATES / "server.key")
    if context and asks_for_certificate:
        context.load_verify_locations(CERTIFICATES / "ca.pem")
        context.verify_mode = ssl.CERT_OPTIONAL
    server = Server(context)
    # What goes wrong in a handshake is told to whoever asked.
    server.handle_error = lambda *_: None  # type: ignore[method-assign]
    thread = Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01})
    thread.start()
    try:
        yield server
    finally:
        server.shutdown()
        thread.join()
        server.server_close()
