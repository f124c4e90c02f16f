"""Differences in the relations of two states: attachments of policies and routes, and enforcement of policies."""

from __future__ import annotations

from functools import cached_property
from itertools import islice
from typing import TYPE_CHECKING, Annotated, Final, TypeAlias

from msgspec import Meta, Struct

from kubectl_policy.comparison import StateComparison, may_exist
from kubectl_policy.lazy import cached_method
from kubectl_policy.model import NodeRef, ObjectRef
from kubectl_policy.model.kind_roles import GATEWAY_CLASS, LISTENER_HOLDERS, NAMESPACE, ROUTES
from kubectl_policy.resolution import Resolution, reached_part
from kubectl_policy.resolution.enforcement import EnforcementState, overall_state

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Iterator, Mapping

    from kubectl_policy.analysis import Analysis
    from kubectl_policy.attachment import Attachment
    from kubectl_policy.attachment.attachment import State
    from kubectl_policy.topology import Binding, BindingState, Path

# The state of a policy, and what supersedes it; None where there is no such policy.
Standing: TypeAlias = "tuple[EnforcementState | None, tuple[ObjectRef, ...]]"
# So many routes are looked at for one of which nothing but the policy itself decides.
_TRIED: Final = 8


class AttachmentChange(Struct, frozen=True, kw_only=True):
    """A change of the state of a policy's reference to a target."""

    policy: Annotated[ObjectRef, Meta(description="The policy.")]
    target: Annotated[NodeRef, Meta(description="The target of the reference.")]
    before: Annotated[State | None, Meta(description="The state of the reference; null if there is no such reference.")]
    after: Annotated[State | None, Meta(description="The state of the reference; null if there is no such reference.")]
    message: Annotated[
        str, Meta(description="The reason why the policy is not attached, in the state in which it is not attached.")
    ]


_ROUTE_STATE: Final = (
    "The state of the route at the parent; null if the route does not name the parent or does not exist."
)


class ParentChange(Struct, frozen=True, kw_only=True):
    """A change of the state of a route at a parent or listener."""

    route: Annotated[ObjectRef, Meta(description="The route.")]
    parent: Annotated[NodeRef, Meta(description="The parent or listener.")]
    before: Annotated[BindingState | None, Meta(description=_ROUTE_STATE)]
    after: Annotated[BindingState | None, Meta(description=_ROUTE_STATE)]
    message: Annotated[str, Meta(description="The reason for the state, for people.")]


_ENFORCEMENT: Final = "The enforcement state of the policy; null if the policy does not exist."


class EnforcementChange(Struct, frozen=True, kw_only=True):
    """A change of the enforcement of a policy."""

    policy: Annotated[ObjectRef, Meta(description="The policy.")]
    before: Annotated[EnforcementState | None, Meta(description=_ENFORCEMENT)]
    after: Annotated[EnforcementState | None, Meta(description=_ENFORCEMENT)]
    by: Annotated[tuple[ObjectRef, ...], Meta(description="The sources that supersede the policy in the later state.")]
    by_before: Annotated[
        tuple[ObjectRef, ...], Meta(description="The sources that supersede the policy in the earlier state.")
    ] = ()


def attachment_changes(comparison: StateComparison) -> tuple[AttachmentChange, ...]:
    """Every target that policies gain, lose or reach in another way; sorted by policy and target."""
    old, new, around = comparison.before.attachments, comparison.after.attachments, comparison.surroundings
    return tuple(
        change
        for policy in sorted(around.reattached if around else {*old, *new})
        if old.get(policy, ()) != new.get(policy, ())
        for change in _targets_of(policy, old.get(policy, ()), new.get(policy, ()))
    )


def _targets_of(
    policy: ObjectRef, attached: Collection[Attachment], attached_then: Collection[Attachment]
) -> Iterator[AttachmentChange]:
    before, after = _by_target(attached), _by_target(attached_then)
    # A port of a Service that does not exist any more is the Service: the same reference still names it.
    still = {*map(_named, before.values())} & {*map(_named, after.values())}
    for target in sorted({*before, *after}):
        earlier, later = before.get(target), after.get(target)
        old, new = earlier.state if earlier else None, later.state if later else None
        reference = earlier or later
        if old != new and not (reference and (old is None or new is None) and _named(reference) in still):
            failed = (attachment for attachment in (later, earlier) if attachment and attachment.state != "attached")
            message = next((attachment.message for attachment in failed), "")
            yield AttachmentChange(policy=policy, target=target, before=old, after=new, message=message)


def _named(attachment: Attachment) -> tuple[str, ObjectRef | None, ObjectRef | None, State]:
    """A reference, whatever section of its object it comes to, and its state."""
    declared, target = attachment.declared, attachment.target
    return declared.field, declared.named_by, target.object if target else None, attachment.state


