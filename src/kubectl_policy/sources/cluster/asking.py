"""Asking a cluster: which requests say what a question asked for, and what could not be read."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final, Protocol

from kubectl_policy.errors import ClusterError
from kubectl_policy.model import Gap, GroupKind, ObjectRef, Origin, Permission, Resource, Snapshot
from kubectl_policy.model.fields import labels_of, text_at, time_at
from kubectl_policy.model.kinds import CRD, POLICY_LABEL, TARGETS, is_kubernetes_own
from kubectl_policy.model.values import value
from kubectl_policy.sources.cluster.connection import JSON, METADATA, METADATA_LIST, Refusal
from kubectl_policy.sources.cluster.everything import want_everything
from kubectl_policy.sources.cluster.served import EVERY_GROUP
from kubectl_policy.sources.cluster.world import EVENT, EVENTS, Ask, ClusterWorld, Kinds

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterator, Mapping, Sequence

    from kubectl_policy.model import Json
    from kubectl_policy.model.snapshot import AssumedObjects
    from kubectl_policy.sources.cluster.answers import Answer, ListAnswer
    from kubectl_policy.sources.cluster.discovery import Discovery, Served
    from kubectl_policy.sources.options import Progress

# Of these kinds only metadata is read: names, labels and owners. Bodies of Secrets never are.
_METADATA_ALONE: Final = frozenset(
    {GroupKind("", "Secret"), GroupKind("", "Pod"), GroupKind("", "ServiceAccount"), GroupKind("apps", "Deployment")}
)
# What runs, and starts and stops all the time. No policy is about one of them.
_WITH_MANY_EVENTS: Final = ("Pod", "ReplicaSet", "Job", "CronJob", "Node", "HorizontalPodAutoscaler")
_ONE_AT_A_TIME: Final = 8
_FORBIDDEN, _NOT_FOUND = 403, 404
_UNAUTHORIZED: Final = 401
# What closes a gap.
_ASK_FOR_IT: Final = "have somebody grant this permission"
_AGAIN: Final = "ask again"


@value(kw_only=True)
class Place:
    """Where is asked: what the cluster is called, and the namespace that is asked about."""

    name: str
    namespace: str


@value(kw_only=True)
class Interests:
    """What is known of kinds before a cluster is asked.

    Of the `few` kinds, and of policies, there are not many objects; those of the `first` kinds are asked for at once.
    Whoever lists one kind also needs those that are `alongside` it, and whoever asks about one object of a kind all of
    what is `below` it. A kind `is_profiled` if it is known to be one of policies; of others, their definitions say so.
    Of a kind that `matters`, as of policies, a question may ask for any object; of others for those that these name.
    """

    few: Collection[GroupKind]
    first: Collection[GroupKind]
    alongside: Mapping[GroupKind, Collection[GroupKind]]
    below: Mapping[GroupKind, Collection[GroupKind]]
    is_profiled: Callable[[GroupKind], bool]
    matters: Callable[[GroupKind], bool]


class Requests(Protocol):
    """How a server is asked: a `Connection`."""

    def get(self, path: str, query: Mapping[str, str] = ..., accept: str = ...) -> Answer:
        """An object. Raises Refusal."""
        ...

    def list(self, path: str, query: Mapping[str, str], accept: str, chunk_size: int) -> ListAnswer:
        """The objects at a path. Raises Refusal."""
        ...


class Cluster:
    """A cluster of which a question is asked: the world that is known of it, and what of it could not be read."""

    def __init__(
        self, connection: Requests, discovery: Discovery, interests: Interests, place: Place, chunk_size: int = 0
    ) -> None:
        """Reach it by a connection, and have lists in parts of a size, unless that is 0."""
        self._connection, self._discovery = connection, discovery
        self._origin, self._chunk_size = Origin(place.name), chunk_size
        self._refusals: dict[Ask, Refusal] = {}
        self._is_for_all = False
        served = discovery.kinds
        definitions = self._definitions()
        policies = frozenset(self._policies(definitions, interests.is_profiled))
        self._few = frozenset({*interests.few, *policies, CRD})
        kinds = Kinds(
            served=served,
            few=self._few,
            policies=policies,
            alongside=interests.alongside,
            below=interests.below,
        )
        self.world = ClusterWorld(kinds, place.namespace)
        self.world.take(Ask(CRD), definitions.values())
        self._everything = frozenset({*self._few, *filter(interests.matters, served)}) & served.keys()
        # What nearly every question asks for is asked for at once; what a kind without a profile does is known by its
        # definition alone.
        self._first = [
            *(Ask(kind) for kind in interests.first if kind in served),
            *(
                Ask(CRD, "", definitions[kind].ref.name)
                for kind in sorted(policies & definitions.keys())
                if not interests.is_profiled(kind) and POLICY_LABEL in labels_of(definitions[kind].raw)
            ),
        ]

    def _definitions(self) -> dict[GroupKind, Resource]:
        """What is known of the kinds that are defined: their names, and the labels of their definitions."""
        by_name = {
            f"{each.plural}.{kind.group}": each
            for kind, each in self._discovery.kinds.items()
            if not is_kubernetes_own(kind)
        }
        labels: dict[str, Mapping[str, Json]] = {}
        if CRD in self._discovery.kinds:
            try:
                for raw in self._list(self._discovery.kinds[CRD], "", {}, METADATA_LIST):
                    labels[text_at(raw, "metadata.name")] = raw
            except Refusal as refusal:
                self._refuse(Ask(CRD), refusal)
        return {
            GroupKind(each.group, each.kind): Resource(
                ref=ObjectRef(CRD, "", name),
                origin=self._origin,
                raw=_definition(name, each, labels.get(name, {})),
                created=time_at(labels.get(name, {}), "metadata.creationTimestamp"),
            )
            for name, each in sorted(by_name.items())
        }

    def _policies(
        self, definitions: Mapping[GroupKind, Resource], is_profiled: Callable[[GroupKind], bool]
    ) -> Iterator[GroupKind]:
        for kind in self._discovery.kinds:
            defined = definitions.get(kind)
            is_labelled = defined is not None and POLICY_LABEL in labels_of(defined.raw)
            is_called_one = defined is not None and kind.kind.endswith("Policy")
            if kind not in TARGETS and (is_labelled or is_called_one or is_profiled(kind)):
                yield kind

    def fetch(self, progress: Progress | None = None) -> None:
        """Ask for all that is wanted, several requests at once. Raises `ClusterError` where nothing can be asked."""
        from concurrent.futures import ThreadPoolExecutor  # noqa: PLC0415 (only clusters need it)

        asks = [*dict.fromkeys([*self._first, *self.world.wanted])]
        self._first = []
        with ThreadPoolExecutor(min(len(asks), _ONE_AT_A_TIME) or 1) as threads:
            answers = threads.map(self._answer, asks)
            for number, (ask, answer) in enumerate(zip(asks, answers, strict=True)):
                if progress:
                    progress(number + 1, len(asks), ask.kind.kind)
                if isinstance(answer, Refusal):
                    self._refuse(ask, answer)
                self.world.take(ask, None if isinstance(answer, Refusal) else answer)
        self.world.begin()

    def want_everything(self) -> None:
        """Want all that any question may ask for; to be called again until everything is settled."""
        self._is_for_all = True
        want_everything(self.world, self._everything, self._discovery.kinds)

    def version(self) -> str:
        """The version of the API server; empty where it does not say."""
        try:
            return text_at(self._connection.get("/version").body, "gitVersion")
        except Refusal:
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

    def _refuse(self, ask: Ask, refusal: Refusal) -> None:
        if refusal.status == _UNAUTHORIZED:
            raise ClusterError(f"{self._origin.source}: {refusal.reason}", refusal.message or "log in again")
        self._refusals[ask] = refusal

    def _answer(self, ask: Ask) -> Sequence[Resource] | Refusal:
        """The objects that a request gives, none where there is none of that name; or why it gives no answer."""
        served = self._discovery.kinds[ask.kind]
        partial = ask.kind in _METADATA_ALONE
        found: Sequence[Mapping[str, Json]]
        try:
            if ask.name:
                accept = METADATA if partial else JSON
                found = [self._connection.get(served.path(ask.namespace, ask.name), {}, accept).body]
            else:
                accept = METADATA_LIST if partial else JSON
                found = self._list(served, ask.namespace, _selecting(ask), accept)
        except Refusal as refusal:
            return () if refusal.status == _NOT_FOUND else refusal
        return [resource for raw in found if (resource := self._resource(ask, served, raw))]

    def _list(
        self, served: Served, namespace: str, query: Mapping[str, str], accept: str
    ) -> Sequence[Mapping[str, Json]]:
        return self._connection.list(served.path(namespace), query, accept, self._chunk_size).items

    def _resource(self, ask: Ask, served: Served, raw: Mapping[str, Json]) -> Resource | None:
        """An object of an answer; None for what has no name."""
        metadata = raw.get("metadata")
        name, namespace = text_at(raw, "metadata.name"), text_at(raw, "metadata.namespace")
        if not (name and isinstance(metadata, dict) and served.namespaced == bool(namespace)):
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
        for unknown in self._discovery.gaps:
            if unknown.group == EVERY_GROUP or not is_kubernetes_own(GroupKind(unknown.group, "")):
                group = None if unknown.group == EVERY_GROUP else unknown.group
                yield Gap(kind="", namespace="", reason=unknown.reason, remedy=_AGAIN, group=group)
        for ask in sorted(self._refusals, key=lambda ask: (ask.kind, ask.namespace, ask.name)):
            if ask.kind not in EVENTS:
                yield self._gap(ask, self._refusals[ask])

    def _gap(self, ask: Ask, refusal: Refusal) -> Gap:
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


def _remedy(refusal: Refusal, resource: str) -> str:
    """What there is to do where something was not refused to somebody, and could not be read all the same."""
    if refusal.is_conversion:
        return f"tell whoever owns CustomResourceDefinition {resource}: its conversion webhook must answer"
    if refusal.status in {0, 504}:
        return "ask again, and allow more time for it: --request-timeout"
    return _AGAIN if refusal.retry else f"{_AGAIN}; if that does not help, ask who runs the cluster"


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


def _selecting(ask: Ask) -> dict[str, str]:
    """What selects the Events about an object, or without one those about nothing of which there are many."""
    if ask.about:
        return {"fieldSelector": f"involvedObject.kind={ask.about.kind},involvedObject.name={ask.about.name}"}
    selected = ",".join(f"involvedObject.kind!={kind}" for kind in _WITH_MANY_EVENTS)
    return {"fieldSelector": selected} if ask.kind == EVENT else {}
