"""The oracle on who is refused for whom: policy by policy in their order, each against all that came before it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tests.oracle import attached
from tests.oracle_specs import flatten, without_nulls

if TYPE_CHECKING:
    from collections.abc import Iterable

    from kubectl_policy.model import NodeRef, ObjectRef
    from tests.oracle_specs import Field
    from tests.property.world import Kind, Policy, World


def in_order(kind: Kind, policies: Iterable[Policy]) -> list[Policy]:
    """Policies by their number, if the kind has such, then the weightiest first, if they have weights, then by age."""
    found = sorted(policies, key=lambda one: (one.created is None, one.created or 0, f"{one.namespace}/{one.name}"))
    if kind.weighted:
        found.sort(key=lambda one: one.weight or 0, reverse=True)
    if kind.ordered:
        found.sort(key=lambda one: one.number or 0)
    return found


def refused(world: World, kind: Kind) -> dict[tuple[ObjectRef, NodeRef], tuple[ObjectRef, NodeRef]]:
    """The policies that are refused on a target of theirs, each with who came first and the target where they meet."""
    found: dict[tuple[ObjectRef, NodeRef], tuple[ObjectRef, NodeRef]] = {}
    if kind.same_level not in {"one-applies", "disjoint"}:
        return found
    policies = in_order(kind, (one for one in world.policies if one.kind == kind.name))
    targets = {one.ref: sorted(set(attached(world, one)[0])) for one in policies}
    for place, policy in enumerate(policies):
        meets: dict[NodeRef, tuple[ObjectRef, NodeRef]] = {}
        for node in targets[policy.ref]:
            earlier = [one for one in policies[:place] if node in targets[one.ref] and (one.ref, node) not in found]
            holders = [one for field in _claims(kind, policy) for one in earlier if field in _claims(kind, one)]
            if holders:
                meets[node] = (holders[0].ref, node)
        if meets and kind.refusal == "everywhere":
            first = meets[min(meets)]
            meets = {node: meets.get(node, first) for node in targets[policy.ref]}
        found |= {(policy.ref, node): holder for node, holder in meets.items()}
    return found


def _claims(kind: Kind, policy: Policy) -> list[Field]:
    """What a policy has for itself: all there is, or the fields that it sets; elements of a list by their names."""
    if kind.same_level == "one-applies":
        return [()]
    name = f"{policy.namespace}/{policy.name}"
    above = (name,) if kind.style == "apart" else ()
    # A list that merges by keys is one field all the same.
    whole = kind._replace(style="bare")
    specs = [without_nulls(spec) if kind.nulls == "ignore" else spec for _, spec in policy.parts]
    fields = [(*above, *field) for spec in specs for field in flatten(spec, whole, name)]
    return [tuple(key[1:-1] if key.startswith("[") else key for key in field) for field in fields or [above] if field]
