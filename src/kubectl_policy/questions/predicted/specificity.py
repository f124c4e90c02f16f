"""Which targets of a policy kind are more specific than others, by what refers to what, and what merges there."""

from __future__ import annotations

from functools import cached_property
from typing import TYPE_CHECKING

from kubectl_policy.model import NodeRef
from kubectl_policy.model.values import value
from kubectl_policy.resolution.contributions import stanzas_of
from kubectl_policy.topology.controllers import managed
from kubectl_policy.topology.references import GATEWAY, LISTENER_SETS, ROUTES, parent_refs

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping

    from kubectl_policy.analysis import Analysis
    from kubectl_policy.model import ObjectRef, Resource
    from kubectl_policy.profiles import PolicyKindProfile
    from kubectl_policy.topology.references import ParentRef


@value(kw_only=True)
class Merge:
    """A policy on a route, or one of its rules, that is merged with one above it at one listener (`place`).

    Or it cannot be, as the one above it is not valid: `failed`.
    """

    child: ObjectRef
    target: NodeRef
    place: NodeRef
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
        """What lies below a target and has policies of its own, or where such policies take effect instead; sorted.

        A policy on a rule counts as one on its route, except below the route itself.
        """
        if self._profile.status.narrowed_by == "targets":
            return tuple(sorted(set(self._sections(target, covered=True))))
        named = (each for owner in self._owners(target) for each in self._routes_with_policies.get(owner, ()))
        routes = {NodeRef(route) for section, route in named if not target.section or section in {"", target.section}}
        return tuple(sorted(routes.union(self._sections(target, covered=False))))

    def merges_of(self, policy: ObjectRef, target: NodeRef) -> tuple[Merge, ...]:
        """The merges of a policy by way of one target, listener by listener."""
        return tuple(self._merges_by_child.get((policy, target), ()))

    def merged_into(self, policy: ObjectRef, target: NodeRef) -> tuple[NodeRef, ...]:
        """The routes whose policies are merged with this one by way of its target; sorted."""
        return tuple(sorted(self._routes_by_parent.get((policy, target), ())))

    def _has(self, node: NodeRef) -> bool:
        return bool(self._analysis.resolver.claimants(node, self._profile.group_kind))

    def _own_sections(self, obj: ObjectRef) -> list[NodeRef]:
        return [NodeRef(obj, section) for section in self._relations.sections(obj)]

    def _sections(self, target: NodeRef, *, covered: bool) -> Iterator[NodeRef]:
        """The listeners, ListenerSets or rules below a target that have policies.

        If those are asked for that are `covered`, the sections at which such a policy takes effect.
        """
        if target.section:
            return
        yield from filter(self._has, self._own_sections(target.object))
        for listener_set in self._gateways.listener_sets(target.object) if target.object.group_kind == GATEWAY else ():
            whole, sections = NodeRef(listener_set), self._own_sections(listener_set)
            if covered and self._has(whole):
                yield from sections
            else:
                yield from filter(self._has, sections if covered else (whole, *sections))

    def _owners(self, target: NodeRef) -> Iterator[ObjectRef]:
        """What routes name as their parent if they are below a target."""
        obj = target.object
        if obj.group_kind == GATEWAY:
            yield obj
            yield from () if target.section else self._gateways.admitted(obj)
        elif obj.group_kind in LISTENER_SETS:
            gateway = self._gateways.gateway_of(obj)
            if gateway and self._gateways.admits(gateway, obj):
                yield obj

    def _parents(self, route: ObjectRef) -> tuple[ParentRef, ...]:
        return parent_refs(self._analysis.index, route)

    @cached_property
    def _routes_with_policies(self) -> Mapping[ObjectRef, list[tuple[str, ObjectRef]]]:
        """The routes that policies of the kind refer to, by their parents, and the sections that they name of these.

        Also those whose rule that is referred to does not exist.
        """
        routes = {
            attachment.target.object
            for policy in self._analysis.index.of_kind(self._profile.group_kind)
            for attachment in self._analysis.attachments[policy.ref]
            if attachment.target and attachment.state in {"attached", "section missing"}
        }
        by_parent: dict[ObjectRef, list[tuple[str, ObjectRef]]] = {}
        for route in (route for route in routes if route.group_kind in ROUTES):
            for parent in self._parents(route):
                by_parent.setdefault(parent.object, []).append((parent.section, route))
        return by_parent

    @cached_property
    def _merges(self) -> tuple[Merge, ...]:
        """Every merge of the kind, where challengers choose whether they merge."""
        if self._profile.chooser == "established":
            return ()
        return tuple(
            merge
            for policy in self._analysis.index.of_kind(self._profile.group_kind)
            if stanzas_of(self._analysis.index.raw(policy.ref), self._profile)[0].strategy.patches_above
            for merge in self._merges_by(policy)
        )

    @cached_property
    def _merges_by_child(self) -> Mapping[tuple[ObjectRef, NodeRef], list[Merge]]:
        by_child: dict[tuple[ObjectRef, NodeRef], list[Merge]] = {}
        for merge in self._merges:
            by_child.setdefault((merge.child, merge.target), []).append(merge)
        return by_child

    @cached_property
    def _routes_by_parent(self) -> Mapping[tuple[ObjectRef, NodeRef], set[NodeRef]]:
        by_parent: dict[tuple[ObjectRef, NodeRef], set[NodeRef]] = {}
        for merge in self._merges:
            if not merge.failed:
                by_parent.setdefault((merge.parent, merge.parent_node), set()).add(NodeRef(merge.target.object))
        return by_parent

    def _first(self, node: NodeRef) -> ObjectRef:
        """The policy of the kind that comes first on a node that has one."""
        return self._analysis.resolver.claimants(node, self._profile.group_kind)[0].ref

    def _failed(self, node: NodeRef) -> tuple[ObjectRef, ...]:
        return self._analysis.resolver.failed(node, self._profile.group_kind)

    def _merges_by(self, policy: Resource) -> Iterator[Merge]:
        for attachment in self._analysis.attachments[policy.ref]:
            target = attachment.target
            if attachment.state != "attached" or target is None or target.object.group_kind not in ROUTES:
                continue
            if self._first(target) != policy.ref:
                continue
            for parent in self._parents(target.object):
                for place in self._places(target.object, parent):
                    above = self._closest(place)
                    if above:
                        failed = not self._has(above)
                        first = self._failed(above)[0] if failed else self._first(above)
                        yield Merge(
                            child=policy.ref,
                            target=target,
                            place=place,
                            parent=first,
                            parent_node=above,
                            failed=failed,
                        )

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
        """The closest place with a policy that a policy below a listener merges with, or would, were it valid."""
        places: Iterable[NodeRef] = [listener, NodeRef(listener.object)]
        if listener.object.group_kind in LISTENER_SETS:
            gateway = self._gateways.gateway_of(listener.object)
            places = [*places, *([NodeRef(gateway)] if gateway else [])]
        levels = self._profile.merge_parents
        wanted = (node for node in places if not levels or any(level.includes(node) for level in levels))
        return next((node for node in wanted if self._has(node) or self._failed(node)), None)
