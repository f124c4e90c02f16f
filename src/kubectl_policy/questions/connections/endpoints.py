"""Ends of a connection that a user names: workloads, the Pods behind a Service or Gateway, or an address."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

from msgspec import Meta, Struct

from kubectl_policy.errors import NotFoundError, UsageError
from kubectl_policy.model.fields import text_at
from kubectl_policy.model.kind_roles import GATEWAY, NAMESPACE, POD, SERVICE, WORKLOADS
from kubectl_policy.topology.workloads.pod_sets import bitmap
from kubectl_policy.topology.workloads.services import ServicePort, behind_gateway, behind_service, service_ports

if TYPE_CHECKING:
    from ipaddress import IPv4Address, IPv6Address

    from kubectl_policy.analysis import Analysis
    from kubectl_policy.model import GroupKind, ObjectRef
    from kubectl_policy.topology.workloads import PodSet


class NamedEnd(Struct, frozen=True, kw_only=True):
    """One end of a connection as it is named."""

    object: Annotated[ObjectRef | None, Meta(description="The object; null for an address.")]
    address: Annotated[str, Meta(description="The address, if it is that of no object that was read; else empty.")]
    # The workloads that are meant.
    members: int = 0
    # The ports of a Service.
    ports: tuple[ServicePort, ...] = ()
    ip: IPv4Address | IPv6Address | None = None


def has_connections(kind: GroupKind) -> bool:
    """Whether objects of a kind can be an end of a connection."""
    return kind in {*WORKLOADS, SERVICE, GATEWAY, NAMESPACE}


def end_at_address(analysis: Analysis, address: IPv4Address | IPv6Address) -> NamedEnd:
    """Return the end with an address: that of a Pod or a Service that was read, or one outside of the cluster."""
    workloads = analysis.workloads
    members = workloads.addresses.at(address)
    # The Pods on the network of one node share its address.
    if members and not members & (members - 1):
        ref = workloads.all[members.bit_length() - 1].ref
        return NamedEnd(object=ref, address="", members=members)
    for service in analysis.index.of_kind(SERVICE):
        if text_at(service.raw, "spec.clusterIP") == str(address):
            return end_of(analysis, service.ref)
    return NamedEnd(object=None, address=str(address), ip=address)


def end_of(analysis: Analysis, ref: ObjectRef) -> NamedEnd:
    """Return the end that an object is.

    Raises `NotFoundError` for an object without Pods, and `UsageError` for one that has no connections.
    """
    resource = analysis.index.get(ref)
    members = _members(analysis, ref)
    if not members:
        raise NotFoundError(f"{ref} {_why_none(analysis, ref)}", "name a Pod, a workload, a Service or an IP address")
    ports = service_ports(resource) if resource and ref.group_kind == SERVICE else ()
    return NamedEnd(object=ref, address="", members=members, ports=ports)


def _members(analysis: Analysis, ref: ObjectRef) -> int:
    workloads, kind = analysis.workloads, ref.group_kind
    if kind in WORKLOADS:
        position = workloads.position_of(ref)
        if position is not None:
            return 1 << position
        inhabitants = workloads.by_namespace.get(ref.namespace, 0)
        pairs = enumerate(workloads.all) if inhabitants and kind != POD else ()
        return bitmap(
            position
            for position, workload in pairs
            if workload.ref.namespace == ref.namespace and workloads.owners.of(workload) == ref
        )
    if kind == SERVICE:
        service = analysis.index.get(ref)
        return behind_service(workloads, service).possible if service else 0
    if kind == GATEWAY:
        return gateway_pods(analysis, ref).possible
    if kind == NAMESPACE:
        return workloads.by_namespace.get(ref.name, 0)
    hint = "name a Pod, a workload, a Service, a Gateway, a Namespace or an IP address"
    raise UsageError(f"{ref} has no connections", hint)


def gateway_pods(analysis: Analysis, gateway: ObjectRef) -> PodSet:
    """Return the workloads that serve a Gateway, as far as their labels say so."""
    profiles = analysis.topology.gateways.profiles_of(gateway)
    return behind_gateway(analysis.workloads, gateway, filter(None, (profile.pod_labels for profile in profiles)))


def _why_none(analysis: Analysis, ref: ObjectRef) -> str:
    resource = analysis.index.get(ref)
    if resource and ref.group_kind == POD:
        return f"has ended ({text_at(resource.raw, 'status.phase')}), so it has no connections"
    if ref.group_kind == GATEWAY:
        return "is served by no Pod that was read, as far as labels say so"
    return f"has no Pods in {analysis.index.source}"
