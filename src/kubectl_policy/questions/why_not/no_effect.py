"""The chain of reasons for which a policy has no effect on a node, or none on some of the paths through it."""

from __future__ import annotations

from functools import cached_property
from typing import TYPE_CHECKING

from kubectl_policy.model import NodeRef
from kubectl_policy.model.kinds import NAMESPACE
from kubectl_policy.questions.why_not.bindings import cut_off, is_above_routes, not_sent, refused
from kubectl_policy.questions.why_not.outcomes import direct_above, lost_to, no_outcome
from kubectl_policy.questions.why_not.reasons import Reason, in_causal_order, named
from kubectl_policy.questions.why_not.references import below, elsewhere, failed, no_reference, other_section
from kubectl_policy.topology.hierarchy import WITH_LISTENERS
from kubectl_policy.topology.references import (
    GATEWAY,
    LISTENER_SETS,
    ROUTES,
    backend_refs,
    gateway_of,
    parent_refs,
)

if TYPE_CHECKING:
    from collections.abc import Iterator

    from kubectl_policy.analysis import Analysis
    from kubectl_policy.attachment import Attachment
    from kubectl_policy.model import ObjectRef, Resource
    from kubectl_policy.questions.why_not.effect_on import EffectOn
    from kubectl_policy.topology import Path


def reasons_of(analysis: Analysis, policy: Resource, target: NodeRef, effect: EffectOn) -> tuple[Reason, ...]:
    """Why a policy has no effect on a node or, if it has one, why it has none on the other paths; in causal order."""
    found = _NoEffect(analysis, policy, target, effect)
    reasons = [*(found.on_other_paths() if effect.in_force else found.at_all())]
    if reasons or effect.in_force:
        return in_causal_order(analysis, reasons)
    return in_causal_order(analysis, [Reason("not-counted", "nothing that it says counts there", policy.ref, "spec")])


