"""What may go wrong between a client and an API server: each a function that answers one request in its own way."""

from __future__ import annotations

import gzip
import json
from typing import TYPE_CHECKING, Final, TypeAlias

if TYPE_CHECKING:
    from collections.abc import Callable

    from tests.sources.cluster.faulty import Handler

Fault: TypeAlias = "Callable[[Handler], None]"

_REASONS: Final = {
    401: "Unauthorized",
    403: "Forbidden",
    404: "NotFound",
    406: "NotAcceptable",
    410: "Expired",
    413: "RequestEntityTooLarge",
    429: "TooManyRequests",
    500: "InternalError",
    503: "ServiceUnavailable",
    504: "Timeout",
}


def status(code: int, message: str = "it went wrong", *, retry_after: str = "") -> Fault:
    """A `Status` object, as API servers answer with."""
    reason = _REASONS.get(code, "Unknown")
    body = {
        "kind": "Status",
        "apiVersion": "v1",
        "status": "Failure",
        "message": message,
        "reason": reason,
        "code": code,
    }
    return raw(json.dumps(body).encode(), code=code, headers={"Retry-After": retry_after} if retry_after else {})


def failed_conversion() -> Fault:
    """What an API server says where the webhook of a definition does not answer."""
    asked = "conversion webhook for example.io/v1alpha1, Kind=RetryPolicy failed"
    url = "https://webhook.tools.svc:443/convert?timeout=30s"
    return status(500, f'{asked}: Post "{url}": dial tcp 10.0.0.7:443: connect: connection refused')


def raw(
    body: bytes, *, code: int = 200, sort: str = "application/json", headers: dict[str, str] | None = None
) -> Fault:
    """Any body, of which the length is told rightly unless headers say otherwise."""

    def answer(handler: Handler) -> None:
        said = {"Content-Type": sort, "Content-Length": str(len(body)), **(headers or {})}
        handler.send_response(code)
        for name, each in said.items():
            handler.send_header(name, each)
        handler.end_headers()
        handler.wfile.write(body)

    return answer


def html(code: int = 200) -> Fault:
    return raw(b"<html><body>Please log in</body></html>", code=code, sort="text/html; charset=utf-8")


def bomb(size: int) -> Fault:
    """A small body that is a large one once it is decompressed."""
    return raw(gzip.compress(b" " * size), headers={"Content-Encoding": "gzip"})


def redirect(to: str, code: int = 302) -> Fault:
    return raw(b"", code=code, headers={"Location": to})


def cut(handler: Handler) -> None:
    handler.hang_up()


def cut_within(handler: Handler) -> None:
    """The end of the connection in the middle of an answer."""
    raw(b'{"kind": "Thing", ', headers={"Content-Length": "5000"})(handler)
    handler.hang_up()


def cut_within_chunks(handler: Handler) -> None:
    """The same, of an answer that does not say how long it is."""
    handler.send_bytes(b"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nTransfer-Encoding: chunked\r\n\r\n")
    handler.send_bytes(b'4\r\n{"a"\r\n')
    handler.hang_up()


def wrong_bytes(sent: bytes) -> Fault:
    def answer(handler: Handler) -> None:
        handler.send_bytes(sent)
        handler.hang_up()

    return answer


def silence(handler: Handler) -> None:
    handler.wait(None)


def slow(seconds: float) -> Fault:
    def answer(handler: Handler) -> None:
        handler.wait(seconds)
        handler.answer_rightly()

    return answer


def drip(before: bytes, drop: bytes = b" ", every: float = 0.05) -> Fault:
    """An answer that comes bit by bit and never ends, after some bytes at once."""

    def answer(handler: Handler) -> None:
        handler.send_bytes(before)
        while not handler.wait(every):
            handler.send_bytes(drop)

    return answer


def then_hang_up(fault: Fault) -> Fault:
    """A fault after which the server closes the connection."""

    def answer(handler: Handler) -> None:
        fault(handler)
        handler.hang_up()

    return answer


# A body that is not compressed as it says, and one that ends too soon, though its length is right.
WRONG_GZIP: Final = raw(b"this is plain text", headers={"Content-Encoding": "gzip"})
_BODY: Final = gzip.compress(json.dumps({"kind": "Thing", "text": "abc" * 1000}).encode())
TRUNCATED_GZIP: Final = raw(_BODY[: len(_BODY) // 2], headers={"Content-Encoding": "gzip"})
# A header, a body, and the length of a chunk, none of which ever ends.
_TO_TYPE: Final = b"HTTP/1.1 200 OK\r\nContent-Type: "
_TO_LENGTH: Final = _TO_TYPE + b"application/json\r\n"
DRIPPING_HEADERS: Final = drip(_TO_TYPE, b"x")
DRIPPING_BODY: Final = drip(_TO_LENGTH + b"Content-Length: 100000\r\n\r\n")
DRIPPING_CHUNKS: Final = drip(_TO_LENGTH + b"Transfer-Encoding: chunked\r\n\r\n1;", b"x")
