"""Merge strategies: what becomes of an established spec and its challenger, and of a whole path of them."""

from __future__ import annotations

from dataclasses import dataclass
from functools import reduce
from typing import TYPE_CHECKING, NamedTuple

from kubectl_policy.profiles.merging import MergeStrategy
from kubectl_policy.resolution.traced import Source, patched

if TYPE_CHECKING:
    from collections.abc import Sequence

    from kubectl_policy.profiles import PolicyKindProfile
    from kubectl_policy.profiles.profile import Fold
    from kubectl_policy.resolution.traced import Traced


@dataclass(frozen=True, slots=True)
class Contribution:
    """What one policy, attached at one node of a path, brings to the effective policy there.

    `field` is where the policy declares it: `spec`, or a stanza (`spec.overrides`). An `empty` one replaces none
    further up.
    """

    source: Source
    spec: Traced
    strategy: MergeStrategy
    field: str = "spec"
    empty: bool = False


class Merged(NamedTuple):
    """Some neighbouring contributions of a path, merged.

    `specs` are those that take part, in the order in which each patches what stands before it. They are kept apart
    until all are known, because RFC 7386 is not associative where nulls occur: merged in pairs, a field that one policy
    removes could come back. `members` are their sources; `rejected` were refused by strategy None, which is a conflict,
    not a defeat.
    """

    specs: tuple[Traced, ...]
    strategy: MergeStrategy
    members: frozenset[Source]
    rejected: frozenset[Source] = frozenset()
    empty: bool = False

    @property
    def spec(self) -> Traced:
        """What the specs amount to."""
        return reduce(patched, self.specs)


def merge(established: Merged, challenger: Merged) -> Merged:
    """GEP-713, "Merge strategies": the established spec's strategy decides; the result keeps that strategy."""
    strategy = established.strategy
    rejected = established.rejected | challenger.rejected
    match strategy:
        case MergeStrategy.NONE:
            refused = rejected | challenger.members
            return Merged(established.specs, strategy, established.members, refused, established.empty)
        case MergeStrategy.ATOMIC_DEFAULTS if not challenger.empty:
            return Merged(challenger.specs, strategy, challenger.members, rejected)
        case MergeStrategy.ATOMIC_DEFAULTS | MergeStrategy.ATOMIC_OVERRIDES:
            return Merged(established.specs, strategy, established.members, rejected, established.empty)
        case MergeStrategy.PATCH_OVERRIDES:
            specs = challenger.specs + established.specs
        case _:
            specs = established.specs + challenger.specs
    empty = established.empty and challenger.empty
    return Merged(specs, strategy, established.members | challenger.members, rejected, empty)


def fold(contributions: Sequence[Contribution], direction: Fold) -> Merged:
    """The contributions of a path, least specific first and at least one, as one spec.

    Bottom-up, each policy merges itself over what is below it, by its own strategy, so that nothing below can undo an
    override (Kuadrant, RFC 0009: "for each p: merge p into ep"). Top-down is the literal reading of GEP-713's chart
    ("Abstract process", provisional): the two least specific merge first, and the result takes the strategy of the more
    specific one; after a rejection it keeps its own.
    """
    layers = [_layer(part) for part in contributions]
    if direction == "bottom-up":
        return reduce(lambda below, above: merge(above, below), reversed(layers))
    return reduce(_step_down, layers)


def fold_by_challenger(contributions: Sequence[Contribution], profile: PolicyKindProfile) -> Merged:
    """The contributions of a path, least specific first and at least one, where each challenger chooses.

    The most specific one replaces all that is above it or, if it says so, patches it: every policy above, each of which
    chooses in turn, or the closest one alone (`merges_with`), whatever that one chooses for itself. Policies on levels
    that the kind does not merge with are left out (Envoy Gateway, `mergeType`: api/v1alpha1/shared_types.go).
    """
    *above, nearest = contributions
    if above and nearest.empty and not nearest.strategy.patches_above:
        return fold_by_challenger(above, profile)
    layer = _layer(nearest)
    levels = profile.merge_parents
    parents = [part for part in above if not levels or any(level.includes(part.source.target) for level in levels)]
    if not nearest.strategy.patches_above or not parents:
        return layer
    closest = profile.merges_with == "closest"
    base = _layer(parents[-1]) if closest else fold_by_challenger(parents, profile)
    return Merged(base.specs + layer.specs, nearest.strategy, base.members | layer.members, empty=layer.empty)


def _layer(part: Contribution) -> Merged:
    return Merged((part.spec,), part.strategy, frozenset({part.source}), empty=part.empty)


def _step_down(above: Merged, below: Merged) -> Merged:
    merged = merge(above, below)
    strategy = above.strategy if above.strategy is MergeStrategy.NONE else below.strategy
    return Merged(merged.specs, strategy, merged.members, merged.rejected, merged.empty)
