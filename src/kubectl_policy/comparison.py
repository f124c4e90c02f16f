"""Compare two states of one world as two analyses, which share the parts that are equal in both."""

from __future__ import annotations

from functools import cached_property, partial
from itertools import chain
from typing import TYPE_CHECKING, Final

from msgspec import Struct
from msgspec.structs import replace

from kubectl_policy.analysis import Analysis, analyze
from kubectl_policy.lazy import cached_method
from kubectl_policy.model.kind_roles import NAMESPACE, ROUTES
from kubectl_policy.model.kinds import CRD
from kubectl_policy.model.refs import NodeRef, ObjectRef
from kubectl_policy.network.kinds import EVALUATED_KINDS
from kubectl_policy.resolution import EffectivePolicy, paths_by_way_of
from kubectl_policy.states import (
    STANDARD,
    Surroundings,
    apply_changes,
    as_added,
    pair_states,
    same_object,
    surroundings,
)

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Iterator, Sequence

    from kubectl_policy.model import GroupKind, Resource, Snapshot
    from kubectl_policy.profiles import PolicyKindProfile
    from kubectl_policy.resolution.nodes import RankedPolicy
    from kubectl_policy.topology import Implementation, Path


def compare(
    before: Snapshot,
    after: Snapshot,
    *,
    profiles: Iterable[PolicyKindProfile] = (),
    implementation: Implementation | None = None,
) -> StateComparison:
    """Compare two states that were read separately; for the arguments see `analyze`."""
    old, new = pair_states(before, after)
    first = analyze(old, profiles=profiles, implementation=implementation)
    return StateComparison(first, first.of_state(new))


def what_if(
    analysis: Analysis,
    *,
    applied: Iterable[Resource] = (),
    deleted: Collection[ObjectRef] = (),
    unread: Snapshot | None = None,
) -> StateComparison:
    """Compare a state with the same state after objects are deleted and others applied.

    Only these objects are deleted; `cascade` finds their dependents. `unread` has the gaps and diagnostics of the
    applied manifests.
    """
    has = analysis.index.world.has
    resources = (resource if has(resource.ref) else as_added(resource) for resource in applied)
    before, after = apply_changes(analysis.snapshot, resources, deleted, unread)
    is_unchanged = not (before.other_state or analysis.snapshot.other_state)
    return StateComparison(analysis if is_unchanged else analysis.of_state(before), analysis.of_state(after))


class Pair(Struct, frozen=True, kw_only=True):
    """The effective policy of one kind at the end of a path, in both states.

    A state is None if no policy of the kind counts in it. `in_before` and `in_after` say whether the path exists there
    and carries traffic, as far as is known.
    """

    kind: GroupKind
    path: Path
    before: EffectivePolicy | None
    after: EffectivePolicy | None
    in_before: bool
    in_after: bool


