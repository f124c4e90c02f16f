"""Subjects of a network policy: the workloads to which it applies, and whether there may be more than were read."""

from __future__ import annotations

from functools import cached_property
from typing import TYPE_CHECKING

from msgspec import Struct

from kubectl_policy.model import NodeRef
from kubectl_policy.model.kind_roles import POD, WORKLOADS
from kubectl_policy.model.unknown import is_unknown, may_equal
from kubectl_policy.topology.workloads.pod_sets import positions_in

if TYPE_CHECKING:
    from collections.abc import Iterator

    from kubectl_policy.model import Gap
    from kubectl_policy.model.index import Index
    from kubectl_policy.topology.workloads import PodSet, Workloads


class Subjects(Struct, frozen=True, dict=True, eq=False, kw_only=True):
    """The workloads to which a policy applies."""

    pods: PodSet
    # The gaps in the input that may hold further ones.
    gaps: tuple[Gap, ...]
    # Whether there may be further ones, be it in a gap or outside of the input.
    may_have_more: bool
    # Whether the policy allows, denies or passes anything, so that it matters to which workloads it applies.
    has_rules: bool
    _workloads: Workloads

    @cached_property
    def certain(self) -> tuple[NodeRef, ...]:
        """The workloads to which the policy certainly applies, by namespace and name."""
        return self._nodes(self.pods.certain)

    @cached_property
    def undecided(self) -> tuple[NodeRef, ...]:
        """The workloads of which it is not known whether the policy applies to them, by namespace and name."""
        return self._nodes(self.pods.undecided)

    def _nodes(self, members: int) -> tuple[NodeRef, ...]:
        return tuple(NodeRef(workload.ref) for workload in self._workloads.at(positions_in(members)))


def gaps_with_workloads(index: Index, namespace: str) -> Iterator[Gap]:
    """Find the gaps that may hold workloads, or their labels, in a namespace; anywhere if that is empty."""
    kinds = (POD,) if index.source == "the cluster" else WORKLOADS
    for gap in index.snapshot.gaps:
        is_near = not namespace or not gap.namespace or may_equal(gap.namespace, namespace)
        may_hold_any = any(
            gap.kind in {"", kind.kind}
            and gap.group in {None, kind.group}
            and (gap.kind or gap.declares is None or kind in gap.declares)
            for kind in kinds
        )
        if may_hold_any and is_near and namespace not in gap.besides:
            yield gap


def are_workloads_read(index: Index, namespace: str) -> bool:
    """Whether there are no workloads but those that were read, unless a gap holds them: in a namespace, or anywhere."""
    snapshot = index.snapshot
    if is_unknown(namespace) or not (snapshot.complete or (POD, namespace) in snapshot.listed):
        return False
    # Something of these is to be filled in, perhaps the very namespace.
    homeless = (ref for ref in index.candidates.with_unknown_names if ref.group_kind in WORKLOADS)
    return not (
        any(index.is_any_assumed(kind, namespace) for kind in WORKLOADS)
        or any(not namespace or may_equal(ref.namespace, namespace) for ref in homeless if is_unknown(ref.namespace))
    )
