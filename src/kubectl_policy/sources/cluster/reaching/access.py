"""Access to a cluster by the kubernetes package, mended where it does otherwise than kubectl.

Nothing else imports the package. A comment that begins with "kubectl:" says what kubectl does and the package does not;
so does the docstring of `credentials` for plugins, and of `kubeconfig.read_kubeconfig` for several files.
"""

from __future__ import annotations

import ssl
from ipaddress import ip_address
from typing import TYPE_CHECKING, Any, Final
from urllib.parse import unquote

import urllib3
from msgspec import Struct
from urllib3.exceptions import InsecureRequestWarning, LocationParseError
from urllib3.util import create_urllib3_context, make_headers, parse_url

from kubectl_policy.errors import ClusterError
from kubectl_policy.sources.cluster.reaching.credentials import Credentials, read_pem
from kubectl_policy.sources.cluster.reaching.kubeconfig import select

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from urllib3.util import Url

    from kubectl_policy.sources.cluster.options import ClusterOptions
    from kubectl_policy.sources.cluster.reaching.kubeconfig import ClusterSettings, Entry

_MAX_CONNECTIONS: Final = 32
_PROXY_HINT: Final = "write it as in http://proxy.example:3128 or socks5://proxy.example:1080"
_PROXIES: Final = ("http", "https", "socks5", "socks5h")


class Access(Struct, frozen=True):
    """Everything that it takes to ask a cluster."""

    # "" in a pod, or where only an address is given.
    context: str
    cluster: str
    # The namespace of commands that name none.
    namespace: str
    # The address, without a slash at the end.
    server: str
    pool: urllib3.PoolManager
    # Makes the headers of one request. Raises `ClusterError` if a credential has expired and there is no new one.
    headers: Callable[[], Mapping[str, str]]
    # Gets new credentials after a 401 for a request with these headers; whether there are any.
    renew: Callable[[Mapping[str, str]], bool]


def access_to(options: ClusterOptions) -> Access:
    """Return the access to the cluster that the options choose; nothing is asked of it yet.

    A credential plugin is run if the user has one. Raises `ClusterError` if no cluster is configured or its
    configuration cannot be used, and `UsageError` for flags that cannot.
    """
    selection = select(options)
    server = _server_address(selection.cluster)
    tls = _tls_context(selection.cluster) if server.startswith("https:") else None
    pool = _pool(selection.cluster, server, tls)
    credentials = Credentials(
        selection,
        pool,
        tls,
        lambda user: str(_configure(selection.cluster.settings, user).api_key.get("BearerToken", "")),
        options.request_timeout or None,
    )
    return Access(
        context=selection.context_name,
        cluster=selection.cluster_name,
        namespace=selection.namespace,
        server=server,
        pool=pool,
        headers=credentials.headers,
        renew=credentials.renew,
    )


def _configure(cluster: ClusterSettings, user: Mapping[str, object]) -> Any:  # noqa: ANN401 (it has no types)
    """Return the package's `Configuration` for a cluster and a user."""
    from kubernetes.client import Configuration  # noqa: PLC0415 (where there is no cluster, it is not imported)
    from kubernetes.config import ConfigException  # noqa: PLC0415 (see above)
    from kubernetes.config.kube_config import KubeConfigLoader  # noqa: PLC0415 (see above)

    name = "selected"
    settings = {"server": cluster.server, "insecure-skip-tls-verify": cluster.insecure_skip_tls_verify}
    # kubectl: takes an empty value for none.
    optional = {"tls-server-name": cluster.tls_server_name, "proxy-url": cluster.proxy_url}
    content = {
        "contexts": [{"name": name, "context": {"cluster": name, "user": name}}],
        "clusters": [{"name": name, "cluster": {**settings, **{key: text for key, text in optional.items() if text}}}],
        "users": [{"name": name, "user": user}],
    }
    untyped: Any = KubeConfigLoader
    configuration: Any = Configuration(connection_pool_maxsize=_MAX_CONNECTIONS)
    try:
        untyped(content, active_context=name).load_and_set(configuration)
    except ConfigException as error:
        raise ClusterError(str(error)) from None
    return configuration


