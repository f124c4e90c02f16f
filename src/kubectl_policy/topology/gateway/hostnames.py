"""Hostnames of listeners and routes: which of them have a request in common."""

from __future__ import annotations


def intersect(one: str, other: str) -> bool:
    """Whether some host matches both names; see `intersection`."""
    return intersection(one, other) is not None


def intersection(one: str, other: str) -> str | None:
    """The name of just the hosts that match both names, either of which may start with a wildcard label; None if none.

    An empty name matches every host. "Hostnames that are prefixed with a wildcard label (`*.`) are interpreted as a
    suffix match. That means that a match for `*.example.com` would match both `test.example.com`, and
    `foo.test.example.com`, but not `example.com`." (HTTPRouteSpec.Hostnames, Listener.Hostname.) DNS names are compared
    without regard to case.
    """
    if covers(one, other):
        return other
    return one if covers(other, one) else None


def covers(pattern: str, name: str) -> bool:
    """Whether a name matches every host that another one matches."""
    pattern, name = pattern.lower(), name.lower()
    # `*.a.example.com` ends with `.example.com` as well, so a wildcard inside another one needs no case of its own.
    return (
        not pattern
        or pattern == name
        or (pattern.startswith("*.") and name.endswith(pattern[1:]) and len(name) > len(pattern) - 1)
    )
