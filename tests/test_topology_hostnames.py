"""Which hostnames have a request in common."""

from __future__ import annotations

import pytest

from kubectl_policy.topology.hostnames import intersect


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("a.example.com", "b.example.com"),
        ("example.com", "*.example.com"),
        ("*.a.example.com", "*.b.example.com"),
        ("badexample.com", "*.example.com"),
        (".example.com", "*.example.com"),
        ("*.example.com", "*.example.org"),
    ],
)
def test_names_without_a_common_host_do_not_intersect(one: str, other: str) -> None:
    """A wildcard needs at least one label in its place, and suffixes match at dots alone."""
    assert not intersect(one, other)
    assert not intersect(other, one)


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("", "a.example.com"),
        ("", ""),
        ("A.example.com", "a.Example.com"),
        ("a.example.com", "*.example.com"),
        ("b.a.example.com", "*.example.com"),
        ("*.a.example.com", "*.example.com"),
        ("*.example.com", "*.example.com"),
    ],
)
def test_names_with_a_common_host_intersect(one: str, other: str) -> None:
    """A wildcard stands for any number of labels, an empty name for every host, and case does not matter."""
    assert intersect(one, other)
    assert intersect(other, one)
