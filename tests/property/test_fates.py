"""The law that every declared field is effective, or somebody set something else, or refused the whole policy."""

from __future__ import annotations

from typing import TYPE_CHECKING

from hypothesis import given

from kubectl_policy import analyze, leaves
from kubectl_policy.resolution import field_name
from tests.property.strategies import worlds
from tests.property.world import profiles_of, snapshot_of

if TYPE_CHECKING:
    from kubectl_policy import EffectivePolicy
    from tests.property.world import World


@given(world=worlds())
def test_every_declared_field_has_a_fate(world: World) -> None:
    """One fate for each field of each contribution, in their order; a fate says by whom unless it is "effective"."""
    analysis = analyze(snapshot_of(world), profiles=profiles_of(world))
    for end in analysis.topology.nodes:
        for effective in analysis.effective(end):
            _check(effective)


def _check(effective: EffectivePolicy) -> None:
    declared = [(field, leaf) for part in effective.contributions for field, leaf in leaves(part.spec)]
    in_force = {field_name(field): leaf for field, leaf in leaves(effective.spec)}
    fates = effective.fates()
    assert [(fate.field, fate.value, fate.source) for fate in fates] == [
        (field_name(field), leaf.value, leaf.source) for field, leaf in declared
    ]
    for fate in fates:
        if fate.state == "effective":
            assert fate.superseded_by == ()
            assert fate.value == {} or in_force[fate.field].source == fate.source
        else:
            assert fate.superseded_by
            assert fate.source not in fate.superseded_by
