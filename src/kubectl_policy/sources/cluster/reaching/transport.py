"""Connections to a cluster: its address, what proves that it is the right one, and the proxy on the way.

The rules are those of `k8s.io/client-go/rest` and Go's net/http.
"""

from __future__ import annotations

import base64
import os
import ssl
from typing import TYPE_CHECKING, Any, Final, NoReturn, TypeAlias
from urllib.parse import unquote

import urllib3
from urllib3.exceptions import InsecureRequestWarning, LocationParseError
from urllib3.util import create_urllib3_context, make_headers, parse_url

from kubectl_policy.errors import ClusterError
from kubectl_policy.sources.cluster.reaching.kubeconfig import content
from kubectl_policy.sources.cluster.reaching.plugins import nameless_file

if TYPE_CHECKING:
    from collections.abc import Callable
    from ipaddress import IPv4Address, IPv4Network, IPv6Address, IPv6Network

    from urllib3.util import Url

    from kubectl_policy.sources.cluster.reaching.kubeconfig import Entry

# What raises for an address, with what is wrong with it.
Refuse: TypeAlias = "Callable[[str], NoReturn]"

# So many connections are kept for the next request.
_CONNECTIONS: Final = 32
# Bundles of all public authorities have a quarter of a megabyte.
_MAX_PEM: Final = 4 * 2**20
_SERVER_HINT: Final = "an address is as in https://cluster.example:6443"
_PROXY_HINT: Final = "an address is as in http://proxy.example:3128 or socks5://proxy.example:1080"


def address(cluster: Entry) -> str:
    """The address of a cluster: its scheme, host, port and path, without a slash at the end."""
    server = cluster.text("server") or cluster.refuse("server", "it has to be the address of the cluster", _SERVER_HINT)

    def refuse(message: str) -> NoReturn:
        cluster.refuse("server", message, _SERVER_HINT)

    has_scheme = "://" in server
    # What has none, as `localhost:8001`, is asked without TLS.
    parts = _parts(server if has_scheme else f"http://{server}", refuse)
    if not has_scheme and (parts.path or "").rstrip("/"):
        refuse("it is neither a URL nor a host with a port")
    if parts.scheme not in ("http", "https"):
        refuse("it begins neither with https:// nor with http://")
    if parts.auth is not None:
        refuse("it holds a user or a password: these belong to a user, as username and password")
    return f"{parts.scheme}://{parts.netloc}{parts.path or ''}".rstrip("/")


def tls(cluster: Entry) -> ssl.SSLContext:
    """How connections to a cluster are secured: by its certificate authority, that of the system, or not at all."""
    context = create_urllib3_context()
    # What Python 3.13 demands of certificates, the authorities of many clusters do not fulfil, nor does Go ask for it.
    context.verify_flags &= ~ssl.VERIFY_X509_STRICT
    context.verify_flags |= ssl.VERIFY_X509_PARTIAL_CHAIN
    authority = pem(cluster, "certificate-authority")
    if cluster.flag("insecure-skip-tls-verify"):
        if authority:
            cluster.refuse("insecure-skip-tls-verify", "it excludes a certificate authority", "remove one of them")
        context.check_hostname = False
        context.verify_mode = ssl.CERT_NONE
        # Whoever asked for it knows.
        urllib3.disable_warnings(InsecureRequestWarning)
    elif authority:
        try:
            # Comments may be in any language.
            context.load_verify_locations(cadata=authority.decode("latin-1").encode("ascii", "replace").decode())
        except (ssl.SSLError, ValueError):
            cluster.refuse(_key(cluster, "certificate-authority"), "there is no certificate (PEM) in it")
    else:
        context.load_default_certs()
    return context


def present(context: ssl.SSLContext, certificate: bytes, key: bytes) -> None:
    """Let connections present a client certificate. Raises ValueError if it is none, or the key is of another one."""
    with nameless_file() as public, nameless_file() as private:
        for file, data in ((public, certificate), (private, key)):
            file.write(data)
            file.seek(0)
        try:
            # Without a password, OpenSSL would ask for one at the terminal.
            context.load_cert_chain(f"/dev/fd/{public.fileno()}", f"/dev/fd/{private.fileno()}", password="")
        except OSError as error:
            raise ValueError(str(error)) from None


def pem(entry: Entry, key: str) -> bytes:
    """What is in the file at a key, or written out under the same name with `-data`; b"" if there is none."""
    written = entry.text(f"{key}-data")
    if not written:
        path = entry.path(key)
        return content(path, entry.where(key), _MAX_PEM) if path else b""
    if entry.text(key):
        entry.refuse(key, f"{key}-data is there as well", "remove one of them")
    try:
        return base64.b64decode("".join(written.split()), validate=True)
    except ValueError:
        entry.refuse(f"{key}-data", "it has to be base64")


