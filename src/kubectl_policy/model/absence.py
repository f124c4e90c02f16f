"""What is known of things that were not read: who may create them, what else may be meant, which gaps matter."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from kubectl_policy.model.fields import mapping_at, text_at
from kubectl_policy.model.kinds import CRD
from kubectl_policy.model.refs import GroupKind
from kubectl_policy.model.unknown import is_unknown, may_be, may_equal
from kubectl_policy.model.values import cached_property
from kubectl_policy.model.world import sorted_by_kind

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

    from kubectl_policy.model.refs import ObjectRef
    from kubectl_policy.model.snapshot import Gap, Snapshot
    from kubectl_policy.model.world import World

_SECRET: Final = GroupKind("", "Secret")
# The kinds of operators' objects that have a Secret made, and the field with its name; without it, it has their own.
_SECRET_MAKERS: Final = {
    "Certificate": "spec.secretName",
    "ExternalSecret": "spec.target.name",
    "SealedSecret": "spec.template.metadata.name",
}
# What is said to select or to target other objects does not make them.
_TARGET_FIELDS: Final = frozenset({"targetRef", "targetRefs", "targetSelectors"})
_NO_MAKERS: Final = _TARGET_FIELDS | {"selector"}
# Names that are shorter have too many near ones.
_LEAST_NAME: Final = 4


class Candidates:
    """Objects that may be what a reference names, because a name or a namespace of either is not known."""

    def __init__(self, world: World) -> None:
        """Remember where to look."""
        self._world = world
        self._found: dict[ObjectRef, tuple[ObjectRef, ...]] = {}
        self._called: dict[GroupKind, Mapping[tuple[GroupKind, str], Sequence[ObjectRef]]] = {}

    def of(self, ref: ObjectRef) -> tuple[ObjectRef, ...]:
        """The objects, but for the one of that very name, that may be what a reference names; sorted.

        A reference without a name is to whatever is in its namespace.
        """
        if ref not in self._found:
            among = (each for each in self._among(ref) if each != ref)
            found = (
                each for each in among if (may_be(each, ref) if ref.name else self._may_be_in(ref.namespace, each))
            )
            self._found[ref] = tuple(sorted(found))
        return self._found[ref]

    def _among(self, ref: ObjectRef) -> Iterable[ObjectRef]:
        if not ref.name or is_unknown(ref.name):
            return self._world.names_of(ref.group_kind)
        where = (ref.group_kind, ref.name)
        called = self.called(*where) if is_unknown(ref.namespace) else self._homeless.get(where, ())
        return (*called, *self._nameless.get(ref.group_kind, ()))

    def _may_be_in(self, namespace: str, ref: ObjectRef) -> bool:
        return ref.namespace != namespace and may_equal(ref.namespace, namespace)

    @cached_property
    def unknown_namespaces(self) -> frozenset[str]:
        """The namespaces of objects of which it is not known what they are called."""
        return frozenset(ref.namespace for ref in self._world.with_unknown_names if is_unknown(ref.namespace))

    @cached_property
    def _homeless(self) -> Mapping[tuple[GroupKind, str], Sequence[ObjectRef]]:
        """The objects of unknown namespaces by their names."""
        return _by_name(ref for ref in self._world.with_unknown_names if is_unknown(ref.namespace))

    def called(self, group_kind: GroupKind, name: str) -> Sequence[ObjectRef]:
        """The objects of a kind and a name that is known, wherever they are."""
        if group_kind not in self._called:
            self._called[group_kind] = _by_name(self._world.names_of(group_kind))
        return self._called[group_kind].get((group_kind, name), ())

    @cached_property
    def _nameless(self) -> Mapping[GroupKind, Sequence[ObjectRef]]:
        """The objects of unknown names by their kinds."""
        return sorted_by_kind(ref for ref in self._world.with_unknown_names if is_unknown(ref.name))


class Absence:
    """What is known of the objects that a snapshot lacks; looked up where a message needs it."""

    def __init__(self, world: World, snapshot: Snapshot, candidates: Candidates) -> None:
        """Remember where to look."""
        self._world, self._candidates = world, candidates
        self._gaps, self._place = snapshot.gaps, snapshot.place
        self._words: dict[ObjectRef, str] = {}
        self._nearly: dict[tuple[GroupKind, str], Mapping[str, Sequence[ObjectRef]]] = {}

    def words(self, ref: ObjectRef) -> str:
        """That an object was not read and, where that can be told, what may create it or be meant instead."""
        if ref not in self._words:
            hints = (self._candidate(ref), self._maker(ref), self._delivery(ref), self._near(ref))
            hint = "" if any(self.hiding(ref)) else next(filter(None, hints), "")
            self._words[ref] = f"{ref} {self.reason(ref)}{hint}"
        return self._words[ref]

    def reason(self, ref: ObjectRef) -> str:
        """Why an object was not read, in words that follow its name: it `is not in the input`."""
        hidden = next(self.hiding(ref), None)
        return hidden.words if hidden else f"is not in {self._place}"

    def hiding(self, ref: ObjectRef) -> Iterator[Gap]:
        """What a cluster did not give out that may have an object: what was asked for by its name first."""
        return (
            gap
            for is_named in (True, False)
            for gap in self._gaps
            if gap.group is not None and bool(gap.name) is is_named and gap.covers(ref)
        )

    def _candidate(self, ref: ObjectRef) -> str:
        found = self._candidates.of(ref) if ref.name else ()
        if len(found) > 1:
            return f"; {found[0]} may be it, or one of {len(found) - 1} more"
        return f"; {found[0]} may be it" if found else ""

    def _maker(self, ref: ObjectRef) -> str:
        """The object of an operator that may create an object: by what it says, or because it has the same name."""
        makers = self._secret_makers.get(ref.name, ()) if ref.group_kind == _SECRET else self._custom(ref.name)
        for maker in makers:
            if may_equal(maker.namespace, ref.namespace) and maker.group_kind != ref.group_kind:
                return f"; {maker} may create it"
        return ""

    def _delivery(self, ref: ObjectRef) -> str:
        """What could not be read and may create an object: the first that mentions its name, or may create anything."""
        parts = ref.name.split("-")
        names = ["-".join(parts[:length]) for length in range(len(parts), 0, -1)]
        for gap in (*(gap for name in names for gap in self.mentioning(name)), *self.unbounded.get("", ())):
            if gap.covers(ref) and not gap.name and (gap.namespace or ref.name in (gap.mentions or ())):
                return f"; {gap.reason}" if gap.namespace else f"; {gap.origin or gap.reason} may hold it"
        return ""

    def _near(self, ref: ObjectRef) -> str:
        """An object of the same name in another namespace, or of a name that differs in one letter."""
        elsewhere = [each for each in self._candidates.called(ref.group_kind, ref.name) if each != ref]
        if elsewhere:
            return f"; there is {min(elsewhere)}"
        where = (ref.group_kind, ref.namespace)
        if where not in self._nearly:
            found: dict[str, list[ObjectRef]] = {}
            for each in self._world.names_of(ref.group_kind):
                if each.namespace != ref.namespace:
                    continue
                for part in _shortened(each.name):
                    found.setdefault(part, []).append(each)
            self._nearly[where] = found
        near = (each for part in _shortened(ref.name) for each in self._nearly[where].get(part, ()))
        first = min(near, default=None)
        return f"; there is {first}" if first else ""

    @cached_property
    def _secret_makers(self) -> Mapping[str, Sequence[ObjectRef]]:
        found: dict[str, list[ObjectRef]] = {}
        for kind in self._world.kinds:
            field = _SECRET_MAKERS.get(kind.kind)
            for resource in filter(None, map(self._world.get, self._world.names_of(kind) if field else ())):
                found.setdefault(text_at(resource.raw, field or "") or resource.ref.name, []).append(resource.ref)
        return found

    def _custom(self, name: str) -> Iterator[ObjectRef]:
        """The objects of a name, of kinds that neither Kubernetes nor Gateway API has, and that may create others."""
        for ref in self._by_any_name.get(name, ()):
            group, resource = ref.group_kind.group, self._world.get(ref)
            is_custom = ref.kind not in _SECRET_MAKERS and "." in group and not group.endswith("k8s.io")
            if is_custom and resource and _NO_MAKERS.isdisjoint(mapping_at(resource.raw, "spec")):
                yield ref

    @cached_property
    def _by_any_name(self) -> Mapping[str, Sequence[ObjectRef]]:
        found: dict[str, list[ObjectRef]] = {}
        for ref in self._world.names():
            found.setdefault(ref.name, []).append(ref)
        return found

    def gaps_of(self, ref: ObjectRef) -> Iterator[Gap]:
        """What is known of an object, if it is there, not to be as it was read."""
        return (gap for name in (ref.name, "") for gap in self._by_object.get(name, ()) if gap.covers(ref))

    def mentioning(self, name: str) -> Sequence[Gap]:
        """What could not be read and is known to mention a name."""
        return self._by_word.get(name, ())

    @cached_property
    def unbounded(self) -> Mapping[str, Sequence[Gap]]:
        """What could not be read at all and may mention anything, by kind."""
        found: dict[str, list[Gap]] = {}
        for gap in self._gaps:
            if gap.mentions is None and not self.is_read(gap):
                found.setdefault(gap.kind, []).append(gap)
        return found

    def gaps_in(self, namespace: str) -> Iterator[Gap]:
        """What could not be read in a namespace."""
        return (gap for gap in self._gaps if gap.namespace and may_equal(gap.namespace, namespace))

    @cached_property
    def definitions(self) -> tuple[Gap, ...]:
        """The gaps that may hold the definition of a kind that was not read."""
        may_define = (gap for gap in self._gaps if CRD.kind == gap.kind or CRD.kind in (gap.mentions or ()))
        return tuple(gap for gap in may_define if not self.is_read(gap))

    @cached_property
    def with_policies(self) -> frozenset[Gap]:
        """The gaps that may hold policies, by what they mention."""
        return frozenset(
            gap
            for gap in self._gaps
            if any(word in _TARGET_FIELDS or word.endswith("Policy") for word in gap.mentions or ())
        )

    def in_order(self, gaps: Iterable[Gap]) -> tuple[Gap, ...]:
        """Some of the gaps in their order."""
        return tuple(sorted(gaps, key=self._places.__getitem__))

    @cached_property
    def _places(self) -> Mapping[Gap, int]:
        return {gap: place for place, gap in enumerate(self._gaps)}

    def is_read(self, gap: Gap) -> bool:
        """Whether a gap is about one object, and that is there, though perhaps not as it was read."""
        called = self._by_any_name.get(gap.name, ()) if gap.name else ()
        return any(gap.covers(ref) for ref in called if ref.kind == gap.kind)

    @cached_property
    def _by_object(self) -> Mapping[str, Sequence[Gap]]:
        """The gaps of one object by its name, empty if that is not known."""
        found: dict[str, list[Gap]] = {}
        for gap in self._gaps:
            if gap.name:
                found.setdefault("" if is_unknown(gap.name) else gap.name, []).append(gap)
        return found

    @cached_property
    def _by_word(self) -> Mapping[str, Sequence[Gap]]:
        found: dict[str, list[Gap]] = {}
        for gap in self._gaps:
            for word in gap.mentions or ():
                found.setdefault(word, []).append(gap)
        return found


def _shortened(name: str) -> set[str]:
    """A name and each name with one letter less, so that two names that differ in one letter have one in common."""
    if len(name) < _LEAST_NAME or is_unknown(name):
        return set()
    return {name, *(name[:place] + name[place + 1 :] for place in range(len(name)))}


def _by_name(refs: Iterable[ObjectRef]) -> dict[tuple[GroupKind, str], list[ObjectRef]]:
    found: dict[tuple[GroupKind, str], list[ObjectRef]] = {}
    for ref in refs:
        if not is_unknown(ref.name):
            found.setdefault((ref.group_kind, ref.name), []).append(ref)
    return found
