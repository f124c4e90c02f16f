"""Workloads behind Services and Gateways: by selectors and EndpointSlices, with the ports that requests reach there."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Final

from msgspec import Meta, Struct

from kubectl_policy.model import GroupKind, ObjectRef
from kubectl_policy.model.fields import integer_at, labels_of, mapping_at, mappings_at, strings_at, text_at, value_at
from kubectl_policy.model.kind_roles import POD, SERVICE
from kubectl_policy.model.world import grouped
from kubectl_policy.topology.workloads.pod_sets import PodSet, positions_in
from kubectl_policy.topology.workloads.workload import parse_address

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

    from kubectl_policy.model import Resource
    from kubectl_policy.profiles.controllers import PodLabels
    from kubectl_policy.topology.workloads.population import Workloads
    from kubectl_policy.topology.workloads.workload import Workload

_ENDPOINT_SLICE: Final = GroupKind("discovery.k8s.io", "EndpointSlice")
_SERVICE_NAME: Final = "kubernetes.io/service-name"
# "Generated resources ... should have this label with the name of the Gateway" (GEP-1762).
GATEWAY_NAME: Final = "gateway.networking.k8s.io/gateway-name"


class ServicePort(Struct, frozen=True):
    """A port of a Service, and the port of its Pods to which it leads."""

    port: Annotated[int, Meta(description="The port of the Service.")]
    protocol: Annotated[str, Meta(description="TCP, UDP or SCTP.")]
    name: Annotated[str, Meta(description="The name of the port; empty if it has none.")]
    # The number or the name of a port of the Pods.
    target: int | str

    def numbers_at(self, workload: Workload) -> tuple[int, ...]:
        """Return the ports of a workload to which the port leads; none if it has no port of that name."""
        if isinstance(self.target, int):
            return (self.target,)
        return tuple(sorted(number for _, number in workload.named_ports(self.target, self.protocol)))


def service_ports(service: Resource) -> tuple[ServicePort, ...]:
    """Return the ports of a Service.

    "If this [targetPort] is not specified, the value of the 'port' field is used" (ServicePort).
    """
    ports: list[ServicePort] = []
    for entry in mappings_at(service.raw, "spec.ports"):
        number = integer_at(entry, "port")
        if number is not None:
            target = value_at(entry, "targetPort")
            is_set = isinstance(target, int | str) and not isinstance(target, bool) and bool(target)
            ports.append(
                ServicePort(
                    number,
                    text_at(entry, "protocol") or "TCP",
                    text_at(entry, "name"),
                    target if is_set and isinstance(target, int | str) else number,
                )
            )
    return tuple(ports)


def behind_service(workloads: Workloads, service: Resource) -> PodSet:
    """Return the workloads that a Service selects; without a selector, those in its EndpointSlices."""
    selector = mapping_at(service.raw, "spec.selector")
    if selector:
        return workloads.selected(service.ref.namespace, {"matchLabels": selector})
    members = 0
    for endpoint_slice in workloads.index.of_kind_in(_ENDPOINT_SLICE, service.ref.namespace):
        if labels_of(endpoint_slice.raw).get(_SERVICE_NAME) == service.ref.name:
            for position in _endpoints(workloads, endpoint_slice):
                members |= position
    return PodSet.exactly(members)


def _endpoints(workloads: Workloads, endpoint_slice: Resource) -> Iterator[int]:
    """Yield the workloads, as sets, that the endpoints of a slice name or have the addresses of."""
    for endpoint in mappings_at(endpoint_slice.raw, "endpoints"):
        name = text_at(endpoint, "targetRef.name")
        position = workloads.position_of(ObjectRef(POD, endpoint_slice.ref.namespace, name))
        if position is not None:
            yield 1 << position
        for text in strings_at(endpoint, "addresses"):
            address = parse_address(text)
            yield workloads.addresses.at(address) if address else 0


def services_of(workloads: Workloads, position: int) -> tuple[Resource, ...]:
    """Return the Services in front of a workload, by name."""
    namespace = workloads.all[position].ref.namespace
    services = workloads.index.of_kind_in(SERVICE, namespace)
    return tuple(service for service in services if behind_service(workloads, service).has(position))


def services_by_position(workloads: Workloads, namespace: str) -> Mapping[int, Sequence[ObjectRef]]:
    """Return the Services in front of each workload of a namespace, by name."""
    return grouped(
        (position, service.ref)
        for service in workloads.index.of_kind_in(SERVICE, namespace)
        for position in positions_in(behind_service(workloads, service).certain)
    )


def behind_gateway(workloads: Workloads, gateway: ObjectRef, labels: Iterable[PodLabels]) -> PodSet:
    """Return the workloads that serve a Gateway by their labels: the standard one, or those of its controllers."""
    members = workloads.selected(gateway.namespace, {"matchLabels": {GATEWAY_NAME: gateway.name}})
    for pair in labels:
        owned = {"matchLabels": {pair.name: gateway.name, pair.namespace: gateway.namespace}}
        members |= workloads.selected({}, owned)
    return members
