"""Objects that were not read: what may create them, which may be meant instead, and which gaps may hide them."""

from __future__ import annotations

import re
from functools import cached_property
from typing import TYPE_CHECKING, Final, TypeAlias

from msgspec import Struct

from kubectl_policy.lazy import cached_method
from kubectl_policy.model.fields import mapping_at, text_at
from kubectl_policy.model.kind_roles import NAMESPACE
from kubectl_policy.model.kinds import CRD
from kubectl_policy.model.refs import GroupKind, ObjectRef
from kubectl_policy.model.unknown import is_unknown, may_be, may_equal
from kubectl_policy.model.world import World, grouped

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence

    from kubectl_policy.model.snapshot import Gap, Snapshot

_SECRET: Final = GroupKind("", "Secret")
# The kinds that objects of a kind create, and the field with the name of what is created; it has the name of its maker
# where the field is absent.
Creations: TypeAlias = "Mapping[GroupKind, str]"
# What is said to select or to target other objects does not make them.
_TARGET_FIELDS: Final = frozenset({"targetRef", "targetRefs", "targetSelectors"})
_NO_MAKERS: Final = _TARGET_FIELDS | {"selector"}
# Names that are shorter have too many near ones.
_MIN_NAME_LENGTH: Final = 4
# Two words that are shorter may differ in one letter by intention.
_MIN_REPLACED_LENGTH: Final = 6
_SEPARATORS: Final = re.compile(r"[-.]")


class Candidates(Struct, frozen=True, dict=True, eq=False):
    """Objects that may be what a reference names, because a name or a namespace of either is not known."""

    # The world is that of the snapshot.
    _world: World
    _snapshot: Snapshot

    @cached_method
    def of(self, ref: ObjectRef) -> tuple[ObjectRef, ...]:
        """Return the objects, but for the one of that very name, that may be what a reference names; sorted.

        A reference without a name is to whatever is in its namespace.
        """
        return tuple(sorted(candidate for candidate in self._near(ref) if candidate != ref))

    def _near(self, ref: ObjectRef) -> Iterable[ObjectRef]:
        kind, namespace, name = ref.group_kind, ref.namespace, ref.name
        if not name:
            siblings = (sibling for sibling in self._world.refs_of(kind) if sibling.namespace != namespace)
            return (sibling for sibling in siblings if may_equal(sibling.namespace, namespace))
        if is_unknown(name):
            near = self._world.refs_of(kind)
        else:
            with_name = self.with_name(kind, name) if is_unknown(namespace) else self._homeless.get((kind, name), ())
            near = (*with_name, *self._nameless.get(kind, ()))
        return (candidate for candidate in near if may_be(candidate, ref))

    @cached_property
    def with_unknown_names(self) -> tuple[ObjectRef, ...]:
        """The objects of which the name or the namespace is to be filled in.

        An API server knows what its objects are called: there, only what was applied to them may be such.
        """
        is_cluster = self._snapshot.source == "the cluster"
        refs = [*(self._snapshot.applied if is_cluster else (resource.ref for resource in self._world))]
        return tuple(ref for ref in refs if is_unknown(ref.name) or is_unknown(ref.namespace))

    @cached_property
    def unknown_namespaces(self) -> frozenset[str]:
        """The namespaces of objects of which it is not known what they are called."""
        return frozenset(ref.namespace for ref in self.with_unknown_names if is_unknown(ref.namespace))

    @cached_property
    def _homeless(self) -> Mapping[tuple[GroupKind, str], Sequence[ObjectRef]]:
        """The objects of unknown namespaces by their names."""
        return _by_name(ref for ref in self.with_unknown_names if is_unknown(ref.namespace))

    def with_name(self, group_kind: GroupKind, name: str) -> Sequence[ObjectRef]:
        """Return the objects of a kind and a name that is known, in whichever namespace."""
        return self._by_name(group_kind).get((group_kind, name), ())

    @cached_method
    def _by_name(self, group_kind: GroupKind) -> Mapping[tuple[GroupKind, str], Sequence[ObjectRef]]:
        return _by_name(self._world.refs_of(group_kind))

    @cached_property
    def _nameless(self) -> Mapping[GroupKind, Sequence[ObjectRef]]:
        """The objects of unknown names by their kinds."""
        return grouped((ref.group_kind, ref) for ref in sorted(self.with_unknown_names) if is_unknown(ref.name))


