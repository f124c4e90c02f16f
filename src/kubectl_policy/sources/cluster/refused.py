"""What a refusal means for a cluster, that it cannot be asked, or for an API group, that its kinds are unknown."""

from __future__ import annotations

from http import HTTPStatus
from typing import TYPE_CHECKING, Final

from kubectl_policy.errors import ClusterError
from kubectl_policy.model import Gap
from kubectl_policy.model.kinds import BUILT_IN

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Iterator, Mapping

    from kubectl_policy.sources.cluster.api.answers import Refusal
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


def cluster_error(cluster: str, server: str, refusal: Refusal) -> ClusterError:
    """The error that a cluster cannot be asked at all, as its server refused what comes first, with what to do."""
    if refusal.status == HTTPStatus.UNAUTHORIZED:
        return ClusterError(
            f"{cluster}: you must be logged in to the server (Unauthorized)",
            "log in again; `kubectl config view --minify` shows as whom the cluster is asked",
        )
    # Where nothing was answered, the words of libraries say no more than ours.
    why = str(refusal) if refusal.status else refusal.reason
    return ClusterError(
        f"{cluster}: {server} cannot be asked: {why}", refusal.hint or _HINTS.get(refusal.status, _ADDRESS)
    )


def unknown_groups(
    groups: Iterable[UnknownGroup],
    known: Collection[str],
    definitions: Collection[str] | None,
) -> Iterator[Gap]:
    """What of some API groups is unknown, as the server does not say what it serves of them.

    That counts for groups of kinds that every cluster has, for those that are `known` to have policies, and for those
    that `definitions` are about, of which the names are given; None if these are not known either. All others are those
    of a server behind the server, such as for metrics: policies are defined.
    """
    known = {*known, *(names.group_kind.group for names in BUILT_IN)}
    for each in groups:
        is_defined = definitions is None or any(name.partition(".")[2] == each.group for name in definitions)
        if is_defined or each.group in known:
            yield Gap(kind="", namespace="", reason=each.reason, remedy=AGAIN, group=each.group)
