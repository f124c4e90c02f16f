"""Refusals of requests, by the status of HTTP or the error of the connection, with hints."""

from __future__ import annotations

import errno
import re
import ssl
from http.client import IncompleteRead
from typing import TYPE_CHECKING, Final

from urllib3.exceptions import (
    ConnectTimeoutError,
    DecodeError,
    InvalidHeader,
    LocationValueError,
    NameResolutionError,
    NewConnectionError,
    ProtocolError,
    ProxyError,
    ReadTimeoutError,
    SSLError,
)

from kubectl_policy.errors import ClusterError
from kubectl_policy.model.fields import text_at

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from kubectl_policy.model.fields import Json
    from kubectl_policy.sources.cluster.access import Access

# As much of what a server says as one reads in a terminal.
_MAX_MESSAGE: Final = 400
_SECONDS: Final = re.compile(r"\s*([0-9]{1,9})\s*")
_REASONS: Final[Mapping[int, str]] = {
    400: "the server refuses the request as malformed",
    401: "the credentials were refused",
    403: "forbidden",
    404: "not found",
    405: "the server does not allow reading it",
    406: "the server does not have it in this format",
    410: "gone: the server knows no state that old",
    413: "the answer is too large for the server",
    429: "too many requests",
    500: "the server failed",
    502: "a proxy got no answer from the server",
    503: "the server is unavailable",
    504: "the server took too long",
}
# A list that takes too long (504) is asked for in pages instead; nothing else is faster the second time.
_RETRIED: Final = frozenset({429, 500, 502, 503})
# kube-apiserver says this where a CustomResourceDefinition converts by a webhook that does not answer as it must:
# apiextensions-apiserver, pkg/apiserver/conversion/webhook_converter.go.
_CONVERSION: Final = "conversion webhook for"
# Of a cluster that cannot be asked at all.
_HINTS: Final[Mapping[int, str]] = {
    403: "needs: get /api and /apis, as the ClusterRole system:discovery allows",
    **dict.fromkeys((429, 500, 502, 503, 504), "ask again later"),
}
_ADDRESS: Final = "is this the address of a cluster? `kubectl config view --minify` shows it"
# What errors without a number mean, the first that fits, and whether a retry may help; "" is a wait that was too long.
_ERRORS: Final[tuple[tuple[tuple[type[Exception], ...], str, bool], ...]] = (
    ((NameResolutionError,), "no such host", False),
    ((NewConnectionError,), "no connection to the server", False),
    ((ConnectTimeoutError, ReadTimeoutError, TimeoutError), "", False),
    ((SSLError,), "the server's certificate is not for this name", False),
    ((DecodeError,), "the answer is not compressed as it says", True),
    ((IncompleteRead,), "the answer was cut off", True),
    ((InvalidHeader, LocationValueError, UnicodeError), "the address of the server, or a header, is malformed", False),
    ((ProtocolError, OSError), "the connection was cut", True),
)
_ERRNO: Final[Mapping[int | None, str]] = {
    errno.ECONNREFUSED: "connection refused",
    errno.EHOSTUNREACH: "there is no route to the server",
    errno.ENETUNREACH: "there is no route to the server",
    errno.EHOSTDOWN: "there is no route to the server",
}
_PROXY: Final = "the proxy is that of proxy-url in the kubeconfig, or else of HTTPS_PROXY; NO_PROXY leaves it out"
_TRUST: Final = "name the authority of the cluster in its kubeconfig, or give --certificate-authority FILE"
_NAME: Final = "use an address that is in the certificate, or give a name that is: --tls-server-name NAME"
# X509_V_ERR_* of openssl/x509_vfy.h, with what to do about them.
_CERTIFICATE: Final[Mapping[int, tuple[str, str]]] = {
    9: (
        "the server's certificate is not valid yet (or the clock of this machine is wrong)",
        "compare the clock of this machine with that of the cluster",
    ),
    10: (
        "the server's certificate has expired",
        "the administrators of the cluster have to renew it, unless the clock of this machine is wrong",
    ),
    18: ("the server's certificate is self-signed and not trusted", _TRUST),
    19: ("the server's certificate is signed by an authority of its own that is not trusted", _TRUST),
    20: ("the server's certificate is signed by an unknown authority", _TRUST),
    21: ("the server's certificate is signed by an unknown authority", _TRUST),
    23: ("the server's certificate was revoked", "the administrators of the cluster have to replace it"),
    62: ("the server's certificate is for another name", _NAME),
    64: ("the server's certificate is for another address", _NAME),
}
# What OpenSSL calls the alerts by which a server says what it misses.
_ALERTS: Final[Mapping[str, str]] = {
    "CERTIFICATE_REQUIRED": "the server wants a client certificate",
    "HANDSHAKE_FAILURE": "the server refused the handshake",
    "BAD_CERTIFICATE": "the server refused the client certificate",
    "CERTIFICATE_UNKNOWN": "the server refused the client certificate",
    "CERTIFICATE_EXPIRED": "the server refused the client certificate as expired",
    "UNKNOWN_CA": "the server does not know the authority of the client certificate",
    "WRONG_VERSION_NUMBER": "the server does not speak TLS: is it http:// and not https://?",
    "HTTP_REQUEST": "the server does not speak TLS: is it http:// and not https://?",
}


