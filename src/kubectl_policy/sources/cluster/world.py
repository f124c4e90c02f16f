"""A cluster as a world: what was read of it so far, and what a question asked for that is still to be read."""

from __future__ import annotations

import re
from collections import Counter
from contextlib import suppress
from itertools import chain
from types import MappingProxyType
from typing import TYPE_CHECKING, Final

from kubectl_policy.model import GroupKind, ObjectRef
from kubectl_policy.model.body import text_of
from kubectl_policy.model.values import cached_property, value
from kubectl_policy.model.world import World, in_namespace, names_object

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence

    from kubectl_policy.model import Resource
    from kubectl_policy.sources.cluster.api.served import Served

EVENT: Final = GroupKind("", "Event")
# An Event is stored once, and served in both groups.
WORKLOADS: Final = frozenset({GroupKind("", "Pod"), GroupKind("", "Node")})
EVENTS: Final = frozenset({EVENT, GroupKind("events.k8s.io", "Event")})
# What a segment of a path may be made of: names of most kinds have less, those of roles and the like also a colon.
_IN_NAMES: Final = frozenset("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-_.:")
_LONGEST_NAME: Final = 253
# As `names_object` has it: what a word is made of that is looked for.
_PLAIN: Final = _IN_NAMES - frozenset(".:")
_WORD: Final = re.compile(r"[\w-]+")
# To ask for so many objects of a kind one by one takes longer than to ask for all of them.
_MANY: Final = 24
# To look through all objects of a kind so many times takes as long as to note all words that stand in them.
_OFTEN: Final = 12
# In so many namespaces is looked at most where not all of them may be listed at once.
_MOST_NAMESPACES: Final = 64


@value()
class Query:
    """One request: for an object by its name, or without one for those of a kind.

    They are those in a `namespace`, or everywhere if that is empty; of Events, those that are `about` an object.
    """

    kind: GroupKind
    namespace: str = ""
    name: str = ""
    involved: ObjectRef | None = None


@value(kw_only=True)
class ClusterKinds:
    """The kinds that a cluster serves, and how they are asked for.

    Of the `few` there are not many objects: they are listed as soon as anything is asked of them. The `policies`, which
    are few, are listed as soon as somebody wants to know which kinds there are. Whoever lists one kind will also need
    those `alongside` it; whoever asks about one object of a kind, also all of what is `below` it.
    """

    served: Mapping[GroupKind, Served]
    few: frozenset[GroupKind]
    policies: frozenset[GroupKind]
    alongside: Mapping[GroupKind, Collection[GroupKind]] = MappingProxyType({})
    below: Mapping[GroupKind, Collection[GroupKind]] = MappingProxyType({})


