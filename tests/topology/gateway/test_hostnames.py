"""Which hostnames have a request in common."""

from __future__ import annotations

import pytest

from kubectl_policy.topology.gateway.hostnames import covers, intersect, intersection, may_cover


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


@pytest.mark.parametrize(
    ("one", "other", "common"),
    [
        ("${X}.example.com", "*.example.com", "${X}.example.com"),
        ("${X}.example.com", "app.example.com", "app.example.com"),
        ("${X}.com", "*.example.com", "${X}.com"),
        ("*.${D}", "app.example.com", "app.example.com"),
        ("*.${D}", "*.example.com", "*.example.com"),
        ("app.${D}", "app.${E}", "app.${D}"),
        ("app.{{ .Values.domain }}", "app.example.com", "app.example.com"),
        ("CHANGE_ME", "app.example.com", "app.example.com"),
        ("a.example.com:80", "b.example.com", "b.example.com"),
    ],
)
def test_names_of_which_something_is_not_known_may_intersect(one: str, other: str, common: str) -> None:
    """That is undecided; the name of which more is known is the narrower one, as far as anybody can tell."""
    for first, second in ((one, other), (other, one)):
        assert intersect(first, second) is None
        assert not covers(first, second)
        assert may_cover(first, second)
        assert intersection(first, second) == common


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("${X}.example.com", "*.other.org"),
        ("${X}.example.com", "example.com"),
        ("app-${X}.example.com", "web-1.example.com"),
        ("*.${D}", "${D}"),
        ("a.${D}", "b.${D}"),
        ("*.a.${D}", "b.${D}"),
        ("${X}.a.com", "${Y}.b.com"),
    ],
)
def test_what_is_known_can_keep_names_apart(one: str, other: str) -> None:
    """Whatever stands in the place of the rest."""
    for first, second in ((one, other), (other, one)):
        assert intersect(first, second) is False
        assert not may_cover(first, second)
        assert intersection(first, second) is None


def test_equal_placeholders_are_equal() -> None:
    """Whatever they stand for; `${X}` is not `${x}`."""
    assert intersect("app.${D}", "*.${D}") is True
    assert intersect("${D}", "${D}") is True
    assert intersect("", "${D}") is True
    assert intersect("*.a.${D}", "*.${D}") is True
    assert intersect("${D}", "${d}") is None
