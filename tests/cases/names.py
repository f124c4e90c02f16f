"""Which objects the cases of several implementations ask about, and the names that they have for them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from kubectl_policy import GroupKind, NodeRef
from kubectl_policy.model.fields import integer_at, items_at, text_at
from kubectl_policy.model.kinds import GATEWAY_API
from kubectl_policy.topology.controllers import managed

if TYPE_CHECKING:
    from collections.abc import Iterator

    from kubectl_policy import Analysis, ObjectRef, Path
    from kubectl_policy.questions.predicted.policies import PolicyCondition
    from kubectl_policy.topology import Condition


def identity(ref: ObjectRef) -> dict[str, object]:
    """The fields that say which object an entry is about."""
    return {"kind": ref.kind, "namespace": ref.namespace, "name": ref.name}


def slashed(ref: ObjectRef) -> str:
    """`Kind/namespace/name`, with a dash for the namespace of what has none."""
    return f"{ref.kind}/{ref.namespace or '-'}/{ref.name}"


def reference(ref: ObjectRef, section: str = "", port: int | None = None) -> str:
    """`Kind/namespace/name#section:port`, without what is not given."""
    return slashed(ref) + (f"#{section}" if section else "") + ("" if port is None else f":{port}")


def parent_reference(analysis: Analysis, route: ObjectRef, position: int, parent: ObjectRef) -> str:
    """The name of an entry of a route's `spec.parentRefs` that names a parent."""
    declared = items_at(analysis.index.raw(route), "spec.parentRefs")[position]
    return reference(parent, text_at(declared, "sectionName"), integer_at(declared, "port"))


def listener_name(gateway: ObjectRef, listener: NodeRef) -> str:
    """`namespace/gateway/listener`, with the ListenerSet in between if the listener is one of its own."""
    owner = "" if listener.object == gateway else f"/{listener.object.qualified_name}"
    return f"{gateway.qualified_name}{owner}/{listener.section}"


def scoped_name(node: NodeRef) -> str:
    """`namespace/name`, with `/section` for a section."""
    return node.object.qualified_name + (f"/{node.section}" if node.section else "")


Entry = dict[str, object]

ROUTES: Final = ("HTTPRoute", "GRPCRoute", "TLSRoute", "TCPRoute", "UDPRoute")
WITH_RULES: Final = ("HTTPRoute", "GRPCRoute")
WITH_LISTENERS: Final = ("Gateway", "ListenerSet")


def objects(analysis: Analysis, *kinds: str) -> Iterator[ObjectRef]:
    """The objects of some kinds of the Gateway API, kind by kind."""
    for kind in kinds:
        for resource in analysis.index.of_kind(GroupKind(GATEWAY_API, kind)):
            yield resource.ref


def is_managed(analysis: Analysis, parent: ObjectRef, kind: GroupKind) -> bool:
    """Whether a parent is a Gateway of a policy kind's controllers, or a ListenerSet that such a Gateway admits."""
    topology = analysis.topology
    above = (parent, *(node.object for node in topology.parents(NodeRef(parent))))
    found = (gateway for gateway in above if gateway.kind == "Gateway")
    controllers = analysis.registry.known(kind).controllers
    return any(managed(topology, gateway, controllers) for gateway in found)


def listener_on(path: Path) -> tuple[ObjectRef, NodeRef] | None:
    """The Gateway and the listener of a path; None if it has none."""
    gateways = [node.object for node in path if node.kind == "Gateway"]
    listeners = [node for node in path if node.kind in WITH_LISTENERS and node.section]
    return (gateways[0], listeners[-1]) if gateways and listeners else None


def outcome(condition: Condition | PolicyCondition) -> Entry:
    """The status and the reason of a condition."""
    return {"status": condition.status, "reason": condition.reason}
