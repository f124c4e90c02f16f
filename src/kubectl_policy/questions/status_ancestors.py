"""Ancestors at which controllers report on a policy, and policies below and above its targets, for such reports."""

from __future__ import annotations

from typing import TYPE_CHECKING

from msgspec import Struct
from msgspec.structs import replace

from kubectl_policy.attachment.references import named_object
from kubectl_policy.lazy import cached_method
from kubectl_policy.model import NodeRef, ObjectRef
from kubectl_policy.model.kind_roles import GATEWAY, GATEWAY_CLASS, LISTENER_HOLDERS, LISTENER_SETS, ROUTES
from kubectl_policy.resolution.contributions import stanzas_of
from kubectl_policy.topology.controllers import is_managed
from kubectl_policy.topology.references import ParentRef, parent_refs

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

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
        case "targets" | "namesakes":
            return (target,) if placement == "targets" else _namesakes(analysis, profile, attachment)
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
            return (
                (_named_listener(analysis, attachment, target),)
                if with_listeners
                else _at_parents(analysis, profile, target)
            )


def _namesakes(analysis: Analysis, profile: PolicyKindProfile, attachment: Attachment) -> Iterable[NodeRef]:
    """The Gateway with the name of a target, if there is one; where Gateways are merged, the GatewayClass."""
    name = attachment.declared.name
    if analysis.topology.gateways.are_merged(profile.controllers):
        return (NodeRef(ObjectRef(GATEWAY_CLASS, "", name)),)
    gateway = ObjectRef(GATEWAY, attachment.policy.namespace, name)
    reports = analysis.index.presence(gateway) != "missing" and _reports(analysis, profile, gateway)
    return (NodeRef(gateway),) if reports else ()


def _named_listener(analysis: Analysis, attachment: Attachment, target: NodeRef) -> NodeRef:
    """A target with listeners as it is named: a listener of a ListenerSet may be named as one of its Gateway."""
    declared = attachment.declared
    named = named_object(analysis.index, attachment.policy, declared) if declared.name else target.object
    return replace(target, object=named)


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
    """Whether a route sends requests to a target: to the port that it names, or to one without policies of its own."""
    nodes = {backend.node for backend in analysis.topology.backends(route) if backend.node.object == target.object}
    if target.section:
        return target in nodes
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


class PolicyMerge(Struct, frozen=True, kw_only=True):
    """A policy on a route, or one of its rules, that is merged with one above it at one listener (`listener`).

    Or it cannot be, as the one above it is not valid: `failed`.
    """

    target: NodeRef
    listener: NodeRef
    parent: ObjectRef
    parent_node: NodeRef
    failed: bool


