"""Credentials: headers of requests, TLS and client certificates, loaded anew where they are refused; and proxies.

After "kubectl:", a comment says what kubectl does, and urllib3 or the kubernetes package does not.
"""

from __future__ import annotations

import ssl
from threading import Lock
from typing import TYPE_CHECKING, Any, Final
from urllib.parse import unquote

import urllib3
from urllib3 import HTTPHeaderDict
from urllib3.exceptions import InsecureRequestWarning, LocationParseError
from urllib3.util import create_urllib3_context, make_headers, parse_url

from kubectl_policy.errors import ClusterError, UsageError
from kubectl_policy.sources.cluster.kubeconfig import (
    clear_errors,
    configuration_of,
    pool_of,
    remove_key_files,
)

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping

    from urllib3.util import Url

    from kubectl_policy.sources.cluster.kubeconfig import Loader

_MAX_CONNECTIONS: Final = 32
_PROXIES: Final = ("http", "https", "socks5", "socks5h")
_PROXY_HINT: Final = "write it as in http://proxy.example:3128 or socks5://proxy.example:1080"
_THIS_MACHINE: Final = "localhost,127.0.0.0/8,::1"


class Credentials:
    """Identity that is shown to a cluster: headers of requests, and the client certificate of connections."""

    # One for all clusters: the files in which the package keeps keys are removed as soon as they are read.
    _lock = Lock()

    def __init__(
        self, new_loader: Callable[[], Loader], headers: HTTPHeaderDict, subject: str, *, is_proxy_set: bool
    ) -> None:
        """Load the first credentials, which are sent beside other headers; errors name the `subject`."""
        self._new_loader, self._headers, self._subject = new_loader, headers, subject
        self._refused: tuple[str, str] | None = None
        self._path: str = ""
        self._certificate: str = ""
        with self._lock, clear_errors(subject):
            self._configuration = configuration_of(self._new_loader())
            self.server: str = self._configuration.host
            self._tls = _tls_context(self._configuration) if self.server.startswith("https:") else None
            _set_proxy(self._configuration, is_proxy_set=is_proxy_set)
            self.pool = pool_of(self._configuration)
            # Certificates are in the context: the package would load them anew for each connection.
            certificates = {"ca_certs": None, "cert_file": None, "key_file": None, "ssl_context": self._tls}
            self.pool.connection_pool_kw.update(certificates if self._tls else {}, maxsize=_MAX_CONNECTIONS)
            self._present()
            _header_value(str(self._configuration.api_key.get("BearerToken", "")).strip(), f"{subject}: the token")

    def headers(self) -> HTTPHeaderDict:
        """Return the headers of one request. Raises `ClusterError` if a credential expired and there is no new one."""
        with self._lock, clear_errors(self._subject):
            headers = self._headers.copy()
            if authorization := self._authorization():
                headers["Authorization"] = authorization
            return headers

    def renew(self, headers: Mapping[str, str]) -> bool:
        """Get new credentials after a 401 for a request with these headers; whether there are any.

        kubectl: asks the plugin again, and reads the file of the token again.
        """
        with self._lock, clear_errors(self._subject):
            used = self._authorization(), self._certificate
            # Another thread may have got new ones meanwhile.
            if headers.get("Authorization", "") != used[0]:
                return True
            if used == self._refused:
                return False
            self._refused = used
            self._configuration = configuration_of(self._new_loader())
            return used != (self._authorization(), self._certificate)

    def _authorization(self) -> str:
        """Return the header Authorization of credentials that are valid now: the package loads new ones if need be."""
        # kubectl: the end of a line is no part of the token in a file.
        authorization = str(self._configuration.get_api_key_with_prefix("BearerToken") or "").strip()
        self._present()
        return _header_value(authorization, f"{self._subject}: the token")

    def _present(self) -> None:
        """Let connections present the client certificate; none is kept that was made with another one."""
        path = str(self._configuration.cert_file or "")
        if path == self._path or not self._tls:
            return
        self._path = path
        if not path:
            return
        try:
            with open(path, encoding="latin-1") as file:  # noqa: PTH123 (pathlib is slow to import)
                certificate = file.read()
            # Without a password, OpenSSL would ask for one at the terminal.
            self._tls.load_cert_chain(path, self._configuration.key_file, password="")
        except OSError as error:
            raise ClusterError(f"{self._subject}: there is no client certificate with its key (PEM): {error}") from None
        finally:
            remove_key_files()
        if certificate != self._certificate:
            self.pool.clear()
        self._certificate = certificate


