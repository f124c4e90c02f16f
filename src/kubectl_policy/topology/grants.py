"""ReferenceGrants: which references may leave their namespace."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from kubectl_policy.model import GroupKind, ObjectRef
from kubectl_policy.model.fields import mappings_at, text_at
from kubectl_policy.model.kinds import GATEWAY_API

if TYPE_CHECKING:
    from collections.abc import Mapping

    from kubectl_policy.model import Json
    from kubectl_policy.model.index import Index

REFERENCE_GRANT: Final = GroupKind(GATEWAY_API, "ReferenceGrant")


def permitted(index: Index, kind: GroupKind, home: str, target: ObjectRef) -> bool:
    """Whether an object of a kind in namespace `home` may refer to the target.

    References inside a namespace always may; others need a ReferenceGrant in the target's namespace whose `from` has
    the referring kind and namespace and whose `to` has the target's kind and, if it has a name, the target's name
    (ReferenceGrantSpec). A grant that was not read does not permit.
    """
    if target.namespace in {"", home}:
        return True
    return any(
        _lets_in(grant.raw, kind, home) and _opens(grant.raw, target)
        for grant in index.of_kind_in(REFERENCE_GRANT, target.namespace)
    )


def _lets_in(raw: Mapping[str, Json], kind: GroupKind, home: str) -> bool:
    return any(
        GroupKind(text_at(source, "group"), text_at(source, "kind")) == kind and text_at(source, "namespace") == home
        for source in mappings_at(raw, "spec.from")
    )


def _opens(raw: Mapping[str, Json], target: ObjectRef) -> bool:
    return any(
        GroupKind(text_at(entry, "group"), text_at(entry, "kind")) == target.group_kind
        and text_at(entry, "name") in {"", target.name}
        for entry in mappings_at(raw, "spec.to")
    )


def unseen(index: Index, namespace: str) -> bool:
    """Whether ReferenceGrants of a namespace could not be read, so that a missing grant proves nothing."""
    return any(
        gap.kind in {"", REFERENCE_GRANT.kind} and gap.namespace in {"", namespace} for gap in index.snapshot.gaps
    )
