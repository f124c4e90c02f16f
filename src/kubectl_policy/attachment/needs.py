"""What a policy needs: the objects that its settings must find, by its profile, and what is known to be missing."""

from __future__ import annotations

from typing import TYPE_CHECKING

from msgspec import Struct
from msgspec.structs import replace

from kubectl_policy.attachment.attachment import NotAttached
from kubectl_policy.model import GroupKind, ObjectRef
from kubectl_policy.model.fields import WHOLE, Every, FieldPath, each_mapping, each_text, text_at

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping

    from kubectl_policy.model import Json, Resource
    from kubectl_policy.model.index import Index
    from kubectl_policy.profiles import PolicyKindProfile
    from kubectl_policy.profiles.needs import RequiredObject


class RequiredReference(Struct, frozen=True):
    """An object that a policy needs, and the field that names it; if it `is_there`, whether the policy may is open."""

    ref: ObjectRef
    field: str
    is_there: bool = False


class NamedNeed(Struct, frozen=True):
    """A reference in a policy, or in an object that it refers to, to an object that its profile requires."""

    owner: ObjectRef
    field: str
    ref: ObjectRef
    need: RequiredObject
    # Whether the policy stays valid without the object: only the setting is ignored, or what follows is not
    # known.
    tolerated: bool
    # Whether the namespace of the object is not known, so that another one may be meant.
    guessed: bool = False


def missing_need(index: Index, policy: Resource, profile: PolicyKindProfile) -> NotAttached | None:
    """Why a policy is not attached: the first thing that it needs and is known not to have; None if there is none.

    What is there, without a ReferenceGrant that lets the policy refer to it, is not permitted.
    """
    return next(_missing(index, policy, profile), None)


def _missing(index: Index, policy: Resource, profile: PolicyKindProfile) -> Iterator[NotAttached]:
    for named in named_needs(index, policy, profile.every_need):
        if isinstance(named, NotAttached):
            yield named
        elif named.tolerated:
            continue
        elif is_permitted(index, named) is False:
            where = f"no ReferenceGrant in namespace {named.ref.namespace} lets {named.owner} refer to {named.ref}"
            yield NotAttached("not permitted", where, named.need.competes)
        elif index.presence(named.ref) == "missing":
            whose = "" if named.owner == policy.ref else f" of {named.owner}"
            message = f"{named.ref}, which {named.field}{whose} names, does not exist"
            yield NotAttached("policy invalid", message, named.need.competes)


def unread_needs(index: Index, policy: Resource, profile: PolicyKindProfile) -> Iterator[RequiredReference]:
    """The objects that a policy needs of which it is not known whether they exist, or may be referred to."""
    for named in named_needs(index, index.filled(policy), profile.every_need):
        if isinstance(named, NotAttached) or named.tolerated:
            continue
        if index.get(named.ref) and is_permitted(index, named) is None:
            yield RequiredReference(named.ref, named.field, is_there=True)
        elif index.presence(named.ref) == "unknown":
            yield RequiredReference(named.ref, named.field)


def is_permitted(index: Index, named: NamedNeed) -> bool | None:
    """Whether a reference may be made; None if that is not known."""
    home, ref, need = named.owner.namespace, named.ref, named.need
    if not need.grant_required or ref.kind in need.cluster_kinds or ref.namespace in {"", home}:
        return True
    return index.grants.permit(named.owner.group_kind, home, ref)


def named_needs(
    index: Index, owner: Resource, needs: Iterable[RequiredObject], *, tolerated: bool = False
) -> Iterator[NamedNeed | NotAttached]:
    """The objects that a policy names for what it needs, with those that these need in turn; or why it names none."""
    for need in needs:
        references = list(_references(owner, need))
        if not references and not need.optional:
            references.append((FieldPath.parse(need.field), {}))
        for place, reference in references:
            for found in _found(index, owner, need, place, reference):
                if isinstance(found, NotAttached):
                    if need.when_missing == "invalid":
                        yield found
                    continue
                ref, guessed = found
                harmless = guessed or need.by == "labels" or need.when_missing != "invalid"
                ignored = tolerated or harmless or _is_true_beside(owner, need.fail_open, place)
                yield NamedNeed(owner.ref, str(place), ref, need, ignored, guessed)
                resource = index.get(ref) if need.through else None
                if resource:
                    yield from named_needs(index, index.filled(resource), need.through, tolerated=ignored)


def _references(owner: Resource, need: RequiredObject) -> Iterator[tuple[FieldPath, Mapping[str, Json]]]:
    """The references that a need is about, each with its place; a name alone as a reference with that name."""
    if need.by == "name":
        return ((place, {"name": name}) for place, name in each_text(owner.raw, need.field))
    return each_mapping(owner.raw, need.field)


