"""Why a policy, or a target that exists, cannot be used: what it lacks or needs, and what a Gateway forbids."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Final

from kubectl_policy.attachment.attachment import NotAttached
from kubectl_policy.attachment.needs import missing_need
from kubectl_policy.model import NodeRef
from kubectl_policy.model.fields import number_in_annotation, value_at
from kubectl_policy.topology.controllers import enabled_on, managed, why_disabled
from kubectl_policy.topology.references import ROUTES, parent_refs

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence

    from kubectl_policy.model import Json, ObjectRef, Resource
    from kubectl_policy.model.index import Index
    from kubectl_policy.profiles import PolicyKindProfile
    from kubectl_policy.profiles.needs import RequiredParameter
    from kubectl_policy.topology import Topology

# What follows for requests from a policy that is not valid, after the words for why it is not.
FAILING: Final = "; until that is fixed, requests there get an error response"
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
    fails = profile.when_invalid == "errors"
    errors = FAILING if fails else ""
    weight, wrong = profile.weight_annotation, ""
    if weight and number_in_annotation(policy.raw, weight) is None:
        wrong = f"the annotation {weight} of {policy.ref} is not a whole number"
    wrong = wrong or too_small(policy, profile.least_sizes)
    failure = NotAttached("policy invalid", wrong) if wrong else missing_need(index, policy, profile)
    return NotAttached(failure.state, failure.message + errors, failure.competes, fails) if failure else None


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
        return f"{kind} counts only for what {ours} manages, and no parent of {ref} {counts}"
    theirs = topology.gateways.controller_of(ref)
    return f"{kind} counts only for what {ours} manages, and {ref} is " + (f"managed by {theirs}" if theirs else "not")


def _invalid_parents(topology: Topology, route: ObjectRef, controllers: Collection[str]) -> Iterator[str]:
    """Why the controllers ignore parents of a route, or of routes that delegate to it, although these are theirs."""
    for above in topology.relations.delegating_routes(route):
        for parent in parent_refs(topology.index, above):
            ignored = topology.relations.why_ignored(NodeRef(parent.object))
            if ignored and managed(topology, parent.object, controllers):
                yield ignored.message
