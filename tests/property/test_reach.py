"""Laws of comparisons: what two states share, and looking only at what a change can reach, changes no answer."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from msgspec.structs import replace

from kubectl_policy import NodeRef, ObjectRef, Resource, analyze
from kubectl_policy.comparison import StateComparison, compare, what_if
from kubectl_policy.model.kind_roles import ROUTES
from kubectl_policy.questions.diff import StateDiff, diff
from kubectl_policy.states import STANDARD
from tests.fakes import all_at_once
from tests.oracle import sections
from tests.property.changes import pairs_of_worlds, refs_in, without
from tests.property.examples import examples
from tests.property.strategies import NAMESPACES, kinds, policies_on, worlds
from tests.property.world import OURS, Gateway, Route, Rule, Service, World, profiles_of, snapshot_of


class _OfEverything(StateComparison):
    """A comparison in which each state has a topology of its own, and all of it is looked at."""

    def _differs_in_policies_alone(self) -> bool:
        return False


@settings(max_examples=examples(25))
@given(world=worlds(), data=st.data(), complete=st.booleans())
def test_sharing_the_hierarchy_changes_nothing(world: World, data: st.DataObject, *, complete: bool) -> None:
    """Policies were deleted, added, or written otherwise."""
    before, after = _with_other_policies(world, data), _with_other_policies(world, data)
    states = [snapshot_of(one, complete=complete) for one in (before, after)]
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


@settings(max_examples=examples(15))
@given(world=worlds(), choice=st.integers(0, 30), complete=st.booleans())
def test_only_what_a_deletion_can_reach_differs(world: World, choice: int, *, complete: bool) -> None:
    """Where one object is deleted, mostly a route or a policy, the difference is that of looking at everything."""
    every_object = refs_in(world)
    known = [ref for ref in every_object if ref.group_kind in ROUTES or ref.group_kind.group not in STANDARD]
    known = known or list(every_object)
    subject = known[choice % len(known)]
    snapshot, profiles = snapshot_of(world, complete=complete), profiles_of(world)
    asked = diff(what_if(analyze(snapshot, profiles=profiles), deleted=[subject]))
    with all_at_once():
        assert asked == diff(what_if(analyze(snapshot, profiles=profiles), deleted=[subject]))


@st.composite
def crowds(draw: st.DrawFn) -> tuple[World, World]:
    """Many routes below one Gateway that has a policy, as some of them may, and the same with fewer of all that."""
    kind = draw(kinds())._replace(name="K")
    if draw(st.integers(0, 3)):
        # What becomes of policies on a path is decided by these alone.
        kind = kind._replace(direct=False, object_fields={}, refusal="there")
    backends = st.sampled_from([("ns", name, port) for name in ("s0", "s1") for port in (None, 80)])
    rules = st.builds(Rule, st.sampled_from(("", "named")), st.lists(backends, max_size=2).map(tuple))
    parents = st.sampled_from([("ns", "g0", section) for section in ("", "l0", "l0", "l1")])
    routes = tuple(
        draw(
            st.builds(
                Route,
                st.sampled_from(("ns", "ns", "other")),
                st.just(f"r{number}"),
                st.lists(parents, min_size=1, max_size=2).map(tuple),
                st.lists(rules, min_size=1, max_size=1).map(tuple),
                st.just({}),
            )
        )
        for number in range(draw(st.integers(4, 7)))
    )
    crowd = World(
        NAMESPACES,
        (("public", OURS),),
        (Gateway("ns", "g0", "public", (("l0", "All"), ("l1", draw(st.sampled_from(("All", "Same")))))),),
        routes,
        tuple(Service("ns", name, (("http", 80),)) for name in ("s0", "s1")),
        (("other", "ns"),),
        (kind,),
        (),
    )
    nodes = [NodeRef(node.object, name) for node, names in sections(crowd).items() for name in ("", *names)]
    below = [node for node in nodes if node.object.kind != "Gateway"]
    above = [node for node in nodes if node.object.kind == "Gateway"]
    targets = [draw(st.sampled_from(above)), *draw(st.lists(st.sampled_from((*below, *above, *nodes)), max_size=3))]
    named = tuple(
        draw(policies_on((kind,), (target,)))._replace(name=name, namespace=target.object.namespace, targets=(target,))
        for name, target in zip("fedc", targets, strict=False)
    )
    one = crowd._replace(policies=named)
    changing = [ref for ref in refs_in(one) if ref.kind == "HTTPRoute" or ref in {policy.ref for policy in named[1:]}]
    other = without(one, draw(st.lists(st.sampled_from(changing), min_size=1, max_size=2)))
    return draw(st.sampled_from(((one, other), (other, one))))


@pytest.mark.parametrize("pairs", [pairs_of_worlds(), crowds()], ids=["worlds", "crowds"])
@settings(max_examples=examples(15))
@given(data=st.data(), complete=st.booleans())
def test_only_what_a_change_can_reach_differs(
    pairs: st.SearchStrategy[tuple[World, World]], data: st.DataObject, *, complete: bool
) -> None:
    """Where that is known, the difference is the one that is found by looking at everything."""
    pair = data.draw(pairs)
    profiles = profiles_of(pair[0])
    before, after = (snapshot_of(world, complete=complete) for world in pair)
    asked = diff(compare(before, after, profiles=profiles))
    with all_at_once():
        assert asked == diff(compare(before, after, profiles=profiles))


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
    taken, unread_copy = after.topology, alone.topology
    for route in (resource.ref for kind in ROUTES for resource in after.index.of_kind(kind)):
        assert taken.bindings(route) == unread_copy.bindings(route)
        assert taken.backends(route) == unread_copy.backends(route)
        assert taken.relations.is_unattached(route) == unread_copy.relations.is_unattached(route)
    assert taken.nodes == unread_copy.nodes
    assert {*taken.edges} == {*unread_copy.edges}
    for node in unread_copy.nodes:
        assert taken.paths(node) == unread_copy.paths(node)


def _is_other(resource: Resource, read: Resource | None) -> bool:
    return read is None or read.raw != resource.raw
