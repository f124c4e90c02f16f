"""ReferenceGrants: which references may leave their namespace."""

from __future__ import annotations

from functools import cached_property
from typing import TYPE_CHECKING, Final, NamedTuple

from msgspec import Struct

from kubectl_policy.lazy import cached_method
from kubectl_policy.model.fields import mappings_at, text_at
from kubectl_policy.model.kind_roles import REFERENCE_GRANT
from kubectl_policy.model.refs import GroupKind, ObjectRef
from kubectl_policy.model.unknown import is_unknown, may_equal
from kubectl_policy.model.world import grouped

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

    from kubectl_policy.model.snapshot import Resource, Snapshot

_NAMES: Final = frozenset({"referencegrant", "referencegrants", "refgrant"})


class Grants(Struct, frozen=True, dict=True, eq=False):
    """The ReferenceGrants of a snapshot; those in the namespace of its target decide about a reference."""

    # Return the grants in a namespace.
    _inside: Callable[[str], Iterable[Resource]]
    # Its gaps may hide grants.
    _snapshot: Snapshot

    @cached_method
    def _entries_in(self, namespace: str) -> _GrantEntries:
        return _GrantEntries(self._inside(namespace))

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
        # Grants are asked for first: of a cluster, those in one namespace may be read although others are hidden.
        lets_in = self._entries_in(inside).let_in(kind, home)
        return lets_in or not self._snapshot.complete or self._may_be_hidden(inside)

    @property
    def unknown_reason(self) -> str:
        """The reason for which it is unknown whether a reference is permitted, in words."""
        if self._snapshot.source == "the input":
            return "no ReferenceGrant in the input says so"
        return "the ReferenceGrants there could not be read"

    def _may_permit(self, kind: GroupKind, home: str, target: ObjectRef) -> bool:
        """Whether a grant may permit the reference that was not read, or that has a placeholder for a name."""
        inside, snapshot = target.namespace, self._snapshot
        if is_unknown(home) or is_unknown(inside) or self._entries_in(inside).may_permit(kind, home, target):
            return True
        if self._may_be_hidden(inside):
            return True
        if snapshot.complete or (REFERENCE_GRANT, inside) in snapshot.listed:
            return False
        # What only the other one of two states permits, this one does not.
        return not self._of_other_state.permit(kind, home, target)

    def _is_assumed(self, namespace: str) -> bool:
        """Whether the user said that grants exist in a namespace that are not in the input (`--assume-exists`)."""
        assumed = self._snapshot.assumed
        return any(kind.covers(ObjectRef(REFERENCE_GRANT, namespace, kind.name), _NAMES) for kind in assumed)

    def _may_be_hidden(self, namespace: str) -> bool:
        return any(gap.covers(ObjectRef(REFERENCE_GRANT, namespace, gap.name)) for gap in self._snapshot.gaps)

    @cached_property
    def _of_other_state(self) -> _GrantEntries:
        return _GrantEntries(grant for grant in self._snapshot.other_state if grant.ref.group_kind == REFERENCE_GRANT)


class _Entries(NamedTuple):
    """The entries of one ReferenceGrant, each a kind with a namespace or, of `to`, the name of an object, or ""."""

    namespace: str
    sources: frozenset[tuple[GroupKind, str]]
    targets: frozenset[tuple[GroupKind, str]]

    @property
    def is_in_doubt(self) -> bool:
        """Whether any of the names is a placeholder."""
        names = (name for _, name in (*self.sources, *self.targets))
        return is_unknown(self.namespace) or any(map(is_unknown, names))


class _GrantEntries:
    """The entries of some ReferenceGrants."""

    def __init__(self, grants: Iterable[Resource]) -> None:
        self._entries = [
            _Entries(
                grant.ref.namespace,
                frozenset(_kinds_at(grant, "spec.from", "namespace")),
                frozenset(_kinds_at(grant, "spec.to", "name")),
            )
            for grant in grants
        ]
        self._by_source = grouped(
            ((entries.namespace, *source), entries) for entries in self._entries for source in entries.sources
        )
        self._in_doubt = [entries for entries in self._entries if entries.is_in_doubt]

    def permit(self, kind: GroupKind, home: str, target: ObjectRef) -> bool:
        """Whether one of the grants is known to permit a reference."""
        opened = {(target.group_kind, ""), (target.group_kind, target.name)}
        letting_in = self._by_source.get((target.namespace, kind, home), ())
        return any(not opened.isdisjoint(entries.targets) for entries in letting_in)

    def let_in(self, kind: GroupKind, home: str) -> bool:
        """Whether one of the grants is for references of a kind from a namespace, or from any if that is empty."""
        sources = (source for entries in self._entries for source in entries.sources)
        return any(source == kind and (not home or may_equal(name, home)) for source, name in sources)

    def may_permit(self, kind: GroupKind, home: str, target: ObjectRef) -> bool:
        """Whether one of the grants may permit a reference, depending on its placeholders."""
        return any(
            may_equal(entries.namespace, target.namespace)
            and any(source == kind and may_equal(name, home) for source, name in entries.sources)
            and any(
                opened == target.group_kind and (not name or may_equal(name, target.name))
                for opened, name in entries.targets
            )
            for entries in self._in_doubt
        )


def _kinds_at(grant: Resource, path: str, field: str) -> Iterator[tuple[GroupKind, str]]:
    for entry in mappings_at(grant.raw, path):
        yield GroupKind(text_at(entry, "group"), text_at(entry, "kind")), text_at(entry, field)
