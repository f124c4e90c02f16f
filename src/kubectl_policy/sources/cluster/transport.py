"""Transport to a cluster: address, headers, TLS and proxies, as kubectl takes them where urllib3 does otherwise."""

from __future__ import annotations

import ssl
from typing import TYPE_CHECKING, Any, Final
from urllib.parse import unquote

import urllib3
from urllib3.exceptions import InsecureRequestWarning, LocationParseError
from urllib3.util import create_urllib3_context, make_headers, parse_url

from kubectl_policy.errors import ClusterError, UsageError

if TYPE_CHECKING:
    from urllib3.util import Url

_PROXIES: Final = ("http", "https", "socks5", "socks5h")
_PROXY_HINT: Final = "write it as in http://proxy.example:3128 or socks5://proxy.example:1080"
_THIS_MACHINE: Final = "localhost,127.0.0.0/8,::1"


def server_address(server: str, subject: str) -> str:
    """Return the address of a cluster: its scheme, host, port and path, without a slash at the end."""
    error = UsageError if subject.startswith("--") else ClusterError
    # kubectl: asks an address without a scheme, such as `localhost:8001`, without TLS.
    url = parse_address(server if "://" in server else f"http://{server}")
    if url is None or url.scheme not in {"http", "https"}:
        raise error(f"{subject}: it has to be the address of a cluster", "write it as in https://cluster.example:6443")
    if url.auth is not None:
        raise error(f"{subject}: it holds a user or a password", "these belong to a user, as username and password")
    return f"{url.scheme}://{url.netloc}{url.path or ''}".rstrip("/")


def parse_address(address: str) -> Url | None:
    """Return the parts of an address; None if it is none, or names no host that sockets take."""
    try:
        url = parse_url(address)
        host = (url.host or "").encode("idna")
    except (LocationParseError, UnicodeError):
        return None
    return url if host and address.isprintable() and " " not in address else None


def tls_context(configuration: Any) -> ssl.SSLContext:  # noqa: ANN401 (the package has no types)
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


def set_proxy(configuration: Any, *, is_proxy_set: bool) -> None:  # noqa: ANN401 (the package has no types)
    """Mend the proxy that the kubeconfig sets, or else the environment. Raises `ClusterError` for one that is none."""
    # kubectl: asks a proxy of the kubeconfig whatever $NO_PROXY says, and this machine without that of the environment.
    configuration.no_proxy = "" if is_proxy_set else f"{configuration.no_proxy or ''},{_THIS_MACHINE}"
    proxy = configuration.proxy or ""
    url = parse_address(proxy if "://" in proxy else f"http://{proxy}") if proxy else None
    if proxy and (url is None or url.scheme not in _PROXIES):
        raise ClusterError("proxy-url or HTTPS_PROXY: it has to be the address of a proxy", _PROXY_HINT)
    if url:
        # kubectl: needs no scheme in the environment, and lets a SOCKS proxy look up the name of the cluster.
        configuration.proxy = url.url.replace("socks5://", "socks5h://")
        if url.auth and not configuration.proxy.startswith("socks"):
            # kubectl: sends the user and the password in the address to the proxy.
            login = unquote(url.auth).encode().decode("latin-1")
            configuration.proxy_headers = make_headers(proxy_basic_auth=login)


def header_value(text: str, subject: str) -> str:
    """Return a text as a header has it, a character for each byte. Raises `ClusterError` that keeps the text secret."""
    if any(character < " " or character == "\x7f" for character in text):
        raise ClusterError(f"{subject} holds a line break or another control character")
    return text.encode(errors="replace").decode("latin-1")
