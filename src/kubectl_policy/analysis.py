"""The pipeline in one place: from a snapshot to everything that can be asked of it."""

from __future__ import annotations

from functools import cache, cached_property
from itertools import chain
from typing import TYPE_CHECKING, Final

from msgspec import Struct
from msgspec.structs import replace

from kubectl_policy.attachment import Attachment, Call, SettingsReference, SettingsReferences, calls_of
from kubectl_policy.attachment.attachment import WITHOUT_TARGET
from kubectl_policy.attachment.attachments import SELECTING, Attachments, PossibleAttachments
from kubectl_policy.attachment.settings import ANY_KIND, may_mean
from kubectl_policy.attachment.validity import may_leave_out_namespace, unread_needs
from kubectl_policy.errors import NotFoundError, StillToBeRead
from kubectl_policy.lazy import cached_method
from kubectl_policy.model import NodeRef
from kubectl_policy.model.index import Index, Referrers
from kubectl_policy.model.kind_roles import LISTENER_HOLDERS, NAMESPACE
from kubectl_policy.problems import Problems
from kubectl_policy.profiles import PolicyKindProfile, Registry
from kubectl_policy.profiles.load import built_in_groups
from kubectl_policy.profiles.needs import with_those_through
from kubectl_policy.resolution import EffectivePolicy, Resolver, reached_part, takes_effect_below
from kubectl_policy.topology import Implementation, Path, Topology
from kubectl_policy.validation import new_evaluator

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterable, Iterator

    from kubectl_policy.attachment.validity import RequiredReference
    from kubectl_policy.model import Diagnostic, FieldPath, GroupKind, ObjectRef, Resource, Snapshot
    from kubectl_policy.resolution.enforcement import Contention, Enforcement, Enforcements
    from kubectl_policy.validation.expressions import Evaluator

# So many names are told where one is not there.
_SHOWN: Final = 5


def analyze(
    snapshot: Snapshot, *, profiles: Iterable[PolicyKindProfile] = (), implementation: Implementation | None = None
) -> Analysis:
    """The analysis of a snapshot; `profiles` (see `load_profiles`) beat the built-in ones.

    Nothing is computed before it is asked for, nothing is read again, and the snapshot is never changed: to compare two
    states, analyse both.
    """
    return Analysis(_parts(snapshot, tuple(profiles), implementation or Implementation(), cache(new_evaluator)))


class Parts(Struct, frozen=True, kw_only=True):
    """What an analysis is made of; the analyses of two states of a world share what is the same in both."""

    snapshot: Snapshot
    index: Index
    registry: Registry
    topology: Topology
    profiles: tuple[PolicyKindProfile, ...]
    implementation: Implementation
    evaluator: Callable[[], Evaluator]


def _parts(
    snapshot: Snapshot,
    profiles: tuple[PolicyKindProfile, ...],
    implementation: Implementation,
    evaluator: Callable[[], Evaluator],
    other_state: Index | None = None,
) -> Parts:
    index = Index(snapshot, other_state)
    registry = Registry(index, profiles, implementation.settings)
    return Parts(
        snapshot=snapshot,
        index=index,
        registry=registry,
        topology=Topology(index, implementation, registry),
        profiles=profiles,
        implementation=implementation,
        evaluator=evaluator,
    )


