"""Answers about random worlds of both versions agree with the independent judge, pair by pair and port by port.

With KUBECTL_POLICY_WORLDS in the environment, so many worlds are judged instead of a few.
"""

from __future__ import annotations

import os
from itertools import product
from random import Random

import pytest

from kubectl_policy import Analysis
from kubectl_policy.questions.connections.connection import PortQuery, describe_connection
from kubectl_policy.questions.connections.endpoints import NamedEnd, end_at_address, end_of
from kubectl_policy.questions.connections.network_policy import describe_network_policy
from kubectl_policy.questions.connections.verdicts import SideVerdict
from kubectl_policy.questions.connections.workload import describe_workload
from kubectl_policy.topology.workloads.workload import parse_address
from tests.build import namespace
from tests.network.manifests import analyzed_manifests
from tests.network.oracle import EndRef, judge, selected
from tests.network.oracle_world import Manifest, World
from tests.network.random_worlds import ADDRESSES, PORTS, Version, random_world

# Addresses outside of the cluster that are no Node's. The judge tries both versions of IP, whatever an address has.
IPV4 = tuple(address for address in ADDRESSES[:-2] if ":" not in address)
_WORLDS = int(os.environ.get("KUBECTL_POLICY_WORLDS", "12"))
CASES: list[tuple[int, Version]] = [(seed, "v1alpha1" if seed % 2 else "v1alpha2") for seed in range(_WORLDS)]


def world_of(seed: int, version: Version) -> list[Manifest]:
    """A random world with all its Namespaces: of one that was not read, the product does not know the labels."""
    objects = random_world(Random(seed), version)  # noqa: S311
    homes = {item["metadata"]["namespace"] for item in objects if "namespace" in item["metadata"]}
    known = {item["metadata"]["name"] for item in objects if item["kind"] == "Namespace"}
    return [*objects, *(dict(namespace(name).raw) for name in sorted(homes - known))]


def end(analysis: Analysis, ref: EndRef) -> NamedEnd:
    if isinstance(ref, str):
        address = parse_address(ref)
        assert address
        return end_at_address(analysis, address)
    by_name = {(found.ref.namespace, found.ref.name): found.ref for found in analysis.workloads.all}
    return end_of(analysis, by_name[ref[1:]])


def by(side: SideVerdict) -> frozenset[str]:
    refs = (rule.policy.policy for rule in side.deciding)
    return frozenset("/".join(filter(None, (ref.kind, ref.namespace, ref.name))) for ref in refs)


def plain_pods(objects: list[Manifest]) -> list[EndRef]:
    """The Pods with known addresses of their own."""
    pods = (item for item in objects if item["kind"] == "Pod")
    return [
        ("pod", item["metadata"]["namespace"], item["metadata"]["name"])
        for item in pods
        if item.get("status", {}).get("podIPs") and not item["spec"].get("hostNetwork")
    ]


@pytest.mark.parametrize(("seed", "version"), CASES)
def test_verdicts_are_those_of_the_judge(seed: int, version: Version) -> None:
    """Of Pods with addresses of their own, and addresses that are no Node's: of others, more is left open.

    What is certain is what the judge says. The judge decides a little more: it knows that what one policy does in doubt
    excludes what another one does.
    """
    objects = world_of(seed, version)
    analysis, judged, rng = analyzed_manifests(objects), World(objects), Random(seed)  # noqa: S311
    pods = plain_pods(objects)
    pairs = [*product(pods, pods), *product(pods, IPV4), *product(IPV4, pods)]
    asked = undecided = 0
    for source, destination in rng.sample(pairs, min(len(pairs), 40)):
        ends = end(analysis, source), end(analysis, destination)
        for port, protocol in rng.sample(PORTS, 3):
            question = source, destination, port, protocol
            expected = judge(judged, source, destination, port, protocol)
            answer = describe_connection(analysis, *ends, PortQuery.parse(f"{port}/{protocol}"))
            [checked], [between] = answer.connections, answer.open
            assert answer.allowed is None or answer.allowed is expected.allowed, question
            asked, undecided = asked + 1, undecided + (answer.allowed is None and expected.allowed is not None)
            opened = [part for part in between.allowed if part.protocol == protocol]
            assert any(part.first <= port <= part.last for part in opened) == (answer.allowed is True)
            verdicts = ((checked.verdict.egress, expected.egress), (checked.verdict.ingress, expected.ingress))
            for side, wanted in verdicts if source != destination else ():
                assert (side is None) == (wanted is None)
                if side and wanted and side.allowed is not None:
                    assert side.allowed is wanted.allowed, question
                    # Of several policies that may decide alike, one of the two names none.
                    if wanted.by is not None and side.tier is not None:
                        assert (side.tier, by(side)) == (wanted.tier, wanted.by), question
                assert side is None or side.allowed is not None or side.doubts, question
    assert undecided <= asked / 8


