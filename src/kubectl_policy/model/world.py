"""What was read, as a world that can be asked: for an object, for the objects of a kind, for those that name another.

A question asks for what it reaches. What a world holds may have been read already, or be read when it is asked for; an
answer is the same for both.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from bisect import bisect_left
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Final, overload

from kubectl_policy.model.refs import ObjectRef
from kubectl_policy.model.unknown import is_unknown
from kubectl_policy.model.values import cached_property

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Iterator

    from kubectl_policy.model.fields import Json
    from kubectl_policy.model.refs import GroupKind
    from kubectl_policy.model.snapshot import Resource

# Few objects: to ask for each of so many never takes long.
MANY: Final = 32


class World(Sequence["Resource"], ABC):
    """The objects of one state, by name; iterating over a world reads all of it."""

    @property
    @abstractmethod
    def is_narrow(self) -> bool:
        """Whether it takes less to ask for some objects than for all of a kind."""

    def is_partial(self, kind: GroupKind) -> bool:
        """Whether there may be objects of a kind that nobody asked for yet, so that examples say nothing of them."""
        del kind
        return False

    def are_read(self, kinds: Collection[GroupKind]) -> bool:
        """Whether all objects of some kinds are known to have been read, although the world is narrow."""
        del kinds
        return False

    def serves(self, kind: GroupKind) -> bool:
        """Whether there may be objects of a kind; a cluster knows which kinds there are."""
        del kind
        return True

    @property
    def is_waiting(self) -> bool:
        """Whether something that was asked for is still to be read, so that what is said of it counts for nothing."""
        return False

    @property
    def is_filled_in(self) -> bool:
        """Whether nothing in any object is to be filled in, by a person or by defaults: an API server gave it out."""
        return False

    @abstractmethod
    def get(self, ref: ObjectRef) -> Resource | None:
        """The object of a name; None if there is none."""

    @abstractmethod
    def has(self, ref: ObjectRef) -> bool:
        """Whether there is an object of a name; it is not read."""

    @abstractmethod
    def names(self) -> Iterable[ObjectRef]:
        """The names of all objects; none of them is read."""

    @abstractmethod
    def names_of(self, kind: GroupKind) -> Sequence[ObjectRef]:
        """The names of the objects of a kind, sorted by namespace and name; none of them is read."""

    def names_in(self, kind: GroupKind, namespace: str) -> Sequence[ObjectRef]:
        """The names of the objects of a kind in one namespace (empty for a cluster-scoped kind), sorted."""
        return inside(self.names_of(kind), kind, namespace)

    def inside(self, namespace: str) -> Iterator[ObjectRef]:
        """The names of all objects in a namespace, whatever their kinds are."""
        for kind in self.kinds:
            yield from self.names_in(kind, namespace)

    @abstractmethod
    def examples(self, kind: GroupKind, without: Collection[ObjectRef] = ()) -> Iterable[Resource]:
        """Some objects of a kind, of which every other one differs from one of these in what any of them may be called.

        They have the same fields, with the same words of the API in them (kinds, groups, types), and the same
        placeholders. Those that are `without` count as if they were not there.
        """

    def counted(self, kind: GroupKind) -> Iterable[tuple[Resource, int]]:
        """Examples of the objects of a kind, each with the number of objects of which it is one."""
        return ((resource, 1) for ref in self.names_of(kind) if (resource := self.get(ref)))

    @abstractmethod
    def naming(self, kind: GroupKind, obj: ObjectRef) -> Sequence[ObjectRef]:
        """The objects of a kind that may name an object, sorted: in its own namespace, or together with that."""

    def saying(self, kind: GroupKind, namespace: str, word: str) -> Sequence[ObjectRef]:
        """The objects of a kind in one namespace in which a word may be written, sorted."""
        return [ref for ref in self.naming(kind, ObjectRef(kind, namespace, word)) if ref.namespace == namespace]

    @abstractmethod
    def having(self, kind: GroupKind, fields: Collection[str], namespace: str = "") -> Sequence[ObjectRef]:
        """The objects of a kind that may have one of some fields anywhere, in one namespace alone if given; sorted."""

    @cached_property
    def kinds(self) -> tuple[GroupKind, ...]:
        """The kinds of which there are objects, sorted."""
        return tuple(sorted({ref.group_kind for ref in self.names()}))

    @cached_property
    def namespaces(self) -> frozenset[str]:
        """The namespaces in which there are objects."""
        return frozenset(ref.namespace for ref in self.names() if ref.namespace)

    @cached_property
    def with_unknown_names(self) -> tuple[ObjectRef, ...]:
        """The objects of which the name or the namespace is to be filled in."""
        return tuple(ref for ref in self.names() if is_unknown(ref.name) or is_unknown(ref.namespace))

    def __len__(self) -> int:
        """The number of objects."""
        return sum(1 for _ in self.names())

    def __iter__(self) -> Iterator[Resource]:
        """All objects; they are read for that."""
        return filter(None, map(self.get, self.names()))

    @overload
    def __getitem__(self, place: int) -> Resource: ...
    @overload
    def __getitem__(self, place: slice) -> tuple[Resource, ...]: ...
    def __getitem__(self, place: int | slice) -> Resource | tuple[Resource, ...]:
        """One of all objects, or some; all of them are read for that."""
        return tuple(self)[place]

    def __contains__(self, resource: object) -> bool:
        """Whether this very object is one of them."""
        ref = getattr(resource, "ref", None)
        return ref is not None and self.get(ref) is resource


class Loaded(World):
    """Objects that were read already."""

    @property
    def is_narrow(self) -> bool:
        """Never: what is read takes nothing more."""
        return False

    def __init__(self, resources: Iterable[Resource]) -> None:
        """Of two objects with one name the later one counts, as for `kubectl apply`."""
        self._objects = {resource.ref: resource for resource in resources}
        self._texts: dict[ObjectRef, str] = {}

    @cached_property
    def _by_kind(self) -> Mapping[GroupKind, Sequence[ObjectRef]]:
        return sorted_by_kind(self._objects)

    def get(self, ref: ObjectRef) -> Resource | None:
        """The object of a name; None if there is none."""
        return self._objects.get(ref)

    def has(self, ref: ObjectRef) -> bool:
        """Whether there is an object of a name."""
        return ref in self._objects

    def names(self) -> Iterable[ObjectRef]:
        """The names of all objects."""
        return self._objects

    def names_of(self, kind: GroupKind) -> Sequence[ObjectRef]:
        """The names of the objects of a kind, sorted."""
        return self._by_kind.get(kind, ())

    def examples(self, kind: GroupKind, without: Collection[ObjectRef] = ()) -> Iterable[Resource]:
        """All objects of a kind, `without` some."""
        return (self._objects[ref] for ref in self.names_of(kind) if ref not in without)

    def naming(self, kind: GroupKind, obj: ObjectRef) -> Sequence[ObjectRef]:
        """The objects of a kind that may name an object, sorted."""
        return [ref for ref in self.names_of(kind) if names_object(ref, obj, self._text(ref))]

    def having(self, kind: GroupKind, fields: Collection[str], namespace: str = "") -> Sequence[ObjectRef]:
        """The objects of a kind that may have one of some fields anywhere, in one namespace alone if given; sorted."""
        among = self.names_in(kind, namespace) if namespace else self.names_of(kind)
        return [ref for ref in among if any(field in self._text(ref) for field in fields)]

    def _text(self, ref: ObjectRef) -> str:
        if ref not in self._texts:
            self._texts[ref] = text_of(self._objects[ref].raw)
        return self._texts[ref]


class Overlay(World):
    """Another world, but for some objects."""

    def __init__(self, below: World, above: Mapping[ObjectRef, Resource | None]) -> None:
        """The objects that are `above` count, in the place of those `below`; those that are None there are gone."""
        self._below, self._above = below, above
        self._here = Loaded(filter(None, above.values()))
        self._names: dict[GroupKind, Sequence[ObjectRef]] = {}

    @property
    def is_narrow(self) -> bool:
        """Whether it takes less to ask for some objects than for all of a kind."""
        return self._below.is_narrow

    def is_partial(self, kind: GroupKind) -> bool:
        """Whether there may be objects of a kind that nobody asked for yet."""
        return self._below.is_partial(kind)

    def are_read(self, kinds: Collection[GroupKind]) -> bool:
        """Whether all objects of some kinds are known to have been read."""
        return self._below.are_read(kinds)

    @property
    def is_waiting(self) -> bool:
        """Whether something that was asked for is still to be read."""
        return self._below.is_waiting

    @property
    def is_filled_in(self) -> bool:
        """Whether nothing is to be filled in; something may be in manifests that are applied."""
        return self._below.is_filled_in and not any(self._above.values())

    def get(self, ref: ObjectRef) -> Resource | None:
        """The object of a name; None if there is none."""
        return self._above[ref] if ref in self._above else self._below.get(ref)

    def has(self, ref: ObjectRef) -> bool:
        """Whether there is an object of a name."""
        return self._above[ref] is not None if ref in self._above else self._below.has(ref)

    def names(self) -> Iterator[ObjectRef]:
        """The names of all objects, those that have others below in their places."""
        for ref in self._below.names():
            if self._above.get(ref, ref) is not None:
                yield ref
        yield from (ref for ref in self._here.names() if not self._below.has(ref))

    def names_of(self, kind: GroupKind) -> Sequence[ObjectRef]:
        """The names of the objects of a kind, sorted."""
        if kind not in self._names:
            self._names[kind] = self._merged(self._below.names_of(kind), self._here.names_of(kind))
        return self._names[kind]

    def names_in(self, kind: GroupKind, namespace: str) -> Sequence[ObjectRef]:
        """The names of the objects of a kind in one namespace, sorted."""
        return self._merged(self._below.names_in(kind, namespace), self._here.names_in(kind, namespace))

    def inside(self, namespace: str) -> Iterator[ObjectRef]:
        """The names of all objects in a namespace, whatever their kinds are."""
        yield from (ref for ref in self._below.inside(namespace) if ref not in self._above)
        yield from (ref for ref in self._here.names() if ref.namespace == namespace)

    def saying(self, kind: GroupKind, namespace: str, word: str) -> Sequence[ObjectRef]:
        """The objects of a kind in one namespace in which a word may be written, sorted."""
        return self._merged(self._below.saying(kind, namespace, word), self._here.saying(kind, namespace, word))

    @cached_property
    def namespaces(self) -> frozenset[str]:
        """The namespaces in which there are objects."""
        emptied = {ref.namespace for ref, resource in self._above.items() if resource is None and ref.namespace}
        left = {ref.namespace for ref in self.names() if ref.namespace in emptied} if emptied else set[str]()
        return (self._below.namespaces - emptied) | left | self._here.namespaces

    def examples(self, kind: GroupKind, without: Collection[ObjectRef] = ()) -> Iterable[Resource]:
        """Those below of what is still there, and those that are above."""
        return (*self._below.examples(kind, {*self._above, *without}), *self._here.examples(kind, without))

    def counted(self, kind: GroupKind) -> Iterable[tuple[Resource, int]]:
        """Examples of the objects of a kind, each with the number of objects of which it is one."""
        is_same = not any(ref.group_kind == kind for ref in self._above)
        return self._below.counted(kind) if is_same else super().counted(kind)

    def naming(self, kind: GroupKind, obj: ObjectRef) -> Sequence[ObjectRef]:
        """The objects of a kind that may name an object, sorted."""
        return self._merged(self._below.naming(kind, obj), self._here.naming(kind, obj))

    def having(self, kind: GroupKind, fields: Collection[str], namespace: str = "") -> Sequence[ObjectRef]:
        """The objects of a kind that may have one of some fields anywhere, in one namespace alone if given; sorted."""
        return self._merged(self._below.having(kind, fields, namespace), self._here.having(kind, fields, namespace))

    def _merged(self, below: Sequence[ObjectRef], above: Sequence[ObjectRef]) -> Sequence[ObjectRef]:
        if not self._above:
            return below
        return sorted([*(ref for ref in below if ref not in self._above), *above])


def world_of(resources: Sequence[Resource]) -> World:
    """The world of some objects."""
    return resources if isinstance(resources, World) else Loaded(resources)


def sorted_by_kind(refs: Iterable[ObjectRef]) -> dict[GroupKind, list[ObjectRef]]:
    """The names of objects by their kinds, sorted."""
    found: dict[GroupKind, list[ObjectRef]] = {}
    for ref in refs:
        found.setdefault(ref.group_kind, []).append(ref)
    for each in found.values():
        each.sort()
    return found


def inside(names: Sequence[ObjectRef], kind: GroupKind, namespace: str) -> Sequence[ObjectRef]:
    """Of the sorted names of the objects of a kind, those in one namespace."""
    first = bisect_left(names, ObjectRef(kind, namespace, ""))
    return names[first : bisect_left(names, ObjectRef(kind, namespace + "\0", ""), first)]


def names_object(holder: ObjectRef, obj: ObjectRef, *texts: str) -> bool:
    """Whether what is written in an object may name another one: by its name and, from elsewhere, its namespace."""
    near = not obj.namespace or holder.namespace == obj.namespace
    return has_word(obj.name, *texts) and (near or has_word(obj.namespace, *texts))


def has_word(word: str, *texts: str) -> bool:
    """Whether a word stands in some texts, not as a part of a longer one; dots and slashes are between words."""
    return any(word in text and stands_in(word, text, 0, len(text)) for text in texts)


def stands_in(word: str, text: str, start: int, end: int) -> bool:
    """The same for one text, between two places of it."""
    at = text.find(word, start, end)
    while at >= 0:
        after = at + len(word)
        if not (at > start and _goes_on(text[at - 1])) and not (after < end and _goes_on(text[after])):
            return True
        at = text.find(word, at + 1, end)
    return False


def _goes_on(character: str) -> bool:
    return character.isalnum() or character in "-_"


def text_of(value: Json) -> str:
    """Every text in a value, keys as well, on lines of their own."""
    return "\n".join(words_of(value))


def words_of(value: Json) -> Iterator[str]:
    """Every text in a value, keys as well."""
    if isinstance(value, str):
        yield value
    elif isinstance(value, Mapping):
        for key, inside in value.items():
            yield key
            yield from words_of(inside)
    elif isinstance(value, list | tuple):
        for item in value:
            yield from words_of(item)
