"""Which targets of a policy kind lie below which others, by what refers to what, and which policies merge there."""

from __future__ import annotations

from functools import cached_property
from typing import TYPE_CHECKING, NamedTuple

from kubectl_policy.model import NodeRef
from kubectl_policy.resolution.contributions import stanzas_of
from kubectl_policy.topology.controllers import managed
from kubectl_policy.topology.references import GATEWAY, LISTENER_SETS, ROUTES, gateway_of, parent_refs

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from kubectl_policy.analysis import Analysis
    from kubectl_policy.model import ObjectRef, Resource
    from kubectl_policy.profiles import PolicyKindProfile
    from kubectl_policy.topology.references import ParentRef


class Merge(NamedTuple):
    """A policy on a route, or one of its rules, that is merged with one above it at one listener (`place`)."""

    child: ObjectRef
    target: NodeRef
    place: NodeRef
    parent: ObjectRef
    parent_node: NodeRef


class TargetOrder:
    """The targets of one policy kind in their order.

    What a parentRef names is above the route, whether or not it takes the route; only a ListenerSet that its Gateway
    does not admit has no routes. Policies merge at the listeners that let the route in.
    """

    def __init__(self, analysis: Analysis, profile: PolicyKindProfile) -> None:
        """Remember where to look."""
        self._analysis, self._profile = analysis, profile
        self._relations = analysis.topology.relations

    def more_specific(self, target: NodeRef) -> tuple[NodeRef, ...]:
        """What lies below a target and has policies of its own, or where such policies take effect instead; sorted.

        A policy on a rule counts as one on its route, except below the route itself.
        """
        if self._profile.status.narrowed_by == "targets":
            return tuple(sorted(self._covered(target)))
        return tuple(sorted({*self._sections(target), *self._routes_below(target)}))

    def merges_of(self, policy: ObjectRef, target: NodeRef) -> tuple[Merge, ...]:
        """The merges of a policy by way of one target, listener by listener."""
        return tuple(merge for merge in self._merges if merge.child == policy and merge.target == target)

    def merged_into(self, policy: ObjectRef, target: NodeRef) -> tuple[NodeRef, ...]:
        """The routes whose policies are merged with this one by way of its target; sorted."""
        routes = {
            NodeRef(merge.target.object)
            for merge in self._merges
            if merge.parent == policy and merge.parent_node == target
        }
        return tuple(sorted(routes))

    def _has(self, node: NodeRef) -> bool:
        return bool(self._analysis.resolver.claimants(node, self._profile.group_kind))

    def _own_sections(self, obj: ObjectRef) -> list[NodeRef]:
        return [NodeRef(obj, section) for section in self._relations.sections(obj)]

    def _admitted_set(self, listener_set: ObjectRef) -> list[ObjectRef]:
        gateway = gateway_of(self._analysis.index, listener_set, self._analysis.index.raw(listener_set))
        return self._admitted([listener_set], gateway) if gateway else []

    def _admitted(self, listener_sets: Iterable[ObjectRef], gateway: ObjectRef) -> list[ObjectRef]:
        return [listener_set for listener_set in listener_sets if self._relations.admits(gateway, listener_set)]

    def _sections(self, target: NodeRef) -> Iterator[NodeRef]:
        """The listeners, ListenerSets or rules below a target that have policies."""
        if target.section:
            return
        yield from (node for node in self._own_sections(target.object) if self._has(node))
        if target.object.group_kind == GATEWAY:
            for listener_set in self._relations.listener_sets(target.object):
                nodes = [NodeRef(listener_set), *self._own_sections(listener_set)]
                yield from (node for node in nodes if self._has(node))

    def _covered(self, target: NodeRef) -> Iterator[NodeRef]:
        """The sections below a target at which a narrower policy takes effect."""
        if target.section:
            return
        yield from (node for node in self._own_sections(target.object) if self._has(node))
        if target.object.group_kind == GATEWAY:
            for listener_set in self._relations.listener_sets(target.object):
                whole = self._has(NodeRef(listener_set))
                yield from (node for node in self._own_sections(listener_set) if whole or self._has(node))

    def _routes_below(self, target: NodeRef) -> Iterator[NodeRef]:
        kind = target.object.group_kind
        if kind not in (GATEWAY, *LISTENER_SETS):
            return
        owners = {target.object} if kind == GATEWAY else set(self._admitted_set(target.object))
        if kind == GATEWAY and not target.section:
            owners.update(self._admitted(self._relations.listener_sets(target.object), target.object))
        for route in self._with_policies:
            for parent in self._parents(route):
                if parent.object in owners and (not target.section or parent.section in {"", target.section}):
                    yield NodeRef(route)
                    break

    def _parents(self, route: ObjectRef) -> Iterator[ParentRef]:
        return parent_refs(self._analysis.index, route, self._analysis.index.raw(route))

    @cached_property
    def _with_policies(self) -> list[ObjectRef]:
        """The routes that policies of the kind refer to, also those whose reference to a rule of them fails."""
        kind = self._profile.group_kind
        return sorted(
            {
                attachment.target.object
                for policy in self._analysis.index.of_kind(kind)
                for attachment in self._analysis.attachments[policy.ref]
                if attachment.target
                and attachment.target.object.group_kind in ROUTES
                and attachment.state in {"attached", "section missing"}
            }
        )

    @cached_property
    def _merges(self) -> tuple[Merge, ...]:
        """Every merge of the kind, where challengers choose whether they merge."""
        if self._profile.chooser == "established":
            return ()
        return tuple(
            merge
            for policy in self._analysis.index.of_kind(self._profile.group_kind)
            if stanzas_of(policy.raw, self._profile)[0].strategy.patches_above
            for merge in self._merges_by(policy)
        )

    def _merges_by(self, policy: Resource) -> Iterator[Merge]:
        for attachment in self._analysis.attachments[policy.ref]:
            target = attachment.target
            if attachment.state != "attached" or target is None or target.object.group_kind not in ROUTES:
                continue
            if self._analysis.resolver.claimants(target, policy.ref.group_kind)[0].ref != policy.ref:
                continue
            for parent in self._parents(target.object):
                for place in self._places(target.object, parent):
                    parent_node = self._closest(place)
                    if parent_node:
                        above = self._analysis.resolver.claimants(parent_node, policy.ref.group_kind)[0].ref
                        yield Merge(policy.ref, target, place, above, parent_node)

    def _places(self, route: ObjectRef, parent: ParentRef) -> list[NodeRef]:
        """The listeners that a parentRef picks and that let the route in, whether or not they share a hostname."""
        if managed(self._analysis.topology, parent.object, self._profile.controllers) is False:
            return []
        return [
            binding.listener
            for binding in self._relations.bindings(route)
            if binding.parent_index == parent.position
            and binding.listener
            and (binding.is_counted or binding.reason == "NoMatchingListenerHostname")
        ]

    def _closest(self, listener: NodeRef) -> NodeRef | None:
        """The closest place with a policy that a policy below a listener merges with."""
        places = [listener, NodeRef(listener.object)]
        if listener.object.group_kind in LISTENER_SETS:
            index = self._analysis.index
            gateway = gateway_of(index, listener.object, index.raw(listener.object))
            places += [NodeRef(gateway)] if gateway else []
        levels = self._profile.merge_parents
        wanted = (node for node in places if not levels or any(level.includes(node) for level in levels))
        return next((node for node in wanted if self._has(node)), None)
