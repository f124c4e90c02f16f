"""Merge strategies, precedence, effective policies and enforcement.

Enforcement, which few answers need, is imported from its own module.
"""

from kubectl_policy.resolution.contributions import Contribution
from kubectl_policy.resolution.effective import CARRY_NOTHING, paths_by_way_of, reached_part, takes_effect_below
from kubectl_policy.resolution.merging import ScopeOutcome
from kubectl_policy.resolution.outcome import EffectivePolicy, Fate, Resolution
from kubectl_policy.resolution.precedence import order_unknown, same_level_of
from kubectl_policy.resolution.resolver import Resolver
from kubectl_policy.resolution.traced import Leaf, Source, Traced, field_name, leaves, plain

__all__ = [
    "CARRY_NOTHING",
    "Contribution",
    "EffectivePolicy",
    "Fate",
    "Leaf",
    "Resolution",
    "Resolver",
    "ScopeOutcome",
    "Source",
    "Traced",
    "field_name",
    "leaves",
    "order_unknown",
    "paths_by_way_of",
    "plain",
    "reached_part",
    "same_level_of",
    "takes_effect_below",
]