def impersonation_headers(pairs: Iterable[tuple[str, str]]) -> HTTPHeaderDict:
    """Return the headers that say in whose name a request is; each group has a header of its own."""
    headers = HTTPHeaderDict()
    for name, text in pairs:
        if text:
            headers.add(f"Impersonate-{name}", _header_value(text, f"Impersonate-{name}"))
    return headers


def server_address(server: str, subject: str) -> str:
    """Return the address of a cluster: its scheme, host, port and path, without a slash at the end."""
    error = UsageError if subject.startswith("--") else ClusterError
    # kubectl: asks an address without a scheme, such as `localhost:8001`, without TLS.
    url = parse_address(server if "://" in server else f"http://{server}")
    if url is None or url.scheme not in {"http", "https"}:
        raise error(f"{subject}: it must be the address of a cluster", "write it as in https://cluster.example:6443")
    if url.auth is not None:
        raise error(f"{subject}: it contains a user or a password", "these belong to a user, as username and password")
    return f"{url.scheme}://{url.netloc}{url.path or ''}".rstrip("/")


def parse_address(address: str) -> Url | None:
    """Return the parts of an address; None if it is none, or names no host that sockets take."""
    try:
        url = parse_url(address)
        host = (url.host or "").encode("idna")
    except (LocationParseError, UnicodeError):
        return None
    return url if host and address.isprintable() and " " not in address else None


def _tls_context(configuration: Any) -> ssl.SSLContext:  # noqa: ANN401 (the package has no types)
    """Return how connections are secured; the package would load the certificates anew for each of them.

    kubectl: takes authorities without what Python 3.13 demands of them, such as those of kubeadm.
    """
    context = create_urllib3_context(cert_reqs=ssl.CERT_REQUIRED if configuration.verify_ssl else ssl.CERT_NONE)
    context.verify_flags &= ~ssl.VERIFY_X509_STRICT
    context.verify_flags |= ssl.VERIFY_X509_PARTIAL_CHAIN
    if not configuration.verify_ssl:
        # Whoever asked for it knows.
        urllib3.disable_warnings(InsecureRequestWarning)
    elif configuration.ssl_ca_cert:
        try:
            context.load_verify_locations(configuration.ssl_ca_cert)
        except ssl.SSLError:
            raise ClusterError("there is no certificate (PEM) in certificate-authority") from None
    else:
        context.load_default_certs()
    return context


def _set_proxy(configuration: Any, *, is_proxy_set: bool) -> None:  # noqa: ANN401 (the package has no types)
    """Mend the proxy that the kubeconfig sets, or else the environment. Raises `ClusterError` for one that is none."""
    # kubectl: asks a proxy of the kubeconfig whatever $NO_PROXY says, and this machine without that of the environment.
    configuration.no_proxy = "" if is_proxy_set else f"{configuration.no_proxy or ''},{_THIS_MACHINE}"
    proxy = configuration.proxy or ""
    url = parse_address(proxy if "://" in proxy else f"http://{proxy}") if proxy else None
    if proxy and (url is None or url.scheme not in _PROXIES):
        raise ClusterError("proxy-url or HTTPS_PROXY: it must be the address of a proxy", _PROXY_HINT)
    if url:
        # kubectl: needs no scheme in the environment, and lets a SOCKS proxy look up the name of the cluster.
        configuration.proxy = url.url.replace("socks5://", "socks5h://")
        if url.auth and not configuration.proxy.startswith("socks"):
            # kubectl: sends the user and the password in the address to the proxy.
            login = unquote(url.auth).encode().decode("latin-1")
            configuration.proxy_headers = make_headers(proxy_basic_auth=login)


def _header_value(text: str, subject: str) -> str:
    """Return a text as a header has it, a character for each byte. Raises `ClusterError` that keeps the text secret."""
    if any(character < " " or character == "\x7f" for character in text):
        raise ClusterError(f"{subject} contains a line break or another control character")
    return text.encode(errors="replace").decode("latin-1")
