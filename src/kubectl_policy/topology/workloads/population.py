"""All workloads of a snapshot by position, and sets of them by selectors, namespaces, nodes, addresses and ports."""

from __future__ import annotations

from functools import cached_property
from itertools import chain
from typing import TYPE_CHECKING, Final, TypeAlias, TypeVar

from kubectl_policy.lazy import cached_method
from kubectl_policy.model.defaults import NAME_LABEL
from kubectl_policy.model.kind_roles import POD, WORKLOADS
from kubectl_policy.model.unknown import has_placeholder, is_unknown, may_equal
from kubectl_policy.model.world import grouped
from kubectl_policy.topology.workloads.addresses import AddressIndex
from kubectl_policy.topology.workloads.label_index import LabelIndex
from kubectl_policy.topology.workloads.owners import Owners
from kubectl_policy.topology.workloads.pod_sets import PodSet, bitmap, positions_in
from kubectl_policy.topology.workloads.workload import Workload, workload_of

if TYPE_CHECKING:
    from collections.abc import Hashable, Iterable, Mapping, Sequence

    from kubectl_policy.model import ObjectRef
    from kubectl_policy.model.fields import Json
    from kubectl_policy.model.index import Index

_Key = TypeVar("_Key", bound="Hashable")
# Protocols and numbers of ports with a name, and the protocols of ports that may have it.
NamedPorts: TypeAlias = "tuple[frozenset[tuple[str, int]], frozenset[str]]"
_CONTROLLERS: Final = tuple(kind for kind in WORKLOADS if kind != POD)


