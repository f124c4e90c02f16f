"""Objects of one state of a cluster: by kind, namespace and name, and by what may name them."""

from __future__ import annotations

from abc import ABC, abstractmethod
from bisect import bisect_left, insort
from collections import deque
from collections.abc import Callable, Hashable, Iterable, Iterator, Mapping, Sequence
from functools import cached_property
from itertools import islice
from operator import attrgetter
from typing import TYPE_CHECKING, Final, TypeVar, overload

from kubectl_policy.lazy import cached_method
from kubectl_policy.model.body import encoded, text_of
from kubectl_policy.model.refs import GroupKind, ObjectRef

if TYPE_CHECKING:
    from kubectl_policy.model.snapshot import Resource

_Key = TypeVar("_Key", bound="Hashable")
_Value = TypeVar("_Value", bound="Hashable")
_Item = TypeVar("_Item")

# Questions about single objects that are answered one by one, before the answers for all objects are computed at once.
MAX_SINGLE_QUESTIONS: Final = 64
_TEXTS_AT_ONCE: Final = 256
_IN_WORDS: Final = frozenset(b"abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-_")


class World(Sequence["Resource"], ABC):
    """Objects of one state. A world of a cluster may still have to read what it is asked for.

    Iterating over a world asks for nothing: it gives the objects that were read so far, in the order of their sources.
    """

    @abstractmethod
    def get(self, ref: ObjectRef) -> Resource | None:
        """Return the object of a name; None if there is none."""

    @abstractmethod
    def has(self, ref: ObjectRef) -> bool:
        """Whether there is an object of a name."""

    @abstractmethod
    def refs_of(self, kind: GroupKind, namespace: str | None = None) -> Sequence[ObjectRef]:
        """Return the names of the objects of a kind, sorted by namespace and name.

        With a `namespace`, of those in it; an empty one is that of cluster-scoped objects.
        """

    def of_kind(self, kind: GroupKind, namespace: str | None = None) -> Sequence[Resource]:
        """Return the objects of a kind, of one namespace or of all, in the order of their names."""
        return [resource for ref in self.refs_of(kind, namespace) if (resource := self.get(ref))]

    @abstractmethod
    def naming(self, kind: GroupKind, obj: ObjectRef | str) -> Sequence[ObjectRef]:
        """Return the names of the objects of a kind that may name an object, sorted.

        They have its name in a text or a key; those of other namespaces have its namespace as well. For a word, such as
        a field, a kind or a hostname, return those that may contain it anywhere. Objects that do not may be returned.
        """

    @property
    @abstractmethod
    def kinds(self) -> tuple[GroupKind, ...]:
        """The kinds of which there are objects, sorted."""

    @property
    @abstractmethod
    def namespaces(self) -> frozenset[str]:
        """The namespaces in which there are objects."""

    def serves(self, kind: GroupKind) -> bool:
        """Whether there may be objects of a kind; a cluster knows which kinds there are."""
        del kind
        return True

    @property
    def is_waiting(self) -> bool:
        """Whether something that was asked for is still to be read: an answer that rests on that does not count."""
        return False

    @abstractmethod
    def __iter__(self) -> Iterator[Resource]:
        """Iterate over the objects that were read."""

    def __len__(self) -> int:
        """Return the number of objects that were read."""
        return sum(1 for _ in self)

    @overload
    def __getitem__(self, position: int) -> Resource: ...
    @overload
    def __getitem__(self, position: slice) -> tuple[Resource, ...]: ...
    def __getitem__(self, position: int | slice) -> Resource | tuple[Resource, ...]:
        """Return one of the objects that were read, or some."""
        return tuple(self)[position]

    def __contains__(self, resource: object) -> bool:
        """Whether this very object is one of them."""
        ref = getattr(resource, "ref", None)
        return ref is not None and self.get(ref) is resource


