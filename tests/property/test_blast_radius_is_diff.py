"""The law that a blast radius is the difference that deleting the object makes."""

from __future__ import annotations

from typing import TYPE_CHECKING

from hypothesis import given, settings
from hypothesis import strategies as st
from msgspec.structs import replace

from kubectl_policy import analyze
from kubectl_policy.comparison import compare
from kubectl_policy.questions.blast_radius import blast_radius
from kubectl_policy.questions.diff import diff
from tests.property.changes import refs_in, with_contents
from tests.property.examples import examples
from tests.property.strategies import worlds
from tests.property.world import profiles_of, snapshot_of

if TYPE_CHECKING:
    from tests.property.world import World


@settings(max_examples=examples(20))
@given(world=worlds(), choice=st.integers(0, 30), complete=st.booleans())
def test_a_blast_radius_is_the_difference_of_deleting(world: World, choice: int, *, complete: bool) -> None:
    """Two states that were read apart, one of them without the object and what goes with it, differ in the same way."""
    known = refs_in(world)
    subject = known[choice % len(known)]
    snapshot, profiles = replace(snapshot_of(world), complete=complete), profiles_of(world)
    gone = with_contents(world, subject)
    left = tuple(resource for resource in snapshot.resources if resource.ref not in gone)
    found = blast_radius(analyze(snapshot, profiles=profiles), subject)
    assert found.difference == diff(compare(snapshot, replace(snapshot, resources=left), profiles=profiles))
    assert found.deleted_with_it == tuple(sorted(gone - {subject}))