class StateComparison:
    """Two states as two analyses. Make one with `compare` or `what_if`."""

    def __init__(self, before: Analysis, after: Analysis) -> None:
        """Share the topology of the earlier analysis with the later one, as far as both have the same hierarchy."""
        self.before = before
        self.after = after
        self.shares_topology = self._differs_in_policies_alone()
        if self.shares_topology:
            self.after = after.with_topology_of(before)
        else:
            self.after = after.sharing(before, {ref.group_kind for ref in self.changed | self.gone})
        if self._differs_in_network_policies_alone():
            read_network = partial(before.network.in_state, changed=self.changed | self.gone)
            self.after = replace(self.after, read_network=read_network)

    @cached_property
    def created(self) -> frozenset[ObjectRef]:
        """The objects that only the later state has."""
        theirs = (resource.ref for resource in self.before.snapshot.other_state)
        return frozenset(ref for ref in theirs if not self.before.index.get(ref))

    @cached_property
    def deleted(self) -> frozenset[ObjectRef]:
        """The objects that only the earlier state has."""
        theirs = (resource.ref for resource in self.after.snapshot.other_state)
        return frozenset(ref for ref in theirs if not self.after.index.get(ref))

    @cached_property
    def updated(self) -> frozenset[ObjectRef]:
        """The objects that both states have, with different content."""
        return frozenset(resource.ref for resource in self.after.snapshot.other_state) - self.deleted

    @property
    def gone(self) -> frozenset[ObjectRef]:
        """The objects that are known not to exist in exactly one state, also those that were not read in the other."""
        return self.after.snapshot.gone ^ self.before.snapshot.gone

    @cached_property
    def changed(self) -> frozenset[ObjectRef]:
        """The objects that differ between the states."""
        return self.created | self.deleted | self.updated

    @cached_property
    def surroundings(self) -> Surroundings | None:
        """The surroundings of the changed objects; None if the change may reach any object."""
        return surroundings(self.before, self.after, self.changed | self.gone)

    @cached_property
    def kinds(self) -> tuple[GroupKind, ...]:
        """The policy kinds of which either state has a policy; sorted."""
        both = (self.before, self.after)
        return tuple(sorted({policy.group_kind for state in both for policy in state.registry.policy_kinds}))

    def pairs(self, through: Collection[ObjectRef] | None = None) -> Iterator[Pair]:
        """Yield both outcomes on every path, and of every kind, that the change can reach; by kind, then by path.

        Nothing takes effect on a path without traffic. If only paths `through` some objects can differ, only these are
        compared, and those with differing policies.
        """
        for kind in self.kinds:
            yield from self._pairs_of(kind, through)

    def route_pairs(self) -> Iterator[Pair]:
        """Yield the settings that changed routes and backends make themselves, on every path to them, in their order.

        Routes that only one state has are left out: they lose or gain requests, not settings. A field that stands for a
        setting of policies in both states is in the pairs of these policies.
        """
        states = (self.before, self.after)
        for route in sorted(ref for ref in self.updated if self.after.registry.route_settings_of(ref.group_kind)):
            old, new = ({*_to_rules(state, route)} for state in states)
            for path in sorted(old | new):
                exists = (path in old, path in new)
                fields = [
                    state.resolver.rule_fields_in_policies(path) if has_path else frozenset[str]()
                    for state, has_path in zip(states, exists, strict=True)
                ]
                before, after = (
                    state.resolver.rules.at_end(path, fields[0] & fields[1]) if has_path else None
                    for state, has_path in zip(states, exists, strict=True)
                )
                if before or after:
                    yield Pair(
                        kind=route.group_kind,
                        path=path,
                        before=before,
                        after=after,
                        in_before=exists[0],
                        in_after=exists[1],
                    )

    def _pairs_of(self, kind: GroupKind, through: Collection[ObjectRef] | None) -> Iterator[Pair]:
        nodes, around = self.nodes_with(kind), self.surroundings
        if around:
            # Only routes decide on paths, and paths to backends begin or end only through routes.
            through = (*sorted(around.routes), *sorted(self._backends_without_routes(kind, around.backends)))
        if self.shares_topology or through is not None:
            differing = self.differing(kind)
            # A policy of the whole object may count at its sections as soon as these have policies of their own.
            nodes = [node for node in nodes if node in differing or replace(node, section="") in differing]
            nodes += [NodeRef(obj) for obj in through or ()]
        old = self._paths(self.before, kind, nodes)
        both = self.shares_topology
        matched = ((path, path, path) for path in old) if both else _matched(old, self._paths(self.after, kind, nodes))
        old_profile, new_profile = self.before.registry.profile_of(kind), self.after.registry.profile_of(kind)
        # Definitions say what is filled in where an object leaves a field out.
        known_alike = old_profile == new_profile and self.before.index.of_kind(CRD) == self.after.index.of_kind(CRD)
        for path, earlier, later in matched:
            if not (earlier and later) and self._is_backend_in_both(path):
                continue
            before = self.before.resolver.effective_of(kind, earlier) if earlier else None
            same = before if known_alike and earlier == later and self._stands_alike(kind, path) else None
            after = self.after.resolver.effective_of(kind, later, same) if later else None
            if before or after:
                yield Pair(
                    kind=kind, path=path, before=before, after=after, in_before=bool(earlier), in_after=bool(later)
                )

    def _backends_without_routes(self, kind: GroupKind, backends: Iterable[ObjectRef]) -> Iterator[ObjectRef]:
        """Yield the backends that have a path without any route, or direct policies of a kind."""
        has_ports = self.before.topology.relations.has_ports
        for backend in backends:
            attached = chain(self.before.attachments_to(backend), self.after.attachments_to(backend))
            if not has_ports(backend.group_kind) or any(to.policy.group_kind == kind for to in attached):
                yield backend

    def _stands_alike(self, kind: GroupKind, path: Path) -> bool:
        """Whether both states have the same objects on a path, with the same policies of a kind."""
        before, after = self.before.index, self.after.index
        return self.differing(kind).isdisjoint(path) and all(
            before.get(node.object) is after.get(node.object) for node in path
        )

    @cached_method
    def differing(self, kind: GroupKind) -> frozenset[NodeRef]:
        """Return the nodes on which the policies of a kind, or their order, differ between the states."""
        before, after = self.before.resolver, self.after.resolver
        return frozenset(
            node
            for node in self.nodes_with(kind)
            if not _ranked_alike(before.ranked(node, kind), after.ranked(node, kind))
        )

    def nodes_with(self, kind: GroupKind) -> list[NodeRef]:
        """Return the nodes that policies of a kind are attached to, or keep rivals out of, in either state; sorted.

        If the reach of the change is known, only nodes are returned on which that may differ, except where policies are
        refused on all of their targets at once.
        """
        around = self.surroundings
        # Both states have the same profiles if the reach of the change is known.
        if around and self.before.registry.profile(kind).refusal != "everywhere":
            reattached = (policy for policy in around.reattached if policy.group_kind == kind)
            targets = {target for policy in reattached for target in self._targets_of(policy)}
            objects = {target.object for target in targets}
            # Policies on sections compete with those on the whole object.
            both = (self.before, self.after)
            attachments = (attachment for state in both for obj in objects for attachment in state.attachments_to(obj))
            policies = {attachment.policy for attachment in attachments if attachment.policy.group_kind == kind}
            rival_targets = {target for policy in policies for target in self._targets_of(policy)}
            return sorted(targets | {target for target in rival_targets if target.section and target.object in objects})
        return self._all_nodes_with(kind)

    def _all_nodes_with(self, kind: GroupKind) -> list[NodeRef]:
        both = (self.before.resolver, self.after.resolver)
        return sorted({node for resolver in both for node in resolver.nodes_with(kind)})

    def _targets_of(self, policy: ObjectRef) -> Iterator[NodeRef]:
        """Yield the targets, in either state, of a policy that is attached, keeps rivals out or makes requests fail."""
        return (
            attachment.target
            for state in (self.before, self.after)
            for attachment in state.attachments.get(policy, ())
            if attachment.target
            and (attachment.competes or attachment.fails_requests or attachment.state == "attached")
        )

    def _is_backend_in_both(self, path: Path) -> bool:
        """Whether a path leads to a backend without any route, and the backend exists in both states.

        Traffic neither begins nor ends on such a path.
        """
        obj = path[-1].object
        return (
            all(node.object in {obj, ObjectRef(NAMESPACE, "", obj.namespace)} for node in path)
            and self.before.topology.relations.has_ports(obj.group_kind)
            and all(may_exist(state, path[-1]) for state in (self.before, self.after))
        )

    def profile_in(self, analysis: Analysis, kind: GroupKind) -> PolicyKindProfile:
        """Return the profile of a kind in a state or, if that has no policy of the kind, in the other state."""
        states = [state for state in (analysis, self.before, self.after) if state.index.world.refs_of(kind)]
        policies = (profile for state in states if (profile := state.registry.profile_of(kind)))
        return next(policies, None) or analysis.registry.profile(kind)

    def _paths(self, analysis: Analysis, kind: GroupKind, nodes: Sequence[NodeRef]) -> tuple[Path, ...]:
        profile, is_unattached = self.profile_in(analysis, kind), analysis.topology.relations.is_unattached
        # All paths through a route that is attached to nothing begin there.
        existing = [
            node
            for node in nodes
            if may_exist(analysis, node) and not (node.object.group_kind in ROUTES and is_unattached(node.object))
        ]
        paths = paths_by_way_of(existing, profile, analysis.topology)
        missing = list(_paths_to_missing_backends(existing, profile, analysis))
        if missing:
            remaining_nodes = {*self._all_nodes_with(kind)} - {*nodes}
            missing = [path for path in missing if not remaining_nodes.isdisjoint(path)]
            paths = tuple(dict.fromkeys((*paths, *missing)))
        return tuple(path for path in paths if analysis.topology.carries_traffic(path))

    def _differs_in_policies_alone(self) -> bool:
        """Whether all objects that differ are policies, of kinds that nothing in the hierarchy refers to.

        Kinds of Gateway API, and kinds to which routes and Gateways refer, may be parts of the hierarchy.
        """
        changed = self.changed | self.gone
        kinds = {ref.group_kind for ref in changed}
        if not kinds:
            return True
        policies = all(
            kind.group not in STANDARD and state.registry.profile_of(kind)
            for kind in kinds
            for state in (self.before, self.after)
        )
        relations = self.before.topology.relations
        if not policies or any(map(relations.filters_naming, changed)):
            return False
        return kinds.isdisjoint(relations.kinds_of_other_backends) and kinds.isdisjoint(relations.kinds_of_parameters)

    def _differs_in_network_policies_alone(self) -> bool:
        """Whether all objects that differ are network policies, so that both states have the same workloads."""
        changed = self.changed | self.gone
        are_read_alike = self.before.snapshot.is_read_like(self.after.snapshot)
        return are_read_alike and all(ref.group_kind in EVALUATED_KINDS for ref in changed)


