"""Two states of one world as two analyses that share what did not change, and what can differ between them."""

from __future__ import annotations

from functools import cached_property
from typing import TYPE_CHECKING, Final

from msgspec import Struct
from msgspec.structs import replace

from kubectl_policy.analysis import Analysis, analyze
from kubectl_policy.lazy import cached_method
from kubectl_policy.model.kind_roles import NAMESPACE, ROUTES
from kubectl_policy.model.kinds import CRD
from kubectl_policy.model.refs import NodeRef, ObjectRef
from kubectl_policy.resolution import paths_by_way_of
from kubectl_policy.states import STANDARD, Surroundings, changed, paired, same_object, surroundings

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Iterator, Sequence

    from kubectl_policy.model import GroupKind, Resource, Snapshot
    from kubectl_policy.profiles import PolicyKindProfile
    from kubectl_policy.resolution import EffectivePolicy
    from kubectl_policy.resolution.nodes import RankedPolicy
    from kubectl_policy.topology import Implementation, Path


def compare(
    before: Snapshot,
    after: Snapshot,
    *,
    profiles: Iterable[PolicyKindProfile] = (),
    implementation: Implementation | None = None,
) -> StateComparison:
    """The comparison of two states that were read separately; for the arguments see `analyze`."""
    old, new = paired(before, after)
    first = analyze(old, profiles=profiles, implementation=implementation)
    return StateComparison(first, first.of_state(new))


def what_if(
    analysis: Analysis,
    *,
    applied: Iterable[Resource] = (),
    deleted: Collection[ObjectRef] = (),
    unread: Snapshot | None = None,
) -> StateComparison:
    """The comparison of a state with the same state after objects are deleted and then others applied.

    Only these objects are deleted; for what goes with them see `cascade`. What could not be read of that which is to be
    applied is `unread`.
    """
    before, after = changed(analysis.snapshot, applied, deleted, unread)
    alone = not (before.other_state or analysis.snapshot.other_state)
    return StateComparison(analysis if alone else analysis.of_state(before), analysis.of_state(after))


class Pair(Struct, frozen=True, kw_only=True):
    """The effective policy of one kind at the end of a path, in both states.

    A state is None if no policy of the kind counts there, `in_before` and `in_after` say whether the path exists there
    and carries traffic, as far as is known.
    """

    kind: GroupKind
    path: Path
    before: EffectivePolicy | None
    after: EffectivePolicy | None
    in_before: bool
    in_after: bool