class Analysis:
    """One snapshot with its topology, its policies and their effects. Make one with `analyze`."""

    def __init__(self, parts: Parts) -> None:
        """Wire the parts together; each computes only what it is asked."""
        self._parts = parts
        self.snapshot = parts.snapshot
        self.index = parts.index
        self.registry = parts.registry
        self.topology = parts.topology

    def of_state(self, snapshot: Snapshot) -> Analysis:
        """The analysis of another state of the world, with the same profiles, settings and budget."""
        parts = self._parts
        return Analysis(_parts(snapshot, parts.profiles, parts.implementation, parts.evaluator, self.index))

    def with_topology_of(self, other: Analysis) -> Analysis:
        """This analysis with the topology of another state, in which nothing differs that the hierarchy is made of."""
        return Analysis(replace(self._parts, topology=other.topology.with_index(self.index)))

    def beside(self, other: Analysis, differing: Collection[GroupKind]) -> Analysis:
        """This analysis, which takes over from that of another state what is the same, as only some kinds differ."""
        return Analysis(replace(self._parts, topology=self.topology.reusing(other.topology, differing)))

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
        """By which references policies that are attached to something send requests to a backend themselves."""
        return tuple(call for call in self._calls.to(backend) if self._is_attached(call.policy))

    def _is_attached(self, policy: ObjectRef) -> bool:
        return any(attachment.state == "attached" for attachment in self.attachments[policy])

    def references_to(self, obj: ObjectRef) -> tuple[SettingsReference, ...]:
        """The settings of policies that name an object, or seem to, in the order of the policies.

        A policy whose targets are not there, or not its to have, has no settings that count.
        """
        # Of which kind an object is that settings name is not always known.
        named = self._settings_references.to(replace(obj, group_kind=ANY_KIND))
        return tuple(
            reference
            for reference in named
            if reference.policy != obj and may_mean(reference, obj) and not self._has_no_target(reference.policy)
        )

    @cached_property
    def _settings_references(self) -> Referrers[SettingsReference]:
        kinds = (profile.group_kind for profile in self.registry.policy_kinds)
        return Referrers(self.index, kinds, self._settings_of, self._perhaps_setting)

    def _perhaps_setting(self, kind: GroupKind, obj: ObjectRef) -> Iterator[ObjectRef]:
        """The policies of a kind that may name an object in their settings, or select it, or name what names it."""
        index, needs = self.index, [*with_those_through(self.registry.profile(kind).every_need)]
        between = {each for need in needs if need.through for each in need.group_kinds}
        by_labels = {need.field.rstrip(".*").rpartition(".")[2] for need in needs if need.by == "labels"}
        selecting = by_labels | SELECTING if by_labels else ()
        start = replace(obj, namespace="") if may_leave_out_namespace(index, obj, needs) else obj
        named, waiting = {start}, [start]

        def with_words(holding: GroupKind) -> Iterator[ObjectRef]:
            return (ref for word in selecting for ref in index.naming(holding, word))

        while waiting:
            each = waiting.pop()
            for other in between:
                holders = (*index.naming(other, each), *with_words(other))
                new = {replace(holder, namespace="") for holder in holders} - named
                named |= new
                waiting += new
        yield from with_words(kind)
        for each in named:
            yield from index.naming(kind, each)

    def policies_that_may_name(self, obj: ObjectRef) -> Iterator[ObjectRef]:
        """The policies in which an object may be named, wherever that is, or selected."""
        for profile in self.registry.policy_kinds:
            yield from self._perhaps_setting(profile.group_kind, obj)

    def _settings_of(self, policy: ObjectRef) -> Iterator[tuple[ObjectRef, SettingsReference]]:
        profile, resource = self.registry.profile(policy.group_kind), self.index.get(policy)
        for reference in self._settings.of(resource, profile) if resource else ():
            yield replace(reference.object, group_kind=ANY_KIND), reference

    @cached_property
    def _settings(self) -> SettingsReferences:
        return SettingsReferences(self.index)

    def _has_no_target(self, policy: ObjectRef) -> bool:
        attachments = self.attachments[policy]
        return bool(attachments) and all(attachment.state in WITHOUT_TARGET for attachment in attachments)

    @cached_method
    def unread_needs(self, policy: ObjectRef) -> tuple[RequiredReference, ...]:
        """What a policy needs of which it is not known whether it exists, or may be referred to; looked for once."""
        profile, resource = self.registry.profile(policy.group_kind), self.index.get(policy)
        return tuple(unread_needs(self.index, resource, profile)) if resource else ()

    @property
    def evaluator(self) -> Evaluator:
        """What evaluates expressions, within one budget for all states of the world."""
        return self._parts.evaluator()

    @property
    def is_uncertain(self) -> bool:
        """Whether there is anything that may be related or attached, as something is to be filled in."""
        return self.has_placeholders or self.possible_attachments.has_any

    @property
    def has_placeholders(self) -> bool:
        """Whether something is to be filled in that decides what is related, or what a policy is attached to."""
        return self.topology.possible.has_any or self.possible_attachments.has_placeholders

    @cached_property
    def possible_attachments(self) -> PossibleAttachments:
        """The attachments that may be, beside those that are."""
        return PossibleAttachments(self.index, self.attachments, self.registry.policy_kinds)

    @cached_property
    def _calls(self) -> Referrers[Call]:
        with_backends = (profile for profile in self.registry.policy_kinds if profile.backend_fields)
        return Referrers(self.index, (profile.group_kind for profile in with_backends), self._calls_of)

    def _calls_of(self, policy: ObjectRef) -> Iterator[tuple[ObjectRef, Call]]:
        resource = self.index.get(policy)
        for call in calls_of(self.index, resource, self.registry.profile(policy.group_kind)) if resource else ():
            yield call.backend, call

    def effective(self, node: NodeRef, kind: GroupKind | None = None) -> tuple[EffectivePolicy, ...]:
        """The effective policies at a node itself, for each path that leads to it; of one policy kind, if given.

        A kind that takes effect above the node, and not at it, is left out, and so are policies of what is below it,
        such as the rules of a route; `in_force` has all of that. Raises `NotFoundError` for an object that was not
        read, for a section that it has not, and for a kind that is no policy kind.
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
        """Nothing, or `NotFoundError` for what was not read and nothing refers to, and for sections that are not there.

        What was not read is known of where something else refers to it.
        """
        obj = node.object
        if self.index.presence(obj) != "present" and (self.index.world.is_waiting or not self.is_named(obj)):
            if self.index.world.is_waiting:
                raise StillToBeRead(str(obj))
            names = sorted(resource.ref.qualified_name for resource in self.index.of_kind(obj.group_kind))
            hint = f"there are: {', '.join(names[:_SHOWN])}" if names else f"{self.index.source} has no {obj.kind}"
            raise self.not_read(obj, hint)
        if node.section and self.index.get(obj) and node.section not in self.topology.sections(obj):
            raise NotFoundError(f"{obj} has no section {node.section}", self.topology.sections_phrase(obj))

    def not_read(self, obj: ObjectRef, hint: str = "") -> NotFoundError:
        """The error that an object was not read: it is not there, or a cluster did not give it out."""
        hidden = next(self.index.absence.hiding(obj), None)
        if hidden:
            return NotFoundError(f"{obj} {hidden.phrase}", f"Needs: {hidden.needs}" if hidden.needs else hidden.remedy)
        return NotFoundError(f"{obj} is not in {self.index.source}", hint)

    def require_kind(self, kind: GroupKind) -> None:
        """Nothing, or `NotFoundError` for what is no policy kind, with those that may be meant."""
        if self.registry.profile_of(kind):
            return
        import difflib  # noqa: PLC0415 (only a mistake needs it)

        read = {profile.group_kind for profile in self.registry.policy_kinds}
        known = sorted(read.union(self.registry.profiled(built_in_groups())))
        names = difflib.get_close_matches(kind.kind, sorted({each.kind for each in known}), cutoff=0.8)
        alike = [each for name in names for each in known if each.kind == name]
        near = [str(each) for each in sorted(alike, key=lambda each: each.group != kind.group)][:_SHOWN]
        is_meant = kind in self.index.group_kinds or not near
        hint = f"it {self.registry.why_none(kind)}" if is_meant else f"did you mean {' or '.join(near)}?"
        raise NotFoundError(f"{kind} is not a policy kind", hint)

    def is_named(self, obj: ObjectRef) -> bool:
        """Whether something in the input names an object: as a target, or as what it leads to or needs.

        Policies of which it is not computed how they attach may be about any object of the kinds that they are for.
        """
        whole = NodeRef(obj)
        return bool(
            self.attachments_to(obj)
            or self.topology.relations.is_named_as_backend(obj)
            or any(
                obj.group_kind in profile.declared_targets and not profile.attaches_as_known
                for profile in self.registry.policy_kinds
            )
            or self.topology.children(whole)
            or any(parent.object.group_kind != NAMESPACE for parent in self.topology.parents(whole))
            or any(each.object == obj for each in self.references_to(obj))
            or self._certificates.to(obj)
        )

    @property
    def kinds_in_settings(self) -> frozenset[GroupKind]:
        """The kinds of what settings of policies name, as far as they are known."""
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
        """The effective policy of each kind at the end of one path, sorted by kind; see `effective`."""
        return tuple(effective for effective in self.resolver.effective(path) if self._reaches(effective))

    def _reaches(self, effective: EffectivePolicy) -> bool:
        profile = self.registry.profile(effective.resolution.kind)
        reached = reached_part(effective.path, profile) if profile.policy_class == "inherited" else ()
        if not reached:
            return profile.policy_class == "direct" or takes_effect_below(effective.target, profile)
        return reached[-1].object == effective.target.object

    def affected_by(self, node: NodeRef) -> tuple[ObjectRef, ...]:
        """The policies with at least one effective field at a node, on any path that carries traffic; sorted.

        Raises `NotFoundError` as `effective` does.
        """
        return tuple(
            sorted(
                {
                    ref
                    for effective in self.effective(node)
                    if self.topology.carries_traffic(effective.path)
                    for ref in effective.resolution.policies_in_force
                }
            )
        )

    def enforcement(self, policy: ObjectRef) -> Enforcement:
        """How far a policy is in force over all its paths. Raises `NotFoundError` for what is no such policy."""
        if policy not in self.attachments:
            raise NotFoundError(f"{policy} is not a policy that was read", self.registry.why_none(policy.group_kind))
        return self._enforcements.of(policy)

    def contentions(self, policy: ObjectRef) -> tuple[Contention, ...]:
        """What a policy's targets share with others although they must not; see `PolicyKindProfile`."""
        profile = self.registry.profile(policy.group_kind)
        return self._enforcements.contentions(policy) if profile.exclusive_field else ()

    @cached_property
    def _enforcements(self) -> Enforcements:
        from kubectl_policy.resolution.enforcement import Enforcements  # noqa: PLC0415 (few answers need it)

        return Enforcements(self.topology, self.registry, self.attachments, self.resolver)

    @cached_property
    def resolver(self) -> Resolver:
        """Resolves effective policies on single paths."""
        return Resolver(self.topology, self.registry, self.attachments)

    @property
    def diagnostics(self) -> tuple[Diagnostic, ...]:
        """Every problem and doubt in the snapshot: those from reading, then those of each object, by kind and name."""
        resources = (resource for kind in self.index.group_kinds for resource in self.index.of_kind(kind))
        return (
            *self.snapshot.diagnostics,
            *(problem for resource in resources for problem in self._problems.of(resource)),
        )

    def problems_of(self, obj: ObjectRef) -> tuple[Diagnostic, ...]:
        """The problems and doubts whose subject is one object; the rest of the snapshot is not looked at."""
        resource = self.index.get(obj)
        return (*self._read_problems.get(obj, ()), *(self._problems.of(resource) if resource else ()))

    def shape_problems_of(self, obj: ObjectRef) -> tuple[Diagnostic, ...]:
        """`problems_of` that an object has whatever else there is: fields of a wrong type, and what schemas refuse."""
        resource = self.index.get(obj)
        return tuple(self._problems.of_shape(resource)) if resource else ()

    def dropped_fields(self, obj: ObjectRef) -> tuple[FieldPath, ...]:
        """The fields of an object that an API server would not keep, as its definition does not know them."""
        resource = self.index.get(obj)
        return self._problems.dropped(resource) if resource else ()

    def has_relations(self, kind: GroupKind) -> bool:
        """Whether objects of a kind can have problems with others at all."""
        return self._problems.are_with_others(kind)

    def relation_problems_of(self, obj: ObjectRef) -> tuple[Diagnostic, ...]:
        """`problems_of` without those that the object has whatever else there is, and those from reading it."""
        resource = self.index.get(obj)
        return tuple(self._problems.with_others(resource)) if resource else ()

    @cached_property
    def _problems(self) -> Problems:
        return Problems(self.topology, self.registry, self.attachments, self.contentions, self._parts.evaluator)

    @cached_property
    def _read_problems(self) -> dict[ObjectRef, list[Diagnostic]]:
        by_subject: dict[ObjectRef, list[Diagnostic]] = {}
        for diagnostic in self.snapshot.diagnostics:
            if diagnostic.subject:
                by_subject.setdefault(diagnostic.subject, []).append(diagnostic)
        return by_subject
