"""Errors and gaps that refused requests lead to: a cluster that cannot be asked, an API group of unknown kinds."""

from __future__ import annotations

from http import HTTPStatus
from typing import TYPE_CHECKING, Final

from kubectl_policy.errors import ClusterError
from kubectl_policy.model import Gap
from kubectl_policy.model.kinds import BUILT_IN

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Iterator, Mapping

    from kubectl_policy.sources.cluster.api.refusals import RequestRefused
    from kubectl_policy.sources.cluster.api.served import UnknownGroup

AGAIN: Final = "ask again"
_HINTS: Final[Mapping[int, str]] = {
    HTTPStatus.FORBIDDEN: "needs: get /api and /apis, as the ClusterRole system:discovery allows",
    HTTPStatus.TOO_MANY_REQUESTS: f"{AGAIN} later",
    HTTPStatus.INTERNAL_SERVER_ERROR: f"{AGAIN} later",
    HTTPStatus.BAD_GATEWAY: f"{AGAIN} later",
    HTTPStatus.SERVICE_UNAVAILABLE: f"{AGAIN} later",
    HTTPStatus.GATEWAY_TIMEOUT: f"{AGAIN} later",
}
_ADDRESS: Final = "is the address that of a cluster? `kubectl config view --minify` shows it"


def cluster_error(cluster: str, server: str, refusal: RequestRefused) -> ClusterError:
    """Return the error that a cluster cannot be asked at all, as its server refused the first request."""
    if refusal.status == HTTPStatus.UNAUTHORIZED:
        return ClusterError(
            f"{cluster}: you must be logged in to the server (Unauthorized)",
            "log in again; `kubectl config view --minify` shows as whom the cluster is asked",
        )
    # Without an answer, the message of a library says no more than the reason.
    reason = str(refusal) if refusal.status else refusal.reason
    return ClusterError(
        f"{cluster}: {server} cannot be asked: {reason}", refusal.hint or _HINTS.get(refusal.status, _ADDRESS)
    )


def unknown_groups(
    groups: Iterable[UnknownGroup],
    known: Collection[str],
    definitions: Collection[str] | None,
) -> Iterator[Gap]:
    """Return the gaps of API groups of which the server does not say what it serves.

    A group counts if every cluster has kinds of it, if it is `known` to have policies, or if one of the `definitions`,
    which are names, is about it; None if these are unknown as well. Any other group is that of a server behind the
    server, such as for metrics: policies are defined.
    """
    known = {*known, *(names.group_kind.group for names in BUILT_IN)}
    for unknown in groups:
        is_defined = definitions is None or any(name.partition(".")[2] == unknown.group for name in definitions)
        if is_defined or unknown.group in known:
            yield Gap(kind="", namespace="", reason=unknown.reason, remedy=AGAIN, group=unknown.group)