def _by_target(attachments: Collection[Attachment]) -> Mapping[NodeRef, Attachment]:
    """An attachment for each target, one that holds rather than another one."""
    ordered = sorted(attachments, key=lambda attachment: attachment.state == "attached")
    return {attachment.target: attachment for attachment in ordered if attachment.target}


def parent_changes(comparison: StateComparison) -> tuple[ParentChange, ...]:
    """Every parent or listener that routes gain or lose, or of which that is no longer known; sorted."""
    if comparison.shares_topology:
        return ()
    states, around = (comparison.before, comparison.after), comparison.surroundings
    routes: Collection[ObjectRef] = (
        around.routes
        if around
        else dict.fromkeys(route for state in states for kind in ROUTES for route in state.index.world.refs_of(kind))
    )
    return tuple(change for route in sorted(routes) for change in _parents_of(comparison, route))


def _parents_of(comparison: StateComparison, route: ObjectRef) -> Iterator[ParentChange]:
    held, holding = comparison.before.topology.bindings(route), comparison.after.topology.bindings(route)
    if held is holding:
        return
    before, after = _by_parent(held), _by_parent(holding)
    for parent in sorted({*before, *after}):
        earlier, later = before.get(parent), after.get(parent)
        old, new = earlier.state if earlier else None, later.state if later else None
        if old != new and {old, new} != {None, "refused"}:
            # A route that names no listener any more may be refused by the parent as a whole.
            now = [binding for binding in (later, *after.values()) if binding and binding.parent == parent.object]
            message = next((binding.message for binding in (*now, earlier) if binding and binding.message), "")
            yield ParentChange(route=route, parent=parent, before=old, after=new, message=message)


def _by_parent(bindings: Collection[Binding]) -> Mapping[NodeRef, Binding]:
    """A binding for each parent or listener, one that holds rather than another one."""
    ordered = sorted(bindings, key=lambda binding: binding.state == "attached") if len(bindings) > 1 else bindings
    return {binding.listener or NodeRef(binding.parent): binding for binding in ordered}


def cut_off(comparison: StateComparison, changes: Iterable[ParentChange]) -> tuple[ObjectRef, ...]:
    """The routes, of both states, that are attached to something in the earlier one and to nothing in the later one."""
    after = comparison.after
    # They come in their order, which a set would lose.
    lost = dict.fromkeys(
        change.route for change in changes if change.before == "attached" and after.index.get(change.route)
    )
    return tuple(sorted(route for route in lost if after.topology.relations.is_unattached(route)))


def without_class(comparison: StateComparison) -> tuple[ObjectRef, ...]:
    """The Gateways, of both states, whose GatewayClass is gone: no controller acts on them any more."""
    after = comparison.after
    classes = (ref for ref in comparison.deleted if ref.group_kind == GATEWAY_CLASS)
    gateways = (gateway for ref in classes for gateway in after.topology.gateways.of_class(ref))
    return tuple(sorted(gateway for gateway in gateways if gateway not in comparison.created))


def enforcement_changes(comparison: StateComparison, concerned: Collection[ObjectRef]) -> tuple[EnforcementChange, ...]:
    """The policies with another enforcement than before, of those that may be concerned; sorted."""
    changes: list[EnforcementChange] = []
    for policy in sorted(concerned):
        lasting = _of_lasting(comparison, policy)
        if lasting and lasting.is_the_same:
            continue
        standings = lasting.standings() if lasting else None
        before, after = standings or (_standing(comparison.before, policy), _standing(comparison.after, policy))
        if before != after:
            (old, by_before), (new, by) = before, after
            changes.append(EnforcementChange(policy=policy, before=old, after=new, by=by, by_before=by_before))
    return tuple(changes)


def _standing(analysis: Analysis, policy: ObjectRef) -> Standing:
    enforcement = analysis.enforcement(policy) if policy in analysis.attachments else None
    return (enforcement.state, enforcement.by) if enforcement else (None, ())


def _of_lasting(comparison: StateComparison, policy: ObjectRef) -> _Lasting | None:
    """Return the policy, if it is the same in both states, is attached above routes, and depends on policies alone."""
    before, around = comparison.before, comparison.surroundings
    # Where it is not known what a change can reach, the kind may be none of policies in one of the states.
    if around is None or policy in around.reattached:
        return None
    profile, attachments = before.registry.profile(policy.group_kind), before.attachments.get(policy, ())
    # Whether the same becomes of policies of the kind wherever the same ones meet.
    if profile.policy_class != "inherited" or profile.refusal == "everywhere":
        return None
    if profile.has_object_fields or profile.by_listener or profile.variants or profile.exclusive_field:
        return None
    targets = [attachment.target for attachment in attachments if attachment.target and attachment.state == "attached"]
    if len(targets) != 1 or targets[0].object.group_kind not in LISTENER_HOLDERS:
        return None
    (target,) = targets
    ways = before.topology.paths(target)
    changed = {*around.routes, *around.backends, *(node.object for node in comparison.differing(policy.group_kind))}
    if len(ways) != 1 or any(node.object in changed for node in ways[0]):
        return None
    return _Lasting(comparison, policy, target, changed)


