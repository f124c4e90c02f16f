"""A cluster that has the objects of a snapshot and gives out some of them: what is asked for is refused by its path."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final, cast

from kubectl_policy import analyze
from kubectl_policy.errors import PolicyError, StillToBeRead
from kubectl_policy.model.index import Index
from kubectl_policy.model.kind_roles import (
    GATEWAY_CLASS,
    HIERARCHY,
    LISTENER_HOLDERS,
    NAMESPACE,
    REFERENCE_GRANT,
    ROUTES,
    SERVICE,
)
from kubectl_policy.model.kinds import plural
from kubectl_policy.profiles.registry import Registry
from kubectl_policy.sources.cluster.cluster import Cluster
from kubectl_policy.sources.cluster.connection import Connection, ListAnswer
from kubectl_policy.sources.cluster.discovery import Discovery, Served
from kubectl_policy.sources.cluster.request_failures import refusal_of
from kubectl_policy.sources.cluster.world import Interests
from tests.sources.cluster.reaching import access_of

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence
    from typing import TypeVar

    from kubectl_policy.analysis import Analysis
    from kubectl_policy.model import Json, Snapshot
    from kubectl_policy.profiles import PolicyKindProfile

    Found = TypeVar("Found")


class Server:
    """Answers for the objects of a snapshot, but for the paths that end with one of those that are refused.

    Those have the status and the message of the answer: `{"/namespaces/baker/retrypolicies": (403, "")}`.
    """

    def __init__(self, snapshot: Snapshot, refused: Mapping[str, tuple[int, str]]) -> None:
        """Every kind of the hierarchy is served, and every one that is defined or has an object."""
        self._refused = refused
        index = Index(snapshot)
        kinds = {NAMESPACE, REFERENCE_GRANT, *HIERARCHY, *index.definitions, *index.group_kinds}
        self.served = [
            Served(kind.group, "v1", kind.kind, plural(kind.kind.lower()), index.namespaced(kind))
            for kind in sorted(kinds)
        ]
        paths = {kind.group_kind: kind for kind in self.served}
        self._objects: dict[str, Json] = {}
        self._lists: dict[str, list[Mapping[str, Json]]] = {}
        for resource in snapshot.resources:
            kind, namespace, name = paths[resource.ref.group_kind], resource.ref.namespace, resource.ref.name
            self._objects[kind.path(namespace, name)] = dict(resource.raw)
            for path in {kind.path(), kind.path(namespace)}:
                self._lists.setdefault(path, []).append(dict(resource.raw))

    seconds_left: float | None = None
    access: Final = access_of("")

    def hurried(self) -> Server:
        """The same: it takes no time."""
        return self

    def get(
        self, path: str, query: Mapping[str, str] | None = None, accept: str = "", decode: object = None
    ) -> Mapping[str, Json]:
        """An object. Raises Refusal."""
        del query, accept, decode
        self._check(path)
        found = self._objects.get(path)
        if not isinstance(found, dict):
            raise refusal_of(404, {})
        return found

    def list(
        self, path: str, query: Mapping[str, str], accept: str, chunk_size: int, decode: object = None
    ) -> ListAnswer:
        """The objects at a path. Raises Refusal."""
        del query, accept, chunk_size, decode
        self._check(path)
        return ListAnswer(self._lists.get(path, []), "1")

    def _check(self, path: str) -> None:
        for end, (status, message) in self._refused.items():
            if path.endswith(end):
                raise refusal_of(status, {"kind": "Status", "message": message})


class Refusing:
    """Questions that are asked of such a cluster."""

    def __init__(
        self,
        snapshot: Snapshot,
        namespace: str,
        refused: Mapping[str, tuple[int, str]],
        profiles: Sequence[PolicyKindProfile] = (),
    ) -> None:
        """Nothing is asked yet."""
        server, known = Server(snapshot, refused), Registry(Index(snapshot), profiles)
        interests = Interests(
            small_kinds={GATEWAY_CLASS, *LISTENER_HOLDERS, REFERENCE_GRANT},
            first=(),
            alongside=dict.fromkeys(ROUTES, (SERVICE, NAMESPACE)),
            descendants={},
            matters=lambda _: False,
            is_profiled=lambda kind: (profile := known.profile_of(kind)) is not None and profile.known_by == "profile",
        )
        self._profiles = profiles
        self.cluster = Cluster(cast("Connection", server), Discovery(server.served), interests, namespace)

    def answer(self, question: Callable[[Analysis], Found]) -> Found:
        """The answer to a question, once everything is known that it is asked for. Raises PolicyError."""
        while True:
            try:
                found = question(analyze(self.cluster.snapshot(), profiles=self._profiles))
            except (PolicyError, StillToBeRead):
                if self.cluster.is_settled:
                    raise
            else:
                if self.cluster.is_settled:
                    return found
            self.cluster.fetch()
