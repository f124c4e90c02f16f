"""Pipeline from a snapshot to an analysis, which computes topology, attachments, effects and problems on demand."""

from __future__ import annotations

from functools import cache, cached_property
from itertools import chain
from typing import TYPE_CHECKING, Final

from msgspec import Struct
from msgspec.structs import replace

from kubectl_policy.attachment import Attachment, Call, SettingsReference, SettingsReferences, calls_of
from kubectl_policy.attachment.attachment import WITHOUT_TARGET
from kubectl_policy.attachment.attachments import SELECTING, Attachments, PossibleAttachments
from kubectl_policy.attachment.settings import ANY_KIND
from kubectl_policy.attachment.validity import RequiredReference, may_leave_out_namespace, unread_needs
from kubectl_policy.errors import NotFoundError, StillToBeRead
from kubectl_policy.lazy import cached_method
from kubectl_policy.model import Diagnostic, FieldPath, GroupKind, NodeRef, ObjectRef, Resource, Snapshot
from kubectl_policy.model.index import Index, Referrers
from kubectl_policy.model.kind_roles import LISTENER_HOLDERS, NAMESPACE
from kubectl_policy.model.world import grouped, reachable
from kubectl_policy.network import read_network
from kubectl_policy.problems import Problems
from kubectl_policy.profiles import PolicyKindProfile, Registry
from kubectl_policy.profiles.load import built_in_groups
from kubectl_policy.profiles.makers import creations_of
from kubectl_policy.profiles.needs import with_those_through
from kubectl_policy.resolution import EffectivePolicy, Resolver, reached_part, takes_effect_below
from kubectl_policy.topology import Implementation, Path, Topology
from kubectl_policy.validation import new_evaluator

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterable, Iterator, Mapping

    from kubectl_policy.network.network import Network
    from kubectl_policy.network.unevaluated import UnevaluatedPolicies
    from kubectl_policy.resolution.enforcement import Contention, Enforcement, Enforcements
    from kubectl_policy.topology.workloads import Workloads
    from kubectl_policy.validation.expressions import Evaluator

# Names in the hint about an object or a kind that does not exist.
_MAX_HINTS: Final = 5


def analyze(
    snapshot: Snapshot, *, profiles: Iterable[PolicyKindProfile] = (), implementation: Implementation | None = None
) -> Analysis:
    """Analyse a snapshot; `profiles` (see `load_profiles`) replace the built-in ones.

    Nothing is computed before it is asked for, nothing is read again, and the snapshot is never changed: to compare two
    states, analyse both.
    """
    known = tuple(profiles)
    index = Index(snapshot, created_by=creations_of(known))
    return _analysis(index, known, implementation or Implementation(), cache(new_evaluator))


def _analysis(
    index: Index,
    profiles: tuple[PolicyKindProfile, ...],
    implementation: Implementation,
    evaluator_of_world: Callable[[], Evaluator],
) -> Analysis:
    registry = Registry(index, profiles, implementation.settings)
    topology = Topology(index, implementation, registry)
    return Analysis(index.snapshot, index, registry, topology, profiles, evaluator_of_world)


