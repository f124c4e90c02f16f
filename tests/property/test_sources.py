"""The law that every effective leaf has exactly one source, and that the source declared it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from hypothesis import given

from kubectl_policy import analyze, leaves
from tests.property.strategies import worlds
from tests.property.world import profiles_of, snapshot_of

if TYPE_CHECKING:
    from tests.property.world import World


@given(world=worlds())
def test_every_effective_leaf_was_declared_by_its_source(world: World) -> None:
    """By a policy that contributes on this path, for this field and with this value; or it is the target's own."""
    analysis = analyze(snapshot_of(world), profiles=profiles_of(world))
    for end in analysis.topology.nodes:
        for effective in analysis.effective(end):
            declared = [
                (field, leaf) for part in effective.resolution.contributions for field, leaf in leaves(part.spec)
            ]
            found = list(leaves(effective.resolution.spec))
            assert len({field for field, _ in found}) == len(found)
            for field, leaf in found:
                own = leaf.source.target == end and leaf.source.object == end.object
                assert own or (field, leaf) in declared
