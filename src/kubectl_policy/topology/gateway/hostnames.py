"""Hostnames of listeners and routes: which of them have a request in common, and which requests routes take."""

from __future__ import annotations

from typing import TYPE_CHECKING

from kubectl_policy.model.fields import mappings_at, strings_at, text_at
from kubectl_policy.model.values import value
from kubectl_policy.topology.references import GRPC_ROUTE, HTTP_ROUTE

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from kubectl_policy.model import Json, ObjectRef, Resource
    from kubectl_policy.topology.gateway.listeners import Listener


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


@value()
class Requests:
    """Requests that a route takes, without regard to how it compares their path, their method and their headers."""

    gateway: ObjectRef
    port: int | None
    hostname: str
    path: str


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