class StateComparison:
    """Two analyses. Make one with `compare` or `what_if`."""

    def __init__(self, before: Analysis, after: Analysis) -> None:
        """Let the later analysis have the topology of the earlier one, if nothing differs that it is made of."""
        self.before = before
        self.after = after
        self.shares_topology = self._differs_in_policies_alone()
        if self.shares_topology:
            self.after = after.with_topology_of(before)
        else:
            self.after = after.beside(before, {ref.group_kind for ref in self.changed | self.gone})

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
        """The objects that both states have, and not alike."""
        return frozenset(resource.ref for resource in self.after.snapshot.other_state) - self.deleted

    @property
    def gone(self) -> frozenset[ObjectRef]:
        """The objects that are known not to exist in one state alone, also those that were not read in the other."""
        return self.after.snapshot.gone ^ self.before.snapshot.gone

    @cached_property
    def changed(self) -> frozenset[ObjectRef]:
        """The objects that are not alike in both states."""
        return self.created | self.deleted | self.updated

    @cached_property
    def surroundings(self) -> Surroundings | None:
        """What the change can reach; None if that may be anything."""
        return surroundings(self.before, self.after, self.changed | self.gone)

    @cached_property
    def kinds(self) -> tuple[GroupKind, ...]:
        """The policy kinds of which either state has a policy; sorted."""
        both = (self.before, self.after)
        return tuple(sorted({policy.group_kind for state in both for policy in state.registry.policy_kinds}))

    def pairs(self, through: Collection[ObjectRef] | None = None) -> Iterator[Pair]:
        """Both outcomes on every path, and of every kind, that the change can reach; by kind, in the paths' order.

        Where a state has no traffic, nothing takes effect. Where it is known that only paths `through` some objects
        differ, no others are looked at, but for those on which policies do.
        """
        for kind in self.kinds:
            yield from self._pairs_of(kind, through)

    def route_pairs(self) -> Iterator[Pair]:
        """What the rules of changed routes say themselves in both states, on every path to them, in the paths' order.

        Of a route that only one state has there is nothing: with it requests go, or come, and not settings. A field
        that stands for a setting of policies in both states is in the pairs of these.
        """
        for route in sorted(ref for ref in self.updated if ref.group_kind in ROUTES):
            states = (self.before, self.after)
            old, new = ({*_to_rules(state, route)} for state in states)
            for path in sorted(old | new):
                there = (path in old, path in new)
                among = [
                    state.resolver.rule_fields_in_policies(path) if is_there else frozenset[str]()
                    for state, is_there in zip(states, there, strict=True)
                ]
                before, after = (
                    state.resolver.rules.at_end(path, among[0] & among[1]) if is_there else None
                    for state, is_there in zip(states, there, strict=True)
                )
                if before or after:
                    yield Pair(
                        kind=route.group_kind,
                        path=path,
                        before=before,
                        after=after,
                        in_before=there[0],
                        in_after=there[1],
                    )

    def _pairs_of(self, kind: GroupKind, through: Collection[ObjectRef] | None) -> Iterator[Pair]:
        nodes, around = self.nodes_with(kind), self.surroundings
        if around:
            # Only a route decides on a path, and only by way of one does another path to a backend begin or end.
            through = (*sorted(around.routes), *sorted(self._backends_of_their_own(kind, around.backends)))
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
            if not (earlier and later) and self._lasts_alone(path):
                continue
            before = self.before.resolver.effective_of(kind, earlier) if earlier else None
            same = before if known_alike and earlier == later and self._stands_alike(kind, path) else None
            after = self.after.resolver.effective_of(kind, later, same) if later else None
            if before or after:
                yield Pair(
                    kind=kind, path=path, before=before, after=after, in_before=bool(earlier), in_after=bool(later)
                )

    def _backends_of_their_own(self, kind: GroupKind, backends: Iterable[ObjectRef]) -> Iterator[ObjectRef]:
        """The backends to which there is a path without any route, or on which direct policies of a kind are."""
        has_ports = self.before.topology.relations.has_ports
        for backend in backends:
            attached = (each for state in (self.before, self.after) for each in state.attachments_to(backend))
            if not has_ports(backend.group_kind) or any(each.policy.group_kind == kind for each in attached):
                yield backend

    def _stands_alike(self, kind: GroupKind, path: Path) -> bool:
        """Whether both states have the same objects on a path, and the same policies of a kind on them."""
        before, after = self.before.index, self.after.index
        return self.differing(kind).isdisjoint(path) and all(
            before.get(node.object) is after.get(node.object) for node in path
        )

    @cached_method
    def differing(self, kind: GroupKind) -> frozenset[NodeRef]:
        """The nodes on which the policies of a kind, or their order, are not the same in both states."""
        before, after = self.before.resolver, self.after.resolver
        return frozenset(
            node
            for node in self.nodes_with(kind)
            if not _ranked_alike(before.ranked(node, kind), after.ranked(node, kind))
        )

    def nodes_with(self, kind: GroupKind) -> list[NodeRef]:
        """The nodes that policies of a kind are attached to, or keep others out of, in either state; sorted.

        Where it is known what the change can reach, only those are among them on which that may not be the same. Where
        a policy is refused everywhere at once, that may be any.
        """
        around = self.surroundings
        # What is known of a kind is the same in both states where it is known what a change can reach.
        if around and self.before.registry.profile(kind).refusal != "everywhere":
            otherwise = (policy for policy in around.reattached if policy.group_kind == kind)
            targets = {target for policy in otherwise for target in self._targets_of(policy)}
            # Policies of sections stand beside those of the whole object.
            both = (self.before, self.after)
            attached = (each for target in targets for state in both for each in state.attachments_to(target.object))
            policies = {each.policy for each in attached if each.policy.group_kind == kind}
            beside = {target for policy in policies for target in self._targets_of(policy)}
            objects = {target.object for target in targets}
            return sorted(targets | {target for target in beside if target.section and target.object in objects})
        return self._all_nodes_with(kind)

    def _all_nodes_with(self, kind: GroupKind) -> list[NodeRef]:
        both = (self.before.resolver, self.after.resolver)
        return sorted({node for resolver in both for node in resolver.nodes_with(kind)})

    def _targets_of(self, policy: ObjectRef) -> Iterator[NodeRef]:
        """Where a policy is attached in either state, or keeps others out."""
        every = (state.attachments.get(policy, ()) for state in (self.before, self.after))
        return (
            attachment.target
            for found in every
            for attachment in found
            if attachment.target and (attachment.competes or attachment.state == "attached")
        )

    def _lasts_alone(self, path: Path) -> bool:
        """Whether a path is that of a lasting backend to which nothing leads in one of the states.

        There it has a path of its own, on which traffic neither ends nor begins.
        """
        obj = path[-1].object
        own = (obj, ObjectRef(NAMESPACE, "", obj.namespace))
        return (
            all(node.object in own for node in path)
            and self.before.topology.relations.has_ports(obj.group_kind)
            and all(may_exist(state, path[-1]) for state in (self.before, self.after))
        )

    def profile_in(self, analysis: Analysis, kind: GroupKind) -> PolicyKindProfile:
        """What a state says of a kind, or the other one if it has no policy of it: it may define the kind otherwise."""
        states = [state for state in (analysis, self.before, self.after) if state.index.world.names_of(kind)]
        policies = (profile for state in states if (profile := state.registry.profile_of(kind)))
        return next(policies, None) or analysis.registry.profile(kind)

    def _paths(self, analysis: Analysis, kind: GroupKind, nodes: Sequence[NodeRef]) -> tuple[Path, ...]:
        profile, is_unattached = self.profile_in(analysis, kind), analysis.topology.relations.is_unattached
        # All paths through a route that is attached to nothing begin there.
        there = [
            node
            for node in nodes
            if may_exist(analysis, node) and not (node.object.group_kind in ROUTES and is_unattached(node.object))
        ]
        paths = paths_by_way_of(there, profile, analysis.topology)
        missing = list(_to_what_is_missing(there, profile, analysis))
        if missing:
            others = {*self._all_nodes_with(kind)} - {*nodes}
            missing = [path for path in missing if not others.isdisjoint(path)]
            paths = tuple(dict.fromkeys((*paths, *missing)))
        return tuple(path for path in paths if analysis.topology.carries_traffic(path))

    def _differs_in_policies_alone(self) -> bool:
        """Whether the objects that differ are policies, of kinds that nothing in the hierarchy refers to.

        Kinds of Gateway API itself and what routes and Gateways refer to may be what the hierarchy is made of.
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
        if not policies or any(self.before.topology.relations.filters_naming(ref) for ref in changed):
            return False
        return not kinds & {*_referred_to(self.before)}


def may_exist(analysis: Analysis, node: NodeRef) -> bool:
    """Whether an object or a section of it is there, as far as is known: what is not there has paths all the same."""
    if analysis.index.presence(node.object) == "missing":
        return False
    known = analysis.topology.sections(node.object) if node.section and analysis.index.get(node.object) else ()
    return not known or node.section in known


def _to_rules(analysis: Analysis, route: ObjectRef) -> Iterator[Path]:
    """The paths to the rules of a route on which requests get there."""
    for section in analysis.topology.sections(route):
        yield from filter(analysis.topology.carries_traffic, analysis.topology.paths(NodeRef(route, section)))


def _to_what_is_missing(nodes: Iterable[NodeRef], profile: PolicyKindProfile, analysis: Analysis) -> Iterator[Path]:
    """The paths through Namespaces to backends that are missing there.

    No policy takes effect there by way of such a Namespace alone, but it counts together with those of other targets.
    """
    topology = analysis.topology
    for node in nodes:
        if node.object.group_kind == NAMESPACE:
            known = topology.relations.namespace(node.object.name)
            missing = [NodeRef(obj) for obj in known if analysis.index.presence(obj) == "missing"]
            yield from paths_by_way_of(missing, profile, topology)


_IN_OLD: Final = 1
_IN_NEW: Final = 2
_IN_BOTH: Final = 3


def _matched(before: Collection[Path], after: Collection[Path]) -> Iterator[tuple[Path, Path, Path]]:
    """Every path with what it is in the earlier and in the later state; empty where it is not there; sorted.

    What leads to a rule is the same path if the backend below it has no ports there, or if there is none.
    """
    # To hash a path takes as long as all else here.
    states = dict.fromkeys(before, _IN_OLD)
    for path in after:
        states[path] = states.get(path, 0) | _IN_NEW
    taken: set[Path] = set()
    # Where only one state has any, none of them is another one there.
    is_any = {_IN_OLD: bool(after), _IN_NEW: bool(before)}
    for path, found in sorted(states.items(), key=lambda item: (-len(item[0]), item[0])):
        if taken and path in taken:
            continue
        if found == _IN_BOTH:
            yield path, path, path
            continue
        ends = _without_backend(path) if is_any[found] else ()
        other = next((end for end in ends if states.get(end, found) != found), ())
        if other:
            taken.add(other)
        yield (path, path, other) if found == _IN_OLD else (path, other, path)


def _without_backend(path: Path) -> Iterator[Path]:
    """What remains of a path that ends below a rule: without the port of its backend, then without the backend."""
    rule = next((place for place, node in enumerate(reversed(path)) if node.object.group_kind in ROUTES), 0)
    if rule:
        if path[-1].section:
            yield path[:-1]
        yield path[:-rule]


def _ranked_alike(before: Sequence[RankedPolicy], after: Sequence[RankedPolicy]) -> bool:
    return len(before) == len(after) and all(
        mine.policy.ref == theirs.policy.ref
        and same_object(mine.policy, theirs.policy)
        and (mine.filter_position, mine.refusal) == (theirs.filter_position, theirs.refusal)
        for mine, theirs in zip(before, after, strict=True)
    )


def _referred_to(analysis: Analysis) -> Iterator[GroupKind]:
    """The kinds of what routes send requests to, and of what Gateways and their classes have for parameters."""
    yield from analysis.topology.relations.kinds_of_other_backends
    yield from analysis.topology.relations.kinds_of_parameters
