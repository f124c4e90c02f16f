"""Why a policy, or a target that exists, cannot be used: what it lacks or needs, and what a Gateway forbids."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Final

from kubectl_policy.attachment.attachment import NotAttached
from kubectl_policy.model import GroupKind, NodeRef, ObjectRef
from kubectl_policy.model.fields import every_mapping, number_in_annotation, text_at, value_at
from kubectl_policy.model.values import value
from kubectl_policy.topology.controllers import managed
from kubectl_policy.topology.parameters import enabled_on, why_disabled
from kubectl_policy.topology.references import ROUTES, parent_refs

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence

    from kubectl_policy.model import Json, Resource
    from kubectl_policy.model.index import Index
    from kubectl_policy.profiles import PolicyKindProfile
    from kubectl_policy.profiles.profile import RequiredObject, RequiredParameter
    from kubectl_policy.topology import Topology

_SIZE: Final = r"(?i)([0-9]{1,9})([kmg]?)"
_UNITS: Final = {"": 1, "k": 2**10, "m": 2**20, "g": 2**30}


def too_small(policy: Resource, least_sizes: Mapping[str, Sequence[str]]) -> str:
    """Which size of a policy is less than one that it must not be less than, in words; empty if none is.

    Fields are paths below `spec`; what is absent, or no size, is not compared. A size is a number of bytes, with `k`,
    `m` or `g` for powers of 1024 (nginx: "Sizes can be specified in bytes, kilobytes or megabytes").
    """
    for field, others in least_sizes.items():
        for other in others:
            here, there = (value_at(policy.raw, f"spec.{path}") for path in (field, other))
            size, least = _bytes(here), _bytes(there)
            if size is not None and least is not None and size < least:
                return f"spec.{field} ({here}) is less than spec.{other} ({there})"
    return ""


def _bytes(value: Json) -> int | None:
    match = re.fullmatch(_SIZE, str(value)) if isinstance(value, str | int) and not isinstance(value, bool) else None
    return int(match[1]) * _UNITS[match[2].lower()] if match else None


def policy_not_attached(policy: Resource, profile: PolicyKindProfile, index: Index) -> NotAttached | None:
    """Why a policy is invalid, or may not refer to what it needs, whatever its targets are; None if it is neither."""
    errors = "; until that is fixed, requests there get an error response" if profile.when_invalid == "errors" else ""
    weight, wrong = profile.weight_annotation, ""
    if weight and number_in_annotation(policy.raw, weight) is None:
        wrong = f"the annotation {weight} of {policy.ref} is not a whole number"
    wrong = wrong or too_small(policy, profile.least_sizes)
    failure = NotAttached("policy invalid", wrong) if wrong else missing_need(index, policy, profile)
    return NotAttached(failure.state, failure.message + errors, failure.competes) if failure else None


@value()
class RequiredReference:
    """An object that a policy needs, and the field that names it; if it `is_there`, whether the policy may is open."""

    ref: ObjectRef
    field: str
    is_there: bool = False


def missing_need(index: Index, policy: Resource, profile: PolicyKindProfile) -> NotAttached | None:
    """Why a policy is not attached: the first thing that it needs and is known not to have; None if there is none.

    What is there, without a ReferenceGrant that lets the policy refer to it, is not permitted.
    """
    return next(_missing(index, policy, profile.needs), None)


def _missing(index: Index, owner: Resource, needs: Iterable[RequiredObject], whose: str = "") -> Iterator[NotAttached]:
    """What a policy lacks, or (`whose` fields) an object through which a policy needs others."""
    for need in needs:
        for named in _named(index, owner, need):
            if isinstance(named, NotAttached):
                yield named
            elif _permitted(index, owner, named.ref, need) is False:
                where = f"no ReferenceGrant in namespace {named.ref.namespace} lets {owner.ref} refer to {named.ref}"
                yield NotAttached("not permitted", where, need.competes)
            elif index.presence(named.ref) == "missing":
                message = f"{named.ref}, which {named.field}{whose} names, does not exist"
                yield NotAttached("policy invalid", message, need.competes)
            else:
                resource = index.get(named.ref)
                through = index.filled(resource) if resource else None
                yield from _missing(index, through, need.through, f" of {through.ref}") if through else ()


def _permitted(index: Index, owner: Resource, ref: ObjectRef, need: RequiredObject) -> bool | None:
    home = owner.ref.namespace
    if not need.grant_required or ref.kind in need.cluster_kinds or ref.namespace in {"", home}:
        return True
    return index.grants.permit(owner.ref.group_kind, home, ref)


def unread_needs(index: Index, policy: Resource, profile: PolicyKindProfile) -> Iterator[RequiredReference]:
    """The objects that a policy needs of which it is not known whether they exist, or may be referred to."""
    yield from _unread(index, index.filled(policy), profile.needs)


def _unread(index: Index, owner: Resource, needs: Iterable[RequiredObject]) -> Iterator[RequiredReference]:
    for need in needs:
        for named in _named(index, owner, need):
            if isinstance(named, NotAttached):
                continue
            resource = index.get(named.ref)
            if resource and _permitted(index, owner, named.ref, need) is None:
                yield RequiredReference(named.ref, named.field, is_there=True)
            if resource:
                yield from _unread(index, index.filled(resource), need.through)
            elif index.presence(named.ref) == "unknown":
                yield named


def _named(index: Index, policy: Resource, need: RequiredObject) -> Iterator[RequiredReference | NotAttached]:
    """The objects that a policy names for a need, or why it names none."""
    references: list[Mapping[str, Json]] = list(every_mapping(policy.raw, need.field))
    if not references and not need.optional:
        references.append({})
    return (_object(index, policy, need, reference) for reference in references)


def _object(
    index: Index, policy: Resource, need: RequiredObject, reference: Mapping[str, Json]
) -> RequiredReference | NotAttached:
    kind, name = GroupKind(need.group, text_at(reference, "kind") or need.kinds[0]), text_at(reference, "name")
    if kind.kind not in need.kinds:
        message = f"{need.field}.kind {kind.kind} is not one of {', '.join(need.kinds)}"
        return NotAttached("policy invalid", message, need.competes)
    if not name:
        return NotAttached("policy invalid", f"{need.field} names no {kind.kind}", need.competes)
    # Without its definition, a cluster-scoped kind that is not known otherwise was read into some namespace.
    elsewhere = index.of_kind(kind) if kind.kind in need.cluster_kinds else ()
    read = next((resource.ref for resource in elsewhere if resource.ref.name == name), None)
    namespaced = kind.kind not in need.cluster_kinds and index.namespaced(kind)
    home = text_at(reference, "namespace") or policy.ref.namespace
    ref = read or ObjectRef(kind, home if namespaced else "", name)
    return RequiredReference(ref, need.field)


def target_not_attached(target: ObjectRef, profile: PolicyKindProfile, topology: Topology) -> NotAttached | None:
    """Why a Gateway takes no policies because it is not valid, or no Gateway of a target lets a kind be used; or None.

    Whether it lets a kind be used is in its parameters; it does if that is unknown.
    """
    invalid = topology.relations.why_ignored(NodeRef(target))
    if invalid:
        return NotAttached("target invalid", invalid.message, competes=True)
    enabling = profile.enabled_by
    gateways = set(gateways_of(target, profile, topology)) if enabling else ()
    if enabling is None or not gateways:
        return None
    itself = target.group_kind not in ROUTES
    if any(enabled_on(topology, gateway, enabling, itself=itself) is not False for gateway in gateways):
        return None
    return NotAttached("not enabled", not_enabled(topology, enabling, gateways), competes=True)


def not_enabled(topology: Topology, enabling: RequiredParameter, gateways: Iterable[ObjectRef]) -> str:
    """Why the parameters of some Gateways do not let a kind be used, in words."""
    return "; ".join(why_disabled(topology, gateway, enabling) for gateway in sorted(gateways))


def gateways_of(target: ObjectRef, profile: PolicyKindProfile, topology: Topology) -> Iterator[ObjectRef]:
    """The Gateways of the kind's controllers that an object is, belongs to or, as a route, names as parents."""
    index, kind = topology.index, target.group_kind
    parents = [parent.object for parent in parent_refs(index, target)] if kind in ROUTES else [target]
    for parent in parents:
        gateway = topology.gateways.gateway_of(parent)
        if gateway and managed(topology, gateway, profile.controllers) is not False:
            yield gateway


def not_managed(topology: Topology, ref: ObjectRef, kind: str, controllers: Collection[str]) -> str:
    """Why none of the controllers of a policy kind acts on an object, in words; empty if one does or may."""
    if managed(topology, ref, controllers) is not False:
        return ""
    ours = " or ".join(sorted(controllers))
    if ref.group_kind in ROUTES:
        invalid = "; ".join(dict.fromkeys(_invalid_parents(topology, ref, controllers)))
        counts = f"counts: {invalid}" if invalid else "is"
        return f"{kind} acts on what {ours} manages, and no parent of {ref} {counts}"
    theirs = topology.gateways.controller_of(ref)
    return f"{kind} acts on what {ours} manages, and {ref} is " + (f"managed by {theirs}" if theirs else "not")


def _invalid_parents(topology: Topology, route: ObjectRef, controllers: Collection[str]) -> Iterator[str]:
    """Why the controllers ignore parents of a route, or of routes that delegate to it, although these are theirs."""
    for above in topology.relations.delegating_routes(route):
        for parent in parent_refs(topology.index, above):
            ignored = topology.relations.why_ignored(NodeRef(parent.object))
            if ignored and managed(topology, parent.object, controllers):
                yield ignored.message