def _server_address(cluster: Entry[ClusterSettings]) -> str:
    """Return the address of a cluster: its scheme, host, port and path, without a slash at the end."""
    server = cluster.settings.server
    # kubectl: asks an address without a scheme, such as `localhost:8001`, without TLS.
    url = _parse_address(server if "://" in server else f"http://{server}")
    if url is None or url.scheme not in ("http", "https"):
        cluster.refuse("server", "it has to be the address of a cluster", "write it as in https://cluster.example:6443")
    if url.auth is not None:
        cluster.refuse("server", "it holds a user or a password", "these belong to a user, as username and password")
    return f"{url.scheme}://{url.netloc}{url.path or ''}".rstrip("/")


def _tls_context(cluster: Entry[ClusterSettings]) -> ssl.SSLContext:
    """Return how connections to a cluster are secured: by its certificate authority, that of the system, or not at all.

    The package would load the certificates anew for each connection, from temporary files.
    """
    context = create_urllib3_context()
    # kubectl: takes authorities without what Python 3.13 demands of them, such as those of kubeadm.
    context.verify_flags &= ~ssl.VERIFY_X509_STRICT
    context.verify_flags |= ssl.VERIFY_X509_PARTIAL_CHAIN
    authority = read_pem(cluster, "certificate_authority")
    if cluster.settings.insecure_skip_tls_verify:
        if authority:
            cluster.refuse("insecure_skip_tls_verify", "it excludes a certificate authority", "remove one of them")
        context.check_hostname = False
        context.verify_mode = ssl.CERT_NONE
        # Whoever asked for it knows.
        urllib3.disable_warnings(InsecureRequestWarning)
    elif authority:
        try:
            # Comments may be in any language.
            context.load_verify_locations(cadata=authority.decode("latin-1").encode("ascii", "replace").decode())
        except (ssl.SSLError, ValueError):
            cluster.refuse("certificate_authority", "there is no certificate (PEM) in it")
    else:
        context.load_default_certs()
    return context


def _pool(cluster: Entry[ClusterSettings], server: str, tls: ssl.SSLContext | None) -> urllib3.PoolManager:
    """Return the connections of the package, through the proxy of the kubeconfig or of the environment."""
    from kubernetes.client.rest import RESTClientObject  # noqa: PLC0415 (where there is no cluster, it is not imported)

    if not _parse_address(f"https://{cluster.settings.tls_server_name or 'none'}"):
        cluster.refuse("tls_server_name", "it cannot be the name of a host")
    configuration = _configure(cluster.settings, {})
    proxy = configuration.proxy or ""
    if cluster.settings.proxy_url:
        # kubectl: asks the proxy of the kubeconfig, whatever $NO_PROXY says.
        configuration.no_proxy = ""
    elif proxy:
        # kubectl: asks this machine without the proxy of the environment, of which the address needs no scheme.
        proxy = "" if _is_this_machine(server) else proxy if "://" in proxy else f"http://{proxy}"
    url = _parse_address(proxy) if proxy else None
    if proxy and (url is None or url.scheme not in _PROXIES):
        subject = cluster.subject("proxy_url") if cluster.settings.proxy_url else "HTTPS_PROXY or HTTP_PROXY"
        raise ClusterError(f"{subject}: it has to be the address of a proxy", _PROXY_HINT)
    # kubectl: lets a SOCKS proxy look up the name of the cluster.
    configuration.proxy = proxy.replace("socks5://", "socks5h://") or None
    if url and url.auth and not proxy.startswith("socks"):
        # kubectl: sends the user and the password in the address to the proxy.
        configuration.proxy_headers = make_headers(proxy_basic_auth=unquote(url.auth).encode().decode("latin-1"))
        configuration.proxy = f"{url.scheme}://{url.netloc}"
    pool: urllib3.PoolManager = RESTClientObject(configuration).pool_manager
    if tls:
        pool.connection_pool_kw["ssl_context"] = tls
    return pool


def _parse_address(address: str) -> Url | None:
    """Return the parts of an address; None if it is none, or names no host that sockets take."""
    try:
        url = parse_url(address)
        host = (url.host or "").encode("idna")
    except (LocationParseError, UnicodeError):
        return None
    return url if host and address.isprintable() and " " not in address else None


def _is_this_machine(server: str) -> bool:
    host = (parse_url(server).host or "").strip("[]")
    try:
        return host == "localhost" or ip_address(host).is_loopback
    except ValueError:
        return False
