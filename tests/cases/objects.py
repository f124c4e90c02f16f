"""Which objects of a world the cases of several implementations ask about, and the entries that tell of them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from kubectl_policy import GroupKind, NodeRef
from kubectl_policy.model.kinds import GATEWAY_API
from kubectl_policy.topology.controllers import managed

if TYPE_CHECKING:
    from collections.abc import Iterator

    from kubectl_policy import Analysis, ObjectRef, Path
    from kubectl_policy.questions.predicted.policies import PolicyCondition
    from kubectl_policy.topology import Condition

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
