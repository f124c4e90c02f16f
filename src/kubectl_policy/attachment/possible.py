"""Attachments that may be, as it is not known which object a reference names or a selector selects."""

from __future__ import annotations

from functools import cached_property
from itertools import chain
from typing import TYPE_CHECKING

from kubectl_policy.attachment.references import target_references
from kubectl_policy.model import GroupKind
from kubectl_policy.model.fields import labels_of
from kubectl_policy.model.selectors import selects
from kubectl_policy.model.unknown import is_unknown, is_unknown_kind, may_equal

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

    from kubectl_policy.attachment.attachment import Attachment, TargetReference
    from kubectl_policy.attachment.attachments import Attachments
    from kubectl_policy.model import ObjectRef, Resource
    from kubectl_policy.model.index import Index
    from kubectl_policy.profiles import PolicyKindProfile


class PossibleAttachments:
    """The attachments of undecided targets, by what they may be."""

    def __init__(self, index: Index, attachments: Attachments, profiles: Sequence[PolicyKindProfile]) -> None:
        """Remember where to look; the policies are those of the kinds that have `profiles`."""
        self._index, self._known, self._profiles = index, attachments, profiles
        self._kinds: dict[GroupKind, bool] = {}

    @cached_property
    def _attachments(self) -> Sequence[Attachment]:
        """All attachments, if any of them may be about another object than it says."""
        return [each for found in self._known.values() for each in found] if self.are_open else []

    @cached_property
    def _undecided(self) -> Sequence[Attachment]:
        return [each for each in self._attachments if _is_undecided(each)]

    @cached_property
    def are_open(self) -> bool:
        """Whether something is to be filled in that decides which object a reference means."""
        return bool(self._index.with_unknown_names) or any(
            _is_open(reference)
            for profile in self._profiles
            for policy in self._perhaps_unfilled(profile.group_kind)
            for reference in target_references(policy, profile)
        )

    def _perhaps_unfilled(self, kind: GroupKind) -> Iterator[Resource]:
        yield from self._index.perhaps_unfilled(kind, names=True)
        yield from (resource for resource in self._index.snapshot.other_state if resource.ref.group_kind == kind)

    def is_any_undecided(self, kind: GroupKind, objects: Iterable[ObjectRef]) -> bool:
        """Whether it is not known of a policy of a kind whether it is attached to one of some objects.

        Where all attachments are known, those to other objects count as well.
        """
        if kind not in self._kinds and self._known.are_all_known:
            attachments = (each for policy in self._index.world.names_of(kind) for each in self._known[policy])
            self._kinds[kind] = any(map(_is_undecided, attachments))
        if kind in self._kinds:
            return self._kinds[kind]
        undecided = (each for obj in dict.fromkeys(objects) for each in self.undecided_at(obj))
        return any(attachment.policy.group_kind == kind for attachment in undecided)

    @cached_property
    def is_any(self) -> bool:
        """Whether there may be attachments of which it is not known whether they are, or to what."""
        return (
            self.are_open or self._is_of_cluster or any(map(_is_undecided, chain.from_iterable(self._known.values())))
        )

    @property
    def _is_of_cluster(self) -> bool:
        return self._index.snapshot.place == "the cluster"

    def undecided_at(self, obj: ObjectRef) -> Sequence[Attachment]:
        """The attachments to an object that was read, or to a section of it, that may be others."""
        return [each for each in self._known.to(obj) if _is_undecided(each)] if self._index.get(obj) else []

    def to(self, obj: ObjectRef) -> tuple[Attachment, ...]:
        """The attachments that may have an object as their target, and are not known to."""
        return (*self._by_candidate.get(obj, ()), *self._by_kind(obj), *self._selecting(obj))

    @cached_property
    def _by_candidate(self) -> Mapping[ObjectRef, Sequence[Attachment]]:
        found: dict[ObjectRef, list[Attachment]] = {}
        for attachment in self._undecided:
            target = attachment.target.object if attachment.target else None
            for meant in self._index.candidates(target) if target and not self._index.get(target) else ():
                found.setdefault(meant, []).append(attachment)
        return found

    def _by_kind(self, obj: ObjectRef) -> Iterator[Attachment]:
        """Those of which it is not known what kind of object they are about."""
        for attachment in self._of_unknown_kind:
            declared, home = attachment.declared, attachment.policy.namespace
            namespace = (declared.namespace or home) if obj.namespace else ""
            if may_equal(declared.name, obj.name) and may_equal(namespace, obj.namespace):
                yield attachment

    @cached_property
    def _of_unknown_kind(self) -> list[Attachment]:
        kinds = ((each, GroupKind(each.declared.group, each.declared.kind)) for each in self._undecided)
        return [each for each, kind in kinds if each.target is None and is_unknown_kind(kind)]

    def _selecting(self, obj: ObjectRef) -> Iterator[Attachment]:
        """Those by labels, of which it is not known whether they are about the namespace of the object."""
        resource = self._index.get(obj)
        # Two namespaces that are known are the same or not.
        selectors = self._by_selector if is_unknown(obj.namespace) else self._in_unknown
        for attachment in selectors.get(obj.group_kind, ()) if resource else ():
            declared, namespace = attachment.declared, _selected_in(attachment)
            near = namespace != obj.namespace and may_equal(namespace, obj.namespace)
            if near and resource and selects(declared.selector or {}, labels_of(resource.raw)) is not False:
                yield attachment

    @cached_property
    def _by_selector(self) -> Mapping[GroupKind, Sequence[Attachment]]:
        """One attachment for each selector, by the kind of what it selects."""
        firsts: dict[GroupKind, dict[tuple[ObjectRef, str], Attachment]] = {}
        for each in self._attachments:
            declared = each.declared
            if declared.selector is not None and declared.namespaces is None:
                kind = GroupKind(declared.group, declared.kind)
                firsts.setdefault(kind, {}).setdefault((each.policy, declared.field), each)
        return {kind: tuple(by_field.values()) for kind, by_field in firsts.items()}

    @cached_property
    def _in_unknown(self) -> Mapping[GroupKind, Sequence[Attachment]]:
        """Those of them that select in a namespace that is not known."""
        unknown = {
            kind: [each for each in found if is_unknown(_selected_in(each))]
            for kind, found in self._by_selector.items()
        }
        return {kind: found for kind, found in unknown.items() if found}


def _is_undecided(attachment: Attachment) -> bool:
    return attachment.state == "target unknown" and bool(attachment.declared.field)


def _is_open(reference: TargetReference) -> bool:
    """Whether something is to be filled in that decides which object a reference means, and of which kind it is."""
    names = (reference.name, reference.namespace)
    return any(map(is_unknown, names)) or is_unknown_kind(GroupKind(reference.group, reference.kind))


def _selected_in(attachment: Attachment) -> str:
    """The namespace in which an attachment by labels selects."""
    return attachment.declared.namespace or attachment.policy.namespace