class ClusterWorld(World):
    """The objects of a cluster, as far as they were read; what else is asked for is noted, and counts as not there.

    An answer counts once nothing is `wanted` any more.
    """

    def __init__(self, kinds: ClusterKinds, namespace: str) -> None:
        """Nothing is read yet. The `namespace` is the one that is asked about."""
        self._kinds = kinds
        self._namespace = namespace
        self._objects: dict[ObjectRef, Resource] = {}
        self._texts: dict[ObjectRef, bytes] = {}
        self._sorted: dict[GroupKind, Sequence[ObjectRef]] = {}
        self._words: dict[GroupKind, Mapping[str, Sequence[ObjectRef]]] = {}
        self._looked_through: Counter[GroupKind] = Counter()
        self._about: dict[ObjectRef, Sequence[ObjectRef]] = {}
        # What was asked, and whether it was answered.
        self._asked: dict[Query, bool] = {}
        # The kinds of which all objects were read.
        self._listed: set[GroupKind] = set()
        self._wanted: dict[Query, None] = {}
        self._given_up: set[GroupKind] = set()
        self._is_first = True
        # The namespaces of what a question is about: of objects that it asked for, and that are no policies.
        self._concerned: set[str] = set()
        self._awaited: frozenset[GroupKind] = frozenset()

    @property
    def wanted(self) -> tuple[Query, ...]:
        """What is to be asked: few requests for all that was asked for and is not known."""
        lists = dict.fromkeys(ask for ask in self._wanted if not ask.name)
        waiting = [ask.kind for ask in lists if not (ask.namespace or ask.involved)]
        if self._is_first:
            # What is asked for first is what the question is about.
            subjects = [ask for ask in self._wanted if ask.name]
            waiting += (kind for subject in subjects for kind in self._kinds.below.get(subject.kind, ()))
            lists.update((Query(kind), None) for kind in waiting if self._is_new(Query(kind)))
            events = (_about(ObjectRef(ask.kind, ask.namespace, ask.name)) for ask in subjects)
            lists.update((ask, None) for ask in events if self._is_new(ask))
        beside = (other for kind in waiting for other in self._kinds.alongside.get(kind, ()))
        lists.update((Query(kind), None) for kind in beside if self._is_new(Query(kind)))
        named: dict[GroupKind, list[Query]] = {}
        for ask in self._wanted:
            if ask.name and not {Query(ask.kind), Query(ask.kind, ask.namespace)} & lists.keys():
                named.setdefault(ask.kind, []).append(ask)
        several = (
            [Query(kind)] if len(asks) > _MANY and self._is_new(Query(kind)) else asks for kind, asks in named.items()
        )
        return tuple(dict.fromkeys(chain(lists, *several)))

    def _is_new(self, ask: Query) -> bool:
        return ask not in self._asked and ask.kind in self._kinds.served

    def take(self, ask: Query, found: Iterable[Resource] | None) -> None:
        """Keep what was found by a request; None where there was no answer."""
        self._asked[ask] = found is not None
        if ask == Query(ask.kind) and found is not None:
            self._listed.add(ask.kind)
        found = tuple(found or ())
        self._objects.update((resource.ref, resource) for resource in found)
        for kind in {ask.kind, *(resource.ref.group_kind for resource in found)}:
            self._sorted.pop(kind, None)
            self._words.pop(kind, None)
        for resource in found:
            self._texts.pop(resource.ref, None)
        if ask.involved:
            self._about[ask.involved] = sorted(resource.ref for resource in found)
        self._forget_what_is_computed()

    def give_up(self, kind: GroupKind) -> None:
        """List no more objects of a kind: what is in the way is so in every namespace."""
        self._given_up.add(kind)

    def namespaces_read(self, kind: GroupKind) -> frozenset[str]:
        """The namespaces in which all objects of a kind were read."""
        asked = (ask for ask, is_read in self._asked.items() if is_read and ask.kind == kind)
        return frozenset(ask.namespace for ask in asked if ask.namespace and not (ask.name or ask.involved))

    def missing(self, kind: GroupKind) -> frozenset[ObjectRef]:
        """The objects of a kind that were asked for by name, and are not there."""
        named = (ask for ask, is_read in self._asked.items() if is_read and ask.kind == kind and ask.name)
        refs = (ObjectRef(kind, ask.namespace, ask.name) for ask in named)
        return frozenset(ref for ref in refs if ref not in self._objects)

    def serves(self, kind: GroupKind) -> bool:
        """Whether the cluster serves a kind."""
        return kind in self._kinds.served

    def start_round(self, awaited: Iterable[Query] = ()) -> None:
        """Forget what was wanted: a question is asked anew. All objects of the `awaited` kinds are on their way."""
        self._is_first = False
        self._awaited = frozenset(ask.kind for ask in awaited if ask == Query(ask.kind))
        self._wanted.clear()
        self._forget_what_is_computed()

    def forget(self) -> None:
        """Forget all that was read: what there is may have changed."""
        for known in (
            self._objects,
            self._texts,
            self._sorted,
            self._words,
            self._about,
            self._asked,
            self._listed,
            self._wanted,
            self._given_up,
            self._concerned,
        ):
            known.clear()
        self._forget_what_is_computed()

    def _forget_what_is_computed(self) -> None:
        for name in ("kinds", "namespaces"):
            with suppress(AttributeError):
                delattr(self, name)

    @property
    def is_waiting(self) -> bool:
        """Whether anything is wanted."""
        return bool(self._wanted)

    def get(self, ref: ObjectRef) -> Resource | None:
        """The object of a name; None if there is none, or none was read yet."""
        if ref.group_kind not in self._kinds.policies:
            self._concerned.add(ref.namespace)
        found = self._objects.get(ref)
        if found is None:
            self._want_object(ref)
        return found

    def has(self, ref: ObjectRef) -> bool:
        """Whether there is an object of a name, as far as is known yet."""
        return self.get(ref) is not None

    def __iter__(self) -> Iterator[Resource]:
        """All objects that were read."""
        return iter(tuple(self._objects.values()))

    def names_of(self, kind: GroupKind, namespace: str | None = None) -> Sequence[ObjectRef]:
        """The names of the objects of a kind, sorted; where not all may be listed, of some namespaces."""
        if kind in EVENTS:
            return ()
        if not namespace or kind in self._kinds.few:
            self._list(kind)
        elif kind not in self._listed:
            self._want(Query(kind, namespace))
        names = self._known(kind)
        return names if namespace is None else in_namespace(names, kind, namespace)

    def naming(self, kind: GroupKind, obj: ObjectRef | str) -> Sequence[ObjectRef]:
        """The objects of a kind that may name an object, or contain a word, sorted; of Events those about it."""
        if kind in EVENTS:
            return self._events_about(obj) if kind == EVENT and isinstance(obj, ObjectRef) else ()
        names = self.names_of(kind)
        if isinstance(obj, str):
            return [ref for ref in names if obj.encode() in self._text(ref)]
        self._looked_through[kind] += 1
        if self._looked_through[kind] > _OFTEN and _PLAIN.issuperset(obj.name):
            names = self._saying(kind).get(obj.name, ())
        return [ref for ref in names if names_object(self._objects[ref], obj, self._text(ref))]

    @cached_property
    def kinds(self) -> tuple[GroupKind, ...]:
        """The kinds of which objects were read, sorted."""
        for kind in self._kinds.policies:
            self._list(kind)
        return tuple(sorted({ref.group_kind for ref in self._objects}))

    @cached_property
    def namespaces(self) -> frozenset[str]:
        """The namespaces in which objects were read."""
        return frozenset(ref.namespace for ref in self._objects if ref.namespace)

    def _want(self, ask: Query) -> None:
        if ask.kind in self._awaited:
            ask = Query(ask.kind)
        if self._is_new(ask):
            self._wanted[ask] = None

    def _want_object(self, ref: ObjectRef) -> None:
        kind, namespace, name = ref
        served = self._kinds.served.get(kind)
        if served is None or served.namespaced != bool(namespace) or not (is_name(name) and is_name(namespace or name)):
            return
        if not (kind in self._listed or (namespace and self._asked.get(Query(kind, namespace)))):
            self._want(Query(kind, namespace, name))

    def _list(self, kind: GroupKind) -> None:
        """Want all objects of a kind or, where these may not be listed at once, those in the namespaces concerned."""
        if kind in self._listed:
            return
        served, is_unread = self._kinds.served.get(kind), not self._asked.get(Query(kind), True)
        if kind in self._given_up or not (is_unread and served and served.namespaced):
            self._want(Query(kind))
            return
        for namespace in sorted({self._namespace, *self._concerned} - {""})[:_MOST_NAMESPACES]:
            self._want(Query(kind, namespace))

    def _known(self, kind: GroupKind) -> Sequence[ObjectRef]:
        if kind not in self._sorted:
            self._sorted[kind] = sorted(ref for ref in self._objects if ref.group_kind == kind)
        return self._sorted[kind]

    def _events_about(self, obj: ObjectRef) -> Sequence[ObjectRef]:
        if is_name(obj.name):
            self._want(_about(obj))
        return self._about.get(obj, ())

    def _saying(self, kind: GroupKind) -> Mapping[str, Sequence[ObjectRef]]:
        """The objects of a kind by each word that stands in them, sorted."""
        if kind not in self._words:
            words: dict[str, list[ObjectRef]] = {}
            for ref in self._known(kind):
                for word in set(_WORD.findall(self._text(ref).decode())):
                    words.setdefault(word, []).append(ref)
            self._words[kind] = words
        return self._words[kind]

    def _text(self, ref: ObjectRef) -> bytes:
        if ref not in self._texts:
            self._texts[ref] = text_of(self._objects[ref].raw)
        return self._texts[ref]


def _about(obj: ObjectRef) -> Query:
    """The request for the Events about an object; those about what is in no namespace are in this one."""
    return Query(EVENT, obj.namespace or "default", involved=obj)


def is_name(name: str) -> bool:
    """Whether an API server may have something of a name: it stands in the path of a request."""
    return 0 < len(name) <= _LONGEST_NAME and _IN_NAMES.issuperset(name) and name not in {".", ".."}
