"""The law that deleting objects and applying them again changes nothing."""

from __future__ import annotations

from typing import TYPE_CHECKING

from hypothesis import given, settings
from hypothesis import strategies as st
from msgspec.structs import replace

from kubectl_policy import analyze
from kubectl_policy.comparison import StateComparison, compare, what_if
from kubectl_policy.questions.diff import diff
from tests.property.answers import answers
from tests.property.changes import refs_in
from tests.property.examples import examples
from tests.property.strategies import worlds
from tests.property.world import profiles_of, snapshot_of

if TYPE_CHECKING:
    from kubectl_policy import Analysis, ObjectRef
    from kubectl_policy.model import Resource
    from tests.property.world import World

_CHOICES = st.lists(st.integers(0, 30), min_size=1, max_size=4)


@settings(max_examples=examples(12))
@given(world=worlds(), choices=_CHOICES, complete=st.booleans())
def test_at_once(world: World, choices: list[int], *, complete: bool) -> None:
    """What is deleted first and applied then is what it was."""
    analysis, deleted, resources = _chosen(world, choices, complete=complete)
    _nothing_changes(what_if(analysis, applied=resources, deleted=deleted))


@settings(max_examples=examples(12))
@given(world=worlds(), choices=_CHOICES, complete=st.booleans())
def test_one_after_the_other(world: World, choices: list[int], *, complete: bool) -> None:
    """In two steps, the second of which starts from the state without the objects."""
    analysis, deleted, resources = _chosen(world, choices, complete=complete)
    without = what_if(analysis, deleted=deleted).after
    again = what_if(without, applied=resources).after
    _nothing_changes(compare(analysis.snapshot, again.snapshot, profiles=profiles_of(world)))
    _nothing_changes(what_if(without))
    assert answers(analyze(replace(again.snapshot, other_state=(), gone=frozenset()), profiles=profiles_of(world))) == (
        answers(analysis)
    )


def _chosen(
    world: World, choices: list[int], *, complete: bool
) -> tuple[Analysis, frozenset[ObjectRef], list[Resource]]:
    """A world, some of its objects by name, and these objects."""
    analysis = analyze(replace(snapshot_of(world), complete=complete), profiles=profiles_of(world))
    known = refs_in(world)
    deleted = frozenset(known[choice % len(known)] for choice in choices)
    return analysis, deleted, [resource for resource in analysis.snapshot.resources if resource.ref in deleted]


def _nothing_changes(comparison: StateComparison) -> None:
    found = diff(comparison)
    assert not found.changes
    assert (found.created, found.deleted, found.updated) == ((), (), ())
