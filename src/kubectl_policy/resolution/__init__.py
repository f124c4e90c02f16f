"""Merge strategies, precedence, effective policies and enforcement."""

from kubectl_policy.resolution.contention import Contention, contentions
from kubectl_policy.resolution.effective import EffectivePolicy, Fate
from kubectl_policy.resolution.enforcement import CARRY_NOTHING, Enforcement, enforce, fates_of, reach
from kubectl_policy.resolution.precedence import age_unknown, by_age, same_level_of
from kubectl_policy.resolution.resolver import Resolver
from kubectl_policy.resolution.strategies import Contribution
from kubectl_policy.resolution.traced import Leaf, Source, Traced, field_name, leaves, plain

__all__ = [
    "CARRY_NOTHING",
    "Contention",
    "Contribution",
    "EffectivePolicy",
    "Enforcement",
    "Fate",
    "Leaf",
    "Resolver",
    "Source",
    "Traced",
    "age_unknown",
    "by_age",
    "contentions",
    "enforce",
    "fates_of",
    "field_name",
    "leaves",
    "plain",
    "reach",
    "same_level_of",
]