def may_exist(analysis: Analysis, node: NodeRef) -> bool:
    """Whether an object or a section of it exists, as far as is known: missing nodes have paths as well."""
    if analysis.index.presence(node.object) == "missing":
        return False
    known = analysis.topology.sections(node.object) if node.section and analysis.index.get(node.object) else ()
    return not known or node.section in known


def _to_rules(analysis: Analysis, route: ObjectRef) -> Iterator[Path]:
    """Yield the paths to the rules of a route, or to a backend, that carry traffic."""
    for section in analysis.topology.sections(route) if route.group_kind in ROUTES else ("",):
        yield from filter(analysis.topology.carries_traffic, analysis.topology.paths(NodeRef(route, section)))


def _paths_to_missing_backends(
    nodes: Iterable[NodeRef], profile: PolicyKindProfile, analysis: Analysis
) -> Iterator[Path]:
    """Yield the paths through Namespaces to backends that do not exist.

    The Namespace alone makes no policy effective there, but its policies count together with those of other targets.
    """
    topology = analysis.topology
    for node in nodes:
        if node.object.group_kind == NAMESPACE:
            known = topology.relations.objects_in(node.object.name)
            missing = [NodeRef(obj) for obj in known if analysis.index.presence(obj) == "missing"]
            yield from paths_by_way_of(missing, profile, topology)


