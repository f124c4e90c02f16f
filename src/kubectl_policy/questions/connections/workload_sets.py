"""Sets of workloads as answers name them: all of them, whole namespaces, and controllers with numbers of their Pods."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

from msgspec import Meta, Struct

from kubectl_policy.model import ObjectRef  # noqa: TC001 (answers are encoded by these types)
from kubectl_policy.topology.workloads.pod_sets import positions_in

if TYPE_CHECKING:
    from kubectl_policy.topology.workloads import Workloads


class WorkloadGroup(Struct, frozen=True, order=True):
    """Workloads of one controller."""

    controller: Annotated[ObjectRef, Meta(description="The controller; a Pod if it has none.")]
    number: Annotated[int, Meta(description="The number of its Pods in the set; 1 for a controller without Pods.")]


class WorkloadSet(Struct, frozen=True, kw_only=True):
    """A set of workloads."""

    number: Annotated[int, Meta(description="The number of workloads: Pods, and controllers without Pods.", ge=0)]
    everything: Annotated[
        bool,
        Meta(description="Whether the set holds every workload; those on the network of their nodes do not count."),
    ]
    namespaces: Annotated[
        tuple[str, ...], Meta(description="The namespaces of which the set holds every workload, and more than one.")
    ]
    groups: Annotated[tuple[WorkloadGroup, ...], Meta(description="The workloads in other namespaces, by controller.")]


def workload_set(workloads: Workloads, members: int) -> WorkloadSet:
    """Describe the workloads at some positions."""
    counted = workloads.everything & ~workloads.on_host_network
    everything = members & counted == counted
    whole: list[str] = []
    remaining = members
    for namespace, inhabitants in sorted(workloads.by_namespace.items()):
        inside = inhabitants & counted
        # A namespace of one workload is better named by that.
        if inside and inside & members == inside and inside & (inside - 1):
            whole.append(namespace)
            remaining &= ~inside
    numbers: dict[ObjectRef, int] = {}
    for position in positions_in(remaining):
        controller = workloads.owners.of(workloads.all[position])
        numbers[controller] = numbers.get(controller, 0) + 1
    return WorkloadSet(
        number=members.bit_count(),
        everything=everything,
        namespaces=tuple(whole),
        groups=tuple(WorkloadGroup(controller, number) for controller, number in sorted(numbers.items())),
    )
