"""Objects that a policy refers to and cannot do without."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from kubectl_policy.model import GroupKind, ObjectRef
from kubectl_policy.model.fields import mapping_at, text_at, value_at

if TYPE_CHECKING:
    from collections.abc import Iterator

    from kubectl_policy.model import Resource
    from kubectl_policy.model.index import Index
    from kubectl_policy.profiles import PolicyKindProfile
    from kubectl_policy.profiles.profile import Needed


class NeededObject(NamedTuple):
    """An object that a policy needs, and the field that names it."""

    ref: ObjectRef
    field: str


def missing_need(index: Index, policy: Resource, profile: PolicyKindProfile) -> str:
    """Which object that a policy needs is known not to exist, in words; empty if there is none."""
    for need in _wanted(policy, profile):
        found = _named(index, policy, need)
        if isinstance(found, str):
            return found
        if index.presence(found.ref) == "missing":
            return f"{found.ref}, which {found.field} names, does not exist"
    return ""


def unread_needs(index: Index, policy: Resource, profile: PolicyKindProfile) -> Iterator[NeededObject]:
    """The objects that a policy needs of which it is not known whether they exist."""
    for need in _wanted(policy, profile):
        found = _named(index, policy, need)
        if not isinstance(found, str) and index.presence(found.ref) == "unknown":
            yield found


def _wanted(policy: Resource, profile: PolicyKindProfile) -> Iterator[Needed]:
    """The needs of a policy, without those for which it gives no reference and may do so."""
    return (need for need in profile.needs if not need.optional or value_at(policy.raw, need.field) is not None)


def _named(index: Index, policy: Resource, need: Needed) -> NeededObject | str:
    """The object that a policy names for a need, or why it names none."""
    reference = mapping_at(policy.raw, need.field)
    kind, name = GroupKind(need.group, text_at(reference, "kind") or need.kinds[0]), text_at(reference, "name")
    if kind.kind not in need.kinds:
        return f"{need.field}.kind {kind.kind} is not one of {', '.join(need.kinds)}"
    if not name:
        return f"{need.field} names no {kind.kind}"
    # Without its definition, a cluster-scoped kind that is not known otherwise was read into some namespace.
    elsewhere = index.of_kind(kind) if kind.kind in need.cluster_kinds else ()
    read = next((resource.ref for resource in elsewhere if resource.ref.name == name), None)
    namespaced = kind.kind not in need.cluster_kinds and index.namespaced(kind)
    home = text_at(reference, "namespace") or policy.ref.namespace
    ref = read or ObjectRef(kind, home if namespaced else "", name)
    return NeededObject(ref, need.field)
