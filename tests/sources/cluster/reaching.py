"""How tests reach a server: without kubeconfig and credentials plugins."""

from __future__ import annotations

from typing import TYPE_CHECKING

from urllib3 import PoolManager

from kubectl_policy.model.values import field, value
from kubectl_policy.sources.cluster.api.connection import Refusal

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from kubectl_policy.sources.cluster.api.connection import Answer
    from tests.sources.cluster.faulty import FaultyServer


def _token() -> Mapping[str, str]:
    return {"Authorization": "Bearer abc"}


def _pool() -> PoolManager:
    return PoolManager(maxsize=8)


@value(kw_only=True)
class Reaching:
    """What a connection needs of an access to a cluster."""

    server: str
    headers: Callable[[], Mapping[str, str]] = field(default_factory=lambda: _token)
    pool: PoolManager = field(default_factory=_pool)


def reaching(server: FaultyServer) -> Reaching:
    """The access to a server of tests."""
    return Reaching(server=server.url)


def outcome(call: Callable[[], Answer]) -> Answer | Refusal:
    """What a call answers, or why it does not."""
    try:
        return call()
    except Refusal as refusal:
        return refusal
