"""Tests of `topology/workloads/addresses.py`."""

from __future__ import annotations

from ipaddress import ip_address, ip_network

import pytest

from tests.topology.workloads.worlds import names, pod, split, workloads

WORLD = workloads(
    pod("a", address="10.0.0.1"),
    pod("b", status={"podIPs": [{"ip": "10.0.0.2"}, {"ip": "fd00::2"}]}),
    pod("c", address="8.8.8.8"),
    pod("node-1", address="172.18.0.1", hostNetwork=True),
    pod("node-1-too", address="172.18.0.1", hostNetwork=True),
    pod("z"),
)


@pytest.mark.parametrize(
    ("network", "certain", "possible"),
    [
        ("10.0.0.0/32", [], ["z"]),
        ("10.0.0.0/31", ["a"], ["z"]),
        ("10.0.0.1/32", ["a"], ["z"]),
        ("10.0.0.0/8", ["a", "b"], ["z"]),
        ("fd00::/8", ["b"], ["z"]),
        ("100.64.0.0/16", [], ["z"]),
        # A Pod has no public address, unless somebody says so.
        ("8.8.8.0/24", ["c"], []),
        ("2600::/12", [], []),
        # A range that holds private addresses with public ones.
        ("8.0.0.0/5", ["a", "b", "c"], ["z"]),
        ("0.0.0.0/0", ["a", "b", "c", "node-1", "node-1-too"], ["z"]),
        ("::/0", ["b"], ["z"]),
    ],
)
def test_workloads_in_a_range(network: str, certain: list[str], possible: list[str]) -> None:
    assert split(WORLD, WORLD.addresses.perhaps_within(ip_network(network))) == (certain, possible)
    assert names(WORLD, WORLD.addresses.within(ip_network(network))) == certain


@pytest.mark.parametrize(
    ("address", "expected"),
    [("10.0.0.3", []), ("10.0.0.1", ["a"]), ("fd00::2", ["b"]), ("172.18.0.1", ["node-1", "node-1-too"])],
)
def test_workloads_at_an_address(address: str, expected: list[str]) -> None:
    assert names(WORLD, WORLD.addresses.at(ip_address(address))) == expected


def test_versions_of_addresses() -> None:
    assert {version: names(WORLD, members) for version, members in WORLD.addresses.having.items()} == {
        4: ["a", "b", "c", "node-1", "node-1-too"],
        6: ["b"],
    }
    assert names(WORLD, WORLD.addresses.unknown) == ["z"]
