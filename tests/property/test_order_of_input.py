"""The law that the order of input documents changes no answer."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from hypothesis import given
from hypothesis import strategies as st

from kubectl_policy import analyze
from tests.property.answers import answers
from tests.property.strategies import worlds
from tests.property.world import profiles_of, snapshot_of

if TYPE_CHECKING:
    from random import Random

    from tests.property.world import World


@given(world=worlds(), random=st.randoms(use_true_random=False))
def test_any_order_gives_the_same_answers(world: World, random: Random) -> None:
    """Everything that can be asked, in the same order, with the same diagnostics."""
    snapshot, profiles = snapshot_of(world), profiles_of(world)
    resources = list(snapshot.resources)
    random.shuffle(resources)
    shuffled = replace(snapshot, resources=tuple(resources))
    assert answers(analyze(shuffled, profiles=profiles)) == answers(analyze(snapshot, profiles=profiles))
