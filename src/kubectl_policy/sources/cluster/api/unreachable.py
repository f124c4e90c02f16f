"""Why no answer came at all: names, routes, certificates and cut connections, told apart in words for people."""

from __future__ import annotations

import errno
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

from kubectl_policy.sources.cluster.api.answers import Refusal, shown

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

# What errors without a number mean, the first that fits; the empty words are those for a wait that was too long.
_SORTS: Final[tuple[tuple[type[Exception] | tuple[type[Exception], ...], str, bool], ...]] = (
    (NameResolutionError, "no such host", False),
    (NewConnectionError, "no connection to the server", False),
    ((ConnectTimeoutError, ReadTimeoutError, TimeoutError), "", False),
    (SSLError, "the server's certificate is not for this name", False),
    (DecodeError, "the answer is not compressed as it says", True),
    (IncompleteRead, "the answer was cut off", True),
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
        "whoever runs the cluster has to renew it, unless the clock of this machine is wrong",
    ),
    18: ("the server's certificate is self-signed and not trusted", _TRUST),
    19: ("the server's certificate is signed by an authority of its own that is not trusted", _TRUST),
    20: ("the server's certificate is signed by an unknown authority", _TRUST),
    21: ("the server's certificate is signed by an unknown authority", _TRUST),
    23: ("the server's certificate was revoked", "whoever runs the cluster has to replace it"),
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


def unreachable(error: Exception, late: str) -> Refusal:
    """What an error of urllib3, or of what it is built on, means; `late` are the words for a wait that was too long."""
    causes = [*_causes(error)]
    tls = next((cause for cause in causes if isinstance(cause, ssl.SSLError)), None)
    refusal = _refusal_of_tls(tls) if tls else _refusal_of(causes, late)
    if not isinstance(error, ProxyError):
        return refusal
    reason = f"no connection through the proxy: {refusal.reason}"
    return Refusal(0, reason, refusal.message, retry=refusal.retry, hint=refusal.hint or _PROXY)


def _refusal_of(causes: list[BaseException], late: str) -> Refusal:
    said = shown(str(causes[-1]))
    number = next((cause.errno for cause in causes if isinstance(cause, OSError) and cause.errno in _ERRNO), None)
    if number is not None:
        return Refusal(0, _ERRNO[number])
    for sorts, words, is_worth_a_retry in _SORTS:
        if any(isinstance(cause, sorts) for cause in causes):
            return Refusal(0, words or late, said if words else "", retry=is_worth_a_retry)
    return Refusal(0, "no connection to the server", said)


def _refusal_of_tls(error: ssl.SSLError) -> Refusal:
    # What was raised by Python, and not by OpenSSL, has none of these.
    reason = str(getattr(error, "reason", None) or "")
    if isinstance(error, ssl.SSLCertVerificationError):
        unknown = "the server's certificate is not trusted", _TRUST
        words, hint = _CERTIFICATE.get(getattr(error, "verify_code", 0), unknown)
        return Refusal(0, words, shown(str(getattr(error, "verify_message", ""))), hint=hint)
    if isinstance(error, ssl.SSLEOFError | ssl.SSLZeroReturnError) or "UNEXPECTED_EOF" in reason:
        return Refusal(0, "the connection was cut", retry=True)
    known = next((words for alert, words in _ALERTS.items() if reason.endswith(alert)), "TLS failed")
    return Refusal(0, known, shown(reason or str(error)))


def _causes(error: BaseException) -> Iterator[BaseException]:
    """An error and what it was made of, from the outside; urllib3 keeps the latter in different places."""
    seen: set[int] = set()
    waiting: list[object] = [error]
    while waiting:
        each = waiting.pop(0)
        if isinstance(each, BaseException) and id(each) not in seen:
            seen.add(id(each))
            yield each
            waiting += [
                *each.args,
                getattr(each, "reason", None),
                getattr(each, "original_error", None),
                each.__cause__,
            ]
