"""Objects that a policy refers to and cannot do without."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from kubectl_policy.model import GroupKind, ObjectRef
from kubectl_policy.model.fields import every_mapping, text_at

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping

    from kubectl_policy.model import Json, Resource
    from kubectl_policy.model.index import Index
    from kubectl_policy.profiles import PolicyKindProfile
    from kubectl_policy.profiles.profile import RequiredObject


class NeededObject(NamedTuple):
    """An object that a policy needs, and the field that names it."""

    ref: ObjectRef
    field: str


class Lacking(NamedTuple):
    """Something that a policy needs and has not: why, in words, and whether the policy keeps others out all the same.

    What is `forbidden` is there, and no ReferenceGrant lets the policy refer to it.
    """

    message: str
    competes: bool
    forbidden: bool = False


def missing_need(index: Index, policy: Resource, profile: PolicyKindProfile) -> Lacking | None:
    """The first thing that a policy needs and is known not to have; None if there is none."""
    return next(_lacking(index, policy, profile.needs), None)


def _lacking(index: Index, owner: Resource, needs: Iterable[RequiredObject], whose: str = "") -> Iterator[Lacking]:
    """What a policy lacks, or (`whose` fields) an object through which a policy needs others."""
    for need in needs:
        for found in _named(index, owner, need):
            if isinstance(found, str):
                yield Lacking(found, need.competes)
            elif _forbidden(index, owner, found.ref, need):
                where = f"no ReferenceGrant in namespace {found.ref.namespace} lets {owner.ref} refer to {found.ref}"
                yield Lacking(where, need.competes, forbidden=True)
            elif index.presence(found.ref) == "missing":
                yield Lacking(f"{found.ref}, which {found.field}{whose} names, does not exist", need.competes)
            else:
                resource = index.get(found.ref)
                yield from _lacking(index, resource, need.through, f" of {resource.ref}") if resource else ()


def _forbidden(index: Index, owner: Resource, ref: ObjectRef, need: RequiredObject) -> bool:
    home = owner.ref.namespace
    if not need.grant_required or ref.kind in need.cluster_kinds or ref.namespace in {"", home}:
        return False
    return not (index.grants.may_be_unread(ref.namespace) or index.grants.permit(owner.ref.group_kind, home, ref))


def unread_needs(index: Index, policy: Resource, profile: PolicyKindProfile) -> Iterator[NeededObject]:
    """The objects that a policy needs of which it is not known whether they exist."""
    yield from _unread(index, policy, profile.needs)


def _unread(index: Index, owner: Resource, needs: Iterable[RequiredObject]) -> Iterator[NeededObject]:
    for need in needs:
        for found in _named(index, owner, need):
            if isinstance(found, str):
                continue
            resource = index.get(found.ref)
            if resource:
                yield from _unread(index, resource, need.through)
            elif index.presence(found.ref) == "unknown":
                yield found


def _named(index: Index, policy: Resource, need: RequiredObject) -> Iterator[NeededObject | str]:
    """The objects that a policy names for a need, or why it names none."""
    references: list[Mapping[str, Json]] = list(every_mapping(policy.raw, need.field))
    if not references and not need.optional:
        references.append({})
    return (_object(index, policy, need, reference) for reference in references)


def _object(index: Index, policy: Resource, need: RequiredObject, reference: Mapping[str, Json]) -> NeededObject | str:
    kind, name = GroupKind(need.group, text_at(reference, "kind") or need.kinds[0]), text_at(reference, "name")
    if kind.kind not in need.kinds:
        return f"{need.field}.kind {kind.kind} is not one of {', '.join(need.kinds)}"
    if not name:
        return f"{need.field} names no {kind.kind}"
    # Without its definition, a cluster-scoped kind that is not known otherwise was read into some namespace.
    elsewhere = index.of_kind(kind) if kind.kind in need.cluster_kinds else ()
    read = next((resource.ref for resource in elsewhere if resource.ref.name == name), None)
    namespaced = kind.kind not in need.cluster_kinds and index.namespaced(kind)
    home = text_at(reference, "namespace") or policy.ref.namespace
    ref = read or ObjectRef(kind, home if namespaced else "", name)
    return NeededObject(ref, need.field)
