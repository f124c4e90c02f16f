"""The engine and the oracle, an independent brute-force reading of the semantics, agree on every world."""

from __future__ import annotations

from typing import TYPE_CHECKING

from hypothesis import HealthCheck, given, settings

from kubectl_policy import analyze, leaves
from kubectl_policy.model import GroupKind, NodeRef
from kubectl_policy.resolution import field_name
from tests import oracle, oracle_merging, oracle_verdicts
from tests.property.examples import examples
from tests.property.strategies import worlds
from tests.property.world import POLICIES, profiles_of, snapshot_of

if TYPE_CHECKING:
    from kubectl_policy import Analysis, EffectivePolicy, Source
    from tests.oracle import Path
    from tests.oracle_specs import Flat, Who
    from tests.property.world import World


@settings(max_examples=examples(50), suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large])
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
        assert {*map(who, effective.resolution.kept_out)} == expected.kept_out.keys()
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
