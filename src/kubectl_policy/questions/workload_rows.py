"""Workloads as rows: their network policies, whether these isolate them, and the Services in front of them."""

from __future__ import annotations

from functools import cached_property
from typing import TYPE_CHECKING, Annotated, Final, Literal, TypeAlias

from msgspec import Meta, Struct
from msgspec.structs import replace

from kubectl_policy.lazy import cached_method
from kubectl_policy.model import ObjectRef  # noqa: TC001 (answers are encoded by these types)
from kubectl_policy.model.fields import text_at
from kubectl_policy.model.kind_roles import POD
from kubectl_policy.model.world import grouped
from kubectl_policy.network.isolation import Isolation, SelectingPolicies, policies_by_position
from kubectl_policy.network.policy import DIRECTIONS
from kubectl_policy.questions.blind_spots.network import unevaluated, unread_for_network
from kubectl_policy.questions.object_rows import Listed, ObjectRow, listed_object
from kubectl_policy.topology.workloads.services import services_by_position
from kubectl_policy.topology.workloads.workload import Workload, workload_of

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence

    from kubectl_policy.analysis import Analysis
    from kubectl_policy.model import Resource
    from kubectl_policy.network.policy import Direction
    from kubectl_policy.network.unevaluated import UnevaluatedPolicy
    from kubectl_policy.questions.blind_spots.unknowns import BlindSpot

# Of a workload whose Pods differ, `mixed`.
WorkloadIsolation: TypeAlias = Literal["open", "restricted", "isolated", "mixed", "unknown"]

_ISOLATION: Final = (
    "What network policies make of {}: isolated by a NetworkPolicy, restricted by denying rules of Admin or Baseline"
    " policies alone, or open; mixed if Pods differ; null if no Pod of the workload runs."
)
_SERVICES: Final = "The Services that select the Pods, or some of them."


class WorkloadSummary(Struct, frozen=True, kw_only=True):
    """The Pods of a workload, what network policies make of their connections, and the Services in front of them."""

    pods: Annotated[tuple[ObjectRef, ...], Meta(description="The Pods that were read of it; of a Pod, itself.")]
    has_all_pods: Annotated[bool, Meta(description="False if there may be Pods of it that could not be read.")]
    ingress: Annotated[WorkloadIsolation | None, Meta(description=_ISOLATION.format("ingress"))]
    egress: Annotated[WorkloadIsolation | None, Meta(description=_ISOLATION.format("egress"))]
    host_network: Annotated[
        bool,
        Meta(description="Whether it uses the network of its nodes, where the effect of NetworkPolicies is undefined."),
    ]
    services: Annotated[tuple[ObjectRef, ...], Meta(description=_SERVICES)]


class WorkloadRow(ObjectRow, frozen=True, kw_only=True):
    """A controller of Pods, or a Pod."""

    workload: Annotated[WorkloadSummary, "inline"]


class PodRow(WorkloadRow, frozen=True, kw_only=True):
    """A Pod."""

    controller: Annotated[
        ObjectRef | None, Meta(description="The controller of the Pod, for which it runs; null if it has none.")
    ]

    @property
    def node(self) -> Annotated[str, Meta()]:
        """The name of the node; empty if it is not known."""
        return Workload(self.ref, self.raw).node

    @property
    def addresses(self) -> Annotated[tuple[str, ...], Meta()]:
        """The addresses of the Pod; empty if they are not known."""
        return tuple(map(str, Workload(self.ref, self.raw).addresses))

    @property
    def phase(self) -> Annotated[str, Meta()]:
        """The reported phase in the status; empty if it is not reported."""
        return text_at(self.raw, "status.phase")

    @property
    def finished(self) -> Annotated[bool, Meta()]:
        """Whether the Pod has ended, so that it has no connections."""
        return Workload(self.ref, self.raw).is_finished


def workload_rows(analysis: Analysis, resources: Iterable[Resource]) -> tuple[WorkloadRow, ...]:
    """Return the rows of workloads of any kinds."""
    facts = _Facts(analysis)
    return tuple(_row(facts, resource) for resource in resources)


