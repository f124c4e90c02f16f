"""Accesses and kubeconfigs with which tests reach a server."""

import json
import ssl
from collections.abc import Callable, Generator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Final

import pytest
from urllib3 import PoolManager

from kubectl_policy.errors import ClusterError
from kubectl_policy.model import Json
from kubectl_policy.sources.cluster.access import Access, ClusterOptions, access_to
from kubectl_policy.sources.cluster.request_failures import RequestFailed
from tests.sources.cluster.faulty import FaultyServer

CERTIFICATES: Final = Path(__file__).parent / "certificates"


@contextmanager
def served(*, tls: bool = True, asks_for_certificate: bool = False) -> Generator[FaultyServer]:
    """A server without objects while it is needed, with the certificate of `cluster.example`."""
    context = ssl.create_default_context(ssl.Purpose.CLIENT_AUTH) if tls else None
    if context:
        context.load_cert_chain(CERTIFICATES / "server.pem", CERTIFICATES / "server.key")
    if context and asks_for_certificate:
        context.load_verify_locations(CERTIFICATES / "ca.pem")
        context.verify_mode = ssl.CERT_OPTIONAL
    with FaultyServer(tls=context) as server:
        yield server


def asked(access: Access, headers: Mapping[str, str] | None = None) -> int:
    url, headers = f"{access.server}/version", access.headers() if headers is None else headers
    return access.pool.request("GET", url, headers=headers, retries=False, timeout=5).status


def reach(folder: Path, *, user: Json = None, cluster: Json = None, **more: Any) -> Access:  # noqa: ANN401 (flags)
    """The access by a kubeconfig in a folder, with a user, a cluster and a `context`, and by flags."""
    path = written(folder, user=user, cluster=cluster, context=more.pop("context", None))
    return access_to(ClusterOptions(kubeconfig=path, **more))


def refusal(folder: Path, **more: Any) -> tuple[str, str]:  # noqa: ANN401 (what `reach` takes)
    """The message and the hint of the error where nothing is reached."""
    with pytest.raises(ClusterError) as caught:
        reach(folder, **more)
    return caught.value.message, caught.value.hint


def access_of(
    server: str,
    *,
    headers: Callable[[], Mapping[str, str]] = lambda: {"Authorization": "Bearer abc"},
    renew: Callable[[Mapping[str, str]], bool] = lambda _: False,
    pool: PoolManager | None = None,
) -> Access:
    return Access("", "", "default", server, pool or PoolManager(maxsize=8), headers, renew)


def reaching(server: FaultyServer) -> Access:
    return access_of(server.url)


def outcome(call: Callable[[], Mapping[str, Json]]) -> Mapping[str, Json] | RequestFailed:
    try:
        return call()
    except RequestFailed as refusal:
        return refusal


def written(
    folder: Path,
    *,
    file: str = "config",
    cluster: Json = None,
    user: Json = None,
    context: Mapping[str, Json] | None = None,
) -> str:
    """The path of a kubeconfig with one context, of a cluster and a user as they are given."""
    path = folder / file
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(json.dumps(config(cluster=cluster, user=user, context=context)))
    return str(path)


def config(
    *,
    cluster: Json = None,
    user: Json = None,
    context: Mapping[str, Json] | None = None,
    current: Json = "bakery",
    name: str = "bakery",
) -> dict[str, Json]:
    """A kubeconfig in which everything has one name."""
    inner = {"cluster": name, "user": name, **(context or {})}
    return {
        "apiVersion": "v1",
        "kind": "Config",
        "current-context": current,
        "contexts": [{"name": name, "context": inner}],
        "clusters": [{"name": name, "cluster": cluster or {"server": f"https://{name}.example"}}],
        "users": [{"name": name, "user": user or {}}],
    }
