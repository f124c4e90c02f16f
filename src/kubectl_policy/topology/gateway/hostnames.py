"""Hostnames of listeners and routes: which of them have a request in common, and which requests routes take."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from msgspec import Struct

from kubectl_policy.model.fields import mappings_at, strings_at, text_at
from kubectl_policy.model.unknown import fit_together, is_unknown_hostname, may_be_port, may_become, same_places
from kubectl_policy.topology.references import GRPC_ROUTE, HTTP_ROUTE

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from kubectl_policy.model import Json, ObjectRef, Resource
    from kubectl_policy.model.unknown import Port
    from kubectl_policy.topology.gateway.listeners import Listener


# A place to be filled in, as a wildcard is one.
_ANY: Final = "{}"


def intersect(one: str, other: str) -> bool | None:
    """Whether some host matches both names (see `intersection`); None where one of them is not known."""
    if not one or not other or covers(one, other) or covers(other, one):
        return True
    return None if _may_intersect(one, other) else False


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
    if not _may_intersect(one, other):
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


def around(name: str) -> Iterator[str]:
    """The names that cover one, in the way in which names are compared, but for the empty one."""
    name = comparable(name)
    yield name
    place = name.find(".", 1)
    while place > 0:
        yield f"*{name[place:]}"
        place = name.find(".", place + 1)


def may_cover(pattern: str, name: str) -> bool:
    """Whether a name may match every host that another one matches, once both are known."""
    return covers(pattern, name) or _may_intersect(pattern, name)


def comparable(name: str) -> str:
    """A name as names are compared."""
    return name if is_unknown_hostname(name) else name.lower()


def _may_intersect(one: str, other: str) -> bool:
    """Whether two names of which one is not known may have a host in common: what is known of both fits together."""
    unknown, known = (one, other) if is_unknown_hostname(one) else (other, comparable(one))
    if not is_unknown_hostname(unknown) or same_places(one, other):
        return False
    if is_unknown_hostname(known) or known.startswith("*."):
        return fit_together(unknown.replace("*", _ANY), known.replace("*", _ANY))
    return may_become(unknown.replace("*", _ANY), known)


class Requests(Struct, frozen=True):
    """Requests that a route takes, without regard to how it compares their path, their method and their headers."""

    gateway: ObjectRef
    port: Port | None
    hostname: str
    path: str

    @property
    def is_open(self) -> bool:
        """Whether something of the port or the hostname is to be filled in."""
        return isinstance(self.port, str) or is_unknown_hostname(self.hostname)


def may_be_same(one: Requests, other: Requests) -> bool:
    """Whether requests at one Gateway, with one path, may be the same once all is filled in."""
    is_one = one.hostname == other.hostname or _may_intersect(one.hostname, other.hostname)
    return is_one and may_be_port(one.port, other.port)


def requests_at(route: Resource, listeners: Iterable[Listener]) -> Iterator[Requests]:
    """What a route takes at the listeners to which it is attached; nothing if it is neither of HTTP nor of gRPC."""
    paths = [path for rule in mappings_at(route.raw, "spec.rules") for path in _paths(route.ref, rule)]
    for listener in listeners:
        for hostname in strings_at(route.raw, "spec.hostnames") or [""]:
            common = intersection(hostname, listener.hostname)
            if common is not None and listener.gateway:
                yield from (
                    Requests(gateway=listener.gateway, port=listener.port, hostname=common, path=path) for path in paths
                )


def _paths(route: ObjectRef, rule: Json) -> Iterator[str]:
    """The paths of a rule: a GRPCRoute's are those of its services and methods; without any it is every path."""
    matches = mappings_at(rule, "matches") or [{}]
    for match in matches:
        if route.group_kind == HTTP_ROUTE:
            yield text_at(match, "path.value", "/")
        elif route.group_kind == GRPC_ROUTE:
            service, method = text_at(match, "method.service"), text_at(match, "method.method")
            yield f"/{service}/{method}" if service or method else "/"