class RequestFailed(Exception):  # noqa: N818 (what a server may always do is no error of ours)
    """A request without an answer, which is expected, and becomes a gap."""

    def __init__(  # noqa: PLR0913 (all but the first two have a name where they are given)
        self, status: int, reason: str, message: str = "", *, retry: bool = False, wait: float = 0, hint: str = ""
    ) -> None:
        """Keep our reason apart from the message of the server, which is safe to show, too.

        The `status` is that of HTTP, or 0 without any answer. A `retry` may help, after as many seconds of `wait` as
        the server says. The `hint` says what to do, if that depends on more than the status.
        """
        super().__init__(f"{reason}: {message}" if message else reason)
        self.status, self.reason, self.message, self.retry, self.wait = status, reason, message, retry, wait
        self.hint = hint

    @property
    def is_conversion(self) -> bool:
        """Whether the server asked the conversion webhook of a definition, and that did not answer as it must."""
        return _CONVERSION in self.message


def cluster_error(access: Access, refusal: RequestFailed) -> ClusterError:
    """Return the error that a cluster cannot be asked at all, as its server refused the first request."""
    if refusal.status == 401:  # noqa: PLR2004 (Unauthorized)
        return ClusterError(
            f"{access.name}: you must be logged in to the server (Unauthorized)",
            "log in again; `kubectl config view --minify` shows as whom the cluster is asked",
        )
    # Without an answer, the message of a library says no more than the reason.
    reason = str(refusal) if refusal.status else refusal.reason
    hint = refusal.hint or _HINTS.get(refusal.status, _ADDRESS)
    return ClusterError(f"{access.name}: {access.server} cannot be asked: {reason}", hint)


def printable(text: str) -> str:
    """Return a text from outside on one line, with nothing in it that a terminal would obey, and not too long."""
    start = text[: 2 * _MAX_MESSAGE]
    line = " ".join("".join(letter if letter.isprintable() else " " for letter in start).split())
    return line if len(text) <= _MAX_MESSAGE else f"{line[:_MAX_MESSAGE]}…"


def refusal_of(status: int, body: Mapping[str, Json], retry_after: str = "") -> RequestFailed:
    """Return what a status other than success means, by the `Status` object that came with it, which may be empty."""
    message = printable(text_at(body, "message")) if body.get("kind") == "Status" else ""
    if status >= 500 and _CONVERSION in message:  # noqa: PLR2004 (a failure of the server, by HTTP)
        return RequestFailed(status, "the conversion webhook of its definition failed", message)
    reason = _REASONS.get(status, f"the server answered with status {status}")
    seconds = _SECONDS.fullmatch(retry_after)
    wait = float(seconds[1]) if seconds else 0
    return RequestFailed(status, reason, message, retry=status in _RETRIED, wait=wait)


def refusal_of_error(error: Exception, late: str) -> RequestFailed:
    """Return what an error of urllib3, or below it, means; `late` is the reason if a wait was too long."""
    causes = [*_causes(error)]
    tls = next((cause for cause in causes if isinstance(cause, ssl.SSLError)), None)
    refusal = _refusal_of_tls(tls) if tls else _refusal_of_causes(causes, late)
    if not isinstance(error, ProxyError):
        return refusal
    reason = f"no connection through the proxy: {refusal.reason}"
    return RequestFailed(0, reason, refusal.message, retry=refusal.retry, hint=refusal.hint or _PROXY)


def _refusal_of_causes(causes: list[BaseException], late: str) -> RequestFailed:
    message = printable(str(causes[-1]))
    number = next((cause.errno for cause in causes if isinstance(cause, OSError) and cause.errno in _ERRNO), None)
    if number is not None:
        return RequestFailed(0, _ERRNO[number])
    for classes, reason, is_retried in _ERRORS:
        if any(isinstance(cause, classes) for cause in causes):
            return RequestFailed(0, reason or late, message if reason else "", retry=is_retried)
    return RequestFailed(0, "no connection to the server", message)


def _refusal_of_tls(error: ssl.SSLError) -> RequestFailed:
    # What was raised by Python, and not by OpenSSL, has none of these attributes.
    alert = str(getattr(error, "reason", None) or "")
    if isinstance(error, ssl.SSLCertVerificationError):
        unknown = "the server's certificate is not trusted", _TRUST
        reason, hint = _CERTIFICATE.get(getattr(error, "verify_code", 0), unknown)
        return RequestFailed(0, reason, printable(str(getattr(error, "verify_message", ""))), hint=hint)
    if isinstance(error, ssl.SSLEOFError | ssl.SSLZeroReturnError) or "UNEXPECTED_EOF" in alert:
        return RequestFailed(0, "the connection was cut", retry=True)
    reason = next((reason for end, reason in _ALERTS.items() if alert.endswith(end)), "TLS failed")
    return RequestFailed(0, reason, printable(alert or str(error)))


def _causes(error: BaseException) -> Iterator[BaseException]:
    """Iterate over an error and its causes, from the outside; urllib3 keeps these in several attributes."""
    seen: set[int] = set()
    waiting: list[object] = [error]
    while waiting:
        cause = waiting.pop(0)
        if isinstance(cause, BaseException) and id(cause) not in seen:
            seen.add(id(cause))
            yield cause
            inner = getattr(cause, "reason", None), getattr(cause, "original_error", None), cause.__cause__
            waiting += [*cause.args, *inner]
