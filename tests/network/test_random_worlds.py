"""Laws of the judge in random worlds, and that these worlds are worth asking."""

from __future__ import annotations

from collections.abc import Iterator
from random import Random

import pytest

from tests.network.oracle import EndRef, Verdict, judge, selected
from tests.network.oracle_world import Manifest, World
from tests.network.random_worlds import ADDRESSES, PORTS, Version, random_world
from tests.network.small_world import admin_policy, cluster_policy, network_policy, rule

SEEDS = range(12)
NOBODY = {"namespaces": {"matchLabels": {"team": "nobody"}}}


def _world(seed: int, version: Version) -> list[Manifest]:
    return random_world(Random(seed), version)  # noqa: S311


def _verdicts(objects: list[Manifest]) -> Iterator[Verdict]:
    """Judge one port of every connection of a world."""
    world = World(objects)
    pods: list[EndRef] = [("pod", *key) for key in sorted(world.pods)]
    ends = [*pods, *ADDRESSES]
    for number, (source, destination) in enumerate((a, b) for a in ends for b in ends if a in pods or b in pods):
        yield judge(world, source, destination, *PORTS[number % len(PORTS)])


@pytest.mark.parametrize("version", ["v1alpha1", "v1alpha2"])
def test_neither_the_order_of_objects_nor_a_policy_that_selects_nothing_matters(version: Version) -> None:
    rules = [rule({"namespaces": {}}, action="Deny")]
    silent = [
        network_policy("silent", podSelector={"matchLabels": {"app": "nobody"}}, ingress=[]),
        admin_policy("silent", priority=0, subject=NOBODY, ingress=rules)
        if version == "v1alpha1"
        else cluster_policy("silent", "Admin", priority=0, subject=NOBODY, ingress=rules),
    ]
    for seed in SEEDS:
        objects = _world(seed, version)
        expected = list(_verdicts(objects))
        assert list(_verdicts([*silent, *reversed(objects)])) == expected
        assert [selected(objects, policy) for policy in silent] == [set(), set()]


def test_random_worlds_reach_every_outcome() -> None:
    worlds = [_world(seed, version) for seed in SEEDS for version in ("v1alpha1", "v1alpha2")]
    assert {item["kind"] for world in worlds for item in world} == {
        *("Node", "Namespace", "Pod", "NetworkPolicy"),
        *("AdminNetworkPolicy", "BaselineAdminNetworkPolicy", "ClusterNetworkPolicy"),
    }
    verdicts = [verdict for world in worlds for verdict in _verdicts(world)]
    directions = [end for verdict in verdicts for end in (verdict.egress, verdict.ingress) if end is not None]
    assert {(direction.tier, direction.allowed) for direction in directions} >= {
        *(("Admin", True), ("Admin", False), ("Default", True)),
        *(("NetworkPolicy", True), ("NetworkPolicy", False), ("NetworkPolicy", None)),
        *(("Baseline", True), ("Baseline", False)),
        *((None, True), (None, None)),
    }
    assert {direction.tier for direction in directions if direction.passed} >= {"NetworkPolicy", "Baseline", "Default"}


def test_a_seed_makes_one_world() -> None:
    assert _world(7, "v1alpha1") == _world(7, "v1alpha1")
    assert _world(7, "v1alpha1") != _world(8, "v1alpha1")