_IN_OLD: Final = 1
_IN_NEW: Final = 2
_IN_BOTH: Final = 3


def _matched(before: Collection[Path], after: Collection[Path]) -> Iterator[tuple[Path, Path, Path]]:
    """Yield every path with its form in the earlier and in the later state, empty where it does not exist; sorted.

    A path to a rule is the same one if its backend has no ports in a state, or if there is no backend.
    """
    # To hash a path takes as long as everything else in this function.
    states = dict.fromkeys(before, _IN_OLD)
    for path in after:
        states[path] = states.get(path, 0) | _IN_NEW
    taken: set[Path] = set()
    # If only one state has paths, none of them has a counterpart.
    is_any = {_IN_OLD: bool(after), _IN_NEW: bool(before)}
    for path, state in sorted(states.items(), key=lambda item: (-len(item[0]), item[0])):
        if taken and path in taken:
            continue
        if state == _IN_BOTH:
            yield path, path, path
            continue
        shorter = _without_backend(path) if is_any[state] else ()
        counterpart = next((end for end in shorter if states.get(end, state) != state), ())
        if counterpart:
            taken.add(counterpart)
        yield (path, path, counterpart) if state == _IN_OLD else (path, counterpart, path)


def _without_backend(path: Path) -> Iterator[Path]:
    """Yield a path below a rule without the port of its backend, then without the backend."""
    depth = next((depth for depth, node in enumerate(reversed(path)) if node.object.group_kind in ROUTES), 0)
    if depth:
        if path[-1].section:
            yield path[:-1]
        yield path[:-depth]


def _ranked_alike(before: Sequence[RankedPolicy], after: Sequence[RankedPolicy]) -> bool:
    return len(before) == len(after) and all(
        mine.policy.ref == theirs.policy.ref
        and same_object(mine.policy, theirs.policy)
        and (mine.filter_position, mine.refusal, mine.ignored, mine.invalid)
        == (theirs.filter_position, theirs.refusal, theirs.ignored, theirs.invalid)
        for mine, theirs in zip(before, after, strict=True)
    )
