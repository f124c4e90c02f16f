"""Which requests routes take, as far as it matters whether two routes take the same ones."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from kubectl_policy.model.fields import mappings_at, strings_at, text_at
from kubectl_policy.topology.gateway.hostnames import intersection
from kubectl_policy.topology.references import GRPC_ROUTE, HTTP_ROUTE

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

    from kubectl_policy.model import Json, ObjectRef, Resource
    from kubectl_policy.topology.gateway.handshake import Binding
    from kubectl_policy.topology.gateway.listeners import Listener


class Requests(NamedTuple):
    """Requests that a route takes, without regard to how it compares their path, their method and their headers."""

    gateway: ObjectRef
    port: int | None
    hostname: str
    path: str


def requests_of(
    route: Resource, bindings: Iterable[Binding], listeners: Callable[[ObjectRef], Iterable[Listener]]
) -> Iterator[Requests]:
    """What a route takes on each listener to which it is attached; nothing if it is neither of HTTP nor of gRPC.

    `bindings` are those of the route, `listeners` those of a Gateway or ListenerSet.
    """
    paths = [path for rule in mappings_at(route.raw, "spec.rules") for path in _paths(route.ref, rule)]
    for binding in bindings:
        for listener in listeners(binding.parent) if binding.state == "attached" else ():
            if listener.node == binding.listener and listener.gateway:
                for hostname in strings_at(route.raw, "spec.hostnames") or [""]:
                    common = intersection(hostname, listener.hostname)
                    if common is not None:
                        yield from (Requests(listener.gateway, listener.port, common, path) for path in paths)


def _paths(route: ObjectRef, rule: Json) -> Iterator[str]:
    """The paths of a rule: a GRPCRoute's are those of its services and methods; without any it is every path."""
    matches = mappings_at(rule, "matches") or [{}]
    for match in matches:
        if route.group_kind == HTTP_ROUTE:
            yield text_at(match, "path.value", "/")
        elif route.group_kind == GRPC_ROUTE:
            service, method = text_at(match, "method.service"), text_at(match, "method.method")
            yield f"/{service}/{method}" if service or method else "/"
