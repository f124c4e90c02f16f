"""Connections of Gateways to backends: whether network policies let requests through to the Pods behind a Service."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

from msgspec import Meta, Struct

from kubectl_policy.model.kind_roles import GATEWAY, ROUTES, SERVICE
from kubectl_policy.questions.connections.connection import CheckedConnection, PortQuery, describe_connection
from kubectl_policy.questions.connections.endpoints import NamedEnd, end_of, gateway_pods
from kubectl_policy.topology.workloads.services import behind_service

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from kubectl_policy.analysis import Analysis
    from kubectl_policy.model import NodeRef, ObjectRef
    from kubectl_policy.topology import Path

# Of a route with more backends, the first ones: a verdict for each takes its time.
_MAX_BACKENDS = 200


class BackendConnection(Struct, frozen=True, kw_only=True):
    """The connections of the Pods of a Gateway to those of a backend."""

    gateway: Annotated[ObjectRef, Meta(description="The Gateway.")]
    backend: Annotated[NodeRef, Meta(description="The Service, and its port if the reference names one.")]
    allowed: Annotated[
        bool | None,
        Meta(description="Whether all of them are allowed; null if only some are, or if that is not known."),
    ]
    connections: Annotated[
        tuple[CheckedConnection, ...], Meta(description="The verdicts, by port and by pairs of workloads.")
    ]


def backend_connections(analysis: Analysis, subject: NodeRef, paths: Iterable[Path]) -> Iterator[BackendConnection]:
    """Yield the connections on the paths of a route or backend, as far as network policies have a say.

    Nothing is asked of a cluster: its Pods and network policies are read for questions about these alone.
    """
    kind = subject.object.group_kind
    if analysis.index.source == "the cluster" or not (kind in ROUTES or kind == SERVICE):
        return
    if not analysis.network.policies:
        return
    pairs = dict.fromkeys(pair for path in paths if (pair := _ends(path)))
    for gateway, backend in list(pairs)[:_MAX_BACKENDS]:
        source, destination = gateway_pods(analysis, gateway).certain, _behind(analysis, backend)
        if source and destination:
            port = PortQuery(backend.section) if backend.section else None
            end = NamedEnd(object=gateway, address="", members=source)
            answer = describe_connection(analysis, end, end_of(analysis, backend.object), port)
            yield BackendConnection(
                gateway=gateway, backend=backend, allowed=answer.allowed, connections=answer.connections
            )


def _ends(path: Path) -> tuple[ObjectRef, NodeRef] | None:
    """Return the Gateway and the Service on a path; None for a path without them."""
    gateways = (node.object for node in path if node.object.group_kind == GATEWAY)
    gateway, end = next(gateways, None), path[-1]
    return (gateway, end) if gateway and end.object.group_kind == SERVICE else None


def _behind(analysis: Analysis, backend: NodeRef) -> int:
    service = analysis.index.get(backend.object)
    return behind_service(analysis.workloads, service).certain if service else 0
