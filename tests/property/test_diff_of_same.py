"""The law that a state does not differ from itself, however it was read."""

from __future__ import annotations

from copy import deepcopy
from typing import TYPE_CHECKING

from hypothesis import given, settings
from hypothesis import strategies as st
from msgspec.structs import replace

from kubectl_policy import analyze
from kubectl_policy.comparison import compare, what_if
from kubectl_policy.questions.diff import diff
from tests.property.examples import examples
from tests.property.strategies import worlds
from tests.property.world import profiles_of, snapshot_of

if TYPE_CHECKING:
    from random import Random

    from tests.property.world import World


@settings(max_examples=examples(10))
@given(world=worlds(), complete=st.booleans(), random=st.randoms(use_true_random=False))
def test_a_state_built_apart(world: World, random: Random, *, complete: bool) -> None:
    """Equal objects in another order are the same state."""
    one = replace(snapshot_of(world), complete=complete)
    resources = [replace(resource, raw=deepcopy(resource.raw)) for resource in one.resources]
    random.shuffle(resources)
    found = diff(compare(one, replace(one, resources=tuple(resources)), profiles=profiles_of(world)))
    assert not found.changes
    assert (found.created, found.deleted, found.updated, found.problems.unchanged) == ((), (), (), ())


@settings(max_examples=examples(10))
@given(world=worlds())
def test_applying_what_is_there(world: World) -> None:
    """Nothing is deleted, and every object is applied as it is."""
    snapshot = snapshot_of(world)
    found = diff(what_if(analyze(snapshot, profiles=profiles_of(world)), applied=snapshot.resources))
    assert not found.changes
    assert (found.created, found.deleted, found.updated) == ((), (), ())