class Absence:
    """Explanations for objects that a snapshot lacks, looked up where a message needs one."""

    def __init__(
        self,
        world: World,
        snapshot: Snapshot,
        candidates: Candidates,
        created_by: Callable[[GroupKind], Creations | None],
    ) -> None:
        """Explain what is not in a snapshot, by what is in its world and by its gaps.

        `created_by` says what objects of a kind create; None of a kind of which nothing is known.
        """
        self._world, self._candidates, self._created_by = world, candidates, created_by
        self._gaps, self._place = snapshot.gaps, snapshot.source

    @cached_method
    def message(self, ref: ObjectRef) -> str:
        """Say that an object was not read and, where that is known, which object may create it or be meant instead."""
        hint = "" if any(self.hiding(ref)) else self._origin_hint(ref) or self._near_hint(ref)
        return f"{ref} {self.reason(ref)}{hint}"

    def meant(self, ref: ObjectRef) -> list[ObjectRef]:
        """Return the objects of which the name of an object that was not read is a slip of the pen; sorted.

        There are none if something may be the object, create it or hide it.
        """
        if any(self.hiding(ref)) or self._origin_hint(ref):
            return []
        return sorted({sibling for sibling in self._near(ref) if is_slip(ref.name, sibling.name)})

    def _origin_hint(self, ref: ObjectRef) -> str:
        """Say what an object may be, or where it may come from."""
        return self._candidate_hint(ref) or self._maker_hint(ref) or self._delivery_hint(ref)

    def reason(self, ref: ObjectRef) -> str:
        """Say why an object was not read, in words that follow its name: it `is not in the input`."""
        hidden = next(self.hiding(ref), None)
        return hidden.phrase if hidden else f"is not in {self._place}"

    def of_namespace(self, name: str) -> str:
        """Say why a Namespace, or what it is like, is not known."""
        ref = ObjectRef(NAMESPACE, "", name)
        change = self.change_of(ref)
        return f"{ref} may be different: {change.reason}" if change else f"{ref} {self.reason(ref)}"

    @cached_method
    def change_of(self, ref: ObjectRef) -> Gap | None:
        """Return the gap for which an object that was read may be different, if there is one."""
        return next((gap for gap in self.gaps_of(ref) if gap.name and self._world.has(ref)), None)

    def hiding(self, ref: ObjectRef) -> Iterator[Gap]:
        """Find the gaps of a cluster that may hide an object: those of single objects first."""
        return (
            gap
            for is_named in (True, False)
            for gap in self._gaps
            if gap.group is not None and bool(gap.name) is is_named and gap.covers(ref)
        )

    def _candidate_hint(self, ref: ObjectRef) -> str:
        candidates = self._candidates.of(ref) if ref.name else ()
        if len(candidates) > 1:
            return f"; {candidates[0]} may be it, or one of {len(candidates) - 1} more"
        return f"; {candidates[0]} may be it" if candidates else ""

    def _maker_hint(self, ref: ObjectRef) -> str:
        """The object of an operator that may create an object: by what it says, or because it has the same name.

        Too many objects have the name of a Secret for that to be a hint.
        """
        unknown_makers = () if ref.group_kind == _SECRET else self._custom(ref.name)
        for maker in (*self._makers.get((ref.group_kind, ref.name), ()), *unknown_makers):
            if may_equal(maker.namespace, ref.namespace) and maker.group_kind != ref.group_kind:
                return f"; {maker} may create it"
        return ""

    def _delivery_hint(self, ref: ObjectRef) -> str:
        """Say which gap may hold the object: the first that mentions its name, or that may hold anything."""
        parts = ref.name.split("-")
        names = ["-".join(parts[:length]) for length in range(len(parts), 0, -1)]
        for gap in (*(gap for name in names for gap in self.mentioning(name)), *self.unbounded.get("", ())):
            if gap.covers(ref) and not gap.name and (gap.namespace or ref.name in (gap.mentions or ())):
                return f"; {gap.reason}" if gap.namespace else f"; {gap.origin or gap.reason} may hold it"
        return ""

    def _near_hint(self, ref: ObjectRef) -> str:
        """An object of the same name in another namespace, or of a name that differs in one letter."""
        elsewhere = [homonym for homonym in self._candidates.with_name(ref.group_kind, ref.name) if homonym != ref]
        if elsewhere:
            return f"; there is {min(elsewhere)}"
        first = min(self._near(ref), default=None)
        return f"; there is {first}" if first else ""

    def _near(self, ref: ObjectRef) -> Iterator[ObjectRef]:
        """The objects of the same kind and namespace with names that differ in one letter."""
        shortened = self._shortened_names(ref.group_kind, ref.namespace)
        return (sibling for part in _shortened(ref.name) for sibling in shortened.get(part, ()))

    @cached_method
    def _shortened_names(self, group_kind: GroupKind, namespace: str) -> Mapping[str, Sequence[ObjectRef]]:
        siblings = self._world.refs_of(group_kind, namespace)
        return grouped((part, sibling) for sibling in siblings for part in _shortened(sibling.name))

    @cached_property
    def _makers(self) -> Mapping[tuple[GroupKind, str], Sequence[ObjectRef]]:
        """The objects that are known to create others, by the kinds and the names of these."""
        return grouped(
            ((created, text_at(resource.raw, field) or resource.ref.name), resource.ref)
            for kind in self._world.kinds
            for created, field in (self._created_by(kind) or {}).items()
            for resource in self._world.of_kind(kind)
        )

    def _custom(self, name: str) -> Iterator[ObjectRef]:
        """The objects of a name that may create others, as nothing is known of their kinds.

        Of the kinds of Kubernetes and of Gateway API, it is known.
        """
        for ref in self._by_any_name.get(name, ()):
            group, resource = ref.group_kind.group, self._world.get(ref)
            is_custom = "." in group and not group.endswith("k8s.io") and self._created_by(ref.group_kind) is None
            if is_custom and resource and _NO_MAKERS.isdisjoint(mapping_at(resource.raw, "spec")):
                yield ref

    @cached_property
    def _by_any_name(self) -> Mapping[str, Sequence[ObjectRef]]:
        return grouped((resource.ref.name, resource.ref) for resource in self._world)

    def gaps_of(self, ref: ObjectRef) -> Iterator[Gap]:
        """Find the gaps that say of an object that it is not as it was read."""
        return (gap for name in (ref.name, "") for gap in self._by_object.get(name, ()) if gap.covers(ref))

    def mentioning(self, name: str) -> Sequence[Gap]:
        """Return the gaps that are known to mention a name."""
        return self._by_word.get(name, ())

    @cached_property
    def unbounded(self) -> Mapping[str, Sequence[Gap]]:
        """The gaps that may mention anything, by kind."""
        return grouped((gap.kind, gap) for gap in self._gaps if gap.mentions is None and not self.is_read(gap))

    def gaps_in(self, namespace: str) -> Iterator[Gap]:
        """Find the gaps in a namespace."""
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
            if any(mention in _TARGET_FIELDS or mention.endswith("Policy") for mention in gap.mentions or ())
        )

    def in_order(self, gaps: Iterable[Gap]) -> tuple[Gap, ...]:
        """Some of the gaps in their order."""
        chosen = {*gaps}
        return tuple(gap for gap in self._gaps if gap in chosen)

    def is_read(self, gap: Gap) -> bool:
        """Whether a gap is about one object, and that is there, though perhaps not as it was read."""
        with_name = self._by_any_name.get(gap.name, ()) if gap.name else ()
        return any(gap.covers(ref) for ref in with_name if ref.kind == gap.kind)

    @cached_property
    def _by_object(self) -> Mapping[str, Sequence[Gap]]:
        """The gaps of one object by its name, empty if that is not known."""
        return grouped(("" if is_unknown(gap.name) else gap.name, gap) for gap in self._gaps if gap.name)

    @cached_property
    def _by_word(self) -> Mapping[str, Sequence[Gap]]:
        return grouped((mention, gap) for gap in self._gaps for mention in gap.mentions or ())


