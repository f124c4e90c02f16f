"""The law that looking only at what a change can reach misses nothing."""

from __future__ import annotations

from typing import TYPE_CHECKING

from hypothesis import given, settings
from hypothesis import strategies as st
from msgspec.structs import replace

from kubectl_policy import analyze
from kubectl_policy.comparison import StateComparison, compare
from kubectl_policy.questions.diff import diff
from tests.property.changes import without
from tests.property.examples import examples
from tests.property.strategies import worlds
from tests.property.world import profiles_of, snapshot_of

if TYPE_CHECKING:
    from kubectl_policy.questions.diff import StateDiff
    from tests.property.world import World


class _OfEverything(StateComparison):
    """A comparison in which each state has a topology of its own, and all of it is looked at."""

    def _differs_in_policies_alone(self) -> bool:
        return False


@settings(max_examples=examples(25))
@given(world=worlds(), data=st.data(), complete=st.booleans())
def test_sharing_the_hierarchy_changes_nothing(world: World, data: st.DataObject, *, complete: bool) -> None:
    """Policies were deleted, added, or written otherwise."""
    before, after = _with_other_policies(world, data), _with_other_policies(world, data)
    states = [replace(snapshot_of(one), complete=complete) for one in (before, after)]
    profiles = profiles_of(world)
    shared = compare(states[0], states[1], profiles=profiles)
    apart = (analyze(one.snapshot, profiles=profiles) for one in (shared.before, shared.after))
    assert shared.shares_topology
    assert _in_any_order(diff(shared)) == _in_any_order(diff(_OfEverything(*apart)))


def _with_other_policies(world: World, data: st.DataObject) -> World:
    deleted = data.draw(st.lists(st.sampled_from(world.policies), max_size=2))
    left = without(world, [policy.ref for policy in deleted])
    other = data.draw(st.sampled_from(world.policies))
    return left._replace(
        policies=tuple(
            policy._replace(parts=other.parts, targets=other.targets, created=2)
            if policy.name == "f" and policy.kind == other.kind
            else policy
            for policy in left.policies
        )
    )


def _in_any_order(found: StateDiff) -> tuple[object, ...]:
    """All but the order of paths, and what could not be seen of policies that nothing concerns."""
    effects = sorted(
        repr((replace(change, paths=(), objects=()), path, sorted(changed.node for changed in change.objects)))
        for change in found.effects
        for path in change.paths
    )
    return effects, replace(found, effects=(), unseen=())
