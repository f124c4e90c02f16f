"""Objects in texts that were recognised by their shapes: a world in which each is read when somebody asks for it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from kubectl_policy.model import ObjectRef
from kubectl_policy.model.index import grouped
from kubectl_policy.model.unknown import is_unknown
from kubectl_policy.model.values import cached_property
from kubectl_policy.model.world import World, inside, names_object, sorted_by_kind, stands_in, text_of
from kubectl_policy.sources.reading import resource_in
from kubectl_policy.text.recognised import ShapedDocument

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Mapping, Sequence

    from kubectl_policy.model import GroupKind, Resource
    from kubectl_policy.text.recognised import Made, Shape, Written

# Of a world of which more than one in so many objects was read, the others will be, too.
_MUCH: Final = 4
# To read an object takes as long as to look for a word in its text so many times.
_OFTEN: Final = 20
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
        self._texts: dict[ObjectRef, str] = {}
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
        self._examples: dict[GroupKind, tuple[Resource, ...]] = {}
        self._plain_refs, self._looked_at, self._is_narrow = tuple(self._read), 0, True

    @property
    def is_narrow(self) -> bool:
        """Whether it takes less to ask for some objects than for all of a kind.

        Not where much was read already, or where so many texts were looked at that it took no less to read them.
        """
        # Once it is not, it never is again.
        if self._is_narrow:
            read = len(self._read) - len(self._plain_refs)
            much = read * _MUCH > len(self._objects)
            self._is_narrow = not (much or self._looked_at > _OFTEN * len(self._objects))
        return self._is_narrow

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

    def names(self) -> Iterable[ObjectRef]:
        """The names of all objects; none of them is read."""
        return self._objects

    def __len__(self) -> int:
        """The number of objects."""
        return len(self._objects)

    @cached_property
    def _plain(self) -> Mapping[GroupKind, Sequence[ObjectRef]]:
        """The objects that were read already, by kind."""
        return sorted_by_kind(self._plain_refs)

    @cached_property
    def _by_kind(self) -> Mapping[GroupKind, Sequence[Shape]]:
        """The shapes of the objects of a kind."""
        return grouped((shape.group_kind, shape) for shape in self._shapes)

    @cached_property
    def kinds(self) -> tuple[GroupKind, ...]:
        """The kinds of which there are objects, sorted."""
        return tuple(sorted({*self._plain, *self._by_kind}))

    def names_of(self, kind: GroupKind) -> Sequence[ObjectRef]:
        """The names of the objects of a kind, sorted by namespace and name; none of them is read."""
        if kind not in self._names:
            shaped = (ref for shape in self._by_kind.get(kind, ()) for ref in self._shapes[shape])
            self._names[kind] = sorted((*shaped, *self._plain.get(kind, ())))
        return self._names[kind]

    @cached_property
    def with_unknown_names(self) -> tuple[ObjectRef, ...]:
        """The objects of which the name or the namespace is to be filled in; no name is that was recognised."""
        homeless = {namespace for namespace in self.namespaces if is_unknown(namespace)}
        plain = {ref for refs in self._plain.values() for ref in refs if is_unknown(ref.name)}
        among = self._objects if homeless or plain else ()
        return tuple(ref for ref in among if ref.namespace in homeless or ref in plain)

    def examples(self, kind: GroupKind, without: Collection[ObjectRef] = ()) -> Iterable[Resource]:
        """Those that were read, and one of each shape, `without` some."""
        if kind not in self._examples:
            self._examples[kind] = self._first(kind, ())
        known = self._examples[kind]
        return self._first(kind, without) if any(each.ref in without for each in known) else known

    def _first(self, kind: GroupKind, without: Collection[ObjectRef]) -> tuple[Resource, ...]:
        of_shapes = (self._shapes[shape] for shape in self._by_kind.get(kind, ()))
        groups = (*of_shapes, *([ref] for ref in self._plain.get(kind, ())))
        left = [[ref for ref in refs if ref not in without] if without else refs for refs in groups]
        return tuple(filter(None, map(self.get, sorted(min(refs) for refs in left if refs))))

    def counted(self, kind: GroupKind) -> Iterable[tuple[Resource, int]]:
        """Those that were read, and one of each shape with the number of objects that have it."""
        numbers = {min(refs): len(refs) for shape in self._by_kind.get(kind, ()) if (refs := self._shapes[shape])}
        return ((each, numbers.get(each.ref, 1)) for each in self.examples(kind))

    def having(self, kind: GroupKind, fields: Collection[str], namespace: str = "") -> Sequence[ObjectRef]:
        """The objects of a kind that may have one of some fields anywhere, in one namespace alone if given; sorted."""
        found = [
            ref
            for shape in self._by_kind.get(kind, ())
            if any(field in shape.words for field in fields)
            for ref in self._shapes[shape]
        ]
        found += (ref for ref in self._plain.get(kind, ()) if any(field in self._text(ref) for field in fields))
        return sorted(ref for ref in found if ref.namespace == namespace) if namespace else sorted(found)

    def naming(self, kind: GroupKind, obj: ObjectRef) -> Sequence[ObjectRef]:
        """The objects of a kind that may name an object, sorted: in its own namespace, or together with that."""
        # Two states of a world ask for the same.
        if (kind, obj) not in self._naming:
            self._naming[kind, obj] = self._that_name(kind, obj)
        return self._naming[kind, obj]

    def _that_name(self, kind: GroupKind, obj: ObjectRef) -> Sequence[ObjectRef]:
        name, namespace, every = obj.name, obj.namespace, self.names_of(kind)
        if not every or len(f"{name}/{namespace}".split()) > 1:
            # What is written on several lines is one text with spaces in their place.
            return every
        around = inside(every, kind, namespace) if namespace else ()
        found: Sequence[ObjectRef]
        if len(every) <= _FEW:
            found = every
        elif not namespace or 2 * len(around) > len(every):
            # Where most are in the namespace, they mention it for that.
            found = self._mentioning(name).get(kind, ())
        else:
            elsewhere = (ref for ref in self._mentioning(namespace).get(kind, ()) if ref.namespace != namespace)
            found = sorted((*around, *elsewhere))
        self._looked_at += len(found)
        saying = (ref for ref in found if self._mentions(ref, name))
        called = (ref for ref in saying if ref.namespace == namespace or self._mentions(ref, namespace))
        return [ref for ref in called if self._names_object(ref, obj)]

    def _mentions(self, ref: ObjectRef, word: str) -> bool:
        found = self._objects[ref]
        return found.mentions(word) if isinstance(found, ShapedDocument) else word in self._text(ref)

    def _names_object(self, ref: ObjectRef, obj: ObjectRef) -> bool:
        found = self._objects[ref]
        if not isinstance(found, ShapedDocument):
            return names_object(ref, obj, self._text(ref))
        # It says all that is written in it but for comments and what it is called itself.
        words = (obj.name,) if obj.namespace in {"", ref.namespace} else (obj.name, obj.namespace)
        if found.mentions("#") or any(word in found.name or word in found.namespace for word in words):
            return names_object(ref, obj, *found.said())
        return all(stands_in(word, found.written.text, found.start, found.end) for word in words)

    def _text(self, ref: ObjectRef) -> str:
        if ref not in self._texts:
            self._texts[ref] = text_of(self._read[ref].raw)
        return self._texts[ref]

    def _mentioning(self, word: str) -> Mapping[GroupKind, Sequence[ObjectRef]]:
        """The objects in which a word is written anywhere, by kind: a look at the texts and not at each object."""
        if word not in self._said:
            recognised = (found for written in self._sources for found in written.mentioning(word))
            found = [*filter(None, map(self._name_of, recognised))]
            found += (ref for refs in self._plain.values() for ref in refs if word in self._text(ref))
            self._said[word] = sorted_by_kind(found)
        return self._said[word]

    def _name_of(self, found: ShapedDocument) -> ObjectRef | None:
        """The name of the object in a document; None if another document of that name counts."""
        for namespace in (found.namespace, self._default, ""):
            ref = ObjectRef(found.shape.group_kind, namespace, found.name)
            if self._objects.get(ref) is found:
                return ref
        return None
