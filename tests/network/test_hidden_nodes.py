"""Nodes that a cluster does not show may be the peers of a rule that selects Nodes by their labels."""

from __future__ import annotations

from ipaddress import ip_address
from typing import Final

import pytest

from kubectl_policy.model import Gap, Json, ObjectRef
from kubectl_policy.model.kind_roles import NODE, POD
from kubectl_policy.network.policy import Peer, PolicyRules
from tests import build
from tests.questions.build import analyzed

HIDDEN: Final = Gap("Node", "", "forbidden", group="")
ONE_HIDDEN: Final = Gap("Node", "", "forbidden", group="", name="n")
OTHER_HIDDEN: Final = Gap("Pod", "", "forbidden", group="")
ZONE: Final[Json] = {"matchLabels": {"zone": "a"}}
ADDRESS: Final = ip_address("192.168.1.1")


def matched(node: str, selector: Json, *gaps: Gap, complete: bool = True) -> tuple[bool | None, bool | None]:
    """Whether a Pod on the network of a node, and an address outside, match a peer that selects Nodes."""
    spec: Json = {"hostNetwork": True, "nodeName": node}
    rule: Json = {"action": "Deny", "to": [{"nodes": selector}]}
    policy: Json = {"priority": 1, "subject": {"namespaces": {}}, "egress": [rule]}
    analysis = analyzed(
        build.resource("Pod", "p", spec, group="", namespace="shop"),
        build.resource("AdminNetworkPolicy", "a", policy, group="policy.networking.k8s.io"),
        complete=complete,
        gaps=gaps,
    )
    (rules,) = analysis.network.policies
    position = analysis.workloads.position_of(ObjectRef(POD, "shop", "p"))
    assert position is not None
    peer = _peer(rules)
    matching = analysis.network.matching
    return matching.pods_of_peer(rules, peer).has(position), matching.peer_matches_address(peer, ADDRESS)


def _peer(policy: PolicyRules) -> Peer:
    peers = policy.egress[0].peers
    assert peers
    return peers[0]


@pytest.mark.parametrize(
    ("node", "gaps", "complete", "expected"),
    [
        ("n", (), True, (False, False)),
        ("n", (OTHER_HIDDEN,), True, (False, False)),
        # The Pod runs nowhere yet.
        ("", (), True, (False, False)),
        ("n", (), False, (None, None)),
        ("n", (HIDDEN,), True, (None, None)),
        ("", (HIDDEN,), True, (None, None)),
        ("n", (ONE_HIDDEN,), True, (None, None)),
        ("m", (ONE_HIDDEN,), True, (False, None)),
    ],
)
def test_what_is_hidden_may_match(
    node: str,
    gaps: tuple[Gap, ...],
    complete: bool,  # noqa: FBT001 (a row of a table)
    expected: tuple[bool | None, bool | None],
) -> None:
    assert matched(node, ZONE, *gaps, complete=complete) == expected


def test_every_node_matches_an_empty_selector() -> None:
    assert matched("n", {}, HIDDEN) == (True, None)


def test_a_node_that_was_read_hides_no_other_one() -> None:
    """An address that is of no Node that was read may be of one that was not."""
    node = build.resource("Node", "n", group="", status={"addresses": [{"address": "192.168.1.9"}]})
    rule: Json = {"action": "Deny", "to": [{"nodes": ZONE}]}
    policy: Json = {"priority": 1, "subject": {"namespaces": {}}, "egress": [rule]}
    anp = build.resource("AdminNetworkPolicy", "a", policy, group="policy.networking.k8s.io")
    for gaps, expected in ((), False), ((HIDDEN,), None):
        analysis = analyzed(node, anp, complete=True, gaps=gaps)
        peer = _peer(analysis.network.policies[0])
        assert analysis.network.matching.peer_matches_address(peer, ADDRESS) is expected
    assert analysis.index.get(ObjectRef(NODE, "", "n")) is not None
