"""Objects in texts that were recognised by their shapes: a world in which each is read when somebody asks for it."""

from __future__ import annotations

from functools import cached_property
from typing import TYPE_CHECKING, NamedTuple, TypeAlias

from kubectl_policy.model import ObjectRef, Origin, Resource
from kubectl_policy.model.fields import time_at
from kubectl_policy.model.unknown import is_unknown
from kubectl_policy.model.world import World, names_object, sorted_by_kind, text_of
from kubectl_policy.text.shapes import ShapedDocument

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterable, Mapping, Sequence

    from kubectl_policy.model import GroupKind
    from kubectl_policy.text import Document
    from kubectl_policy.text.shapes import Shape

    Made: TypeAlias = Callable[[ShapedDocument], Document]


def resource_in(found: ShapedDocument, made: Made, ref: ObjectRef | None = None) -> Resource:
    """The object in a document, by the name that it has there unless another is given."""
    document = made(found)
    raw = document.value if isinstance(document.value, dict) else {}
    return Resource(
        ref=ref or ObjectRef(found.shape.group_kind, found.namespace, found.name),
        origin=Origin(found.written.source, document.line),
        raw=raw,
        created=time_at(raw, "metadata.creationTimestamp"),
    )


class StoredWorld(World):
    """Objects that were read, and others that are when they are asked for."""

    is_narrow = True

    def __init__(self, objects: Mapping[ObjectRef, Resource | ShapedDocument], made: Made) -> None:
        """By the names of all; what was stored is `made` from its shape."""
        self._objects, self._made = objects, made
        self._read: dict[ObjectRef, Resource] = {}
        self._kinds: dict[GroupKind, Sequence[tuple[ObjectRef, ShapedDocument | _Text]]] = {}

    def get(self, ref: ObjectRef) -> Resource | None:
        """The object of a name; None if there is none."""
        read = self._read.get(ref)
        if read is None:
            found = self._objects.get(ref)
            if not isinstance(found, ShapedDocument):
                return found
            read = self._read[ref] = resource_in(found, self._made, ref)
        return read

    def has(self, ref: ObjectRef) -> bool:
        """Whether there is an object of a name; it is not read."""
        return ref in self._objects

    def names(self) -> Iterable[ObjectRef]:
        """The names of all objects; none of them is read."""
        return self._objects

    def __len__(self) -> int:
        """The number of objects."""
        return len(self._objects)

    @cached_property
    def _by_kind(self) -> Mapping[GroupKind, Sequence[ObjectRef]]:
        return sorted_by_kind(self._objects)

    @cached_property
    def kinds(self) -> tuple[GroupKind, ...]:
        """The kinds of which there are objects, sorted."""
        return tuple(sorted(self._by_kind))

    def names_of(self, kind: GroupKind) -> Sequence[ObjectRef]:
        """The names of the objects of a kind, sorted by namespace and name; none of them is read."""
        return self._by_kind.get(kind, ())

    @cached_property
    def with_unknown_names(self) -> tuple[ObjectRef, ...]:
        """The objects of which the name or the namespace is to be filled in; no name is that was recognised."""
        homeless = {namespace for namespace in self.namespaces if is_unknown(namespace)}
        return tuple(
            ref
            for ref, found in self._objects.items()
            if ref.namespace in homeless or (not isinstance(found, ShapedDocument) and is_unknown(ref.name))
        )

    def examples(self, kind: GroupKind) -> Iterable[Resource]:
        """Those that were read, and one of each shape."""
        shapes: set[Shape] = set()
        for ref in self.names_of(kind):
            found = self._objects[ref]
            if isinstance(found, ShapedDocument):
                if found.shape in shapes:
                    continue
                shapes.add(found.shape)
            resource = self.get(ref)
            if resource:
                yield resource

    def naming(self, kind: GroupKind, obj: ObjectRef) -> Sequence[ObjectRef]:
        """The objects of a kind that may name an object, sorted: in its own namespace, or together with that."""
        name, namespace = obj.name, obj.namespace
        return [
            ref
            for ref, there in self._all_of(kind)
            if there.mentions(name) and (ref.namespace == namespace or there.mentions(namespace))
            if names_object(ref, obj, *there.said())
        ]

    def having(self, kind: GroupKind, fields: Collection[str]) -> Sequence[ObjectRef]:
        """The objects of a kind that may have one of some fields anywhere, sorted."""
        texts: dict[Shape, bool] = {}
        found: list[ObjectRef] = []
        for ref in self.names_of(kind):
            there = self._objects[ref]
            if isinstance(there, ShapedDocument):
                shape = there.shape
                if shape not in texts:
                    texts[shape] = any(field in shape.words for field in fields)
                has = texts[shape]
            else:
                text = text_of(there.raw)
                has = any(field in text for field in fields)
            if has:
                found.append(ref)
        return found

    def _all_of(self, kind: GroupKind) -> Sequence[tuple[ObjectRef, ShapedDocument | _Text]]:
        if kind not in self._kinds:
            found = ((ref, self._objects[ref]) for ref in self.names_of(kind))
            self._kinds[kind] = [
                (ref, there if isinstance(there, ShapedDocument) else _Text(text_of(there.raw))) for ref, there in found
            ]
        return self._kinds[kind]


class _Text(NamedTuple):
    """What is written in an object that was read."""

    text: str

    def mentions(self, word: str) -> bool:
        """Whether a word is written anywhere in it."""
        return word in self.text

    def said(self) -> tuple[str, ...]:
        """All of it."""
        return (self.text,)