class Workloads:
    """The Pods of a snapshot that have not ended, and the controllers of which no Pod was read.

    Each has a position, in the order of namespaces and names; a `PodSet` is a set of positions.
    """

    def __init__(self, index: Index, absent: Iterable[ObjectRef] = ()) -> None:
        """Read nothing before it is asked for.

        `absent` are workloads of another state: they get positions, so that both states have the same ones, and are in
        no set.
        """
        self.index = index
        self._absent = frozenset(absent)

    @cached_property
    def all(self) -> tuple[Workload, ...]:
        """The workloads by position, also the absent ones."""
        pods = [pod for pod in map(workload_of, self.index.of_kind(POD)) if not pod.is_finished]
        # A cluster runs what its Pods are; a controller without Pods has no connection.
        controllers = [] if self.index.source == "the cluster" else self._without_pods(pods)
        absent = [Workload(ref, {}) for ref in self._absent]
        return (
            tuple(sorted((*pods, *controllers, *absent), key=_by_namespace)) if controllers or absent else tuple(pods)
        )

    @cached_property
    def _present(self) -> tuple[tuple[int, Workload], ...]:
        pairs = enumerate(self.all)
        return tuple((position, workload) for position, workload in pairs if workload.ref not in self._absent)

    def _without_pods(self, pods: Sequence[Workload]) -> list[Workload]:
        """Return the controllers of which no Pod was read, and which no other controller that was read made."""
        controllers = [workload_of(resource) for kind in _CONTROLLERS for resource in self.index.of_kind(kind)]
        refs = {controller.ref for controller in controllers}
        makers = [self.owners.of(pod) for pod in pods] if controllers else []
        with_pods = {*makers, *filter(None, (pod.controller for pod in pods))}
        # Pods that say nothing of a controller that was read may have the labels of its template.
        orphans = [pod for pod, maker in zip(pods, makers, strict=False) if maker not in refs]
        labels = LabelIndex([pod.labels for pod in orphans])
        homes = _bitmaps((pod.ref.namespace, position) for position, pod in enumerate(orphans))

        def has_pods(controller: Workload) -> bool:
            if controller.ref in with_pods:
                return True
            template_labels = controller.labels
            alike = labels.selected({"matchLabels": template_labels}).certain if template_labels else 0
            return bool(alike & homes.get(controller.ref.namespace, 0))

        makers_of_controllers = map(self.owners.of, controllers)
        return [
            controller
            for controller, maker in zip(controllers, makers_of_controllers, strict=True)
            if (maker == controller.ref or maker not in refs) and not (controller.is_finished or has_pods(controller))
        ]

    @cached_property
    def _positions(self) -> Mapping[ObjectRef, int]:
        return {workload.ref: position for position, workload in enumerate(self.all)}

    def position_of(self, ref: ObjectRef) -> int | None:
        """Return the position of a workload; None for what is none, or has ended."""
        return self._positions.get(ref)

    @cached_property
    def owners(self) -> Owners:
        """The controllers of the workloads."""
        return Owners(self.index)

    def owner_of(self, workload: Workload) -> ObjectRef:
        """Return the controller of a workload; the workload itself if it has none."""
        return self.owners.of(workload)

    @cached_property
    def everything(self) -> int:
        """The bitmap of all workloads."""
        return bitmap(position for position, _ in self._present)

    @cached_property
    def on_host_network(self) -> int:
        """The bitmap of the workloads that use the network of their nodes."""
        return bitmap(position for position, workload in self._present if workload.is_on_host_network)

    @cached_property
    def by_namespace(self) -> Mapping[str, int]:
        """The bitmap of the workloads in each namespace."""
        return _bitmaps((workload.ref.namespace, position) for position, workload in self._present)

    @cached_property
    def _labels(self) -> LabelIndex:
        return LabelIndex([workload.labels for workload in self.all])

    @cached_property
    def addresses(self) -> AddressIndex:
        """The workloads by their addresses."""
        return AddressIndex(self._present)

    @cached_property
    def by_node(self) -> Mapping[str, int]:
        """The bitmap of the workloads on each node, and under "" of those whose node is not known."""
        return _bitmaps((workload.node, position) for position, workload in self._present)

    @cached_method
    def by_named_port(self, name: str) -> Mapping[NamedPorts, int]:
        """Return the workloads by their ports with a name, certain and possible ones; those without are left out."""
        positions = {*self._by_port_name.get(name, ()), *chain.from_iterable(self._by_open_port_name.values())}
        ports = (
            ((workload.named_ports(name), workload.open_ports(name)), position)
            for position, workload in ((position, self.all[position]) for position in sorted(positions))
        )
        return _bitmaps((named, position) for named, position in ports if any(named))

    @cached_property
    def _by_port_name(self) -> Mapping[str, Sequence[int]]:
        return grouped((name, position) for position, workload in self._present for name in workload.port_names)

    @cached_property
    def _by_open_port_name(self) -> Mapping[str, Sequence[int]]:
        return {name: positions for name, positions in self._by_port_name.items() if has_placeholder(name)}

    def selected(self, namespaces: Mapping[str, Json] | str, pods: Mapping[str, Json]) -> PodSet:
        """Return the workloads with labels by one selector, in one namespace or in those by another selector."""
        homes = self.in_namespaces(namespaces)
        return homes & self._labels.selected(pods) if homes and pods else homes

    def in_namespaces(self, namespaces: Mapping[str, Json] | str) -> PodSet:
        """Return the workloads in one namespace, or in those that a selector selects."""
        if isinstance(namespaces, str):
            return self._in_namespace(namespaces)
        if not namespaces:
            return PodSet.exactly(self.everything)
        homes = self._namespace_labels.selected(namespaces)
        return PodSet(self._living_in(homes.certain), self._living_in(homes.possible))

    @cached_method
    def _in_namespace(self, namespace: str) -> PodSet:
        """Return the workloads in a namespace, and those that may be: of either it may not be known which one it is."""
        members = possible = self.by_namespace.get(namespace, 0)
        for home in self.by_namespace if is_unknown(namespace) else filter(is_unknown, self.by_namespace):
            possible |= self.by_namespace[home] if may_equal(namespace, home) else 0
        return PodSet(members, possible)

    @cached_property
    def _namespace_labels(self) -> LabelIndex:
        """The labels of the namespaces that have workloads, in their order."""
        labels_read = [self.index.namespace_labels(name) for name in self.by_namespace]
        names = [
            # Of a namespace that nothing states, not even the name is known.
            {} if is_unknown(name) and not has_placeholder(name) else {NAME_LABEL: name}
            for name in self.by_namespace
        ]
        labels = [{**(read or {}), **name} for read, name in zip(labels_read, names, strict=True)]
        return LabelIndex(labels, bitmap(position for position, read in enumerate(labels_read) if read is None))

    @cached_method
    def _living_in(self, homes: int) -> int:
        """Return the workloads in some namespaces, which are given by their positions."""
        bitmaps = tuple(self.by_namespace.values())
        members = 0
        for position in positions_in(homes):
            members |= bitmaps[position]
        return members

    def at(self, members: Iterable[int]) -> tuple[Workload, ...]:
        """Return the workloads at some positions."""
        return tuple(self.all[position] for position in members)


def _by_namespace(workload: Workload) -> tuple[str, str, str]:
    return workload.ref.namespace, workload.ref.name, workload.ref.kind


def _bitmaps(pairs: Iterable[tuple[_Key, int]]) -> Mapping[_Key, int]:
    return {key: bitmap(positions) for key, positions in grouped(pairs).items()}
