"""Hostnames of listeners and routes: which cover each other, and which have a host in common."""

from __future__ import annotations

from functools import lru_cache
from typing import TYPE_CHECKING, Final

from kubectl_policy.model.unknown import fit_together, is_unknown_hostname, may_become, same_placeholders

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence


# A place to be filled in, as a wildcard is one.
_ANY: Final = "{}"
# So many names are compared faster than they are looked up.
_FEW: Final = 4


def have_common_hostname(first: str, second: str) -> bool | None:
    """Whether some host matches both names (see `intersection`); None where one of them is not known."""
    if not first or not second or covers(first, second) or covers(second, first):
        return True
    return None if may_intersect(first, second) else False


def intersection(first: str, second: str) -> str | None:
    """Return the name of the hosts that match both names, which may start with a wildcard label; None if none do.

    An empty name matches every host. "Hostnames that are prefixed with a wildcard label (`*.`) are interpreted as a
    suffix match. That means that a match for `*.example.com` would match both `test.example.com`, and
    `foo.test.example.com`, but not `example.com`." (HTTPRouteSpec.Hostnames, Listener.Hostname.) DNS names are compared
    without regard to case. Where it is not known whether there are such hosts, it is the name of which more is known.
    """
    if not first or not second:
        return first or second
    if covers(first, second):
        return second
    if covers(second, first):
        return first
    if not may_intersect(first, second):
        return None
    return min((first, second), key=lambda name: (name.startswith("*."), is_unknown_hostname(name), name))


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
    """Yield the names that cover one, in the way in which names are compared, but for the empty one."""
    name = comparable(name)
    yield name
    dot = name.find(".", 1)
    while dot > 0:
        yield f"*{name[dot:]}"
        dot = name.find(".", dot + 1)


class Hostnames:
    """Several hostnames, among which those are looked up that have a host in common with another one."""

    def __init__(self, names: Sequence[str]) -> None:
        """Index many names by what covers each of them; a few, and placeholders, are compared one by one."""
        self.names = names
        self._by_name: dict[str, list[int]] = {}
        self._by_cover: dict[str, list[int]] = {}
        self._compared: list[int] = []
        for position, name in enumerate(names):
            if len(names) <= _FEW or not name or is_unknown_hostname(name):
                self._compared.append(position)
                continue
            self._by_name.setdefault(comparable(name), []).append(position)
            for cover in {*covering_names(name)}:
                self._by_cover.setdefault(cover, []).append(position)

    def intersections(self, name: str) -> list[tuple[str, str]]:
        """Return the hostnames that have hosts in common with a name, in their order, each with these hosts."""
        candidates = (self.names[position] for position in self.candidates([name]))
        common = ((hostname, intersection(hostname, name)) for hostname in candidates)
        return [(hostname, hosts) for hostname, hosts in common if hosts is not None]

    def have_common_hostname(self, name: str) -> bool | None:
        """Whether any of the hostnames has a host in common with a name; None if that is not known."""
        verdicts = {have_common_hostname(self.names[position], name) for position in self.candidates([name])}
        return True if True in verdicts else None if None in verdicts else False

    def candidates(self, names: Iterable[str]) -> Sequence[int]:
        """Return the positions of the hostnames that may have a host in common with any of some names."""
        if len(self._compared) == len(self.names):
            return self._compared
        positions = {*self._compared}
        for name in names:
            if not name or is_unknown_hostname(name):
                return range(len(self.names))
            positions.update(*(self._by_name.get(cover, ()) for cover in covering_names(name)))
            positions.update(self._by_cover.get(comparable(name), ()))
        return sorted(positions)


@lru_cache(maxsize=1_000)
def hostnames_in(names: tuple[str, ...]) -> Hostnames:
    """Return the lookup of some hostnames; that of a route is made once, and not at each listener."""
    return Hostnames(names)


def may_cover(pattern: str, name: str) -> bool:
    """Whether a name may match every host that another one matches, once both are known."""
    return covers(pattern, name) or may_intersect(pattern, name)


def comparable(name: str) -> str:
    """Return a name as names are compared."""
    return name if is_unknown_hostname(name) else name.lower()


def may_intersect(first: str, second: str) -> bool:
    """Whether two names of which one is not known may have a host in common: what is known of both fits together."""
    unknown, known = (first, second) if is_unknown_hostname(first) else (second, comparable(first))
    if not is_unknown_hostname(unknown) or same_placeholders(first, second):
        return False
    if is_unknown_hostname(known) or known.startswith("*."):
        return fit_together(unknown.replace("*", _ANY), known.replace("*", _ANY))
    return may_become(unknown.replace("*", _ANY), known)
