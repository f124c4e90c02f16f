"""A cluster as a world: the objects that were read so far, and the queries for what a question asks for beyond them."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import TYPE_CHECKING, Final

from msgspec import Struct

from kubectl_policy.model import GroupKind, ObjectRef
from kubectl_policy.model.fields import mappings_at, text_at
from kubectl_policy.model.kind_roles import GATEWAY, GATEWAY_CLASS, JOB, KINDS, NAMESPACE, NODE, POD, WORKLOADS
from kubectl_policy.model.kinds import CRD
from kubectl_policy.model.world import Loaded, World, grouped

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterable, Iterator, Sequence

    from kubectl_policy.model import Json, Resource
    from kubectl_policy.sources.cluster.discovery import Served

EVENT: Final = GroupKind("", "Event")
# An Event is stored once, and served in both groups.
EVENTS: Final = frozenset({EVENT, GroupKind("events.k8s.io", "Event")})
# Workloads come and go all the time, and no policy is about one of them: their Events are not listed.
_WITH_MANY_EVENTS: Final = ("Pod", "ReplicaSet", "Job", "CronJob", "Node", "HorizontalPodAutoscaler")
# Questions about these, or about a Namespace, are also about the policies for workloads.
_WITH_WORKLOADS: Final = frozenset({*WORKLOADS, NODE, NAMESPACE})
# Kinds of which a question asks for many objects by their names, after it asked for other ones.
_NAMED_BY_MANY: Final = frozenset({NODE, JOB})
# The field of a peer with a selector of Nodes.
_NODES_FIELD: Final = "nodes"
# Objects of these kinds may be in any namespace without adding that to those that a question is about.
_EVERYWHERE: Final = frozenset({POD, NODE})
# These fields hold no references to objects that a question asks for: owners do not matter to any.
_WITHOUT_REFERENCES: Final = frozenset({"metadata", "status"})
# The characters of a segment of a path: names of most kinds have fewer, those of roles and the like also a colon.
_IN_NAMES: Final = frozenset("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-_.:")
_MAX_NAME_LENGTH: Final = 253
# Objects of a kind that are read one by one; of more, all of the kind are listed.
_MAX_NAMED: Final = 64
# Namespaces in which a kind is listed that may not be listed everywhere.
_MAX_NAMESPACES: Final = 64


class Query(Struct, frozen=True):
    """One request: for an object by name, or for a list."""

    kind: GroupKind
    # "" for a list of all namespaces.
    namespace: str = ""
    # "" for a list.
    name: str = ""
    # Of a list of Events: the object that they are about.
    involved: ObjectRef | None = None

    @property
    def field_selector(self) -> str:
        """The selector of an object by name, of the Events about one, or against many Events; "" without any."""
        if self.name:
            return f"metadata.name={self.name}"
        if self.involved:
            return f"involvedObject.kind={self.involved.kind},involvedObject.name={self.involved.name}"
        return ",".join(f"involvedObject.kind!={kind}" for kind in _WITH_MANY_EVENTS) if self.kind == EVENT else ""


class Interests(Struct, frozen=True, kw_only=True):
    """The kinds to request first, and those to request along with another one; known before a cluster is asked."""

    # Kinds of which there are few objects, besides policies: all are listed as soon as anything is asked of them.
    small_kinds: Collection[GroupKind] = ()
    # Kinds that nearly every question lists: they are listed at once.
    first: Collection[GroupKind] = ()
    # Kinds that are listed together with another one, as its objects refer to them.
    alongside: Mapping[GroupKind, Collection[GroupKind]] = MappingProxyType({})
    # Kinds that are listed for a question about one object of another kind.
    descendants: Mapping[GroupKind, Collection[GroupKind]] = MappingProxyType({})
    # Whether a profile says that a kind is one of policies; of other kinds, their definitions say so.
    is_profiled: Callable[[GroupKind], bool] = lambda _: False
    # Whether a question may ask for any object of a kind, as of policies; of other kinds, for those that these name.
    matters: Callable[[GroupKind], bool] = lambda _: False
    # Whether policies of a kind are for workloads alone, as NetworkPolicies are.
    is_for_workloads: Callable[[GroupKind], bool] = lambda _: False
    # API groups of which it matters whether they are served.
    groups: Collection[str] = ()


class ClusterWorld(World):
    """The objects of a cluster that were read so far.

    What a question asks for beyond that is wanted, and counts as absent until it is read. An answer counts once nothing
    is wanted any more.
    """

    def __init__(
        self, interests: Interests, served: Mapping[GroupKind, Served], policies: Collection[GroupKind], namespace: str
    ) -> None:
        """Read nothing yet of the kinds that are served, among them those of policies; ask about a `namespace`."""
        self._interests, self._served = interests, served
        self.small_kinds = frozenset({*interests.small_kinds, *policies, CRD})
        # Policies for workloads alone are listed as well, unless the question is about other objects.
        self._for_workloads = frozenset(filter(interests.is_for_workloads, policies))
        self._policies = frozenset(policies) - self._for_workloads
        self._objects: dict[ObjectRef, Resource] = {}
        self._loaded: Loaded | None = None
        # The queries so far, and whether they were answered, or refused.
        self._answered: dict[Query, bool] = {}
        # The kinds of which all objects were read.
        self._listed: set[GroupKind] = set()
        # The kinds that cannot be listed in any namespace, and those of which lists are on their way.
        self._unlistable: set[GroupKind] = set()
        self._pending: frozenset[GroupKind] = frozenset()
        self._wanted: dict[Query, None] = {}
        self._is_first_round = True
        # The namespaces that the question is about, also by the objects that it asks for, but for policies.
        self._namespaces = {namespace} - {""}
        # The kinds that are listed in these namespaces alone.
        self._listed_by_namespace: set[GroupKind] = set()
        self._events: dict[ObjectRef, Sequence[ObjectRef]] = {}

    @property
    def wanted(self) -> tuple[Query, ...]:
        """The queries for what is wanted: lists, and objects by name unless a list has them."""
        named = grouped(
            (query.kind, query)
            for query in self._wanted
            if query.name and self._wanted.keys().isdisjoint((Query(query.kind), Query(query.kind, query.namespace)))
        )
        queries = [query for query in self._wanted if not query.name]
        if self._is_first_round and self._concerns_workloads:
            queries += (Query(kind) for kind in self._for_workloads if Query(kind) not in self._wanted)
        for kind, by_name in named.items():
            is_listed = len(by_name) > _MAX_NAMED and Query(kind) not in self._answered
            queries += [Query(kind)] if is_listed else by_name
        return tuple(queries)

    @property
    def is_waiting(self) -> bool:
        """Whether anything is wanted."""
        return bool(self._wanted)

    def record(self, query: Query, resources: Iterable[Resource] | None) -> None:
        """Keep the objects that answer a query; None where it was refused."""
        self._answered[query] = resources is not None
        if resources is not None and query == Query(query.kind):
            self._listed.add(query.kind)
        read = {resource.ref: resource for resource in resources or ()}
        self._objects.update(read)
        self._loaded = None
        if query.involved:
            self._events[query.involved] = sorted(read)

    def stop_listing(self, kind: GroupKind) -> None:
        """List no more objects of a kind: its lists fail in every namespace."""
        self._unlistable.add(kind)

    def start_round(self, pending: Iterable[Query] = ()) -> None:
        """Forget what was wanted, as the question is asked anew; the answers to `pending` queries are on their way."""
        if self._is_first_round and self._concerns_workloads:
            self._policies |= self._for_workloads
        self._is_first_round = False
        self._pending = frozenset(query.kind for query in pending if query == Query(query.kind))
        self._wanted.clear()

    def want_all(self, kind: GroupKind) -> None:
        """Want all objects of a kind or, where these may not be listed at once, those in the namespaces concerned."""
        if kind in self._listed:
            return
        served = self._served.get(kind)
        is_refused = self._answered.get(Query(kind)) is False
        if not (is_refused and served and served.namespaced) or kind in self._unlistable:
            self._want(Query(kind))
            return
        self._listed_by_namespace.add(kind)
        for namespace in sorted(self._namespaces)[:_MAX_NAMESPACES]:
            self._want(Query(kind, namespace))

    def want_everything(self) -> None:
        """Want all objects that any question may ask for: those of many kinds, and those of any kind that these name.

        What is wanted grows with what is read: this is to be called again until nothing is wanted.
        """
        kinds = {*self.small_kinds, *filter(self._interests.matters, self._served)} & self._served.keys()
        for kind in sorted({*kinds, POD, *self._kinds_beside_workloads}):
            self.want_all(kind)
        for holder in self:
            for ref in self._named_in(holder) if holder.ref.group_kind in kinds else ():
                self.get(ref)

    @property
    def _kinds_beside_workloads(self) -> Iterator[GroupKind]:
        """The kinds besides Pods that decide about connections: Nodes by whose addresses policies match, and Jobs."""
        if any(self._read.naming(kind, _NODES_FIELD) for kind in self._for_workloads):
            yield NODE
        pods = self._read.of_kind(POD)
        owners = (owner for pod in pods for owner in mappings_at(pod.raw, "metadata.ownerReferences"))
        if any(text_at(owner, "kind") == JOB.kind for owner in owners):
            yield JOB

    def _named_in(self, holder: Resource) -> Iterator[ObjectRef]:
        """Yield what an object names: its Namespace, its class, and whatever is named by kind and name."""
        yield ObjectRef(NAMESPACE, "", holder.ref.namespace)
        yield ObjectRef(GATEWAY_CLASS, "", text_at(holder.raw, KINDS[GATEWAY].parents))
        unread: list[Json] = [inner for field, inner in holder.raw.items() if field not in _WITHOUT_REFERENCES]
        while unread:
            part = unread.pop()
            if isinstance(part, Mapping):
                group = text_at(part, "group") or text_at(part, "apiVersion").rpartition("/")[0]
                served = self._served.get(GroupKind(group, text_at(part, "kind")))
                if served and "name" in part:
                    namespace = text_at(part, "namespace") or holder.ref.namespace
                    yield ObjectRef(served.group_kind, namespace if served.namespaced else "", text_at(part, "name"))
                unread += part.values()
            elif isinstance(part, list):
                unread += part

    def _concern(self, namespace: str) -> None:
        """Add a namespace to those that the question is about, also for kinds that were asked for before."""
        if not namespace or namespace in self._namespaces:
            return
        self._namespaces.add(namespace)
        for kind in sorted(self._listed_by_namespace) if len(self._namespaces) <= _MAX_NAMESPACES else ():
            self._want(Query(kind, namespace))

    def namespaces_read(self, kind: GroupKind) -> frozenset[str]:
        """Return the namespaces in which all objects of a kind were read."""
        lists = (query for query in self._queries(kind) if not (query.name or query.involved))
        return frozenset(query.namespace for query in lists if query.namespace)

    def nonexistent(self, kind: GroupKind) -> frozenset[ObjectRef]:
        """Return the objects of a kind that were asked for by name, and do not exist."""
        refs = (ObjectRef(kind, query.namespace, query.name) for query in self._queries(kind) if query.name)
        return frozenset(ref for ref in refs if ref not in self._objects)

    def _queries(self, kind: GroupKind) -> Iterator[Query]:
        return (query for query, is_answered in self._answered.items() if is_answered and query.kind == kind)

    def serves(self, kind: GroupKind) -> bool:
        """Whether the cluster serves a kind."""
        return kind in self._served

    def get(self, ref: ObjectRef) -> Resource | None:
        """Return the object of a name; None if there is none, or none was read yet."""
        if ref.group_kind not in self._policies:
            self._concern(ref.namespace)
        resource = self._objects.get(ref)
        if resource is None and self._may_exist(ref):
            self._want(Query(ref.group_kind, ref.namespace, ref.name))
        return resource

    def has(self, ref: ObjectRef) -> bool:
        """Whether there is an object of a name, as far as was read."""
        return self.get(ref) is not None

    def refs_of(self, kind: GroupKind, namespace: str | None = None) -> Sequence[ObjectRef]:
        """Return the names of the objects of a kind, sorted; where not all may be listed, those of some namespaces.

        Of Events there are none: they concern the object that they are about, and no other.
        """
        if kind in EVENTS:
            return ()
        if namespace:
            self._concern(namespace)
        if not namespace or kind in self.small_kinds:
            self.want_all(kind)
        elif kind not in self._listed:
            self._want(Query(kind, namespace))
        return self._read.refs_of(kind, namespace)

    def of_kind(self, kind: GroupKind, namespace: str | None = None) -> Sequence[Resource]:
        """Return the objects of a kind, of one namespace or of all, in the order of their names."""
        if kind not in _EVERYWHERE:
            return super().of_kind(kind, namespace)
        return [self._objects[ref] for ref in self.refs_of(kind, namespace)]

    def naming(self, kind: GroupKind, obj: ObjectRef | str) -> Sequence[ObjectRef]:
        """Return the objects of a kind that may name an object or contain a word; of Events, those about it."""
        if kind == EVENT and isinstance(obj, ObjectRef):
            if is_name(obj.name):
                self._want(_events_about(obj))
            return self._events.get(obj, ())
        return self._read.naming(kind, obj) if self.refs_of(kind) else ()

    @property
    def kinds(self) -> tuple[GroupKind, ...]:
        """The kinds of which objects were read, sorted; all policies are wanted for that."""
        for kind in self._policies:
            self.want_all(kind)
        return self._read.kinds

    @property
    def namespaces(self) -> frozenset[str]:
        """The namespaces in which objects were read."""
        return self._read.namespaces

    def __iter__(self) -> Iterator[Resource]:
        """Iterate over the objects that were read."""
        return iter(self._read)

    @property
    def _read(self) -> Loaded:
        if self._loaded is None:
            self._loaded = Loaded(self._objects.values())
        return self._loaded

    @property
    def _concerns_workloads(self) -> bool:
        """Whether the question, in its first round, may be about workloads: it asks first for what it is about."""
        subjects = {query.kind for query in self._wanted if query.name}
        return not subjects or not subjects.isdisjoint(_WITH_WORKLOADS | self._for_workloads)

    def _may_exist(self, ref: ObjectRef) -> bool:
        kind, namespace, name = ref.group_kind, ref.namespace, ref.name
        served = self._served.get(kind)
        if served is None or served.namespaced != bool(namespace) or not (is_name(name) and is_name(namespace or name)):
            return False
        return not (kind in self._listed or (namespace and self._answered.get(Query(kind, namespace))))

    def _want(self, query: Query) -> None:
        """Want the answer to a query, and what will be asked for with it."""
        whole = Query(query.kind)
        if query.name and query.kind in _NAMED_BY_MANY and not self._is_first_round:
            self.want_all(query.kind)
            return
        if query.kind in self._pending:
            query = whole
        if query.kind not in self._served or query in self._answered or query in self._wanted:
            return
        self._wanted[query] = None
        for kind in self._interests.alongside.get(query.kind, ()) if query == whole else ():
            self._want(Query(kind))
        if self._is_first_round and query.name:
            for kind in self._interests.descendants.get(POD if query.kind in self._for_workloads else query.kind, ()):
                self._want(Query(kind))
            self._want(_events_about(ObjectRef(query.kind, query.namespace, query.name)))


def _events_about(obj: ObjectRef) -> Query:
    """Return the query for the Events about an object; if it is cluster-scoped, they are in namespace `default`."""
    return Query(EVENT, obj.namespace or "default", involved=obj)


def is_name(name: str) -> bool:
    """Whether an API server may have something of a name: it is a segment of the path of a request."""
    return 0 < len(name) <= _MAX_NAME_LENGTH and _IN_NAMES.issuperset(name) and name not in {".", ".."}
