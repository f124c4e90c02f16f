"""Precedence of policies on one target: their order, when it is unknown, and refusals."""

from __future__ import annotations

from math import inf
from types import MappingProxyType
from typing import TYPE_CHECKING, Final

from msgspec import Struct

from kubectl_policy.model.fields import integer_at, number_in_annotation
from kubectl_policy.model.snapshot import are_ages_known
from kubectl_policy.model.world import grouped
from kubectl_policy.resolution.contributions import EXPERIMENTAL, Contribution

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Mapping, Sequence

    from kubectl_policy.model import NodeRef, ObjectRef, Resource
    from kubectl_policy.profiles.fields import RefusedOn, SameLevel
    from kubectl_policy.profiles.profile import PolicyKindProfile

# The spelling of a target where spellings make no difference.
_ALIKE: Final = ("",)
NO_FILTERS: Final[Mapping[ObjectRef, int]] = MappingProxyType({})


def in_order(
    policies: Iterable[Resource], profile: PolicyKindProfile, filters: Mapping[ObjectRef, int] = NO_FILTERS
) -> list[Resource]:
    """Return policies of one kind in their order of precedence.

    GEP-713, "Conflict resolution": the oldest policy based on creation timestamp, then the one first in alphabetical
    order by "{namespace}/{name}"; those without a date come last. Where the kind has numbers that order its policies,
    these come first: the smallest one in a field, then the greatest one in an annotation. Without one a policy has 0.
    Before all come those that `filters` of the rule name, by the places of these in it.
    """
    unordered = list(policies)
    if len(unordered) == 1:
        return unordered
    return sorted(
        unordered, key=lambda policy: (filters.get(policy.ref, inf), numbers_of(policy, profile), policy.seniority)
    )


def filters_first(contributions: Sequence[Contribution]) -> list[Contribution]:
    """Sort the contributions on a path, from its root on: overrides by filters before those of their whole route.

    A filter of a rule comes before all policies on its route. Of two overrides the one nearer the root wins.
    """
    if not any(part.source.filter for part in contributions):
        return list(contributions)
    first: dict[ObjectRef, int] = {}
    for position, part in enumerate(contributions):
        first.setdefault(part.source.target.object, position)
    return sorted(
        contributions,
        key=lambda part: (first[part.source.target.object], not (part.source.filter and part.source.overrides)),
    )


def order_unknown(policies: Collection[Resource], profile: PolicyKindProfile) -> bool:
    """Whether the order of these rests on names because some of them have no creationTimestamp."""
    if len(policies) == 1:
        return False
    numbered = grouped((numbers_of(policy, profile), policy) for policy in policies)
    return not all(map(are_ages_known, numbered.values()))


def numbers_of(policy: Resource, profile: PolicyKindProfile) -> tuple[int, int]:
    """Return the numbers that precede age in the order of policies: of a field, and the negated weight."""
    number = integer_at(policy.raw, profile.order_field) if profile.order_field else None
    weight = number_in_annotation(policy.raw, profile.weight_annotation) if profile.weight_annotation else None
    return number or 0, -(weight or 0)


def same_level_of(profile: PolicyKindProfile, contributions: Iterable[Contribution]) -> SameLevel:
    """Return the rule for policies on one node: the profile's, or that of the text of GEP-713 that they follow.

    The experimental text, with its stanzas `default` and `override`, lets the first created win.
    """
    if profile.same_level:
        return profile.same_level
    experimental = any(part.field in EXPERIMENTAL for part in contributions)
    return "first-wins" if experimental else "newest-challenges"


def fold_order(contributions: Sequence[Contribution], same_level: SameLevel) -> list[Contribution]:
    """Return the contributions to one node, given oldest first, in the order in which a path is folded.

    By default the older one is established and the newer one its challenger. Where the first created wins, its defaults
    go last, since of two defaults the later one in the fold wins; with overrides and with None the earlier one wins.
    So it is where they have no common field, or all apply, and the order is only that in which they are shown. Where
    one alone applies there is nothing to fold; see `refusals`.
    """
    if same_level in {"newest-challenges", "one-applies"}:
        return list(contributions)
    defaults = [part for part in contributions if part.strategy.defaults]
    return [part for part in contributions if not part.strategy.defaults] + defaults[::-1]


class PolicyRefusal(Struct, frozen=True):
    """A refusal of a policy: the policy that came first, the target on which they meet, and a field that both set.

    The field is empty where a target takes one policy alone.
    """

    holder: ObjectRef
    target: NodeRef
    field: str = ""


def refusals(
    policies: Sequence[Resource],
    targets: Mapping[ObjectRef, Collection[NodeRef]],
    claims: Mapping[ObjectRef, Sequence[str]],
    spellings: Mapping[tuple[ObjectRef, NodeRef], Sequence[str]],
    extent: RefusedOn,
) -> dict[tuple[ObjectRef, NodeRef], PolicyRefusal]:
    """Return the refusals among policies in their order of precedence, by policy and target.

    A policy is refused on a target where an earlier one claims the same field. If its `extent` is everywhere, that goes
    for all of its targets, and a refused policy stands in no other's way. Policies whose `spellings` of a target differ
    do not meet there.
    """
    held: dict[tuple[NodeRef, str, str], ObjectRef] = {}
    every_refusal: dict[tuple[ObjectRef, NodeRef], PolicyRefusal] = {}
    for policy in policies:
        claimed, theirs = claims[policy.ref], sorted(targets[policy.ref])
        refused = {
            target: PolicyRefusal(held[target, spelling, field], target, field)
            for target in theirs
            for spelling in spellings.get((policy.ref, target), _ALIKE)
            for field in reversed(claimed)
            if (target, spelling, field) in held
        }
        if refused and extent == "everywhere":
            first = next(iter(refused.values()))
            refused = {target: refused.get(target, first) for target in theirs}
        every_refusal |= {(policy.ref, target): refusal for target, refusal in refused.items()}
        held |= {
            (target, spelling, field): policy.ref
            for target in theirs
            if target not in refused
            for spelling in spellings.get((policy.ref, target), _ALIKE)
            for field in claimed
        }
    return every_refusal
