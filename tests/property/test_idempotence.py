"""The law that strategies are idempotent: a policy merged with itself is itself."""

from __future__ import annotations

from typing import TYPE_CHECKING

from hypothesis import given
from hypothesis import strategies as st
from msgspec.structs import replace

from kubectl_policy import MergeStrategy, plain
from kubectl_policy.resolution.contributions import Stanza, contribution_of
from kubectl_policy.resolution.merging import merge
from kubectl_policy.resolution.traced import keyed, patched, trace
from tests.property.choices import PLACES, merging_profiles
from tests.property.rfc7386 import PATCHES
from tests.property.strategic import KEYS, documents
from tests.resolution.outcomes import PATH, resolve
from tests.resolution.specs import declares, layer, source

if TYPE_CHECKING:
    from kubectl_policy import PolicyKindProfile
    from kubectl_policy.model import Json


@given(spec=PATCHES, strategy=st.sampled_from(MergeStrategy))
def test_merging_with_itself_changes_nothing(spec: dict[str, Json], strategy: MergeStrategy) -> None:
    """For every strategy, sources included."""
    one = layer(declares("p", spec, strategy))
    again = merge(one, one)
    assert (again.spec, again.strategy, again.members) == (one.spec, one.strategy, one.members)


@given(above=PATCHES, below=PATCHES, strategy=st.sampled_from(MergeStrategy))
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
    traced = keyed(trace(spec, source("p")), KEYS)
    assert patched(traced, traced) == traced


@given(
    spec=st.one_of(PATCHES, documents(nulls=True)), strategy=st.sampled_from(MergeStrategy), profile=merging_profiles()
)
def test_a_policy_on_two_targets_of_a_path_is_in_force_as_it_is_written(
    spec: dict[str, Json], strategy: MergeStrategy, profile: PolicyKindProfile
) -> None:
    """It neither beats itself nor adds to itself, whatever the kind chooses."""
    parts = [
        contribution_of(
            replace(source("p", overrides=strategy.overrides), target=place), Stanza("spec", strategy, spec), profile
        )
        for place in PLACES
    ]
    alone, thrice = (resolve(PATH, profile, tuple(found)) for found in (parts[:1], parts))
    assert plain(thrice.resolution.spec) == plain(alone.resolution.spec)
    assert thrice.resolution.policies_in_force == alone.resolution.policies_in_force
