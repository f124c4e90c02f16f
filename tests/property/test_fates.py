"""The law that every declared field is effective, or somebody set something else, or refused the whole policy."""

from __future__ import annotations

from typing import TYPE_CHECKING

from hypothesis import given
from hypothesis import strategies as st

from kubectl_policy import analyze, leaves
from kubectl_policy.resolution import field_name
from kubectl_policy.resolution.merging import PathContext
from kubectl_policy.resolution.precedence import Refusal
from tests.property.choices import PLACES, contributions, merging_profiles
from tests.property.strategies import worlds
from tests.property.world import profiles_of, snapshot_of
from tests.resolution.outcomes import PATH, resolve

if TYPE_CHECKING:
    from kubectl_policy import EffectivePolicy, PolicyKindProfile
    from tests.property.world import World


@given(world=worlds())
def test_every_declared_field_has_a_fate(world: World) -> None:
    """One fate for each field of each contribution, in their order; a fate says by whom unless it is "effective"."""
    analysis = analyze(snapshot_of(world), profiles=profiles_of(world))
    for end in analysis.topology.nodes:
        for effective in analysis.effective(end):
            _check(effective)


@given(data=st.data(), profile=merging_profiles(), one_applies=st.booleans())
def test_whatever_a_kind_chooses(data: st.DataObject, profile: PolicyKindProfile, *, one_applies: bool) -> None:
    """Also each element of a list that merges by keys, and each field of a policy that another one keeps out."""
    parts = data.draw(contributions(profile))
    on_nodes = [[part.source for part in parts if part.source.target == place] for place in PLACES]
    out = {
        one: Refusal(sources[0].object, one.target)
        for sources in on_nodes
        for one in sources
        if one_applies and one.object != sources[0].object
    }
    effective = resolve(PATH, profile, parts, PathContext(refused=out))
    _check(effective)
    for fate in effective.resolution.fates:
        if fate.source in out:
            (winner,) = fate.superseded_by
            assert (fate.state, winner.target) == ("rejected", fate.source.target)
    assert not effective.resolution.members & (effective.resolution.rejected | out.keys())


def _check(effective: EffectivePolicy) -> None:
    declared = [(field, leaf) for part in effective.resolution.contributions for field, leaf in leaves(part.spec)]
    in_force = {field_name(field): leaf for field, leaf in leaves(effective.resolution.spec)}
    fates = effective.resolution.fates
    assert [(fate.field, fate.value, fate.source) for fate in fates] == [
        (field_name(field), leaf.value, leaf.source) for field, leaf in declared
    ]
    for fate in fates:
        if fate.state == "effective":
            assert fate.superseded_by == ()
            assert fate.value in ({}, []) or in_force[fate.field].source == fate.source
        else:
            assert fate.superseded_by
            assert fate.source not in fate.superseded_by