class Analysis(Struct, frozen=True, dict=True, eq=False):
    """One snapshot with its topology, its policies and their effects. Make one with `analyze`.

    Its parts compute on demand; the analyses of two states share the parts that are equal in both.
    """

    snapshot: Snapshot
    index: Index
    registry: Registry
    topology: Topology
    _profiles: tuple[PolicyKindProfile, ...]
    _evaluator_of_world: Callable[[], Evaluator]
    read_network: Callable[[Index], Network] = read_network

    def of_state(self, snapshot: Snapshot) -> Analysis:
        """Analyse another state of the world, with the same profiles, settings and budget."""
        implementation = self.topology.gateways.implementation
        index = Index(snapshot, self.index, creations_of(self._profiles))
        return _analysis(index, self._profiles, implementation, self._evaluator_of_world)

    def with_topology_of(self, earlier: Analysis) -> Analysis:
        """Return this analysis with the topology of an earlier state, which has the same hierarchy."""
        return replace(self, topology=earlier.topology.with_index(self.index))

    def sharing(self, earlier: Analysis, differing: Collection[GroupKind]) -> Analysis:
        """Return this analysis with what of an earlier topology does not depend on `differing` kinds."""
        return replace(self, topology=self.topology.reusing(earlier.topology, differing))

    @cached_property
    def policies(self) -> tuple[Resource, ...]:
        """Every policy, sorted by kind, namespace and name; filters and parameters are none."""
        kinds = (profile.group_kind for profile in self.registry.policy_kinds if profile.role == "policy")
        return tuple(policy for kind in kinds for policy in self.index.of_kind(kind))

    @cached_property
    def attachments(self) -> Attachments:
        """The attachments of each policy, filter and object with parameters, in their order, also the failed ones."""
        return Attachments(self.topology, self.registry)

    def attachments_to(self, obj: ObjectRef) -> tuple[Attachment, ...]:
        """The attachments, of any state, whose target is an object or one of its sections; sorted by policy."""
        return self.attachments.to(obj)

    def calls_to(self, backend: ObjectRef) -> tuple[Call, ...]:
        """Return the references by which attached policies send requests to a backend themselves."""
        return tuple(
            call
            for call in self._calls.to(backend)
            if any(attachment.state == "attached" for attachment in self.attachments[call.policy])
        )

    def references_to(self, obj: ObjectRef) -> tuple[SettingsReference, ...]:
        """Return the settings of policies that name an object, or seem to, in the order of the policies.

        Settings of a policy without any usable target are left out.
        """
        # Settings may name an object without its kind.
        unspecific = replace(obj, group_kind=ANY_KIND)
        return tuple(
            reference
            for reference in self._settings_references.to(unspecific)
            if reference.policy != obj
            and reference.object in {obj, unspecific}
            and not self._has_no_target(reference.policy)
        )

    @cached_property
    def _settings_references(self) -> Referrers[SettingsReference]:
        kinds = (profile.group_kind for profile in self.registry.policy_kinds)
        reader = SettingsReferences(self.index)

        def references_of(policy: ObjectRef) -> Iterator[tuple[ObjectRef, SettingsReference]]:
            profile, resource = self.registry.profile(policy.group_kind), self.index.get(policy)
            for reference in reader.of(resource, profile) if resource else ():
                yield replace(reference.object, group_kind=ANY_KIND), reference

        return Referrers(self.index, kinds, references_of, self._possible_referrers)

    def _possible_referrers(self, kind: GroupKind, obj: ObjectRef) -> Iterator[ObjectRef]:
        """Yield the policies of a kind whose settings may name or select an object, or an object that names it."""
        index, needs = self.index, [*with_those_through(self.registry.profile(kind).every_need)]
        intermediate_kinds = {named for need in needs if need.through for named in need.group_kinds}
        by_labels = {need.field.rstrip(".*").rpartition(".")[2] for need in needs if need.by == "labels"}
        selecting = by_labels | SELECTING if by_labels else ()
        start = replace(obj, namespace="") if may_leave_out_namespace(index, obj, needs) else obj

        def selectors_of(holder_kind: GroupKind) -> Iterator[ObjectRef]:
            return (ref for field in selecting for ref in index.naming(holder_kind, field))

        def holders_of(ref: ObjectRef) -> Iterator[ObjectRef]:
            for holder_kind in intermediate_kinds:
                holders = (*index.naming(holder_kind, ref), *selectors_of(holder_kind))
                yield from (replace(holder, namespace="") for holder in holders)

        yield from selectors_of(kind)
        for ref in reachable([start], holders_of):
            yield from index.naming(kind, ref)

    def policies_that_may_name(self, obj: ObjectRef) -> Iterator[ObjectRef]:
        """Yield the policies that may name or select an object anywhere."""
        for profile in self.registry.policy_kinds:
            yield from self._possible_referrers(profile.group_kind, obj)

    def _has_no_target(self, policy: ObjectRef) -> bool:
        attachments = self.attachments[policy]
        return bool(attachments) and all(attachment.state in WITHOUT_TARGET for attachment in attachments)

    @cached_method
    def unread_needs(self, policy: ObjectRef) -> tuple[RequiredReference, ...]:
        """Return the objects that a policy needs and that may not exist, or may not be referred to."""
        profile, resource = self.registry.profile(policy.group_kind), self.index.get(policy)
        return tuple(unread_needs(self.index, resource, profile)) if resource else ()

    @cached_property
    def workloads(self) -> Workloads:
        """The Pods, and the controllers of which no Pod was read."""
        return self.network.workloads

    @cached_property
    def network(self) -> Network:
        """The network policies of all tiers."""
        return self.read_network(self.index)

    @cached_property
    def unevaluated(self) -> UnevaluatedPolicies:
        """The policies about connections whose rules are not evaluated."""
        from kubectl_policy.network.unevaluated import UnevaluatedPolicies  # noqa: PLC0415 (few answers need it)

        return UnevaluatedPolicies(self.registry, self.workloads)

    @property
    def evaluator(self) -> Evaluator:
        """The evaluator of expressions, with one budget for all states of the world."""
        return self._evaluator_of_world()

    @property
    def is_uncertain(self) -> bool:
        """Whether relations or attachments depend on placeholders, or attachments on objects that were not read."""
        return self.has_placeholders or self.possible_attachments.has_any

    @property
    def has_placeholders(self) -> bool:
        """Whether relations or attachments depend on placeholders."""
        return self.topology.possible.has_any or self.possible_attachments.has_placeholders

    @cached_property
    def possible_attachments(self) -> PossibleAttachments:
        """The attachments that may exist in addition to those that do."""
        return PossibleAttachments(self.attachments)

    @cached_property
    def _calls(self) -> Referrers[Call]:
        with_backends = (profile for profile in self.registry.policy_kinds if profile.backend_fields)
        return Referrers(self.index, (profile.group_kind for profile in with_backends), self._calls_of)

    def _calls_of(self, policy: ObjectRef) -> Iterator[tuple[ObjectRef, Call]]:
        resource = self.index.get(policy)
        for call in calls_of(self.index, resource, self.registry.profile(policy.group_kind)) if resource else ():
            yield call.backend, call

    def effective(self, node: NodeRef, kind: GroupKind | None = None) -> tuple[EffectivePolicy, ...]:
        """Return the effective policies at a node, for each path that leads to it; of one policy kind, if given.

        Kinds that take effect only at ancestors of the node are left out, and so are policies of its descendants, such
        as the rules of a route; `in_force` has all of these. Raises `NotFoundError` for an object that was not read,
        for a section that it lacks, and for a kind that is no policy kind.
        """
        self.require(node)
        if kind is not None:
            self.require_kind(kind)
        return tuple(
            effective
            for path in self.topology.paths(node)
            for effective in self.effective_on(path)
            if kind in {None, effective.resolution.kind}
        )

    def require(self, node: NodeRef) -> None:
        """Raise `NotFoundError` for an object that was neither read nor is referred to, and for a missing section."""
        obj = node.object
        if self.index.presence(obj) != "present" and (self.index.world.is_waiting or not self.is_named(obj)):
            if self.index.world.is_waiting:
                raise StillToBeRead(str(obj))
            names = sorted(resource.ref.qualified_name for resource in self.index.of_kind(obj.group_kind))
            hint = f"there are: {', '.join(names[:_MAX_HINTS])}" if names else f"{self.index.source} has no {obj.kind}"
            raise self.not_read(obj, hint)
        if node.section and self.index.get(obj) and node.section not in self.topology.sections(obj):
            raise NotFoundError(f"{obj} has no section {node.section}", self.topology.sections_phrase(obj))

    def not_read(self, obj: ObjectRef, hint: str = "") -> NotFoundError:
        """Return the error that an object was not read: it does not exist, or a cluster refused it."""
        hidden = next(self.index.absence.hiding(obj), None)
        if hidden:
            return NotFoundError(f"{obj} {hidden.phrase}", f"Needs: {hidden.needs}" if hidden.needs else hidden.remedy)
        return NotFoundError(f"{obj} is not in {self.index.source}", hint)

    def require_kind(self, kind: GroupKind) -> None:
        """Raise `NotFoundError` for a kind that is no policy kind; the hint has kinds with similar names."""
        if self.registry.profile_of(kind):
            return
        import difflib  # noqa: PLC0415 (only a mistake needs it)

        read = {profile.group_kind for profile in self.registry.policy_kinds}
        policy_kinds = sorted(read.union(self.registry.profiled(built_in_groups())))
        names = difflib.get_close_matches(kind.kind, sorted({candidate.kind for candidate in policy_kinds}), cutoff=0.8)
        alike = [candidate for name in names for candidate in policy_kinds if candidate.kind == name]
        alike.sort(key=lambda candidate: candidate.group != kind.group)
        near = [str(candidate) for candidate in alike[:_MAX_HINTS]]
        is_meant = kind in self.index.group_kinds or not near
        hint = f"it {self.registry.why_not_policy_kind(kind)}" if is_meant else f"did you mean {' or '.join(near)}?"
        raise NotFoundError(f"{kind} is not a policy kind", hint)

    def is_named(self, obj: ObjectRef) -> bool:
        """Whether an object in the input names another one: as a target, parent, backend, parameter or certificate.

        Policies whose attachment is not computed may be about any object of the kinds that they target.
        """
        whole = NodeRef(obj)
        return bool(
            self.attachments_to(obj)
            or self.topology.relations.referring.naming.to(obj)
            or any(
                obj.group_kind in profile.declared_targets and profile.attachment == "none"
                for profile in self.registry.policy_kinds
            )
            or self.topology.children(whole)
            or any(parent.object.group_kind != NAMESPACE for parent in self.topology.parents(whole))
            or any(reference.object == obj for reference in self.references_to(obj))
            or self._certificates.to(obj)
        )

    @property
    def kinds_in_settings(self) -> frozenset[GroupKind]:
        """The kinds of objects that settings of policies name, as far as they are known."""
        references = chain.from_iterable(self._settings_references.all.values())
        kinds = {reference.object.group_kind for reference in references if not self._has_no_target(reference.policy)}
        return frozenset(kinds) - {ANY_KIND}

    @cached_property
    def _certificates(self) -> Referrers[ObjectRef]:
        return Referrers(self.index, LISTENER_HOLDERS, self._certificates_of)

    def _certificates_of(self, owner: ObjectRef) -> Iterator[tuple[ObjectRef, ObjectRef]]:
        from kubectl_policy.topology.gateway.certificates import certificate_refs  # noqa: PLC0415 (few answers need it)

        gateways = self.topology.gateways
        for listener in gateways.listeners(owner):
            yield from ((ref.target, owner) for ref in certificate_refs(gateways, listener))

    def effective_on(self, path: Path) -> tuple[EffectivePolicy, ...]:
        """Return the effective policy of each kind at the end of one path, sorted by kind; see `effective`."""
        return tuple(effective for effective in self.resolver.effective(path) if self._reaches(effective))

    def _reaches(self, effective: EffectivePolicy) -> bool:
        profile = self.registry.profile(effective.resolution.kind)
        reached = reached_part(effective.path, profile) if profile.policy_class == "inherited" else ()
        if not reached:
            return profile.policy_class == "direct" or takes_effect_below(effective.target, profile)
        return reached[-1].object == effective.target.object

    def affected_by(self, node: NodeRef) -> tuple[ObjectRef, ...]:
        """Return the policies with at least one effective field at a node, on any path that carries traffic; sorted.

        Raises `NotFoundError` as `effective` does.
        """
        in_traffic = (effective for effective in self.effective(node) if self.topology.carries_traffic(effective.path))
        return tuple(sorted({ref for effective in in_traffic for ref in effective.resolution.policies_in_force}))

    def enforcement(self, policy: ObjectRef) -> Enforcement:
        """Return the enforcement of a policy over all its paths. Raises `NotFoundError` for an unknown policy."""
        if policy not in self.attachments:
            raise NotFoundError(
                f"{policy} is not a policy that was read", self.registry.why_not_policy_kind(policy.group_kind)
            )
        profile = self.registry.profile(policy.group_kind)
        if profile.attachment != "connections" and not profile.is_staged:
            return self._enforcements.of(policy)
        from kubectl_policy.resolution.connections import draft, enforce_on_connections  # noqa: PLC0415 (few need it)

        return draft(policy) if profile.is_staged else enforce_on_connections(policy, self.network.subjects_of(policy))

    def contentions(self, policy: ObjectRef) -> tuple[Contention, ...]:
        """Return the entries that targets of a policy share with other targets although they must not."""
        profile = self.registry.profile(policy.group_kind)
        return self._enforcements.contentions(policy) if profile.exclusive_field else ()

    @cached_property
    def _enforcements(self) -> Enforcements:
        from kubectl_policy.resolution.enforcement import Enforcements  # noqa: PLC0415 (few answers need it)

        return Enforcements(self.topology, self.registry, self.attachments, self.resolver)

    @cached_property
    def resolver(self) -> Resolver:
        """The resolver of effective policies on single paths."""
        return Resolver(self.topology, self.registry, self.attachments)

    @property
    def diagnostics(self) -> tuple[Diagnostic, ...]:
        """The problems in the snapshot: those from reading, then those of each object, by kind and name."""
        resources = (resource for kind in self.index.group_kinds for resource in self.index.of_kind(kind))
        return (
            *self.snapshot.diagnostics,
            *(problem for resource in resources for problem in self._problems.of(resource)),
        )

    def problems_of(self, obj: ObjectRef) -> tuple[Diagnostic, ...]:
        """Return the problems whose subject is one object; no other object is checked."""
        resource = self.index.get(obj)
        return (*self._read_problems.get(obj, ()), *(self._problems.of(resource) if resource else ()))

    def shape_problems_of(self, obj: ObjectRef) -> tuple[Diagnostic, ...]:
        """Return the problems of an object by itself: wrong types, and values that schemas refuse."""
        resource = self.index.get(obj)
        return tuple(self._problems.of_shape(resource)) if resource else ()

    def problems_by_gateway_api(self, obj: ObjectRef) -> tuple[Diagnostic, ...]:
        """Return what Gateway API's own definition refuses of an object whose kind has none in the input."""
        resource = self.index.get(obj)
        return tuple(self._problems.by_gateway_api(resource)) if resource else ()

    def dropped_fields(self, obj: ObjectRef) -> tuple[FieldPath, ...]:
        """Return the fields of an object that an API server would drop, as its definition does not know them."""
        resource = self.index.get(obj)
        return self._problems.dropped(resource) if resource else ()

    def has_relations(self, kind: GroupKind) -> bool:
        """Whether objects of a kind can have problems that involve other objects."""
        return self._problems.has_relations(kind)

    def relation_problems_of(self, obj: ObjectRef) -> tuple[Diagnostic, ...]:
        """Return the problems of an object that involve other objects."""
        resource = self.index.get(obj)
        return tuple(self._problems.of_relations(resource)) if resource else ()

    @cached_property
    def _problems(self) -> Problems:
        return Problems(self.topology, self.registry, self.attachments, self.contentions, self._evaluator_of_world)

    @cached_property
    def _read_problems(self) -> Mapping[ObjectRef, tuple[Diagnostic, ...]]:
        return grouped((problem.subject, problem) for problem in self.snapshot.diagnostics if problem.subject)