class _NoEffect:
    """Follows each attachment of a policy as far as it leads towards a node."""

    def __init__(self, analysis: Analysis, policy: Resource, target: NodeRef, effect: EffectOn) -> None:
        self._analysis = analysis
        self._policy = policy
        self._target = target
        self._effect = effect

    def at_all(self) -> Iterator[Reason]:
        """The reasons that hold of the node as a whole."""
        attachments = self._analysis.attachments[self._policy.ref]
        if not attachments:
            yield no_reference(self._analysis, self._policy.ref)
            return
        near = [attachment for attachment in attachments if self._is_near(attachment)]
        for attachment in near:
            yield from self._of(attachment)
        if not near:
            beneath = [attachment for attachment in attachments if self._is_below(attachment)]
            yield from (below(attachment, self._target) for attachment in beneath)
            others = [attachment for attachment in attachments if attachment not in beneath]
            yield from elsewhere(self._analysis, self._policy, others, self._target)

    def on_other_paths(self) -> Iterator[Reason]:
        """The reasons that hold on the paths on which the policy has nothing in force."""
        nodes = self._attached
        for place, path in enumerate(self._effect.paths):
            if place not in self._effect.in_force:
                on_path = [node for node in nodes if node in path]
                found = (
                    self._on_path(place, on_path[-1]) if on_path else [self._off_path("that path does not lead", nodes)]
                )
                yield from (reason._replace(paths=(place,)) for reason in found)

    @cached_property
    def _attached(self) -> list[NodeRef]:
        """The nodes that the policy is attached to."""
        found = self._analysis.attachments[self._policy.ref]
        return [one.target for one in found if one.target and one.state == "attached"]

    def _of(self, attachment: Attachment) -> Iterator[Reason]:
        """Why nothing comes of an attachment to the node itself, or to something above it."""
        node = attachment.target
        if node is None or attachment.state != "attached":
            yield failed(self._analysis, attachment)
        elif node.object == self._target.object and node.section and self._target.section not in {"", node.section}:
            yield other_section(attachment, self._target)
        else:
            yield from self._of_attached(node)

    def _of_attached(self, node: NodeRef) -> Iterator[Reason]:
        paths = self._effect.paths
        through = [place for place in self._effect.carrying if node in paths[place]]
        for place in sorted(through):
            yield from self._on_path(place, node)
        if not through and node.object == self._target.object:
            yield from self._without_traffic()
        elif not through:
            yield from self._not_led_to(node)

    def _on_path(self, place: int, node: NodeRef) -> Iterator[Reason]:
        """Why the policy has nothing in force on a path with a node that it is attached to."""
        path, ref = self._effect.paths[place], self._policy.ref
        if place not in self._effect.carrying:
            yield from self._no_traffic_on(path)
            return
        contributing = [
            entry.effective
            for entry in self._effect.entries
            if entry.path == place and any(part.source.object == ref for part in entry.effective.contributions)
        ]
        for effective in contributing:
            yield from lost_to(self._analysis, ref, effective)
        if not contributing:
            yield self._replaced_by_section(path, node) or no_outcome(self._analysis, ref, path, node)

    def _replaced_by_section(self, path: Path, node: NodeRef) -> Reason | None:
        """Where a policy on a section of an object stands in place of those on the whole of it."""
        profile = self._analysis.registry.known(self._policy.ref.group_kind)
        sections = [one for one in path if one.object == node.object and one.section and not node.section]
        holders = [
            (holder.ref, one)
            for one in sections
            for holder in self._analysis.resolver.claimants(one, profile.group_kind)
        ]
        if not holders or (self._is_direct and node.object != self._target.object):
            return None
        holder, section = holders[0]
        message = f"{holder} → {named(section)} stands there in place of what is on {named(node)} as a whole"
        return Reason("replaced-by-section", message, holder, "spec", related=(NodeRef(holder), section))

    def _off_path(self, what: str, nodes: list[NodeRef]) -> Reason:
        names = " or ".join(dict.fromkeys(map(named, nodes)))
        return Reason("not-on-path", f"{what} through {names}", self._policy.ref, related=tuple(nodes))

    def _without_traffic(self) -> Iterator[Reason]:
        """Why no request comes to a node that the policy names itself."""
        silent = [path for place, path in enumerate(self._effect.paths) if place not in self._effect.carrying]
        for path in silent:
            yield from self._no_traffic_on(path)

    def _no_traffic_on(self, path: Path) -> Iterator[Reason]:
        """Why no request comes down a path: its first route is attached to nothing, or another one cuts it off."""
        route = next(node.object for node in path if node.object.group_kind in ROUTES)
        if self._analysis.topology.relations.is_unattached(route):
            yield from refused(self._analysis, route)
        else:
            yield cut_off(route)

    def _not_led_to(self, node: NodeRef) -> list[Reason]:
        """Why no path leads from a node, to which the policy is attached, to the one that is asked about."""
        if self._is_direct:
            return [direct_above(self._policy.ref, node)]
        found = [reason for route in self._routes for reason in self._along(route, node)]
        found += [reason for path in self._effect.paths if node in path for reason in self._no_traffic_on(path)]
        if self._target.object.group_kind in LISTENER_SETS:
            found += self._listener_set(node)
        return found or [self._off_path(f"no path to {named(self._target)} leads", [node])]

    def _along(self, route: ObjectRef, node: NodeRef) -> Iterator[Reason]:
        """Where the way from a node by a route to the one that is asked about ends."""
        leads = any(node in path for path in self._analysis.topology.paths(NodeRef(route)))
        if is_above_routes(node) and not leads:
            yield from refused(self._analysis, route, node)
        if self._target.object != route and (leads or route == node.object):
            yield from not_sent(self._analysis, route, self._target.object)

    def _listener_set(self, node: NodeRef) -> Iterator[Reason]:
        """Why a ListenerSet that names a Gateway is not below it."""
        gateway, listener_set = node.object, self._target.object
        if gateway.group_kind == GATEWAY and not self._analysis.topology.relations.admits(gateway, listener_set):
            message = f"{gateway} does not allow {listener_set} to attach (spec.allowedListeners)"
            related = (NodeRef(listener_set),)
            yield Reason("listener-set-refused", message, gateway, "spec.allowedListeners", related=related)

    @cached_property
    def _routes(self) -> tuple[ObjectRef, ...]:
        """The routes that requests to the node come by: itself, or those that name it as a backend, also in vain."""
        target, index = self._target.object, self._analysis.index
        if target.group_kind in ROUTES:
            return (target,)
        if is_above_routes(self._target) or target.group_kind == NAMESPACE:
            return ()
        return tuple(
            route.ref
            for kind in ROUTES
            for route in index.of_kind(kind)
            if any(ref.object == target for ref in backend_refs(index, route.ref, route.raw))
        )

    @property
    def _is_direct(self) -> bool:
        return self._analysis.registry.known(self._policy.ref.group_kind).policy_class == "direct"

    def _is_near(self, attachment: Attachment) -> bool:
        """Whether a reference names the node, or what is above it or might be."""
        node = attachment.target
        if node is None or node.object in self._near:
            return node is not None
        # Whoever asks about a route expects it to be below that Gateway.
        return bool(self._routes) and not self._is_direct and node.object.group_kind in WITH_LISTENERS

    @cached_property
    def _near(self) -> frozenset[ObjectRef]:
        on_paths = {node.object for node in self._effect.above}
        return frozenset({self._target.object, *on_paths, *self._named_above()})

    def _named_above(self) -> Iterator[ObjectRef]:
        """What the routes to the node name as parents, and what these belong to, whether or not they take the route."""
        index = self._analysis.index
        for route in self._routes:
            yield route
            for parent in parent_refs(index, route, index.raw(route)):
                yield from self._owners(parent.object)
        if self._target.object.group_kind in LISTENER_SETS:
            yield from self._owners(self._target.object)

    def _owners(self, parent: ObjectRef) -> Iterator[ObjectRef]:
        index = self._analysis.index
        owner = gateway_of(index, parent, index.raw(parent)) if parent.group_kind in LISTENER_SETS else parent
        yield parent
        gateway_class = self._analysis.topology.relations.class_of(owner) if owner else None
        yield from (obj for obj in (owner, gateway_class) if obj)

    def _is_below(self, attachment: Attachment) -> bool:
        """Whether a policy is attached below the node."""
        node = attachment.target
        if node is None or attachment.state != "attached":
            return False
        return any(self._target in path for path in self._analysis.topology.paths(node))
