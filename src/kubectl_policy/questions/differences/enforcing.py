"""How far a policy is enforced in two states, found without a walk along the paths that are the same in both."""

from __future__ import annotations

from functools import cached_property
from itertools import islice
from typing import TYPE_CHECKING, Final, TypeAlias

from kubectl_policy.cached import cached_method
from kubectl_policy.comparison import may_exist
from kubectl_policy.model import NodeRef
from kubectl_policy.model.kinds import NAMESPACE
from kubectl_policy.resolution import reach
from kubectl_policy.resolution.enforcement import standing
from kubectl_policy.topology.references import ROUTES, WITH_LISTENERS

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator

    from kubectl_policy.analysis import Analysis
    from kubectl_policy.comparison import StateComparison
    from kubectl_policy.model import ObjectRef
    from kubectl_policy.resolution import Resolution
    from kubectl_policy.resolution.enforcement import EnforcementState
    from kubectl_policy.topology import Path

# The state of a policy, and who beats it; None where there is no such policy.
Standing: TypeAlias = "tuple[EnforcementState, tuple[ObjectRef, ...]] | None"
# So many routes are looked at for one of which nothing but the policy itself decides.
_TRIED: Final = 8


def change_of_standing(comparison: StateComparison, policy: ObjectRef) -> tuple[Standing, Standing] | None:
    """How far a policy is enforced in the earlier and in the later state; None if that is the same in both."""
    lasting = _of_lasting(comparison, policy)
    if lasting and lasting.is_the_same:
        return None
    known = lasting.standings() if lasting else None
    before, after = known or (_standing(comparison.before, policy), _standing(comparison.after, policy))
    return (before, after) if before != after else None


def _standing(analysis: Analysis, policy: ObjectRef) -> Standing:
    enforcement = analysis.enforcement(policy) if policy in analysis.attachments else None
    return (enforcement.state, enforcement.by) if enforcement else None


def _of_lasting(comparison: StateComparison, policy: ObjectRef) -> _Lasting | None:
    """Return the policy, if it is the same in both states, is attached above routes, and depends on policies alone."""
    before, around = comparison.before, comparison.surroundings
    # Where it is not known what a change can reach, the kind may be none of policies in one of the states.
    if around is None or policy in around.attached_otherwise:
        return None
    profile, attachments = before.registry.known(policy.group_kind), before.attachments.get(policy, ())
    # Whether the same becomes of policies of the kind wherever the same ones meet.
    if profile.policy_class != "inherited" or profile.refusal == "everywhere":
        return None
    if profile.has_object_fields or profile.by_listener or profile.variants or profile.exclusive_field:
        return None
    targets = [attachment.target for attachment in attachments if attachment.target and attachment.state == "attached"]
    if len(targets) != 1 or targets[0].object.group_kind not in WITH_LISTENERS:
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
        self._profile = comparison.before.registry.known(policy.group_kind)

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
        """How far it is enforced in the earlier and in the later state; None if it takes no less to look everywhere."""
        if len(self._before.index.world.names_of(self._policy.group_kind)) >= len(self._routes):
            return None
        common = self._in_both()
        if common is None:
            return None
        before, after = (common | self._of_changes(state) for state in (self._before, self._after))
        return standing(self._policy, before), standing(self._policy, after)

    def _in_both(self) -> dict[Resolution, None] | None:
        """What becomes of it on the paths that both states have; None if that is not found soon."""
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
        """What becomes of it in one state on the paths of what is changed, and on those that may end without that."""
        relations = state.topology.relations
        nodes = [NodeRef(obj) for obj in self._changed if may_exist(state, NodeRef(obj))]
        ends = [listener for listener in self._listeners if not relations.is_any_attached_to(listener)]
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
            if binding.listener and binding.state == "attached" and binding.parent.group_kind in WITH_LISTENERS
        }

    def _unchanged_through(self, node: NodeRef) -> dict[Resolution, None]:
        """What becomes of it on the paths through a node that both states have."""
        through = self._through(self._before, node)
        return {resolution: None for path, resolution in through if not self._is_changed(path)}

    def _through(self, state: Analysis, node: NodeRef) -> Iterator[tuple[Path, Resolution]]:
        """The paths through a node on which the policy is, each with what becomes of it there."""
        for path in state.topology.paths_through(node):
            reached = reach(path, self._profile)
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
