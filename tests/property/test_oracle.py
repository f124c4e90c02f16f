"""The engine and the oracle, an independent brute-force reading of the semantics, agree on every world."""

from __future__ import annotations

from typing import TYPE_CHECKING

from hypothesis import HealthCheck, given, settings

from kubectl_policy import analyze, leaves
from kubectl_policy.model import GroupKind, NodeRef
from kubectl_policy.resolution import field_name
from tests import oracle, oracle_verdicts
from tests.property.strategies import worlds
from tests.property.world import POLICIES, profiles_of, snapshot_of

if TYPE_CHECKING:
    from kubectl_policy import Analysis, EffectivePolicy
    from tests.oracle import Flat, Path
    from tests.property.world import Kind, World


@settings(max_examples=2_000, suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large])
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
    found = {effective.kind.kind: effective for effective in analysis.effective_on(path)}
    for kind in world.kinds:
        expected = oracle.effective(world, kind, path)
        effective = analysis.resolver.effective_of(GroupKind(POLICIES, kind.name), path)
        assert found.get(kind.name) == (None if oracle_verdicts.is_below(kind, path) else effective)
        if expected is None or effective is None:
            assert (expected is None) == (effective is None)
            continue
        assert flat(effective) == expected.spec
        assert effective.members == expected.members
        assert effective.rejected == expected.rejected
        assert ("fold direction" in effective.doubts) == (
            kind.fold is None and oracle.direction_matters(world, kind, path)
        )
        assert ("age unknown" in effective.doubts) == _age_unknown(world, kind, path)
        assert [
            (fate.field, fate.value, fate.source, fate.state, fate.superseded_by) for fate in effective.fates()
        ] == [
            (field_name(fate.field), fate.value, fate.who, fate.state, fate.by)
            for fate in oracle_verdicts.fates(expected)
        ]


def flat(effective: EffectivePolicy) -> Flat:
    """An effective spec as the oracle writes it."""
    return {field: (leaf.value, leaf.source) for field, leaf in leaves(effective.spec)}


def _age_unknown(world: World, kind: Kind, path: Path) -> bool:
    parts = oracle.parts_at_end(world, kind, path)
    for node in {part.who[1] for part in parts}:
        policies = {part.who[0] for part in parts if part.who[1] == node}
        if len(policies) > 1 and any(one.ref in policies and one.created is None for one in world.policies):
            return True
    return False
