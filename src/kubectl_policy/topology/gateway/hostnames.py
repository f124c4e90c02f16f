"""Hostnames of listeners and routes: which cover each other, and which have a host in common."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from kubectl_policy.model.unknown import fit_together, is_unknown_hostname, may_become, same_places

if TYPE_CHECKING:
    from collections.abc import Iterator


# A place to be filled in, as a wildcard is one.
_ANY: Final = "{}"


def intersect(one: str, other: str) -> bool | None:
    """Whether some host matches both names (see `intersection`); None where one of them is not known."""
    if not one or not other or covers(one, other) or covers(other, one):
        return True
    return None if may_intersect(one, other) else False


def intersection(one: str, other: str) -> str | None:
    """The name of just the hosts that match both names, either of which may start with a wildcard label; None if none.

    An empty name matches every host. "Hostnames that are prefixed with a wildcard label (`*.`) are interpreted as a
    suffix match. That means that a match for `*.example.com` would match both `test.example.com`, and
    `foo.test.example.com`, but not `example.com`." (HTTPRouteSpec.Hostnames, Listener.Hostname.) DNS names are compared
    without regard to case. Where it is not known whether there are such hosts, it is the name of which more is known.
    """
    if not one or not other:
        return one or other
    if covers(one, other):
        return other
    if covers(other, one):
        return one
    if not may_intersect(one, other):
        return None
    return min((one, other), key=lambda name: (name.startswith("*."), is_unknown_hostname(name), name))


def covers(pattern: str, name: str) -> bool:
    """Whether a name is known to match every host that another one matches; equal placeholders are equal."""
    if pattern == name:
        return True
    pattern, name = comparable(pattern), comparable(name)
    # `*.a.example.com` ends with `.example.com` as well, so a wildcard inside another one needs no case of its own.
    return (
        not pattern
        or pattern == name
        or (
            pattern.startswith("*.")
            and name.endswith(pattern[1:])
            and len(name) > len(pattern) - 1
            and (is_unknown_hostname(pattern) or not is_unknown_hostname(name))
        )
    )


def covering_names(name: str) -> Iterator[str]:
    """The names that cover one, in the way in which names are compared, but for the empty one."""
    name = comparable(name)
    yield name
    place = name.find(".", 1)
    while place > 0:
        yield f"*{name[place:]}"
        place = name.find(".", place + 1)


def may_cover(pattern: str, name: str) -> bool:
    """Whether a name may match every host that another one matches, once both are known."""
    return covers(pattern, name) or may_intersect(pattern, name)


def comparable(name: str) -> str:
    """A name as names are compared."""
    return name if is_unknown_hostname(name) else name.lower()


def may_intersect(one: str, other: str) -> bool:
    """Whether two names of which one is not known may have a host in common: what is known of both fits together."""
    unknown, known = (one, other) if is_unknown_hostname(one) else (other, comparable(one))
    if not is_unknown_hostname(unknown) or same_places(one, other):
        return False
    if is_unknown_hostname(known) or known.startswith("*."):
        return fit_together(unknown.replace("*", _ANY), known.replace("*", _ANY))
    return may_become(unknown.replace("*", _ANY), known)
