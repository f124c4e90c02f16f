"""Which hostnames have a request in common."""

from __future__ import annotations

import pytest

from kubectl_policy.topology.gateway.hostnames import covers, intersect, intersection


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
    assert intersection(one, other) is None


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


@pytest.mark.parametrize(
    ("one", "other", "expected"),
    [
        ("", "", ""),
        ("", "a.example.com", "a.example.com"),
        ("a.example.com", "*.example.com", "a.example.com"),
        ("*.a.example.com", "*.example.com", "*.a.example.com"),
        ("*.example.com", "A.Example.com", "A.Example.com"),
    ],
)
def test_the_intersection_is_the_narrower_name(one: str, other: str, expected: str) -> None:
    """As it is written."""
    assert intersection(one, other) == intersection(other, one) == expected


def test_a_name_covers_narrower_ones_and_itself() -> None:
    """But no wider one."""
    assert covers("*.example.com", "*.a.example.com")
    assert covers("a.example.com", "A.example.com")
    assert not covers("*.a.example.com", "*.example.com")
    assert not covers("a.example.com", "")
