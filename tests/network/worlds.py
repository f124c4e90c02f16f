"""Networks of manifests, and short ways to ask about them."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

from kubectl_policy.model import GroupKind, ObjectRef, Resource, Snapshot
from kubectl_policy.model.index import Index
from kubectl_policy.network import read_network
from kubectl_policy.network.connection import Connection, Endpoint, SideDecision, sides_of
from kubectl_policy.network.network import Network
from kubectl_policy.network.policy import Protocol
from kubectl_policy.topology.workloads.workload import parse_address
from tests.build import ORIGIN

Manifest = dict[str, Any]
_CLUSTER_SCOPED = {"Namespace", "Node", "AdminNetworkPolicy", "BaselineAdminNetworkPolicy", "ClusterNetworkPolicy"}


def resource_of(manifest: Manifest) -> Resource:
    """A manifest as it is read."""
    metadata = manifest["metadata"]
    namespace = "" if manifest["kind"] in _CLUSTER_SCOPED else metadata.get("namespace", "default")
    group = manifest["apiVersion"].rpartition("/")[0]
    return Resource(ObjectRef(GroupKind(group, manifest["kind"]), namespace, metadata["name"]), ORIGIN, manifest)


def network_of(manifests: Iterable[Manifest], *, complete: bool = True) -> Network:
    """The network that some manifests declare; there are no further objects if they are complete."""
    snapshot = Snapshot(tuple(map(resource_of, manifests)), complete=complete)
    return read_network(Index(snapshot))


def end(network: Network, name: str) -> Endpoint:
    """One end of a connection: `namespace/name` of a workload, or an address."""
    if "/" not in name:
        return Endpoint(address=parse_address(name))
    position = next(
        position
        for position, workload in enumerate(network.workloads.all)
        if f"{workload.ref.namespace}/{workload.ref.name}" == name
    )
    return Endpoint(position=position)


def sides(network: Network, source: str, destination: str, port: str = "80/TCP") -> dict[str, SideDecision]:
    """What the policies on both ends of a connection decide, by direction; a port is written as `80/TCP`."""
    number, protocol = port.split("/")
    connection = Connection(
        source=end(network, source),
        destination=end(network, destination),
        protocol=protocol_of(protocol),
        port=int(number),
    )
    return {side.direction: side for side in sides_of(network, connection)}


def protocol_of(text: str) -> Protocol:
    """A protocol by its name."""
    return {"TCP": "TCP", "UDP": "UDP", "SCTP": "SCTP"}[text]  # type: ignore[return-value]


def verdict(decisions: Sequence[bool | None]) -> bool | None:
    """Whether a connection is allowed by what its sides say."""
    return False if False in decisions else None if None in decisions else True
