"""Uncertain paths: unread objects decide whether requests take them, or whether a controller of a kind acts there."""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal, TypeAlias

from kubectl_policy.model.kind_roles import GATEWAY, LISTENER_SETS, ROUTE_PARENTS, ROUTES
from kubectl_policy.topology.controllers import is_enabled, is_managed

if TYPE_CHECKING:
    from kubectl_policy.model import ObjectRef
    from kubectl_policy.profiles import PolicyKindProfile
    from kubectl_policy.topology import Path, Topology
    from kubectl_policy.topology.possible_routes import PossibleRoute


# What is unknown about a path: whether requests take it, or whether a controller of a kind acts there; "" for neither.
PathDoubt: TypeAlias = Literal["", "requests", "controller"]


def path_doubt(topology: Topology, profile: PolicyKindProfile, path: Path) -> PathDoubt:
    """Return what is unknown about a path, on which policies of a kind may count for that reason."""
    if undecided_attachments(topology, path):
        return "requests"
    return "controller" if undecided_gateway(topology, profile, path) else ""


def undecided_attachments(topology: Topology, path: Path) -> tuple[PossibleRoute, ...]:
    """Return the unknown attachments of the route at the top of a path; none if requests come from what is above it."""
    for node in path:
        if node.object.group_kind in ROUTES:
            bindings = topology.bindings(node.object)
            is_unknown = any(binding.state == "unknown" for binding in bindings)
            return topology.possible_routes.parents_of(node.object) if is_unknown else ()
        if node.object.group_kind in ROUTE_PARENTS:
            return ()
    return ()


def undecided_gateway(topology: Topology, profile: PolicyKindProfile, path: Path) -> ObjectRef | None:
    """Return the Gateway or ListenerSet on a path of which it is unknown whether a controller of a kind acts on it."""
    holder: ObjectRef | None = None
    for node in path:
        if node.object.group_kind == GATEWAY:
            enabling = profile.enabled_by
            is_known = is_managed(topology, node.object, profile.controllers) is not None
            is_known = is_known and not (enabling and is_enabled(topology, node.object, enabling) is None)
            return None if is_known else node.object
        if node.object.group_kind in LISTENER_SETS:
            holder = node.object
    return holder
