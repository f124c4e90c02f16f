"""What a policy needs: the objects that its settings must find, by its profile, and what is known to be missing."""

from __future__ import annotations

from typing import TYPE_CHECKING

from kubectl_policy.attachment.attachment import NotAttached
from kubectl_policy.model import GroupKind, ObjectRef
from kubectl_policy.model.fields import WHOLE, FieldPath, each_mapping, text_at
from kubectl_policy.model.values import value

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping

    from kubectl_policy.model import Json, Resource
    from kubectl_policy.model.index import Index
    from kubectl_policy.profiles import PolicyKindProfile
    from kubectl_policy.profiles.profile import RequiredObject


@value()
class RequiredReference:
    """An object that a policy needs, and the field that names it; if it `is_there`, whether the policy may is open."""

    ref: ObjectRef
    field: str
    is_there: bool = False


@value()
class NamedNeed:
    """A reference for which a profile says what it is for: its `field` in the `owner`, which is the policy or another.

    Without the object, the policy is invalid, unless that is `tolerated`: then only the setting is ignored, or what
    follows is not known.
    """

    owner: ObjectRef
    field: str
    ref: ObjectRef
    need: RequiredObject
    tolerated: bool


def missing_need(index: Index, policy: Resource, profile: PolicyKindProfile) -> NotAttached | None:
    """Why a policy is not attached: the first thing that it needs and is known not to have; None if there is none.

    What is there, without a ReferenceGrant that lets the policy refer to it, is not permitted.
    """
    return next(_missing(index, policy, profile), None)


def _missing(index: Index, policy: Resource, profile: PolicyKindProfile) -> Iterator[NotAttached]:
    for named in named_needs(index, policy, profile.needs):
        if isinstance(named, NotAttached):
            yield named
        elif named.tolerated:
            continue
        elif _permitted(index, named) is False:
            where = f"no ReferenceGrant in namespace {named.ref.namespace} lets {named.owner} refer to {named.ref}"
            yield NotAttached("not permitted", where, named.need.competes)
        elif index.presence(named.ref) == "missing":
            whose = "" if named.owner == policy.ref else f" of {named.owner}"
            message = f"{named.ref}, which {named.field}{whose} names, does not exist"
            yield NotAttached("policy invalid", message, named.need.competes)


def unread_needs(index: Index, policy: Resource, profile: PolicyKindProfile) -> Iterator[RequiredReference]:
    """The objects that a policy needs of which it is not known whether they exist, or may be referred to."""
    for named in named_needs(index, index.filled(policy), profile.needs):
        if isinstance(named, NotAttached) or named.tolerated:
            continue
        if index.get(named.ref) and _permitted(index, named) is None:
            yield RequiredReference(named.ref, named.field, is_there=True)
        elif index.presence(named.ref) == "unknown":
            yield RequiredReference(named.ref, named.field)


def _permitted(index: Index, named: NamedNeed) -> bool | None:
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
        references = list(each_mapping(owner.raw, need.field))
        if not references and not need.optional:
            references.append((FieldPath.parse(need.field), {}))
        for place, reference in references:
            ref = _object(index, owner, need, place, reference)
            if isinstance(ref, NotAttached):
                yield ref
                continue
            ignored = tolerated or need.when_missing != "invalid" or _fails_open(owner, need, place)
            yield NamedNeed(owner.ref, str(place), ref, need, ignored)
            resource = index.get(ref) if need.through else None
            if resource:
                yield from named_needs(index, index.filled(resource), need.through, tolerated=ignored)


def _fails_open(owner: Resource, need: RequiredObject, place: FieldPath) -> bool:
    """Whether a policy says that requests do without what a reference at a place is for."""
    if not need.fail_open:
        return False
    left, here = list(FieldPath.parse(need.fail_open).steps), WHOLE
    for step in place.steps:
        if left and step == left[0]:
            left.pop(0)
        elif not isinstance(step, int):
            break
        here = here / step
    return FieldPath((*here.steps, *left)).get(owner.raw) is True


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
    elsewhere = index.of_kind(kind) if kind.kind in need.cluster_kinds else ()
    read = next((resource.ref for resource in elsewhere if resource.ref.name == name), None)
    namespaced = kind.kind not in need.cluster_kinds and index.namespaced(kind)
    home = text_at(reference, "namespace") or owner.ref.namespace
    return read or ObjectRef(kind, home if namespaced else "", name)


def _kind(need: RequiredObject, reference: Mapping[str, Json]) -> GroupKind | None:
    """The kind that a reference names, among those that it may; its group counts where two have that name."""
    word, group = text_at(reference, "kind") or need.kinds[0], text_at(reference, "group")
    kinds = [GroupKind(need.group, kind) for kind in need.kinds]
    called = [kind for kind in (*kinds, *need.other_kinds) if kind.kind == word]
    return next((kind for kind in called if kind.group == group), called[0] if called else None)