def pod_rows(analysis: Analysis, resources: Iterable[Resource]) -> tuple[PodRow, ...]:
    """Return the rows of Pods."""
    facts = _Facts(analysis)
    return tuple(_pod_row(facts, resource) for resource in resources)


class _Connections(Struct, frozen=True, kw_only=True):
    """The network policies of the Pods of a workload, and what they make of its connections in each direction."""

    policies: tuple[ObjectRef, ...]
    undecided: tuple[ObjectRef, ...]
    isolation: tuple[WorkloadIsolation, ...]
    # The policies whose rules are not evaluated.
    unevaluated: tuple[BlindSpot, ...]


class _Facts:
    """Facts that rows share."""

    def __init__(self, analysis: Analysis) -> None:
        self.analysis = analysis
        self.workloads = analysis.workloads

    @cached_property
    def selecting(self) -> Sequence[SelectingPolicies]:
        return policies_by_position(self.analysis.network)

    @cached_property
    def pods_of(self) -> Mapping[ObjectRef, Sequence[ObjectRef]]:
        """The Pods of each controller, also of a ReplicaSet or a Job that has a controller itself."""
        return grouped(
            (controller, resource.ref)
            for resource in self.analysis.index.of_kind(POD)
            for controller in self._controllers(self.workload(resource))
        )

    def _controllers(self, pod: Workload) -> Iterator[ObjectRef]:
        owner = self.workloads.owner_of(pod)
        if owner != pod.ref:
            yield owner
        if pod.controller and pod.controller != owner:
            yield pod.controller

    def workload(self, resource: Resource) -> Workload:
        """Return the workload that an object is."""
        position = self.workloads.position_of(resource.ref)
        return workload_of(resource) if position is None else self.workloads.all[position]

    def positions_of(self, pods: Iterable[ObjectRef]) -> list[int]:
        """Return the positions of Pods that run, or of a controller that stands for its Pods."""
        positions = map(self.workloads.position_of, pods)
        return [position for position in positions if position is not None]

    def connections_of(self, positions: Iterable[int], namespace: str) -> _Connections:
        """Return the network policies of the workloads at some positions in a namespace."""
        positions = [*positions]
        selecting = dict.fromkeys(self.selecting[position] for position in positions)
        others = self.analysis.unevaluated.by_position
        applying = dict.fromkeys(entry for position in positions for entry in others.get(position, ()))
        return self._connections((tuple(selecting), tuple(applying), namespace))

    @cached_method
    def _connections(
        self, key: tuple[tuple[SelectingPolicies, ...], tuple[tuple[UnevaluatedPolicy, bool], ...], str]
    ) -> _Connections:
        selecting, applying, namespace = key
        certain = dict.fromkeys(policy.ref for policies in selecting for policy in policies.certain)
        undecided = dict.fromkeys(policy.ref for policies in selecting for policy in policies.undecided)
        # Labels that were not read leave policies undecided.
        are_all_read = not self.unread_policies(namespace)
        others = dict.fromkeys(policy.ref for policy, is_certain in applying if is_certain)
        possible = dict.fromkeys(policy.ref for policy, is_certain in applying if not is_certain)
        return _Connections(
            policies=tuple(certain),
            undecided=tuple(ref for ref in undecided if ref not in certain),
            isolation=tuple(
                _isolation(
                    selecting,
                    direction,
                    is_complete=are_all_read
                    and not any(policy.concerns(direction, outside=True) for policy, _ in applying),
                )
                for direction in DIRECTIONS
            ),
            unevaluated=tuple(unevaluated(others, possible)),
        )

    @cached_method
    def services_in(self, namespace: str) -> Mapping[int, Sequence[ObjectRef]]:
        return services_by_position(self.workloads, namespace)

    def services_at(self, positions: Iterable[int], namespace: str) -> tuple[ObjectRef, ...]:
        """Return the Services in front of the workloads at some positions in a namespace, by name."""
        services = self.services_in(namespace)
        return tuple(sorted({ref for position in positions for ref in services.get(position, ())})) if services else ()

    @cached_method
    def unread_policies(self, namespace: str) -> tuple[BlindSpot, ...]:
        """Return what was not read and may hold network policies of workloads in a namespace."""
        return unread_for_network(self.analysis, [namespace], (), labels=False)

    @cached_method
    def unread_labels(self, namespace: str) -> tuple[BlindSpot, ...]:
        """Return `unread_policies` and the labels by which it is unknown whether a policy selects workloads."""
        return unread_for_network(self.analysis, [namespace], ())

    @cached_method
    def unread_pods(self, namespace: str) -> tuple[BlindSpot, ...]:
        """Return what was not read and may hold Pods in a namespace."""
        return unread_for_network(self.analysis, (), [namespace], labels=False)

    def is_idle(self, workload: Workload, pods: Collection[ObjectRef]) -> bool:
        """Whether no Pod runs of a workload at no position.

        In manifests, a controller has none where there are Pods with its labels, which may be those of another one.
        """
        is_live = self.analysis.index.source == "the cluster"
        return bool(pods) or is_live or self.workloads.owner_of(workload) != workload.ref


