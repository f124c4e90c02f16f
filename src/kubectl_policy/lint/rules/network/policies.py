"""Facts that rules about network policies share: the policies in scope, and which workloads may not have been read."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from msgspec import Struct

from kubectl_policy.model import ObjectRef, Resource
from kubectl_policy.model.kind_roles import NAMESPACE, POD, WORKLOADS
from kubectl_policy.network.kinds import EVALUATED_KINDS

if TYPE_CHECKING:
    from collections.abc import Sequence

    from kubectl_policy.lint.lint_world import LintWorld
    from kubectl_policy.model import GroupKind
    from kubectl_policy.network.policy import PolicyRules

_CLUSTER: Final = "the cluster"


class LintedPolicy(Struct, frozen=True, gc=False):
    """A network policy in scope, as it was read and by its rules."""

    resource: Resource
    rules: PolicyRules


def linted_policies(world: LintWorld) -> Sequence[LintedPolicy]:
    """Return the network policies in scope, by kind and name; call it by `LintWorld.once`."""
    if not any(world.index.world.refs_of(kind) for kind in EVALUATED_KINDS):
        return ()
    by_ref = world.analysis.network.by_ref
    return [LintedPolicy(resource, by_ref[resource.ref]) for resource in world.of_kind(*EVALUATED_KINDS)]


def workload_kinds(world: LintWorld) -> tuple[GroupKind, ...]:
    """Return the kinds whose objects are workloads: a cluster has a Pod for each."""
    return (POD,) if world.index.source == _CLUSTER else WORKLOADS


def has_all_workloads(world: LintWorld, namespace: str = "") -> bool:
    """Whether all workloads were read: those of a namespace, or of all namespaces with the labels of these."""
    kinds = workload_kinds(world)
    if namespace:
        return all(world.index.presence(ObjectRef(kind, namespace, "")) == "missing" for kind in kinds)
    return world.has_all(NAMESPACE, *kinds)
