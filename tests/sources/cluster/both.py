"""What we and the kubernetes package make of the same kubeconfig."""

from __future__ import annotations

import os
import ssl
from contextlib import suppress
from typing import TYPE_CHECKING, Any

from kubernetes.client import Configuration
from kubernetes.client.rest import RESTClientObject
from kubernetes.config.kube_config import KubeConfigLoader, KubeConfigMerger

from kubectl_policy.model.values import value
from kubectl_policy.sources.cluster.options import ClusterOptions
from kubectl_policy.sources.cluster.reaching.access import access_to, contexts
from tests.sources.cluster.servers import CERTIFICATES

if TYPE_CHECKING:
    from collections.abc import Mapping

    from urllib3 import PoolManager


@value(kw_only=True)
class Reached:
    """What is sent to a cluster, and over which connection; certificates are DER, and None where they do not count."""

    contexts: tuple[str, ...]
    namespace: str
    server: str
    headers: Mapping[str, str]
    is_verified: bool
    authority: tuple[bytes, ...]
    certificate: bytes | None
    name: str | None
    proxy: tuple[str, Mapping[str, str]] | None


def by_us(context: str) -> Reached:
    """What `access_to` makes of $KUBECONFIG."""
    options = ClusterOptions(context=context)
    access = access_to(options)
    given_to = access.pool.connection_pool_kw
    secured: ssl.SSLContext | None = given_to.get("ssl_context")
    return Reached(
        contexts=contexts(options),
        namespace=access.namespace,
        server=access.server,
        headers=dict(access.headers()),
        is_verified=bool(secured and secured.check_hostname and secured.verify_mode is ssl.CERT_REQUIRED),
        authority=tuple(secured.get_ca_certs(binary_form=True)) if secured else (),
        certificate=presented(secured) if secured else None,
        name=given_to.get("server_hostname"),
        proxy=proxy(access.pool),
    )


def by_the_package(context: str) -> Reached:
    """What the kubernetes package makes of it, and would do with it."""
    merger, unchecked, client = unchecked_of(KubeConfigMerger), unchecked_of(KubeConfigLoader), Configuration()
    merged = merger(os.environ["KUBECONFIG"]).config
    loader = unchecked(merged, active_context=context or None, config_base_path=None)
    loader.load_and_set(client)
    is_tls = str(client.host).startswith("https:")
    is_verified = is_tls and client.verify_ssl
    pool = unchecked_of(RESTClientObject)(client).pool_manager
    named = client.ssl_ca_cert or ssl.get_default_verify_paths().cafile
    headers = {each["key"].title(): each["value"] for each in unchecked_of(client.auth_settings)().values()}
    secured = None
    if is_tls:
        secured = ssl.create_default_context(cafile=named)
        if client.cert_file:
            secured.load_cert_chain(client.cert_file, client.key_file)
    return Reached(
        contexts=tuple(each["name"] for each in loader.list_contexts()),
        namespace=loader.current_context["context"].get("namespace", "default"),
        server=str(client.host),
        headers=headers,
        is_verified=is_verified,
        authority=tuple(secured.get_ca_certs(binary_form=True)) if secured and is_verified else (),
        certificate=presented(secured) if secured else None,
        name=pool.connection_pool_kw.get("server_hostname") if is_tls else None,
        proxy=proxy(pool),
    )


def unchecked_of(untyped: object) -> Any:  # noqa: ANN401 (the package has no types here)
    """The same."""
    return untyped


def proxy(pool: PoolManager) -> tuple[str, Mapping[str, str]] | None:
    """The address of a proxy, and what is sent to it alone."""
    headers: Mapping[str, str] = getattr(pool, "proxy_headers", None) or {}
    return (str(pool.proxy), {**headers}) if pool.proxy else None


def presented(context: ssl.SSLContext) -> bytes | None:
    """The client certificate that a server sees, which has it proved by its key."""
    context.check_hostname = False
    context.verify_mode = ssl.CERT_NONE
    asking = ssl.create_default_context(ssl.Purpose.CLIENT_AUTH, cafile=CERTIFICATES / "ca.pem")
    asking.load_cert_chain(CERTIFICATES / "server.pem", CERTIFICATES / "server.key")
    asking.verify_mode = ssl.CERT_OPTIONAL
    there, back = ssl.MemoryBIO(), ssl.MemoryBIO()
    server = asking.wrap_bio(there, back, server_side=True)
    ends = [context.wrap_bio(back, there), server]
    while ends:
        with suppress(ssl.SSLWantReadError):
            ends[0].do_handshake()
            ends.pop(0)
        ends.reverse()
    return server.getpeercert(binary_form=True)
