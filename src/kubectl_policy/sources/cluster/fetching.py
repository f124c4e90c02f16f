"""Send the request of a query, and turn the answer into objects."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from msgspec import Struct

from kubectl_policy.model import GroupKind, ObjectRef, Resource
from kubectl_policy.model.fields import text_at, time_at
from kubectl_policy.sources.cluster.connection import JSON, METADATA, METADATA_LIST
from kubectl_policy.sources.cluster.refusals import RequestFailed
from kubectl_policy.sources.cluster.world import EVENT, Query

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from kubectl_policy.model import Json, Origin
    from kubectl_policy.sources.cluster.connection import Connection
    from kubectl_policy.sources.cluster.discovery import Discovery, Served

# Of these kinds only metadata is read: names, labels and owners. The data of Secrets is never read.
_METADATA_ALONE: Final = frozenset(
    {GroupKind("", "Secret"), GroupKind("", "Pod"), GroupKind("", "ServiceAccount"), GroupKind("apps", "Deployment")}
)
# Workloads come and go all the time, and no policy is about one of them: their Events are not listed.
_WITH_MANY_EVENTS: Final = ("Pod", "ReplicaSet", "Job", "CronJob", "Node", "HorizontalPodAutoscaler")
_OK, _NOT_FOUND = 200, 404


class RequestOutcome(Struct, frozen=True):
    """Objects that answer a query, or the refusal of it, or both."""

    # None without an answer.
    resources: Sequence[Resource] | None
    refusal: RequestFailed | None = None


class QueryFetcher:
    """Answers queries from one API server; threads may share it."""

    def __init__(self, connection: Connection, discovery: Discovery, origin: Origin, chunk_size: int) -> None:
        """Ask for kinds as a server serves them; lists come in parts of `chunk_size` objects unless that is 0."""
        self._connection, self.discovery = connection, discovery
        self._origin, self._chunk_size = origin, chunk_size
        # Kinds of which lists keep managedFields: who wrote what is worth the memory where there are few objects.
        self.kinds_with_authors: frozenset[GroupKind] | None = frozenset()
        # The resourceVersion of each answer so far; "" of an object that is absent.
        self.versions: dict[Query, str] = {}

    def fetch(self, query: Query) -> RequestOutcome:
        """Return the objects of a query, none where there is none of that name; or why there is no answer."""
        served = self.discovery.kinds[query.kind]
        is_partial = query.kind in _METADATA_ALONE
        try:
            if query.name:
                path = served.path(query.namespace, query.name)
                answer = self._connection.get(path, accept=METADATA if is_partial else JSON)
                self.versions[query] = text_at(answer, "metadata.resourceVersion")
                items: Sequence[Mapping[str, Json]] = [answer]
            else:
                items = self._list(self._connection, query, METADATA_LIST if is_partial else JSON)
        except RequestFailed as refusal:
            return self._outcome_of(refusal, query)
        resources = [resource for item in items if (resource := self._resource(query, served, item))]
        unexpected = len(items) - len(resources)
        wrong = f"the server answered with {unexpected} of {len(items)} objects that are none of those asked for"
        # Something else may be in the place of what was asked for.
        return RequestOutcome(resources, RequestFailed(_OK, wrong) if unexpected else None)

    def list_metadata(self, kind: GroupKind) -> Sequence[Mapping[str, Json]]:
        """List the metadata of all objects of a kind, in half of the time. Raises RequestRefused."""
        return self._list(self._connection.hurried(), Query(kind), METADATA_LIST)

    def _outcome_of(self, refusal: RequestFailed, query: Query) -> RequestOutcome:
        if refusal.status != _NOT_FOUND:
            return RequestOutcome(None, refusal)
        # If it is only remembered that the kind is served, it may be the kind that is not found.
        if query.name and (f'"{query.name}"' in refusal.message or not self.discovery.is_remembered):
            self.versions[query] = ""
            return RequestOutcome(())
        message = "the server does not know this kind, though it says that it serves it"
        return RequestOutcome(None, RequestFailed(_NOT_FOUND, message))

    def _list(self, connection: Connection, query: Query, accept: str) -> Sequence[Mapping[str, Json]]:
        selector = field_selector(query)
        path = self.discovery.kinds[query.kind].path(query.namespace)
        answer = connection.list(path, {"fieldSelector": selector} if selector else {}, accept, self._chunk_size)
        self.versions[query] = answer.resource_version
        return answer.items

    def _resource(self, query: Query, served: Served, raw: Mapping[str, Json]) -> Resource | None:
        """Return an object of an answer; None if it has no name, or is another one than was asked for."""
        metadata = raw.get("metadata")
        name, namespace = text_at(raw, "metadata.name"), text_at(raw, "metadata.namespace")
        if not (name and isinstance(metadata, dict) and served.namespaced == bool(namespace)):
            return None
        if query.name not in {"", name} or (served.namespaced and query.namespace not in {"", namespace}):
            return None
        has_authors = self.kinds_with_authors is None or query.kind in self.kinds_with_authors
        if not (query.name or has_authors):
            metadata.pop("managedFields", None)
        version = f"{served.group}/{served.version}" if served.group else served.version
        ref = ObjectRef(served.group_kind, namespace, name)
        # In lists, only custom kinds say what they are; metadata alone is of another kind.
        whole = raw if raw.get("kind") == served.kind else {**raw, "apiVersion": version, "kind": served.kind}
        return Resource(ref=ref, origin=self._origin, raw=whole, created=time_at(raw, "metadata.creationTimestamp"))


def field_selector(query: Query) -> str:
    """Return the field selector of a query: for an object by name, for the Events about one, or against many Events."""
    if query.name:
        return f"metadata.name={query.name}"
    if query.involved:
        return f"involvedObject.kind={query.involved.kind},involvedObject.name={query.involved.name}"
    return ",".join(f"involvedObject.kind!={kind}" for kind in _WITH_MANY_EVENTS) if query.kind == EVENT else ""
