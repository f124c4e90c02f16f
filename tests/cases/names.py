"""Objects that the cases of several implementations ask about, and the names that cases have for objects."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from kubectl_policy import Analysis, GroupKind, NodeRef, ObjectRef, Path
from kubectl_policy.model.kind_roles import GATEWAY_API
from kubectl_policy.questions.predicted_conditions import PolicyCondition
from kubectl_policy.topology import Condition, controllers

Entry = dict[str, object]

WITH_RULES: Final = ("HTTPRoute", "GRPCRoute")
ROUTES: Final = (*WITH_RULES, "TLSRoute", "TCPRoute", "UDPRoute")
WITH_LISTENERS: Final = ("Gateway", "ListenerSet")


def identity(ref: ObjectRef) -> Entry:
    """Return the fields that say which object an entry is about."""
    return {"kind": ref.kind, "namespace": ref.namespace, "name": ref.name}


def slashed(ref: ObjectRef) -> str:
    """Return `Kind/namespace/name`, or `Kind/name` if cluster-scoped."""
    return f"{ref.kind}/{ref.qualified_name}"


def dashed(ref: ObjectRef) -> str:
    """Return `Kind/namespace/name`, with a dash for the namespace if cluster-scoped."""
    return f"{ref.kind}/{ref.namespace or '-'}/{ref.name}"


def reference(ref: ObjectRef, section: str = "", port: int | str | None = None) -> str:
    """Return `Kind/namespace/name#section:port`, without the parts that are absent."""
    return dashed(ref) + (f"#{section}" if section else "") + ("" if port is None else f":{port}")


def scoped_name(node: NodeRef) -> str:
    """Return `namespace/name`, with `/section` for a section."""
    return node.object.qualified_name + (f"/{node.section}" if node.section else "")


def listener_name(gateway: ObjectRef, listener: NodeRef) -> str:
    """Return `namespace/gateway/listener`, with the ListenerSet in between for a listener of one."""
    owner = "" if listener.object == gateway else f"/{listener.object.qualified_name}"
    return f"{gateway.qualified_name}{owner}/{listener.section}"


def outcome(condition: Condition | PolicyCondition) -> Entry:
    """Return the status and the reason of a condition."""
    return {"status": condition.status, "reason": condition.reason}


def objects(analysis: Analysis, *kinds: str) -> Iterator[ObjectRef]:
    """Yield the objects of some kinds of the Gateway API, kind by kind."""
    for kind in kinds:
        for resource in analysis.index.of_kind(GroupKind(GATEWAY_API, kind)):
            yield resource.ref


def sections(analysis: Analysis, *kinds: str) -> Iterator[tuple[int, NodeRef]]:
    """Yield the sections of the objects of some kinds, each with its position in its object."""
    for ref in objects(analysis, *kinds):
        for position, section in enumerate(analysis.topology.sections(ref)):
            yield position, NodeRef(ref, section)


def is_managed(analysis: Analysis, parent: ObjectRef, kind: GroupKind) -> bool:
    """Whether a parent is a Gateway of a policy kind's controllers, or a ListenerSet that such a Gateway admits."""
    topology = analysis.topology
    refs = (parent, *(node.object for node in topology.parents(NodeRef(parent))))
    gateways = (ref for ref in refs if ref.kind == "Gateway")
    names = analysis.registry.profile(kind).controllers
    return any(controllers.is_managed(topology, gateway, names) for gateway in gateways)


def listener_on(path: Path) -> tuple[ObjectRef, NodeRef] | None:
    """Return the Gateway and the listener on a path, or None if there is no listener on it."""
    gateways = [node.object for node in path if node.kind == "Gateway"]
    listeners = [node for node in path if node.kind in WITH_LISTENERS and node.section]
    return (gateways[0], listeners[-1]) if gateways and listeners else None
