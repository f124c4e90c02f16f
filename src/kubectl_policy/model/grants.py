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
    """The ReferenceGrants of a snapshot; those in the namespace of its target decide about a reference."""

    def __init__(self, inside: Callable[[str], Iterable[Resource]], snapshot: Snapshot) -> None:
        """Read grants by `inside`, a namespace at a time; gaps of the snapshot say which grants may be hidden."""
        self._inside, self._snapshot = inside, snapshot
        self._by_namespace: dict[str, _GrantEntries] = {}

    def permit(self, kind: GroupKind, home: str, target: ObjectRef) -> bool | None:
        """Whether an object of a kind in namespace `home` may refer to the target; None if that is not known.

        References inside a namespace always may; others need a ReferenceGrant in the target's namespace whose `from`
        has the referring kind and namespace and whose `to` has the target's kind and, if it has a name, the target's
        name (ReferenceGrantSpec). One that is not in the input may be there all the same, as any object; if somebody
        says that one is, it is the one that is needed.
        """
        if target.namespace in {"", home} or self._entries_in(target.namespace).permit(kind, home, target):
            return True
        if self._is_assumed(target.namespace) and not self._of_other_state.permit(kind, home, target):
            return True
        return None if self._may_permit(kind, home, target) else False

    def may_let_in(self, kind: GroupKind, home: str, inside: str) -> bool:
        """Whether objects of a kind in a namespace, or in any if that is empty, may refer to something in another."""
        snapshot, entries = self._snapshot, self._entries_in(inside)
        hidden = (gap.covers(ObjectRef(REFERENCE_GRANT, inside, gap.name)) for gap in snapshot.gaps)
        return entries.let_in(kind, home) or not snapshot.complete or any(hidden)

    @property
    def unsaid(self) -> str:
        """The reason for which it is unknown whether a reference is permitted, in words."""
        if self._snapshot.place == "the input":
            return "no ReferenceGrant in the input says so"
        return "the ReferenceGrants there could not be read"

    def _may_permit(self, kind: GroupKind, home: str, target: ObjectRef) -> bool:
        """Whether a grant may permit the reference that was not read, or that has a placeholder for a name."""
        inside, snapshot = target.namespace, self._snapshot
        if is_unknown(home) or is_unknown(inside) or self._entries_in(inside).may_permit(kind, home, target):
            return True
        if any(gap.covers(ObjectRef(REFERENCE_GRANT, inside, gap.name)) for gap in snapshot.gaps):
            return True
        if snapshot.complete or (REFERENCE_GRANT, inside) in snapshot.listed:
            return False
        # What only the other one of two states permits, this one does not.
        return not self._of_other_state.permit(kind, home, target)

    def _is_assumed(self, namespace: str) -> bool:
        """Whether the user said that grants exist in a namespace that are not in the input (`--assume-exists`)."""
        assumed = self._snapshot.assumed
        return any(kind.covers(ObjectRef(REFERENCE_GRANT, namespace, kind.name), _NAMES) for kind in assumed)

    def _entries_in(self, namespace: str) -> _GrantEntries:
        if namespace not in self._by_namespace:
            self._by_namespace[namespace] = _GrantEntries(self._inside(namespace))
        return self._by_namespace[namespace]

    @cached_property
    def _of_other_state(self) -> _GrantEntries:
        return _GrantEntries(grant for grant in self._snapshot.other_state if grant.ref.group_kind == REFERENCE_GRANT)


class _GrantEntries:
    """The `from` and `to` entries of some ReferenceGrants."""

    def __init__(self, grants: Iterable[Resource]) -> None:
        self._sources: dict[ObjectRef, tuple[_Entry, ...]] = {}
        self._targets: dict[ObjectRef, tuple[_Entry, ...]] = {}
        for grant in grants:
            self._sources[grant.ref] = _entries(grant, "spec.from", "namespace")
            self._targets[grant.ref] = _entries(grant, "spec.to", "name")

    def permit(self, kind: GroupKind, home: str, target: ObjectRef) -> bool:
        """Whether one of the grants is known to permit a reference."""
        inside = target.namespace
        letting_in = self._by_source.get((inside, kind, home), frozenset())
        opened = (self._by_target.get((inside, target.group_kind, name)) for name in ("", target.name))
        return any(grants and not letting_in.isdisjoint(grants) for grants in opened)

    def let_in(self, kind: GroupKind, home: str) -> bool:
        """Whether one of the grants is for references of a kind from a namespace, or from any if that is empty."""
        entries = (entry for sources in self._sources.values() for entry in sources)
        return any(source == kind and (not home or may_equal(name, home)) for source, name in entries)

    def may_permit(self, kind: GroupKind, home: str, target: ObjectRef) -> bool:
        """Whether one of the grants may permit a reference, depending on its placeholders."""
        return any(
            may_equal(grant.namespace, target.namespace)
            and any(source == kind and may_equal(name, home) for source, name in self._sources[grant])
            and any(opened == target.group_kind and _may_name(name, target) for opened, name in self._targets[grant])
            for grant in self._in_doubt
        )

    @cached_property
    def _in_doubt(self) -> tuple[ObjectRef, ...]:
        """The grants with a placeholder for a name, or in a namespace that is a placeholder."""
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
    for grant, grant_entries in entries.items():
        for kind, last in grant_entries:
            grants.setdefault((grant.namespace, kind, last), set()).add(grant)
    return grants


def _may_name(name: str, target: ObjectRef) -> bool:
    """Whether an entry of `to` may cover an object: an entry without a name covers all objects of its kind."""
    return not name or may_equal(name, target.name)