def _shortened(name: str) -> set[str]:
    """Return a name and each name with one letter less: two names that differ in one letter have one in common."""
    if len(name) < _MIN_NAME_LENGTH or is_unknown(name):
        return set()
    return {name, *(name[:position] + name[position + 1 :] for position in range(len(name)))}


def is_slip(name: str, meant: str) -> bool:
    """Whether one letter of a word is missing, too much or wrong, or two are swapped.

    Short words, numbers, and words in another number tell objects apart that are called alike: `web-1` and `web-2`.
    """
    words, meant_words = _SEPARATORS.split(name), _SEPARATORS.split(meant)
    pairs = [(word, other) for word, other in zip(words, meant_words, strict=False) if word != other]
    if len(words) != len(meant_words) or len(pairs) != 1:
        return False
    word, other = pairs[0]
    if min(len(word), len(other)) < _MIN_NAME_LENGTH or not (word.isalpha() and other.isalpha()):
        return False
    return len(word) != len(other) or len(word) >= _MIN_REPLACED_LENGTH or sorted(word) == sorted(other)


def _by_name(refs: Iterable[ObjectRef]) -> Mapping[tuple[GroupKind, str], Sequence[ObjectRef]]:
    return grouped(((ref.group_kind, ref.name), ref) for ref in refs if not is_unknown(ref.name))
