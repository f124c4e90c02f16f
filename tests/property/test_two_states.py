"""The law that the relations of the later of two states are those of that state alone, whatever is taken over."""

from __future__ import annotations

from typing import TYPE_CHECKING

from hypothesis import given, settings
from hypothesis import strategies as st
from msgspec.structs import replace

from kubectl_policy import analyze
from kubectl_policy.comparison import what_if
from kubectl_policy.model import ObjectRef
from kubectl_policy.topology.references import ROUTES
from tests.property.changes import pairs_of_worlds, refs_in
from tests.property.examples import examples
from tests.property.world import profiles_of, snapshot_of

if TYPE_CHECKING:
    from kubectl_policy.model import Resource
    from tests.property.world import World


@settings(max_examples=examples(10))
@given(pair=pairs_of_worlds(), choices=st.lists(st.integers(0, 30), max_size=3), complete=st.booleans())
def test_what_is_taken_over(pair: tuple[World, World], choices: list[int], *, complete: bool) -> None:
    """Where routes are attached, where they lead to, and all ways to them."""
    earlier, later = (snapshot_of(world) for world in pair)
    analysis = analyze(replace(earlier, complete=complete), profiles=profiles_of(pair[0]))
    applied = [resource for resource in later.resources if _is_other(resource, analysis.index.get(resource.ref))]
    known = refs_in(pair[0])
    deleted = frozenset(known[choice % len(known)] for choice in choices) if known else frozenset[ObjectRef]()
    after = what_if(analysis, applied=applied, deleted=deleted).after
    alone = analysis.of_state(after.snapshot)
    taken, afresh = after.topology, alone.topology
    for route in (resource.ref for kind in ROUTES for resource in after.index.of_kind(kind)):
        assert taken.bindings(route) == afresh.bindings(route)
        assert taken.backends(route) == afresh.backends(route)
        assert taken.relations.is_unattached(route) == afresh.relations.is_unattached(route)
    assert taken.nodes == afresh.nodes
    assert {*taken.edges} == {*afresh.edges}
    for node in afresh.nodes:
        assert taken.paths(node) == afresh.paths(node)


def _is_other(resource: Resource, read: Resource | None) -> bool:
    return read is None or read.raw != resource.raw
