"""Sets of workloads as answers name them: all of them, whole namespaces, and controllers with numbers of their Pods."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Final

from msgspec import Meta, Struct

from kubectl_policy.lazy import cached_method
from kubectl_policy.model import ObjectRef  # noqa: TC001 (answers are encoded by these types)
from kubectl_policy.topology.workloads.pod_sets import positions_in

if TYPE_CHECKING:
    from collections.abc import Iterable

    from kubectl_policy.topology.workloads import Workloads


# A namespace is named with exceptions if it has more than so many groups in a set for each one that is not.
_MANY: Final = 6


_EVERYTHING: Final = (
    "Whether the set holds every workload but those in `excepted`; those on the network of their nodes do not count."
)


class WorkloadGroup(Struct, frozen=True, order=True):
    """Workloads of one controller."""

    controller: Annotated[ObjectRef, Meta(description="The controller; a Pod if it has none.")]
    number: Annotated[int, Meta(description="The number of its Pods in the set; 1 for a controller without Pods.")]


class WorkloadSet(Struct, frozen=True, kw_only=True):
    """A set of workloads."""

    number: Annotated[int, Meta(description="The number of workloads: Pods, and controllers without Pods.", ge=0)]
    everything: Annotated[bool, Meta(description=_EVERYTHING)]
    namespaces: Annotated[
        tuple[str, ...],
        Meta(description="The namespaces, of several workloads, of which the set holds all but those in `excepted`."),
    ]
    groups: Annotated[tuple[WorkloadGroup, ...], Meta(description="The other workloads, by controller.")]
    excepted: Annotated[
        tuple[WorkloadGroup, ...],
        Meta(description="The workloads in these namespaces that are not in the set, by controller; few or none."),
    ] = ()


class _Part(Struct, frozen=True, kw_only=True):
    """The part of a set in one namespace."""

    # Whether it is the whole namespace, but for the groups.
    is_whole: bool
    groups: tuple[WorkloadGroup, ...]


class WorkloadSets:
    """Descriptions of many sets of workloads, which have parts in common."""

    def __init__(self, workloads: Workloads) -> None:
        """Describe nothing before it is asked for."""
        self._workloads = workloads
        self._counted = workloads.everything & ~workloads.on_host_network

    @cached_method
    def of(self, members: int) -> WorkloadSet:
        """Describe the workloads at some positions."""
        parts = {
            namespace: self._part(namespace, inhabitants & members & self._counted)
            for namespace, inhabitants in sorted(self._workloads.by_namespace.items())
            if inhabitants & self._counted
        }
        whole = [namespace for namespace, part in parts.items() if part.is_whole]
        named = [group for part in parts.values() if not part.is_whole for group in part.groups]
        is_everything = members & self._counted == self._counted or len(whole) == len(parts)
        return WorkloadSet(
            number=members.bit_count(),
            everything=is_everything,
            namespaces=tuple(whole),
            groups=tuple(sorted((*named, *self._groups(members & ~self._counted)))),
            excepted=tuple(sorted(group for namespace in whole for group in parts[namespace].groups)),
        )

    @cached_method
    def _part(self, namespace: str, members: int) -> _Part:
        inhabitants = self._workloads.by_namespace[namespace] & self._counted
        # A namespace of one workload is better named by that.
        if members == inhabitants and members & (members - 1):
            return _Part(is_whole=True, groups=())
        groups, rest = self._groups(members), self._groups(inhabitants & ~members)
        is_whole = bool(rest) and len(groups) > _MANY * len(rest)
        return _Part(is_whole=is_whole, groups=rest if is_whole else groups)

    def _groups(self, members: int) -> tuple[WorkloadGroup, ...]:
        numbers: dict[ObjectRef, int] = {}
        for position in positions_in(members):
            controller = self._workloads.owner_of(self._workloads.all[position])
            numbers[controller] = numbers.get(controller, 0) + 1
        return tuple(WorkloadGroup(controller, number) for controller, number in numbers.items())


def workload_set(workloads: Workloads, members: int) -> WorkloadSet:
    """Describe the workloads at some positions."""
    return WorkloadSets(workloads).of(members)


def join_pairs(pairs: Iterable[tuple[int, int]]) -> list[tuple[int, int]]:
    """Join pairs of sets that have one of their sets in common: the first one, then the second one, or the reverse."""
    listed = [*pairs]
    by_first = _by_second(_by_second(listed))
    by_second = [(first, second) for second, first in _by_second(_by_second((b, a) for a, b in listed))]
    return min(by_first, by_second, key=len)


def _by_second(pairs: Iterable[tuple[int, int]]) -> list[tuple[int, int]]:
    """Join the second sets of pairs with the same first one; in the result, the joined sets are the first ones."""
    seconds: dict[int, int] = {}
    for first, second in pairs:
        seconds[first] = seconds.get(first, 0) | second
    return [(second, first) for first, second in seconds.items()]