class Loaded(World):
    """Objects that are all in memory."""

    def __init__(self, resources: Iterable[Resource]) -> None:
        """Keep objects; of two with one name the later one counts, as for `kubectl apply`."""
        self._objects = {resource.ref: resource for resource in resources}

    def get(self, ref: ObjectRef) -> Resource | None:
        """Return the object of a name; None if there is none."""
        return self._objects.get(ref)

    def has(self, ref: ObjectRef) -> bool:
        """Whether there is an object of a name."""
        return ref in self._objects

    @cached_property
    def _unsorted(self) -> Mapping[GroupKind, Sequence[ObjectRef]]:
        return grouped((ref.group_kind, ref) for ref in self._objects)

    def refs_of(self, kind: GroupKind, namespace: str | None = None) -> Sequence[ObjectRef]:
        """Return the names of the objects of a kind, of one namespace or of all, sorted."""
        names = self._sorted(kind)
        return names if namespace is None else in_namespace(names, kind, namespace)

    @cached_method
    def _sorted(self, kind: GroupKind) -> Sequence[ObjectRef]:
        return sorted(self._unsorted.get(kind, ()))

    # Two states of one world ask for the same.
    @cached_method
    def naming(self, kind: GroupKind, obj: ObjectRef | str) -> Sequence[ObjectRef]:
        """Return the names of the objects of a kind that name an object, or contain a word; sorted."""
        wanted = encoded(obj if isinstance(obj, str) else obj.name)
        pairs = zip(self._unsorted.get(kind, ()), self._texts_of(kind), strict=True)
        if isinstance(obj, str):
            return sorted(ref for ref, text in pairs if wanted in text)
        home, namespace = obj.namespace, encoded(obj.namespace)
        # Few objects are about one namespace.
        near = ((ref, text) for ref, text in pairs if namespace in text or ref.namespace == home)
        containing = [(ref, text) for ref, text in near if wanted in text]
        return sorted(ref for ref, text in containing if names_object(self._objects[ref], obj, text))

    @cached_method
    def _texts_of(self, kind: GroupKind) -> Sequence[bytes]:
        return [text_of(self._objects[ref].raw) for ref in self._unsorted.get(kind, ())]

    @property
    def kinds(self) -> tuple[GroupKind, ...]:
        """The kinds of which there are objects, sorted."""
        return self._kinds

    @cached_property
    def _kinds(self) -> tuple[GroupKind, ...]:
        return tuple(sorted(self._unsorted))

    @property
    def namespaces(self) -> frozenset[str]:
        """The namespaces in which there are objects."""
        return self._namespaces

    @cached_property
    def _namespaces(self) -> frozenset[str]:
        return frozenset({ref.namespace for ref in self._objects}) - {""}

    def __iter__(self) -> Iterator[Resource]:
        """Iterate over the objects in their order."""
        return iter(self._objects.values())

    def __len__(self) -> int:
        """Return the number of objects."""
        return len(self._objects)


class Overlay(World):
    """Another world with changes: objects that are applied to it, or deleted from it."""

    def __init__(self, base: World, changes: Mapping[ObjectRef, Resource | None]) -> None:
        """Lay `changes` over a world: an object for what is applied, None for what is deleted."""
        self._base, self._changes = base, changes
        self._applied = Loaded(filter(None, changes.values()))

    @property
    def is_waiting(self) -> bool:
        """Whether something that was asked for is still to be read."""
        return self._base.is_waiting

    def serves(self, kind: GroupKind) -> bool:
        """Whether there may be objects of a kind."""
        return self._base.serves(kind) or kind in self._applied.kinds

    def get(self, ref: ObjectRef) -> Resource | None:
        """Return the object of a name; None if there is none."""
        return self._changes[ref] if ref in self._changes else self._base.get(ref)

    def has(self, ref: ObjectRef) -> bool:
        """Whether there is an object of a name."""
        return self._changes[ref] is not None if ref in self._changes else self._base.has(ref)

    def refs_of(self, kind: GroupKind, namespace: str | None = None) -> Sequence[ObjectRef]:
        """Return the names of the objects of a kind, of one namespace or of all, sorted."""
        return self._merge(self._base.refs_of(kind, namespace), self._applied.refs_of(kind, namespace), kind)

    def naming(self, kind: GroupKind, obj: ObjectRef | str) -> Sequence[ObjectRef]:
        """Return the names of the objects of a kind that name an object, or contain a word; sorted."""
        return self._merge(self._base.naming(kind, obj), self._applied.naming(kind, obj), kind)

    def _merge(
        self, unchanged: Sequence[ObjectRef], applied: Sequence[ObjectRef], kind: GroupKind
    ) -> Sequence[ObjectRef]:
        changed = self._changed.get(kind, ())
        if not changed:
            return unchanged
        # There are few of them among many that are sorted already.
        names = [*unchanged]
        for ref in changed:
            position = bisect_left(names, ref)
            if names[position : position + 1] == [ref]:
                del names[position]
        for ref in applied:
            insort(names, ref)
        return names

    @cached_property
    def _changed(self) -> Mapping[GroupKind, Sequence[ObjectRef]]:
        return grouped((ref.group_kind, ref) for ref in self._changes)

    @property
    def kinds(self) -> tuple[GroupKind, ...]:
        """The kinds of which there are objects, sorted."""
        return self._kinds

    @cached_property
    def _kinds(self) -> tuple[GroupKind, ...]:
        emptied = {kind for kind in self._changed if not self.refs_of(kind)}
        return tuple(sorted({*self._base.kinds, *self._applied.kinds} - emptied))

    @property
    def namespaces(self) -> frozenset[str]:
        """The namespaces in which there are objects."""
        return self._namespaces

    @cached_property
    def _namespaces(self) -> frozenset[str]:
        deleted = {ref.namespace for ref, resource in self._changes.items() if resource is None}
        remaining = {resource.ref.namespace for resource in self} if deleted else frozenset[str]()
        emptied = deleted - remaining
        return (self._base.namespaces - emptied) | self._applied.namespaces

    def __iter__(self) -> Iterator[Resource]:
        """Iterate over the objects in the order of the other world, then over those that are not in it."""
        for resource in self._base:
            current = self._changes.get(resource.ref, resource)
            if current is not None:
                yield current
        yield from (resource for resource in self._applied if not self._base.has(resource.ref))


