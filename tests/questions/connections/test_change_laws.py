"""Law of changes of connections: they are exactly what the verdicts of two states differ in."""

from __future__ import annotations

from collections.abc import Iterator
from copy import deepcopy
from ipaddress import IPv4Address, IPv6Address, ip_address, ip_network
from itertools import product
from random import Random
from typing import Final, Literal, TypeAlias

import pytest

from kubectl_policy.comparison import StateComparison, compare
from kubectl_policy.network.connection import Connection, Endpoint, sides_of
from kubectl_policy.network.policy import Direction, PortRange, Protocol
from kubectl_policy.questions.connections.changes import ConnectionChanges, connection_changes
from kubectl_policy.questions.connections.workload_sets import WorkloadSet
from tests import build
from tests.network.manifests import resource_of
from tests.network.oracle_world import Manifest
from tests.network.random_worlds import ADDRESSES, Version, random_world

Name: TypeAlias = tuple[str, str]
# A direction for connections with addresses outside, two workloads otherwise.
Ends: TypeAlias = tuple[Name, Name] | tuple[Direction, Name, str]
Change: TypeAlias = Literal["opened", "closed", "uncertain", "same", "unknown"]
SEEDS: Final = range(24)
ASKED: Final = (("TCP", 80), ("TCP", 8080), ("UDP", 53), ("SCTP", 9003))


def changed_world(rng: Random, objects: list[Manifest]) -> list[Manifest]:
    """Delete a policy, or change labels of a Namespace, a Pod or a Node."""
    after = deepcopy(objects)
    labelled = [item for item in after if item["kind"] in {"Namespace", "Pod", "Node"}]
    policies = [item for item in after if item["kind"].endswith("Policy")]
    if policies and rng.random() < 0.6:
        after.remove(rng.choice(policies))
    else:
        labels = rng.choice(labelled)["metadata"].setdefault("labels", {})
        labels[rng.choice(("app", "team", "env"))] = rng.choice(("a", "b"))
    return after


def members(comparison: StateComparison, workloads: WorkloadSet) -> set[Name]:
    excepted = {group.controller for group in workloads.excepted}
    named = {group.controller for group in workloads.groups}
    state = comparison.before.workloads
    on_nodes = {workload.ref for workload in state.all if workload.is_on_host_network}
    return {
        (workload.ref.namespace, workload.ref.name)
        for workload in state.all
        if workload.ref in named
        or (workload.ref.namespace in workloads.namespaces and workload.ref not in excepted | on_nodes)
    }


def within(address: IPv4Address | IPv6Address, texts: tuple[str, ...]) -> bool:
    for text in texts:
        first, _, last = text.partition("-")
        if text == "any address" or (not last and address in ip_network(first)):
            return True
        bounds = (ip_address(first), ip_address(last)) if last else None
        if bounds and address.version == bounds[0].version and int(bounds[0]) <= int(address) <= int(bounds[1]):
            return True
    return False


def said(comparison: StateComparison, changes: ConnectionChanges) -> dict[tuple[Ends, str, int], Change]:
    """Return what an answer says of single ports of single connections, each at most once."""
    facts: dict[tuple[Ends, str, int], Change] = {}

    def add(ends: Ends, ports: tuple[PortRange, ...], change: Change) -> None:
        for protocol, port in ASKED:
            if any(part.protocol == protocol and part.first <= port <= part.last for part in ports):
                assert (ends, protocol, port) not in facts
                facts[ends, protocol, port] = change

    changed: tuple[tuple[Change, object], ...] = (("opened", 0), ("closed", 0), ("uncertain", 0))
    for change, _ in changed:
        part = getattr(changes, change)
        for group in part.groups:
            sides = (members(comparison, group.sources), members(comparison, group.destinations))
            pairs = [(source, destination) for source, destination in product(*sides) if source != destination]
            assert len(pairs) == group.connections
            for pair in pairs:
                add(pair, group.ports, change)
        for outside in part.outside:
            for name, text in product(members(comparison, outside.workloads), ADDRESSES):
                if within(ip_address(text), outside.addresses):
                    add((outside.direction, name, text), outside.ports, change)
    return facts


def verdict(
    comparison: StateComparison, *, later: bool, ends: tuple[Endpoint, Endpoint], port: tuple[Protocol, int]
) -> bool | None:
    network = (comparison.after if later else comparison.before).network
    connection = Connection(source=ends[0], destination=ends[1], protocol=port[0], port=port[1])
    sides = {side.allowed for side in sides_of(network, connection)}
    return False if False in sides else None if None in sides else True


def ends_of(comparison: StateComparison) -> Iterator[tuple[Ends, Endpoint, Endpoint]]:
    pods = [
        ((workload.ref.namespace, workload.ref.name), Endpoint(position=position))
        for position, workload in enumerate(comparison.before.workloads.all)
        if not workload.is_on_host_network
    ]
    for (source, sending), (destination, receiving) in product(pods, pods):
        if source != destination:
            yield (source, destination), sending, receiving
    # The addresses of nodes are left out: NetworkPolicies do not count for the node of a Pod.
    for (name, inside), text in product(pods, ADDRESSES[:-2]):
        outside = Endpoint(address=ip_address(text))
        yield ("egress", name, text), inside, outside
        yield ("ingress", name, text), outside, inside


@pytest.mark.parametrize("version", ["v1alpha1", "v1alpha2"])
def test_changes_are_what_two_verdicts_differ_in(version: Version) -> None:
    seen: set[Change] = set()
    for seed in SEEDS:
        rng = Random(seed)  # noqa: S311
        world = random_world(rng, version)
        states = [world, changed_world(rng, world)]
        rng.shuffle(states)
        snapshots = (build.snapshot(*map(resource_of, objects), complete=True) for objects in states)
        comparison = compare(*snapshots)
        facts = said(comparison, connection_changes(comparison))
        for ends, source, destination in ends_of(comparison):
            for port in ASKED:
                old, new = (
                    verdict(comparison, later=later, ends=(source, destination), port=port) for later in (False, True)
                )
                change: Change = facts.get((ends, *port), "same")
                if None in {old, new} and old is not new:
                    expected = {"uncertain"}
                elif old is new is None:
                    expected = {"uncertain", "same"}
                else:
                    expected = {"same"} if old is new else {"opened"} if new else {"closed"}
                assert change in expected, (seed, ends, port, old, new)
                seen.add(change)
    assert seen == {"opened", "closed", "uncertain", "same"}
