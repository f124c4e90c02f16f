"""Merge strategies: what becomes of an established spec and its challenger, and of a whole path of them."""

from __future__ import annotations

from dataclasses import dataclass
from functools import reduce
from typing import TYPE_CHECKING

from kubectl_policy.profiles.profile import MergeStrategy
from kubectl_policy.resolution.traced import Source, patched

if TYPE_CHECKING:
    from collections.abc import Sequence

    from kubectl_policy.profiles.profile import Fold
    from kubectl_policy.resolution.traced import Traced


@dataclass(frozen=True, slots=True)
class Contribution:
    """What one policy, attached at one node of a path, brings to the effective policy there.

    `field` is where the policy declares it: `spec`, or a stanza (`spec.overrides`).
    """

    source: Source
    spec: Traced
    strategy: MergeStrategy
    field: str = "spec"


@dataclass(frozen=True, slots=True)
class Merged:
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
            return Merged(established.specs, strategy, established.members, rejected | challenger.members)
        case MergeStrategy.ATOMIC_DEFAULTS:
            return Merged(challenger.specs, strategy, challenger.members, rejected)
        case MergeStrategy.ATOMIC_OVERRIDES:
            return Merged(established.specs, strategy, established.members, rejected)
        case MergeStrategy.PATCH_DEFAULTS:
            specs = established.specs + challenger.specs
        case _:
            specs = challenger.specs + established.specs
    return Merged(specs, strategy, established.members | challenger.members, rejected)


def fold(contributions: Sequence[Contribution], direction: Fold) -> Merged:
    """The contributions of a path, least specific first and at least one, as one spec.

    Bottom-up, each policy merges itself over what is below it, by its own strategy, so that nothing below can undo an
    override (Kuadrant, RFC 0009: "for each p: merge p into ep"). Top-down is the literal reading of GEP-713's chart
    ("Abstract process", provisional): the two least specific merge first, and the result takes the strategy of the more
    specific one; after a rejection it keeps its own.
    """
    layers = [Merged((part.spec,), part.strategy, frozenset({part.source})) for part in contributions]
    if direction == "bottom-up":
        return reduce(lambda below, above: merge(above, below), reversed(layers))
    return reduce(_step_down, layers)


def _step_down(above: Merged, below: Merged) -> Merged:
    merged = merge(above, below)
    strategy = above.strategy if above.strategy is MergeStrategy.NONE else below.strategy
    return Merged(merged.specs, strategy, merged.members, merged.rejected)
