"""Asking a cluster: which requests say what a question asked for, and what could not be read."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final, Protocol

from kubectl_policy.model import Gap, GroupKind, ObjectRef, Origin, Permission, Resource, Snapshot
from kubectl_policy.model.fields import labels_of, text_at, time_at
from kubectl_policy.model.kinds import CRD, POLICY_LABEL, TARGETS, is_kubernetes_own
from kubectl_policy.model.values import value
from kubectl_policy.sources.cluster.api.connection import JSON, METADATA, METADATA_LIST
from kubectl_policy.sources.cluster.api.refusals import RequestRefused
from kubectl_policy.sources.cluster.api.served import EVERY_GROUP, Discovery, UnknownGroup
from kubectl_policy.sources.cluster.changing import Watched
from kubectl_policy.sources.cluster.cluster_errors import AGAIN, cluster_error, unknown_groups
from kubectl_policy.sources.cluster.everything import want_everything
from kubectl_policy.sources.cluster.world import EVENT, EVENTS, Ask, ClusterWorld, Kinds

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
    from concurrent.futures import Future

    from kubectl_policy.errors import ClusterError
    from kubectl_policy.model import Json
    from kubectl_policy.model.snapshot import AssumedObjects
    from kubectl_policy.sources.cluster.api.answers import ListAnswer, ObjectAnswer
    from kubectl_policy.sources.cluster.api.served import Served
    from kubectl_policy.sources.options import Progress

# Of these kinds only metadata is read: names, labels and owners. Bodies of Secrets never are.
_METADATA_ALONE: Final = frozenset(
    {GroupKind("", "Secret"), GroupKind("", "Pod"), GroupKind("", "ServiceAccount"), GroupKind("apps", "Deployment")}
)
# What runs, and starts and stops all the time. No policy is about one of them.
_WITH_MANY_EVENTS: Final = ("Pod", "ReplicaSet", "Job", "CronJob", "Node", "HorizontalPodAutoscaler")
_AT_A_TIME: Final = 8
# Seconds after which what was answered is made use of, while the rest is waited for; and the share of the time left.
_PATIENCE, _SHARE = 1.0, 4
_OK, _UNAUTHORIZED, _FORBIDDEN, _NOT_FOUND = 200, 401, 403, 404
# What closes a gap.
_ASK_FOR_IT: Final = "have somebody grant this permission"


@value(kw_only=True)
class Place:
    """Where is asked: what the cluster is called, its address, and the namespace that is asked about."""

    name: str
    server: str
    namespace: str


@value(kw_only=True)
class Interests:
    """What is known of kinds before a cluster is asked.

    Of the `few` kinds, and of policies, there are not many objects; those of the `first` kinds are asked for at once.
    Whoever lists one kind also needs those that are `alongside` it, and whoever asks about one object of a kind all of
    what is `below` it. A kind `is_profiled` if it is known to be one of policies, in one of the `groups`; of others,
    their definitions say so. Of a kind that `matters`, as of policies, a question may ask for any object; of others for
    those that these name.
    """

    few: Collection[GroupKind]
    first: Collection[GroupKind]
    alongside: Mapping[GroupKind, Collection[GroupKind]]
    below: Mapping[GroupKind, Collection[GroupKind]]
    is_profiled: Callable[[GroupKind], bool]
    matters: Callable[[GroupKind], bool]
    groups: Collection[str] = ()


class Requests(Protocol):
    """How a server is asked: a `Connection`."""

    @property
    def seconds_left(self) -> float | None:
        """The time until nothing is answered any more; None if there is no such."""
        ...

    def hurried(self) -> Requests:
        """The same, but it leaves half of the time for what is asked later."""
        ...

    def get(self, path: str, query: Mapping[str, str] = ..., accept: str = ...) -> ObjectAnswer:
        """An object. Raises RequestRefused."""
        ...

    def list(self, path: str, query: Mapping[str, str], accept: str, chunk_size: int) -> ListAnswer:
        """The objects at a path. Raises RequestRefused."""
        ...


@value()
class _Found:
    """What came of a request: objects, unless there was no answer, and what is wrong with that."""

    resources: Sequence[Resource] | None
    refusal: RequestRefused | None = None


class Cluster:
    """A cluster of which a question is asked: the world that is known of it, and what of it could not be read."""

    def __init__(
        self, connection: Requests, discovery: Discovery, interests: Interests, place: Place, chunk_size: int = 0
    ) -> None:
        """Reach it by a connection, and have lists in parts of a size, unless that is 0.

        Raises `ClusterError` where nothing can be asked.
        """
        self._connection, self._interests, self._place = connection, interests, place
        self._origin, self._chunk_size = Origin(place.name), chunk_size
        self._is_for_all = False
        self._begin(discovery)

    def _begin(self, discovery: Discovery) -> None:
        """Begin with what the server serves."""
        if unknown := next((gap.reason for gap in discovery.gaps if gap.group == EVERY_GROUP), ""):
            hint = "ask again later; whoever may not get /apis needs the ClusterRole system:discovery"
            raise self._error(RequestRefused(_OK, "what it serves is not known", unknown, hint=hint))
        self._is_heard = not discovery.is_remembered
        self._refusals: dict[Ask, RequestRefused] = {}
        # What takes long, and is still waited for.
        self._late: dict[Ask, Future[_Found]] = {}
        self._answered = 0
        # As of when it is known what was asked.
        self._versions: dict[Ask, str] = {}
        self._discovery = discovery
        metadata = self._metadata_of_definitions()
        definitions = self._definitions(metadata or {})
        unheard = {*(metadata or ())} - {each.ref.name for each in definitions.values()}
        if discovery.is_remembered and unheard:
            self._discovery = _refreshed(discovery, {name.partition(".")[2] for name in unheard})
            definitions = self._definitions(metadata or {})
        policies = frozenset(self._policies(definitions))
        self._few = frozenset({*self._interests.few, *policies, CRD})
        interests, served = self._interests, self._discovery.kinds
        kinds = Kinds(
            served=served, few=self._few, policies=policies, alongside=interests.alongside, below=interests.below
        )
        self.world = ClusterWorld(kinds, self._place.namespace)
        self.world.take(Ask(CRD), definitions.values())
        self._everything = frozenset({*self._few, *filter(interests.matters, served)}) & served.keys()
        self._unknown = tuple(unknown_groups(self._discovery.gaps, interests.groups, metadata))
        # What nearly every question asks for is asked for at once; what a kind without a profile does is known by its
        # definition alone.
        self._first = [
            *(Ask(kind) for kind in dict.fromkeys((*interests.first, *sorted(policies))) if kind in served),
            *(
                Ask(CRD, "", definitions[kind].ref.name)
                for kind in sorted(policies & definitions.keys())
                if not interests.is_profiled(kind) and POLICY_LABEL in labels_of(definitions[kind].raw)
            ),
        ]

    def _metadata_of_definitions(self) -> Mapping[str, Mapping[str, Json]] | None:
        """The metadata of what defines kinds, by names; None if it cannot be read."""
        if CRD not in self._discovery.kinds:
            return {}
        try:
            listed = self._list(self._connection.hurried(), self._discovery.kinds[CRD], Ask(CRD), METADATA_LIST)
        except RequestRefused as refusal:
            self._refuse(Ask(CRD), refusal)
            self._is_heard = self._is_heard or bool(refusal.status)
            return None
        self._is_heard = True
        return {name: raw for raw in listed if (name := text_at(raw, "metadata.name"))}

    def _definitions(self, metadata: Mapping[str, Mapping[str, Json]]) -> dict[GroupKind, Resource]:
        """What is known of the kinds that are defined: their names, and the labels of their definitions."""
        by_name = {
            f"{each.plural}.{kind.group}": each
            for kind, each in self._discovery.kinds.items()
            if not is_kubernetes_own(kind)
        }
        return {
            GroupKind(each.group, each.kind): Resource(
                ref=ObjectRef(CRD, "", name),
                origin=self._origin,
                raw=_definition(name, each, metadata.get(name, {})),
                created=time_at(metadata.get(name, {}), "metadata.creationTimestamp"),
            )
            for name, each in sorted(by_name.items())
        }

    def _policies(self, definitions: Mapping[GroupKind, Resource]) -> Iterator[GroupKind]:
        for kind in self._discovery.kinds:
            defined = definitions.get(kind)
            is_labelled = defined is not None and POLICY_LABEL in labels_of(defined.raw)
            is_called_one = defined is not None and kind.kind.endswith("Policy")
            if kind not in TARGETS and (is_labelled or is_called_one or self._interests.is_profiled(kind)):
                yield kind

    def refresh(self) -> bool:
        """Ask the server what it serves, and begin anew, where that was only remembered: whether it was.

        Raises `ClusterError` if it does not say.
        """
        was_remembered = self._discovery.is_remembered
        if was_remembered:
            try:
                self._begin(self._discovery.refresh())
            except RequestRefused as refusal:
                raise self._error(refusal) from None
        return was_remembered

    def fetch(self, progress: Progress | None = None) -> None:
        """Ask for what is wanted, several requests at once; after a while without those that take long.

        Those are asked on: nothing else waits for them, until nothing else is wanted. Raises `ClusterError` where
        nothing can be asked.
        """
        from concurrent.futures import ThreadPoolExecutor, wait  # noqa: PLC0415 (only clusters need it)

        asks = [ask for ask in dict.fromkeys((*self._first, *self.world.wanted)) if ask not in self._late]
        # What takes longest is begun with.
        asks.sort(key=self._is_short)
        threads = ThreadPoolExecutor(min(len(asks), _AT_A_TIME) or 1)
        tasks = {**self._late, **{ask: threads.submit(self._answer, ask) for ask in asks}}
        kinds, total = ", ".join(dict.fromkeys(ask.kind.kind for ask in tasks)), self._answered + len(tasks)
        left = self._connection.seconds_left
        patience = _PATIENCE if left is None else min(_PATIENCE, left / _SHARE)
        # While long lists come, what is known without them may already say what else is to be asked for.
        short = [tasks[ask] for ask in asks if self._is_short(ask)]
        done: Collection[Future[_Found]] = ()
        while tasks and not done:
            if progress:
                progress(self._answered, total, kinds)
            wait(short or tasks.values(), patience or None)
            done = {task for task in tasks.values() if task.done()}
        # What nobody has begun with is asked next time.
        threads.shutdown(wait=False, cancel_futures=True)
        self._late = {ask: task for ask, task in tasks.items() if not (task in done or task.cancelled())}
        self._first += [ask for ask, task in tasks.items() if task.cancelled() and ask not in self._first]
        self._take({ask: task.result() for ask, task in tasks.items() if task in done})

    def _is_short(self, ask: Ask) -> bool:
        """Whether the answer to a request is short: an object, or few of them."""
        return bool(ask.name or ask.namespace) or ask.kind in self._few

    def _take(self, found: Mapping[Ask, _Found]) -> None:
        refusals = {ask: each.refusal for ask, each in found.items() if each.refusal}
        if self._discovery.is_remembered and any(each.status == _NOT_FOUND for each in refusals.values()):
            self.refresh()
            return
        self._is_heard = self._is_heard or len(refusals) < len(found) or any(each.status for each in refusals.values())
        if not self._is_heard:
            raise self._error(next(iter(refusals.values())))
        for ask, each in found.items():
            if each.refusal:
                self._refuse(ask, each.refusal)
                if each.refusal.status != _FORBIDDEN and not ask.name:
                    self.world.give_up(ask.kind)
            self.world.take(ask, each.resources)
        self._first = [ask for ask in self._first if ask not in found]
        self._answered += len(found)
        self.world.begin((*self._late, *self._first))

    def want_everything(self) -> None:
        """Want all that any question may ask for; to be called again until everything is settled."""
        self._is_for_all = True
        want_everything(self.world, self._everything, self._discovery.kinds)

    def version(self) -> str:
        """The version of the API server; empty where it does not say."""
        try:
            return text_at(self._connection.get("/version").body, "gitVersion")
        except RequestRefused:
            return ""

    @property
    def is_settled(self) -> bool:
        """Whether everything that was asked for was read, or cannot be."""
        return not (self._first or self.world.wanted)

    def snapshot(self, assumed: Sequence[AssumedObjects] = ()) -> Snapshot:
        """What was read so far, and what could not be: whatever else is asked for is known not to be there."""
        return Snapshot(
            resources=self.world, gaps=tuple(self._gaps()), complete=True, assumed=tuple(assumed), place="the cluster"
        )

    def _error(self, refusal: RequestRefused) -> ClusterError:
        return cluster_error(self._place.name, self._place.server, refusal)

    def _refuse(self, ask: Ask, refusal: RequestRefused) -> None:
        if refusal.status == _UNAUTHORIZED:
            raise self._error(refusal)
        self._refusals[ask] = refusal

    def _answer(self, ask: Ask) -> _Found:
        """The objects that a request gives, none where there is none of that name; or why it gives no answer."""
        served = self._discovery.kinds[ask.kind]
        partial = ask.kind in _METADATA_ALONE
        found: Sequence[Mapping[str, Json]]
        try:
            if ask.name:
                accept = METADATA if partial else JSON
                found = [self._connection.get(served.path(ask.namespace, ask.name), {}, accept).body]
                self._versions[ask] = text_at(found[0], "metadata.resourceVersion")
            else:
                accept = METADATA_LIST if partial else JSON
                found = self._list(self._connection, served, ask, accept)
        except RequestRefused as refusal:
            return self._refused(ask, refusal)
        resources = [resource for raw in found if (resource := self._resource(ask, served, raw))]
        # What is not what was asked for may be that in disguise.
        strange = len(found) - len(resources)
        wrong = f"the server answered with {strange} of {len(found)} objects that are none of those asked for"
        return _Found(resources, RequestRefused(_OK, wrong) if strange else None)

    def _refused(self, ask: Ask, refusal: RequestRefused) -> _Found:
        if refusal.status != _NOT_FOUND:
            return _Found(None, refusal)
        # It may be the kind that is not found, if it is only remembered that it is served.
        if ask.name and (f'"{ask.name}"' in refusal.message or not self._discovery.is_remembered):
            self._versions[ask] = ""
            return _Found(())
        return _Found(
            None, RequestRefused(_NOT_FOUND, "the server does not know this kind, though it says that it serves it")
        )

    def _list(self, connection: Requests, served: Served, ask: Ask, accept: str) -> Sequence[Mapping[str, Json]]:
        query = {"fieldSelector": selector} if (selector := _selector(ask)) else {}
        answer = connection.list(served.path(ask.namespace), query, accept, self._chunk_size)
        self._versions[ask] = answer.resource_version
        return answer.items

    @property
    def watched(self) -> Mapping[Watched, str]:
        """What can change of what was read, and as of which version it was read, if there was anything."""
        found: dict[Watched, str] = {}
        for ask, version in self._versions.items():
            wider = {Ask(ask.kind), Ask(ask.kind, ask.namespace)} - {ask}
            if ask.about or wider.isdisjoint(self._versions):
                selector = f"metadata.name={ask.name}" if ask.name else _selector(ask)
                found[Watched(self._discovery.kinds[ask.kind].path(ask.namespace), selector)] = version
        return found

    def _resource(self, ask: Ask, served: Served, raw: Mapping[str, Json]) -> Resource | None:
        """An object of an answer; None for what has no name, or is another one than was asked for."""
        metadata = raw.get("metadata")
        name, namespace = text_at(raw, "metadata.name"), text_at(raw, "metadata.namespace")
        if not (name and isinstance(metadata, dict) and served.namespaced == bool(namespace)):
            return None
        if ask.name not in {"", name} or (served.namespaced and ask.namespace not in {"", namespace}):
            return None
        if not (ask.name or ask.kind in self._few or self._is_for_all):
            # Who wrote what is worth the memory where there are few objects, or a question yet to come.
            metadata.pop("managedFields", None)
        version = f"{served.group}/{served.version}" if served.group else served.version
        ref = ObjectRef(GroupKind(served.group, served.kind), namespace, name)
        # In lists, only custom kinds say what they are; metadata alone is of another kind.
        whole = raw if raw.get("kind") == served.kind else {**raw, "apiVersion": version, "kind": served.kind}
        return Resource(ref=ref, origin=self._origin, raw=whole, created=time_at(raw, "metadata.creationTimestamp"))

    def _gaps(self) -> Iterator[Gap]:
        yield from self._unknown
        for ask in sorted(self._refusals, key=lambda ask: (ask.kind, ask.namespace, ask.name)):
            if ask.kind not in EVENTS:
                yield self._gap(ask, self._refusals[ask])

    def _gap(self, ask: Ask, refusal: RequestRefused) -> Gap:
        """What a refused request leaves open, and what closes it: a permission, or what else there is to do."""
        served = self._discovery.kinds[ask.kind]
        resource = f"{served.plural}.{served.group}" if served.group else served.plural
        may = Permission("get" if ask.name else "list", resource, ask.namespace if served.namespaced else None)
        return Gap(
            kind=ask.kind.kind,
            namespace=ask.namespace,
            reason=refusal.reason,
            name=ask.name,
            remedy=_ASK_FOR_IT if refusal.status == _FORBIDDEN else _remedy(refusal, resource),
            besides=frozenset() if ask.namespace else self.world.namespaces_read(ask.kind),
            group=ask.kind.group,
            missing=self.world.missing(ask.kind),
            needs=may if refusal.status == _FORBIDDEN else None,
        )


def _remedy(refusal: RequestRefused, resource: str) -> str:
    """What there is to do where something was not refused to somebody, and could not be read all the same."""
    if refusal.is_conversion:
        return f"tell whoever owns CustomResourceDefinition {resource}: its conversion webhook must answer"
    if refusal.status in {0, 504}:
        return "ask again, and allow more time for it: --request-timeout"
    return AGAIN if refusal.retry else f"{AGAIN}; if that does not help, ask who runs the cluster"


def _refreshed(discovery: Discovery, groups: Collection[str]) -> Discovery:
    """What a server serves now; if it does not say so, what it served before, which lacks something of some groups."""
    try:
        return discovery.refresh()
    except RequestRefused as refusal:
        gaps = (UnknownGroup(group, refusal.reason) for group in sorted(groups))
        return Discovery(discovery.kinds.values(), [*discovery.gaps, *gaps])


def _definition(name: str, served: Served, known: Mapping[str, Json]) -> Mapping[str, Json]:
    """What is known of a definition that is not read itself."""
    metadata = known.get("metadata")
    scope = "Namespaced" if served.namespaced else "Cluster"
    names: Json = {"kind": served.kind, "plural": served.plural, "shortNames": list(served.short_names)}
    return {
        "apiVersion": "apiextensions.k8s.io/v1",
        "kind": CRD.kind,
        "metadata": metadata if isinstance(metadata, dict) else {"name": name},
        "spec": {"group": served.group, "names": names, "scope": scope},
    }


def _selector(ask: Ask) -> str:
    """What selects the Events about an object, or without one those about nothing of which there are many."""
    if ask.about:
        return f"involvedObject.kind={ask.about.kind},involvedObject.name={ask.about.name}"
    return ",".join(f"involvedObject.kind!={kind}" for kind in _WITH_MANY_EVENTS) if ask.kind == EVENT else ""
