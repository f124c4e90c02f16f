"""Laws of what changes no answer: an unrelated object, and the order of documents."""

from __future__ import annotations

from collections.abc import Mapping
from random import Random
from typing import Any, Final

from hypothesis import given, settings
from hypothesis import strategies as st
from msgspec.structs import replace

from kubectl_policy import Analysis, MergeStrategy, NodeRef, Resource, analyze
from tests import build
from tests.property.answers import answers, texts
from tests.property.examples import examples
from tests.property.strategies import worlds
from tests.property.world import World, profiles_of, shuffled, snapshot_of

ELSEWHERE: Final = "elsewhere"
UNRELATED: Final[tuple[Resource, ...]] = (
    build.resource("ConfigMap", "settings", group="", namespace="ns"),
    build.service("unused", namespace=ELSEWHERE),
    build.route("unused", namespace=ELSEWHERE, parents=[build.parent("unused")]),
    build.gateway("unused", namespace=ELSEWHERE, class_name="another"),
    build.policy("unused", build.target("unused", "Service", group=""), namespace=ELSEWHERE, kind="K", by="nobody"),
    build.grant("unused", namespace=ELSEWHERE),
    build.crd("Unused"),
)


@given(world=worlds(), unrelated=st.sampled_from(UNRELATED))
def test_an_object_that_nothing_refers_to_changes_nothing(world: World, unrelated: Resource) -> None:
    """At every node that was there before, and for every policy."""
    snapshot, profiles = snapshot_of(world), profiles_of(world)
    before = analyze(snapshot, profiles=profiles)
    after = analyze(replace(snapshot, resources=(*snapshot.resources, unrelated)), profiles=profiles)
    for node in before.topology.nodes:
        assert _at(after, node) == _at(before, node)
    for policy in before.policies:
        assert after.attachments[policy.ref] == before.attachments[policy.ref]
        assert after.enforcement(policy.ref) == before.enforcement(policy.ref)


def _at(analysis: Analysis, node: NodeRef) -> tuple[object, ...]:
    return analysis.topology.paths(node), analysis.effective(node), analysis.affected_by(node)


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
    other = shuffled(snapshot, random)
    assert answers(analyze(other, profiles=profiles)) == answers(analyze(snapshot, profiles=profiles))


@settings(max_examples=examples(15))
@given(world=worlds(), random=st.randoms(use_true_random=False))
def test_any_order_says_the_same(world: World, random: Random) -> None:
    """Line for line, in descriptions, lists and the comparison with what was reported."""
    snapshot, profiles = snapshot_of(world), profiles_of(world)
    other = shuffled(snapshot, random)
    assert texts(analyze(other, profiles=profiles)) == texts(analyze(snapshot, profiles=profiles))
