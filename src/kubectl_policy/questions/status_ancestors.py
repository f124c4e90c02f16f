"""Ancestors at which controllers report on a policy, as its kind places them."""

from __future__ import annotations

from typing import TYPE_CHECKING

from msgspec.structs import replace

from kubectl_policy.model import NodeRef, ObjectRef
from kubectl_policy.model.kind_roles import GATEWAY, LISTENER_HOLDERS, ROUTES
from kubectl_policy.topology.controllers import is_managed
from kubectl_policy.topology.references import parent_refs

if TYPE_CHECKING:
    from collections.abc import Iterable

    from kubectl_policy.analysis import Analysis
    from kubectl_policy.attachment import Attachment
    from kubectl_policy.model.unknown import Port
    from kubectl_policy.profiles import PolicyKindProfile
    from kubectl_policy.profiles.controllers import Placement, StatusProfile


def ancestors_of(
    analysis: Analysis, profile: PolicyKindProfile, attachment: Attachment
) -> dict[NodeRef | None, StatusProfile]:
    """The places at which the outcome of one attachment is reported, and how; None is the policy's own status.

    Each controller reports on its own Gateways and what hangs on them.
    """
    statuses = dict.fromkeys(_ancestors(analysis, profile, profile.status.placement, attachment), profile.status)
    if not profile.status_by:
        return statuses
    by_others = {ancestor for ancestor in statuses if _controller(analysis, ancestor) in profile.status_by}
    statuses = {ancestor: status for ancestor, status in statuses.items() if ancestor not in by_others}
    for controller, status in profile.status_by.items():
        for ancestor in _ancestors(analysis, profile, status.placement, attachment):
            if _controller(analysis, ancestor) == controller:
                statuses[ancestor] = status
    return statuses


def _controller(analysis: Analysis, ancestor: NodeRef | None) -> str | None:
    """The controller that reports at a place: on a policy in the place of a Gateway, that of the policy's own kind."""
    if ancestor is None:
        return None
    if ancestor.object.group_kind in LISTENER_HOLDERS:
        return analysis.topology.gateways.controller_of(ancestor.object)
    caller = analysis.registry.profile_of(ancestor.object.group_kind)
    return min(caller.controllers, default=None) if caller else None


def _ancestors(
    analysis: Analysis, profile: PolicyKindProfile, placement: Placement, attachment: Attachment
) -> Iterable[NodeRef | None]:
    target = attachment.target
    if placement == "policy" or target is None:
        return (None,) if placement == "policy" else ()
    topology, with_listeners = analysis.topology, target.object.group_kind in LISTENER_HOLDERS
    match placement:
        case "targets":
            return (target,)
        case "gateways":
            objects = {node.object for path in topology.paths(target) for node in path}
            return sorted(NodeRef(obj) for obj in objects if obj.group_kind == GATEWAY)
        case "parentGateways":
            # Those that routes to a target name as parents, themselves or by a ListenerSet, attached or not.
            routes = topology.relations.routes_referring_to(target.object)
            parents = {parent.object for route in routes for parent in _parents(analysis, profile, route)}
            gateways = {topology.gateways.gateway_of(parent) for parent in parents}
            return sorted(NodeRef(gateway) for gateway in gateways if gateway)
        case "owners" if with_listeners:
            return _owners(analysis, target)
        case _:
            return (target,) if with_listeners else _at_parents(analysis, profile, target)


def _owners(analysis: Analysis, target: NodeRef) -> Iterable[NodeRef]:
    """The object of a listener; for a Gateway, that of the first listener on each port, own listeners first."""
    if target.section or target.object.group_kind != GATEWAY:
        return (replace(target, section=""),)
    gateways, gateway = analysis.topology.gateways, target.object
    firsts: dict[Port | None, NodeRef] = {}
    for owner in (gateway, *gateways.admitted(gateway)):
        for listener in gateways.listeners(owner):
            firsts.setdefault(listener.port, NodeRef(owner))
    return dict.fromkeys(firsts.values()) or (target,)


def _at_parents(analysis: Analysis, profile: PolicyKindProfile, target: NodeRef) -> Iterable[NodeRef]:
    """The parents of a target route, or of the routes that forward to a target."""
    if target.object.group_kind in ROUTES:
        return _parents(analysis, profile, target.object)
    routes = analysis.topology.relations.routes_referring_to(target.object)
    using = (route for route in routes if _uses(analysis, profile, route, target))
    parents = (parent for route in using for parent in _parents(analysis, profile, route))
    return dict.fromkeys([*parents, *(NodeRef(call.policy) for call in analysis.calls_to(target.object))])


def _uses(analysis: Analysis, profile: PolicyKindProfile, route: ObjectRef, target: NodeRef) -> bool:
    """Whether a route sends requests to a target: to its port, or to a port without policies of its own."""
    nodes = {backend.node for backend in analysis.topology.backends(route) if backend.node.object == target.object}
    if target.section:
        return bool(nodes & {target, replace(target, section="")})
    return any(not node.section or not analysis.resolver.policies_of_kind(node, profile.group_kind) for node in nodes)


def _parents(analysis: Analysis, profile: PolicyKindProfile, route: ObjectRef) -> tuple[NodeRef, ...]:
    """The parents of a route on which one of the kind's controllers acts, whether or not they take the route.

    A route that others delegate to has their parents as well, in the order of their distance.
    """
    routes = {route: None}
    waiting = [route]
    for delegated in waiting:
        delegations = analysis.topology.relations.delegations_to(delegated)
        delegating = dict.fromkeys(delegation.parent.object for delegation in delegations if delegation.is_accepted)
        waiting += [route_or_delegating for route_or_delegating in delegating if route_or_delegating not in routes]
        routes.update(delegating)
    references = (ref for route_or_delegating in routes for ref in parent_refs(analysis.index, route_or_delegating))
    parents = (NodeRef(ref.object, ref.section) for ref in references if _reports(analysis, profile, ref.object))
    return tuple(dict.fromkeys(parents))


def _reports(analysis: Analysis, profile: PolicyKindProfile, parent: ObjectRef) -> bool:
    """Whether a controller of the kind acts on a parent, or may: on a ListenerSet only if the Gateway admits it."""
    if parent.group_kind not in LISTENER_HOLDERS or analysis.index.presence(parent) == "missing":
        return False
    gateways = analysis.topology.gateways
    gateway = gateways.gateway_of(parent) if parent.group_kind != GATEWAY else None
    if gateway and analysis.index.presence(gateway) != "unknown" and gateways.admits(gateway, parent) is False:
        return False
    return is_managed(analysis.topology, parent, profile.controllers) is not False
