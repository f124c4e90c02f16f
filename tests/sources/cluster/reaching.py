"""Accesses and kubeconfigs with which tests reach a server."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

from urllib3 import PoolManager

from kubectl_policy.sources.cluster.access import Access
from kubectl_policy.sources.cluster.refusals import RequestRefused

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from pathlib import Path

    from kubectl_policy.model import Json
    from tests.sources.cluster.faulty import FaultyServer


def access_of(
    server: str,
    *,
    headers: Callable[[], Mapping[str, str]] = lambda: {"Authorization": "Bearer abc"},
    renew: Callable[[Mapping[str, str]], bool] = lambda _: False,
    pool: PoolManager | None = None,
) -> Access:
    """Return the access to an address."""
    return Access("", "", "default", server, pool or PoolManager(maxsize=8), headers, renew)


def reaching(server: FaultyServer) -> Access:
    """Return the access to a server of tests."""
    return access_of(server.url)


def outcome(call: Callable[[], Mapping[str, Json]]) -> Mapping[str, Json] | RequestRefused:
    """What a call answers, or why it does not."""
    try:
        return call()
    except RequestRefused as refusal:
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
