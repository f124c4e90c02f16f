"""Attachments of all policies: of one policy, to one object, and those that placeholders leave open."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import cached_property
from itertools import chain
from typing import TYPE_CHECKING, Final

from msgspec.structs import replace

from kubectl_policy.attachment.attach import attach
from kubectl_policy.attachment.references import named_object, target_references
from kubectl_policy.lazy import cached_method
from kubectl_policy.model import GroupKind, ObjectRef, Resource
from kubectl_policy.model.fields import labels_of
from kubectl_policy.model.kind_roles import GATEWAY_CLASS, LISTENER_HOLDERS, LISTENER_SETS, NAMESPACE, PARAMETERS
from kubectl_policy.model.selectors import selects
from kubectl_policy.model.unknown import is_unknown, is_unknown_kind, may_equal
from kubectl_policy.topology.references import parameters_ref

if TYPE_CHECKING:
    from kubectl_policy.attachment.attachment import Attachment, TargetReference
    from kubectl_policy.profiles import PolicyKindProfile, Registry
    from kubectl_policy.topology import Topology

# What is in the names of the fields by which references select objects without naming them.
SELECTING: Final = frozenset({"selector", "Selector", "matchLabels", "matchExpressions"})


class Attachments(Mapping["ObjectRef", "tuple[Attachment, ...]"]):
    """The attachments of each policy, filter and object with parameters, in their order, also the failed ones."""

    def __init__(self, topology: Topology, registry: Registry) -> None:
        """Attach the policies of all kinds that a registry knows to a topology."""
        self.topology, self.registry, self._index = topology, registry, topology.index
        self._of: dict[ObjectRef, tuple[Attachment, ...]] = {}
        self._to: dict[ObjectRef, tuple[Attachment, ...]] = {}
        self._by_target: Mapping[ObjectRef, tuple[Attachment, ...]] | None = None

    @cached_property
    def _profiles(self) -> tuple[PolicyKindProfile, ...]:
        return self.registry.policy_kinds

    def __getitem__(self, policy: ObjectRef) -> tuple[Attachment, ...]:
        """Return the attachments of a policy; raise `KeyError` for what is no policy, or was not read."""
        if policy not in self._of:
            profile, resource = self.registry.profile_of(policy.group_kind), self._index.get(policy)
            if profile is None or resource is None:
                raise KeyError(policy)
            self._of[policy] = attach(self._index.with_defaults(resource), profile, self.topology)
        return self._of[policy]

    def __contains__(self, policy: object) -> bool:
        """Whether something is a policy that was read, a filter, or an object with parameters."""
        return isinstance(policy, ObjectRef) and self.get(policy) is not None

    def __iter__(self) -> Iterator[ObjectRef]:
        """Return all policies, by kind, namespace and name."""
        return (policy for profile in self._profiles for policy in self._index.world.refs_of(profile.group_kind))

    def __len__(self) -> int:
        """Return the number of policies."""
        return sum(1 for _ in self)

    @property
    def are_all_known(self) -> bool:
        """Whether the attachments to all objects were worked out."""
        return self._by_target is not None

    def to(self, obj: ObjectRef) -> tuple[Attachment, ...]:
        """Return the attachments, in any state, to an object or its sections; sorted by policy.

        Those to the first few objects are looked for one by one, then all of them are worked out at once.
        """
        if self._by_target is not None:
            return self._by_target.get(obj, ())
        if obj not in self._to:
            if len(self._to) >= self._index.max_single_questions:
                self._by_target = self._all_by_target()
                return self._by_target.get(obj, ())
            self._to[obj] = tuple(
                attachment
                for profile in self._profiles
                for policy in sorted({*self._candidates(obj, profile)})
                for attachment in self[policy]
                if attachment.target and attachment.target.object == obj
            )
        return self._to[obj]

    def kinds_about(self, kind: GroupKind) -> frozenset[GroupKind]:
        """Return the policy kinds with policies that target objects of a kind, or select some by labels."""
        return frozenset(profile.group_kind for profile in self._profiles if self._has_targets_of(profile, kind))

    def _has_targets_of(self, profile: PolicyKindProfile, kind: GroupKind) -> bool:
        """Whether any policy of a kind is about objects of another; what refers by itself says so by its fields."""
        policy_kind, relations = profile.group_kind, self.topology.relations
        if any(
            reference.group_kind == kind and (reference.name or reference.selector is not None)
            for policy in self._index.read_with_strings(policy_kind, kind.kind)
            for reference in target_references(self._index.with_defaults(policy), profile)
        ):
            return True
        is_named = (bool(profile.filter_routes) and policy_kind in relations.kinds_in_filters) or (
            profile.attachment == "parameters" and policy_kind in relations.kinds_of_parameters
        )
        return is_named and any(
            attachment.target.object.group_kind == kind
            for policy in self._index.world.refs_of(policy_kind)
            for attachment in self[policy]
            if attachment.target
        )

    def _candidates(self, obj: ObjectRef, profile: PolicyKindProfile) -> Iterator[ObjectRef]:
        """Find the policies of a kind that may be about an object.

        Those are the policies that declare it as a target or select objects of its kind, and those that the object, or
        a route that sends it requests, names itself: in filters or as its parameters.
        """
        world, kind = self._index.world, profile.group_kind
        naming = (*self._index.naming(kind, obj), *self._perhaps_selecting(obj, profile))
        yield from (policy for policy in naming if self._declares(policy, profile, obj))
        if profile.gateway_sections == "all" and obj.group_kind in LISTENER_SETS:
            gateway = self.topology.gateways.gateway_of(obj)
            naming_gateway = self._index.naming(kind, gateway) if gateway else ()
            yield from (policy for policy in naming_gateway if gateway and self._declares(policy, profile, gateway))
        if profile.attachment == "parameters" and obj.group_kind in PARAMETERS:
            named = parameters_ref(self._index, obj)
            yield from [named.object] if named and named.object.group_kind == kind and world.has(named.object) else []
        if profile.filter_routes and obj.group_kind not in (*LISTENER_HOLDERS, GATEWAY_CLASS, NAMESPACE):
            for named_by_route in self.topology.relations.filters_about(obj):
                if named_by_route.object.group_kind == kind and world.has(named_by_route.object):
                    yield named_by_route.object

    def _declares(self, policy: ObjectRef, profile: PolicyKindProfile, obj: ObjectRef) -> bool:
        """Whether a reference of a policy is to an object, or selects objects of its kind.

        Its name may stand in a policy for anything else. No target is looked up for this.
        """
        resource = self._index.get(policy)
        references = target_references(self._index.with_defaults(resource), profile) if resource else ()
        return any(
            reference.group_kind == obj.group_kind
            and (reference.selector is not None or named_object(self._index, policy, reference) == obj)
            for reference in references
        )

    def _perhaps_selecting(self, obj: ObjectRef, profile: PolicyKindProfile) -> Iterator[ObjectRef]:
        """Yield the policies of a kind that may select an object by labels.

        They do so in their own namespace, unless they say otherwise, or their namespace is for all others.
        """
        index, kind = self._index, profile.group_kind
        selecting = {ref for field in SELECTING for ref in index.naming(kind, field)}
        if selecting:
            selecting.intersection_update(index.naming(kind, obj.group_kind.kind))
        homes = {obj.namespace, profile.global_namespace} - {""}
        elsewhere: set[ObjectRef] = set()
        if selecting and obj.namespace:
            elsewhere.update(
                index.naming(kind, "namespaces"), index.naming(kind, ObjectRef(NAMESPACE, "", obj.namespace))
            )
        yield from (ref for ref in selecting if not obj.namespace or ref.namespace in homes or ref in elsewhere)

    def _all_by_target(self) -> Mapping[ObjectRef, tuple[Attachment, ...]]:
        by_target: dict[ObjectRef, list[Attachment]] = {}
        for attachments in self.values():
            for attachment in attachments:
                if attachment.target:
                    by_target.setdefault(attachment.target.object, []).append(attachment)
        return {obj: tuple(attachments) for obj, attachments in by_target.items()}


class AsIfValid(Attachments):
    """The attachments as they would be if the policies of a kind were valid that make requests fail.

    What would supersede them then keeps them from doing harm now.
    """

    def __init__(self, known: Attachments, kind: GroupKind) -> None:
        """Wrap the attachments as they are."""
        super().__init__(known.topology, known.registry)
        self._known, self._kind = known, kind

    def __getitem__(self, policy: ObjectRef) -> tuple[Attachment, ...]:
        """Return the attachments of a policy; raise `KeyError` for what is no policy, or was not read."""
        return self._valid(self._known[policy])

    def to(self, obj: ObjectRef) -> tuple[Attachment, ...]:
        """Return the attachments, in any state, to an object or its sections; sorted by policy."""
        return self._valid(self._known.to(obj))

    def _valid(self, attachments: tuple[Attachment, ...]) -> tuple[Attachment, ...]:
        return tuple(
            replace(attachment, state="attached")
            if attachment.fails_requests and attachment.policy.group_kind == self._kind
            else attachment
            for attachment in attachments
        )


class PossibleAttachments:
    """The attachments of undecided targets, by what they may be."""

    def __init__(self, known: Attachments) -> None:
        """Look among the attachments to targets that are named or selected."""
        self._known, self._index = known, known.topology.index

    @cached_property
    def _attachments(self) -> Sequence[Attachment]:
        """All attachments, if any of them may be about another object than it says."""
        return list(chain.from_iterable(self._known.values())) if self.has_placeholders else []

    @cached_property
    def _undecided(self) -> Sequence[Attachment]:
        return [attachment for attachment in self._attachments if _is_undecided(attachment)]

    @cached_property
    def has_placeholders(self) -> bool:
        """Whether something is to be filled in that decides which object a reference means."""
        return bool(self._index.candidates.with_unknown_names) or any(
            _is_open(reference)
            for profile in self._known.registry.policy_kinds
            for policy in self._perhaps_unfilled(profile.group_kind)
            for reference in target_references(policy, profile)
        )

    def _perhaps_unfilled(self, kind: GroupKind) -> Iterator[Resource]:
        yield from self._index.perhaps_unfilled(kind, names=True)
        yield from (resource for resource in self._index.snapshot.other_state if resource.ref.group_kind == kind)

    def has_undecided(self, kind: GroupKind, objects: Iterable[ObjectRef]) -> bool:
        """Whether it is not known of a policy of a kind whether it is attached to one of some objects.

        Where all attachments are known, those to other objects count as well.
        """
        if self._known.are_all_known:
            return self._is_any_undecided(kind)
        undecided = (attachment for obj in dict.fromkeys(objects) for attachment in self.undecided_at(obj))
        return any(attachment.policy.group_kind == kind for attachment in undecided)

    @cached_method
    def _is_any_undecided(self, kind: GroupKind) -> bool:
        policies = self._index.world.refs_of(kind)
        return any(_is_undecided(attachment) for policy in policies for attachment in self._known[policy])

    @cached_property
    def has_any(self) -> bool:
        """Whether there may be attachments of which it is not known whether they are, or to what."""
        return (
            self.has_placeholders
            or self._index.snapshot.source == "the cluster"
            or any(map(_is_undecided, chain.from_iterable(self._known.values())))
        )

    def undecided_at(self, obj: ObjectRef) -> Sequence[Attachment]:
        """Return the attachments to an object that exists, or to a section of it, that may be others.

        Of an object that was not read, that is known where another policy is attached to it.
        """
        attachments = self._known.to(obj)
        exists = self._index.get(obj) or any(attachment.state == "attached" for attachment in attachments)
        return [attachment for attachment in attachments if _is_undecided(attachment)] if exists else []

    def to(self, obj: ObjectRef) -> tuple[Attachment, ...]:
        """Return the attachments that may have an object as their target, and are not known to."""
        return (*self._by_candidate.get(obj, ()), *self._by_kind(obj), *self._selecting(obj))

    @cached_property
    def _by_candidate(self) -> Mapping[ObjectRef, Sequence[Attachment]]:
        by_candidate: dict[ObjectRef, list[Attachment]] = {}
        for attachment in self._undecided:
            target = attachment.target.object if attachment.target else None
            for meant in self._index.candidates.of(target) if target and not self._index.get(target) else ():
                by_candidate.setdefault(meant, []).append(attachment)
        return by_candidate

    def _by_kind(self, obj: ObjectRef) -> Iterator[Attachment]:
        """Return the attachments of unknown target kind that may be to an object."""
        for attachment in self._of_unknown_kind:
            declared, home = attachment.declared, attachment.policy.namespace
            namespace = (declared.namespace or home) if obj.namespace else ""
            if may_equal(declared.name, obj.name) and may_equal(namespace, obj.namespace):
                yield attachment

    @cached_property
    def _of_unknown_kind(self) -> list[Attachment]:
        kinds = (
            (attachment, GroupKind(attachment.declared.group, attachment.declared.kind))
            for attachment in self._undecided
        )
        return [attachment for attachment, kind in kinds if attachment.target is None and is_unknown_kind(kind)]

    def _selecting(self, obj: ObjectRef) -> Iterator[Attachment]:
        """Return the attachments by selectors that may select in the namespace of an object."""
        resource = self._index.get(obj)
        # Two namespaces that are known are the same or not.
        selectors = self._by_selector if is_unknown(obj.namespace) else self._by_selector_in_unknown
        for attachment in selectors.get(obj.group_kind, ()) if resource else ():
            declared, namespace = attachment.declared, _selected_in(attachment)
            near = namespace != obj.namespace and may_equal(namespace, obj.namespace)
            if near and resource and selects(declared.selector or {}, labels_of(resource.raw)) is not False:
                yield attachment

    @cached_property
    def _by_selector(self) -> Mapping[GroupKind, Sequence[Attachment]]:
        """One attachment for each selector, by the kind of what it selects."""
        firsts: dict[GroupKind, dict[tuple[ObjectRef, str], Attachment]] = {}
        for attachment in self._attachments:
            declared = attachment.declared
            if declared.selector is not None and declared.namespaces is None:
                kind = GroupKind(declared.group, declared.kind)
                firsts.setdefault(kind, {}).setdefault((attachment.policy, declared.field), attachment)
        return {kind: tuple(by_field.values()) for kind, by_field in firsts.items()}

    @cached_property
    def _by_selector_in_unknown(self) -> Mapping[GroupKind, Sequence[Attachment]]:
        """The attachments by selectors that select in an unknown namespace, by the kind that they select."""
        unknown = {
            kind: [attachment for attachment in attachments if is_unknown(_selected_in(attachment))]
            for kind, attachments in self._by_selector.items()
        }
        return {kind: attachments for kind, attachments in unknown.items() if attachments}


def _is_undecided(attachment: Attachment) -> bool:
    return attachment.state == "target unknown" and bool(attachment.declared.field)


def _is_open(reference: TargetReference) -> bool:
    """Whether something is to be filled in that decides which object a reference means, and of which kind it is."""
    names = (reference.name, reference.namespace)
    return any(map(is_unknown, names)) or is_unknown_kind(GroupKind(reference.group, reference.kind))


def _selected_in(attachment: Attachment) -> str:
    """Return the namespace in which an attachment by labels selects."""
    return attachment.declared.namespace or attachment.policy.namespace
