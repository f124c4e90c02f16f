"""ReferenceGrants: which references may leave their namespace."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final, TypeAlias

from kubectl_policy.model.fields import mappings_at, text_at
from kubectl_policy.model.kinds import GATEWAY_API
from kubectl_policy.model.refs import GroupKind, ObjectRef
from kubectl_policy.model.unknown import is_unknown, may_equal
from kubectl_policy.model.values import cached_property

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping
    from collections.abc import Set as AbstractSet

    from kubectl_policy.model.snapshot import Resource, Snapshot

REFERENCE_GRANT: Final = GroupKind(GATEWAY_API, "ReferenceGrant")
_NAMES: Final = frozenset({"referencegrant", "referencegrants", "refgrant"})
# A kind, and a namespace (of `from`) or a name (of `to`).
_Entry: TypeAlias = "tuple[GroupKind, str]"
_Key: TypeAlias = "tuple[str, GroupKind, str]"


class Grants:
    """The ReferenceGrants of a snapshot; of a reference, those in the namespace that it leads to decide."""

    def __init__(self, inside: Callable[[str], Iterable[Resource]], snapshot: Snapshot) -> None:
        """Remember where to look for the grants in a namespace, and what is known of those that are not here."""
        self._inside, self._snapshot = inside, snapshot
        self._found: dict[str, _Entries] = {}

    def permit(self, kind: GroupKind, home: str, target: ObjectRef) -> bool | None:
        """Whether an object of a kind in namespace `home` may refer to the target; None if that is not known.

        References inside a namespace always may; others need a ReferenceGrant in the target's namespace whose `from`
        has the referring kind and namespace and whose `to` has the target's kind and, if it has a name, the target's
        name (ReferenceGrantSpec). One that is not in the input may be there all the same, as any object; if somebody
        says that one is, it is the one that is needed.
        """
        if target.namespace in {"", home} or self._here(target.namespace).permit(kind, home, target):
            return True
        if self._is_assumed(target.namespace) and not self._of_other_state.permit(kind, home, target):
            return True
        return None if self._may_permit(kind, home, target) else False

    def may_let_in(self, kind: GroupKind, home: str, inside: str) -> bool:
        """Whether objects of a kind in a namespace, or in any if that is empty, may refer to something in another."""
        snapshot, here = self._snapshot, self._here(inside)
        hidden = (gap.covers(ObjectRef(REFERENCE_GRANT, inside, gap.name)) for gap in snapshot.gaps)
        return here.let_in(kind, home) or not snapshot.complete or any(hidden)

    @property
    def unsaid(self) -> str:
        """Why it is not known whether a reference may be made, in words."""
        if self._snapshot.place == "the input":
            return "no ReferenceGrant in the input says so"
        return "the ReferenceGrants there could not be read"

    def _may_permit(self, kind: GroupKind, home: str, target: ObjectRef) -> bool:
        """Whether a grant may let the reference in that is not in the input, or of which some name is not known."""
        inside, snapshot = target.namespace, self._snapshot
        if is_unknown(home) or is_unknown(inside) or self._here(inside).may_permit(kind, home, target):
            return True
        if any(gap.covers(ObjectRef(REFERENCE_GRANT, inside, gap.name)) for gap in snapshot.gaps):
            return True
        if snapshot.complete or (REFERENCE_GRANT, inside) in snapshot.listed:
            return False
        # What the other one of two states lets in alone, this one does not.
        return not self._of_other_state.permit(kind, home, target)

    def _is_assumed(self, namespace: str) -> bool:
        """Whether somebody says that there are grants in a namespace which are not in the input."""
        assumed = self._snapshot.assumed
        return any(each.covers(ObjectRef(REFERENCE_GRANT, namespace, each.name), _NAMES) for each in assumed)

    def _here(self, namespace: str) -> _Entries:
        if namespace not in self._found:
            self._found[namespace] = _Entries(self._inside(namespace))
        return self._found[namespace]

    @cached_property
    def _of_other_state(self) -> _Entries:
        return _Entries(grant for grant in self._snapshot.other_state if grant.ref.group_kind == REFERENCE_GRANT)


class _Entries:
    """What some ReferenceGrants let in: each by its own entries, from where and to what."""

    def __init__(self, grants: Iterable[Resource]) -> None:
        self._sources: dict[ObjectRef, tuple[_Entry, ...]] = {}
        self._targets: dict[ObjectRef, tuple[_Entry, ...]] = {}
        for grant in grants:
            self._sources[grant.ref] = _entries(grant, "spec.from", "namespace")
            self._targets[grant.ref] = _entries(grant, "spec.to", "name")

    def permit(self, kind: GroupKind, home: str, target: ObjectRef) -> bool:
        """Whether one of them is known to let a reference in."""
        inside = target.namespace
        letting_in = self._by_source.get((inside, kind, home), frozenset())
        opened = (self._by_target.get((inside, target.group_kind, name)) for name in ("", target.name))
        return any(grants and not letting_in.isdisjoint(grants) for grants in opened)

    def let_in(self, kind: GroupKind, home: str) -> bool:
        """Whether one of them is for references of a kind from a namespace, or from any if that is empty."""
        named = (each for sources in self._sources.values() for each in sources)
        return any(source == kind and (not home or may_equal(name, home)) for source, name in named)

    def may_permit(self, kind: GroupKind, home: str, target: ObjectRef) -> bool:
        """Whether one of them may let a reference in, once it is known what its names stand for."""
        return any(
            may_equal(grant.namespace, target.namespace)
            and any(source == kind and may_equal(name, home) for source, name in self._sources[grant])
            and any(opened == target.group_kind and _may_name(name, target) for opened, name in self._targets[grant])
            for grant in self._in_doubt
        )

    @cached_property
    def _in_doubt(self) -> tuple[ObjectRef, ...]:
        """The grants that name something, or are somewhere, that is not known."""
        return tuple(
            grant
            for grant, sources in self._sources.items()
            if any(map(is_unknown, (grant.namespace, *(name for _, name in (*sources, *self._targets[grant])))))
        )

    @cached_property
    def _by_source(self) -> Mapping[_Key, AbstractSet[ObjectRef]]:
        return _by_entry(self._sources)

    @cached_property
    def _by_target(self) -> Mapping[_Key, AbstractSet[ObjectRef]]:
        return _by_entry(self._targets)


def _entries(grant: Resource, field: str, last: str) -> tuple[_Entry, ...]:
    return tuple(
        (GroupKind(text_at(entry, "group"), text_at(entry, "kind")), text_at(entry, last))
        for entry in mappings_at(grant.raw, field)
    )


def _by_entry(entries: Mapping[ObjectRef, Iterable[_Entry]]) -> Mapping[_Key, AbstractSet[ObjectRef]]:
    grants: dict[_Key, set[ObjectRef]] = {}
    for grant, each in entries.items():
        for kind, last in each:
            grants.setdefault((grant.namespace, kind, last), set()).add(grant)
    return grants


def _may_name(name: str, target: ObjectRef) -> bool:
    """Whether an entry of `to` may be about an object: one without a name is about all of its kind."""
    return not name or may_equal(name, target.name)