@pytest.mark.parametrize(("seed", "version"), CASES)
def test_what_is_certain_is_what_the_judge_says(seed: int, version: Version) -> None:
    """Of any Pods, also those on nodes of which no object was read: no other verdict is certain."""
    objects = world_of(seed, version)
    analysis, judged, rng = analyzed_manifests(objects, complete=False), World(objects), Random(seed)  # noqa: S311
    pods: list[EndRef] = [
        ("pod", item["metadata"]["namespace"], item["metadata"]["name"]) for item in objects if item["kind"] == "Pod"
    ]
    pairs = [*product(pods, pods)]
    for source, destination in rng.sample(pairs, min(len(pairs), 40)):
        ends = end(analysis, source), end(analysis, destination)
        port, protocol = rng.choice(PORTS)
        expected = judge(judged, source, destination, port, protocol)
        answer = describe_connection(analysis, *ends, PortQuery.parse(f"{port}/{protocol}"))
        assert answer.allowed is None or answer.allowed is expected.allowed, (source, destination, port, protocol)


@pytest.mark.parametrize(("seed", "version"), CASES)
def test_policies_select_what_the_judge_says(seed: int, version: Version) -> None:
    objects = world_of(seed, version)
    analysis = analyzed_manifests(objects)
    for item in objects:
        if item["kind"].endswith("Policy"):
            name = item["metadata"].get("namespace", ""), item["metadata"]["name"]
            [ref] = [
                ref for ref in analysis.network.by_ref if (ref.kind, ref.namespace, ref.name) == (item["kind"], *name)
            ]
            answer = describe_network_policy(analysis, ref)
            pods = {f"Pod/{found.namespace}/{found.name}" for found in answer.selects}
            assert (
                pods
                <= selected(objects, item)
                <= pods | {f"Pod/{found.namespace}/{found.name}" for found in answer.may_select}
            )
            assert answer.applies_to.number == len(answer.selects)
            assert all(entry.decides_for <= len(answer.selects) + len(answer.may_select) for entry in answer.rules)


@pytest.mark.parametrize(("seed", "version"), CASES)
def test_a_workload_reaches_what_verdicts_allow(seed: int, version: Version) -> None:
    """The number of workloads with a certainly open port, counted pair by pair."""
    objects = world_of(seed, version)
    analysis = analyzed_manifests(objects)
    counted = [found for found in analysis.workloads.all if not found.is_on_host_network]
    for workload in counted[:4]:
        subject = end_of(analysis, workload.ref)
        answer = describe_workload(analysis, workload.ref, subject.members)
        for part in answer.directions:
            numbers = [0, 0]
            for peer in counted:
                if peer is not workload:
                    ends = (subject, end_of(analysis, peer.ref))
                    source, destination = ends if part.direction == "egress" else ends[::-1]
                    [between] = describe_connection(analysis, source, destination, None).open
                    numbers[0] += bool(between.allowed)
                    numbers[1] += bool(between.undecided and not between.allowed)
            assert [part.reached, part.possibly_reached] == numbers
            assert part.total == len(counted) - 1
