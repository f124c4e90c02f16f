"""Policies that are refused for what they claim: the first of a kind holds it, and who else claims it is refused."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Collection, Mapping, Sequence

    from kubectl_policy.model import NodeRef, ObjectRef, Resource
    from kubectl_policy.profiles.profile import Refusal as Extent


class Refusal(NamedTuple):
    """Why a policy is refused: the policy that came first, the target on which they meet, and a field that both set.

    The field is empty where a target takes one policy alone.
    """

    holder: ObjectRef
    target: NodeRef
    field: str = ""


def refusals(
    policies: Sequence[Resource],
    targets: Mapping[ObjectRef, Collection[NodeRef]],
    claims: Mapping[ObjectRef, Sequence[str]],
    extent: Extent,
) -> dict[tuple[ObjectRef, NodeRef], Refusal]:
    """The refusals among policies in their order of precedence, by policy and target, given what each one claims.

    A policy is refused on a target where an earlier one claims the same field. If its `extent` is everywhere, that goes
    for all of its targets, and a refused policy is in nobody's way.
    """
    held: dict[tuple[NodeRef, str], ObjectRef] = {}
    found: dict[tuple[ObjectRef, NodeRef], Refusal] = {}
    for policy in policies:
        claimed, theirs = claims[policy.ref], sorted(targets[policy.ref])
        met = {
            target: Refusal(held[target, field], target, field)
            for target in theirs
            for field in reversed(claimed)
            if (target, field) in held
        }
        if met and extent == "everywhere":
            first = next(iter(met.values()))
            met = {target: met.get(target, first) for target in theirs}
        found |= {(policy.ref, target): refusal for target, refusal in met.items()}
        held |= {(target, field): policy.ref for target in theirs if target not in met for field in claimed}
    return found
