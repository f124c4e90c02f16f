"""Credentials: headers of requests, and the client certificate of connections; loaded anew where they are refused."""

from __future__ import annotations

from threading import Lock
from typing import TYPE_CHECKING, Final

from kubectl_policy.errors import ClusterError
from kubectl_policy.sources.cluster.kubeconfig import clear_errors, configuration_of, pool_of, remove_key_files
from kubectl_policy.sources.cluster.transport import header_value, set_proxy, tls_context

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from urllib3 import HTTPHeaderDict

    from kubectl_policy.sources.cluster.kubeconfig import Loader

_MAX_CONNECTIONS: Final = 32


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
            self._tls = tls_context(self._configuration) if self.server.startswith("https:") else None
            set_proxy(self._configuration, is_proxy_set=is_proxy_set)
            self.pool = pool_of(self._configuration)
            # Certificates are in the context: the package would load them anew for each connection.
            certificates = {"ca_certs": None, "cert_file": None, "key_file": None, "ssl_context": self._tls}
            self.pool.connection_pool_kw.update(certificates if self._tls else {}, maxsize=_MAX_CONNECTIONS)
            self._present()
            header_value(str(self._configuration.api_key.get("BearerToken", "")).strip(), f"{subject}: the token")

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
        return header_value(authorization, f"{self._subject}: the token")

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
