"""The law that merging with nothing above changes nothing."""

from __future__ import annotations

from typing import TYPE_CHECKING

from hypothesis import given
from hypothesis import strategies as st

from kubectl_policy import MergeStrategy, plain
from kubectl_policy.resolution.contributions import Stanza, contribution_of
from kubectl_policy.resolution.merging import fold, fold_by_challenger, merge
from kubectl_policy.resolution.traced import keyed, patched, trace
from tests.property.choices import merging_profiles
from tests.property.rfc7386 import PATCHES, SPECS
from tests.property.strategic import KEYS, documents
from tests.resolution.outcomes import PATH, resolve
from tests.resolution.specs import declares, layer, source

if TYPE_CHECKING:
    from kubectl_policy import PolicyKindProfile
    from kubectl_policy.model import Json
    from kubectl_policy.profiles.profile import Fold

PATCHING = st.sampled_from((MergeStrategy.PATCH_DEFAULTS, MergeStrategy.PATCH_OVERRIDES, MergeStrategy.STRATEGIC_MERGE))
STRATEGIES = st.sampled_from(MergeStrategy)


@given(spec=PATCHES, strategy=STRATEGIES, direction=st.sampled_from(("bottom-up", "top-down")))
def test_one_policy_alone_is_what_it_declares(spec: dict[str, Json], strategy: MergeStrategy, direction: Fold) -> None:
    """Whatever its strategy and the direction of folding are."""
    alone = declares("p", spec, strategy)
    assert fold([alone], direction) == layer(alone)


@given(spec=PATCHES, strategy=STRATEGIES, empty=st.booleans(), profile=merging_profiles())
def test_one_challenger_alone_is_what_it_declares(
    spec: dict[str, Json], strategy: MergeStrategy, *, empty: bool, profile: PolicyKindProfile
) -> None:
    """Whatever it would merge with."""
    alone = declares("p", spec, strategy, empty=empty)
    assert fold_by_challenger([alone], profile) == layer(alone)


@given(spec=st.one_of(SPECS, documents(nulls=False)), strategy=STRATEGIES, profile=merging_profiles())
def test_one_policy_alone_is_effective_as_it_is_written(
    spec: dict[str, Json], strategy: MergeStrategy, profile: PolicyKindProfile
) -> None:
    """Whatever the kind takes whole, merges by keys, ignores or counts as empty; nothing of it has another fate."""
    alone = contribution_of(source("p"), Stanza("spec", strategy, spec), profile)
    effective = resolve(PATH, profile, (alone,))
    assert plain(effective.resolution.spec) == ({"default/p": spec} if strategy is MergeStrategy.ALL_APPLY else spec)
    assert {fate.state for fate in effective.resolution.fates} <= {"effective"}
    assert (effective.resolution.rejected, effective.resolution.doubts) == (frozenset(), frozenset())


@given(spec=PATCHES, strategy=PATCHING)
def test_an_empty_policy_above_changes_nothing(spec: dict[str, Json], strategy: MergeStrategy) -> None:
    """Of those that patch: what declares nothing sets nothing and removes nothing."""
    below = declares("p", spec)
    assert merge(layer(declares("q", {}, strategy)), layer(below)).spec == below.spec


@given(spec=st.one_of(PATCHES, documents(nulls=True)))
def test_an_empty_spec_is_neutral(spec: dict[str, Json]) -> None:
    """On either side of a patch, lists by their keys or not."""
    whole = trace(spec, source("p"))
    for traced in (whole, keyed(whole, KEYS)):
        assert patched({}, traced) == patched(traced, {}) == traced
