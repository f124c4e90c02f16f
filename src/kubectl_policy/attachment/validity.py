"""Reasons for which a policy cannot be used: missing objects, permissions and settings."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from msgspec import Struct
from msgspec.structs import replace

from kubectl_policy.attachment.attachment import IgnoredSetting, NamedNeed, NotAttached
from kubectl_policy.attachment.contents import content_failure
from kubectl_policy.model import GroupKind, Json, ObjectRef, Resource
from kubectl_policy.model.fields import (
    WHOLE,
    Every,
    FieldPath,
    each_mapping,
    each_text,
    each_value,
    number_in_annotation,
    text_at,
    value_at,
)

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping

    from kubectl_policy.model.index import Index
    from kubectl_policy.profiles import PolicyKindProfile
    from kubectl_policy.profiles.needs import RequiredObject


class RequiredReference(Struct, frozen=True):
    """An object that a policy needs, and the field that names it; if it `exists`, whether the policy may is open.

    Without the object, a `setting` of the policy is ignored, or else the policy is invalid.
    """

    ref: ObjectRef
    field: str
    exists: bool = False
    setting: FieldPath | None = None


def missing_need(index: Index, policy: Resource, profile: PolicyKindProfile) -> NotAttached | None:
    """Return the failure of a policy that lacks an object that it requires; None if all may be there.

    What is there, without a ReferenceGrant that lets the policy refer to it, is not permitted.
    """
    for named in named_needs(index, policy, profile.every_need):
        if isinstance(named, NotAttached):
            return named
        if named.tolerated:
            continue
        failure = _need_failure(index, policy, named)
        if failure:
            return failure
    return None


def _need_failure(index: Index, policy: Resource, named: NamedNeed) -> NotAttached | None:
    """Return the failure of a reference to an object that may not be referred to, or does not exist; else None."""
    if is_permitted(index, named) is False:
        where = why_not_permitted(named.owner, named.ref, same_namespace=named.need.same_namespace)
        return NotAttached("not permitted", where, named.need.competes)
    if index.presence(named.ref) == "missing":
        whose = "" if named.owner == policy.ref else f" of {named.owner}"
        message = f"{named.ref}, which {named.field}{whose} names, does not exist"
        return NotAttached("policy invalid", message, named.need.competes)
    return None


def unusable_need(index: Index, policy: Resource, profile: PolicyKindProfile) -> NotAttached | None:
    """Return the failure of a policy that needs more of an object than the object has; None if there is none."""
    needs = (named for named in named_needs(index, policy, profile.every_need) if isinstance(named, NamedNeed))
    failures = (content_failure(index, policy, named) for named in needs if not named.tolerated)
    return next(filter(None, failures), None)


def ignored_settings(index: Index, policy: Resource, profile: PolicyKindProfile) -> Iterator[IgnoredSetting]:
    """Yield the settings that controllers ignore, as an object that they name is missing or may not be named."""
    reasons: dict[FieldPath, str] = {}
    for named in named_needs(index, policy, profile.every_need) if profile.ignores_without_object else ():
        if isinstance(named, NamedNeed) and named.setting and named.setting not in reasons:
            failure = _need_failure(index, policy, named) or content_failure(index, policy, named)
            if failure:
                reasons[named.setting] = failure.message
    yield from (IgnoredSetting(field, reason) for field, reason in reasons.items())


def missing_setting(index: Index, policy: Resource, profile: PolicyKindProfile) -> NotAttached | None:
    """Return the failure of a policy with a setting that needs one in policies of another kind; None if it may be set.

    Which of these policies counts is not decided: one that sets it anywhere is enough.
    """
    for required in profile.required_settings:
        path = next((str(path) for path, _ in each_value(policy.raw, required.field)), "")
        kind = GroupKind(required.group, required.kind)
        if not path or index.presence(ObjectRef(kind, policy.ref.namespace, "")) == "unknown":
            continue
        if not any(value_at(other.raw, f"spec.{required.other_field}") for other in index.of_kind(kind)):
            message = f"{path} needs a {kind.kind} that sets {required.other_field}, and there is none"
            return NotAttached("policy invalid", message, required.competes)
    return None


def unread_needs(index: Index, policy: Resource, profile: PolicyKindProfile) -> Iterator[RequiredReference]:
    """Yield the objects that a policy needs of which it is not known whether they exist, or may be referred to."""
    for named in named_needs(index, index.with_defaults(policy), profile.every_need):
        if isinstance(named, NotAttached) or (named.tolerated and not named.setting):
            continue
        if index.get(named.ref) and is_permitted(index, named) is None:
            yield RequiredReference(named.ref, named.field, exists=True, setting=named.setting)
        elif index.presence(named.ref) == "unknown":
            yield RequiredReference(named.ref, named.field, setting=named.setting)


def is_permitted(index: Index, named: NamedNeed) -> bool | None:
    """Whether a reference may be made; None if that is not known."""
    home, ref, need = named.owner.namespace, named.ref, named.need
    if not need.grant_required or ref.kind in need.cluster_kinds or ref.namespace in {"", home}:
        return True
    return False if need.same_namespace else index.grants.permit(named.owner.group_kind, home, ref)


def why_not_permitted(owner: object, ref: ObjectRef, *, same_namespace: bool) -> str:
    """Return the reason why an object, or "it", may not refer to one in another namespace, as a sentence."""
    if same_namespace:
        return f"{owner} can refer to objects of its own namespace alone, and not to {ref}"
    return f"no ReferenceGrant in namespace {ref.namespace} lets {owner} refer to {ref}"


def named_needs(
    index: Index, owner: Resource, needs: Iterable[RequiredObject], through: NamedNeed | None = None
) -> Iterator[NamedNeed | NotAttached]:
    """Yield the required objects that a policy names, with those that these require in turn; or the failures.

    If the owner is such an object, the policy names it `through` a reference.
    """
    for need in needs:
        references = list(_references(owner, need))
        if not references and not need.optional:
            references.append((FieldPath.parse(need.field), {}))
        for path, reference in references:
            for resolved in _resolved_references(index, owner, need, path, reference):
                if isinstance(resolved, NotAttached):
                    if need.when_missing == "invalid":
                        yield resolved
                    continue
                ref, guessed = resolved
                undecided = guessed or need.by == "labels" or need.when_missing == "unknown"
                setting = None if undecided else _setting_without(owner, need, path)
                if through:
                    undecided = undecided or (through.tolerated and not through.setting)
                    setting = None if undecided else through.setting or (setting and through.reference)
                named = NamedNeed(
                    owner=owner.ref,
                    field=str(path),
                    ref=ref,
                    need=need,
                    tolerated=undecided or setting is not None,
                    guessed=guessed,
                    reference=through.reference if through else path,
                    setting=setting,
                )
                yield named
                resource = index.get(ref) if need.through else None
                if resource:
                    yield from named_needs(index, index.with_defaults(resource), need.through, named)


def _references(owner: Resource, need: RequiredObject) -> Iterator[tuple[FieldPath, Mapping[str, Json]]]:
    """Return the references that a need is about, each with its place; a name alone as a reference with that name."""
    if need.by == "name":
        return ((path, {"name": name}) for path, name in each_text(owner.raw, need.field))
    return each_mapping(owner.raw, need.field)


def _setting_without(owner: Resource, need: RequiredObject, path: FieldPath) -> FieldPath | None:
    """Return the setting that is ignored without the object of a reference at a path; None if the policy is invalid."""
    fails_open = _true_beside(owner, need.fail_open, path)
    return fails_open.parent if fails_open else path if need.when_missing == "ignored" else None


def _true_beside(owner: Resource, field: str, path: FieldPath) -> FieldPath | None:
    """Return the path of a field of a policy that is true; None if it is not.

    In lists and maps, it is the field of the same element as a reference at a path.
    """
    if not field:
        return None
    remaining, element = list(FieldPath.parse(field).steps), WHOLE
    for step in path.steps:
        if remaining and remaining[0] in {step, Every.KEY}:
            remaining.pop(0)
        elif not isinstance(step, int):
            break
        element = element / step
    flag = FieldPath((*element.steps, *remaining))
    return flag if flag.get(owner.raw) is True else None


def _resolved_references(
    index: Index, owner: Resource, need: RequiredObject, path: FieldPath, reference: Mapping[str, Json]
) -> Iterator[tuple[ObjectRef, bool] | NotAttached]:
    """Return the objects that a reference names, and whether each is a guess; or the failure to name one."""
    if need.by == "labels":
        yield from _selected(index, owner, need, path, reference)
        return
    ref = _named_object(index, owner, need, path, reference)
    if isinstance(ref, NotAttached):
        if not need.any_kind or _kind(need, reference):
            yield ref
        return
    if need.namespace_of is None:
        yield ref, False
        return
    homes, guessed = _homes(index, owner, need, ref.group_kind)
    for home in homes:
        candidate = ObjectRef(ref.group_kind, home, ref.name)
        if not guessed or index.get(candidate):
            yield candidate, guessed


def _selected(
    index: Index, owner: Resource, need: RequiredObject, path: FieldPath, selector: Mapping[str, Json]
) -> Iterator[tuple[ObjectRef, bool]]:
    """Return the objects that labels select, and whether each is a guess."""
    kind = GroupKind(need.group, need.kinds[0])
    homes, guessed = _homes(index, owner, need, kind)
    if _true_beside(owner, need.all_namespaces, path):
        homes = index.namespaces_of(kind)
    for home in homes:
        yield from ((resource.ref, guessed) for resource in index.selected(kind, home, selector))


def _homes(index: Index, owner: Resource, need: RequiredObject, kind: GroupKind) -> tuple[tuple[str, ...], bool]:
    """Return the namespaces in which what a need is about may be, and whether it is a guess that it is there."""
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


def _named_object(
    index: Index, owner: Resource, need: RequiredObject, path: FieldPath, reference: Mapping[str, Json]
) -> ObjectRef | NotAttached:
    """Return the object that a reference names; or the failure, if its kind is not allowed or it has no name."""
    kind, name = _kind(need, reference), text_at(reference, "name")
    if kind is None:
        kinds = ", ".join((*need.kinds, *(kind_of_group.kind for kind_of_group in need.other_kinds)))
        message = f"{path}.kind {text_at(reference, 'kind')} is not one of {kinds}"
        return NotAttached("policy invalid", message, need.competes)
    if not name:
        return NotAttached("policy invalid", f"{path} names no {kind.kind}", need.competes)
    # Without its definition, a cluster-scoped kind that is not known otherwise was read into some namespace.
    elsewhere = index.world.refs_of(kind) if kind.kind in need.cluster_kinds else ()
    read = next((ref for ref in elsewhere if ref.name == name), None)
    namespaced = kind.kind not in need.cluster_kinds and index.namespaced(kind)
    home = text_at(reference, "namespace") or owner.ref.namespace
    return read or ObjectRef(kind, home if namespaced else "", name)


def _kind(need: RequiredObject, reference: Mapping[str, Json]) -> GroupKind | None:
    """Return the kind that a reference names, among those that it may; its group counts where two have that name."""
    kind_name, group = text_at(reference, "kind") or need.kinds[0], text_at(reference, "group")
    kinds = [GroupKind(need.group, kind) for kind in need.kinds]
    called = [kind for kind in (*kinds, *need.other_kinds) if kind.kind == kind_name]
    return next((kind for kind in called if kind.group == group), called[0] if called else None)


# What follows for requests from a policy that is not valid, after the words for why it is not.
FAILING_REQUESTS: Final = "; until that is fixed, requests there get an error response"


def policy_failure(
    policy: Resource, profile: PolicyKindProfile, index: Index, target: GroupKind | None = None
) -> NotAttached | None:
    """Return the failure of a policy that is invalid or lacks what it needs; None if it is usable.

    Some rules about values hold only for a `target` of a certain kind.
    """
    fails = profile.when_invalid == "errors"
    errors = FAILING_REQUESTS if fails else ""
    weight, wrong, competes = profile.weight_annotation, "", False
    if weight and number_in_annotation(policy.raw, weight) is None:
        wrong = f"the annotation {weight} of {policy.ref} is not a whole number"
    if not wrong and (profile.least_sizes or profile.values):
        from kubectl_policy.attachment.values import why_too_small, wrong_value  # noqa: PLC0415 (few kinds have rules)

        wrong = why_too_small(policy, profile.least_sizes)
        wrong, competes = (wrong, False) if wrong else wrong_value(policy, profile.values, target)
    failure = (
        NotAttached("policy invalid", wrong, competes)
        if wrong
        else missing_need(index, policy, profile)
        or unusable_need(index, policy, profile)
        or missing_setting(index, policy, profile)
    )
    return NotAttached(failure.state, failure.message + errors, failure.competes, fails) if failure else None