class _Lasting:
    """A policy above routes to which the same happens in both states, but on the paths of what is `changed`."""

    def __init__(
        self, comparison: StateComparison, policy: ObjectRef, target: NodeRef, changed: Collection[ObjectRef]
    ) -> None:
        self._before, self._after = comparison.before, comparison.after
        self._policy, self._target, self._changed = policy, target, changed
        self._profile = comparison.before.registry.profile(policy.group_kind)

    @property
    def is_the_same(self) -> bool:
        """Whether all that becomes of it in one state alone, where something is changed, is soon found elsewhere."""
        unmatched = self._of_changes(self._before).keys() ^ self._of_changes(self._after).keys()
        if any(
            part.source.target.object in self._changed for resolution in unmatched for part in resolution.contributions
        ):
            return False
        for route in islice(self._routes if unmatched else (), _TRIED):
            unmatched.difference_update(self._unchanged_through(NodeRef(route)))
        return not unmatched

    def standings(self) -> tuple[Standing, Standing] | None:
        """Enforcement in the earlier and in the later state; None if looking everywhere costs no more."""
        if len(self._before.index.world.refs_of(self._policy.group_kind)) >= len(self._routes):
            return None
        common = self._in_both()
        if common is None:
            return None
        before, after = (common | self._of_changes(state) for state in (self._before, self._after))
        return overall_state(self._policy, before), overall_state(self._policy, after)

    def _in_both(self) -> dict[Resolution, None] | None:
        """Enforcement on the paths that both states have; None if that is not found soon."""
        state = self._before
        ancestors = {*state.topology.paths(self._target)[0]}
        marked_nodes = [node for node in state.resolver.nodes_with(self._policy.group_kind) if node not in ancestors]
        if any(node.object.group_kind == NAMESPACE for node in marked_nodes):
            # What is in a Namespace may be on any path.
            return None
        # Of all paths without other policies of its kind, one says what becomes of it.
        marked = {*marked_nodes}
        unmarked = (
            resolution
            for route in islice(self._routes, _TRIED + len(marked))
            if NodeRef(route) not in marked
            for path, resolution in self._through(state, NodeRef(route))
            if marked.isdisjoint(path) and not self._is_changed(path)
        )
        resolutions = dict.fromkeys(islice(unmarked, 1))
        if not resolutions:
            return None
        for node in marked_nodes:
            # Below a route there is little, whichever Gateway it is attached to.
            if node.object.group_kind in ROUTES or any(self._target in path for path in state.topology.paths(node)):
                resolutions |= self._unchanged_through(node)
        return resolutions

    @cached_method
    def _of_changes(self, state: Analysis) -> dict[Resolution, None]:
        """Enforcement in one state on the paths of changed objects, and on those that may end without them."""
        relations = state.topology.relations
        nodes = [NodeRef(obj) for obj in self._changed if may_exist(state, NodeRef(obj))]
        ends = [listener for listener in self._listeners if not relations.has_attached_routes(listener)]
        return {resolution: None for node in (*nodes, *ends) for _, resolution in self._through(state, node)}

    @cached_property
    def _listeners(self) -> dict[NodeRef, None]:
        """The listeners to which changed routes are attached in either state."""
        return {
            binding.listener: None
            for state in (self._before, self._after)
            for route in self._changed
            if route.group_kind in ROUTES
            for binding in state.topology.bindings(route)
            if binding.listener and binding.state == "attached" and binding.parent.group_kind in LISTENER_HOLDERS
        }

    def _unchanged_through(self, node: NodeRef) -> dict[Resolution, None]:
        """Enforcement on the paths through a node that both states have."""
        through = self._through(self._before, node)
        return {resolution: None for path, resolution in through if not self._is_changed(path)}

    def _through(self, state: Analysis, node: NodeRef) -> Iterator[tuple[Path, Resolution]]:
        """The paths through a node on which the policy is, each with what becomes of it there."""
        for path in state.topology.paths_through(node):
            reached = reached_part(path, self._profile)
            if self._target in reached and state.topology.carries_traffic(reached):
                effective = state.resolver.effective_of(self._profile.group_kind, reached)
                if effective:
                    yield path, effective.resolution

    def _is_changed(self, path: Path) -> bool:
        return any(node.object in self._changed for node in path)

    @cached_property
    def _routes(self) -> list[ObjectRef]:
        """The routes that may be attached to the target."""
        index = self._before.index
        return [route for kind in ROUTES for route in index.naming(kind, self._target.object)]
