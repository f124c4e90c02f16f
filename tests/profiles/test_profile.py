"""Merge strategies by name, levels, and the defaults of a profile."""

from __future__ import annotations

import pytest

from kubectl_policy import MergeStrategy, PolicyKindProfile, TargetLevel
from kubectl_policy.model import GroupKind
from kubectl_policy.model.kinds import SERVICE
from tests.build import node

COLOR = GroupKind("example.com", "ColorPolicy")


@pytest.mark.parametrize("name", ["", "Atomic", "defaults", "Patch", "Nonesuch", "…"])
def test_no_strategy_of_that_name(name: str) -> None:
    """A name that does not say everything is no name."""
    assert MergeStrategy.named(name) is None


@pytest.mark.parametrize(
    ("name", "strategy"),
    [
        ("None", MergeStrategy.NONE),
        ("AtomicDefaults", MergeStrategy.ATOMIC_DEFAULTS),
        ("atomic overrides", MergeStrategy.ATOMIC_OVERRIDES),
        ("patch-defaults", MergeStrategy.PATCH_DEFAULTS),
        ("PATCH_OVERRIDES", MergeStrategy.PATCH_OVERRIDES),
    ],
)
def test_a_strategy_by_name(name: str, strategy: MergeStrategy) -> None:
    """Case and what stands between the words do not matter."""
    assert MergeStrategy.named(name) is strategy


def test_which_strategies_override_and_which_default() -> None:
    """None does neither."""
    assert [strategy for strategy in MergeStrategy if strategy.overrides] == [
        MergeStrategy.ATOMIC_OVERRIDES,
        MergeStrategy.PATCH_OVERRIDES,
    ]
    assert [strategy for strategy in MergeStrategy if strategy.defaults] == [
        MergeStrategy.ATOMIC_DEFAULTS,
        MergeStrategy.PATCH_DEFAULTS,
    ]


def test_a_level_is_objects_or_sections() -> None:
    """The ports of a Service are another level than the Service."""
    whole, port = node("Service", "s", group=""), node("Service", "s", "http", group="")
    assert [TargetLevel(SERVICE).includes(at) for at in (whole, port)] == [True, False]
    assert [TargetLevel(SERVICE, section=True).includes(at) for at in (whole, port)] == [False, True]
    assert not TargetLevel(COLOR).includes(whole)


def test_the_strategy_of_a_policy_that_chooses_none() -> None:
    """Says: "None for a direct kind, Atomic defaults for the rest", unless the profile says."""
    assert PolicyKindProfile(COLOR, "direct", "label").default_strategy is MergeStrategy.NONE
    assert PolicyKindProfile(COLOR, "inherited", "label").default_strategy is MergeStrategy.ATOMIC_DEFAULTS
    chosen = PolicyKindProfile(COLOR, "direct", "label", strategy=MergeStrategy.PATCH_DEFAULTS)
    assert chosen.default_strategy is MergeStrategy.PATCH_DEFAULTS
