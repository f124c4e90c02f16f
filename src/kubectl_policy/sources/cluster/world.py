"""A cluster as a world: what was read of it so far, and what a question asked for that is still to be read."""

from __future__ import annotations

from contextlib import suppress
from itertools import chain
from typing import TYPE_CHECKING, Final

from kubectl_policy.model import GroupKind, ObjectRef
from kubectl_policy.model.values import cached_property, value
from kubectl_policy.model.world import World, inside, names_object, text_of

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence

    from kubectl_policy.model import Resource
    from kubectl_policy.sources.cluster.discovery import Served

EVENT: Final = GroupKind("", "Event")
# An Event is stored once, and served in both groups.
_EVENTS: Final = frozenset({EVENT, GroupKind("events.k8s.io", "Event")})
# What a segment of a path may be made of: names of most kinds have less, those of roles and the like also a colon.
_IN_NAMES: Final = frozenset("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-_.:")
_LONGEST_NAME: Final = 253
# To ask for so many objects of a kind one by one takes longer than to ask for all of them.
_MANY: Final = 24
# In so many namespaces is looked at most where not all of them may be listed at once.
_MOST_NAMESPACES: Final = 64


@value()
class Ask:
    """One request: for an object by its name, or without one for those of a kind.

    They are those in a `namespace`, or everywhere if that is empty; of Events, those that are `about` an object.
    """

    kind: GroupKind
    namespace: str = ""
    name: str = ""
    about: ObjectRef | None = None


@value(kw_only=True)
class Kinds:
    """The kinds that a cluster serves, and how they are asked for.

    Of the `few` there are not many objects: they are listed as soon as anything is asked of them. The `policies`, which
    are few, are listed as soon as somebody wants to know which kinds there are. Whoever lists one kind will also need
    those `alongside` it.
    """

    served: Mapping[GroupKind, Served]
    few: frozenset[GroupKind]
    policies: frozenset[GroupKind]
    alongside: Mapping[GroupKind, Collection[GroupKind]]


