"""Read from a cluster what a question asks for, round by round, and note what could not be read."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from kubectl_policy.model import Gap, ObjectRef, Origin, Permission, Resource, Snapshot
from kubectl_policy.model.fields import labels_of, text_at, time_at
from kubectl_policy.model.kinds import CRD, POLICY_LABEL, TARGETS, is_kubernetes_own
from kubectl_policy.model.values import value
from kubectl_policy.sources.cluster.api.refusals import RequestRefused
from kubectl_policy.sources.cluster.api.served import EVERY_GROUP, Discovery, UnknownGroup
from kubectl_policy.sources.cluster.cluster_errors import AGAIN, cluster_error, unknown_groups
from kubectl_policy.sources.cluster.everything import want_everything
from kubectl_policy.sources.cluster.fetching import QueryFetcher, RequestOutcome
from kubectl_policy.sources.cluster.watches import watch_scopes
from kubectl_policy.sources.cluster.world import EVENTS, ClusterKinds, ClusterWorld, Query

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
    from concurrent.futures import Future

    from kubectl_policy.errors import ClusterError
    from kubectl_policy.model import GroupKind, Json
    from kubectl_policy.model.snapshot import AssumedObjects
    from kubectl_policy.sources.cluster.api.served import Served
    from kubectl_policy.sources.cluster.fetching import ApiConnection
    from kubectl_policy.sources.cluster.watches import ReadVersions, WatchScope
    from kubectl_policy.sources.options import Progress

_MAX_CONCURRENT: Final = 8
# After so many seconds, or that part of the time that is left, the question is asked again with what was answered.
_PATIENCE_SECONDS, _PATIENCE_PART = 1.0, 1 / 4
_OK, _UNAUTHORIZED, _FORBIDDEN, _NOT_FOUND = 200, 401, 403, 404


@value(kw_only=True)
class ClusterAddress:
    """The cluster that is asked."""

    name: str
    # The URL of the API server.
    server: str
    # The namespace that the question is about.
    namespace: str


@value(kw_only=True)
class Interests:
    """What is known of kinds before a cluster is asked."""

    # Kinds of which there are few objects, besides policies.
    few: Collection[GroupKind]
    # Kinds that nearly every question lists: they are listed at once.
    first: Collection[GroupKind]
    # Kinds that are listed together with another one, as its objects refer to them.
    alongside: Mapping[GroupKind, Collection[GroupKind]]
    # Kinds that are listed for a question about one object of another kind.
    below: Mapping[GroupKind, Collection[GroupKind]]
    # Whether a profile says that a kind is one of policies; of other kinds, their definitions say so.
    is_profiled: Callable[[GroupKind], bool]
    # Whether a question may ask for any object of a kind, as of policies; of other kinds, for those that these name.
    matters: Callable[[GroupKind], bool]
    # Whether policies of a kind are for workloads alone, as NetworkPolicies are.
    is_for_workloads: Callable[[GroupKind], bool] = lambda _: False
    # API groups of which it matters whether they are served.
    groups: Collection[str] = ()


class Cluster:
    """A cluster that a question is asked of: what was read of it so far, and what could not be read."""

    def __init__(
        self,
        connection: ApiConnection,
        discovery: Discovery,
        interests: Interests,
        address: ClusterAddress,
        chunk_size: int = 0,
    ) -> None:
        """Read which kinds are defined; lists come in parts of `chunk_size` objects unless that is 0.

        Raises `ClusterError` where nothing can be asked.
        """
        self._connection, self._interests, self._address = connection, interests, address
        self._origin, self._chunk_size = Origin(address.name), chunk_size
        self._start(discovery)

    def _start(self, discovery: Discovery) -> None:
        if unknown := next((gap.reason for gap in discovery.gaps if gap.group == EVERY_GROUP), ""):
            hint = "ask again later; whoever may not get /apis needs the ClusterRole system:discovery"
            raise self._error(RequestRefused(_OK, "what it serves is not known", unknown, hint=hint))
        self._has_answered = not discovery.is_remembered
        self._refusals: dict[Query, RequestRefused] = {}
        # Requests that take long, and are still waited for.
        self._pending: dict[Query, Future[RequestOutcome]] = {}
        self._answered = 0
        self._fetcher = QueryFetcher(self._connection, discovery, self._origin, self._chunk_size)
        metadata = self._metadata_of_definitions()
        definitions = self._definitions(metadata or {})
        unserved = {*(metadata or ())} - {definition.ref.name for definition in definitions.values()}
        if discovery.is_remembered and unserved:
            self._fetcher.discovery = _refresh(discovery, {name.partition(".")[2] for name in unserved})
            definitions = self._definitions(metadata or {})
        self._unknown = tuple(unknown_groups(self._discovery.gaps, self._interests.groups, metadata))
        self._plan(definitions)

    @property
    def _discovery(self) -> Discovery:
        return self._fetcher.discovery

    def _plan(self, definitions: Mapping[GroupKind, Resource]) -> None:
        """Begin a world, and choose what is asked for before the question asks for anything."""
        interests, served = self._interests, self._discovery.kinds
        policies = frozenset(self._policies(definitions))
        for_workloads = frozenset(filter(interests.is_for_workloads, policies))
        self._few = frozenset({*interests.few, *policies, CRD})
        self._fetcher.kinds_with_authors = self._few
        self._everything = frozenset({*self._few, *filter(interests.matters, served)}) & served.keys()
        kinds = ClusterKinds(
            served=served,
            few=self._few,
            policies=policies - for_workloads,
            for_workloads=for_workloads,
            alongside=interests.alongside,
            below=interests.below,
        )
        self.world = ClusterWorld(kinds, self._address.namespace)
        self.world.take(Query(CRD), definitions.values())
        labelled = (kind for kind in policies & definitions.keys() if POLICY_LABEL in labels_of(definitions[kind].raw))
        self._first = [
            *(Query(kind) for kind in dict.fromkeys((*interests.first, *sorted(kinds.policies))) if kind in served),
            # What a kind without a profile does is known by its definition alone.
            *(
                Query(CRD, "", definitions[kind].ref.name)
                for kind in sorted(labelled)
                if not interests.is_profiled(kind)
            ),
        ]

    def _metadata_of_definitions(self) -> Mapping[str, Mapping[str, Json]] | None:
        """Return the metadata of the definitions of kinds by name; None if it cannot be read."""
        if CRD not in self._discovery.kinds:
            return {}
        try:
            definitions = self._fetcher.list_metadata(CRD)
        except RequestRefused as refusal:
            self._refuse(Query(CRD), refusal)
            self._has_answered = self._has_answered or bool(refusal.status)
            return None
        self._has_answered = True
        return {name: raw for raw in definitions if (name := text_at(raw, "metadata.name"))}

    def _definitions(self, metadata: Mapping[str, Mapping[str, Json]]) -> dict[GroupKind, Resource]:
        """Return what is known of the definitions of the custom kinds: names, and labels by their metadata."""
        custom = ((kind, served) for kind, served in self._discovery.kinds.items() if not is_kubernetes_own(kind))
        by_name = {f"{served.plural}.{kind.group}": served for kind, served in custom}
        return {
            served.group_kind: Resource(
                ref=ObjectRef(CRD, "", name),
                origin=self._origin,
                raw=_definition(name, served, metadata.get(name, {})),
                created=time_at(metadata.get(name, {}), "metadata.creationTimestamp"),
            )
            for name, served in sorted(by_name.items())
        }

    def _policies(self, definitions: Mapping[GroupKind, Resource]) -> Iterator[GroupKind]:
        for kind in self._discovery.kinds:
            definition = definitions.get(kind)
            is_policy = definition and (POLICY_LABEL in labels_of(definition.raw) or kind.kind.endswith("Policy"))
            if kind not in TARGETS and (is_policy or self._interests.is_profiled(kind)):
                yield kind

    def refresh(self) -> bool:
        """Begin anew with what the server serves now, where that was only remembered; return whether it was.

        Raises `ClusterError` if the server does not say.
        """
        was_remembered = self._discovery.is_remembered
        if was_remembered:
            try:
                self._start(self._discovery.refresh())
            except RequestRefused as refusal:
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
        tasks = {**self._pending, **{query: threads.submit(self._fetcher.fetch, query) for query in queries}}
        # While long lists come, short answers may already say what else is to be asked for.
        awaited = [tasks[query] for query in queries if self._is_short(query)] or [*tasks.values()]
        done: Collection[Future[RequestOutcome]] = ()
        while tasks and not done:
            if progress:
                kinds = ", ".join(dict.fromkeys(query.kind.kind for query in tasks))
                progress(self._answered, self._answered + len(tasks), kinds)
            wait(awaited, self._patience)
            done = {task for task in tasks.values() if task.done()}
        # Requests that no thread has begun are sent next time.
        threads.shutdown(wait=False, cancel_futures=True)
        self._pending = {query: task for query, task in tasks.items() if not (task in done or task.cancelled())}
        self._first += [query for query, task in tasks.items() if task.cancelled() and query not in self._first]
        self._take({query: task.result() for query, task in tasks.items() if task in done})

    @property
    def _patience(self) -> float | None:
        """Return the seconds after which what was answered is made use of; None for any time."""
        left = self._connection.seconds_left
        return _PATIENCE_SECONDS if left is None else min(_PATIENCE_SECONDS, left * _PATIENCE_PART) or None

    def _is_short(self, query: Query) -> bool:
        """Whether the answer to a query is short: one object, or few of them."""
        return bool(query.name or query.namespace) or query.kind in self._few

    def _take(self, outcomes: Mapping[Query, RequestOutcome]) -> None:
        refusals = {query: outcome.refusal for query, outcome in outcomes.items() if outcome.refusal}
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
                self.world.give_up(query.kind)
        for query, outcome in outcomes.items():
            self.world.take(query, outcome.resources)
        self._first = [query for query in self._first if query not in outcomes]
        self._answered += len(outcomes)
        self.world.start_round((*self._pending, *self._first))

    def want_everything(self) -> None:
        """Want all that any question may ask for; to be called again until nothing is wanted."""
        self._fetcher.kinds_with_authors = None
        want_everything(self.world, self._everything, self._discovery.kinds)

    def version(self) -> str:
        """Return the version of the API server; "" where it does not say."""
        try:
            return text_at(self._connection.get("/version").body, "gitVersion")
        except RequestRefused:
            return ""

    @property
    def is_settled(self) -> bool:
        """Whether everything that was asked for was read, or cannot be read."""
        return not (self._first or self.world.wanted)

    def watch_scopes(self) -> Mapping[WatchScope, ReadVersions]:
        """Return what can change of what was read."""
        return watch_scopes(self._fetcher.versions, self._discovery.kinds)

    def snapshot(self, assumed: Sequence[AssumedObjects] = ()) -> Snapshot:
        """Return what was read so far, and what could not be read; everything else is known to be absent."""
        gaps = (*self._unknown, *self._gaps())
        return Snapshot(resources=self.world, gaps=gaps, complete=True, assumed=tuple(assumed), place="the cluster")

    def _error(self, refusal: RequestRefused) -> ClusterError:
        return cluster_error(self._address.name, self._address.server, refusal)

    def _refuse(self, query: Query, refusal: RequestRefused) -> None:
        if refusal.status == _UNAUTHORIZED:
            raise self._error(refusal)
        self._refusals[query] = refusal

    def _gaps(self) -> Iterator[Gap]:
        for query in sorted(self._refusals, key=lambda query: (query.kind, query.namespace, query.name)):
            if query.kind not in EVENTS:
                yield self._gap(query, self._refusals[query])

    def _gap(self, query: Query, refusal: RequestRefused) -> Gap:
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
            remedy="have somebody grant this permission" if is_forbidden else _remedy(refusal, resource),
            besides=frozenset() if query.namespace else self.world.namespaces_read(query.kind),
            group=query.kind.group,
            missing=self.world.missing(query.kind),
            needs=needed if is_forbidden else None,
        )


def _remedy(refusal: RequestRefused, resource: str) -> str:
    """Return what to do where something could not be read although it is not forbidden."""
    if refusal.is_conversion:
        return f"tell whoever owns CustomResourceDefinition {resource}: its conversion webhook must answer"
    if refusal.status in {0, 504}:
        return "ask again, and allow more time for it: --request-timeout"
    return AGAIN if refusal.retry else f"{AGAIN}; if that does not help, ask who runs the cluster"


def _refresh(discovery: Discovery, groups: Collection[str]) -> Discovery:
    """Return what a server serves now; if it does not say, what is remembered, which lacks kinds of some groups."""
    try:
        return discovery.refresh()
    except RequestRefused as refusal:
        gaps = (UnknownGroup(group, refusal.reason) for group in sorted(groups))
        return Discovery(discovery.kinds.values(), [*discovery.gaps, *gaps])


def _definition(name: str, served: Served, known: Mapping[str, Json]) -> Mapping[str, Json]:
    """Return a definition that was not read as a whole, by its metadata and by what is served."""
    metadata = known.get("metadata")
    scope = "Namespaced" if served.namespaced else "Cluster"
    names: Json = {"kind": served.kind, "plural": served.plural, "shortNames": list(served.short_names)}
    return {
        "apiVersion": "apiextensions.k8s.io/v1",
        "kind": CRD.kind,
        "metadata": metadata if isinstance(metadata, dict) else {"name": name},
        "spec": {"group": served.group, "names": names, "scope": scope},
    }