def _is_true_beside(owner: Resource, field: str, place: FieldPath) -> bool:
    """Whether a field of a policy is true; in lists and maps, that of the same element as a reference at a place."""
    if not field:
        return False
    left, here = list(FieldPath.parse(field).steps), WHOLE
    for step in place.steps:
        if left and left[0] in {step, Every.KEY}:
            left.pop(0)
        elif not isinstance(step, int):
            break
        here = here / step
    return FieldPath((*here.steps, *left)).get(owner.raw) is True


def _found(
    index: Index, owner: Resource, need: RequiredObject, place: FieldPath, reference: Mapping[str, Json]
) -> Iterator[tuple[ObjectRef, bool] | NotAttached]:
    """What a reference is to, and whether that is a guess; or why it is to nothing."""
    if need.by == "labels":
        yield from _selected(index, owner, need, place, reference)
        return
    ref = _object(index, owner, need, place, reference)
    if isinstance(ref, NotAttached):
        if not need.any_kind or _kind(need, reference):
            yield ref
        return
    if need.namespace_of is None:
        yield ref, False
        return
    homes, guessed = _homes(index, owner, need, ref.group_kind)
    for home in homes:
        there = ObjectRef(ref.group_kind, home, ref.name)
        if not guessed or index.get(there):
            yield there, guessed


def _selected(
    index: Index, owner: Resource, need: RequiredObject, place: FieldPath, selector: Mapping[str, Json]
) -> Iterator[tuple[ObjectRef, bool]]:
    """What labels select, and whether that is a guess."""
    kind = GroupKind(need.group, need.kinds[0])
    homes, guessed = _homes(index, owner, need, kind)
    if _is_true_beside(owner, need.all_namespaces, place):
        homes = index.namespaces_of(kind)
    for home in homes:
        yield from ((each.ref, guessed) for each in index.selected(kind, home, selector))


def _homes(index: Index, owner: Resource, need: RequiredObject, kind: GroupKind) -> tuple[tuple[str, ...], bool]:
    """The namespaces in which what a need is about may be, and whether it is a guess that it is there."""
    if need.namespace_of is None:
        return (owner.ref.namespace,), False
    homes = index.namespaces_of(need.namespace_of)
    return homes or index.namespaces_of(kind), len(homes) != 1


def may_leave_out_namespace(index: Index, obj: ObjectRef, needs: Iterable[RequiredObject]) -> bool:
    """Whether a reference to an object from another namespace need not say its namespace, by what it is needed for.

    Of the object its namespace and its name count: it may be of any kind that is needed.
    """
    for need in needs:
        homes = index.namespaces_of(need.namespace_of) if need.namespace_of else ()
        if obj.namespace in homes and len(homes) == 1:
            return True
        # What is guessed is there, and what has no namespace may have been read into one.
        is_guessed = need.namespace_of is not None and len(homes) != 1
        kinds = (kind for kind in need.group_kinds if is_guessed or kind.kind in need.cluster_kinds)
        if any(index.world.has(replace(obj, group_kind=kind)) for kind in kinds):
            return True
    return False


def _object(
    index: Index, owner: Resource, need: RequiredObject, place: FieldPath, reference: Mapping[str, Json]
) -> ObjectRef | NotAttached:
    """What a reference names; or, as its kind is none of those that it may have or it has no name, why nothing."""
    kind, name = _kind(need, reference), text_at(reference, "name")
    if kind is None:
        kinds = ", ".join((*need.kinds, *(other.kind for other in need.other_kinds)))
        message = f"{place}.kind {text_at(reference, 'kind')} is not one of {kinds}"
        return NotAttached("policy invalid", message, need.competes)
    if not name:
        return NotAttached("policy invalid", f"{place} names no {kind.kind}", need.competes)
    # Without its definition, a cluster-scoped kind that is not known otherwise was read into some namespace.
    elsewhere = index.world.names_of(kind) if kind.kind in need.cluster_kinds else ()
    read = next((ref for ref in elsewhere if ref.name == name), None)
    namespaced = kind.kind not in need.cluster_kinds and index.namespaced(kind)
    home = text_at(reference, "namespace") or owner.ref.namespace
    return read or ObjectRef(kind, home if namespaced else "", name)


def _kind(need: RequiredObject, reference: Mapping[str, Json]) -> GroupKind | None:
    """The kind that a reference names, among those that it may; its group counts where two have that name."""
    word, group = text_at(reference, "kind") or need.kinds[0], text_at(reference, "group")
    kinds = [GroupKind(need.group, kind) for kind in need.kinds]
    called = [kind for kind in (*kinds, *need.other_kinds) if kind.kind == word]
    return next((kind for kind in called if kind.group == group), called[0] if called else None)
