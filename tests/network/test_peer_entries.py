"""Tests of `network/peer_entries.py`."""

from __future__ import annotations

from collections.abc import Mapping

import pytest

from kubectl_policy.model import FieldPath, Json
from kubectl_policy.network.entries import Entry
from kubectl_policy.network.peer_entries import (
    BASELINE_EGRESS_FIELDS,
    EGRESS_FIELDS,
    INGRESS_FIELDS,
    peer_of_cluster_policy,
    peer_of_network_policy,
    selection_of,
)
from kubectl_policy.network.policy import Peer

FIELD = FieldPath.parse("spec.ingress[0].from[0]")
APP: Mapping[str, Json] = {"matchLabels": {"app": "a"}}
TEAM: Mapping[str, Json] = {"matchLabels": {"team": "x"}}


def parts(peer: Peer) -> dict[str, object]:
    """The parts of a peer that are there."""
    assert peer.field == FIELD
    blocks = [[str(block.network), *map(str, block.excluded)] for block in peer.blocks]
    selection = peer.selection and (peer.selection.namespaces, peer.selection.pods)
    found = {
        "selection": selection,
        "blocks": blocks,
        "nodes": peer.nodes,
        "domains": list(peer.domain_names),
        "open": peer.is_open,
    }
    return {name: part for name, part in found.items() if part or (name == "nodes" and part is not None)}


def block(cidr: Json, *excluded: Json) -> Mapping[str, Json]:
    return {"ipBlock": {"cidr": cidr, "except": excluded}}


@pytest.mark.parametrize(
    ("entry", "expected"),
    [
        # What no API server accepts matches nothing.
        ({}, {}),
        ({"podSelector": None}, {}),
        ({"podSelector": "app=a"}, {}),
        ({"ipBlock": "10.0.0.0/8"}, {}),
        ({"ipBlock": {}}, {}),
        (block("10.0.0.0"), {}),
        (block(10), {}),
        ({"podSelector": {}}, {"selection": ("shop", {})}),
        ({"podSelector": APP}, {"selection": ("shop", APP)}),
        ({"namespaceSelector": {}}, {"selection": ({}, {})}),
        ({"namespaceSelector": TEAM, "podSelector": APP}, {"selection": (TEAM, APP)}),
        (block("10.0.0.0/8"), {"blocks": [["10.0.0.0/8"]]}),
        (block("10.0.0.0/8", "10.1.0.0/16", "x", 7), {"blocks": [["10.0.0.0/8", "10.1.0.0/16"]]}),
        ({**block("10.0.0.0/8"), "podSelector": {}}, {"blocks": [["10.0.0.0/8"]]}),
        # What is to be filled in.
        ("${PEER}", {"open": True}),
        ({"ipBlock": "${BLOCK}"}, {"open": True}),
        (block("${CIDR}"), {"open": True}),
        # Without knowing what is left out, nothing is certainly in.
        (block("0.0.0.0/0", "${CIDR}"), {"open": True}),
        ({"ipBlock": {"cidr": "0.0.0.0/0", "except": "${EXCEPT}"}}, {"open": True}),
    ],
)
def test_peers_of_a_networkpolicy(entry: Entry, expected: dict[str, object]) -> None:
    assert parts(peer_of_network_policy(FIELD, entry, "shop")) == expected


@pytest.mark.parametrize(
    ("entry", "expected"),
    [
        ({}, {}),
        ({"namespaces": None}, {}),
        ({"namespaces": "all"}, {}),
        ({"networks": "10.0.0.0/8"}, {}),
        ({"networks": ["10.0.0.0", 7]}, {}),
        ({"futureSelector": {}}, {}),
        ({"namespaces": {}}, {"selection": ({}, {})}),
        ({"namespaces": TEAM}, {"selection": (TEAM, {})}),
        ({"pods": {}}, {"selection": ({}, {})}),
        ({"pods": {"podSelector": APP}}, {"selection": ({}, APP)}),
        ({"pods": {"namespaceSelector": TEAM, "podSelector": APP}}, {"selection": (TEAM, APP)}),
        ({"networks": ["10.0.0.0/8", "x", "fd00::/8"]}, {"blocks": [["10.0.0.0/8"], ["fd00::/8"]]}),
        ({"nodes": {}}, {"nodes": {}}),
        ({"nodes": TEAM}, {"nodes": TEAM}),
        ({"domainNames": ["*.example.com"]}, {"domains": ["*.example.com"]}),
        ("${PEER}", {"open": True}),
        ({"networks": ["10.0.0.0/8", "${CIDR}"]}, {"blocks": [["10.0.0.0/8"]], "open": True}),
        ({"networks": "${CIDRS}"}, {"open": True}),
        ({"domainNames": ["${DOMAIN}"]}, {"domains": ["${DOMAIN}"], "open": True}),
    ],
)
def test_egress_peers_of_a_policy_for_the_whole_cluster(entry: Entry, expected: dict[str, object]) -> None:
    peer = peer_of_cluster_policy(FIELD, entry, EGRESS_FIELDS)
    assert parts(peer) == expected
    assert peer.is_understood is bool(expected)


@pytest.mark.parametrize("field", ["networks", "nodes", "domainNames"])
def test_fields_that_peers_of_a_direction_or_kind_do_not_have(field: str) -> None:
    entry: Entry = {field: {} if field == "nodes" else ["10.0.0.0/8"]}
    understood = [
        peer_of_cluster_policy(FIELD, entry, fields).is_understood
        for fields in (INGRESS_FIELDS, BASELINE_EGRESS_FIELDS, EGRESS_FIELDS)
    ]
    assert understood == [False, field != "domainNames", True]


@pytest.mark.parametrize(
    "holder", [{}, {"namespaces": "${X} and more {}"}, {"pods": "${PODS}"}, {"pods": {"podSelector": "${X}"}}]
)
def test_a_selection_that_is_to_be_filled_in_is_undecided(holder: Mapping[str, Json]) -> None:
    selection = selection_of(holder)
    if not holder:
        assert selection is None
        return
    assert selection is not None
    selectors = [selector for selector in (selection.namespaces, selection.pods) if selector]
    assert selectors == [{"matchExpressions": [{"key": "", "operator": "<unknown>"}]}]
