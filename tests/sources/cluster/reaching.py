"""How tests reach a server: without kubeconfig and credentials plugins."""

from __future__ import annotations

from typing import TYPE_CHECKING

from urllib3 import PoolManager

from kubectl_policy.sources.cluster.access import Access
from kubectl_policy.sources.cluster.refusals import RequestRefused

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

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