def world_of(resources: Sequence[Resource]) -> World:
    """Return the world of some objects."""
    return resources if isinstance(resources, World) else Loaded(resources)


def grouped(pairs: Iterable[tuple[_Key, _Value]]) -> Mapping[_Key, tuple[_Value, ...]]:
    """Group values by their keys, each once, in their order."""
    groups: dict[_Key, dict[_Value, None]] = {}
    for key, value in pairs:
        groups.setdefault(key, {})[value] = None
    return {key: tuple(values) for key, values in groups.items()}


def reachable(starts: Iterable[ObjectRef], steps: Callable[[ObjectRef], Iterable[ObjectRef]]) -> Iterator[ObjectRef]:
    """Yield some objects and whatever steps lead to from them, the nearest first, each once.

    To import a library for it would take longer than most questions take to answer.
    """
    seen = dict.fromkeys(starts)
    waiting = deque(seen)
    while waiting:
        current = waiting.popleft()
        yield current
        new = dict.fromkeys(step for step in steps(current) if step not in seen)
        seen |= new
        waiting.extend(new)


def grouped_by(items: Iterable[_Item], key: Callable[[_Item], _Key]) -> dict[_Key, list[_Item]]:
    """Group items by a key, in their order."""
    groups: dict[_Key, list[_Item]] = {}
    for item in items:
        groups.setdefault(key(item), []).append(item)
    return groups


def in_namespace(names: Sequence[ObjectRef], kind: GroupKind, namespace: str) -> Sequence[ObjectRef]:
    """Return those of the sorted names of the objects of a kind that are in one namespace."""
    first = bisect_left(names, ObjectRef(kind, namespace, ""))
    return names[first : bisect_left(names, ObjectRef(kind, namespace + "\0", ""), first)]


def names_object(holder: Resource, obj: ObjectRef, text: bytes) -> bool:
    """Whether an object with this text may name another one: by name and, from another namespace, by that as well."""
    if not _names(holder, obj.name, text):
        return False
    return not obj.namespace or holder.ref.namespace == obj.namespace or _names(holder, obj.namespace, text)


def _names(holder: Resource, name: str, text: bytes) -> bool:
    """Whether an object has a name anywhere but in its own name and namespace."""
    if not has_name(name, text):
        return False
    if name not in {holder.ref.name, holder.ref.namespace}:
        return True
    metadata = holder.raw.get("metadata")
    for field in ("name", "namespace"):
        if isinstance(metadata, Mapping) and metadata.get(field) == name:
            text = text.replace(b'"%s":"%s"' % (field.encode(), encoded(name)), b"", 1)
    return has_name(name, text)


def has_name(name: str, text: bytes) -> bool:
    """Whether a name is in a JSON text, not as a part of a longer one; dots and slashes are between words."""
    written = encoded(name)
    start = text.find(written)
    while start >= 0:
        end = start + len(written)
        is_begin = start == 0 or text[start - 1] not in _IN_WORDS or _is_escape(text, start)
        if is_begin and (end == len(text) or text[end] not in _IN_WORDS):
            return True
        start = text.find(written, start + 1)
    return False


def _is_escape(text: bytes, end: int) -> bool:
    """Whether an escaped character of JSON, such as a line break, may end before a position."""
    return text[max(end - 2, 0) : end].startswith(b"\\") or text[max(end - 6, 0) : end].startswith(b"\\u")


def with_signs(resources: Iterable[Resource], has_signs: Callable[[bytes, int], bool]) -> list[Resource]:
    """Return the objects whose JSON text passes a test, sorted.

    `has_signs` says so of some texts and their number. To ask of many at once takes less time, and most have none.
    """
    remaining, marked = iter(resources), list["Resource"]()
    while batch := [*islice(remaining, _TEXTS_AT_ONCE)]:
        texts = [text_of(resource.raw) for resource in batch]
        if has_signs(b"\n".join(texts), len(texts)):
            marked += (resource for resource, text in zip(batch, texts, strict=True) if has_signs(text, 1))
    return sorted(marked, key=attrgetter("ref"))
