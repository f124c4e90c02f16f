"""Hostnames of listeners and routes: which of them have a request in common."""

from __future__ import annotations


def intersect(one: str, other: str) -> bool:
    """Whether some host matches both names, either of which may start with a wildcard label; an empty one matches all.

    "Hostnames that are prefixed with a wildcard label (`*.`) are interpreted as a suffix match. That means that a match
    for `*.example.com` would match both `test.example.com`, and `foo.test.example.com`, but not `example.com`."
    (HTTPRouteSpec.Hostnames, Listener.Hostname.) DNS names are compared without regard to case.
    """
    one, other = one.lower(), other.lower()
    if not one or not other or one == other:
        return True
    return _covers(one, other) or _covers(other, one)


def _covers(pattern: str, name: str) -> bool:
    # `*.a.example.com` ends with `.example.com` as well, so a wildcard inside another one needs no case of its own.
    return pattern.startswith("*.") and name.endswith(pattern[1:]) and len(name) > len(pattern) - 1
