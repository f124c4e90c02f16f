"""Objects in texts that were recognised by their shapes: a world in which each is read when somebody asks for it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from kubectl_policy.model import ObjectRef
from kubectl_policy.model.index import grouped
from kubectl_policy.model.values import cached_property
from kubectl_policy.model.world import World, by_kind, in_namespace, names_object, text_of
from kubectl_policy.sources.reading import resource_in
from kubectl_policy.text.recognised import ShapedDocument

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from kubectl_policy.model import GroupKind, Resource
    from kubectl_policy.text.recognised import Made, Shape, Written

# And in each of so many texts, as long as in one that holds many more.
_FEW: Final = 1_000


class StoredWorld(World):
    """Objects that were read, and others that are when they are asked for."""

    def __init__(self, objects: Mapping[ObjectRef, Resource | ShapedDocument], default: str, made: Made) -> None:
        """By the names of all, in the order of their sources; what was recognised is `made` from its shape.

        What names no namespace is in the `default` one, if its kind has namespaces.
        """
        self._objects, self._default, self._made = objects, default, made
        self._read: dict[ObjectRef, Resource] = {}
        self._names: dict[GroupKind, Sequence[ObjectRef]] = {}
        self._shapes: dict[Shape, list[ObjectRef]] = {}
        # What is written in the objects that were read already.
        self._texts: dict[ObjectRef, bytes] = {}
        self._sources: dict[Written, None] = {}
        written: Written | None = None
        for ref, found in objects.items():
            if isinstance(found, ShapedDocument):
                if found.written is not written:
                    written = found.written
                    self._sources[written] = None
                refs = self._shapes.get(found.shape)
                if refs is None:
                    self._shapes[found.shape] = [ref]
                else:
                    refs.append(ref)
            else:
                self._read[ref] = found
        self._naming: dict[tuple[GroupKind, ObjectRef], Sequence[ObjectRef]] = {}
        self._said: dict[str, Mapping[GroupKind, Sequence[ObjectRef]]] = {}
        self._plain_refs = tuple(self._read)

    def get(self, ref: ObjectRef) -> Resource | None:
        """The object of a name; None if there is none."""
        read = self._read.get(ref)
        if read is None:
            found = self._objects.get(ref)
            if not isinstance(found, ShapedDocument):
                return None
            read = self._read[ref] = resource_in(found, self._made, ref)
        return read

    def has(self, ref: ObjectRef) -> bool:
        """Whether there is an object of a name; it is not read."""
        return ref in self._objects

    def __iter__(self) -> Iterator[Resource]:
        """All objects; they are read for that."""
        return filter(None, map(self.get, self._objects))

    @cached_property
    def namespaces(self) -> frozenset[str]:
        """The namespaces in which there are objects."""
        return frozenset({ref.namespace for ref in self._objects}) - {""}

    def __len__(self) -> int:
        """The number of objects."""
        return len(self._objects)

    @cached_property
    def _plain(self) -> Mapping[GroupKind, Sequence[ObjectRef]]:
        """The objects that were read already, by kind."""
        return by_kind(self._plain_refs)

    @cached_property
    def _by_kind(self) -> Mapping[GroupKind, Sequence[Shape]]:
        """The shapes of the objects of a kind."""
        return grouped((shape.group_kind, shape) for shape in self._shapes)

    @cached_property
    def kinds(self) -> tuple[GroupKind, ...]:
        """The kinds of which there are objects, sorted."""
        return tuple(sorted({*self._plain, *self._by_kind}))

    def names_of(self, kind: GroupKind, namespace: str | None = None) -> Sequence[ObjectRef]:
        """The names of the objects of a kind, sorted by namespace and name; none of them is read."""
        if kind not in self._names:
            shaped = (ref for shape in self._by_kind.get(kind, ()) for ref in self._shapes[shape])
            self._names[kind] = sorted((*shaped, *self._plain.get(kind, ())))
        names = self._names[kind]
        return names if namespace is None else in_namespace(names, kind, namespace)

    def naming(self, kind: GroupKind, obj: ObjectRef | str) -> Sequence[ObjectRef]:
        """The objects of a kind that may name an object, sorted: in its own namespace, or together with that."""
        if isinstance(obj, str):
            return [ref for ref in self.names_of(kind) if self._mentions(ref, obj)]
        # Two states of a world ask for the same.
        if (kind, obj) not in self._naming:
            self._naming[kind, obj] = self._that_name(kind, obj)
        return self._naming[kind, obj]

    def _that_name(self, kind: GroupKind, obj: ObjectRef) -> Sequence[ObjectRef]:
        name, namespace, every = obj.name, obj.namespace, self.names_of(kind)
        if not every or len(f"{name}/{namespace}".split()) > 1:
            # What is written on several lines is one text with spaces in their place.
            return every
        around = in_namespace(every, kind, namespace) if namespace else ()
        found: Sequence[ObjectRef]
        if len(every) <= _FEW:
            found = every
        elif not namespace or 2 * len(around) > len(every):
            # Where most are in the namespace, they mention it for that.
            found = self._mentioning(name).get(kind, ())
        else:
            elsewhere = (ref for ref in self._mentioning(namespace).get(kind, ()) if ref.namespace != namespace)
            found = sorted((*around, *elsewhere))
        saying = (ref for ref in found if self._mentions(ref, name))
        called = (ref for ref in saying if ref.namespace == namespace or self._mentions(ref, namespace))
        return [ref for ref in called if self._names_object(ref, obj)]

    def _mentions(self, ref: ObjectRef, word: str) -> bool:
        found = self._objects[ref]
        return found.mentions(word) if isinstance(found, ShapedDocument) else word.encode() in self._text(ref)

    def _names_object(self, ref: ObjectRef, obj: ObjectRef) -> bool:
        found = self._objects[ref]
        if not isinstance(found, ShapedDocument):
            return names_object(ref, obj, self._text(ref))
        # It says all that is written in it but for comments and what it is called itself.
        words = (obj.name,) if obj.namespace in {"", ref.namespace} else (obj.name, obj.namespace)
        if found.mentions("#") or any(word in found.name or word in found.namespace for word in words):
            return True
        return all(_stands_in(word, found.written.text, found.start, found.end) for word in words)

    def _text(self, ref: ObjectRef) -> bytes:
        if ref not in self._texts:
            self._texts[ref] = text_of(self._read[ref].raw)
        return self._texts[ref]

    def _mentioning(self, word: str) -> Mapping[GroupKind, Sequence[ObjectRef]]:
        """The objects in which a word is written anywhere, by kind: a look at the texts and not at each object."""
        if word not in self._said:
            recognised = (found for written in self._sources for found in written.mentioning(word))
            found = [*filter(None, map(self._name_of, recognised))]
            found += (ref for refs in self._plain.values() for ref in refs if word.encode() in self._text(ref))
            self._said[word] = by_kind(sorted(found))
        return self._said[word]

    def _name_of(self, found: ShapedDocument) -> ObjectRef | None:
        """The name of the object in a document; None if another document of that name counts."""
        for namespace in (found.namespace, self._default, ""):
            ref = ObjectRef(found.shape.group_kind, namespace, found.name)
            if self._objects.get(ref) is found:
                return ref
        return None


def _stands_in(word: str, text: str, start: int, end: int) -> bool:
    at = text.find(word, start, end)
    while at >= 0:
        after = at + len(word)
        if not (at > start and _goes_on(text[at - 1])) and not (after < end and _goes_on(text[after])):
            return True
        at = text.find(word, at + 1, end)
    return False


def _goes_on(character: str) -> bool:
    return character.isalnum() or character in "-_"