class TargetOrder:
    """The targets of one policy kind, from the root downward.

    What a parentRef names is above the route, whether or not it takes the route; only a ListenerSet that its Gateway
    does not admit has no routes. Policies merge at the listeners that let the route in.
    """

    def __init__(self, analysis: Analysis, profile: PolicyKindProfile) -> None:
        """Remember where to look."""
        self._analysis, self._profile = analysis, profile
        self._relations = analysis.topology.relations
        self._gateways = analysis.topology.gateways

    def more_specific(self, target: NodeRef) -> tuple[NodeRef, ...]:
        """Nodes below a target with policies of their own, or at which such policies take effect; sorted.

        A policy on a rule counts as one on its route, except below the route itself.
        """
        if self._profile.status.narrowed_by == "targets":
            return tuple(sorted(set(self._sections(target, covered=True))))
        routes = {
            NodeRef(route)
            for owner, route in self._routes_below(target)
            if self._is_referred_to(route) and self._names(route, owner, target.section)
        }
        return tuple(sorted(routes.union(self._sections(target, covered=False))))

    def merges_of(self, policy: ObjectRef, target: NodeRef) -> tuple[PolicyMerge, ...]:
        """The merges of a policy by way of one target, listener by listener."""
        return tuple(merge for merge in self._merges_of(policy) if merge.target == target)

    def merged_into(self, policy: ObjectRef, target: NodeRef) -> tuple[NodeRef, ...]:
        """The routes whose policies are merged with this one by way of its target; sorted."""
        if self._profile.chooser == "established":
            return ()
        routes = {
            route
            for _, route in self._routes_below(target)
            for attachment in self._analysis.attachments_to(route)
            if attachment.policy.group_kind == self._profile.group_kind
            for merge in self._merges_of(attachment.policy)
            if not merge.failed and (merge.parent, merge.parent_node) == (policy, target)
            if merge.target.object == route
        }
        return tuple(sorted(map(NodeRef, routes)))

    def _has(self, node: NodeRef) -> bool:
        return bool(self._analysis.resolver.policies_of_kind(node, self._profile.group_kind))

    def _claims(self, node: NodeRef) -> bool:
        """Whether a node has policies of the kind, also invalid ones that keep others out of it."""
        return self._has(node) or bool(self._failed(node))

    def _own_sections(self, obj: ObjectRef) -> list[NodeRef]:
        return [NodeRef(obj, section) for section in self._relations.sections(obj)]

    def _sections(self, target: NodeRef, *, covered: bool) -> Iterator[NodeRef]:
        """The listeners, ListenerSets or rules below a target that have policies.

        If those are asked for that are `covered`, the sections at which such a policy takes effect.
        """
        if target.section:
            return
        yield from filter(self._claims, self._own_sections(target.object))
        for listener_set in self._gateways.listener_sets(target.object) if target.object.group_kind == GATEWAY else ():
            whole, sections = NodeRef(listener_set), self._own_sections(listener_set)
            if covered and self._claims(whole):
                yield from sections
            else:
                yield from filter(self._claims, sections if covered else (whole, *sections))

    def _routes_below(self, target: NodeRef) -> Iterator[tuple[ObjectRef, ObjectRef]]:
        """The routes that name a target as their parent, or what is between them and the target; each with that."""
        obj, gateways = target.object, self._gateways
        owners: tuple[ObjectRef, ...] = ()
        if obj.group_kind == GATEWAY:
            owners = (obj, *(() if target.section else gateways.admitted(obj)))
        elif obj.group_kind in LISTENER_SETS:
            gateway = gateways.gateway_of(obj)
            owners = (obj,) if gateway and gateways.admits(gateway, obj) else ()
        return ((owner, route) for owner in owners for route in self._relations.routes_naming(owner))

    def _names(self, route: ObjectRef, owner: ObjectRef, section: str) -> bool:
        """Whether a parentRef of a route names an object and, where a section is asked for, no other one of it."""
        named = (parent.section for parent in parent_refs(self._analysis.index, route) if parent.object == owner)
        return any(not section or parent in {"", section} for parent in named)

    def _is_referred_to(self, route: ObjectRef) -> bool:
        """Whether policies of the kind refer to a route: also invalid ones, and to a rule that does not exist."""
        return any(
            attachment.policy.group_kind == self._profile.group_kind
            and (attachment.competes or attachment.state in {"attached", "section missing"})
            for attachment in self._analysis.attachments_to(route)
        )

    @cached_method
    def _merges_of(self, policy: ObjectRef) -> tuple[PolicyMerge, ...]:
        """Every merge of a policy, where challengers choose whether they merge."""
        raw = self._analysis.index.defaulted(policy)
        chooses = self._profile.chooser != "established"
        merges = chooses and stanzas_of(raw, self._profile)[0].strategy.patches_above
        return tuple(self._merges_by(policy)) if merges else ()

    def _first(self, node: NodeRef) -> ObjectRef:
        """The policy of the kind that comes first on a node that has one."""
        return self._analysis.resolver.policies_of_kind(node, self._profile.group_kind)[0].ref

    def _failed(self, node: NodeRef) -> tuple[ObjectRef, ...]:
        return self._analysis.resolver.failed_policies(node, self._profile.group_kind)

    def _merges_by(self, policy: ObjectRef) -> Iterator[PolicyMerge]:
        for attachment in self._analysis.attachments[policy]:
            target = attachment.target
            if attachment.state != "attached" or target is None or target.object.group_kind not in ROUTES:
                continue
            if self._first(target) != policy:
                continue
            for parent in parent_refs(self._analysis.index, target.object):
                for listener in self._merge_listeners(target.object, parent):
                    upper = self._closest(listener)
                    if upper:
                        failed = not self._has(upper)
                        first = self._failed(upper)[0] if failed else self._first(upper)
                        yield PolicyMerge(
                            target=target, listener=listener, parent=first, parent_node=upper, failed=failed
                        )

    def _merge_listeners(self, route: ObjectRef, parent: ParentRef) -> list[NodeRef]:
        """The listeners that a parentRef picks and that let the route in, whether or not they share a hostname."""
        if is_managed(self._analysis.topology, parent.object, self._profile.controllers) is False:
            return []
        return [
            binding.listener
            for binding in self._relations.all_bindings(route)
            if binding.parent_index == parent.position
            and binding.listener
            and (binding.counts_as_attached or binding.reason == "NoMatchingListenerHostname")
        ]

    def _closest(self, listener: NodeRef) -> NodeRef | None:
        """The closest listener with a policy that a policy below a listener merges with, or would, were it valid."""
        candidates: Iterable[NodeRef] = [listener, NodeRef(listener.object)]
        if listener.object.group_kind in LISTENER_SETS:
            gateway = self._gateways.gateway_of(listener.object)
            candidates = [*candidates, *([NodeRef(gateway)] if gateway else [])]
        levels = self._profile.merge_parents
        wanted = (node for node in candidates if not levels or any(level.includes(node) for level in levels))
        return next((node for node in wanted if self._has(node) or self._failed(node)), None)
