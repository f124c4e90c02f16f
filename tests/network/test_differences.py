"""What differs between two states of a network, and which workloads that concerns."""

from __future__ import annotations

from copy import deepcopy

import pytest

from kubectl_policy.model import ObjectRef
from kubectl_policy.network.kinds import ADMIN_NETWORK_POLICY, NETWORK_POLICY
from tests.network.changes import WORLD, changed_outside, network_change
from tests.network.oracle_world import Manifest
from tests.network.small_world import admin_policy, network_policy, rule

CLOSED = network_policy("closed", podSelector={"matchLabels": {"app": "db"}}, ingress=[])
TO_NODES = admin_policy("nodes", egress=[rule({"nodes": {"matchLabels": {"zone": "a"}}}, side="to", action="Deny")])


def edited(kind: str, name: str, **metadata: object) -> list[Manifest]:
    """Return the world with other metadata of one object."""
    world = deepcopy([*WORLD])
    for item in world:
        if (item["kind"], item["metadata"]["name"]) == (kind, name):
            item["metadata"].update(metadata)
    return world


def concerned(before: list[Manifest], after: list[Manifest]) -> list[str]:
    change = network_change(before, after)
    return [
        workload.ref.qualified_name
        for position, workload in enumerate(change.workloads.all)
        if change.concerned >> position & 1
    ]


EVERYBODY = ["bank/teller", "bare/lone", "shop/db", "shop/new", "shop/web"]


@pytest.mark.parametrize(
    ("after", "names"),
    [
        pytest.param([*WORLD, CLOSED], [], id="nothing differs"),
        pytest.param(
            [*WORLD, network_policy("closed", podSelector={"matchLabels": {"app": "db"}}, ingress=[])], [], id="alike"
        ),
        pytest.param([*WORLD], ["shop/db"], id="a policy is gone"),
        pytest.param(
            [*WORLD, network_policy("closed", ingress=[])], ["shop/db", "shop/new", "shop/web"], id="other Pods"
        ),
        pytest.param([*edited("Pod", "web", annotations={"a": "b"}), CLOSED], [], id="an annotation"),
        pytest.param([*edited("Pod", "web", labels={"app": "x"}), CLOSED], EVERYBODY, id="labels of a Pod"),
        pytest.param([*edited("Namespace", "shop", labels={}), CLOSED], EVERYBODY, id="labels of a Namespace"),
        pytest.param([*edited("Node", "node-1", labels={}), CLOSED], [], id="a Node, which no rule selects"),
    ],
)
def test_workloads_are_concerned_by_their_policies_or_by_any_changed_workload(
    after: list[Manifest], names: list[str]
) -> None:
    assert concerned([*WORLD, CLOSED], after) == names


def test_workloads_of_one_state_and_those_of_the_host_concern_nobody() -> None:
    without_web = [item for item in WORLD if item["metadata"]["name"] != "web"]
    assert concerned([*WORLD, CLOSED], [*without_web, CLOSED]) == []
    change = network_change([*without_web, CLOSED], [*WORLD, CLOSED])
    assert [change.before.pods.bit_count(), change.after.pods.bit_count()] == [4, 5]
    assert concerned([*WORLD, CLOSED], [*edited("Pod", "agent-1", labels={}), CLOSED]) == []


def test_nodes_matter_where_rules_select_them() -> None:
    after = [*edited("Node", "node-2", labels={"zone": "a"}), TO_NODES]
    assert concerned([*WORLD, TO_NODES], after) == EVERYBODY
    assert changed_outside([*WORLD, TO_NODES], after) == {
        f"closed egress shop/{name} 172.18.0.3-172.18.0.3 {protocol} 1-65535"
        for name in ("db", "new", "web")
        for protocol in ("TCP", "UDP", "SCTP")
    }


def test_policies_differ_by_their_specifications() -> None:
    relabelled = {**CLOSED, "metadata": {**CLOSED["metadata"], "labels": {"a": "b"}}}
    assert network_change([*WORLD, CLOSED], [*WORLD, relabelled]).differences.policies == frozenset()
    assert network_change([*WORLD, CLOSED], [*WORLD, TO_NODES]).differences.policies == {
        ObjectRef(NETWORK_POLICY, "shop", "closed"),
        ObjectRef(ADMIN_NETWORK_POLICY, "", "nodes"),
    }