class ClusterWorld(World):
    """The objects of a cluster, as far as they were read; what else is asked for is noted, and counts as not there.

    An answer counts once nothing is `wanted` any more.
    """

    def __init__(self, kinds: Kinds, namespace: str) -> None:
        """Nothing is read yet. The `namespace` is the one that is asked about."""
        self._kinds = kinds
        self._namespace = namespace
        self._objects: dict[ObjectRef, Resource] = {}
        self._texts: dict[ObjectRef, str] = {}
        self._sorted: dict[GroupKind, Sequence[ObjectRef]] = {}
        self._about: dict[ObjectRef, Sequence[ObjectRef]] = {}
        # What was asked, and whether it was answered.
        self._asked: dict[Ask, bool] = {}
        self._wanted: dict[Ask, None] = {}

    @property
    def wanted(self) -> tuple[Ask, ...]:
        """What is to be asked: few requests for all that was asked for and is not known."""
        lists = dict.fromkeys(ask for ask in self._wanted if not ask.name)
        for ask in tuple(lists):
            beside = self._kinds.alongside.get(ask.kind, ()) if not (ask.namespace or ask.about) else ()
            lists.update(dict.fromkeys(other for kind in beside if self._is_new(other := Ask(kind))))
        named: dict[GroupKind, list[Ask]] = {}
        for ask in self._wanted:
            if ask.name and not {Ask(ask.kind), Ask(ask.kind, ask.namespace)} & lists.keys():
                named.setdefault(ask.kind, []).append(ask)
        several = (
            [Ask(kind)] if len(asks) > _MANY and self._is_new(Ask(kind)) else asks for kind, asks in named.items()
        )
        return tuple(dict.fromkeys(chain(lists, *several)))

    def _is_new(self, ask: Ask) -> bool:
        return ask not in self._asked and ask.kind in self._kinds.served

    def take(self, ask: Ask, found: Iterable[Resource] | None) -> None:
        """Keep what was found by a request; None where there was no answer."""
        self._asked[ask] = found is not None
        found = tuple(found or ())
        self._objects.update((resource.ref, resource) for resource in found)
        for kind in {ask.kind, *(resource.ref.group_kind for resource in found)}:
            self._sorted.pop(kind, None)
        for resource in found:
            self._texts.pop(resource.ref, None)
        if ask.about:
            self._about[ask.about] = sorted(resource.ref for resource in found)
        self._forget_what_is_computed()

    def namespaces_read(self, kind: GroupKind) -> frozenset[str]:
        """The namespaces in which all objects of a kind were read."""
        asked = (ask for ask, is_read in self._asked.items() if is_read and ask.kind == kind)
        return frozenset(ask.namespace for ask in asked if ask.namespace and not (ask.name or ask.about))

    def begin(self) -> None:
        """Forget what was wanted: a question is asked anew."""
        self._wanted.clear()
        self._forget_what_is_computed()

    def forget(self) -> None:
        """Forget all that was read: what there is may have changed."""
        for known in (self._objects, self._texts, self._sorted, self._about, self._asked, self._wanted):
            known.clear()
        self._forget_what_is_computed()

    def _forget_what_is_computed(self) -> None:
        for name in ("kinds", "namespaces"):
            with suppress(AttributeError):
                delattr(self, name)

    @property
    def is_narrow(self) -> bool:
        """Always: to ask for some objects takes a request, and to ask for all of a kind may take long."""
        return True

    @property
    def is_partial(self) -> bool:
        """Always: of a kind with many objects only those are read that are asked for."""
        return True

    @property
    def is_waiting(self) -> bool:
        """Whether anything is wanted."""
        return bool(self._wanted)

    def get(self, ref: ObjectRef) -> Resource | None:
        """The object of a name; None if there is none, or none was read yet."""
        found = self._objects.get(ref)
        if found is None:
            self._want_object(ref)
        return found

    def has(self, ref: ObjectRef) -> bool:
        """Whether there is an object of a name, as far as is known yet."""
        return self.get(ref) is not None

    def names(self) -> Iterable[ObjectRef]:
        """The names of all objects that were read."""
        return self._objects

    def names_of(self, kind: GroupKind) -> Sequence[ObjectRef]:
        """The names of the objects of a kind, sorted; where not all may be listed, of some namespaces."""
        self._list(kind)
        return self._known(kind)

    def names_in(self, kind: GroupKind, namespace: str) -> Sequence[ObjectRef]:
        """The names of the objects of a kind in one namespace (empty for a cluster-scoped kind), sorted."""
        if kind in self._kinds.few or not namespace:
            self._list(kind)
        elif not self._asked.get(Ask(kind)):
            self._want(Ask(kind, namespace))
        return inside(self._known(kind), kind, namespace)

    def inside(self, namespace: str) -> Iterator[ObjectRef]:
        """The names of all objects in a namespace, of every kind that the cluster serves."""
        for kind, served in self._kinds.served.items():
            if served.namespaced and kind not in _EVENTS:
                yield from self.names_in(kind, namespace)

    def examples(self, kind: GroupKind, without: Collection[ObjectRef] = ()) -> Iterable[Resource]:
        """The objects of a kind of which there are few; of another one those that were read."""
        names = self.names_of(kind) if kind in self._kinds.few else self._known(kind)
        return [self._objects[ref] for ref in names if ref not in without]

    def naming(self, kind: GroupKind, obj: ObjectRef) -> Sequence[ObjectRef]:
        """The objects of a kind that may name an object, sorted; of Events those about it."""
        if kind in _EVENTS:
            return self._events_about(obj) if kind == EVENT else ()
        return [ref for ref in self.names_of(kind) if names_object(ref, obj, self._text(ref))]

    def saying(self, kind: GroupKind, namespace: str, word: str) -> Sequence[ObjectRef]:
        """The objects of a kind in one namespace in which a word may be written, sorted."""
        return [ref for ref in self.names_in(kind, namespace) if word in self._text(ref)]

    def having(self, kind: GroupKind, fields: Collection[str], namespace: str = "") -> Sequence[ObjectRef]:
        """The objects of a kind that may have one of some fields, sorted; of a kind with many those that were read."""
        names = self.names_of(kind) if kind in self._kinds.few else self._known(kind)
        among = inside(names, kind, namespace) if namespace else names
        return [ref for ref in among if any(field in self._text(ref) for field in fields)]

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

    @cached_property
    def with_unknown_names(self) -> tuple[ObjectRef, ...]:
        """None: an API server knows what its objects are called."""
        return ()

    def _want(self, ask: Ask) -> None:
        if self._is_new(ask):
            self._wanted[ask] = None

    def _want_object(self, ref: ObjectRef) -> None:
        kind, namespace, name = ref
        served = self._kinds.served.get(kind)
        if served is None or served.namespaced != bool(namespace) or not (is_name(name) and is_name(namespace or name)):
            return
        if not (self._asked.get(Ask(kind)) or (namespace and self._asked.get(Ask(kind, namespace)))):
            self._want(Ask(kind, namespace, name))

    def _list(self, kind: GroupKind) -> None:
        """Want all objects of a kind or, where these may not be listed at once, those in each namespace known of."""
        served = self._kinds.served.get(kind)
        if self._asked.get(Ask(kind), True) or served is None or not served.namespaced:
            self._want(Ask(kind))
            return
        for namespace in sorted({self._namespace, *self.namespaces} - {""})[:_MOST_NAMESPACES]:
            self._want(Ask(kind, namespace))

    def _known(self, kind: GroupKind) -> Sequence[ObjectRef]:
        if kind not in self._sorted:
            self._sorted[kind] = sorted(ref for ref in self._objects if ref.group_kind == kind)
        return self._sorted[kind]

    def _events_about(self, obj: ObjectRef) -> Sequence[ObjectRef]:
        if is_name(obj.name):
            # Events about what is in no namespace are in this one.
            self._want(Ask(EVENT, obj.namespace or "default", about=obj))
        return self._about.get(obj, ())

    def _text(self, ref: ObjectRef) -> str:
        if ref not in self._texts:
            self._texts[ref] = text_of(self._objects[ref].raw)
        return self._texts[ref]


def is_name(name: str) -> bool:
    """Whether an API server may have something of a name: it stands in the path of a request."""
    return 0 < len(name) <= _LONGEST_NAME and _IN_NAMES.issuperset(name) and name not in {".", ".."}
