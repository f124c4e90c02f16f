"""The law that two states differ in nothing beyond what a change can reach."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from hypothesis import given, settings
from hypothesis import strategies as st

from kubectl_policy import analyze
from kubectl_policy.comparison import compare, what_if
from kubectl_policy.model.world import Loaded
from kubectl_policy.questions.changes.diff import diff
from kubectl_policy.surroundings import STANDARD
from kubectl_policy.topology.references import ROUTES
from tests.property.changes import pairs_of_worlds, refs_in
from tests.property.examples import examples
from tests.property.strategies import worlds
from tests.property.world import profiles_of, snapshot_of

if TYPE_CHECKING:
    from kubectl_policy.model import Snapshot
    from tests.property.world import World


class _Narrow(Loaded):
    """A world of which every question is asked as narrowly as of a large one."""

    @property
    def is_narrow(self) -> bool:
        """Always."""
        return True


@settings(max_examples=examples(60))
@given(pair=pairs_of_worlds(), complete=st.booleans())
def test_only_what_a_change_can_reach_differs(pair: tuple[World, World], *, complete: bool) -> None:
    """Where it is known what that is, the difference is the one that is found by looking at everything."""
    profiles = profiles_of(pair[0])
    before, after = (replace(snapshot_of(world), complete=complete) for world in pair)
    asked = compare(_narrow(before), _narrow(after), profiles=profiles)
    assert diff(asked) == diff(compare(before, after, profiles=profiles))


@settings(max_examples=examples(60))
@given(world=worlds(), choice=st.integers(0, 30), complete=st.booleans())
def test_only_what_a_deletion_can_reach_differs(world: World, choice: int, *, complete: bool) -> None:
    """The same where one object is deleted, mostly a route or a policy."""
    every_object = refs_in(world)
    known = [ref for ref in every_object if ref.group_kind in ROUTES or ref.group_kind.group not in STANDARD]
    known = known or list(every_object)
    subject = known[choice % len(known)]
    snapshot, profiles = replace(snapshot_of(world), complete=complete), profiles_of(world)
    asked, every = (
        what_if(analyze(each, profiles=profiles), deleted=[subject]) for each in (_narrow(snapshot), snapshot)
    )
    assert diff(asked) == diff(every)


def _narrow(snapshot: Snapshot) -> Snapshot:
    return replace(snapshot, resources=_Narrow(snapshot.resources))