def pool(cluster: Entry, server: str, secured: ssl.SSLContext | None) -> urllib3.PoolManager:
    """What connects to a cluster, through the proxy of the kubeconfig, else that of $HTTPS_PROXY or $HTTP_PROXY."""
    settings: dict[str, Any] = {"maxsize": _CONNECTIONS}
    if secured:
        settings["ssl_context"] = secured
    name = cluster.text("tls-server-name")
    if secured and name:
        if not _is_host(name):
            cluster.refuse("tls-server-name", f"{name} cannot be the name of a host")
        settings["server_hostname"] = name
    url = cluster.text("proxy-url")
    if url:
        return _through(url, settings, lambda message: cluster.refuse("proxy-url", message, _PROXY_HINT))
    variable = "https_proxy" if secured else "http_proxy"
    name = variable.upper() if os.environ.get(variable.upper()) else variable
    url = os.environ.get(name, "")
    if not url or _is_direct(parse_url(server)):
        return urllib3.PoolManager(**settings)

    def refuse(message: str) -> NoReturn:
        raise ClusterError(f"${name}: {message}", _PROXY_HINT)

    return _through(url if "://" in url else f"http://{url}", settings, refuse)


def _through(url: str, settings: dict[str, Any], refuse: Refuse) -> urllib3.PoolManager:
    """What connects through a proxy."""
    parts = _parts(url, refuse)
    if parts.scheme not in ("http", "https", "socks5", "socks5h"):
        refuse("a proxy has an address that begins with http://, https:// or socks5://")
    user, _, password = map(unquote, (parts.auth or "").partition(":"))
    if parts.scheme in ("http", "https"):
        headers = make_headers(proxy_basic_auth=f"{user}:{password}".encode().decode("latin-1")) if user else None
        return urllib3.ProxyManager(f"{parts.scheme}://{parts.netloc}", proxy_headers=headers, **settings)
    from importlib.util import find_spec  # noqa: PLC0415 (such proxies are rare)

    if not find_spec("socks"):
        refuse("a SOCKS proxy needs the Python package PySocks, which is not installed")
    from urllib3.contrib.socks import SOCKSProxyManager  # noqa: PLC0415 (see above)

    # As in Go, the proxy looks up the name of the cluster.
    return SOCKSProxyManager(f"socks5h://{parts.netloc}", user or None, password or None, **settings)


def _is_direct(server: Url) -> bool:
    """Whether no proxy of the environment is used: for this machine, and what $NO_PROXY lists.

    https://pkg.go.dev/golang.org/x/net/http/httpproxy#Config. `proxy_bypass_environment` of urllib.request knows
    neither ranges of addresses nor this machine, and takes `.example` for `example` as well.
    """
    host = (server.host or "").strip("[]").rstrip(".")
    port = server.port or (443 if server.scheme == "https" else 80)
    number = _ip(host)
    if host == "localhost" or (number and number.is_loopback):
        return True
    listed = os.environ.get("NO_PROXY") or os.environ.get("no_proxy", "")
    return any(_covers(each.strip().lower(), host, port) for each in listed.split(","))


def _covers(entry: str, host: str, port: int) -> bool:
    """Whether an entry of $NO_PROXY is about a host: an address, a range of them, or a domain, perhaps with a port."""
    if entry in ("", "*"):
        return entry == "*"
    number = _ip(host)
    if "/" in entry:
        network = _network(entry)
        return bool(number and network and number in network)
    name, colon, last = entry.rpartition(":")
    if colon and last.isdecimal() and not _ip(entry):
        if int(last) != port:
            return False
        entry = name
    if number:
        return number == _ip(entry.strip("[]"))
    entry = entry.removeprefix("*")
    return host.endswith(entry) if entry.startswith(".") else host == entry or host.endswith(f".{entry}")


def _ip(text: str) -> IPv4Address | IPv6Address | None:
    from ipaddress import ip_address  # noqa: PLC0415 (only a proxy needs it)

    try:
        return ip_address(text)
    except ValueError:
        return None


def _network(text: str) -> IPv4Network | IPv6Network | None:
    from ipaddress import ip_network  # noqa: PLC0415 (only a proxy needs it)

    try:
        return ip_network(text, strict=False)
    except ValueError:
        return None


def _parts(url: str, refuse: Refuse) -> Url:
    """The parts of an address that is one."""
    if not url.isprintable() or " " in url:
        refuse("it holds a blank or a control character")
    try:
        parts = parse_url(url)
    except LocationParseError:
        refuse("it is no address")
    if not _is_host(parts.host or ""):
        refuse("it names no host")
    return parts


def _is_host(name: str) -> bool:
    """Whether a name could be that of a host: what none has, sockets do not take."""
    try:
        name.encode("idna")
    except UnicodeError:
        return False
    return name.isprintable() and " " not in name and not name.startswith(".") and name != ""


def _key(entry: Entry, key: str) -> str:
    """The key under which something is written that has two."""
    return f"{key}-data" if entry.text(f"{key}-data") else key
