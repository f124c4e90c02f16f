"""ReferenceGrants: which references may leave their namespace."""

from __future__ import annotations

from functools import cached_property
from typing import TYPE_CHECKING, Final, TypeAlias

from kubectl_policy.model.fields import mappings_at, text_at
from kubectl_policy.model.kinds import GATEWAY_API
from kubectl_policy.model.refs import GroupKind, ObjectRef

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping
    from collections.abc import Set as AbstractSet

    from kubectl_policy.model.snapshot import Gap, Resource

REFERENCE_GRANT: Final = GroupKind(GATEWAY_API, "ReferenceGrant")
# The namespace of a grant, a kind, and a namespace (of `from`) or a name (of `to`).
_Key: TypeAlias = "tuple[str, GroupKind, str]"


class Grants:
    """The ReferenceGrants of a snapshot."""

    def __init__(self, grants: Iterable[Resource], gaps: Iterable[Gap]) -> None:
        """Remember the grants, and what could not be read."""
        self._grants = tuple(grants)
        self._unread = tuple(gap.namespace for gap in gaps if gap.kind in {"", REFERENCE_GRANT.kind})

    def permit(self, kind: GroupKind, home: str, target: ObjectRef) -> bool:
        """Whether an object of a kind in namespace `home` may refer to the target.

        References inside a namespace always may; others need a ReferenceGrant in the target's namespace whose `from`
        has the referring kind and namespace and whose `to` has the target's kind and, if it has a name, the target's
        name (ReferenceGrantSpec). A grant that was not read does not permit.
        """
        if target.namespace in {"", home}:
            return True
        inside = target.namespace
        letting_in = self._by_source.get((inside, kind, home), frozenset())
        opened = (self._by_target.get((inside, target.group_kind, name)) for name in ("", target.name))
        return any(grants and not letting_in.isdisjoint(grants) for grants in opened)

    def may_be_unread(self, namespace: str) -> bool:
        """Whether ReferenceGrants of a namespace could not be read, so that a missing grant proves nothing."""
        return "" in self._unread or namespace in self._unread

    @cached_property
    def _by_source(self) -> Mapping[_Key, AbstractSet[ObjectRef]]:
        return self._grants_by("spec.from", "namespace")

    @cached_property
    def _by_target(self) -> Mapping[_Key, AbstractSet[ObjectRef]]:
        return self._grants_by("spec.to", "name")

    def _grants_by(self, field: str, last: str) -> Mapping[_Key, AbstractSet[ObjectRef]]:
        grants: dict[_Key, set[ObjectRef]] = {}
        for grant in self._grants:
            for entry in mappings_at(grant.raw, field):
                kind = GroupKind(text_at(entry, "group"), text_at(entry, "kind"))
                grants.setdefault((grant.ref.namespace, kind, text_at(entry, last)), set()).add(grant.ref)
        return grants
