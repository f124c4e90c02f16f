"""Laws of effective policies: every leaf has one source, every declared field a fate, and levels are a fold."""

from __future__ import annotations

from random import Random

from hypothesis import given
from hypothesis import strategies as st
from msgspec.structs import replace

from kubectl_policy import Analysis, EffectivePolicy, MergeStrategy, PolicyKindProfile, analyze, leaves, plain
from kubectl_policy.model import GroupKind, Json
from kubectl_policy.resolution import field_name
from kubectl_policy.resolution.merging import PathContext, ScopeOutcome, fold, merge_by_level
from kubectl_policy.resolution.precedence import PolicyRefusal
from tests.property.answers import answers
from tests.property.choices import TARGETS, contributions, merging_profiles
from tests.property.stacks import PLACES, TYPED, WILD, brought, kinds, policies, stacked
from tests.property.strategies import worlds
from tests.property.world import World, profiles_of, shuffled, snapshot_of
from tests.resolution.build import PATH, listener_at, refusing, resolve, source


@given(world=worlds())
def test_every_leaf_has_a_source_and_every_field_a_fate(world: World) -> None:
    """On every path: the source of a leaf declared it; one fate for each field of each contribution, in their order."""
    _check_all(analyze(snapshot_of(world), profiles=profiles_of(world)))


@given(data=st.data(), profile=merging_profiles(), one_applies=st.booleans())
def test_whatever_a_kind_chooses(data: st.DataObject, profile: PolicyKindProfile, *, one_applies: bool) -> None:
    """Also each element of a list that merges by keys, and each field of a policy that another one keeps out."""
    parts = data.draw(contributions(profile))
    on_nodes = [[part.source for part in parts if part.source.target == place] for place in TARGETS]
    out = {
        one: PolicyRefusal(sources[0].object, one.target)
        for sources in on_nodes
        for one in sources
        if one_applies and one.object != sources[0].object
    }
    effective = resolve(PATH, profile, parts, PathContext(refused=out))
    _check_fates(effective)
    for fate in effective.resolution.fates:
        if fate.source in out:
            (winner,) = fate.superseded_by
            assert (fate.state, winner.target) == ("rejected", fate.source.target)
    assert not effective.resolution.members & (effective.resolution.rejected | out.keys())


PATCHING = PolicyKindProfile(
    GroupKind("example.com", "ColorPolicy"),
    "inherited",
    "profile",
    strategy=MergeStrategy.PATCH_DEFAULTS,
    stanzas="none",
    same_level="first-wins",
    nulls="ignore",
)


@given(
    found=policies(TYPED),
    whole=st.frozensets(st.sampled_from(("m", "w.*", "*", "p[n]", "w.a.b"))),
    overrides=st.booleans(),
)
def test_without_more_to_say_a_stack_is_a_fold(
    found: list[tuple[int, dict[str, Json]]], whole: frozenset[str], *, overrides: bool
) -> None:
    """With one scope and no joint fields: the same values from the same policies, which all take part."""
    strategy = MergeStrategy.PATCH_OVERRIDES if overrides else MergeStrategy.PATCH_DEFAULTS
    profile = replace(PATCHING, whole_fields=whole, strategy=strategy)
    parts = brought(profile, found)
    folded, piled = fold(parts, "bottom-up"), merge_by_level(parts, profile, PathContext())
    assert piled.spec == folded.spec
    assert (piled.members, piled.rejected) == (folded.members, folded.rejected)
    (scope,) = piled.scopes
    assert scope == ScopeOutcome(spec=piled.spec, members=piled.members)


@given(found=policies(WILD), profile=kinds(), protocol=st.sampled_from(("HTTP", "HTTPS")), out=st.integers(0, 3))
def test_whatever_a_kind_with_levels_chooses(
    found: list[tuple[int, dict[str, Json]]], profile: PolicyKindProfile, protocol: str, out: int
) -> None:
    """Whatever a kind chooses, and some of the policies are refused; who is passed over is beaten by nobody."""
    parts = brought(profile, found)
    context = refusing(source("older"), *(part.source for part in parts[len(parts) - out :])) if out else PathContext()
    effective = resolve(PLACES, profile, parts, replace(context, listener=listener_at(PLACES[2], protocol)))
    _check_fates(effective)
    _check_sources(effective)
    assert not effective.resolution.members & (effective.resolution.rejected | effective.resolution.ignored_sources)


def _check_all(analysis: Analysis) -> None:
    for end in analysis.topology.nodes:
        for effective in analysis.effective(end):
            _check_fates(effective)
            _check_sources(effective)


def _check_fates(effective: EffectivePolicy) -> None:
    declared = [(field, leaf) for part in effective.resolution.contributions for field, leaf in leaves(part.spec)]
    in_force = {field_name(field): leaf for field, leaf in leaves(effective.resolution.spec)}
    fates = effective.resolution.fates
    assert [(fate.field, fate.value, fate.source) for fate in fates] == [
        (field_name(field), leaf.value, leaf.source) for field, leaf in declared
    ]
    for fate in fates:
        if fate.state in {"effective", "unheeded"}:
            assert fate.superseded_by == ()
        else:
            # What a policy says of a port may stand instead of what it says of every port.
            own = fate.source in fate.superseded_by
            assert fate.superseded_by
            assert not own or fate.source in effective.resolution.port_sources
        if fate.state == "effective":
            assert fate.value in ({}, []) or in_force[fate.field].source == fate.source
        if fate.source in effective.resolution.ignored_sources and fate.source not in effective.resolution.rejected:
            assert fate.state == "unheeded"


def _check_sources(effective: EffectivePolicy) -> None:
    """Every effective leaf was declared by its source, at that field, or is the target's own."""
    declared = [(field, leaf) for part in effective.resolution.contributions for field, leaf in leaves(part.spec)]
    found = list(leaves(effective.resolution.spec))
    assert len({field for field, _ in found}) == len(found)
    for field, leaf in found:
        own = leaf.source.object == effective.target.object
        assert own or (field, leaf) in declared
        assert own or leaf.source in effective.resolution.members


@given(world=worlds(), data=st.data(), random=st.randoms(use_true_random=False))
def test_in_any_world_sources_fates_and_order(world: World, data: st.DataObject, random: Random) -> None:
    """Every effective leaf has one source; every field a fate; and the order of documents changes no answer."""
    profiles = tuple(data.draw(stacked(profile)) for profile in profiles_of(world))
    snapshot = snapshot_of(world)
    analysis = analyze(snapshot, profiles=profiles)
    _check_all(analysis)
    assert answers(analyze(shuffled(snapshot, random), profiles=profiles)) == answers(analysis)


@given(spec=TYPED, profile=kinds(), place=st.integers(0, len(PLACES) - 1))
def test_one_policy_alone_means_what_it_says(spec: dict[str, Json], profile: PolicyKindProfile, place: int) -> None:
    """However its fields are taken apart, if nothing of it is passed over."""
    alone = replace(profile, ignored=(), port_field=None)
    (part,) = brought(alone, [(place, spec)])
    effective = resolve(PLACES, alone, (part,), PathContext())
    expected: dict[str, Json] = {"default/p0": spec} if alone.all_apply else spec
    assert plain(effective.resolution.spec) == expected
    assert effective.resolution.policies_in_force == {part.source.object}