def _isolation(selecting: Iterable[SelectingPolicies], direction: Direction, *, is_complete: bool) -> WorkloadIsolation:
    """Return the isolation of all Pods; what was not read, or is not evaluated, may be a policy that isolates them."""
    isolations: set[Isolation] = {policies.isolation(direction) for policies in selecting}
    if not is_complete:
        isolations = {isolation if isolation == "isolated" else "unknown" for isolation in isolations}
    if len(isolations) > 1:
        return "mixed"
    return isolations.pop() if isolations else "unknown"


def _row(facts: _Facts, resource: Resource) -> WorkloadRow:
    ref, workload = resource.ref, facts.workload(resource)
    pods = (ref,) if workload.is_pod else tuple(facts.pods_of.get(ref, ()))
    positions = facts.positions_of([ref] if workload.is_pod else (*pods, ref))
    unread_pods = () if workload.is_pod else facts.unread_pods(ref.namespace)
    is_idle = not (positions or unread_pods) and facts.is_idle(workload, pods)
    connections = facts.connections_of(positions, ref.namespace)
    ingress, egress = (None, None) if is_idle else connections.isolation
    return WorkloadRow(
        listed=_listed(facts, resource, connections, unread_pods),
        workload=WorkloadSummary(
            pods=pods,
            has_all_pods=not unread_pods,
            ingress=ingress,
            egress=egress,
            host_network=workload.is_on_host_network,
            services=facts.services_at(positions, ref.namespace),
        ),
    )


def _pod_row(facts: _Facts, resource: Resource) -> PodRow:
    row = _row(facts, resource)
    owner = facts.workloads.owner_of(facts.workload(resource))
    return PodRow(listed=row.listed, workload=row.workload, controller=None if owner == resource.ref else owner)


def _listed(facts: _Facts, resource: Resource, connections: _Connections, unread_pods: tuple[BlindSpot, ...]) -> Listed:
    """Return what every row has; policies of other kinds count where they name the workload."""
    namespace = resource.ref.namespace
    unread = facts.unread_labels(namespace) if connections.undecided else facts.unread_policies(namespace)
    unseen = tuple(dict.fromkeys((*unread, *connections.unevaluated, *unread_pods)))
    if not facts.analysis.attachments_to(resource.ref):
        return Listed(
            resource=resource,
            policies=connections.policies,
            undecided_policies=(),
            possible_policies=connections.undecided,
            targeted_by=(),
            reported=(),
            unseen=unseen,
        )
    listed = listed_object(facts.analysis, resource)
    return replace(
        listed,
        policies=(*listed.policies, *connections.policies),
        possible_policies=(*listed.possible_policies, *connections.undecided),
        reported=(),
        unseen=tuple(dict.fromkeys((*listed.unseen, *unseen))),
    )
