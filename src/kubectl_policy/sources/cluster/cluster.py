"""Read the objects that a question asks for from a cluster, round by round; refused requests become gaps."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final, TypeAlias

from kubectl_policy.model import Gap, GroupKind, ObjectRef, Origin, Permission, Resource, Snapshot
from kubectl_policy.model.fields import labels_of, text_at, time_at
from kubectl_policy.model.kind_roles import TARGET_KINDS
from kubectl_policy.model.kinds import BUILT_IN, CRD, POLICY_LABEL, is_kubernetes_own
from kubectl_policy.sources.cluster.connection import JSON, METADATA, METADATA_LIST
from kubectl_policy.sources.cluster.discovery import EVERY_GROUP, Discovery
from kubectl_policy.sources.cluster.projection import decoder_of
from kubectl_policy.sources.cluster.request_failures import RequestFailed, cluster_error
from kubectl_policy.sources.cluster.watches import watch_scopes
from kubectl_policy.sources.cluster.world import EVENTS, ClusterWorld, Query

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator, Mapping, Sequence
    from concurrent.futures import Future

    from kubectl_policy.errors import ClusterError
    from kubectl_policy.model import Json
    from kubectl_policy.model.snapshot import AssumedObjects
    from kubectl_policy.sources.cluster.connection import Connection
    from kubectl_policy.sources.cluster.discovery import Served
    from kubectl_policy.sources.cluster.watches import ClusterWatches
    from kubectl_policy.sources.cluster.world import Interests
    from kubectl_policy.sources.options import Progress

    # The objects that answer a query, or the refusal of it, or both.
    RequestOutcome: TypeAlias = tuple[Sequence[Resource] | None, RequestFailed | None]

# Of these kinds only metadata is read: names, labels and owners. The data of Secrets is never read.
_METADATA_ALONE: Final = frozenset({GroupKind("", "Secret"), GroupKind("", "ServiceAccount")})
_MAX_CONCURRENT: Final = 8
# After so many seconds, or that part of the time that is left, the question is asked again with what was answered.
_PATIENCE_SECONDS, _PATIENCE_PART = 1.0, 1 / 4
_OK, _UNAUTHORIZED, _FORBIDDEN, _NOT_FOUND = 200, 401, 403, 404
_AGAIN: Final = "ask again"


class Cluster:
    """Cluster that a question is asked of: objects that were read so far, and requests that were refused."""

    def __init__(
        self, connection: Connection, discovery: Discovery, interests: Interests, namespace: str, chunk_size: int = 0
    ) -> None:
        """Read which kinds are defined; lists come in parts of `chunk_size` objects unless that is 0.

        The question is about a `namespace`. Raises `ClusterError` where nothing can be asked.
        """
        self._connection, self._interests, self._namespace = connection, interests, namespace
        self._origin, self._chunk_size = Origin(connection.access.name), chunk_size
        self._start(discovery)

    def _start(self, discovery: Discovery) -> None:
        if unknown := discovery.gaps.get(EVERY_GROUP):
            hint = "ask again later; users who cannot get /apis need the ClusterRole system:discovery"
            raise self._error(RequestFailed(_OK, "what it serves is not known", unknown.reason, hint=hint))
        self._has_answered = not discovery.is_remembered
        self._refusals: dict[Query, RequestFailed] = {}
        # Requests that take long, and are still waited for.
        self._pending: dict[Query, Future[RequestOutcome]] = {}
        self._answered = 0
        self._discovery = discovery
        # Kinds of which lists keep managedFields: who wrote what is worth the memory where there are few objects.
        self._kinds_with_authors: frozenset[GroupKind] | None = frozenset()
        # The resourceVersion of each answer so far; "" of an object that is absent.
        self._versions: dict[Query, str] = {}
        metadata = self._metadata_of_definitions()
        definitions = self._definitions(metadata or {})
        unserved = {*(metadata or ())} - {definition.ref.name for definition in definitions.values()}
        if discovery.is_remembered and unserved:
            try:
                self._discovery = discovery.refresh()
            except RequestFailed as refusal:
                gaps = {name.partition(".")[2]: refusal for name in sorted(unserved)}
                self._discovery = Discovery(discovery.kinds.values(), {**discovery.gaps, **gaps})
            definitions = self._definitions(metadata or {})
        self._unknown = tuple(self._unknown_groups(metadata))
        self._plan(definitions)

    def _plan(self, definitions: Mapping[GroupKind, Resource]) -> None:
        """Begin a world, and choose what is asked for before the question asks for anything."""
        interests, served = self._interests, self._discovery.kinds
        policies = [kind for kind in served if self._is_policy(kind, definitions)]
        self.world = ClusterWorld(interests, served, policies, self._namespace)
        self._kinds_with_authors = self.world.small_kinds
        self.world.record(Query(CRD), definitions.values())
        listed = (kind for kind in sorted(policies) if not interests.is_for_workloads(kind))
        self._first = [Query(kind) for kind in dict.fromkeys((*interests.first, *listed)) if kind in served]
        for kind in sorted(definitions.keys() & policies):
            # What a kind without a profile does is known by its definition alone.
            if POLICY_LABEL in labels_of(definitions[kind].raw) and not interests.is_profiled(kind):
                self._first.append(Query(CRD, "", definitions[kind].ref.name))

    def _is_policy(self, kind: GroupKind, definitions: Mapping[GroupKind, Resource]) -> bool:
        definition = definitions.get(kind)
        is_defined = definition and (POLICY_LABEL in labels_of(definition.raw) or kind.kind.endswith("Policy"))
        return kind not in TARGET_KINDS and (bool(is_defined) or self._interests.is_profiled(kind))

    def _metadata_of_definitions(self) -> Mapping[str, Mapping[str, Json]] | None:
        """Return the metadata of the definitions of kinds by name; None if it cannot be read."""
        if CRD not in self._discovery.kinds:
            return {}
        try:
            definitions = self._list(self._connection.hurried(), Query(CRD), METADATA_LIST)
        except RequestFailed as refusal:
            self._refuse(Query(CRD), refusal)
            self._has_answered = self._has_answered or bool(refusal.status)
            return None
        self._has_answered = True
        return {name: raw for raw in definitions if (name := text_at(raw, "metadata.name"))}

    def _definitions(self, known: Mapping[str, Mapping[str, Json]]) -> dict[GroupKind, Resource]:
        """Return the definitions of the custom kinds by what is served, and by their metadata if it is known."""
        definitions: dict[GroupKind, Resource] = {}
        for kind, served in self._discovery.kinds.items():
            if is_kubernetes_own(kind):
                continue
            name = f"{served.plural}.{kind.group}"
            metadata = known.get(name, {}).get("metadata")
            names: Json = {"kind": kind.kind, "plural": served.plural, "shortNames": list(served.short_names)}
            raw: Mapping[str, Json] = {
                "apiVersion": "apiextensions.k8s.io/v1",
                "kind": CRD.kind,
                "metadata": metadata if isinstance(metadata, dict) else {"name": name},
                "spec": {
                    "group": kind.group,
                    "names": names,
                    "scope": "Namespaced" if served.namespaced else "Cluster",
                },
            }
            created = time_at(raw, "metadata.creationTimestamp")
            definitions[kind] = Resource(ref=ObjectRef(CRD, "", name), origin=self._origin, raw=raw, created=created)
        return definitions

    def _unknown_groups(self, definitions: Collection[str] | None) -> Iterator[Gap]:
        """Return the gaps of API groups of which the server does not say what it serves.

        A group counts if every cluster has kinds of it, if it is known to have policies, or if one of the definitions
        is about it; None if these are unknown as well. Any other group is that of a server behind the server, such as
        for metrics: policies are defined.
        """
        known = {*self._interests.groups, *(names.group_kind.group for names in BUILT_IN)}
        known.update(name.partition(".")[2] for name in definitions or ())
        for group, refusal in self._discovery.gaps.items():
            if definitions is None or group in known:
                yield Gap(kind="", namespace="", reason=refusal.reason, remedy=_AGAIN, group=group)

    def refresh(self) -> bool:
        """Begin anew with what the server serves now, where that was only remembered; return whether it was.

        Raises `ClusterError` if the server does not say.
        """
        was_remembered = self._discovery.is_remembered
        if was_remembered:
            try:
                self._start(self._discovery.refresh())
            except RequestFailed as refusal:
                raise self._error(refusal) from None
        return was_remembered

    def fetch(self, progress: Progress | None = None) -> None:
        """Ask for what is wanted, several requests at once; after a while go on without those that take long.

        Those are still waited for as soon as nothing else is wanted. Raises `ClusterError` where nothing can be asked.
        """
        from concurrent.futures import ThreadPoolExecutor, wait  # noqa: PLC0415 (only clusters need it)

        queries = [query for query in dict.fromkeys((*self._first, *self.world.wanted)) if query not in self._pending]
        # The requests that take longest begin first.
        queries.sort(key=self._is_short)
        threads = ThreadPoolExecutor(min(len(queries), _MAX_CONCURRENT) or 1)
        tasks = {**self._pending, **{query: threads.submit(self._ask, query) for query in queries}}
        # While long lists come, short answers may already say what else is to be asked for.
        awaited = [tasks[query] for query in queries if self._is_short(query)] or [*tasks.values()]
        seconds = self._connection.seconds_left
        patience = _PATIENCE_SECONDS if seconds is None else min(_PATIENCE_SECONDS, seconds * _PATIENCE_PART) or None
        done: Collection[Future[RequestOutcome]] = ()
        while tasks and not done:
            if progress:
                kinds = ", ".join(dict.fromkeys(query.kind.kind for query in tasks))
                progress(self._answered, self._answered + len(tasks), kinds)
            wait(awaited, patience)
            done = {task for task in tasks.values() if task.done()}
        # Requests that no thread has begun are sent next time.
        threads.shutdown(wait=False, cancel_futures=True)
        self._pending = {query: task for query, task in tasks.items() if not (task in done or task.cancelled())}
        self._first += [query for query, task in tasks.items() if task.cancelled() and query not in self._first]
        self._take({query: task.result() for query, task in tasks.items() if task in done})

    def _ask(self, query: Query) -> RequestOutcome:
        """Return the objects of a query, none where there is none of that name; or why there is no answer."""
        served = self._discovery.kinds[query.kind]
        is_partial = query.kind in _METADATA_ALONE
        try:
            if query.name:
                path = served.path(query.namespace, query.name)
                decode = decoder_of(query.kind, lists=False)
                answer = self._connection.get(path, accept=METADATA if is_partial else JSON, decode=decode)
                self._versions[query] = text_at(answer, "metadata.resourceVersion")
                items: Sequence[Mapping[str, Json]] = [answer]
            else:
                items = self._list(self._connection, query, METADATA_LIST if is_partial else JSON)
        except RequestFailed as refusal:
            return self._outcome_of(refusal, query)
        resources = [resource for item in items if (resource := self._resource(query, served, item))]
        unexpected = len(items) - len(resources)
        wrong = f"the server answered with {unexpected} of {len(items)} objects that were not requested"
        # Something else may be in the place of what was asked for.
        return resources, RequestFailed(_OK, wrong) if unexpected else None

    def _outcome_of(self, refusal: RequestFailed, query: Query) -> RequestOutcome:
        if refusal.status != _NOT_FOUND:
            return None, refusal
        # If it is only remembered that the kind is served, it may be the kind that is not found.
        if query.name and (f'"{query.name}"' in refusal.message or not self._discovery.is_remembered):
            self._versions[query] = ""
            return (), None
        message = "the server does not know this kind, though it says that it serves it"
        return None, RequestFailed(_NOT_FOUND, message)

    def _list(self, connection: Connection, query: Query, accept: str) -> Sequence[Mapping[str, Json]]:
        selector = query.field_selector
        path = self._discovery.kinds[query.kind].path(query.namespace)
        parameters = {"fieldSelector": selector} if selector else {}
        decode = decoder_of(query.kind, lists=True)
        answer = connection.list(path, parameters, accept, self._chunk_size, decode)
        self._versions[query] = answer.resource_version
        return answer.items

    def _resource(self, query: Query, served: Served, raw: Mapping[str, Json]) -> Resource | None:
        """Return an object of an answer; None if it has no name, or is another one than was asked for."""
        metadata = raw.get("metadata")
        name, namespace = text_at(raw, "metadata.name"), text_at(raw, "metadata.namespace")
        if not (name and isinstance(metadata, dict) and served.namespaced == bool(namespace)):
            return None
        if query.name not in {"", name} or (served.namespaced and query.namespace not in {"", namespace}):
            return None
        has_authors = self._kinds_with_authors is None or query.kind in self._kinds_with_authors
        if not (query.name or has_authors):
            metadata.pop("managedFields", None)
        version = f"{served.group}/{served.version}" if served.group else served.version
        ref = ObjectRef(served.group_kind, namespace, name)
        # In lists, only custom kinds say what they are; metadata alone is of another kind.
        whole = raw if raw.get("kind") == served.kind else {**raw, "apiVersion": version, "kind": served.kind}
        return Resource(ref=ref, origin=self._origin, raw=whole, created=time_at(raw, "metadata.creationTimestamp"))

    def _is_short(self, query: Query) -> bool:
        """Whether the answer to a query is short: one object, or few of them."""
        return bool(query.name or query.namespace) or query.kind in self.world.small_kinds

    def _take(self, outcomes: Mapping[Query, RequestOutcome]) -> None:
        refusals = {query: refusal for query, (_, refusal) in outcomes.items() if refusal}
        if self._discovery.is_remembered and any(refusal.status == _NOT_FOUND for refusal in refusals.values()):
            self.refresh()
            return
        is_answer = len(refusals) < len(outcomes) or any(refusal.status for refusal in refusals.values())
        self._has_answered = self._has_answered or is_answer
        if not self._has_answered:
            raise self._error(next(iter(refusals.values())))
        for query, refusal in refusals.items():
            self._refuse(query, refusal)
            if refusal.status != _FORBIDDEN and not query.name:
                self.world.stop_listing(query.kind)
        for query, (resources, _) in outcomes.items():
            self.world.record(query, resources)
        self._first = [query for query in self._first if query not in outcomes]
        self._answered += len(outcomes)
        self.world.start_round((*self._pending, *self._first))

    def want_everything(self) -> None:
        """Want all that any question may ask for; to be called again until nothing is wanted."""
        self._kinds_with_authors = None
        self.world.want_everything()

    def version(self) -> str:
        """Return the version of the API server; "" where it does not say."""
        try:
            return text_at(self._connection.get("/version"), "gitVersion")
        except RequestFailed:
            return ""

    @property
    def is_settled(self) -> bool:
        """Whether everything that was asked for was read, or cannot be read."""
        return not (self._first or self.world.wanted)

    def watch(self, watches: ClusterWatches) -> None:
        """Watch what was read, and nothing else."""
        watches.follow(self._connection, watch_scopes(self._versions, self._discovery.kinds))

    def snapshot(self, assumed: Sequence[AssumedObjects] = ()) -> Snapshot:
        """Return what was read so far, and what could not be read; everything else is known to be absent."""
        queries = sorted(self._refusals, key=lambda query: (query.kind, query.namespace, query.name))
        gaps = [self._gap(query, self._refusals[query]) for query in queries if query.kind not in EVENTS]
        return Snapshot(
            resources=self.world,
            gaps=(*self._unknown, *gaps),
            complete=True,
            assumed=tuple(assumed),
            source="the cluster",
        )

    def _error(self, refusal: RequestFailed) -> ClusterError:
        return cluster_error(self._connection.access, refusal)

    def _refuse(self, query: Query, refusal: RequestFailed) -> None:
        if refusal.status == _UNAUTHORIZED:
            raise self._error(refusal)
        self._refusals[query] = refusal

    def _gap(self, query: Query, refusal: RequestFailed) -> Gap:
        """Return what a refused request leaves open, with the permission or the remedy that closes it."""
        served = self._discovery.kinds[query.kind]
        resource = f"{served.plural}.{served.group}" if served.group else served.plural
        is_forbidden = refusal.status == _FORBIDDEN
        needed = Permission("get" if query.name else "list", resource, query.namespace if served.namespaced else None)
        return Gap(
            kind=query.kind.kind,
            namespace=query.namespace,
            reason=refusal.reason,
            name=query.name,
            remedy="ask for this permission" if is_forbidden else _remedy(refusal, resource),
            besides=frozenset() if query.namespace else self.world.namespaces_read(query.kind),
            group=query.kind.group,
            missing=self.world.nonexistent(query.kind),
            needs=needed if is_forbidden else None,
        )


def _remedy(refusal: RequestFailed, resource: str) -> str:
    """Return what to do where something could not be read although it is not forbidden."""
    if refusal.is_conversion:
        return f"tell the owner of CustomResourceDefinition {resource}: its conversion webhook must answer"
    if refusal.status in {0, 504}:
        return "ask again with more time: --request-timeout"
    return _AGAIN if refusal.retry else f"{_AGAIN}; if that does not help, ask the administrators of the cluster"
