"""The law that an unrelated object, added, deleted or there in both states, changes nothing."""

from __future__ import annotations

from typing import TYPE_CHECKING

from hypothesis import given, settings
from hypothesis import strategies as st
from msgspec.structs import replace

from kubectl_policy import analyze
from kubectl_policy.comparison import compare, what_if
from kubectl_policy.questions.diff import diff
from tests.property.changes import pairs_of_worlds
from tests.property.examples import examples
from tests.property.strategies import worlds
from tests.property.test_unrelated_objects import UNRELATED
from tests.property.world import profiles_of, snapshot_of

if TYPE_CHECKING:
    from kubectl_policy.model import Resource
    from kubectl_policy.questions.diff import StateDiff
    from tests.property.world import World


@settings(max_examples=examples(12))
@given(world=worlds(), unrelated=st.sampled_from(UNRELATED), complete=st.booleans())
def test_adding_and_deleting_it(world: World, unrelated: Resource, *, complete: bool) -> None:
    """It is created, or deleted, and nothing follows from that but for itself."""
    analysis = analyze(replace(snapshot_of(world), complete=complete), profiles=profiles_of(world))
    added = what_if(analysis, applied=[unrelated])
    _concerns_itself_alone(diff(added), unrelated)
    assert diff(added).created == (unrelated.ref,)
    deleted = diff(what_if(added.after, deleted=[unrelated.ref]))
    _concerns_itself_alone(deleted, unrelated)
    assert deleted.deleted == (unrelated.ref,)


@settings(max_examples=examples(10))
@given(pair=pairs_of_worlds(), unrelated=st.sampled_from(UNRELATED))
def test_it_changes_no_difference(pair: tuple[World, World], unrelated: Resource) -> None:
    """Two states differ in the same way with it as without it."""
    before, after = (snapshot_of(world) for world in pair)
    profiles = profiles_of(pair[0])
    more = [replace(one, resources=(*one.resources, unrelated)) for one in (before, after)]
    assert diff(compare(*more, profiles=profiles)) == diff(compare(before, after, profiles=profiles))


def _concerns_itself_alone(found: StateDiff, unrelated: Resource) -> None:
    assert found.effects == ()
    assert {change.policy for change in found.attachments} <= {unrelated.ref}
    assert {change.policy for change in found.enforcement} <= {unrelated.ref}
    assert {change.route for change in found.parents} <= {unrelated.ref}
    problems = (*found.problems.introduced, *found.problems.fixed)
    assert {problem.subject for problem in problems} <= {unrelated.ref}
