"""Laws of differences between states, and of comparisons that look only at what a change can reach."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from copy import deepcopy
from random import Random
from typing import Any, Final

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from msgspec.structs import replace

from kubectl_policy import Analysis, NodeRef, ObjectRef, Resource, analyze
from kubectl_policy.comparison import StateComparison, compare, what_if
from kubectl_policy.model import Diagnostic
from kubectl_policy.model.kind_roles import ROUTES
from kubectl_policy.questions.blast_radius import blast_radius
from kubectl_policy.questions.diff import StateDiff, diff
from kubectl_policy.questions.differences.effects import EffectChange, FieldChange
from kubectl_policy.states import STANDARD
from tests.fakes import all_at_once
from tests.oracle import sections
from tests.property.answers import answers
from tests.property.changes import pairs_of_worlds, refs_in, with_contents, without
from tests.property.examples import examples
from tests.property.strategies import NAMESPACES, kinds, policies_on, worlds
from tests.property.test_worlds import UNRELATED
from tests.property.world import OURS, Gateway, Route, Rule, Service, World, profiles_of, shuffled, snapshot_of


@settings(max_examples=examples(10))
@given(world=worlds(), complete=st.booleans(), random=st.randoms(use_true_random=False))
def test_a_state_built_apart(world: World, random: Random, *, complete: bool) -> None:
    one = snapshot_of(world, complete=complete)
    copied = tuple(replace(resource, raw=deepcopy(resource.raw)) for resource in one.resources)
    other = shuffled(replace(one, resources=copied), random)
    comparison = compare(one, other, profiles=profiles_of(world))
    _nothing_changes(comparison)
    assert diff(comparison).problems.unchanged == ()


@settings(max_examples=examples(10))
@given(world=worlds())
def test_applying_what_is_there(world: World) -> None:
    """Nothing is deleted, and every object is applied as it is."""
    snapshot = snapshot_of(world)
    _nothing_changes(what_if(analyze(snapshot, profiles=profiles_of(world)), applied=snapshot.resources))


@settings(max_examples=examples(12))
@given(world=worlds(), unrelated=st.sampled_from(UNRELATED), complete=st.booleans())
def test_adding_and_deleting_it(world: World, unrelated: Resource, *, complete: bool) -> None:
    """It is created, or deleted, and nothing follows from that but for itself."""
    analysis = analyze(snapshot_of(world, complete=complete), profiles=profiles_of(world))
    added = what_if(analysis, applied=[unrelated])
    _concerns_itself_alone(diff(added), unrelated)
    assert diff(added).created == (unrelated.ref,)
    deleted = diff(what_if(added.after, deleted=[unrelated.ref]))
    _concerns_itself_alone(deleted, unrelated)
    assert deleted.deleted == (unrelated.ref,)


@settings(max_examples=examples(10))
@given(pair=pairs_of_worlds(), unrelated=st.sampled_from(UNRELATED))
def test_it_changes_no_difference(pair: tuple[World, World], unrelated: Resource) -> None:
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


_CHOICES = st.lists(st.integers(0, 30), min_size=1, max_size=4)


@settings(max_examples=examples(12))
@given(world=worlds(), choices=_CHOICES, complete=st.booleans())
def test_at_once(world: World, choices: list[int], *, complete: bool) -> None:
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
    analysis = analyze(snapshot_of(world, complete=complete), profiles=profiles_of(world))
    known = refs_in(world)
    deleted = frozenset(known[choice % len(known)] for choice in choices)
    return analysis, deleted, [resource for resource in analysis.snapshot.resources if resource.ref in deleted]


def _nothing_changes(comparison: StateComparison) -> None:
    difference = diff(comparison)
    assert not difference.changes
    assert (difference.created, difference.deleted, difference.updated) == ((), (), ())


@settings(max_examples=examples(20))
@given(world=worlds(), choice=st.integers(0, 30), complete=st.booleans())
def test_a_blast_radius_is_the_difference_of_deleting(world: World, choice: int, *, complete: bool) -> None:
    """Two states that were read apart, one of them without the object and what goes with it, differ in the same way."""
    known = refs_in(world)
    subject = known[choice % len(known)]
    snapshot, profiles = snapshot_of(world, complete=complete), profiles_of(world)
    gone = with_contents(world, subject)
    left = tuple(resource for resource in snapshot.resources if resource.ref not in gone)
    radius = blast_radius(analyze(snapshot, profiles=profiles), subject)
    assert radius.difference == diff(compare(snapshot, replace(snapshot, resources=left), profiles=profiles))
    assert radius.deleted_with_it == tuple(sorted(gone - {subject}))


_UNNAMED: Final = re.compile(r"(former )?rule\[\d+\]")
_INVERSE: Final[Mapping[str, str]] = {
    "lost": "gained",
    "gained": "lost",
    "gone": "new",
    "new": "gone",
    "kept": "kept",
    "changed": "changed",
    "moved": "moved",
}


@settings(max_examples=examples(20))
@given(pair=pairs_of_worlds(), complete=st.booleans())
def test_the_way_back_is_the_inverse(pair: tuple[World, World], *, complete: bool) -> None:
    """Lost is gained, gone is new, introduced is fixed, created is deleted, and before is after."""
    profiles = profiles_of(pair[0])
    before, after = (snapshot_of(world, complete=complete) for world in pair)
    there = diff(compare(before, after, profiles=profiles))
    back = diff(compare(after, before, profiles=profiles))
    assert (there.created, there.deleted, there.updated) == (back.deleted, back.created, back.updated)
    assert _effects(there.effects) == _effects(map(_inverted, back.effects))
    assert _states(there) == {key: (new, old) for key, (old, new) in _states(back).items()}
    assert _problems(there.problems.introduced) == _problems(back.problems.fixed)
    assert _problems(there.problems.fixed) == _problems(back.problems.introduced)
    assert {*there.unseen} == {*back.unseen}


def _problems(problems: Iterable[Diagnostic]) -> set[Diagnostic]:
    """Problems without their severities: an undecided one is a warning where it is new, and a remark where it goes."""
    return {replace(problem, severity="info") if problem.severity == "warning" else problem for problem in problems}


def _effects(changes: Iterable[EffectChange]) -> list[str]:
    """Every field that differs on every path.

    Which of them are told together depends on the direction, and so does by which place rules without a name are told.
    """
    return sorted(
        _UNNAMED.sub("rule", repr((change.policy_kind, path, field, field.sort, change.where, *nothing, nodes)))
        for change in changes
        for nothing in [(change.from_nothing, change.to_nothing)]
        for place, path in enumerate(change.paths)
        for field in change.fields
        for nodes in [tuple(changed.node for changed in change.objects if place in changed.paths)]
    )


def _inverted(change: EffectChange) -> EffectChange:
    where: Any = _INVERSE[change.where]
    fields = tuple(_inverse_of(field) for field in change.fields)
    from_nothing, to_nothing = change.to_nothing, change.from_nothing
    return replace(change, fields=fields, where=where, from_nothing=from_nothing, to_nothing=to_nothing)


def _inverse_of(field: FieldChange) -> FieldChange:
    inverse = replace(field, before=field.after, after=field.before)
    assert inverse.sort == _INVERSE[field.sort]
    return inverse


def _states(found: StateDiff) -> dict[object, tuple[object, object]]:
    """Return the states of attachments, parents and policies, before and after."""
    states: dict[object, tuple[object, object]] = {}
    states |= {
        ("attachment", attachment.policy, attachment.target): (attachment.before, attachment.after)
        for attachment in found.attachments
    }
    states |= {("parent", parent.route, parent.parent): (parent.before, parent.after) for parent in found.parents}
    return states | {("enforcement", change.policy): (change.before, change.after) for change in found.enforcement}


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
