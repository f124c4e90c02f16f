"""The engine and the oracle, an independent brute-force reading of the semantics, agree on worlds and differences."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from kubectl_policy import Analysis, EffectivePolicy, GroupKind, NodeRef, Source, analyze, leaves
from kubectl_policy.comparison import compare, what_if
from kubectl_policy.questions.diff import StateDiff, diff
from kubectl_policy.questions.differences.effects import EffectiveValue
from kubectl_policy.resolution import field_name
from tests import oracle, oracle_merging, oracle_verdicts
from tests.oracle import Path
from tests.oracle_specs import Flat, Who
from tests.oracle_verdicts import Leaf, Place, Verdict, differences, verdicts
from tests.property.changes import pairs_of_worlds, refs_in, with_contents, without
from tests.property.examples import examples
from tests.property.strategies import worlds
from tests.property.world import OURS, POLICIES, Gateway, Kind, Policy, Route, Rule, World, profiles_of, snapshot_of

_SLOW = [HealthCheck.too_slow, HealthCheck.data_too_large]


@settings(max_examples=examples(50), suppress_health_check=_SLOW)
@given(world=worlds())
def test_the_engine_agrees_with_the_oracle(world: World) -> None:
    """Paths, effective specs with the source of every leaf, fates, doubts, what is affected, enforcement."""
    analysis = analyze(snapshot_of(world), profiles=profiles_of(world))
    for obj, names in oracle.sections(world).items():
        for node in (obj, *(NodeRef(obj.object, name) for name in names)):
            paths = oracle.paths_to(world, node)
            assert analysis.topology.paths(node) == tuple(sorted(paths))
            for path in paths:
                _compare_on_path(analysis, world, path)
            assert set(analysis.affected_by(node)) == oracle_verdicts.affected_by(world, node)
    for policy in world.policies:
        found = analysis.enforcement(policy.ref)
        assert (found.state, set(found.by)) == oracle_verdicts.enforcement(world, policy), policy


def _compare_on_path(analysis: Analysis, world: World, path: Path) -> None:
    found = {effective.resolution.kind.kind: effective for effective in analysis.effective_on(path)}
    for kind in world.kinds:
        expected = oracle_merging.effective(world, kind, path)
        effective = analysis.resolver.effective_of(GroupKind(POLICIES, kind.name), path)
        assert found.get(kind.name) == (None if oracle_verdicts.is_below(kind, path) else effective)
        if expected is None or effective is None:
            assert (expected is None) == (effective is None)
            continue
        assert flat(effective) == {oracle_verdicts.named(field): leaf for field, leaf in expected.spec.items()}
        assert {*map(who, effective.resolution.members)} == expected.members
        assert {*map(who, effective.resolution.rejected)} == expected.rejected
        assert {*map(who, effective.resolution.refusals)} == expected.kept_out.keys()
        assert ("fold direction" in effective.resolution.doubts) == (
            kind.chooser == "established" and kind.fold is None and oracle_merging.direction_matters(world, kind, path)
        )
        assert ("age unknown" in effective.resolution.doubts) == oracle_merging.age_unknown(world, kind, path)
        assert [
            (fate.field, fate.value, who(fate.source), fate.state, tuple(map(who, fate.superseded_by)))
            for fate in effective.resolution.fates
        ] == [
            (field_name(fate.field), fate.value, fate.who, fate.state, fate.by)
            for fate in oracle_verdicts.fates(expected)
        ]


def who(source: Source) -> Who:
    """A source as the oracle writes it."""
    return source.object, source.target, source.overrides, source.filter


def flat(effective: EffectivePolicy) -> Flat:
    """An effective spec as the oracle writes it."""
    return {field: (leaf.value, who(leaf.source)) for field, leaf in leaves(effective.resolution.spec)}


@settings(max_examples=examples(15), suppress_health_check=_SLOW)
@given(world=worlds())
def test_deleting_each_policy(world: World) -> None:
    """Every field of which the value or the source differs occurs once, with exactly these; nothing else does."""
    analysis = analyze(snapshot_of(world), profiles=profiles_of(world))
    for policy in world.policies:
        difference = diff(what_if(analysis, deleted=[policy.ref]))
        _judge(difference, world, without(world, [policy.ref]))


@settings(max_examples=examples(20), suppress_health_check=_SLOW)
@given(world=worlds(), data=st.data())
def test_deleting_something_else(world: World, data: st.DataObject) -> None:
    """Also where the hierarchy is another one without it."""
    policies = {policy.ref for policy in world.policies}
    deleted = with_contents(world, data.draw(st.sampled_from([ref for ref in refs_in(world) if ref not in policies])))
    analysis = analyze(snapshot_of(world), profiles=profiles_of(world))
    _judge(diff(what_if(analysis, deleted=deleted)), world, without(world, deleted))


@settings(max_examples=examples(20), suppress_health_check=_SLOW)
@given(pair=pairs_of_worlds())
def test_any_two_worlds(pair: tuple[World, World]) -> None:
    """Whatever was added, deleted or written otherwise."""
    before, after = pair
    difference = diff(compare(snapshot_of(before), snapshot_of(after), profiles=profiles_of(before)))
    _judge(difference, before, after)


@pytest.mark.parametrize("deleted", ["the policy", "the route", "both"])
def test_what_a_route_says_itself(deleted: str) -> None:
    """Is no setting of policies where none of the kind is any more; what the policy sets differs alone."""
    target = oracle.obj(oracle.GATEWAY_API, "Gateway", "ns", "g")
    policy = Policy("K", "ns", "p", 1, (target,), (("None", {"a": 1, "b": 2}),))
    route = Route("ns", "r", (("ns", "g", ""),), (Rule("", ()),), {"a": 7})
    kind = Kind("K", direct=False, style="plural", object_fields={"a": "spec.own.a"})
    before = World(
        ("ns",), (("c", OURS),), (Gateway("ns", "g", "c", (("l", "All"),)),), (route,), (), (), (kind,), (policy,)
    )
    after = before._replace(
        policies=(policy,) if deleted == "the route" else (), routes=(route,) if deleted == "the policy" else ()
    )
    for one, other in ((before, after), (after, before)):
        difference = diff(compare(snapshot_of(one), snapshot_of(other), profiles=profiles_of(one)))
        _judge(difference, one, other)
        at_rule = [change for change in difference.effects if change.paths[0][-1].kind == "HTTPRoute"]
        assert [field.field for change in at_rule for field in change.fields] == ["b"]


def _judge(found: StateDiff, before: World, after: World) -> None:
    expected = [(one.in_passing, _in_words(*one[:3])) for one in differences(before, after)]
    every = Counter(words for _, words in expected)
    certain = Counter(words for in_passing, words in expected if not in_passing)
    said = Counter(_said(found))
    assert (certain - said, said - every) == (Counter(), Counter())
    assert {
        change.policy: Verdict(change.before, change.after, frozenset(change.by)) for change in found.enforcement
    } == verdicts(before, after)


def _said(found: StateDiff) -> Iterator[str]:
    """Every field of every path that is in some change, with what stands there."""
    for change in found.effects:
        for path in change.paths:
            for field in change.fields:
                name = re.sub(r"\[([a-z])]", r".\1", re.sub(r"\[\d+]", "[]", field.field))
                place = Place(change.policy_kind.kind, path, name)
                yield _in_words(place, _leaf(field.before), _leaf(field.after))


def _leaf(valued: EffectiveValue | None) -> Leaf | None:
    if valued is None:
        return None
    assert valued.removed == (valued.value is None)
    return valued.value, who(valued.source)


def _in_words(place: Place, *leaves: Leaf | None) -> str:
    states = ["nothing" if leaf is None else f"{leaf[0]!r} by {_who(leaf[1])}" for leaf in leaves]
    return f"{place.kind} {' > '.join(map(str, place.path))} {place.field}: {' -> '.join(states)}"


def _who(who: Who) -> str:
    ref, target, overrides, _ = who
    return f"{ref}{' overriding' if overrides else ''} on {target}"
