"""Tests of `network/ports.py`."""

from __future__ import annotations

import pytest

from kubectl_policy.network.policy import NamedPort, PortRange
from kubectl_policy.network.ports import PortSpace, declared_names, declared_ranges
from tests.network.worlds import network_of

HTTP, ALL_TCP = PortRange("TCP", 80, 90), PortRange("TCP", 1, 65_535)
LAST = PortRange("TCP", 65_535, 65_535)
SPACE = PortSpace([HTTP, PortRange("UDP", 53, 53), LAST, PortRange("TCP", 85, 85)])


def test_a_space_has_a_bit_for_each_range_that_rules_tell_apart() -> None:
    assert SPACE.everything.bit_count() == 6 + 3 + 1
    assert PortSpace([]).everything.bit_count() == 3


@pytest.mark.parametrize(
    ("ports", "size"),
    [(HTTP, 3), (PortRange("TCP", 85, 85), 1), (ALL_TCP, 6), (LAST, 1), (PortRange("SCTP", 1, 65_535), 1)],
)
def test_a_range_is_the_set_of_its_ports(ports: PortRange, size: int) -> None:
    assert SPACE.of_range(ports).bit_count() == size
    assert SPACE.ranges_in(SPACE.of_range(ports)) == (ports,)


@pytest.mark.parametrize(
    ("port", "expected"),
    [(1, (1, 79)), (79, (1, 79)), (80, (80, 84)), (85, (85, 85)), (86, (86, 90)), (65_535, (65_535,) * 2)],
)
def test_a_port_is_in_the_range_of_its_like(port: int, expected: tuple[int, int]) -> None:
    assert SPACE.ranges_in(SPACE.of_port("TCP", port)) == (PortRange("TCP", *expected),)


def test_ports_of_a_protocol() -> None:
    assert SPACE.of_protocol(None) == SPACE.everything
    assert SPACE.of_protocol("ICMP") == 0
    assert SPACE.ranges_in(SPACE.of_protocol("TCP")) == (ALL_TCP,)


def test_ranges_are_joined_within_a_protocol() -> None:
    both = SPACE.of_protocol("TCP") & ~SPACE.of_range(HTTP)
    assert SPACE.ranges_in(both | SPACE.of_protocol("SCTP")) == (
        PortRange("TCP", 1, 79),
        PortRange("TCP", 91, 65_535),
        PortRange("SCTP", 1, 65_535),
    )
    assert SPACE.ranges_in(0) == ()


def test_what_rules_name() -> None:
    ports = [{"port": 80}, {"port": "http"}, {"port": "dns", "protocol": "UDP"}]
    spec = {"ingress": [{"ports": ports}, {}], "egress": [{"ports": [{"port": 443}]}]}
    policy = {"apiVersion": "networking.k8s.io/v1", "kind": "NetworkPolicy", "metadata": {"name": "p"}, "spec": spec}
    policies = network_of([policy]).policies
    assert list(declared_ranges(policies)) == [PortRange("TCP", 80, 80), PortRange("TCP", 443, 443)]
    assert declared_names(policies) == {NamedPort("http", "TCP"), NamedPort("dns", "UDP")}
