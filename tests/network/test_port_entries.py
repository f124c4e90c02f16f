"""Tests of `network/port_entries.py`."""

from __future__ import annotations

import pytest

from kubectl_policy.model import Json
from kubectl_policy.network.entries import Entry
from kubectl_policy.network.policy import NamedPort, PortMatch, PortRange
from kubectl_policy.network.port_entries import ports_of_cluster_policy, ports_of_network_policy

TCP_80 = PortRange("TCP", 80, 80)


@pytest.mark.parametrize(
    ("entry", "expected"),
    [
        # What no API server accepts.
        ({"protocol": "ICMP"}, []),
        ({"protocol": "tcp", "port": 80}, []),
        ({"port": 0}, []),
        ({"port": -7}, []),
        ({"port": 65_536}, []),
        ({"port": 10**30}, []),
        ({"port": True}, []),
        ({"port": 80.5}, []),
        ({"port": [80]}, []),
        ({"port": 80, "endPort": 79}, []),
        ({"port": 80, "endPort": "90"}, []),
        ({"port": "80"}, [NamedPort("80", "TCP")]),
        # "If this field is not provided, this matches all port names and numbers"; the protocol "defaults to TCP".
        ({}, [PortRange("TCP", 1, 65_535)]),
        ({"protocol": None, "port": None}, [PortRange("TCP", 1, 65_535)]),
        ({"protocol": "SCTP"}, [PortRange("SCTP", 1, 65_535)]),
        ({"port": 80}, [TCP_80]),
        ({"port": 53, "protocol": "UDP"}, [PortRange("UDP", 53, 53)]),
        ({"port": 80, "endPort": 80}, [TCP_80]),
        ({"port": 80, "endPort": 90}, [PortRange("TCP", 80, 90)]),
        ({"port": 80, "endPort": 10**30}, [PortRange("TCP", 80, 65_535)]),
        ({"port": "http"}, [NamedPort("http", "TCP")]),
        ({"port": "dns", "protocol": "UDP", "endPort": 9}, [NamedPort("dns", "UDP")]),
        # What is to be filled in.
        ("${PORTS}", [NamedPort("${PORTS}")]),
        ({"port": "${PORT}"}, [NamedPort("${PORT}", "TCP")]),
        ({"port": 80, "endPort": "${END}"}, [NamedPort("${END}", "TCP"), TCP_80]),
        ({"port": 80, "protocol": "${PROTOCOL}"}, [NamedPort("${PROTOCOL}")]),
    ],
)
def test_ports_of_a_networkpolicy(entry: Entry, expected: list[PortMatch]) -> None:
    assert list(ports_of_network_policy(entry)) == expected


ALL_TCP = PortRange("TCP", 1, 65_535)


@pytest.mark.parametrize(
    ("entry", "expected"),
    [
        ({"portNumber": {"port": 80, "protocol": "tcp"}}, []),
        ({"portNumber": {"port": 0}}, []),
        ({"portNumber": {"port": "80"}}, []),
        ({"portNumber": {}}, []),
        ({"portNumber": 80}, []),
        ({"portRange": {"start": 80, "end": 79}}, []),
        ({"portRange": {"end": 80}}, []),
        ({"portNumber": {"port": 80}}, [TCP_80]),
        ({"portNumber": {"protocol": "UDP", "port": 53}}, [PortRange("UDP", 53, 53)]),
        ({"portRange": {"protocol": "SCTP", "start": 1, "end": 9}}, [PortRange("SCTP", 1, 9)]),
        ({"namedPort": "http"}, [NamedPort("http")]),
        # v1alpha2
        ({"tcp": {"destinationPort": {"number": 0}}}, []),
        ({"tcp": {"destinationPort": {"range": {"start": 9, "end": 8}}}}, []),
        ({"tcp": {"destinationPort": {}}}, []),
        ({"tcp": {"destinationPort": []}}, []),
        ({"tcp": {}}, [ALL_TCP]),
        ({"udp": {"destinationPort": None}}, [PortRange("UDP", 1, 65_535)]),
        ({"sctp": {"destinationPort": {"number": 9}}}, [PortRange("SCTP", 9, 9)]),
        ({"tcp": {"destinationPort": {"range": {"start": 8, "end": 10**30}}}}, [PortRange("TCP", 8, 65_535)]),
        ({"destinationNamedPort": "http"}, [NamedPort("http")]),
        # A later version may have further fields.
        ({}, [NamedPort("<unknown>")]),
        ({"icmp": {}}, [NamedPort("<unknown>")]),
        ({"tcp": None}, [NamedPort("<unknown>")]),
        # What is to be filled in.
        ("${PORTS}", [NamedPort("${PORTS}")]),
        ({"namedPort": "${PORT}"}, [NamedPort("${PORT}")]),
        ({"portNumber": "${PORT}"}, [NamedPort("${PORT}")]),
        ({"portNumber": {"port": "${PORT}"}}, [NamedPort("${PORT}", "TCP")]),
        ({"portNumber": {"port": 80, "protocol": "${PROTOCOL}"}}, [NamedPort("${PROTOCOL}")]),
        ({"portRange": {"start": "${START}", "end": 9}}, [NamedPort("${START}", "TCP")]),
        ({"udp": "${UDP}"}, [NamedPort("${UDP}", "UDP")]),
        ({"tcp": {"destinationPort": "${PORT}"}}, [NamedPort("${PORT}", "TCP")]),
        ({"tcp": {"destinationPort": {"number": "${PORT}"}}}, [NamedPort("${PORT}", "TCP")]),
        ({"tcp": {"destinationPort": {"range": "${RANGE}"}}}, [NamedPort("${RANGE}", "TCP")]),
        (
            {"tcp": {"destinationPort": {"range": {"start": 80, "end": "${END}"}}}},
            [NamedPort("${END}", "TCP"), TCP_80],
        ),
    ],
)
def test_ports_of_a_policy_for_the_whole_cluster(entry: Entry, expected: list[PortMatch]) -> None:
    assert list(ports_of_cluster_policy(entry)) == expected


@pytest.mark.parametrize("entry", [{"tcp": 80}, {"tcp": "80"}, {"tcp": ["${X}"]}])
def test_a_protocol_of_a_wrong_type(entry: dict[str, Json]) -> None:
    assert list(ports_of_cluster_policy(entry)) == [ALL_TCP]
