"""Objects that a policy refers to and cannot do without."""

from __future__ import annotations

from typing import TYPE_CHECKING

from kubectl_policy.model import GroupKind, ObjectRef
from kubectl_policy.model.fields import mapping_at, text_at

if TYPE_CHECKING:
    from kubectl_policy.model import Resource
    from kubectl_policy.model.index import Index
    from kubectl_policy.profiles import PolicyKindProfile


def missing_need(index: Index, policy: Resource, profile: PolicyKindProfile) -> str:
    """Which object that a policy needs is known not to exist, in words; empty if there is none."""
    for need in profile.needs:
        reference = mapping_at(policy.raw, need.field)
        kind = GroupKind(need.group, text_at(reference, "kind") or need.kinds[0])
        if kind.kind not in need.kinds:
            return f"{need.field}.kind {kind.kind} is not one of {', '.join(need.kinds)}"
        # Without its definition, a cluster-scoped kind that is not known otherwise was read into some namespace.
        elsewhere = index.of_kind(kind) if kind.kind in need.cluster_kinds else ()
        if any(resource.ref.name == text_at(reference, "name") for resource in elsewhere):
            continue
        namespaced = kind.kind not in need.cluster_kinds and index.namespaced(kind)
        namespace = policy.ref.namespace if namespaced else ""
        needed = ObjectRef(kind, namespace, text_at(reference, "name"))
        if not needed.name:
            return f"{need.field} names no {kind.kind}"
        if index.presence(needed) == "missing":
            return f"{needed}, which {need.field} names, does not exist"
    return ""
