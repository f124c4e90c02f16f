"""Kinds of network policies that are evaluated."""

from __future__ import annotations

from typing import Final

from kubectl_policy.model import GroupKind

NETWORK_POLICY: Final = GroupKind("networking.k8s.io", "NetworkPolicy")
_GROUP: Final = "policy.networking.k8s.io"
ADMIN_NETWORK_POLICY: Final = GroupKind(_GROUP, "AdminNetworkPolicy")
BASELINE_ADMIN_NETWORK_POLICY: Final = GroupKind(_GROUP, "BaselineAdminNetworkPolicy")
CLUSTER_NETWORK_POLICY: Final = GroupKind(_GROUP, "ClusterNetworkPolicy")
EVALUATED_KINDS: Final = (
    NETWORK_POLICY,
    ADMIN_NETWORK_POLICY,
    BASELINE_ADMIN_NETWORK_POLICY,
    CLUSTER_NETWORK_POLICY,
)
