"""All workloads of a snapshot by position, and sets of them by selectors, namespaces, nodes, addresses and ports."""

from __future__ import annotations

from functools import cached_property
from itertools import chain
from typing import TYPE_CHECKING, Final, TypeVar

from kubectl_policy.lazy import cached_method
from kubectl_policy.model import ObjectRef
from kubectl_policy.model.body import strings_in
from kubectl_policy.model.fields import Json, mappings_at, text_at
from kubectl_policy.model.kind_roles import POD, WORKLOADS
from kubectl_policy.model.unknown import has_placeholder
from kubectl_policy.model.world import grouped
from kubectl_policy.topology.workloads.addresses import AddressIndex
from kubectl_policy.topology.workloads.namespaces import NamespaceIndex
from kubectl_policy.topology.workloads.owners import Owners
from kubectl_policy.topology.workloads.pod_sets import LabelIndex, PodSet, are_open, bitmap
from kubectl_policy.topology.workloads.workload import Workload, workload_of

if TYPE_CHECKING:
    from collections.abc import Hashable, Iterable, Mapping, Sequence

    from kubectl_policy.model import Resource
    from kubectl_policy.model.index import Index

_Key = TypeVar("_Key", bound="Hashable")
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
        """Return the controllers whose template no Pod in their namespace has the labels of."""
        labels = LabelIndex([pod.labels for pod in pods])
        homes = _bitmaps((pod.ref.namespace, position) for position, pod in enumerate(pods))
        controllers: list[Workload] = []
        for resource in chain.from_iterable(map(self.index.of_kind, _CONTROLLERS)):
            workload = workload_of(resource)
            selector: Mapping[str, Json] = {"matchLabels": workload.labels}
            made = homes.get(resource.ref.namespace, 0) and labels.selected(selector).possible
            if not (made & homes.get(resource.ref.namespace, 0)) and not self._is_made(resource):
                controllers.append(workload)
        return controllers

    def _is_made(self, resource: Resource) -> bool:
        """Whether another controller that was read makes the Pods: a ReplicaSet of a Deployment, a Job of a CronJob."""
        return any(
            self.index.world.has(ObjectRef(kind, resource.ref.namespace, text_at(owner, "name")))
            for owner in mappings_at(resource.raw, "metadata.ownerReferences")
            for kind in _CONTROLLERS
            if kind.kind == text_at(owner, "kind")
        )

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
        labels = [workload.labels for workload in self.all]
        return LabelIndex(labels, (position for position, own in enumerate(labels) if are_open(own)))

    @cached_property
    def addresses(self) -> AddressIndex:
        """The workloads by their addresses."""
        return AddressIndex(self._present)

    @cached_property
    def by_node(self) -> Mapping[str, int]:
        """The bitmap of the workloads on each node, and under "" of those whose node is not known."""
        return _bitmaps((workload.node, position) for position, workload in self._present)

    @cached_method
    def by_named_port(self, name: str) -> Mapping[frozenset[tuple[str, int]], int]:
        """Return the workloads by the protocols and numbers of their ports with a name; those without are left out."""
        numbers = ((workload.named_ports(name), position) for position, workload in self._present)
        return _bitmaps((ports, position) for ports, position in numbers if ports)

    @cached_property
    def _namespaces(self) -> NamespaceIndex:
        return NamespaceIndex(self.index, self.by_namespace)

    def selected(self, namespaces: Mapping[str, Json] | str, pods: Mapping[str, Json]) -> PodSet:
        """Return the workloads with labels by one selector, in one namespace or in those by another selector."""
        homes = self.in_namespaces(namespaces)
        if not homes or not pods:
            return homes
        has_placeholders = any(map(has_placeholder, strings_in(pods)))
        return homes & self._labels.selected(pods, has_placeholders=has_placeholders)

    def in_namespaces(self, namespaces: Mapping[str, Json] | str) -> PodSet:
        """Return the workloads in one namespace, or in those that a selector selects."""
        if isinstance(namespaces, str):
            return PodSet.exactly(self.by_namespace.get(namespaces, 0))
        if not namespaces:
            return PodSet.exactly(self.everything)
        return self._namespaces.selected(namespaces)

    def at(self, members: Iterable[int]) -> tuple[Workload, ...]:
        """Return the workloads at some positions."""
        return tuple(self.all[position] for position in members)


def _by_namespace(workload: Workload) -> tuple[str, str, str]:
    return workload.ref.namespace, workload.ref.name, workload.ref.kind


def _bitmaps(pairs: Iterable[tuple[_Key, int]]) -> Mapping[_Key, int]:
    return {key: bitmap(positions) for key, positions in grouped(pairs).items()}
