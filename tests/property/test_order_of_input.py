"""The law that the order of input documents changes no answer."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from hypothesis import given, settings
from hypothesis import strategies as st
from msgspec.structs import replace

from kubectl_policy import MergeStrategy, analyze
from tests.property.answers import answers, texts
from tests.property.examples import examples
from tests.property.strategies import worlds
from tests.property.world import profiles_of, snapshot_of

if TYPE_CHECKING:
    from collections.abc import Mapping
    from random import Random

    from kubectl_policy.model import Snapshot
    from tests.property.world import World

_BY_KEYS: Final[Mapping[str, Any]] = {
    "strategy": MergeStrategy.STRATEGIC_MERGE,
    "strategy_field": "",
    "stanzas": "none",
    "list_keys": {"l": "name", "a": "", "b": ""},
}


@settings(max_examples=examples(12))
@given(world=worlds(), by_keys=st.booleans(), random=st.randoms(use_true_random=False))
def test_any_order_gives_the_same_answers(world: World, random: Random, *, by_keys: bool) -> None:
    """Everything that can be asked, in the same order, with the same diagnostics; also where lists merge by keys."""
    snapshot, profiles = snapshot_of(world), profiles_of(world)
    if by_keys:
        profiles = tuple(replace(profile, **_BY_KEYS) for profile in profiles)
    shuffled = _shuffled(snapshot, random)
    assert answers(analyze(shuffled, profiles=profiles)) == answers(analyze(snapshot, profiles=profiles))


@settings(max_examples=examples(15))
@given(world=worlds(), random=st.randoms(use_true_random=False))
def test_any_order_says_the_same(world: World, random: Random) -> None:
    """Line for line, in descriptions, lists and the comparison with what was reported."""
    snapshot, profiles = snapshot_of(world), profiles_of(world)
    shuffled = _shuffled(snapshot, random)
    assert texts(analyze(shuffled, profiles=profiles)) == texts(analyze(snapshot, profiles=profiles))


def _shuffled(snapshot: Snapshot, random: Random) -> Snapshot:
    resources = list(snapshot.resources)
    random.shuffle(resources)
    return replace(snapshot, resources=tuple(resources))
