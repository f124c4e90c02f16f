"""Laws of merging: what is alone or merged with itself stays as it is, and directions agree where they must."""

from __future__ import annotations

from typing import Final

from hypothesis import given
from hypothesis import strategies as st
from msgspec.structs import replace

from kubectl_policy import MergeStrategy, PolicyKindProfile, plain
from kubectl_policy.model import Json
from kubectl_policy.profiles.fields import Fold
from kubectl_policy.resolution.contributions import DeclaredStanza, contribution_of
from kubectl_policy.resolution.merging import fold, fold_by_challenger, merge
from kubectl_policy.resolution.traced import patched, trace, with_keyed_lists
from tests.property.choices import TARGETS, merging_profiles
from tests.property.merges import KEYS, PATCHES, SPECS, documents
from tests.resolution.build import PATH, declares, layer, resolve, set_by, source

PATCHING = st.sampled_from((MergeStrategy.PATCH_DEFAULTS, MergeStrategy.PATCH_OVERRIDES, MergeStrategy.STRATEGIC_MERGE))
STRATEGIES = st.sampled_from(MergeStrategy)
DIRECTIONS: Final[tuple[Fold, ...]] = ("bottom-up", "top-down")


@given(spec=PATCHES, strategy=STRATEGIES, direction=st.sampled_from(DIRECTIONS))
def test_one_policy_alone_is_what_it_declares(spec: dict[str, Json], strategy: MergeStrategy, direction: Fold) -> None:
    alone = declares("p", spec, strategy)
    assert fold([alone], direction) == layer(alone)


@given(spec=PATCHES, strategy=STRATEGIES, empty=st.booleans(), profile=merging_profiles())
def test_one_challenger_alone_is_what_it_declares(
    spec: dict[str, Json], strategy: MergeStrategy, *, empty: bool, profile: PolicyKindProfile
) -> None:
    alone = declares("p", spec, strategy, empty=empty)
    assert fold_by_challenger([alone], profile) == layer(alone)


@given(spec=st.one_of(SPECS, documents(nulls=False)), strategy=STRATEGIES, profile=merging_profiles())
def test_one_policy_alone_is_effective_as_it_is_written(
    spec: dict[str, Json], strategy: MergeStrategy, profile: PolicyKindProfile
) -> None:
    """Whatever the kind takes whole, merges by keys, ignores or counts as empty; nothing of it has another fate."""
    alone = contribution_of(source("p"), DeclaredStanza("spec", strategy, spec), profile)
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
    whole = trace(spec, source("p"))
    for traced in (whole, with_keyed_lists(whole, KEYS)):
        assert patched({}, traced) == patched(traced, {}) == traced


@given(spec=PATCHES, strategy=STRATEGIES)
def test_merging_with_itself_changes_nothing(spec: dict[str, Json], strategy: MergeStrategy) -> None:
    one = layer(declares("p", spec, strategy))
    again = merge(one, one)
    assert (again.spec, again.strategy, again.members) == (one.spec, one.strategy, one.members)


@given(above=PATCHES, below=PATCHES, strategy=STRATEGIES)
def test_merging_once_more_with_what_is_above_changes_nothing(
    above: dict[str, Json], below: dict[str, Json], strategy: MergeStrategy
) -> None:
    """What an established policy has done to a challenger, it does once."""
    established, challenger = layer(declares("p", above, strategy)), layer(declares("q", below))
    once = merge(established, challenger)
    assert merge(established, once).spec == once.spec


@given(spec=documents(nulls=True))
def test_lists_are_not_appended_to_themselves(spec: dict[str, Json]) -> None:
    """Neither by their keys nor one after the other, where both sides are one policy's."""
    traced = with_keyed_lists(trace(spec, source("p")), KEYS)
    assert patched(traced, traced) == traced


@given(spec=st.one_of(PATCHES, documents(nulls=True)), strategy=STRATEGIES, profile=merging_profiles())
def test_a_policy_on_two_targets_of_a_path_is_in_force_as_it_is_written(
    spec: dict[str, Json], strategy: MergeStrategy, profile: PolicyKindProfile
) -> None:
    """It neither beats itself nor adds to itself, whatever the kind chooses."""
    parts = [
        contribution_of(
            replace(source("p", overrides=strategy.overrides), target=place),
            DeclaredStanza("spec", strategy, spec),
            profile,
        )
        for place in TARGETS
    ]
    alone, thrice = (resolve(PATH, profile, tuple(found)) for found in (parts[:1], parts))
    assert plain(thrice.resolution.spec) == plain(alone.resolution.spec)
    assert thrice.resolution.policies_in_force == alone.resolution.policies_in_force


@given(above=PATCHES, below=PATCHES, strategy=STRATEGIES, other=STRATEGIES)
def test_two_policies_fold_alike(
    above: dict[str, Json], below: dict[str, Json], strategy: MergeStrategy, other: MergeStrategy
) -> None:
    """There is only one pair to merge first."""
    parts = [declares("p", above, strategy), declares("q", below, other)]
    up, down = fold(parts, "bottom-up"), fold(parts, "top-down")
    assert (up.spec, up.members, up.rejected) == (down.spec, down.members, down.rejected)


NUMBERS: Final[st.SearchStrategy[dict[str, Json]]] = st.dictionaries(st.sampled_from("abc"), st.integers(0, 2))
POLICIES: Final = st.lists(st.tuples(st.sampled_from(("Patch defaults", "Patch overrides")), NUMBERS), min_size=1)


@given(policies=POLICIES)
def test_a_default_gives_way_to_all_that_is_below_it(policies: list[tuple[str, dict[str, Json]]]) -> None:
    """Whatever stands between the two, and in whichever direction one goes."""
    parts = [declares(str(place), spec, strategy) for place, (strategy, spec) in enumerate(policies)]
    for direction in DIRECTIONS:
        for field, (_, name) in set_by(fold(parts, direction).spec).items():
            place = int(name)
            below = (spec for _, spec in policies[place + 1 :])
            assert policies[place][0] == "Patch overrides" or not any(field in spec for spec in below)
